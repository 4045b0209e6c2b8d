"""Measures searches, shortest paths from one source, components, list ranking and generators on one GPU.

    python -m benchmarks.traversal [NAME ...] [--out FILE]

Each row prints one line of JSON. The graph is on the device before the clock starts; what is prepared once and kept
with it is timed beside (`first_call_ms`). `solve_ms` runs from the first launch of the algorithm to its last result,
`call_ms` is the whole Python call. Results are checked before a time counts: by another method, and where SciPy is
quick enough by SciPy. Road graphs: New York, and grids made like one.
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from benchmarks.engine import Row, data, print_rows
from mgraph import device as devices
from mgraph.algorithms.bfs.ranges import Edges
from mgraph.algorithms.bfs.search import Search
from mgraph.algorithms.list_rank.program import Walking
from mgraph.dtypes import offset_type
from mgraph.generate import EDGES_AT_A_TIME, grid, linked_list, rmat, rmat_edges, weighted
from mgraph.measuring import repeated, spread
from mgraph.planner import plan

SOURCES = 8


def timed(call: Callable[[], Any], repeats: int = 7) -> tuple[Any, Row]:
    """Return a call's last result, and its first time, and the medians of the rest, in ms."""
    result, taken = repeated(call, repeats)
    return result, {
        "solve_ms": taken.seconds * 1e3,
        "call_ms": statistics.median(taken.calls) * 1e3,
        "first_call_ms": taken.first_call * 1e3,
        "spread": spread(taken.solves),
    }


def kronecker(scale: int) -> mgraph.Graph:
    """Return the Kronecker graph of 16 edges a vertex on the GPU."""
    return rmat(scale, device="cuda")


def new_york(lengths: bool = True) -> mgraph.Graph:
    """Return the roads of New York on the GPU, with weights from 1 to 255 if any."""
    read = mgraph.read(data("NY.gr.xz"))
    src, dst, _ = read.coo()
    graph = mgraph.Graph.from_edges(*(devices.find("cuda").asarray(ends) for ends in (src, dst)), n=read.n)
    return weighted(graph, (1, 255)) if lengths else graph


def starts(graph: mgraph.Graph, count: int = SOURCES) -> list[int]:
    """Return random vertices that have neighbours."""
    degrees = np.diff(devices.to_host(graph.csr().indptr))
    return np.random.default_rng(graph.n).choice(np.flatnonzero(degrees), count, replace=False).tolist()


def mean(rows: list[Row]) -> Row:
    """Return the means of what was measured from several sources; the first call is the first's."""
    return {key: statistics.mean(row[key] for row in rows) for key in ("solve_ms", "call_ms", "spread")} | {
        "first_call_ms": rows[0]["first_call_ms"]
    }


def reached_edges(graph: mgraph.Graph, distances: Any) -> int:
    """Return the undirected edges of what a search has reached."""
    indptr = graph.csr().indptr
    return int((indptr[1:] - indptr[:-1])[distances >= 0].sum()) // 2


def search(name: str, graph: mgraph.Graph, **options: Any) -> Row:
    """Measure breadth-first searches, checked by another method."""
    rows = []
    for source in starts(graph):
        result, row = timed(lambda source=source: mgraph.bfs(graph, source, device="cuda", **options))
        other = mgraph.bfs(graph, source, device="cuda", method="scan")
        assert bool((result.distances == other.distances).all())
        row["gteps"] = reached_edges(graph, result.distances) / row["solve_ms"] / 1e6
        row["levels"] = len(result.levels)
        rows.append(row)
    return {
        "row": "bfs", "graph": name, "n": graph.n, "m": graph.m, **options, **mean(rows),
        "gteps": statistics.harmonic_mean([row["gteps"] for row in rows]),
        "us_per_level": statistics.mean(row["solve_ms"] / row["levels"] * 1e3 for row in rows),
        "predicted_ms": result.plan.seconds * 1e3, "peak_bytes": result.plan.peak_bytes[0],
    }  # fmt: skip


def bfs() -> Iterator[Row]:
    """Breadth-first search, mean of eight sources."""
    for scale in (22, 26):
        graph = kronecker(scale)
        yield search(f"kronecker {scale}", graph)
        if scale == 22:
            yield search("kronecker 22", graph, predecessors=True)
        del graph
        devices.find("cuda").xp.get_default_memory_pool().free_all_blocks()
    yield search("New York", new_york(lengths=False))
    yield search("grid 1,024 x 1,024", grid(1024, 1024, device="cuda"))


