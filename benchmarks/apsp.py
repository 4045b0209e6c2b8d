"""Measures all-pairs shortest paths: every type and method, out of core, and on several GPUs.

    python -m benchmarks.apsp [NAME ...] [--out FILE]

Each row prints one line of JSON. Weights are random, never zeros. The rows of 64 random vertices are checked
before a time counts: a row of lengths d with d[source] = 0 is right if and only if every d[j] is the least
d[k] + weight[k, j] (Bellman's equation, whose solution is unique where no cycle weighs zero or less).
"""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra, floyd_warshall

import mgraph
from benchmarks.engine import Row, data, print_rows, solve_seconds
from mgraph import device as devices
from mgraph.generate import random_matrix
from mgraph.matrices.distance_matrix import Part
from mgraph.matrices.floyd_warshall import FloydWarshall
from mgraph.planner import plan
from mgraph.planning.kernels import kernel_module
from tests.compile_kernels import cooperative
from tests.kernel_resources import families

SAMPLED = 64


def gpu_matrix(n: int, dtype: str, negative: bool = False, seed: int = 1) -> Any:
    """Return a random distance matrix made on the GPU: weights from 1 to 1,000, of int16 to 100."""
    xp = devices.find("cuda").xp
    random = xp.random.RandomState(seed)
    highest = 100 if dtype == "int16" else 1000
    if dtype.startswith("int"):
        return random.randint(1, highest + 1, (n, n), np.int32).astype(dtype)
    matrix = random.random_sample((n, n), np.float64 if dtype == "float64" else np.float32)
    matrix *= highest - 1
    matrix += 1
    if negative:
        matrix[:16, 16:32] = -0.5  # from one set to another: no way back is that short
    return matrix


