"""Measures searches, shortest paths from one source, components, list ranking and generators on one GPU.

    python -m benchmarks.traversal [NAME ...] [--out FILE]

Each row prints one line of JSON. The graph is on the device before the clock starts; what is prepared once and kept
with it is timed beside (`first_call_ms`). `solve_ms` runs from the first launch of the algorithm to its last result,
`call_ms` is the whole Python call. Results are checked before a time counts: by another method, and where SciPy is
quick enough by SciPy. Road graphs: New York, and grids made like one.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from benchmarks.engine import DATA, Row, print_rows
from mgraph import device as devices
from mgraph.generate import grid, linked_list, rmat

SOURCES = 8


def timed(call: Callable[[], Any], repeats: int = 7) -> tuple[Any, Row]:
    """Return a call's last result, and its first time, and the medians of the rest, in ms."""
    solves, calls = [], []
    for _ in range(repeats + 1):
        devices.find("cuda").synchronize()
        started = time.perf_counter()
        result = call()
        devices.find("cuda").synchronize()
        calls.append(time.perf_counter() - started)
        solves.append(result.timings["solve"])
    return result, {
        "solve_ms": statistics.median(solves[1:]) * 1e3,
        "call_ms": statistics.median(calls[1:]) * 1e3,
        "first_call_ms": calls[0] * 1e3,
        "spread": (max(solves[1:]) - min(solves[1:])) / statistics.median(solves[1:]),
    }


def kronecker(scale: int) -> mgraph.Graph:
    """Return the Kronecker graph of 16 edges a vertex on the GPU."""
    return rmat(scale, device="cuda")


def new_york(weighted: bool = True) -> mgraph.Graph:
    """Return the roads of New York on the GPU, with weights from 1 to 255 if any."""
    read = mgraph.read(DATA / "NY.gr.xz")
    src, dst, _ = read.coo()
    graph = mgraph.Graph.from_edges(*(devices.find("cuda").asarray(ends) for ends in (src, dst)), n=read.n)
    return with_weights(graph) if weighted else graph


def with_weights(graph: mgraph.Graph, dtype: str = "float32") -> mgraph.Graph:
    """Return a graph on the GPU with uniform weights from 1 to 255, one per undirected edge."""
    src, dst, _ = graph.coo()
    a, b = np.minimum(src, dst).astype(np.uint64), np.maximum(src, dst).astype(np.uint64)
    mixed = (a * np.uint64(0x9E3779B97F4A7C15)) ^ (b * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    weights = ((mixed >> np.uint64(33)) % np.uint64(255) + np.uint64(1)).astype(dtype)
    indptr, indices, _ = graph.csr()
    return mgraph.Graph(
        graph.n, csr=mgraph.graph.Compressed(indptr, indices, weights), directed=graph.directed, nonnegative=True
    )


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
        other = mgraph.bfs(graph, source, device="cuda", method="frontier")
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
    yield search("New York", new_york(weighted=False))
    yield search("grid 1,024 x 1,024", grid(1024, 1024, device="cuda"))


def sssp() -> Iterator[Row]:
    """Shortest paths from one source, weights 1 to 255, mean of four sources; the first is checked by SciPy or twin."""
    for name, graph in (("kronecker 22", with_weights(kronecker(22))), ("New York", new_york())):
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
    roads = new_york(weighted=False)
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


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "bfs": bfs,
    "sssp": sssp,
    "components": components,
    "list-rank": list_rank,
    "rmat": generators,
}

if __name__ == "__main__":
    print_rows(__doc__, ROWS)