def bfs_methods() -> Iterator[Row]:
    """Every published method, one source."""
    for name, graph in (("kronecker 20", kronecker(20)), ("New York", new_york(lengths=False))):
        source = starts(graph, 1)[0]
        expected = mgraph.bfs(graph, source, device="cuda").distances
        for method in ("hybrid", "frontier", "pull", "edge", "vertex", "mask", "privatized", "scan"):
            result, row = timed(lambda g=graph, s=source, m=method: mgraph.bfs(g, s, method=m, device="cuda"), 3)
            assert bool((result.distances == expected).all())
            yield {
                "row": "bfs-methods", "graph": name, "method": method, **row,
                "predicted_ms": result.plan.seconds * 1e3,
            }  # fmt: skip


def bfs_many() -> Iterator[Row]:
    """Searches from many sources at a time; some are checked against searches from one."""
    graph = kronecker(20)
    for count in (64, 256, 1024):
        sources = starts(graph, count)
        result, row = timed(lambda sources=sources: mgraph.bfs_many(graph, sources, device="cuda"), 3)
        for i in (0, count // 2, count - 1):
            assert bool((result.distances[i] == mgraph.bfs(graph, sources[i], device="cuda").distances).all())
        edges = reached_edges(graph, result.distances[0]) * count
        yield {
            "row": "bfs-many", "graph": "kronecker 20", "sources": count, **row, "gteps": edges / row["solve_ms"] / 1e6,
            "predicted_ms": result.plan.seconds * 1e3,
        }  # fmt: skip


def sssp() -> Iterator[Row]:
    """Shortest paths from one source, weights 1 to 255, mean of four sources; the first is checked by SciPy or twin."""
    for name, graph in (("kronecker 22", weighted(kronecker(22), (1, 255))), ("New York", new_york())):
        for predecessors in (False, True):
            rows = []
            for source in starts(graph, 4):
                result, row = timed(
                    lambda source=source, graph=graph, predecessors=predecessors: mgraph.sssp(
                        graph, source, predecessors=predecessors, device="cuda"
                    ),
                    5,
                )
                if not rows and not predecessors:
                    check_distances(graph, source, result.distances)
                row["rounds"] = result.iterations
                row["collect_ms"] = result.timings["collect"] * 1e3
                row["load_ms"] = result.timings["load"] * 1e3
                rows.append(row)
            yield {
                "row": "sssp", "graph": name, "n": graph.n, "m": graph.m, "predecessors": predecessors, **mean(rows),
                "collect_ms": statistics.mean(r["collect_ms"] for r in rows), "load_ms": rows[-1]["load_ms"],
                "rounds": [r["rounds"] for r in rows], "predicted_ms": result.plan.seconds * 1e3,
            }  # fmt: skip


def check_distances(graph: mgraph.Graph, source: int, distances: Any) -> None:
    """Raise unless distances are those of SciPy's Dijkstra."""
    indptr, indices, weights = (devices.to_host(part) for part in graph.csr())
    matrix = sparse.csr_matrix((weights, indices, indptr), shape=(graph.n, graph.n))
    expected = csgraph.dijkstra(matrix, indices=source)
    assert np.array_equal(devices.to_host(distances), expected.astype(np.float32))


def components() -> Iterator[Row]:
    """Connected components, checked against SciPy at the least size and by the other method."""
    for scale in (20, 22, 24):
        graph = kronecker(scale)
        result, row = timed(lambda graph=graph: mgraph.connected_components(graph, device="cuda"))
        if scale == 20:
            indptr, indices, _ = (devices.to_host(part) if part is not None else None for part in graph.csr())
            matrix = sparse.csr_matrix((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
            count, labels = csgraph.connected_components(matrix, directed=False)
            least = np.unique(labels, return_index=True)[1][labels]
            assert count == result.count and np.array_equal(devices.to_host(result.labels), least)
        other, slow = timed(
            lambda graph=graph: mgraph.connected_components(graph, device="cuda", method="shiloach-vishkin"), 2
        )
        assert bool((other.labels == result.labels).all())
        yield {
            "row": "components", "graph": f"kronecker {scale}", "n": graph.n, "m": graph.m, **row,
            "shiloach_vishkin_ms": slow["solve_ms"], "iterations": other.iterations,
            "predicted_ms": result.plan.seconds * 1e3,
        }  # fmt: skip
        del graph, result, other
    roads = new_york(lengths=False)
    _, row = timed(lambda: mgraph.connected_components(roads, device="cuda"))
    yield {"row": "components", "graph": "New York", **row}


def list_rank() -> Iterator[Row]:
    """List ranking of a random list; the ranks must follow the successors and be a permutation."""
    xp = devices.find("cuda").xp
    for scale in (20, 24, 28):
        succ = linked_list(1 << scale, device="cuda")
        methods = ("splitter64", "splitter48", "wylie") if scale < 28 else ("splitter64", "splitter48")
        for method in methods:
            result, row = timed(lambda s=succ, m=method: mgraph.list_rank(s, method=m, device="cuda"), 5)
            ranks = result.ranks
            last = succ == xp.arange(len(succ), dtype=succ.dtype)
            assert int(last.sum()) == 1 and bool(((ranks[succ] == ranks - 1) | last).all())
            assert int(ranks.max()) == len(succ) - 1 and int(ranks.min()) == 0
            yield {
                "row": "list-rank", "n": len(succ), "method": method, **row,
                "elements_per_second": len(succ) / row["solve_ms"] * 1e3, "predicted_ms": result.plan.seconds * 1e3,
            }  # fmt: skip
            del result, ranks, last
        del succ
        xp.get_default_memory_pool().free_all_blocks()


def generators() -> Iterator[Row]:
    """R-MAT 24, edge factor 16, to CSR on the device."""
    times = []
    for _ in range(3):
        devices.find("cuda").synchronize()
        started = time.perf_counter()
        graph = kronecker(24)
        devices.find("cuda").synchronize()
        times.append(time.perf_counter() - started)
        m = graph.m
        del graph
    yield {"row": "rmat", "scale": 24, "m": m, "first_s": times[0], "seconds": min(times[1:])}


class Timed:
    """What measures a program's supersteps on a shard, all of which start together; in seconds."""

    seconds = 0.0

    def step(self, state: Any, first: int, limit: int, comm: Any) -> int:
        """Run the program's superstep and add what it took."""
        together = state.device.xp.zeros(1, np.int32)
        comm.allreduce(together, "max")
        state.device.synchronize()
        started = time.perf_counter()
        ran = super().step(state, first, limit, comm)  # type: ignore[misc]
        state.device.synchronize()
        self.seconds += time.perf_counter() - started
        return int(ran)


class KroneckerSearch(Timed, Search):
    """Searches one after the other over a Kronecker graph of which each shard makes the edges into its vertices."""

    scale = 0
    starts: tuple[int, ...] = ()

    def load(self, shard: int, piece: None, device: devices.Device) -> Any:
        """Return the shard with its edges, drawn on its device."""
        first, last = self.plan.ranges[shard]
        xp, count, scale = device.xp, 16 << self.scale, self.scale
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
        return super().load(shard, Edges(by_target, by_source), device)

    def step(self, state: Any, first: int, limit: int, comm: Any) -> int:
        """Run all searches."""
        if state.finished:
            return 0
        times, edges = [], []
        indptr, _ = state.by_target
        degrees = indptr[1:] - indptr[:-1]
        for start in self.starts:
            state.distances.fill(-1)
            for bits in (state.visited, state.frontier):
                bits.fill(0)
            state.control.fill(0)
            state.lists.fill(0)
            state.finished, state.listed, self.seconds = False, False, 0.0
            source = state.device.asarray(np.full(1, start, np.int32))
            state.kernels.seed(source, state.first, state.last, state.distances, state.visited, state.frontier)
            ran = 0
            while not state.finished:
                ran += super().step(state, ran, limit, comm)
            times.append(self.seconds)
            edges.append(int(degrees[state.distances[state.first : state.last] >= 0].sum()))
        self.times, self.edges = times, edges
        return ran

    def collect(self, state: Any, comm: Any) -> dict[str, Any]:
        """Return the times, and the last search's edges and faults: it is a tree of shortest paths, or it has some."""
        xp, own = state.device.xp, state.distances[state.first : state.last].copy()
        comm.allgather(state.distances, self.plan.ranges)
        indptr, indices = state.by_target
        parents = xp.empty(len(own), np.int32)
        state.kernels.parents(*state.by_target, state.first, state.last, state.distances, parents)
        faults = int(((parents >= 0) != (own > 0)).sum())
        degrees = indptr[1:] - indptr[:-1]
        for start in range(0, len(own), 1 << 21):
            some = slice(start, min(start + (1 << 21), len(own)))
            to = xp.repeat(own[some], degrees[some].tolist() if xp is np else devices.to_host(degrees[some]).tolist())
            there = state.distances[indices[int(indptr[some.start]) : int(indptr[some.stop])]]
            faults += int(((there >= 0) & ((to < 0) | (to > there + 1))).sum())
        return {"faults": np.array([faults]), "edges": np.array(self.edges), "times": np.array(self.times)}


def rows(xp: Any, keys: Any, bits: int, count: int) -> tuple[Any, Any]:
    """Return sorted keys of row and column as row offsets and columns."""
    starts = xp.arange(count + 1, dtype=np.uint64) << np.uint64(bits)
    dtype = offset_type(len(keys))
    return xp.searchsorted(keys, starts).astype(dtype), (keys & np.uint64((1 << bits) - 1)).astype(np.int32)


def bfs_scaling() -> Iterator[Row]:
    """Searches of a Kronecker graph (SCALE, 27) on all GPUs: the slowest shard's times, mean of some sources."""
    from mgraph.cluster import Cluster, local_client

    scale, gpus = int(os.environ.get("SCALE", "27")), devices.gpu_count() or 2
    kind = "cuda" if devices.gpu_count() else "cpu"
    picked = np.random.default_rng(scale).choice(1 << scale, 16, replace=False)
    with local_client(gpus, kind) as client:
        runner = Cluster(client, kind)
        made = plan("bfs", 1 << scale, 32 << scale, devices=runner.specs)
        program = KroneckerSearch(made, (0,))
        program.scale, program.starts = scale, (*picked.tolist(),)
        outcome = runner.run(program, lambda shard: None, made, None)
    # The first search warms up; who began at a vertex without neighbours has found nothing.
    edges = np.array(outcome.arrays["edges"]).reshape(gpus, -1).sum(axis=0)[1:] // 2
    times = np.array(outcome.arrays["times"]).reshape(gpus, -1).max(axis=0)[1:][edges > 1000]
    edges = edges[edges > 1000]
    assert not np.sum(outcome.arrays["faults"])
    yield {
        "row": "bfs-scaling", "gpus": gpus, "scale": scale, "edges": edges.tolist(), "times_ms": (times * 1e3).tolist(),
        "mean_ms": float(times.mean() * 1e3), "gteps": statistics.harmonic_mean((edges / times / 1e9).tolist()),
        "load_seconds": outcome.timings["load"],
    }  # fmt: skip


class RandomListRanking(Timed, Walking):
    """The ranking of a random list that each shard makes."""

    def load(self, shard: int, piece: None, device: devices.Device) -> Any:
        """Return the shard with the list."""
        xp, n = device.xp, self.plan.n
        order = xp.random.RandomState(7).permutation(n).astype(np.int32)
        succ = xp.empty(n, np.int32)
        succ[order[:-1]] = order[1:]
        succ[order[-1]] = order[-1]
        self.order = devices.to_host(order[:: max(1, n >> 20)])
        del order
        self.seconds = 0.0
        return super().load(shard, succ, device)

    def collect(self, state: Any, comm: Any) -> dict[str, Any]:
        """Return the time, and how many of some ranks are wrong."""
        found, xp = super().collect(state, comm), state.device.xp
        picked = xp.asarray(self.order)
        n = self.plan.n
        expected = n - 1 - xp.arange(0, n, max(1, n >> 20))
        first, last = self.plan.ranges[comm.rank]
        own = (picked >= first) & (picked < last)
        wrong = int((found["ranks"][picked[own] - first] != expected[own]).sum())
        return {"wrong": np.array([wrong]), "amiss": found["amiss"], "seconds": np.array([self.seconds])}


def list_rank_scaling() -> Iterator[Row]:
    """Ranking a random list (SCALE, 30) on one GPU and on all of this host."""
    from mgraph.cluster import Cluster, local_client

    n, gpus = 1 << int(os.environ.get("SCALE", "30")), devices.gpu_count() or 2
    kind = "cuda" if devices.gpu_count() else "cpu"
    one = 0.0
    for workers in dict.fromkeys((1, gpus)):
        with local_client(workers, kind) as client:
            runner = Cluster(client, kind)
            made = plan("list_rank", n, devices=runner.specs, method="splitter64")
            for _ in range(2):
                outcome = runner.run(RandomListRanking(made), lambda shard: None, made, None)
                assert not np.any(outcome.arrays["wrong"]) and not np.any(outcome.arrays["amiss"])
        seconds = float(np.max(outcome.arrays["seconds"]))
        one = one or seconds
        yield {
            "row": "list-rank-scaling", "gpus": workers, "n": n, "seconds": seconds, "times_one": one / seconds,
            "elements_per_second": n / seconds, "predicted_seconds": made.seconds,
        }  # fmt: skip


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "bfs": bfs,
    "bfs-methods": bfs_methods,
    "bfs-many": bfs_many,
    "sssp": sssp,
    "components": components,
    "list-rank": list_rank,
    "rmat": generators,
    "bfs-scaling": bfs_scaling,
    "list-rank-scaling": list_rank_scaling,
}

if __name__ == "__main__":
    print_rows(__doc__, ROWS)
