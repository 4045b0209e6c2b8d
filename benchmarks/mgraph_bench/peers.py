"""Other libraries, called on the same graphs: what mgraph's times are set beside.

A function a library and algorithm puts the graph into the library's own form and names the call to be timed: what the
library documents as its way of solving the problem, with as many threads as it takes by itself. Another function, which
is not timed, turns what comes out into arrays.

Where a library has several calls for a problem, the one is taken that was fastest:

- SciPy's breadth-first search gives an order and predecessors; the distances follow from these, and are not timed. The
  shortest paths from one vertex are Dijkstra's, those of all pairs what ``shortest_path`` chooses by itself.
- igraph's ``bfs`` gives the vertices layer by layer, and is faster than its ``distances``.
- NetworKit's ``ConnectedComponents`` searches on one core, and is faster than ``ParallelConnectedComponents``, which
  propagates labels.
- GraphBLAS has operations, no algorithms. The search is that of its specification [1]_, the shortest paths are Bellman
  and Ford's from those that fell, as in graphblas-algorithms, and the components are FastSV [2]_, as in LAGraph [3]_.
- cuGraph is called through pylibcugraph, as that documents it. Its results stay on the GPU.
- No library ranks lists. Those whose search works off a queue do it from the ends of the lists backwards; GraphBLAS and
  cuGraph go level by level, so that every element would take a launch.

References
----------
.. [1] Brock, Buluç, Mattson, McMillan and Moreira, "The GraphBLAS C API specification", version 2.0, 2021.
.. [2] Zhang, Azad and Buluç, "Parallel algorithms for finding connected components using linear algebra", 2020.
.. [3] Mattson et al., "LAGraph: a community effort to collect graph algorithms built on top of the GraphBLAS", 2019.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mgraph import device as devices
from mgraph.dtypes import NO_PREDECESSOR, infinity
from mgraph.errors import InputError, MgraphError
from mgraph.graph import Edges, Graph, as_graph, in_memory

Array = Any

#: A library's module, imported. It is handed to the functions, as few will have all of them.
Library = Any


class PeerError(MgraphError, LookupError):
    """A library that is not installed, or has no such algorithm."""


class Solver(NamedTuple):
    """A call of another library, with the graph in that library's form.

    Attributes
    ----------
    solve : callable
        What is to be timed. It may be called again.
    arrays : callable
        Turns what `solve` returned into arrays by name, in mgraph's conventions: ``"distances"`` (a breadth-first
        search's in int32 with -1 for the unreached, others in floats with ``inf``), ``"labels"`` or ``"ranks"``, and
        ``"predecessors"`` where the library gives any.
    called : str
        The call's name.
    """

    solve: Callable[[], Any]
    arrays: Callable[[Any], dict[str, Array]]
    called: str


class Peer(NamedTuple):
    """A library: its module, what to give ``pip install``, its algorithms, and the kind of device it uses."""

    module: str
    install: str
    algorithms: dict[str, Callable[..., Solver]]
    kind: str = "cpu"


def solver(peer: str, algorithm: str, graph: Any, **call: Any) -> Solver:
    """Return another library's call for an algorithm, with the graph in that library's own form.

    Parameters
    ----------
    peer : str
        One of `PEERS`.
    algorithm : {"apsp", "bfs", "sssp", "components", "list_rank"}
        What to solve.
    graph : Graph, sparse matrix, or array_like of shape (n, n)
        Read as `mgraph.apsp` does; for ``"list_rank"`` the successors, of shape (n,). Of parallel edges the shortest is
        taken. A matrix stays dense where the library has an algorithm for one.
    **call
        Arguments of mgraph's call that the library has too: ``source``, ``predecessors``, ``connection``. Others
        may be None or False.

    Raises
    ------
    PeerError
        If the library is not installed, or has no such algorithm or argument.
    InputError
        If no library is known by the name, and for a graph that cannot be used.
    """
    if peer not in PEERS:
        raise InputError(f"peer={peer!r} is not known: use one of {', '.join(PEERS)}")
    module, install, algorithms, _ = PEERS[peer]
    if algorithm not in algorithms:
        raise PeerError(f"{peer} has no call for {algorithm!r}, only for {', '.join(algorithms)}")
    given = {name: value for name, value in call.items() if value is not None and value is not False}
    for name in given.keys() - inspect.signature(algorithms[algorithm]).parameters.keys():
        raise PeerError(f"{peer} cannot be called for {algorithm!r} with {name}={given[name]!r}: leave it out")
    if "source" in given:
        given["source"] = int(given["source"])
    try:
        library = import_module(module)
    except ImportError as error:
        raise PeerError(f"{peer} cannot be imported ({error}): python -m pip install {install}") from error
    return algorithms[algorithm](library, graph if algorithm == "list_rank" else as_graph(graph), **given)


def version(peer: str) -> str | None:
    """Return the version of a library, None where it is not installed."""
    try:
        return str(import_module(PEERS[peer].module.partition(".")[0]).__version__)
    except ImportError:
        return None


def _edges(graph: Graph) -> Edges:
    """Return the edges, sorted by source and target; of parallel ones the shortest."""
    src, dst, weights = Edges(*(None if part is None else devices.to_host(part) for part in graph.coo()))
    again = (src[1:] == src[:-1]) & (dst[1:] == dst[:-1])
    if not again.any():
        return Edges(src, dst, weights)
    first = np.flatnonzero(np.append(True, ~again))
    return Edges(src[first], dst[first], None if weights is None else np.minimum.reduceat(weights, first))


def _one_way(graph: Graph) -> Edges:
    """Return the edges; of an undirected graph each in the direction to the larger vertex only."""
    edges = _edges(graph)
    if graph.directed:
        return edges
    kept = edges.src <= edges.dst
    return Edges(*(None if part is None else part[kept] for part in edges))


def _symmetric(graph: Graph) -> Graph:
    """Return the undirected graph of the same edges."""
    src, dst, _ = graph.coo()
    return Graph.from_edges(src, dst, n=graph.n, directed=False) if graph.directed else graph


def _lengths(edges: Edges) -> np.ndarray:
    """Return the weights in float64, which are 1 where there are none."""
    return np.ones(len(edges.src)) if edges.weights is None else edges.weights.astype(np.float64)


def _negative(graph: Graph) -> bool:
    """Whether a weight is negative."""
    return not graph.nonnegative and graph.extremes()[0] < 0


def _refuse_negative(graph: Graph, name: str) -> None:
    if _negative(graph):
        raise PeerError(f"{name} admits no negative weights, and the least is {graph.extremes()[0]}")


def _hops(distances: Array) -> Array:
    """Return distances in edges as integers, -1 for the unreached, which may be inf or as good as it."""
    distances = np.asarray(distances)
    return np.where(distances < 2**31 - 1, distances, -1).astype(np.int32)


def _finite(distances: Array) -> np.ndarray:
    """Return distances with inf for the unreached, which may be the largest number."""
    distances = np.array(distances, np.float64)
    distances[distances == np.finfo(np.float64).max] = np.inf
    return distances


def _filled(lengths: Mapping[int, float], n: int) -> np.ndarray:
    """Return the distances of which only those of the reached are given, by vertex."""
    distances = np.full(n, np.inf)
    distances[list(lengths.keys())] = list(lengths.values())
    return distances


def _matrix_of(rows: Iterable[tuple[int, Mapping[int, float]]], n: int) -> np.ndarray:
    """Return a matrix of distances that is given row by row, and of a row the reached; the diagonal may be missing."""
    matrix = np.full((n, n), np.inf)
    for source, lengths in rows:
        matrix[source] = _filled(lengths, n)
    np.fill_diagonal(matrix, 0)
    return matrix


def _smallest(labels: Array) -> np.ndarray:
    """Return labels as the smallest vertex of each component."""
    _, first, number = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return first[number].astype(np.int32)


def _labels_of(components: Iterable[Iterable[int]], n: int) -> np.ndarray:
    """Return the labels of components that are given as their vertices."""
    labels = np.empty(n, np.int32)
    for component in components:
        vertices = list(component)
        labels[vertices] = min(vertices)
    return labels


def _depths(predecessors: np.ndarray, source: int) -> np.ndarray:
    """Return every vertex's distance from the root of a tree that is given by predecessors, by pointer jumping."""
    reached = predecessors >= 0
    reached[source] = True
    up = np.where(predecessors >= 0, predecessors, np.arange(len(predecessors)))
    depths = (predecessors >= 0).astype(np.int32)
    while (beyond := depths[up]).any():
        depths += beyond
        up = up[up]
    return np.where(reached, depths, np.int32(-1))


