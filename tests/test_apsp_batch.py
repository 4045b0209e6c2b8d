"""Batches of small graphs: against SciPy and `mgraph.apsp`, graph by graph, in every form of input and every type."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import mgraph
from mgraph import device as devices
from mgraph.algorithms.apsp_batch.plan import planned
from mgraph.dtypes import infinity
from tests.support.graphs import ZERO_BUT_FOR_ROUNDING, cycle
from tests.support.parameters import exhaustive
from tests.support.references import as_floats
from tests.support.tensors import Tensor

SIZES = (0, 1, 31, 32, 33, 64, 65, 128, 129, 300, 512, 2)


def adjacency(n, degree, seed=0):
    """A directed graph of about `degree` edges a vertex, some of them loops."""
    return np.random.default_rng((n, seed)).random((n, n)) < degree / max(n, 1)


def lengths_of(n, degree, dtype, least=0, most=9, seed=0):
    """A matrix of lengths, infinity where there is no edge; negative ones are shifted by potentials: no cycle is."""
    rng = np.random.default_rng((n, seed, 7))
    matrix = rng.integers(0, most + 1, (n, n)).astype(np.float64)
    if np.dtype(dtype).kind == "f":
        matrix += rng.random((n, n))
    if least < 0:
        potential = rng.integers(least, 1, n)
        matrix += potential[:, None] - potential
    matrix[~adjacency(n, degree, seed)] = np.inf
    np.fill_diagonal(matrix, 0)
    found = np.full((n, n), infinity(np.dtype(dtype)), dtype)
    found[matrix < np.inf] = matrix[matrix < np.inf].astype(dtype)
    return found


def hop_counts(present):
    """SciPy's hop counts of an adjacency matrix."""
    if not len(present):
        return np.zeros((0, 0))
    return csgraph.shortest_path(sparse.csr_array(present.astype(np.int8)), unweighted=True)


def together(graphs):
    """The edges of graphs in PyTorch Geometric's form."""
    first = np.cumsum([0, *map(len, graphs)])
    ends = [np.array(graph.nonzero()) + first[g] for g, graph in enumerate(graphs)]
    return np.concatenate(ends, axis=1), np.repeat(np.arange(len(graphs)), list(map(len, graphs)))


def check_hops(result, graphs):
    """Each graph's hop counts are SciPy's, and all beyond its vertices is infinity."""
    assert len(result) == len(graphs) and result.lengths.tolist() == list(map(len, graphs))
    assert [each.shape for each in result] == [(len(graph), len(graph)) for graph in graphs]
    found = as_floats(result.distances)
    for g, graph in enumerate(graphs):
        n = len(graph)
        np.testing.assert_array_equal(found[g, :n, :n], hop_counts(graph), err_msg=f"graph {g}")
        np.testing.assert_array_equal(as_floats(result[g]), found[g, :n, :n])
        assert np.isinf(found[g, n:]).all() and np.isinf(found[g, :, n:]).all()


@pytest.mark.parametrize("degree", [0, 1, 3, 40])
def test_hop_counts_of_all_sizes(device, degree):
    graphs = [adjacency(n, degree) for n in SIZES]
    result = mgraph.apsp_batch(graphs, device=device)
    check_hops(result, graphs)
    assert result.plan.method == "bitmaps" and result.distances.dtype == np.int8


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 65, 96, 128, 160, 256, 512])
def test_hop_counts_of_one_size(device, n):
    graphs = [adjacency(n, degree, seed) for seed, degree in enumerate((1, 2, 5))]
    check_hops(mgraph.apsp_batch(np.array(graphs), device=device), graphs)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float32", "float64"])
def test_types_of_hop_counts(device, dtype):
    graphs = [adjacency(n, 2) for n in (5, 40, 130)]
    result = mgraph.apsp_batch(graphs, dtype=dtype, device=device)
    assert result.distances.dtype == dtype == result.plan.dtype
    check_hops(result, graphs)


