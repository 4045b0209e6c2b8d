"""GraphBLAS: matrices and vectors over semirings, by SuiteSparse. The algorithms are written here.

The search is that of its specification [1]_, the shortest paths are Bellman and Ford's from the vertices whose distance
fell, as in graphblas-algorithms, and the components are FastSV [2]_, as in LAGraph [3]_.

References
----------
.. [1] Brock, Buluç, Mattson, McMillan and Moreira, "The GraphBLAS C API specification", version 2.0, 2021.
.. [2] Zhang, Azad and Buluç, "Parallel algorithms for finding connected components using linear algebra", 2020.
.. [3] Mattson et al., "LAGraph: a community effort to collect graph algorithms built on top of the GraphBLAS", 2019.
"""

from typing import Any

import numpy as np

from mgraph.graph import Graph

from .conversion import edges_of, smallest, symmetric
from .solver import Array, Library, Peer, Solver


def _matrix(graphblas: Library, graph: Graph, weighted: bool = False) -> Any:
    edges = edges_of(graph)
    values: Any = True  # one for all entries, which the library then stores once
    if weighted:
        values = np.float32(1) if edges.weights is None else edges.weights
    ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
    return graphblas.Matrix.from_coo(*ends, values, nrows=graph.n, ncols=graph.n)


def _relaxed(graphblas: Library, adjacency: Any, start: Any) -> Any:
    """Return distances from a start, a vector or a matrix with a row a source: in rounds, from those that fell."""
    distances, frontier = start.dup(), start.dup()
    fell = type(start)(bool, *start.shape)
    while frontier.nvals:
        frontier << graphblas.semiring.min_plus(frontier @ adjacency)
        fell << graphblas.unary.one[bool](frontier)
        fell(graphblas.binary.second) << graphblas.binary.lt(frontier & distances)
        frontier(fell.V, graphblas.replace) << frontier
        distances(frontier.S) << frontier
    return distances.wait()  # for deferred operations of the library


def _levels(graphblas: Library, adjacency: Any, frontier: Any) -> Any:
    """Return distances in edges from a frontier, a vector or a matrix with a row a search, level by level."""
    frontier, distances, level = frontier.dup(), type(frontier)(np.int32, *frontier.shape), 0
    while frontier.nvals:
        distances(frontier.S) << level
        frontier(~distances.S, graphblas.replace) << graphblas.semiring.any_pair[bool](frontier @ adjacency)
        level += 1
    return distances.wait()


def apsp(graphblas: Library, graph: Graph) -> Solver:
    """Return the call for all pairs."""
    adjacency = _matrix(graphblas, graph, weighted=graph.weighted)
    search = _relaxed if graph.weighted else _levels
    start = graphblas.Vector.from_dense(np.zeros(graph.n, adjacency.dtype.np_type)).diag()
    return Solver(
        lambda: search(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=np.inf, dtype=np.float64)},
        f"graphblas.semiring.{'min_plus' if graph.weighted else 'any_pair'}",
    )


def bfs(graphblas: Library, graph: Graph, source: int) -> Solver:
    """Return the call for a breadth-first search."""
    adjacency = _matrix(graphblas, graph)
    start = graphblas.Vector.from_coo([source], True, size=graph.n)
    return Solver(
        lambda: _levels(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=-1, dtype=np.int32)},
        "graphblas.semiring.any_pair",
    )


def sssp(graphblas: Library, graph: Graph, source: int) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    adjacency = _matrix(graphblas, graph, weighted=True)
    start = graphblas.Vector.from_coo([source], [0], adjacency.dtype, size=graph.n)
    return Solver(
        lambda: _relaxed(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=np.inf, dtype=np.float64)},
        "graphblas.semiring.min_plus",
    )


def components(graphblas: Library, graph: Graph) -> Solver:
    """Return the call for connected components."""
    adjacency = _matrix(graphblas, symmetric(graph))
    least, step = graphblas.binary.min, graphblas.semiring.min_second
    starts = np.arange(graph.n + 1, dtype=np.uint64)

    def solve() -> Any:
        parents = graphblas.Vector.from_dense(np.arange(graph.n, dtype=np.int64))
        beside, grandparents = parents.dup(), parents.dup()
        while True:
            beside(least) << step(adjacency @ grandparents)  # the least grandparent of a neighbour
            children = graphblas.Matrix.from_csc(starts, parents.to_dense().astype(np.uint64), True, nrows=graph.n)
            parents(least) << step(children @ beside)  # hooks a parent's tree to the least that its children found
            parents(least) << beside
            parents(least) << grandparents
            above = parents[parents.to_dense()].new()
            if above.isequal(grandparents):
                return parents
            grandparents = above

    def arrays(raw: Any) -> dict[str, Array]:
        return {"labels": smallest(raw.to_dense())}

    return Solver(solve, arrays, "graphblas.semiring.min_second, FastSV")


PEER = Peer("graphblas", "python-graphblas", {"apsp": apsp, "bfs": bfs, "sssp": sssp, "components": components})
