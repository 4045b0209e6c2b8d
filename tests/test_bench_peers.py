"""The other libraries: each call gives what mgraph gives for the same graph. None but SciPy is required."""

import re

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.dtypes import NO_PREDECESSOR
from mgraph.errors import InputError
from mgraph.generate import grid, linked_list, random_matrix, rmat
from mgraph.graph import as_graph
from mgraph_bench import peers
from mgraph_bench.peers import PEERS, PeerError, arrays, solver, version

HERE = [name for name in PEERS if PEERS[name].kind == "cpu" and name != "textbook"]


def parallel():
    """A directed graph with parallel edges, self-loops, edges of weight zero, and a vertex without edges into it."""
    src = [0, 0, 0, 1, 1, 2, 2, 3, 5, 5]
    dst = [1, 1, 2, 1, 3, 1, 3, 4, 0, 5]
    return mgraph.Graph.from_edges(src, dst, np.array([9, 7, 2, 1, 0, 4, 8, 3, 1, 6], np.float64), n=7)


def lengthened(graph, seed=0):
    """The same graph with whole weights, in float32: sums are exact in any order."""
    src, dst, _ = graph.coo()
    weights = np.random.default_rng(seed).integers(1, 100, len(src)).astype(np.float32)
    if not graph.directed:
        weights = (1 + np.minimum(src, dst) * 31 % 97 + np.maximum(src, dst) * 17 % 89).astype(np.float32)
        once = src <= dst
        src, dst, weights = src[once], dst[once], weights[once]
    return mgraph.Graph.from_edges(src, dst, weights, n=graph.n, directed=graph.directed)


GRAPHS = {
    "kronecker": lambda: rmat(7, 2, seed=3),
    "kronecker, weighted": lambda: lengthened(rmat(7, 2, seed=3)),
    "directed": lambda: rmat(6, 2, seed=1, directed=True),
    "directed, weighted": lambda: lengthened(rmat(6, 2, seed=1, directed=True)),
    "grid, integers": lambda: grid(5, 9),
    "parallel edges": parallel,
    "a vertex": lambda: mgraph.Graph.from_edges([], [], n=1),
    "no edges": lambda: mgraph.Graph.from_edges([], [], n=3, directed=False),
}


@pytest.fixture(params=HERE)
def peer(request):
    pytest.importorskip(PEERS[request.param].module.partition(".")[0])
    return request.param


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]()


def answers(peer, algorithm, graph, **call):
    """Call twice, as several calls are timed; return the results of the first and of the second."""
    solve, arrays, called = solver(peer, algorithm, graph, **call)
    module = PEERS[peer].module.partition(".")[0]
    assert re.match(rf"{module}\.\w", called)
    first = arrays(solve())
    second = arrays(solve())
    for name, array in first.items():
        assert np.array_equal(array, second[name])
    return first


def distances(result):
    """The distances of mgraph, in floats with inf for unreached vertices, for any type."""
    found = result.distances.astype(np.float64)
    if result.distances.dtype.kind == "i":
        found[result.distances == np.iinfo(result.distances.dtype).max] = np.inf
    return found


def check_tree(graph, source, distances, predecessors):
    """A predecessor lies on a shortest path: an edge leads from it whose length is the difference of the distances."""
    reached = (distances >= 0) & (distances < np.inf)
    assert np.array_equal(predecessors != NO_PREDECESSOR, reached & (np.arange(graph.n) != source))
    src, dst, weights = graph.coo()
    lengths = np.ones(len(src)) if weights is None else weights
    before = {(u, v): np.inf for u, v in zip(src, dst, strict=True)}
    for u, v, length in zip(src, dst, lengths, strict=True):
        before[u, v] = min(before[u, v], length)
    for v in np.flatnonzero(predecessors != NO_PREDECESSOR):
        u = predecessors[v]
        assert distances[u] + before[u, v] == distances[v]


@pytest.mark.parametrize("where", ["first", "last", "hub"])
def test_bfs(peer, graph, where):
    source = {"first": 0, "last": graph.n - 1, "hub": np.diff(graph.csr().indptr).argmax()}[where]
    found = answers(peer, "bfs", graph, source=source)
    expected = mgraph.bfs(graph, int(source), device="cpu").distances
    assert found["distances"].dtype == np.int32
    assert np.array_equal(found["distances"], expected)
    if "predecessors" in found:
        check_tree(graph.unweighted(), source, found["distances"], found["predecessors"])