@pytest.mark.parametrize("sizes", [(20, 32), (40, 64), (100, 7), SIZES])
def test_predecessors_of_hop_counts_are_the_least(device, sizes):
    graphs = [adjacency(n, 3) for n in sizes]
    result = mgraph.apsp_batch(graphs, predecessors=True, device=device)
    check_hops(result, graphs)
    before = devices.to_host(result.predecessors)
    for g, graph in enumerate(graphs):
        n = len(graph)
        if n:
            expected = mgraph.bfs_many(mgraph.Graph.from_adjacency(graph), range(n), predecessors=True, device="cpu")
            np.testing.assert_array_equal(before[g, :n, :n], expected.predecessors)
        assert (before[g, n:] == -9999).all() and (before[g, :, n:] == -9999).all()


def test_paths(device):
    graphs = [adjacency(n, 2) for n in (9, 40)]
    result = mgraph.apsp_batch(graphs, predecessors=True, device=device)
    distances = as_floats(result.distances)
    for j in range(40):
        path = result.path(1, 3, j)
        if path:
            assert path[0] == 3 and path[-1] == j and len(path) == distances[1, 3, j] + 1
            assert all(graphs[1][u, v] for u, v in itertools.pairwise(path))
        else:
            assert np.isinf(distances[1, 3, j])
    assert result.path(0, 4, 4) == [4]


@pytest.mark.parametrize("dtype", ["float32", *exhaustive("float64", "int32")])
@pytest.mark.parametrize("least", [0, -6])
@pytest.mark.parametrize("predecessors", [False, True])
def test_weighted_distances_are_those_of_apsp(device, dtype, least, predecessors):
    matrices = [lengths_of(n, 3, dtype, least) for n in (*SIZES, 96, 160)]
    result = mgraph.apsp_batch(matrices, dtype=dtype, predecessors=predecessors, device=device)
    found = devices.to_host(result.distances)
    assert found.dtype == dtype and result.plan.method == "floyd-warshall"
    for g, matrix in enumerate(matrices):
        n = len(matrix)
        graph = mgraph.Graph.from_distances(matrix)
        expected = mgraph.apsp(graph, method="naive", dtype=dtype, predecessors=predecessors, device="cpu")
        np.testing.assert_array_equal(found[g, :n, :n], expected.distances, err_msg=f"graph {g}")
        if predecessors:
            np.testing.assert_array_equal(devices.to_host(result.predecessors[g, :n, :n]), expected.predecessors)
        assert (found[g, n:] == infinity(found.dtype)).all() and (found[g, :, n:] == infinity(found.dtype)).all()


@pytest.mark.gpu
def test_batches_of_large_and_small_graphs_in_turn_on_a_gpu():
    """One kernel with more, less, and again more shared memory."""
    for n in (512, 300, 512):
        weights = np.random.default_rng(n).integers(1, 1000, (n, n)).astype(np.float64)
        found = mgraph.apsp_batch([weights], device="cuda")
        expected = mgraph.apsp(weights, method="blocked", device="cpu").distances
        np.testing.assert_array_equal(devices.to_host(found[0]), expected)