def check_rows(weights: Any, row: Callable[[int], Any], rows: int = SAMPLED) -> None:
    """Raise unless the rows of some random vertices solve Bellman's equation for a matrix on the GPU."""
    device = devices.of(weights)
    xp, n = device.xp, len(weights)
    picked = np.random.default_rng(n).choice(n, rows, replace=False)
    found = xp.stack([device.asarray(row(int(i))) for i in picked])
    exact = found.dtype.kind == "i"
    found = found.astype(np.int64 if exact else np.float64)
    best = xp.full(found.shape, xp.inf if not exact else 2**40, found.dtype)
    best[xp.arange(rows), xp.asarray(picked)] = 0
    step = max(1, (1 << 27) // (8 * n))
    for first in range(0, n, step):
        block = weights[first : first + step].astype(found.dtype)
        for r in range(rows):
            xp.minimum(best[r], (found[r, first : first + step, None] + block).min(axis=0), out=best[r])
    if exact:
        assert bool((found == best).all())
    else:
        tolerance = 1e-12 if row(0).dtype == np.float64 else 1e-5
        assert bool((abs(found - best) <= tolerance * (1 + abs(best))).all())


def kernels() -> Iterator[Row]:
    """Registers, shared memory and spills of every kernel, as the driver of this GPU has them."""
    devices.find("cuda")
    for family in sorted({source.removesuffix(".cu") for source in families()}):
        module = kernel_module("cuda", family)
        for name in module.INSTANCES:
            function = devices.cuda_function(module.SOURCE, name, cooperative=cooperative(module.SOURCE, name))
            yield {
                "row": "kernels", "kernel": name, "registers": function.num_regs,
                "shared": function.shared_size_bytes, "local": function.local_size_bytes,
            }  # fmt: skip


def types() -> Iterator[Row]:
    """The blocked algorithm on one GPU, matrix and result there: every type, labels, and small sizes."""
    cases: list[tuple[str, int, bool, dict[str, Any]]] = [
        ("float32", 2048, False, {}),
        ("float32", 4096, False, {}),
        ("float32", 8192, False, {}),
        ("float32", 16384, False, {}),
        ("float32", 32768, False, {}),
        ("float32", 32768, True, {}),
        ("int32", 32768, False, {}),
        ("int16", 32768, False, {}),
        ("float64", 16384, False, {}),
        ("float32", 32768, False, {"predecessors": True}),
        ("float32", 32768, True, {"predecessors": True}),
        ("int32", 16384, False, {"predecessors": True}),
        ("float64", 16384, False, {"predecessors": True}),
        ("float32", 16384, False, {"intermediate": True}),
    ]
    for dtype, n, negative, options in cases:
        matrix = gpu_matrix(n, dtype, negative)
        result, seconds, spread = solve_seconds(
            lambda matrix=matrix, dtype=dtype, options=options: mgraph.apsp(
                matrix, dtype=dtype, method="blocked", **options
            ),
            2 if n > 20000 else 5,
        )
        check_rows(matrix, lambda i, result=result: result.distances[i])
        yield {
            "row": "types", "dtype": dtype, "n": n, "negative": negative, **options, "seconds": seconds,
            "spread": spread, "minplus_per_second": n**3 / seconds, "predicted_seconds": result.plan.seconds,
            "predicted_over_measured": result.plan.seconds / seconds,
        }  # fmt: skip
        del matrix, result


def methods() -> Iterator[Row]:
    """Every method that works on the matrix, n = 4,096, float32, with predecessors and without."""
    matrix = gpu_matrix(4096, "float32")
    for method in ("blocked", "naive", "squaring"):
        for paths in (False, True):
            result, seconds, spread = solve_seconds(
                lambda method=method, paths=paths: mgraph.apsp(matrix, method=method, predecessors=paths), 3
            )
            check_rows(matrix, lambda i, result=result: result.distances[i], 16)
            yield {
                "row": "methods", "method": method, "predecessors": paths, "n": 4096, "seconds": seconds,
                "spread": spread, "predicted_seconds": result.plan.seconds,
            }  # fmt: skip


def out_of_core() -> Iterator[Row]:
    """A matrix in pinned host memory, a quarter of it on the GPU, against the same in memory, n = 32,768."""
    for options in ({}, {"predecessors": True}):
        n = 32768
        matrix = gpu_matrix(n, "float32")
        whole, in_memory, _ = solve_seconds(lambda m=matrix, o=options: mgraph.apsp(m, method="blocked", **o), 2)
        limit = n * n * (8 if options else 4) // 4
        given = devices.to_host(matrix)
        result, seconds, spread = solve_seconds(
            lambda given=given, limit=limit, o=options: mgraph.apsp(
                given, method="blocked", device="cuda", memory_limit=limit, **o
            ),
            2,
        )
        for i in range(0, n, 97):
            assert np.array_equal(result.distances[i], devices.to_host(whole.distances[i]))
        yield {
            "row": "out-of-core", "n": n, **options, "memory_limit": limit, "strip": result.plan.strip,
            "seconds": seconds, "spread": spread, "in_memory_seconds": in_memory, "share": in_memory / seconds,
            "minplus_per_second": n**3 / seconds, "predicted_seconds": result.plan.seconds, "timings": result.timings,
        }  # fmt: skip
        del matrix, whole, result


def sources() -> Iterator[Row]:
    """A search from every vertex of a random graph, 100,000 vertices of degree 6, distances to the host."""
    n = 100_000
    random = np.random.default_rng(0)
    src, dst = random.integers(0, n, (2, 6 * n))
    for dtype in ("float32", "int32"):
        weights = random.integers(1, 11, 6 * n) if dtype == "int32" else random.random(6 * n, np.float32) * 9 + 1
        graph = mgraph.Graph.from_edges(src, dst, weights, n=n)
        indptr, indices, lengths = graph.csr()
        mgraph.apsp(mgraph.Graph.from_edges([0], [1], weights[:1]), method="sssp", device="cuda")
        times = []
        for _ in range(3):
            started = time.perf_counter()
            result = mgraph.apsp(graph, method="sssp", device="cuda")
            times.append(time.perf_counter() - started)
            if len(times) == 1:
                picked = random.choice(n, SAMPLED, replace=False)
                matrix = sparse.csr_matrix((lengths.astype(np.float64), indices, indptr), shape=(n, n))
                expected = dijkstra(matrix, indices=picked)
                found = result.distances[picked].astype(np.float64)
                if dtype == "int32":
                    found[found == np.iinfo(np.int32).max] = np.inf
                np.testing.assert_allclose(found, expected, rtol=1e-6)
            timings, predicted = result.timings, result.plan.seconds
            del result
        yield {
            "row": "sources", "n": n, "m": graph.m, "dtype": dtype, "call_seconds": statistics.median(times),
            "timings": timings, "predicted_seconds": predicted,
        }  # fmt: skip


def as_graph() -> Iterator[Row]:
    """The whole matrix of the AS graph with predecessors on one GPU."""
    graph = mgraph.read(data("as-caida20070917.txt.xz"), weighted=False, relabel=True)
    for method in ("auto", "blocked"):
        times = []
        for _ in range(5):
            started = time.perf_counter()
            result = mgraph.apsp(graph, predecessors=True, method=method, device="cuda")
            times.append(time.perf_counter() - started)
        indptr, indices, _ = graph.csr()
        matrix = sparse.csr_matrix((np.ones(graph.m), indices, indptr), shape=(graph.n, graph.n))
        for i in (0, 4000, graph.n - 1):
            assert np.array_equal(result.distances[i], dijkstra(matrix, indices=i, unweighted=True))
        yield {
            "row": "as-graph", "method": method, "n": graph.n, "first_call": times[0],
            "call_seconds": statistics.median(times[1:]), "timings": result.timings, "derived": result.plan.derived,
        }  # fmt: skip


def closures() -> Iterator[Row]:
    """The transitive closure of a random graph of two edges a vertex on one GPU, checked by searches."""
    for n in (4096, 32768, 131072):
        random = np.random.default_rng(n)
        graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 2 * n)), n=n)
        result, seconds, spread = solve_seconds(lambda graph=graph: mgraph.transitive_closure(graph, device="cuda"), 3)
        for i in random.choice(n, 16, replace=False).tolist():
            reached = devices.to_host(mgraph.bfs(graph, i, device="cuda").distances) >= 0
            assert np.array_equal(devices.to_host(result.rows(i, i + 1))[0], reached)
        yield {
            "row": "closures", "n": n, "seconds": seconds, "spread": spread, "bits_per_second": n**3 / seconds,
            "pairs": result.count, "predicted_seconds": result.plan.seconds,
        }  # fmt: skip


