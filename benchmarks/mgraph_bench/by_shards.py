"""All pairs, searches and list ranking on inputs that need not fit one device: each worker makes its part.

    python -m mgraph_bench.by_shards {apsp,bfs,list_rank} --size N [--workers P] [--device KIND]

Suites (`mgraph bench`) make an input on one device. Here each shard makes its own part: a program of the library is run
with another `load`. It prints one line of JSON with the times of the solve. Results are verified before timings count.
"""

import json
import statistics
import time
from typing import Any

import click
import numpy as np

from mgraph import device as devices
from mgraph.algorithms import bellman
from mgraph.algorithms.apsp.verify import ROUNDING
from mgraph.algorithms.bfs.search import Search
from mgraph.algorithms.list_rank.program import Walking
from mgraph.arrays import Array
from mgraph.cli import Command
from mgraph.cluster import local_client
from mgraph.dtypes import offset_type
from mgraph.errors import WrongResultError
from mgraph.generate import EDGES_AT_A_TIME, rmat_edges
from mgraph.graph import Compressed
from mgraph.graph.vertex_range import VertexRange
from mgraph.matrices.distance_matrix import Part
from mgraph.matrices.floyd_warshall import FloydWarshall
from mgraph.planner import plan
from mgraph.planning.plan import Plan
from mgraph.runtime.program import Executor
from mgraph.runtime.select import executor

#: Numbers of verified rows of all pairs, of verified ranks, of searches, and of vertices verified together.
ROWS, RANKS, SEARCHES, VERTICES = 8, 1 << 20, 8, 1 << 21


class Timed:
    """Measures a program's supersteps on a shard, in seconds; all shards begin together."""

    seconds = 0.0

    def step(self, state: Any, first: int, limit: int, comm: Any) -> int:
        """Run the program's supersteps and add their time."""
        together = state.device.xp.zeros(1, np.int32)
        comm.allreduce(together, "max")
        state.device.synchronize()
        started = time.perf_counter()
        ran = super().step(state, first, limit, comm)  # type: ignore[misc]
        state.device.synchronize()
        self.seconds += time.perf_counter() - started
        return int(ran)


class RandomPairs(FloydWarshall):
    """The blocked algorithm on a random matrix."""

    def load(self, shard: int, piece: Any, device: devices.Device) -> Any:
        """Return the shard with its part of the matrix."""
        return super().load(shard, Part(random_part(self.plan, shard, device), None), device)


def random_part(made: Plan, shard: int, device: devices.Device) -> Array:
    """Return a shard's rectangle of the random matrix: weights from 1 to 1,000."""
    (top, bottom), (left, right) = made.ranges[shard], made.detail.columns[shard]
    with device.active():
        part = device.xp.random.RandomState(1000 + shard).random_sample((bottom - top, right - left))
        return (999 * part + 1).astype(np.float32)


def apsp(n: int, runner: Executor) -> dict[str, Any]:
    """Return the row of all pairs of `n` vertices."""
    made = plan("apsp", n, devices=runner.specs, method="blocked")
    for each in (plan("apsp", min(n, 8192), devices=runner.specs, method="blocked"), made):  # the first warms up
        outcome = runner.run(RandomPairs(each, True), lambda shard: None, each, None)
    here = devices.find(None)
    with here.active():
        weights = here.xp.empty((n, n), np.float32)
        for shard, (rows, columns) in enumerate(zip(made.ranges, made.detail.columns, strict=True)):
            weights[slice(*rows), slice(*columns)] = random_part(made, shard, here)
    picked = bellman.sampled(n, ROWS)
    found = np.stack([outcome.arrays["distances"].row(i) for i in picked])
    bellman.check_rows(weights, picked, found, bellman.Rounding(ROUNDING))
    seconds = outcome.timings["solve"]
    return {
        **{"n": n, "grid": made.detail.grid, "seconds": seconds, "minplus_per_second": n**3 / seconds},
        **{"predicted_seconds": made.seconds, "timings": outcome.timings, "predicted_bytes": made.peak_bytes},
    }


class KroneckerSearch(Timed, Search):
    """A search in a Kronecker graph, of which each shard makes the edges into its vertices."""

    def load(self, shard: int, piece: Any, device: devices.Device) -> Any:
        """Return the shard with its edges, drawn on its device."""
        first, last = self.plan.ranges[shard]
        xp, scale = device.xp, self.plan.n.bit_length() - 1
        count = 16 << scale
        keys, at_a_time = [], EDGES_AT_A_TIME[device.kind]
        for start in range(0, count, at_a_time):
            ends = rmat_edges(xp, scale, start, min(at_a_time, count - start), 0)
            for u, v in (ends, ends[::-1]):
                there = (u != v) & (v >= first) & (v < last)
                keys.append((v[there] - np.uint64(first)) << np.uint64(scale) | u[there])
        key = xp.concatenate(keys)
        keys.clear()
        key.sort()
        key = key[xp.concatenate([xp.ones(1, bool), key[1:] != key[:-1]])]
        by_target = rows(xp, key, scale, last - first)
        u, v = key & np.uint64((1 << scale) - 1), key >> np.uint64(scale)
        key = u << np.uint64(scale) | (v + np.uint64(first))
        del u, v
        key.sort()
        by_source = rows(xp, key, scale, 1 << scale)
        del key
        part = VertexRange(1 << scale, first, last, Compressed(*by_target, None), directed=False)
        part.kept("csr", device, lambda: Compressed(*by_source, None), weights=True)  # it would sort them again
        return super().load(shard, part, device)

    def collect(self, state: Any, comm: Any) -> dict[str, Any]:
        """Return the time, the number of edges into reached vertices, and how many vertices and edges fail the checks.

        A vertex needs a neighbour that is one edge nearer to the source, and may have none that is nearer by more.
        """
        found = super().collect(state, comm)
        own, (indptr, indices), xp = found["distances"], state.by_target, state.device.xp
        faults = int(((found["predecessors"] >= 0) != (own > 0)).sum())
        degrees = indptr[1:] - indptr[:-1]
        for start in range(0, len(own), VERTICES):
            some = slice(start, min(start + VERTICES, len(own)))
            to = xp.repeat(own[some], devices.to_host(degrees[some]).tolist())
            there = state.distances[indices[int(indptr[some.start]) : int(indptr[some.stop])]]
            faults += int(((there >= 0) & ((to < 0) | (to > there + 1))).sum())
        edges = int(degrees[own >= 0].sum())
        return {"faults": np.array([faults]), "edges": np.array([edges]), "seconds": np.array([self.seconds])}