@pytest.mark.parametrize("dtype", ["float32", *exhaustive("float64", "int32")])
@pytest.mark.parametrize("n", [159, 160, 163, 512])
def test_large_graphs_in_blocks_of_pivots(device, n, dtype):
    random, none = np.random.default_rng(n), infinity(np.dtype(dtype))
    heights = random.integers(0, 50, n)
    for degree, fall in ((2, 0), (n, 0), (2, 1), (30, 1)):
        weights = (random.integers(1, 1000, (n, n)) + fall * (heights[:, None] - heights) * 20).astype(dtype)
        weights[random.random((n, n)) * n >= degree] = none
        weights[: n // 5] = none  # from some there is no way
        result = mgraph.apsp_batch([weights, weights[:40, :40]], dtype=dtype, device=device)
        for g, part in enumerate((weights, weights[:40, :40])):
            expected = mgraph.apsp(
                mgraph.Graph.from_distances(part), method="naive", dtype=dtype, device="cpu"
            ).distances
            np.testing.assert_array_equal(devices.to_host(result[g]), expected)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("first", [0, 15, 16, 150, 310])
def test_negative_cycles_of_large_graphs(device, first, dtype):
    random = np.random.default_rng(first)
    weights = random.integers(1000, 2000, (320, 320)).astype(dtype)
    weights[first, first + 7], weights[first + 7, first] = 5, -6
    with pytest.raises(mgraph.NegativeCycleError, match="of graph 1") as caught:
        mgraph.apsp_batch([np.abs(weights), weights], device=device)
    assert caught.value.vertex in (first, first + 7)


@pytest.mark.parametrize("degree", [1, 4, 500])
def test_weighted_distances_are_scipys(device, degree):
    matrices = [lengths_of(n, degree, np.float64) for n in (30, 65, 200)]
    result = mgraph.apsp_batch(matrices, device=device)
    assert result.distances.dtype == np.float64
    for g, matrix in enumerate(matrices):
        expected = csgraph.floyd_warshall(np.ma.masked_invalid(matrix))
        np.testing.assert_allclose(devices.to_host(result[g]), expected, rtol=1e-12)


def test_all_forms_of_input_give_the_same(device):
    graphs = [adjacency(n, 3) for n in (20, 0, 33, 40)]
    expected = as_floats(mgraph.apsp_batch(graphs, device=device).distances)
    padded = np.zeros((4, 40, 40), bool)
    for g, graph in enumerate(graphs):
        padded[g, : len(graph), : len(graph)] = graph
    edges, batch = together(graphs)
    order = np.random.default_rng(1).permutation(edges.shape[1])
    distances = np.where(padded, 1.0, np.inf)
    sizes = [20, 0, 33, 40]
    forms = {
        "Graph": ([mgraph.Graph.from_adjacency(graph) for graph in graphs], {}),
        "csr": ([sparse.csr_array(graph) for graph in graphs], {}),
        "coo": ([sparse.coo_array(graph) for graph in graphs], {}),
        "mixed": ([mgraph.Graph.from_adjacency(graphs[0]), graphs[1], sparse.csc_array(graphs[2]), graphs[3]], {}),
        "tuple": (tuple(graphs), {}),
        "Fortran": ([np.asfortranarray(graph) for graph in graphs], {}),
        "padded": (padded, {"lengths": sizes}),
        "padded, strided": (np.asfortranarray(padded), {"lengths": np.array(sizes, np.int8)}),
        "padded, not contiguous": (np.repeat(padded, 2, axis=1)[:, ::2], {"lengths": sizes}),
        "lengths of one": (distances, {"lengths": sizes, "dtype": "float32"}),
        "edges": (None, {"edge_index": edges, "batch": batch}),
        "edges in any order": (None, {"edge_index": edges[:, order].astype(np.int32), "batch": batch.astype(np.uint8)}),
        "edges not contiguous": (
            None,
            {"edge_index": np.ascontiguousarray(edges.T).T, "batch": np.repeat(batch, 2)[::2]},
        ),
        "weights of one": (None, {"edge_index": edges, "batch": batch, "weights": np.ones(edges.shape[1])}),
    }
    for name, (given, options) in forms.items():
        found = mgraph.apsp_batch(given, device=device, **options)
        np.testing.assert_array_equal(as_floats(found.distances), expected, err_msg=name)
        assert found.lengths.tolist() == sizes, name


def test_what_lies_beyond_a_graph_is_not_read(device):
    matrices = np.full((2, 4, 4), 1.0)
    matrices[0, 3], matrices[0, :, 3], matrices[1, :, 0] = np.nan, -np.inf, np.inf
    result = mgraph.apsp_batch(matrices, lengths=[3, 4], dtype="float64", device=device)
    assert result[0].tolist() == (1.0 - np.eye(3)).tolist() and np.isinf(devices.to_host(result.distances)[0, 3]).all()
    present = np.ones((1, 40, 40), bool)
    found = as_floats(mgraph.apsp_batch(present, lengths=[33], device=device).distances)
    assert np.isinf(found[0, 33:]).all() and np.isinf(found[0, :, 33:]).all() and found[0, :33, :33].max() == 1


def test_parallel_edges_and_loops(device):
    edges, weights = [[0, 0, 1, 1, 0], [1, 1, 1, 2, 0]], [5, 3, 2, 4, 1]
    result = mgraph.apsp_batch(edge_index=edges, batch=[0, 0, 0], weights=weights, device=device)
    assert result[0].tolist()[0] == [0, 3, 7] and result.distances.dtype == np.int32


def test_edges_of_infinite_length_are_left_out(device):
    result = mgraph.apsp_batch(
        edge_index=[[0, 1], [1, 0]], batch=[0, 0], weights=np.array([np.inf, 2.5], np.float32), device=device
    )
    assert result[0].tolist() == [[0, np.inf], [2.5, 0]] and result.distances.dtype == np.float32


def test_graphs_without_weights_among_others(device):
    plain, heavy = mgraph.Graph.from_edges([0], [1]), mgraph.Graph.from_edges([0], [1], [7])
    result = mgraph.apsp_batch([plain, heavy], device=device)
    assert [int(result[g][0, 1]) for g in (0, 1)] == [1, 7]


def line(n):
    return np.eye(n, k=1, dtype=bool)


def test_hop_counts_that_do_not_fit_int8(device):
    longest = mgraph.apsp_batch([line(127)], device=device)
    assert longest.distances.dtype == np.int8 and int(longest[0][0, -1]) == 126
    for n in (128, 129, 512):
        result = mgraph.apsp_batch([line(n), line(3)], predecessors=True, device=device)
        assert result.distances.dtype == np.int16
        check_hops(result, [line(n), line(3)])
        assert result.path(0, 0, n - 1) == list(range(n))
        with pytest.raises(
            mgraph.DistanceOverflowError, match="more than 126 edges, the most of int8: use dtype='int16'"
        ):
            mgraph.apsp_batch([line(n)], dtype="int8", device=device)
        assert mgraph.apsp_batch([line(n)], dtype="int32", device=device).distances.dtype == np.int32


def test_types_of_integers(device):
    def solved(*weights, **options):
        n = len(weights) + 1
        graph = mgraph.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.array(weights))
        return mgraph.apsp_batch([graph], device=device, **options)

    assert solved(3, 4).distances.dtype == np.int32
    wide = solved(2**28, 2**28, 2**28)
    assert wide.distances.dtype == np.float64 and float(wide[0][0, 3]) == 3 * 2**28
    assert solved(2**40).distances.dtype == np.float64
    with pytest.raises(mgraph.DistanceOverflowError, match="weight 1099511627776 is too large for int32"):
        solved(2**40, dtype="int32")
    with pytest.raises(mgraph.DistanceOverflowError, match="out of range for int32"):
        solved(2**28, 2**28, 2**28, dtype="int32")
    assert solved(3.0, 4.0).distances.dtype == np.float32
    assert solved(0.5).distances.dtype == np.float64
    with pytest.raises(mgraph.InputError, match="dtype must be"):
        solved(3, dtype="int8")