def _list_rank(search: Callable[..., Solver]) -> Callable[..., Solver]:
    """Return the ranking of lists by a library's breadth-first search: backwards, from a vertex behind all the ends."""

    def ranking(library: Library, succ: Any) -> Solver:
        succ = devices.to_host(succ)
        n = len(succ)
        src = np.where(succ == np.arange(n), n, succ)
        found = search(library, Graph.from_edges(src, np.arange(n), n=n + 1), n)

        def arrays(raw: Any) -> dict[str, Array]:
            return {"ranks": found.arrays(raw)["distances"][:n] - 1}

        return Solver(found.solve, arrays, f"{found.called}, backwards from the ends of the lists")

    return ranking


# SciPy: what csgraph takes is a sparse matrix of float64, whose stored zeros are edges.


def _scipy_matrix(graph: Graph) -> sparse.csr_array:
    edges = _edges(graph)
    return sparse.csr_array((_lengths(edges), (edges.src, edges.dst)), shape=(graph.n, graph.n))


def _scipy_paths(raw: Any, predecessors: bool) -> dict[str, Array]:
    return {"distances": raw[0], "predecessors": raw[1]} if predecessors else {"distances": raw}


def _scipy_apsp(csgraph: Library, graph: Graph, predecessors: bool = False) -> Solver:
    method = "auto"
    if graph.dense is None:
        matrix = _scipy_matrix(graph)
        zeros = not matrix.data.all()
    else:
        dense = devices.to_host(in_memory(graph.dense))
        matrix = np.where(dense == infinity(dense.dtype), np.inf, dense)
        np.fill_diagonal(matrix, np.inf)
        zeros = not matrix.all()
    if zeros:  # which its Floyd-Warshall takes for no edge
        matrix, method = _scipy_matrix(graph), "J" if _negative(graph) else "D"
    solve = partial(csgraph.shortest_path, matrix, method=method, return_predecessors=predecessors)
    called = f"scipy.sparse.csgraph.shortest_path(method={method!r})"
    return Solver(solve, partial(_scipy_paths, predecessors=predecessors), called)


