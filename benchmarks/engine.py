"""Measures the engine's figures: solve rates, search times, memory against prediction, spans.

    python -m benchmarks.engine [NAME ...] [--out FILE]

Each row prints one line of JSON. Inputs are random, never zeros; every result is checked against SciPy or
the CPU twin before its time counts; times are medians after a warm-up.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra, floyd_warshall, shortest_path

import mgraph
from mgraph import device as devices
from mgraph.algorithms.bfs import plan as searches
from mgraph.generate import grid, random_matrix, rmat
from mgraph.measuring import repeated, spread

Row = dict[str, Any]


def data(name: str) -> Path:
    """Return the path of a real graph's file, or raise FileNotFoundError where no folder has it."""
    folders = Path("../shared/data"), Path(".data")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is in none of {', '.join(map(str, folders))}: docs/files.md tells its source")


def gpu_matrix(n: int, dtype: str = "float32", low: float = 1, high: float = 1000) -> Any:
    """Return a random distance matrix made on the GPU."""
    xp = devices.find("cuda").xp
    xp.random.seed(n)
    matrix = xp.random.random((n, n), np.float64 if dtype == "float64" else np.float32)
    matrix *= high - low
    matrix += low
    return matrix.astype(dtype) if dtype == "int32" else matrix


def check_rows(matrix: Any, distances: Any, rows: int = 8) -> None:
    """Compare some rows with SciPy's Dijkstra, to rounding: the sums are grouped differently."""
    host = devices.to_host(matrix).astype(np.float64)
    np.fill_diagonal(host, 0)
    picked = np.random.default_rng(1).integers(0, len(host), rows)
    # Only the lightest edges of each row can lie on shortest paths of so dense a graph.
    graph = (
        sparse.csr_matrix(np.where(host <= np.partition(host, 400, axis=1)[:, 400:401], host, 0))
        if len(host) > 4096
        else sparse.csr_matrix(host)
    )
    expected = dijkstra(graph, indices=picked)
    for row, i in zip(expected, picked, strict=True):
        np.testing.assert_allclose(devices.to_host(distances[int(i)]), row, rtol=2e-5)


def solve_seconds(call: Callable[[], Any], repeats: int = 5) -> tuple[Any, float, float]:
    """Return a call's result, and the median and spread of its solve time after a warm-up."""
    result, taken = repeated(call, repeats)
    return result, taken.seconds, spread(taken.solves)


def fw_gpu() -> Iterator[Row]:
    """Floyd-Warshall on one GPU, the matrix already there: every type, and with predecessors."""
    cases = [
        ("float32", 4096, 1, False),
        ("float32", 16384, 1, False),
        ("float32", 32768, 1, False),
        ("float32", 32768, -1, False),  # some weights just below zero, too few for a negative cycle
        ("int32", 32768, 1, False),
        ("float64", 16384, 1, False),
        ("float32", 16384, 1, True),
        ("float32", 32768, 1, True),
    ]
    for dtype, n, low, paths in cases:
        matrix = gpu_matrix(n, dtype)
        if low < 0:
            matrix[:16, 16:32] = -0.5  # from one set to another: no way back is that short
        result, seconds, spread = solve_seconds(
            lambda matrix=matrix, paths=paths: mgraph.apsp(matrix, predecessors=paths), 3
        )
        if dtype != "int32" and low > 0 and n <= 16384:
            check_rows(matrix, result.distances, 4)
        yield {
            "row": "fw-gpu", "dtype": dtype, "n": n, "negative": low < 0, "predecessors": paths,
            "seconds": seconds, "spread": spread,
            "minplus_per_second": n**3 / seconds, "predicted_seconds": result.plan.seconds,
            "load": result.timings["load"],
        }  # fmt: skip
        del matrix, result