def test_a_negative_cycle_names_its_graph(device):
    matrices = [lengths_of(n, 3, np.int32) for n in (20, 40, 140)]
    for matrix in matrices[1:]:
        matrix[5, 7], matrix[7, 5] = -3, 2
    for predecessors in (False, True):
        with pytest.raises(mgraph.NegativeCycleError, match=r"vertex \d+ of graph 1 lies on a cycle") as caught:
            mgraph.apsp_batch(matrices, predecessors=predecessors, device=device)
        assert caught.value.graph == 1
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.graph, again.vertex, str(again)) == (1, caught.value.vertex, str(caught.value))
    with pytest.raises(mgraph.NegativeCycleError, match="of graph 0"):
        mgraph.apsp_batch(edge_index=[[0], [0]], batch=[0], weights=[-1.5], device=device)


@pytest.mark.parametrize("weights", ZERO_BUT_FOR_ROUNDING)
def test_a_cycle_that_only_rounding_makes_negative(weights, device):
    rounded, other = cycle(weights), mgraph.Graph.from_edges([0], [1], [-0.25])
    result = mgraph.apsp_batch([other, rounded], predecessors=True, device=device)
    expected = mgraph.apsp(rounded, method="johnson", device="cpu").distances
    np.testing.assert_allclose(devices.to_host(result[1]), expected, rtol=0, atol=1e-15)
    assert result.path(1, 0, 3) == [0, 1, 2, 3] and float(result[0][0, 1]) == -0.25
    with pytest.raises(mgraph.NegativeCycleError, match="of graph 1 lies on a cycle of negative weight"):
        mgraph.apsp_batch([other, cycle(np.nextafter(weights, -1))], device=device)