def _scipy_bfs(csgraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    def arrays(raw: Any) -> dict[str, Array]:
        return {"distances": _depths(raw[1], source), "predecessors": raw[1]}

    solve = partial(csgraph.breadth_first_order, _scipy_matrix(graph), source)
    return Solver(solve, arrays, "scipy.sparse.csgraph.breadth_first_order")


def _scipy_sssp(csgraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    name = "bellman_ford" if _negative(graph) else "dijkstra"
    call = getattr(csgraph, name)
    solve = partial(call, _scipy_matrix(graph), indices=source, return_predecessors=predecessors)
    return Solver(solve, partial(_scipy_paths, predecessors=predecessors), f"scipy.sparse.csgraph.{name}")


def _scipy_components(csgraph: Library, graph: Graph, connection: str = "weak") -> Solver:
    solve = partial(csgraph.connected_components, _scipy_matrix(graph), connection=connection)
    return Solver(solve, lambda raw: {"labels": _smallest(raw[1])}, "scipy.sparse.csgraph.connected_components")


# NetworkX: graphs of dictionaries, results in dictionaries.


def _networkx_graph(networkx: Library, graph: Graph) -> Any:
    made = networkx.DiGraph() if graph.directed else networkx.Graph()
    made.add_nodes_from(range(graph.n))
    src, dst, weights = _one_way(graph)
    if weights is None:
        made.add_edges_from(zip(src.tolist(), dst.tolist(), strict=True))
    else:
        made.add_weighted_edges_from(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    return made


def _networkx_apsp(networkx: Library, graph: Graph) -> Solver:
    made = _networkx_graph(networkx, graph)
    if graph.dense is not None or _negative(graph):
        name = "floyd_warshall_numpy"
        return Solver(partial(networkx.floyd_warshall_numpy, made), lambda raw: {"distances": raw}, f"networkx.{name}")
    name = "all_pairs_dijkstra_path_length" if graph.weighted else "all_pairs_shortest_path_length"
    call = getattr(networkx, name)

    def arrays(raw: dict[int, dict[int, float]]) -> dict[str, Array]:
        return {"distances": _matrix_of(raw.items(), graph.n)}

    return Solver(lambda: dict(call(made)), arrays, f"networkx.{name}")


def _networkx_bfs(networkx: Library, graph: Graph, source: int) -> Solver:
    solve = partial(networkx.single_source_shortest_path_length, _networkx_graph(networkx, graph), source)

    def arrays(raw: dict[int, int]) -> dict[str, Array]:
        return {"distances": _hops(_filled(raw, graph.n))}

    return Solver(solve, arrays, "networkx.single_source_shortest_path_length")


def _networkx_sssp(networkx: Library, graph: Graph, source: int) -> Solver:
    name = f"single_source_{'bellman_ford' if _negative(graph) else 'dijkstra'}_path_length"
    solve = partial(getattr(networkx, name), _networkx_graph(networkx, graph), source)
    return Solver(solve, lambda raw: {"distances": _filled(raw, graph.n)}, f"networkx.{name}")


def _networkx_components(networkx: Library, graph: Graph, connection: str = "weak") -> Solver:
    name = f"{connection}ly_connected_components" if graph.directed else "connected_components"
    call, made = getattr(networkx, name), _networkx_graph(networkx, graph)

    def arrays(raw: list[set[int]]) -> dict[str, Array]:
        return {"labels": _labels_of(raw, graph.n)}

    return Solver(lambda: list(call(made)), arrays, f"networkx.{name}")


# igraph: a graph in C, results in Python's lists.


def _igraph_graph(igraph: Library, graph: Graph) -> tuple[Any, list[float] | None]:
    edges = _one_way(graph)
    made = igraph.Graph(n=graph.n, edges=np.column_stack([edges.src, edges.dst]), directed=graph.directed)
    return made, None if edges.weights is None else _lengths(edges).tolist()


def _igraph_apsp(igraph: Library, graph: Graph) -> Solver:
    made, weights = _igraph_graph(igraph, graph)
    solve = partial(made.distances, weights=weights)
    return Solver(solve, lambda raw: {"distances": np.array(raw, np.float64)}, "igraph.Graph.distances")


def _igraph_bfs(igraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    made, _ = _igraph_graph(igraph, graph)

    def arrays(raw: tuple[list[int], list[int], list[int]]) -> dict[str, Array]:
        order, starts, parents = map(np.asarray, raw)
        distances = np.full(graph.n, -1, np.int32)
        distances[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        before = np.full(graph.n, NO_PREDECESSOR, np.int32)
        before[order[1:]] = parents[order[1:]]
        return {"distances": distances, "predecessors": before}

    return Solver(partial(made.bfs, source), arrays, "igraph.Graph.bfs")


def _igraph_sssp(igraph: Library, graph: Graph, source: int) -> Solver:
    made, weights = _igraph_graph(igraph, graph)
    solve = partial(made.distances, [source], weights=weights)
    return Solver(solve, lambda raw: {"distances": np.array(raw[0], np.float64)}, "igraph.Graph.distances")


def _igraph_components(igraph: Library, graph: Graph, connection: str = "weak") -> Solver:
    made, _ = _igraph_graph(igraph, graph)
    solve = partial(made.connected_components, mode=connection)
    return Solver(solve, lambda raw: {"labels": _smallest(raw.membership)}, "igraph.Graph.connected_components")


# NetworKit: a graph in C++; an algorithm is an object that is run, and then asked.


def _networkit_graph(networkit: Library, graph: Graph, weighted: bool = False) -> Any:
    edges = _one_way(graph)
    ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
    if weighted and edges.weights is not None:
        return networkit.GraphFromCoo((_lengths(edges), ends), n=graph.n, weighted=True, directed=graph.directed)
    return networkit.GraphFromCoo(ends, n=graph.n, directed=graph.directed)


def _networkit_apsp(networkit: Library, graph: Graph) -> Solver:
    _refuse_negative(graph, "networkit.distance.APSP")
    made = _networkit_graph(networkit, graph, weighted=True)
    return Solver(
        lambda: networkit.distance.APSP(made).run(),
        lambda raw: {"distances": _finite(raw.getDistances(asarray=True))},
        "networkit.distance.APSP",
    )


def _networkit_bfs(networkit: Library, graph: Graph, source: int) -> Solver:
    made = _networkit_graph(networkit, graph)
    return Solver(
        lambda: networkit.distance.BFS(made, source, storePaths=False).run(),
        lambda raw: {"distances": _hops(raw.getDistances(asarray=True))},
        "networkit.distance.BFS",
    )


def _networkit_sssp(networkit: Library, graph: Graph, source: int) -> Solver:
    _refuse_negative(graph, "networkit.distance.Dijkstra")
    made = _networkit_graph(networkit, graph, weighted=True)
    return Solver(
        lambda: networkit.distance.Dijkstra(made, source, storePaths=False).run(),
        lambda raw: {"distances": _finite(raw.getDistances(asarray=True))},
        "networkit.distance.Dijkstra",
    )


def _networkit_components(networkit: Library, graph: Graph, connection: str = "weak") -> Solver:
    kind = {"weak": "Weakly", "strong": "Strongly"}[connection] if graph.directed else ""
    call, made = getattr(networkit.components, f"{kind}ConnectedComponents"), _networkit_graph(networkit, graph)

    def arrays(raw: Any) -> dict[str, Array]:
        return {"labels": _smallest(raw.getPartition().getVector())}

    return Solver(lambda: call(made).run(), arrays, f"networkit.components.{kind}ConnectedComponents")


# GraphBLAS: matrices and vectors over semirings, by SuiteSparse.


def _graphblas_matrix(graphblas: Library, graph: Graph, weighted: bool = False) -> Any:
    edges = _edges(graph)
    values: Any = True  # one for all entries, which the library then stores once
    if weighted:
        values = np.float32(1) if edges.weights is None else edges.weights
    ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
    return graphblas.Matrix.from_coo(*ends, values, nrows=graph.n, ncols=graph.n)


def _graphblas_relaxed(graphblas: Library, adjacency: Any, start: Any) -> Any:
    """Return distances from a start, a vector or a matrix with a row a source: in rounds, from those that fell."""
    distances, frontier = start.dup(), start.dup()
    fell = type(start)(bool, *start.shape)
    while frontier.nvals:
        frontier << graphblas.semiring.min_plus(frontier @ adjacency)
        fell << graphblas.unary.one[bool](frontier)
        fell(graphblas.binary.second) << graphblas.binary.lt(frontier & distances)
        frontier(fell.V, graphblas.replace) << frontier
        distances(frontier.S) << frontier
    return distances.wait()  # for what the library put off


def _graphblas_levels(graphblas: Library, adjacency: Any, frontier: Any) -> Any:
    """Return distances in edges from a frontier, a vector or a matrix with a row a search, level by level."""
    frontier, distances, level = frontier.dup(), type(frontier)(np.int32, *frontier.shape), 0
    while frontier.nvals:
        distances(frontier.S) << level
        frontier(~distances.S, graphblas.replace) << graphblas.semiring.any_pair[bool](frontier @ adjacency)
        level += 1
    return distances.wait()


def _graphblas_apsp(graphblas: Library, graph: Graph) -> Solver:
    adjacency = _graphblas_matrix(graphblas, graph, weighted=graph.weighted)
    search = _graphblas_relaxed if graph.weighted else _graphblas_levels
    start = graphblas.Vector.from_dense(np.zeros(graph.n, adjacency.dtype.np_type)).diag()
    return Solver(
        lambda: search(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=np.inf, dtype=np.float64)},
        f"graphblas.semiring.{'min_plus' if graph.weighted else 'any_pair'}",
    )


def _graphblas_bfs(graphblas: Library, graph: Graph, source: int) -> Solver:
    adjacency = _graphblas_matrix(graphblas, graph)
    start = graphblas.Vector.from_coo([source], True, size=graph.n)
    return Solver(
        lambda: _graphblas_levels(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=-1, dtype=np.int32)},
        "graphblas.semiring.any_pair",
    )


def _graphblas_sssp(graphblas: Library, graph: Graph, source: int) -> Solver:
    adjacency = _graphblas_matrix(graphblas, graph, weighted=True)
    start = graphblas.Vector.from_coo([source], [0], adjacency.dtype, size=graph.n)
    return Solver(
        lambda: _graphblas_relaxed(graphblas, adjacency, start),
        lambda raw: {"distances": raw.to_dense(fill_value=np.inf, dtype=np.float64)},
        "graphblas.semiring.min_plus",
    )


def _graphblas_components(graphblas: Library, graph: Graph) -> Solver:
    adjacency = _graphblas_matrix(graphblas, _symmetric(graph))
    least, step = graphblas.binary.min, graphblas.semiring.min_second
    starts = np.arange(graph.n + 1, dtype=np.uint64)

    def solve() -> Any:
        parents = graphblas.Vector.from_dense(np.arange(graph.n, dtype=np.int64))
        beside, grandparents = parents.dup(), parents.dup()
        while True:
            beside(least) << step(adjacency @ grandparents)  # the least grandparent of a neighbour
            children = graphblas.Matrix.from_csc(starts, parents.to_dense().astype(np.uint64), True, nrows=graph.n)
            parents(least) << step(children @ beside)  # hooks a parent's tree to what its children have beside them
            parents(least) << beside
            parents(least) << grandparents
            above = parents[parents.to_dense()].new()
            if above.isequal(grandparents):
                return parents
            grandparents = above

    def arrays(raw: Any) -> dict[str, Array]:
        return {"labels": _smallest(raw.to_dense())}

    return Solver(solve, arrays, "graphblas.semiring.min_second, FastSV")


# rustworkx: a graph in Rust whose edges carry Python's objects.


def _rustworkx_graph(rustworkx: Library, graph: Graph) -> Any:
    made = rustworkx.PyDiGraph(multigraph=False) if graph.directed else rustworkx.PyGraph(multigraph=False)
    made.add_nodes_from(range(graph.n))
    edges = _one_way(graph)
    made.add_edges_from(list(zip(edges.src.tolist(), edges.dst.tolist(), _lengths(edges).tolist(), strict=True)))
    return made


def _rustworkx_apsp(rustworkx: Library, graph: Graph) -> Solver:
    made = _rustworkx_graph(rustworkx, graph)
    if not graph.weighted:
        solve = partial(rustworkx.distance_matrix, made, null_value=np.inf)
        return Solver(solve, lambda raw: {"distances": raw}, "rustworkx.distance_matrix")
    if graph.dense is not None or _negative(graph):
        solve = partial(rustworkx.floyd_warshall_numpy, made, weight_fn=float)
        return Solver(solve, lambda raw: {"distances": raw}, "rustworkx.floyd_warshall_numpy")

    def arrays(raw: Any) -> dict[str, Array]:
        return {"distances": _matrix_of(raw.items(), graph.n)}

    solve = partial(rustworkx.all_pairs_dijkstra_path_lengths, made, float)
    return Solver(solve, arrays, "rustworkx.all_pairs_dijkstra_path_lengths")


def _rustworkx_bfs(rustworkx: Library, graph: Graph, source: int) -> Solver:
    def arrays(raw: list[list[int]]) -> dict[str, Array]:
        distances = np.full(graph.n, -1, np.int32)
        for level, vertices in enumerate(raw):
            distances[vertices] = level
        return {"distances": distances}

    return Solver(
        partial(rustworkx.bfs_layers, _rustworkx_graph(rustworkx, graph), [source]), arrays, "rustworkx.bfs_layers"
    )


def _rustworkx_sssp(rustworkx: Library, graph: Graph, source: int) -> Solver:
    name = f"{'bellman_ford' if _negative(graph) else 'dijkstra'}_shortest_path_lengths"

    def arrays(raw: Any) -> dict[str, Array]:
        distances = _filled(raw, graph.n)
        distances[source] = 0
        return {"distances": distances}

    return Solver(
        partial(getattr(rustworkx, name), _rustworkx_graph(rustworkx, graph), source, float),
        arrays,
        f"rustworkx.{name}",
    )


def _rustworkx_components(rustworkx: Library, graph: Graph, connection: str = "weak") -> Solver:
    name = f"{connection}ly_connected_components" if graph.directed else "connected_components"
    solve = partial(getattr(rustworkx, name), _rustworkx_graph(rustworkx, graph))
    return Solver(solve, lambda raw: {"labels": _labels_of(raw, graph.n)}, f"rustworkx.{name}")


# cuGraph: a graph and results on the GPU. Written by pylibcugraph's documentation; no test runs it.


def _cugraph_graph(pylibcugraph: Library, graph: Graph, weighted: bool = False) -> tuple[Any, Any, devices.Device]:
    """Return a handle, the graph on the GPU where it lies, or on the first, and that GPU."""
    device = devices.find("cuda" if graph.device == "cpu" else graph.device)
    with device.active():
        xp = device.xp
        src, dst, weights = Edges(*(None if part is None else device.asarray(part) for part in graph.coo()))
        if weighted:
            weights = xp.ones(len(src), np.float32) if weights is None else weights
            weights = weights if weights.dtype == np.float32 else weights.astype(np.float64)
        handle = pylibcugraph.ResourceHandle()
        made = pylibcugraph.SGGraph(
            resource_handle=handle,
            graph_properties=pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=True),
            src_or_offset_array=src,
            dst_or_index_array=dst,
            vertices_array=xp.arange(graph.n, dtype=np.int32),
            weight_array=weights if weighted else None,
            store_transposed=False,
            renumber=True,  # by degree, which is what its kernels are written for
            do_expensive_check=False,
        )
    return handle, made, device


def _cugraph_placed(device: devices.Device, vertices: Array, values: Array, missing: Any, filler: Any) -> Array:
    """Return the values by vertex, which come in an order of cuGraph's own, and with another number for none."""
    with device.active():
        placed = device.xp.empty_like(values)
        placed[vertices] = device.xp.where(values == missing, values.dtype.type(filler), values)
    return placed


def _cugraph_bfs(pylibcugraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    handle, made, device = _cugraph_graph(pylibcugraph, graph)
    with device.active():
        sources = device.asarray(np.array([source], np.int32))

    def solve() -> Any:
        return pylibcugraph.bfs(
            handle,
            made,
            sources,
            direction_optimizing=not graph.directed,
            depth_limit=-1,
            compute_predecessors=predecessors,
            do_expensive_check=False,
        )

    def arrays(raw: tuple[Array, Array, Array]) -> dict[str, Array]:
        distances, before, vertices = raw
        found = {"distances": _cugraph_placed(device, vertices, distances, np.iinfo(np.int32).max, -1)}
        if predecessors:
            found["predecessors"] = _cugraph_placed(device, vertices, before, -1, NO_PREDECESSOR)
        return found

    return Solver(solve, arrays, "pylibcugraph.bfs")


def _cugraph_sssp(pylibcugraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    _refuse_negative(graph, "pylibcugraph.sssp")
    handle, made, device = _cugraph_graph(pylibcugraph, graph, weighted=True)
    most = np.finfo(np.float32 if graph.weights_dtype in (None, np.float32) else np.float64).max

    def solve() -> Any:
        return pylibcugraph.sssp(
            handle, made, source, cutoff=float(most), compute_predecessors=True, do_expensive_check=False
        )

    def arrays(raw: tuple[Array, Array, Array]) -> dict[str, Array]:
        vertices, distances, before = raw
        return {
            "distances": _cugraph_placed(device, vertices, distances, most, np.inf),
            "predecessors": _cugraph_placed(device, vertices, before, -1, NO_PREDECESSOR),
        }

    return Solver(solve, arrays, "pylibcugraph.sssp")


def _cugraph_components(pylibcugraph: Library, graph: Graph) -> Solver:
    handle, made, _ = _cugraph_graph(pylibcugraph, _symmetric(graph))

    def arrays(raw: tuple[Array, Array]) -> dict[str, Array]:
        vertices, labels = map(devices.to_host, raw)
        return {"labels": _smallest(labels[vertices.argsort()])}

    # After the graph come what it could be given as instead, and a place for the labels.
    solve = partial(pylibcugraph.weakly_connected_components, handle, made, None, None, None, None, False)
    return Solver(solve, arrays, "pylibcugraph.weakly_connected_components")


#: The libraries by name.
PEERS = {
    "scipy": Peer(
        "scipy.sparse.csgraph",
        "scipy",
        {
            "apsp": _scipy_apsp,
            "bfs": _scipy_bfs,
            "sssp": _scipy_sssp,
            "components": _scipy_components,
            "list_rank": _list_rank(_scipy_bfs),
        },
    ),
    "networkx": Peer(
        "networkx",
        "networkx",
        {
            "apsp": _networkx_apsp,
            "bfs": _networkx_bfs,
            "sssp": _networkx_sssp,
            "components": _networkx_components,
            "list_rank": _list_rank(_networkx_bfs),
        },
    ),
    "igraph": Peer(
        "igraph",
        "igraph",
        {
            "apsp": _igraph_apsp,
            "bfs": _igraph_bfs,
            "sssp": _igraph_sssp,
            "components": _igraph_components,
            "list_rank": _list_rank(_igraph_bfs),
        },
    ),
    "networkit": Peer(
        "networkit",
        "networkit",
        {
            "apsp": _networkit_apsp,
            "bfs": _networkit_bfs,
            "sssp": _networkit_sssp,
            "components": _networkit_components,
            "list_rank": _list_rank(_networkit_bfs),
        },
    ),
    "graphblas": Peer(
        "graphblas",
        "python-graphblas",
        {
            "apsp": _graphblas_apsp,
            "bfs": _graphblas_bfs,
            "sssp": _graphblas_sssp,
            "components": _graphblas_components,
        },
    ),
    "rustworkx": Peer(
        "rustworkx",
        "rustworkx",
        {
            "apsp": _rustworkx_apsp,
            "bfs": _rustworkx_bfs,
            "sssp": _rustworkx_sssp,
            "components": _rustworkx_components,
            "list_rank": _list_rank(_rustworkx_bfs),
        },
    ),
    "cugraph": Peer(
        "pylibcugraph",
        "pylibcugraph-cu13 (or -cu12) from NVIDIA's package index (see RAPIDS' installation page)",
        {"bfs": _cugraph_bfs, "sssp": _cugraph_sssp, "components": _cugraph_components},
        kind="cuda",
    ),
}