def fw_phases() -> Iterator[Row]:
    """What each phase of a round costs on one GPU, by events."""
    xp = devices.find("cuda").xp
    kernels = devices.find("cuda").kernels("minplus")
    for n in (4096, 16384):
        D = gpu_matrix(n)
        M, R, C = kernels.panels(xp, np.float32, n, n, 128)
        cycle = xp.zeros(1, np.int32)
        calls = {
            "factor": lambda D=D, M=M, cycle=cycle: kernels.factor(D, 256, 256, 256, 128, M, cycle),
            "rows": lambda D=D, M=M, R=R: kernels.solve_rows(D, None, 256, 256, 128, M, R, None),
            "columns": lambda D=D, M=M, C=C: kernels.solve_columns(D, 256, 128, M, C),
            "update": lambda D=D, R=R, C=C: kernels.update(D, None, C, R, None, 256, 128, True),
        }
        row: Row = {"row": "fw-phases", "n": n}
        for name, call in calls.items():
            row[f"{name}_us"] = event_us(xp, call)
        row["update_minplus_per_second"] = n * n * 128 / row["update_us"] * 1e6
        yield row


def event_us(xp: Any, call: Callable[[], None], repeats: int = 7, queued: int = 20) -> float:
    """Return the median time of a call between two events, in µs; several are queued, to hide the launches."""
    call()
    times = []
    for _ in range(repeats):
        start, end = xp.cuda.Event(), xp.cuda.Event()
        start.record()
        for _ in range(queued):
            call()
        end.record()
        end.synchronize()
        times.append(xp.cuda.get_elapsed_time(start, end) * 1e3 / queued)
    return statistics.median(times)


def fw_client() -> Iterator[Row]:
    """The direct path against a client with one GPU worker, n = 16,384, float32, from a sparse graph."""
    from mgraph.cluster import local_client

    n = 16384
    random = np.random.default_rng(0)
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 16 * n)), random.random(16 * n, np.float32), n=n)
    with local_client(1, "cuda") as client:
        for _ in range(3):
            started = time.perf_counter()
            direct = mgraph.apsp(graph, device="cuda")
            between = time.perf_counter()
            far = mgraph.apsp(graph, client=client)
            ended = time.perf_counter()
        assert np.array_equal(far.distances.row(7), direct.distances[7])
        yield {
            "row": "fw-client", "n": n, "direct_solve": direct.timings["solve"], "client_solve": far.timings["solve"],
            "direct_call_with_copy_to_host": between - started, "client_call": ended - between,
            "client_timings": far.timings,
        }  # fmt: skip


def fw_two() -> Iterator[Row]:
    """One GPU against two under Dask, n = 32,768, float32."""
    from mgraph.cluster import local_client

    n = 32768
    random = np.random.default_rng(0)
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, 16 * n)), random.random(16 * n, np.float32), n=n)
    seconds: dict[int, float] = {}
    rows = {}
    for workers in (1, 2):
        with local_client(workers, "cuda") as client:
            mgraph.apsp(graph, client=client, span=None)
            result = mgraph.apsp(graph, client=client)
            seconds[workers] = result.timings["solve"]
            rows[workers] = np.stack([result.distances.row(i) for i in (0, 5000, n - 1)])
            timings = result.timings
    assert np.array_equal(rows[1], rows[2])
    yield {
        "row": "fw-two", "n": n, "one": seconds[1], "two": seconds[2], "speedup": seconds[1] / seconds[2],
        "minplus_per_second_one": n**3 / seconds[1], "timings_two": timings,
    }  # fmt: skip


def fw_cpu() -> Iterator[Row]:
    """Floyd-Warshall float32 on the CPU against SciPy, paired in one run, n = 2,048."""
    n = 2048
    matrix = random_matrix(n, seed=1)
    mgraph.apsp(matrix, device="cpu")
    ratios, ours, theirs = [], [], []
    for _ in range(3):
        started = time.perf_counter()
        expected = floyd_warshall(matrix)
        between = time.perf_counter()
        result = mgraph.apsp(matrix, device="cpu")
        ended = time.perf_counter()
        np.testing.assert_allclose(result.distances, expected, rtol=1e-5)
        theirs.append(between - started)
        ours.append(ended - between)
        ratios.append(theirs[-1] / ours[-1])
    yield {
        "row": "fw-cpu", "n": n, "cores": os.cpu_count(), "seconds": statistics.median(ours),
        "scipy_seconds": statistics.median(theirs), "ratio": statistics.median(ratios), "ratios": ratios,
        "minplus_per_second": n**3 / statistics.median(ours),
    }  # fmt: skip