def test_batches_without_graphs_or_vertices(device):
    for given in ([], np.zeros((0, 5, 5), bool), np.zeros((0, 0, 0))):
        assert len(mgraph.apsp_batch(given, device=device)) == 0
    assert mgraph.apsp_batch([np.zeros((0, 0), bool)] * 3, device=device).distances.shape == (3, 0, 0)
    edges = np.zeros((2, 0), int)
    assert mgraph.apsp_batch(edge_index=edges, batch=[], device=device).distances.shape == (0, 0, 0)
    alone = mgraph.apsp_batch(edge_index=edges, batch=[0, 2, 2], predecessors=True, device=device)
    assert alone.lengths.tolist() == [1, 0, 2] and alone[2].tolist() == [[0, 127], [127, 0]]
    assert (devices.to_host(alone.predecessors) == -9999).all()
    heavy = mgraph.apsp_batch(edge_index=edges, batch=[0, 0], weights=np.zeros(0), device=device)
    assert heavy[0].tolist() == [[0, np.inf], [np.inf, 0]]


def test_tensors_of_other_libraries(device):
    xp = devices.find(device).xp
    graphs = [adjacency(n, 3) for n in (20, 33)]
    edges, batch = (Tensor(xp.asarray(array)) for array in together(graphs))
    result = mgraph.apsp_batch(edge_index=edges, batch=batch)
    assert devices.of(result.distances).kind == device == devices.of(result.lengths).kind
    check_hops(result, graphs)
    square = xp.asarray(np.array([graphs[0], graphs[0].T]))
    check_hops(mgraph.apsp_batch(Tensor(square), device=device), [graphs[0], graphs[0].T])
    check_hops(mgraph.apsp_batch([Tensor(square[0]), Tensor(square[1])], device=device), [graphs[0], graphs[0].T])
    lengths = Tensor(xp.asarray([10, 20]))
    check_hops(mgraph.apsp_batch(Tensor(square), lengths=lengths, device=device), [graphs[0][:10, :10], graphs[0].T])
    assert isinstance(np.from_dlpack(mgraph.apsp_batch(np.array(graphs[:1]), device="cpu").distances), np.ndarray)


@pytest.mark.gpu
def test_results_lie_where_the_input_does():
    xp = devices.find("cuda").xp
    graphs = [adjacency(n, 3) for n in (20, 33)]
    for where in (None, "cuda"):
        assert isinstance(mgraph.apsp_batch(graphs, device=where).distances, np.ndarray)
    there = [mgraph.Graph.from_edges(*map(xp.asarray, graph.nonzero()), n=len(graph)) for graph in graphs]
    result = mgraph.apsp_batch(there, predecessors=True)
    assert isinstance(result.distances, xp.ndarray) and isinstance(result.predecessors, xp.ndarray)
    check_hops(result, graphs)
    here = mgraph.apsp_batch(there, device="cpu")
    assert here.plan.devices[0].name == "cpu" and isinstance(here.distances, xp.ndarray)


@pytest.mark.gpu
@pytest.mark.exhaustive
def test_a_large_batch_on_a_gpu():
    rng = np.random.default_rng(3)
    graphs = [adjacency(n, 2.1, seed) for seed, n in enumerate(rng.integers(1, 65, 3000).tolist())]
    found = mgraph.apsp_batch(graphs, predecessors=True, device="cuda")
    expected = mgraph.apsp_batch(graphs, predecessors=True, device="cpu")
    for name in expected.arrays:
        np.testing.assert_array_equal(found.arrays[name], expected.arrays[name])