def rows(xp: Any, keys: Array, bits: int, count: int) -> tuple[Array, Array]:
    """Return sorted keys of row and column as row offsets and columns."""
    starts = xp.arange(count + 1, dtype=np.uint64) << np.uint64(bits)
    dtype = offset_type(len(keys))
    return xp.searchsorted(keys, starts).astype(dtype), (keys & np.uint64((1 << bits) - 1)).astype(np.int32)


def bfs(n: int, runner: Executor) -> dict[str, Any]:
    """Return the row of searches in the Kronecker graph of `n` vertices; a time is that of the slowest shard."""
    scale = n.bit_length() - 1
    made = plan("bfs", 1 << scale, 32 << scale, devices=runner.specs, predecessors=True)
    edges, times = [], []
    for start in np.random.default_rng(scale).choice(1 << scale, SEARCHES, replace=False).tolist():
        outcome = runner.run(KroneckerSearch(made, (start,)), lambda shard: None, made, None)
        if faults := int(np.sum(outcome.arrays["faults"])):
            raise WrongResultError(f"{faults} vertices or edges disprove the distances from vertex {start}")
        edges.append(int(np.sum(outcome.arrays["edges"])) // 2)
        times.append(float(np.max(outcome.arrays["seconds"])))
    # The first search warms up; one from a vertex without neighbours finds nothing.
    found = [(own, seconds) for own, seconds in zip(edges[1:], times[1:], strict=True) if own]
    return {
        **{"n": 1 << scale, "edges": [own for own, _ in found], "times": [seconds for _, seconds in found]},
        **{"seconds": statistics.mean(seconds for _, seconds in found), "load_seconds": outcome.timings["load"]},
        "teps": statistics.harmonic_mean(own / seconds for own, seconds in found),
    }


class RandomListRanking(Timed, Walking):
    """The ranking of a random list that each shard makes."""

    def load(self, shard: int, piece: Any, device: devices.Device) -> Any:
        """Return the shard with the list."""
        xp, n = device.xp, self.plan.n
        order = xp.random.RandomState(7).permutation(n).astype(np.int32)
        succ = xp.empty(n, np.int32)
        succ[order[:-1]] = order[1:]
        succ[order[-1]] = order[-1]
        self.order = devices.to_host(order[:: max(1, n // RANKS)])
        del order
        self.seconds = 0.0
        return super().load(shard, succ, device)

    def collect(self, state: Any, comm: Any) -> dict[str, Any]:
        """Return the time, and how many of some ranks are wrong."""
        found, xp = super().collect(state, comm), state.device.xp
        picked, n = xp.asarray(self.order), self.plan.n
        expected = n - 1 - xp.arange(0, n, max(1, n // RANKS))
        first, last = self.plan.ranges[comm.rank]
        own = (picked >= first) & (picked < last)
        wrong = int((found["ranks"][picked[own] - first] != expected[own]).sum())
        return {"wrong": np.array([wrong]), "failed": found["failed"], "seconds": np.array([self.seconds])}


def list_rank(n: int, runner: Executor) -> dict[str, Any]:
    """Return the row of ranking a list of `n` elements; the time is that of the slowest shard."""
    made = plan("list_rank", n, devices=runner.specs, method="splitter64")
    for _ in range(2):  # the first warms up
        outcome = runner.run(RandomListRanking(made), lambda shard: None, made, None)
        if np.any(outcome.arrays["wrong"]) or np.any(outcome.arrays["failed"]):
            raise WrongResultError(f"{int(np.sum(outcome.arrays['wrong']))} of some ranks are wrong")
    seconds = float(np.max(outcome.arrays["seconds"]))
    return {
        **{"n": n, "seconds": seconds, "elements_per_second": n / seconds, "predicted_seconds": made.seconds},
    }


MEASURED = {"apsp": apsp, "bfs": bfs, "list_rank": list_rank}


@click.command(cls=Command)
@click.argument("algorithm", type=click.Choice(list(MEASURED)))
@click.option("--size", type=int, required=True, metavar="N", help="Vertices, of searches a power of two; or elements.")
@click.option("--workers", type=int, metavar="P", help="Dask workers of this machine; by default its GPUs, or 2.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="By default GPUs where there are any.")
def main(algorithm: str, size: int, workers: int | None, device: str | None) -> None:
    """Measure an algorithm on an input whose parts the workers make, and print a line of JSON."""
    kind = device or ("cuda" if devices.gpu_count() else "cpu")
    with local_client(workers or devices.gpu_count() or 2, kind) as client:
        runner = executor({"client": client, "device": kind}, kind)
        found = MEASURED[algorithm](size, runner)
    click.echo(json.dumps({"algorithm": algorithm, "device": kind, "workers": len(runner.specs), **found}))


if __name__ == "__main__":
    main()