def bfs_gpu() -> Iterator[Row]:
    """Searches on one GPU: Kronecker 22 (mean of 8 sources) and New York, by the host's clock."""
    cases = [("NY", mgraph.read(data("NY.gr.xz"))), ("kronecker-22", rmat(22, device="cuda"))]
    for name, graph in cases:
        degrees = np.diff(devices.to_host(graph.csr().indptr))
        random = np.random.default_rng(0)
        sources = [0] if name == "NY" else random.choice(np.flatnonzero(degrees), 8, replace=False).tolist()
        means, calls = [], []
        for source in sources:
            result, seconds, _ = solve_seconds(lambda g=graph, s=source: mgraph.bfs(g, s, device="cuda"), 7)
            started = time.perf_counter()
            mgraph.bfs(graph, source, device="cuda")
            calls.append(time.perf_counter() - started)
            means.append(seconds)
        distances = devices.to_host(result.distances)
        reached = distances >= 0
        edges = int(degrees[reached].sum()) // 2
        other = mgraph.bfs(graph, sources[-1], method="frontier", device="cuda")
        assert np.array_equal(devices.to_host(other.distances), distances)
        with_paths = mgraph.bfs(graph, sources[-1], predecessors=True, device="cuda")
        row = {
            "row": "bfs-gpu", "graph": name, "n": graph.n, "m": graph.m, "mean_ms": statistics.mean(means) * 1e3,
            "each_ms": [m * 1e3 for m in means], "call_ms": statistics.mean(calls) * 1e3,
            "levels": len(result.levels), "gteps": edges / means[-1] / 1e9,
            "with_predecessors_ms": (with_paths.timings["solve"] + with_paths.timings["collect"]) * 1e3,
        }  # fmt: skip
        for method in ("frontier", "pull"):
            if name != "NY" or method != "pull":
                _, seconds, _ = solve_seconds(
                    lambda g=graph, s=sources[-1], m=method: mgraph.bfs(g, s, method=m, device="cuda"), 3
                )
                row[f"{method}_ms"] = seconds * 1e3
        yield row


def bfs_spans() -> Iterator[Row]:
    """span=1 against the fused default on 2 CPU workers, New York."""
    from mgraph.cluster import local_client

    graph = mgraph.read(data("NY.gr.xz"))
    matrix = sparse.csr_matrix((np.ones(graph.m), graph.csr().indices, graph.csr().indptr), shape=(graph.n, graph.n))
    expected = shortest_path(matrix, unweighted=True, indices=0)
    with local_client(2, "cpu") as client:
        mgraph.bfs(graph, 0, client=client)
        fused = mgraph.bfs(graph, 0, client=client)
        single = mgraph.bfs(graph, 0, client=client, span=1)
    direct = mgraph.bfs(graph, 0, device="cpu")
    for result in (fused, single, direct):
        assert np.array_equal(result.distances, expected)
    yield {
        "row": "bfs-spans", "levels": len(direct.levels), "fused_seconds": fused.timings["solve"],
        "span1_seconds": single.timings["solve"], "direct_seconds": direct.timings["solve"],
    }  # fmt: skip