EDGES = np.array([[0, 1, 2, 3], [1, 0, 3, 2]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": [0, 0, 1, 0]}, "batch must be ascending, .*, got 0 at 3, after 1"),
        ({"batch": [-1, 0, 1, 1]}, "batch must be graphs of 0 or more, got -1"),
        ({"batch": [0, 1, 1, 1]}, "edge 0 leads from vertex 0 of graph 0 to vertex 1 of graph 1: an edge must"),
        ({"batch": [0, 0, 1]}, r"edge_index must be vertices in \[0, 3\), got 3 in edge 2"),
        ({"edge_index": -EDGES, "batch": [0, 0, 1, 1]}, r"edge_index must be vertices in \[0, 4\), got -1 in edge 0"),
        ({"edge_index": EDGES.T, "batch": [0, 0, 1, 1]}, r"edge_index must be of shape \(2, m\), .*, got \(4, 2\)"),
        ({"edge_index": EDGES * 1.0, "batch": [0, 0, 1, 1]}, "edge_index must be integers, got 'float64'"),
        ({"batch": [0.0, 0, 1, 1]}, "batch must be integers, got 'float64'"),
        ({"batch": [[0, 0, 1, 1]]}, r"batch must be of shape \(n,\)"),
        ({"batch": None}, "give batch= with edge_index="),
        ({"batch": [0] * 513}, "graph 0 has 513 vertices, and a batch takes graphs of at most 512: mgraph.apsp solves"),
        ({"batch": [0, 2**40]}, "batch must be of fewer than"),
        ({"batch": [0, 0, 1, 1], "weights": [1, 2]}, r"weights must be of shape \(4,\), one per edge"),
        ({"batch": [0, 0, 1, 1], "weights": [1, 2, np.nan, 1]}, "weights must be numbers, .*, got nan for edge 2"),
        ({"batch": [0, 0, 1, 1], "lengths": [2, 2]}, "lengths= goes with one array of matrices"),
        ({"batch": [0, 0, 1, 1], "dtype": "int64"}, "dtype must be"),
        ({"batch": [0, 0, 1, 1], "predecessors": 1}, "predecessors must be True or False"),
        ({"batch": [0, 0, 1, 1], "device": "gpu"}, "device must be"),
        ({"batch": [0, 0, 1, 1], "graphs": [EDGES]}, "give either graphs, or edge_index= and batch="),
    ],
)  # fmt: skip
def test_wrong_edges(options, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp_batch(**{"edge_index": EDGES, "device": "cpu"} | options)


@pytest.mark.gpu
def test_wrong_edges_on_a_gpu():
    for batch, message in (([0, 1, 1, 1], "edge 0 leads from"), ([0, 0, 1], r"got 3 in edge 2")):
        for weights in (None, np.ones(4)):
            with pytest.raises(mgraph.InputError, match=message):
                mgraph.apsp_batch(edge_index=EDGES, batch=batch, weights=weights, device="cuda")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (np.zeros((2, 3)), {}, r"the matrices have shape \(2, 3\)"),
        (np.zeros((2, 3, 4), bool), {}, r"the matrices have shape \(2, 3, 4\)"),
        (np.zeros((1, 513, 513), bool), {}, "graph 0 has 513 vertices"),
        ([np.zeros((513, 513), bool)], {}, "graph 0 has 513 vertices"),
        ([mgraph.Graph.from_edges([0], [1], n=513)], {}, "graph 0 has 513 vertices"),
        ([mgraph.Graph.from_distances(np.ones((600, 600)))], {}, "a matrix has 600 rows"),
        (np.zeros((2, 3, 3)), {}, "zeros off their diagonals and no infinity"),
        (np.array([[[0, np.nan], [1, 0]]]), {}, r"entry \(0, 1\) of matrix 0 is NaN"),
        (np.array([[[0, -np.inf], [1, 0]]]), {}, r"entry \(0, 1\) of matrix 0 is -inf"),
        (np.ones((2, 3, 3), complex), {}, "weights must be floats"),
        (np.ones((2, 3, 3), bool), {"lengths": [3]}, r"lengths must be of shape \(2,\)"),
        (np.ones((2, 3, 3), bool), {"lengths": [1.0, 2.0]}, "lengths must be integers, got 'float64'"),
        (np.ones((2, 3, 3), bool), {"lengths": [3, 4]}, r"lengths must be in \[0, 3\], got 4"),
        (np.ones((2, 3, 3), bool), {"lengths": [-1, 3]}, r"lengths must be in \[0, 3\], got -1"),
        (np.ones((2, 3, 3), bool), {"weights": [3]}, "weights= goes with edge_index="),
        ([np.zeros((2, 3), bool)], {}, "must be square"),
        ([mgraph.Graph.from_edges([0], [1])], {"lengths": [2]}, "lengths= goes with one array"),
        (["roads.txt"], {}, "expected a mgraph.Graph"),
        ("roads.txt", {}, "expected a list of graphs"),
        (mgraph.Graph.from_edges([0], [1]), {}, "expected a list of graphs or matrices, .*, got mgraph.*Graph"),
        (None, {}, "give either graphs, or edge_index= and batch="),
    ],
)  # fmt: skip
def test_wrong_graphs(given, options, message):
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp_batch(given, device="cpu", **options)


