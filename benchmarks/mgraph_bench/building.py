"""Building a graph from arrays and from a sparse matrix, and grouping its edges by target, on all cores of a CPU.

    python -m mgraph_bench.building --scale S [--case NAME]...

The edges are those of a Kronecker graph of ``2**S`` vertices, 16 drawn for each, in random order but for the case named
"sorted". Cases named "undirected" are given each edge once, the others in both directions, so that all store as many. A
line of JSON is printed for each case: `seconds` is the median of the calls, `processor_seconds` that of the time of all
cores, `peak_bytes` the most memory that a call allocates, with what it returns, and `peer_seconds` the time of SciPy's
conversion to sorted rows. SciPy's arrays verify those of the graph.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np
from scipy import sparse

from mgraph import Graph, generate, limits
from mgraph import device as devices
from mgraph.cli import Command
from mgraph.errors import WrongResultError
from mgraph.graph import Compressed
from mgraph.measuring import repeated, spread

#: Edges: their ends and weights.
Edges = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def kronecker(scale: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the edges of a Kronecker graph, each once, in random order."""
    src, dst, _ = generate.rmat(scale).coo()
    once = src < dst
    src, dst = src[once], dst[once]
    order = np.random.default_rng(scale).permutation(len(src))
    return src[order], dst[order]


def from_edges(edges: Edges, n: int, directed: bool) -> tuple[Callable[[], Compressed], Callable[[], Any]]:
    """Return the call on edges, and SciPy's."""
    src, dst, weights = edges
    values = np.ones(len(src), np.int8) if weights is None else weights

    def peer() -> Any:
        if directed:
            return sparse.coo_array((values, (src, dst)), shape=(n, n)).tocsr()
        there, back = np.append(src, dst), np.append(dst, src)
        return sparse.coo_array((np.append(values, values), (there, back)), shape=(n, n)).tocsr()

    return lambda: Graph.from_edges(src, dst, weights, n, directed).csr(), peer


def from_scipy(edges: Edges, n: int) -> tuple[Callable[[], Compressed], Callable[[], Any]]:
    """Return the call on a matrix with sorted rows, and SciPy's copy of it."""
    matrix = Graph.from_edges(*edges, n).to_scipy()
    return lambda: Graph.from_scipy(matrix).csr(), matrix.copy


def transposed(edges: Edges, n: int) -> tuple[Callable[[], Compressed], Callable[[], Any]]:
    """Return the call on a directed graph, and SciPy's."""
    graph = Graph.from_edges(*edges, n)
    matrix = graph.to_scipy()

    def call() -> Compressed:
        graph.release()
        return graph.csc()

    return call, matrix.tocsc


#: Each case: from the ends of edges and the number of vertices, the call and SciPy's.
CASES: dict[str, Callable[[np.ndarray, np.ndarray, int], tuple[Callable[[], Compressed], Callable[[], Any]]]] = {
    "directed": lambda src, dst, n: from_edges((*both(src, dst), None), n, True),
    "directed int64": lambda src, dst, n: from_edges(
        (*both(src.astype(np.int64), dst.astype(np.int64)), None), n, True
    ),
    "directed float64": lambda src, dst, n: from_edges((*both(src, dst), lengths(2 * len(src))), n, True),
    "undirected": lambda src, dst, n: from_edges((src, dst, None), n, False),
    "undirected sorted": lambda src, dst, n: from_edges((*in_order(src, dst), None), n, False),
    "from_scipy": lambda src, dst, n: from_scipy((*both(src, dst), None), n),
    "from_scipy float64": lambda src, dst, n: from_scipy((*both(src, dst), lengths(2 * len(src))), n),
    "csc": lambda src, dst, n: transposed((*both(src, dst), None), n),
    "csc float64": lambda src, dst, n: transposed((*both(src, dst), lengths(2 * len(src))), n),
}


def lengths(count: int) -> np.ndarray:
    """Return random weights."""
    return np.random.default_rng(count).random(count)


def both(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return edges in both directions, in random order."""
    order = np.random.default_rng(len(src)).permutation(2 * len(src))
    return np.append(src, dst)[order], np.append(dst, src)[order]


def in_order(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return edges sorted by source and target."""
    keys = np.sort(src.astype(np.int64) << 32 | dst)
    return (keys >> 32).astype(np.int32), keys.astype(np.int32)


def measured(src: np.ndarray, dst: np.ndarray, n: int, case: str) -> dict[str, Any]:
    """Return the row of a case.

    Raises
    ------
    WrongResultError
        If the arrays are not those of SciPy.
    """
    call, peer = CASES[case](src, dst, n)
    found, times = repeated(call)
    with devices.find("cpu").peak_memory() as peak:
        call()
    began = time.perf_counter()
    expected = peer()
    expected.sort_indices()
    seconds = time.perf_counter() - began
    arrays = (expected.indptr, expected.indices, expected.data)
    if not all(own is None or np.array_equal(own, other) for own, other in zip(found, arrays, strict=True)):
        raise WrongResultError(f"{case}: the arrays are not those of SciPy")
    stored = len(found.indices)
    return {
        **{"case": case, "n": n, "stored": stored, "seconds": times.seconds, "times": times.calls},
        **{"spread": spread(times.calls), "first_call_seconds": times.first_call},
        **{"processor_seconds": float(np.median(times.processor)), "edges_per_second": stored / times.seconds},
        **{"peak_bytes": peak.bytes, "peer_seconds": seconds},
    }


@click.command(cls=Command)
@click.option("--scale", type=click.IntRange(1, 26), required=True, metavar="S", help="The graph has 2**S vertices.")
@click.option("--case", "cases", type=click.Choice(list(CASES)), multiple=True, help="By default all.")
def main(scale: int, cases: tuple[str, ...]) -> None:
    """Measure how long a graph takes to build, and print a line of JSON for each case."""
    src, dst = kronecker(scale)
    device = {"model": devices.find("cpu").model(), "cores": limits.cores()}
    for case in cases or CASES:
        click.echo(json.dumps({**device, "scale": scale, **measured(src, dst, 1 << scale, case)}))


if __name__ == "__main__":
    main()