def bfs_lists() -> Iterator[Row]:
    """Milliseconds a level on 2 CPU workers with lists of thin frontiers, and with bitmaps only, in turn."""
    from mgraph.cluster import local_client

    planned = searches._listed
    with local_client(2, "cpu") as client:
        for rows, columns, sources in (
            (512, 1024, [0]),
            (1000, 1000, [0]),
            (2000, 2000, [0]),
            (2828, 2828, [0]),
            (8192, 512, range(0, 8192 * 512, 512)),  # one vertex more than a list holds, at every level
        ):
            graph = grid(rows, columns, weights=None)
            expected = mgraph.bfs(graph, sources=sources, device="cpu")
            mgraph.bfs(graph, sources=sources, client=client)
            times: dict[str, list[float]] = {"lists": [], "bitmaps": []}
            for _ in range(3):
                for way, listed in (("lists", planned), ("bitmaps", lambda *_: 0)):
                    with mock.patch.object(searches, "_listed", listed):
                        result = mgraph.bfs(graph, sources=sources, client=client)
                    assert np.array_equal(result.distances, expected.distances)
                    times[way].append(result.timings["solve"] / len(expected.levels) * 1e3)
            yield {
                "row": "bfs-lists", "n": graph.n, "levels": len(expected.levels), "widest": int(expected.levels.max()),
                "listed": planned(graph.n, 2, "cpu"),
                **{f"{way}_ms": statistics.median(each) for way, each in times.items()},
                "ratios": [b / a for a, b in zip(*times.values(), strict=True)],
            }  # fmt: skip


def memory_cpu() -> Iterator[Row]:
    """Peak memory of the CPU path against the plan, by tracemalloc."""
    for n, paths in ((4096, False), (4096, True)):
        matrix = random_matrix(n, seed=2)
        mgraph.apsp(matrix[:64, :64], device="cpu", predecessors=paths)
        with devices.find("cpu").peak_memory() as peak:
            result = mgraph.apsp(matrix, device="cpu", predecessors=paths)
        planned = result.plan.peak_bytes[0]
        yield {
            "row": "memory-cpu",
            "n": n,
            "predecessors": paths,
            "peak": peak.bytes,
            "planned": planned,
            "ratio": peak.bytes / planned,
        }


def memory_gpu() -> Iterator[Row]:
    """Peak memory of the GPU path against the plan, by CuPy's pool."""
    pool = devices.find("cuda").xp.get_default_memory_pool()
    calls: list[tuple[str, Callable[[], Any]]] = []
    for n, paths in ((4096, False), (4096, True), (10001, False), (16384, False)):
        matrix = random_matrix(n, seed=2)
        calls.append(
            (
                f"apsp {n} {paths}",
                lambda matrix=matrix, paths=paths: mgraph.apsp(matrix, device="cuda", predecessors=paths),
            )
        )
    graph = rmat(20)
    for paths in (False, True):
        calls.append(
            (f"bfs rmat 20 {paths}", lambda paths=paths: mgraph.bfs(graph, 1, device="cuda", predecessors=paths))
        )
    for name, call in calls:
        graph._views = {key: value for key, value in graph._views.items() if key[1] == "cpu"}
        pool.free_all_blocks()
        with devices.find("cuda").peak_memory() as peak:
            result = call()
        planned = result.plan.peak_bytes[0]
        yield {"row": "memory-gpu", "what": name, "peak": peak.bytes, "planned": planned, "ratio": peak.bytes / planned}


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "fw-gpu": fw_gpu,
    "fw-phases": fw_phases,
    "fw-client": fw_client,
    "fw-two": fw_two,
    "fw-cpu": fw_cpu,
    "bfs-gpu": bfs_gpu,
    "bfs-spans": bfs_spans,
    "bfs-lists": bfs_lists,
    "memory-cpu": memory_cpu,
    "memory-gpu": memory_gpu,
}


def print_rows(description: str | None, rows: dict[str, Callable[[], Iterator[Row]]]) -> None:
    """Measure the rows that the command line asks for and print them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(rows)}; all by default")
    parser.add_argument("--out", type=Path, help="append the rows to this file")
    arguments = parser.parse_args()
    for name in arguments.names or rows:
        for row in rows[name]():
            line = json.dumps(row)
            print(line, flush=True)
            if arguments.out:
                with arguments.out.open("a") as file:
                    file.write(line + "\n")


if __name__ == "__main__":
    print_rows(__doc__, ROWS)