def test_verify_asks_for_the_graphs():
    with pytest.raises(mgraph.InputError, match=r"verify\(\) needs what was solved, .*: give the same graphs"):
        mgraph.apsp_batch([mgraph.generate.grid(1, 3)], device="cpu").verify()


@pytest.mark.parametrize(("name", "values"), [("indptr", [0, 2, 1]), ("indptr", [1, 1, 2]), ("indices", [1, 9])])
def test_a_sparse_matrix_that_is_broken(name, values):
    matrix = sparse.csr_array(np.array([[0, 1], [1, 0]]))
    setattr(matrix, name, np.array(values, np.int32))
    with pytest.raises(mgraph.InputError, match=r"indptr does not fit|edge_index must be|must lie in one graph"):
        mgraph.apsp_batch([matrix, matrix], device="cpu")


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("indptr", [0, 2**63 - 1, -2, 3], "indptr does not fit"),  # of which all differences look positive
        ("indptr", [0.0, 1.0, 2.0, 3.0], "indptr of the matrix must be a vector of signed integers, got float64"),
        ("indices", [[0], [1], [2]], "indices of the matrix must be a vector of signed integers"),
    ],
)
def test_a_sparse_matrix_whose_arrays_were_assigned(name, values, message):
    matrix = sparse.csr_array(np.eye(3))
    setattr(matrix, name, np.array(values))
    with pytest.raises(mgraph.InputError, match=message):
        mgraph.apsp_batch([matrix], device="cpu")


@pytest.mark.parametrize("dtype", [bool, np.float32])
def test_matrices_of_too_many_rows(dtype):
    matrices = np.broadcast_to(np.zeros((1, 16, 16), dtype), (2**27, 16, 16))
    with pytest.raises(mgraph.InputError, match="134217728 matrices of 16 x 16 have too many rows"):
        mgraph.apsp_batch(matrices, device="cpu")


def test_memory_limit(device):
    with pytest.raises(mgraph.MemoryLimitError, match=r"apsp_batch of 3 graphs needs .*: raise memory_limit"):
        mgraph.apsp_batch([adjacency(30, 2)] * 3, memory_limit="1KiB", device=device)


def test_sizes_that_do_not_fit_are_refused_before_memory_is_taken(monkeypatch):
    monkeypatch.setattr(mgraph.limits, "available_memory", lambda: 1 << 20)
    for given in ({"edge_index": EDGES, "batch": [0, 0, 0, 10**6]}, {"graphs": [line(512)] * 8}):
        with pytest.raises(mgraph.MemoryLimitError, match=r"cpu has 1 MiB free"):
            mgraph.apsp_batch(**given, device="cpu")