@pytest.mark.parametrize("where", ["first", "last", "hub"])
def test_sssp(peer, graph, where):
    source = {"first": 0, "last": graph.n - 1, "hub": np.diff(graph.csr().indptr).argmax()}[where]
    found = answers(peer, "sssp", graph, source=source)
    assert np.array_equal(found["distances"], distances(mgraph.sssp(graph, int(source), device="cpu")))


def test_apsp(peer, graph):
    found = answers(peer, "apsp", graph)
    assert np.array_equal(found["distances"], distances(mgraph.apsp(graph, device="cpu")))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_betweenness(peer, directed, weights):
    graph = mgraph.generate.rmat(6, 4, directed=directed)
    if weights:
        src, dst, _ = graph.coo()
        graph = graph.with_weights((1 + (src + dst) % 5).astype(np.int32))
    for sources in (list(range(graph.n)), [3, 1, 9]):
        try:
            solve, arrays, _ = solver(peer, "betweenness", graph, sources=sources)
        except PeerError as error:
            if len(sources) == graph.n:
                pytest.skip(str(error))
            assert peer == "networkit" and "takes all sources" in str(error)
            continue
        found = arrays(solve())
        expected = mgraph.betweenness(graph, sources, device="cpu").betweenness
        assert found["betweenness"] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("density", [0.05, 1.0])
def test_dense(peer, density, dtype):
    """A zero off the diagonal is an edge here, but not in a matrix of SciPy."""
    matrix = random_matrix(40, density=density, low=0, high=9, dtype="int32", seed=2).astype(dtype)
    if dtype == "float32":
        matrix[matrix == np.iinfo(np.int32).max] = np.inf
    assert (matrix == 0).sum() > 40
    graph = mgraph.Graph.from_distances(matrix)
    found = answers(peer, "apsp", graph)
    assert np.array_equal(found["distances"], distances(mgraph.apsp(graph, device="cpu")))


@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_components(peer, graph, connection):
    if peer == "graphblas" and connection == "strong":
        with pytest.raises(PeerError, match="connection='strong': leave it out"):
            solver(peer, "components", graph, connection=connection)
        return
    call = {"connection": connection} if connection == "strong" else {}
    found = answers(peer, "components", graph, **call)
    expected = mgraph.connected_components(graph, connection=connection, device="cpu").labels
    assert found["labels"].dtype == np.int32
    assert np.array_equal(found["labels"], expected)


@pytest.mark.parametrize("edge_factor", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_components_of_many_shapes(peer, edge_factor, seed):
    """FastSV above all, which must not stop early."""
    graph = rmat(9, edge_factor, seed=seed, directed=bool(seed % 2))
    found = answers(peer, "components", graph)
    assert np.array_equal(found["labels"], mgraph.connected_components(graph, device="cpu").labels)


@pytest.mark.parametrize("peer", [name for name in HERE if "list_rank" in PEERS[name].algorithms])
def test_list_rank(peer):
    pytest.importorskip(PEERS[peer].module.partition(".")[0])
    lists = linked_list(200, seed=4)
    lists[[7, 90]] = [7, 90]  # cut into several
    for succ in (lists, np.array([0]), np.array([1, 2, 2], np.int32)):
        found = answers(peer, "list_rank", succ)
        assert np.array_equal(found["ranks"], mgraph.list_rank(succ, device="cpu").ranks)


@pytest.mark.parametrize("peer", [name for name in HERE if "minimum_spanning_forest" in PEERS[name].algorithms])
@pytest.mark.parametrize("shift", [0, -40], ids=["", "negative and zero weights"])
def test_minimum_spanning_forest(peer, graph, shift):
    pytest.importorskip(PEERS[peer].module.partition(".")[0])
    if shift and graph.weighted:
        src, dst, weights = graph.coo()
        once = slice(None) if graph.directed else src <= dst
        graph = mgraph.Graph.from_edges(src[once], dst[once], weights[once] + shift, graph.n, graph.directed)
    found = answers(peer, "minimum_spanning_forest", graph)
    expected = mgraph.minimum_spanning_forest(graph, device="cpu").weights
    assert np.array_equal(np.sort(found["weights"]), np.sort(expected))  # edges of equal weight may differ
    assert ALGORITHMS["minimum_spanning_forest"].check(graph, found)


NEGATIVE = mgraph.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 3], [4.0, -2.0, 1.0, 5.0], n=5)