def cpu() -> Iterator[Row]:
    """The CPU against SciPy, paired in one run, n = 2,048."""
    n = 2048
    for dtype in ("float32", "int32", "int16", "float64"):
        matrix = random_matrix(n, seed=1, dtype=dtype, high=100)
        mgraph.apsp(matrix, device="cpu", dtype=dtype)
        ratios, ours = [], []
        for _ in range(3):
            started = time.perf_counter()
            expected = floyd_warshall(matrix)
            between = time.perf_counter()
            result = mgraph.apsp(matrix, device="cpu", dtype=dtype)
            ended = time.perf_counter()
            np.testing.assert_allclose(result.distances, expected, rtol=1e-5)
            ours.append(ended - between)
            ratios.append((between - started) / ours[-1])
        yield {
            "row": "cpu", "n": n, "dtype": dtype, "cores": os.cpu_count(), "seconds": statistics.median(ours),
            "ratio": statistics.median(ratios), "ratios": ratios, "minplus_per_second": n**3 / statistics.median(ours),
        }  # fmt: skip


class OfRandomWeights(FloydWarshall):
    """The blocked algorithm on a random matrix of which each shard makes its part: nothing travels."""

    def load(self, shard: int, piece: None, device: devices.Device) -> Any:
        """Return the shard with random weights."""
        return super().load(shard, Part(random_part(self.plan, shard), None), device)


def random_part(made: Any, shard: int) -> Any:
    """Return a shard's rectangle of the random matrix."""
    (top, bottom), (left, right) = made.ranges[shard], made.columns[shard]
    random = devices.find("cuda").xp.random.RandomState(1000 + shard)
    part = random.random_sample((bottom - top, right - left), np.float32)
    part *= 999
    part += 1
    return part


def scaling() -> Iterator[Row]:
    """The blocked algorithm on every GPU of this host under Dask and NCCL, against one GPU's rate."""
    from mgraph.cluster import Cluster, local_client

    gpus = devices.gpu_count()
    sizes = [int(n) for n in os.environ.get("SIZES", "65536").split(",")]
    _, seconds, _ = solve_seconds(partial(mgraph.apsp, gpu_matrix(32768, "float32"), method="blocked"), 3)
    rate = 32768**3 / seconds
    yield {"row": "scaling", "gpus": 1, "n": 32768, "seconds": seconds, "minplus_per_second": rate}
    devices.find("cuda").xp.get_default_memory_pool().free_all_blocks()
    for n in sizes:
        with local_client(gpus, "cuda") as client:
            runner = Cluster(client, "cuda")
            warm = plan("apsp", 8192, devices=runner.specs, method="blocked")
            runner.run(OfRandomWeights(warm, True), lambda shard: None, warm, None)
            made = plan("apsp", n, devices=runner.specs, method="blocked")
            outcome = runner.run(OfRandomWeights(made, True), lambda shard: None, made, None)
            xp = devices.find("cuda").xp
            weights = xp.empty((n, n), np.float32)
            for shard, (rows, columns) in enumerate(zip(made.ranges, made.columns, strict=True)):
                weights[slice(*rows), slice(*columns)] = random_part(made, shard)
            check_rows(weights, outcome.arrays["distances"].row, 8)
            del weights
        seconds = outcome.timings["solve"]
        yield {
            "row": "scaling", "gpus": gpus, "grid": made.grid, "n": n, "seconds": seconds,
            "minplus_per_second": n**3 / seconds, "efficiency": n**3 / seconds / (gpus * rate),
            "predicted_seconds": made.seconds, "timings": outcome.timings, "peak_bytes": made.peak_bytes,
        }  # fmt: skip


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "kernels": kernels,
    "types": types,
    "methods": methods,
    "out-of-core": out_of_core,
    "sources": sources,
    "as-graph": as_graph,
    "closures": closures,
    "cpu": cpu,
    "scaling": scaling,
}

if __name__ == "__main__":
    print_rows(__doc__, ROWS)