@pytest.mark.parametrize("predecessors", [False, True])
def test_the_plan_says_how_much_memory_is_taken(device, predecessors):
    rng, there = np.random.default_rng(2), devices.find(device)
    batch = np.repeat(np.arange(2000), 30)
    src = rng.integers(0, 60_000, 150_000)
    edges = {"edge_index": np.stack([src, src // 30 * 30 + rng.integers(0, 30, len(src))]), "batch": batch}
    matrices = rng.random((1000, 30, 30))
    for given in (
        edges,
        edges | {"weights": rng.random(len(src))},
        edges | {"weights": rng.integers(0, 9, len(src)), "dtype": "int32"},
        edges | {"dtype": "float64"},
        {"graphs": matrices < 0.1},
        {"graphs": np.where(matrices < 0.1, matrices, np.inf)},
        {"graphs": np.where(matrices < 0.1, matrices, np.inf), "lengths": rng.integers(0, 31, 1000)},
    ):
        arrays = {
            name: there.asarray(value) if isinstance(value, np.ndarray) else value for name, value in given.items()
        }
        mgraph.apsp_batch(**arrays, predecessors=predecessors, device=device)  # compiles
        with there.peak_memory() as peak:
            result = mgraph.apsp_batch(**arrays, predecessors=predecessors, device=device)
        assert 0 < peak.bytes < result.plan.peak_bytes[0] + (1 << 20)


def test_results():
    result = mgraph.apsp_batch([adjacency(5, 2), adjacency(3, 2)], predecessors=True, device="cpu")
    assert list(result.arrays) == ["distances", "predecessors", "lengths"]
    assert result[-1].shape == (3, 3) and np.asarray(result).shape == (2, 5, 5)
    frame = result.to_pandas()
    assert list(frame.columns) == ["graph", "source", "target", "distances", "predecessors"]
    assert len(frame) == np.isfinite(as_floats(result.distances)).sum() and frame.distances.max() < 127
    assert "2 graphs" in result.plan.explain(True) and "5 x 5 a graph" in result.plan.explain(True)
    assert "predicted time of the solve: unknown" not in result.plan.explain()


@pytest.mark.parametrize("spec", [mgraph.DeviceSpec(kind, kind, 1 << 50) for kind in ("cpu", "cuda")])
@pytest.mark.parametrize("weights", [None, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("predecessors", [False, True])
def test_the_predicted_time_grows_with_the_work(spec, weights, predecessors):
    """That of a matrix of every graph, on all cores."""

    def seconds(count, side, cores=1):
        computed = np.dtype(np.int16 if weights is None else weights)
        made = planned(
            count,
            side,
            0,
            (replace(spec, cores=cores),),
            given_bytes=0,
            weighted=weights is not None,
            dtype=computed,
            computed=computed,
            predecessors=predecessors,
            memory_limit=None,
        )
        return made.seconds

    many = 1 << 20
    assert seconds(2 * many, 30) == pytest.approx(2 * seconds(many, 30), rel=0.05)  # each takes a launch, too
    assert seconds(many, 60) > 3.9 * seconds(many, 30)
    assert seconds(many, 300) > seconds(many, 200)
    assert seconds(many, 60, cores=8) == pytest.approx(seconds(many, 60) / 8, rel=0.05)


def test_results_are_saved(tmp_path):
    result = mgraph.apsp_batch([adjacency(5, 2), adjacency(3, 2)], device="cpu")
    result.save(tmp_path / "batch.npz")
    with np.load(tmp_path / "batch.npz") as saved:
        assert sorted(saved) == ["distances", "lengths"] and (saved["distances"] == result.distances).all()
    result.save(tmp_path / "batch.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "batch.npy"), result.distances)


class Geometric:
    """What PyTorch Geometric's `Data` and `Batch` have that matters here."""

    def __init__(self, edge_index, num_nodes, **others):
        self.edge_index, self.num_nodes, self.edge_weight, self.batch = np.array(edge_index), num_nodes, None, None
        self.__dict__.update(others)


def test_graphs_of_pytorch_geometric(device):
    path, edge = Geometric([[0, 1, 1, 2], [1, 0, 2, 1]], 4), Geometric([[0, 1], [1, 0]], 2)
    ends = np.concatenate([path.edge_index, edge.edge_index + 4], axis=1)
    batch = Geometric(ends, 6, batch=np.repeat([0, 1], [4, 2]), num_graphs=3)  # the last one has no vertex
    expected = mgraph.apsp_batch(edge_index=ends, batch=[0] * 4 + [1] * 2, predecessors=True, device=device)
    for given in ([path, edge], batch):
        found = mgraph.apsp_batch(given, predecessors=True, device=device)
        assert found.lengths.tolist() == ([4, 2] if isinstance(given, list) else [4, 2, 0])
        for name in ("distances", "predecessors"):
            assert np.array_equal(getattr(found, name)[:2], getattr(expected, name))
    assert mgraph.apsp_batch(edge, device=device)[0].tolist() == [[0, 1], [1, 0]]
    heavy = Geometric([[0, 1], [1, 0]], 2, edge_weight=np.array([2.5, 4]))
    assert mgraph.apsp_batch([heavy, edge], device=device)[0].tolist() == [[0, 2.5], [4, 0]]
    nothing = Geometric(np.zeros((2, 0), int), 0, batch=np.zeros(0, int), num_graphs=2)
    assert len(mgraph.apsp_batch(nothing, device=device)) == 2


def test_graphs_of_networkx(device):
    nx = pytest.importorskip("networkx")
    graphs = [nx.path_graph(4), nx.cycle_graph(5, create_using=nx.DiGraph), nx.Graph([("a", "b", {"weight": 3})])]
    found = mgraph.apsp_batch(graphs[:2], device=device)
    for number, graph in enumerate(graphs[:2]):
        assert np.array_equal(found[number], nx.floyd_warshall_numpy(graph))
    assert mgraph.apsp_batch(graphs, device=device)[2].tolist() == [[0, 3], [3, 0]]