@pytest.mark.parametrize("algorithm", ["sssp", "apsp"])
def test_negative_weights(peer, algorithm):
    call = {"source": 0} if algorithm == "sssp" else {}
    if peer == "networkit":
        with pytest.raises(PeerError, match=r"networkit\.\w+\.\w+ admits no negative weights, and the least is -2"):
            solver(peer, algorithm, NEGATIVE, **call)
        return
    found = answers(peer, algorithm, NEGATIVE, **call)
    expected = getattr(mgraph, algorithm)(NEGATIVE, **call, device="cpu")
    assert np.array_equal(found["distances"], distances(expected))


@pytest.mark.parametrize("algorithm", ["bfs", "sssp", "apsp"])
def test_predecessors_of_scipy(graph, algorithm):
    call = {} if algorithm == "apsp" else {"source": 0}
    found = answers("scipy", algorithm, graph, predecessors=True, **call)
    tree = graph.unweighted() if algorithm == "bfs" else graph
    rows = zip(*(np.atleast_2d(found[name]) for name in ("distances", "predecessors")), strict=True)
    for source, (row, before) in enumerate(rows):
        check_tree(tree, source, row, before)


@pytest.mark.parametrize("where", ["first", "last", "hub"])
def test_textbook_searches_of_one_core(graph, where):
    source = {"first": 0, "last": graph.n - 1, "hub": np.diff(graph.csr().indptr).argmax()}[where]
    for algorithm in ("bfs", "sssp"):
        solve, found, _ = solver("textbook", algorithm, graph, source=source)
        expected = getattr(mgraph, algorithm)(graph, int(source), device="cpu")
        first = found(solve())["distances"]
        if algorithm == "bfs":
            assert first.dtype == np.int32 and np.array_equal(first, expected.distances)
        else:
            assert np.array_equal(first, distances(expected))
        assert np.array_equal(first, found(solve())["distances"])


def test_textbook_all_pairs_of_one_core(graph):
    solve, found, _ = solver("textbook", "apsp", graph)
    expected = distances(mgraph.apsp(graph, device="cpu"))
    assert np.array_equal(found(solve())["distances"], expected)
    assert np.array_equal(found(solve())["distances"], expected)


def test_textbook_takes_no_negative_lengths():
    with pytest.raises(PeerError, match="Dijkstra's algorithm admits no negative weights"):
        solver("textbook", "sssp", NEGATIVE, source=0)


def test_array_code_is_right_by_numpy(graph):
    """By NumPy in CuPy's place: the code is the same."""
    solve, found, called = arrays.apsp(np, graph)
    assert np.array_equal(found(solve())["distances"], distances(mgraph.apsp(graph, device="cpu")))
    assert called == "an expression a pivot"
    solve, found, _ = arrays.bfs(np, graph, 0)
    assert np.array_equal(found(solve())["distances"], mgraph.bfs(graph, 0, device="cpu").distances)


@pytest.mark.parametrize("peer", ["numpy", "textbook"])
def test_plain_programs_take_dense_matrices(peer):
    matrix = random_matrix(40, density=0.05, low=0, high=9, dtype="int32", seed=2)
    solve, found, _ = arrays.apsp(np, as_graph(matrix)) if peer == "numpy" else solver(peer, "apsp", matrix)
    expected = distances(mgraph.apsp(matrix, device="cpu"))
    assert np.array_equal(found(solve())["distances"], expected)


def test_versions(peer):
    assert re.match(r"\d+\.\d+", version(peer))


def test_a_missing_library(monkeypatch):
    monkeypatch.setitem(peers.PEERS, "networkx", PEERS["networkx"]._replace(module="a_library_that_is_not_there"))
    assert version("networkx") is None
    with pytest.raises(PeerError, match=r"networkx cannot be imported.*python -m pip install networkx$"):
        solver("networkx", "bfs", NEGATIVE, source=0)


def test_unsupported_algorithms_and_arguments():
    with pytest.raises(PeerError, match="graphblas has no call for 'list_rank', only for apsp, bfs, sssp, components"):
        solver("graphblas", "list_rank", [0])
    with pytest.raises(PeerError, match="scipy cannot be called for 'bfs' with limit=3: leave it out"):
        solver("scipy", "bfs", NEGATIVE, source=0, limit=3)
    with pytest.raises(InputError, match="peer='nx' is not known: use one of scipy, networkx, "):
        solver("nx", "bfs", NEGATIVE, source=0)
    solve, _, _ = solver("scipy", "bfs", NEGATIVE, source=0, limit=None, predecessors=False)
    assert solve()[0][0] == 0
