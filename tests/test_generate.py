"""Generated graphs, matrices and lists: their properties, and the same result for a seed."""

import re
import zlib
from unittest import mock

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import mgraph
from mgraph import Graph
from mgraph import device as devices
from mgraph.errors import InputError, MemoryLimitError
from mgraph.generate import (
    by_degree,
    by_density,
    grid,
    kronecker,
    linked_list,
    list_graph,
    lists,
    matrices,
    parts,
    random_degree,
    random_density,
    random_graph,
    random_matrix,
    rmat,
    scale_free,
    tree_graph,
    weighted,
)


def edges(graph):
    src, dst, _ = graph.coo()
    return devices.to_host(src), devices.to_host(dst)


def same(one, other):
    return one.n == other.n and all(
        np.array_equal(devices.to_host(a), devices.to_host(b))
        for order in ("csr", "csc")
        for a, b in zip(one.adjacency(order), other.adjacency(order), strict=True)
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [0, 1, 2, 3, 8, 13])
def test_rmat_is_simple(scale, directed):
    graph = rmat(scale, directed=directed)
    assert (graph.n, graph.directed, graph.weighted) == (2**scale, directed, False)
    src, dst = edges(graph)
    assert (src != dst).all()
    keys = src.astype(np.int64) * graph.n + dst
    assert (np.diff(keys) > 0).all()
    if not directed:
        assert np.array_equal(np.sort(dst.astype(np.int64) * graph.n + src), keys)
    assert graph.m <= 16 * graph.n * (1 if directed else 2)


def test_rmat_has_the_degrees_of_a_kronecker_graph():
    graph = rmat(14)
    degrees = np.diff(graph.csr().indptr)
    assert 0.8 < graph.m / (2 * 16 * graph.n) < 0.95
    assert degrees.max() > 1000 and 0.2 < (degrees == 0).mean() < 0.4
    # The permutation spreads the hubs; without it they would have the ids with few bits set.
    hubs = np.argsort(degrees)[-64:]
    assert np.bincount(hubs * 4 // graph.n, minlength=4).min() >= 5


def test_rmat_draws_the_quadrants_with_their_probabilities():
    src, dst = kronecker.quadrants(np, 2, 0, 1 << 18, seed=5)
    for level in (0, 1):
        quadrants = (src >> np.uint64(level) & np.uint64(1)) * 2 + (dst >> np.uint64(level) & np.uint64(1))
        shares = np.bincount(quadrants.astype(int), minlength=4) / len(src)
        np.testing.assert_allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.004)


@hypothesis.given(st.integers(0, 14), st.integers(-(2**70), 2**70))
@hypothesis.settings(deadline=None, max_examples=30)
def test_renaming_is_a_permutation(scale, seed):
    renamed = kronecker.renamed(np.arange(2**scale, dtype=np.uint64), scale, seed)
    assert np.array_equal(np.sort(renamed), np.arange(2**scale, dtype=np.uint64))


def test_rmat_depends_on_the_seed_only(monkeypatch):
    graph = rmat(9, 5, seed=1)
    assert same(graph, rmat(9, 5, seed=1))
    assert not same(graph, rmat(9, 5, seed=2))
    monkeypatch.setitem(parts.EDGES_AT_A_TIME, "cpu", 36)
    assert same(graph, rmat(9, 5, seed=1))


def test_rmat_stays_the_same_between_versions():
    src, dst = edges(rmat(3, 1, directed=True))
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == [
        (0, 3),
        (1, 2),
        (1, 6),
        (2, 0),
        (2, 6),
        (6, 1),
        (7, 5),
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [0, 1, 7, 16])
def test_rmat_is_the_same_on_a_gpu(scale, directed):
    graph = rmat(scale, seed=3, directed=directed, device="cuda")
    assert graph.device == "cuda:0"
    assert same(graph, rmat(scale, seed=3, directed=directed))


@pytest.mark.parametrize(
    "arguments", [{"scale": -1}, {"scale": 31}, {"scale": 2.0}, {"scale": True}, {"scale": 3, "edge_factor": -1}]
)
def test_rmat_refuses(arguments):
    with pytest.raises(InputError, match=r"must be an integer in \[0, "):
        rmat(**arguments)


def test_rmat_without_edges():
    assert (rmat(4, 0).n, rmat(4, 0).m) == (16, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("n", [0, 1, 2, 150])
def test_random_matrix(n, dtype, monkeypatch):
    monkeypatch.setattr(matrices, "ELEMENTS_AT_A_TIME", 1000)
    matrix = random_matrix(n, density=0.25, low=-3, high=9, dtype=dtype)
    assert matrix.shape == (n, n) and matrix.dtype == dtype
    assert (matrix.diagonal() == 0).all()
    none = np.inf if dtype != "int32" else np.iinfo(np.int32).max
    there = matrix[~np.eye(n, dtype=bool)]
    weights = there[there != none]
    if n == 150:
        assert 0.23 < len(weights) / len(there) < 0.27
        assert abs(weights.mean() - 3) < 0.2
        assert weights.min() >= -3 and weights.max() <= 9
        assert len(np.unique(weights)) == 13 if dtype == "int32" else len(np.unique(weights)) > 1000


def test_random_matrix_is_full_by_default_and_depends_on_the_seed():
    matrix = random_matrix(40, seed=1)
    assert np.isfinite(matrix).all() and matrix.dtype == np.float32
    assert np.array_equal(matrix, random_matrix(40, seed=1))
    assert not np.array_equal(matrix, random_matrix(40, seed=2))


@pytest.mark.parametrize(
    "options",
    [
        {"n": -1},
        {"n": 2.5},
        {"density": 1.5},
        {"density": float("nan")},
        {"low": 2, "high": 1},
        {"dtype": "int8"},
        {"dtype": "int32", "high": 2**31},
    ],
)
def test_random_matrix_refuses(options):
    with pytest.raises(InputError):
        random_matrix(**{"n": 3, **options})


def degrees(graph):
    return np.diff(devices.to_host(graph.csr().indptr))


def components(graph, connection="weak"):
    """Return how many components a graph has, and each vertex's."""
    src, dst = edges(graph)
    matrix = sparse.coo_matrix((np.ones(len(src)), (src, dst)), shape=(graph.n, graph.n))
    return connected_components(matrix, connection=connection)


def simple(graph):
    """Whether no edge is repeated."""
    src, dst = edges(graph)
    return len(np.unique(src.astype(np.int64) * graph.n + dst)) == graph.m


@hypothesis.given(st.integers(1, 300), st.floats(5, 100), st.floats(0, 1), st.integers(0, 2**32))
def test_random_density(n, density, above, seed):
    hypothesis.assume(density * n >= 101)
    max_degree = density + above * (100 - density)
    graph = random_density(n, density, max_degree, seed=seed)
    assert graph.directed and not graph.weighted and simple(graph)
    assert all((np.diff(row) > 0).all() for row in np.split(graph.csr().indices, graph.csr().indptr[1:-1]))
    assert components(graph, "strong")[0] == 1
    assert abs(graph.m - density * n * n / 100) < 0.501
    assert 1 <= degrees(graph).min() and degrees(graph).max() <= max(max_degree * n / 100, -(-graph.m // n))


@pytest.mark.parametrize(
    ("n", "density", "max_degree", "m"),
    [
        (10_000, 0.57, 0.57, 570_000),  # no float is 0.57
        (10, 15, 19, 15),  # more than one edge from each of 10 vertices, and less than two
        (1000, 0.15, 0.15, 1500),
        (50, 3, 3, 75),
        *((1000, density, 100, round(10_000 * density)) for density in (0.1, 0.12, 0.2, 0.5, 1, 99.9, 100)),
    ],
)
def test_random_density_has_all_its_edges(n, density, max_degree, m):
    graph = random_density(n, density, max_degree)
    assert graph.m == m and simple(graph) and components(graph, "strong")[0] == 1
    assert degrees(graph).max() <= max(max_degree * n / 100 + 1e-9, -(-m // n))


@hypothesis.given(st.integers(1, 2000), st.floats(0, 1), st.floats(0, 1))
def test_unequal_degrees(n, share, above):
    m = n + round(share * (n * n - n))
    most = -(-m // n) + round(above * (n - -(-m // n)))
    degrees = by_density.unequal_degrees(n, m, most)
    assert len(degrees) == n and degrees.sum() == m and degrees.min() >= 1 and degrees.max() <= most


def test_degrees_of_random_density_differ_the_more_the_higher_the_greatest_may_be():
    spreads = [degrees(random_density(1000, 25, most)).std() for most in (25, 35, 50, 70, 100)]
    assert spreads[0] == 0 and (np.diff(spreads) > 20).all()
    graph = random_density(1000, 25)
    assert degrees(graph).max() >= 995 and graph.m == 250_000
    loops = (edges(graph)[0] == edges(graph)[1]).sum()
    assert 200 < loops < 300
    entering = np.bincount(edges(graph)[1])
    assert 200 < entering.min() and entering.max() < 300


def test_random_density_in_several_parts(monkeypatch):
    graph = random_density(200, 30)
    for pairs in (1, 1000, 39_999):
        monkeypatch.setitem(parts.PAIRS_AT_A_TIME, "cpu", pairs)
        assert same(graph, random_density(200, 30))


def test_random_degree():
    graph = random_degree(10_000, 6.5, weights=(1, 10))
    assert graph.m == 65_000 and graph.directed and graph.weights_dtype == np.int32
    assert np.bincount(degrees(graph)).tolist() == [0] * 6 + [5000, 5000]
    src, dst = edges(graph)
    drawn = np.bincount(graph.csr().weights)
    assert len(drawn) == 11 and drawn[0] == 0 and (drawn[1:] > 6000).all()
    assert dst.min() < 5 and dst.max() > 9995 and abs(dst.mean() - 5000) < 100
    assert abs(np.corrcoef(src, dst)[0, 1]) < 0.02


def test_scale_free():
    graph = scale_free(10_000, 6)
    assert np.unique(degrees(graph), return_counts=True)[0].tolist() == [6, 1000]
    hubs = np.flatnonzero(degrees(graph) == 1000)
    assert len(hubs) == 10 and hubs.max() - hubs.min() > 2000 and not graph.weighted
    graph = scale_free(500, 2, 0.1, 30, weights=(-3, 3))
    assert graph.m == 50 * 30 + 450 * 2 and graph.extremes()[:2] == (-3, 3)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 9), (9, 1), (7, 12)])
def test_grid(rows, columns):
    graph = grid(rows, columns)
    src, dst = edges(graph)
    across = np.abs(src // columns - dst // columns) + np.abs(src % columns - dst % columns)
    assert graph.n == rows * columns and (across == 1).all() and simple(graph)
    assert graph.m == 2 * (rows * (columns - 1) + (rows - 1) * columns)
    weights = graph.csr().weights
    there = sparse.csr_matrix((weights, (src, dst)), shape=(graph.n, graph.n))
    assert (there != there.T).nnz == 0
    assert not len(weights) or (weights.min() >= 1 and weights.max() <= 255)
    assert not grid(rows, columns, weights=None).weighted


def order(succ):
    """Return the elements of a list from its first to its last, followed one by one; -1 for elements not reached."""
    succ = succ.tolist()
    order = [-1] * len(succ)
    at = next(iter(set(range(len(succ))) - {after for i, after in enumerate(succ) if after != i}), -1)
    for place in range(len(succ)):
        order[place] = at
        if succ[at] == at:
            break
        at = succ[at]
    return np.array(order, int)


LENGTHS = [0, 1, 2, 3, 4, 5, 10, 1000, *(2**k + d for k in (5, 10, 16, 17) for d in (-1, 0, 1))]


@pytest.mark.parametrize("n", LENGTHS)
def test_linked_list(n):
    succ = linked_list(n)
    assert succ.dtype == np.int32 and succ.shape == (n,)
    assert np.array_equal(np.sort(order(succ)), np.arange(n))


@hypothesis.given(st.integers(1, 3000), st.integers(0, 2**32))
def test_linked_lists_of_any_length(n, seed):
    assert np.array_equal(np.sort(order(linked_list(n, seed=seed))), np.arange(n))


@pytest.mark.parametrize("n", [90_001, 2**17, 200_000])
def test_linked_lists_are_in_random_order(n):
    succ, numbers = linked_list(n, seed=1), np.arange(n)
    places = order(succ)
    for steps in (1, 2, int(n**0.5), n // 2):  # neighbours, and elements at a distance in the list
        apart = np.abs(places[steps:] - places[:-steps])
        assert abs(apart.mean() / (n / 3) - 1) < 0.02
        assert (apart == 1).sum() < 20
    assert np.abs(np.diff(succ)).min() > 0 and (np.abs(np.diff(succ)) == 1).sum() < 20
    assert abs(np.corrcoef(numbers, succ)[0, 1]) < 0.015 and abs(np.corrcoef(numbers, places)[0, 1]) < 0.015
    # All parts of the list are met in all parts of the array, and after all remainders come all.
    for there, then in ((numbers * 16 // n, places * 16 // n), (numbers % 16, succ % 16)):
        pairs = np.bincount(there * 16 + then, minlength=256) / (n / 256)
        assert 0.75 < pairs.min() and pairs.max() < 1.25


def test_the_longest_list_is_a_permutation_where_it_is_looked_at():
    n = 2**32 - 1
    rounds = lists.drawn_rounds(n, 5)
    random = np.random.default_rng(5)
    places = np.unique(np.r_[random.integers(0, n, 100_000, np.uint32), np.arange(n - 1000, n, dtype=np.uint32)])
    permuted = lists.permuted(places, n, rounds)
    assert permuted.dtype == np.uint32 and permuted.max() < n and len(np.unique(permuted)) == len(places)
    assert np.bincount(permuted >> np.uint32(28), minlength=16).min() > 5500


def test_linked_lists_are_generated_in_parts(monkeypatch):
    whole = [linked_list(n, seed=2) for n in (1, 6, 1000)]
    for part in (1, 7, 999):
        monkeypatch.setitem(parts.EDGES_AT_A_TIME, "cpu", part)
        for succ in whole:
            assert np.array_equal(linked_list(len(succ), seed=2), succ)


def test_linked_lists_stay_the_same_between_versions():
    assert linked_list(12, seed=1).tolist() == [10, 6, 11, 0, 1, 4, 2, 7, 5, 3, 7, 9]


@hypothesis.given(st.integers(1, 300), st.integers(1, 20), st.integers(1, 20))
def test_tree_graph(n, count, k):
    count = min(count, n)
    graph = tree_graph(n, count, k)
    assert (graph.n, graph.m, graph.directed) == (n, 2 * (n - count), False)
    found, labels = components(graph)
    sizes = np.bincount(labels)
    assert found == count and sizes.max() - sizes.min() <= 1
    assert degrees(graph).max() <= k + 1
    # At least as many leaves as if all but the last of the inner vertices had k children.
    inner = -(-(sizes - 1) // k)
    assert (degrees(graph) <= 1).sum() >= (sizes - inner).sum()


@hypothesis.given(st.integers(1, 300), st.integers(1, 20), st.integers(1, 20))
def test_grown_trees(n, count, k):
    count = min(count, n)
    graph = tree_graph(n, count, k, grown=True)
    assert (graph.n, graph.m, graph.directed) == (n, 2 * (n - count), False)
    assert components(graph)[0] == count
    assert degrees(graph).max() <= k + 1


def test_grown_trees_are_deeper_than_complete_ones():
    levels = {}
    for grown in (False, True):
        graph = tree_graph(100_000, 1, 20, grown=grown)
        levels[grown] = mgraph.bfs(graph, int(degrees(graph).argmax()), device="cpu").distances.max()
    assert levels[True] > 3 * levels[False]


def test_list_graph():
    graph = list_graph(1000, 8)
    assert components(graph)[0] == 8 and np.bincount(degrees(graph)).tolist() == [0, 16, 984]
    src, dst = edges(graph)
    assert (np.abs(src - dst) == 1).mean() < 0.02


@hypothesis.given(st.integers(1, 400), st.sampled_from([0.001, 0.01, 0.3, 0.999, 1.0]), st.integers(1, 5))
def test_random_graph(m, density, count):
    count = min(count, m)
    graph = random_graph(m, density, count)
    src, dst = edges(graph)
    assert graph.m == 2 * m and simple(graph) and (src != dst).all()
    size, most = graph.n // count, -(-m // count)
    assert graph.n == size * count
    found, labels = components(graph)
    if m // count >= size - 1:  # edges enough to connect each graph
        assert found == count and (np.bincount(labels) == size).all()
    else:
        assert found >= count
    assert size * (size - 1) / 2 * density >= most * (1 - 1e-9)  # as sparse as requested, and without extra vertices
    assert size == 2 or (size - 1) * (size - 2) / 2 * density < most


@pytest.mark.parametrize("seed", range(5))
def test_thin_random_graphs_are_components_too(seed):
    for m, density, count in ((100, 0.1, 4), (88, 0.1, 4), (22, 1, 22), (3, 1, 1)):
        found, labels = components(random_graph(m, density, count, seed=seed))
        assert found == count and len(set(np.bincount(labels))) == 1


def test_dense_random_graphs_are_components_of_their_own():
    graph = random_graph(40_000, 0.1, 4)
    found, labels = components(graph)
    assert found == 4 and len(set(np.bincount(labels))) == 1
    assert degrees(graph).min() > 20 and degrees(graph).std() < 12


MADE = {
    "random_density": lambda **options: random_density(300, 10, **options),
    "random_degree": lambda **options: random_degree(300, 4, weights=(1, 9), **options),
    "scale_free": lambda **options: scale_free(300, 4, 0.01, 50, **options),
    "grid": lambda **options: grid(9, 8, **options),
    "list_graph": lambda **options: list_graph(300, 4, **options),
    "tree_graph": lambda **options: tree_graph(300, 4, 3, **options),
    "grown trees": lambda **options: tree_graph(300, 4, 3, grown=True, **options),
    "random_graph": lambda **options: random_graph(300, 0.1, 4, **options),
}


def same_weights(one, other):
    a, b = one.csr().weights, other.csr().weights
    return (a is None and b is None) or np.array_equal(devices.to_host(a), devices.to_host(b))


def test_generated_graphs_stay_the_same_between_versions():
    sums = {}
    for name, made in {**MADE, "of many vertices": lambda seed: random_density(70_000, 0.004, 0.02, seed=seed)}.items():
        arrays = (part for part in made(seed=3).csr() if part is not None)
        sums[name] = zlib.crc32(b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in arrays))
    assert sums == {
        "random_density": 77017584,
        "random_degree": 836757544,
        "scale_free": 1180015034,
        "grid": 1591415700,
        "list_graph": 809500205,
        "tree_graph": 3834989700,
        "grown trees": 4183053855,
        "random_graph": 204141869,
        "of many vertices": 419169312,
    }


@pytest.mark.parametrize("name", MADE)
def test_generated_graphs_depend_on_the_seed_only(name):
    made = MADE[name]
    assert same(made(seed=1), made(seed=1)) and same_weights(made(seed=1), made(seed=1))
    other = made(seed=2)
    assert not (same(made(seed=1), other) and same_weights(made(seed=1), other))


def test_linked_lists_depend_on_the_seed_only():
    assert np.array_equal(linked_list(1000, seed=3), linked_list(1000, seed=3))
    assert not np.array_equal(linked_list(1000, seed=4), linked_list(1000, seed=3))


@pytest.mark.gpu
@pytest.mark.parametrize("name", MADE)
def test_made_graphs_are_the_same_on_a_gpu(name):
    graph, here = MADE[name](seed=3, device="cuda"), MADE[name](seed=3)
    assert graph.device == "cuda:0" and graph.directed == here.directed
    assert same(graph, here) and same_weights(graph, here)


def check_weighted(place):
    for graph in (rmat(8, device=place), rmat(8, directed=True, device=place)):
        for between, dtype in (((1, 255), "float32"), ((-7, 5), "int32"), ((-(2**30), 2**30 - 1), "float64")):
            made = weighted(graph, between, dtype)
            assert made.device == graph.device and made.directed == graph.directed and made.weights_dtype == dtype
            src, dst = edges(made)
            lengths = devices.to_host(made.coo()[2])
            of = dict(zip(zip(src.tolist(), dst.tolist(), strict=True), lengths.tolist(), strict=True))
            assert len(of) == graph.m and all(of.get((j, i), length) == length for (i, j), length in of.items())
            low, high = between
            assert lengths.min() >= low and lengths.max() <= high and made.nonnegative == (low >= 0)
            # The mean of one draw for each pair, about half as many as edges, is normal about the middle.
            assert abs(lengths.mean(dtype=float) - (low + high) / 2) < 5 * (high - low) / (6 * graph.m) ** 0.5


def test_weights_for_any_graph():
    check_weighted("cpu")
    of_ids = Graph.from_edges([0, 1], [1, 2], ids=np.array([7, 8, 11]))
    assert weighted(of_ids, (1, 3)).ids.tolist() == [7, 8, 11]
    assert weighted(sparse.coo_array(([5.0], ([0], [1])), shape=(2, 2)), (4, 4)).csr().weights.tolist() == [4]


@pytest.mark.gpu
def test_weights_for_any_graph_on_a_gpu():
    check_weighted("cuda")
    here, there = (weighted(rmat(12, device=place), (1, 255)) for place in ("cpu", "cuda"))
    assert same_weights(there, here)


@pytest.mark.parametrize(
    ("weights", "dtype", "words"),
    [
        (None, "float32", "weights must be two int32 integers, .* got None"),
        ((5, 1), "float32", r"weights must be two int32 integers, .* got \(5, 1\)"),
        ((-1, 2**31 - 1), "float64", r"weights must be at most 2\*\*31 - 1 apart, got \(-1, 2147483647\)"),
        ((1, 2), "int8", "dtype must be .* got 'int8'"),
        ((1, 2), "int16", "dtype must be .* got 'int16'"),
    ],
)
def test_invalid_weights_for_a_graph(weights, dtype, words):
    with pytest.raises(InputError, match=words):
        weighted(rmat(3), weights, dtype)


LARGER = {
    "random_density": lambda **options: random_density(3000, 25, **options),
    "random_density of many vertices": lambda **options: random_density(70_000, 0.004, 0.02, **options),
    "random_density of one vertex": lambda **options: random_density(1, 100, **options),
    "random_degree": lambda **options: random_degree(100_000, 6.5, weights=(1, 10), **options),
    "scale_free": lambda **options: scale_free(100_000, 6, weights=(-3, 3), **options),
    "grid": lambda **options: grid(300, 1, **options),
    "list_graph": lambda **options: list_graph(200_000, 7, **options),
    "tree_graph": lambda **options: tree_graph(200_000, 200_000, 2, **options),
    "random_graph": lambda **options: random_graph(300_000, 0.01, 7, **options),
    "nothing": lambda **options: tree_graph(0, 0, 1, **options),
    "no density": lambda **options: random_density(0, 5, **options),
    "no degree": lambda **options: random_degree(0, 5, **options),
    "no grid": lambda **options: grid(0, 5, **options),
    "no graph": lambda **options: random_graph(0, 0.5, 0, **options),
}


@pytest.mark.gpu
@pytest.mark.parametrize("name", LARGER)
def test_larger_and_empty_graphs_are_the_same_on_a_gpu(name, monkeypatch):
    monkeypatch.setitem(parts.PAIRS_AT_A_TIME, "cuda", 1 << 21)  # several parts
    graph, here = LARGER[name](seed=5, device="cuda"), LARGER[name](seed=5)
    assert graph.device == "cuda:0" and same(graph, here) and same_weights(graph, here)


@pytest.mark.gpu
@pytest.mark.parametrize("n", LENGTHS)
def test_linked_lists_are_the_same_on_a_gpu(n, monkeypatch):
    for part in (1 << 24, 4099):
        monkeypatch.setitem(parts.EDGES_AT_A_TIME, "cuda", part)
        there = linked_list(n, seed=3, device="cuda")
        assert devices.of(there).name == "cuda:0" and there.dtype == np.int32
        assert np.array_equal(there.get(), linked_list(n, seed=3))


@pytest.mark.gpu
def test_a_list_of_64_bits_on_a_gpu():
    n = 2**31 + 1000
    if devices.find("cuda").available_memory() < 12 * n:
        pytest.skip("needs 24 GiB of a GPU")
    xp, succ = devices.find("cuda").xp, linked_list(n, device="cuda")
    assert succ.dtype == np.int64 and int(succ.min()) == 0 and int(succ.max()) == n - 1
    followed, lasts = xp.zeros(n, bool), 0
    for first in range(0, n, 1 << 28):
        part = succ[first : first + (1 << 28)]
        xp.put(followed, part, xp.ones(1, bool), mode="wrap")
        lasts += int((part == xp.arange(first, first + len(part))).sum())
    assert lasts == 1 and int(followed.sum()) == n - 1  # all but the first


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: random_density(10, 0), r"^density must be .* got 0$"),
        (lambda: random_density(10, 101), r"^density must be .* got 101$"),
        (lambda: random_density(10, 50, 40), r"^max_degree must be .* got 40$"),
        (lambda: random_density(100, 0.5), "density must give each of the 100 vertices an edge, got 0.5"),
        (lambda: random_density(-1, 5), r"n must be an integer in \[0, \d+\), got -1"),
        (lambda: random_degree(10, -1), r"^degree must be .* got -1$"),
        (lambda: random_degree(10, 2, weights=(3, 2)), r"weights must be two int32 integers, .* got \(3, 2\)"),
        (lambda: scale_free(10, 2, 1.5), r"^hub_fraction must be .* got 1\.5$"),
        (lambda: scale_free(10, 2, hub_degree=2.5), r"^hub_degree must be .* got 2\.5$"),
        (lambda: grid(2**16, 2**16), "4294967296 vertices"),
        (lambda: linked_list(True), r"^n must be .* got True$"),
        (lambda: list_graph(5, 6), r"^count must be .* got 6$"),
        (lambda: list_graph(5, 0), r"^count must be .* got 0$"),
        (lambda: tree_graph(5, 1, 0), r"^k must be .* got 0$"),
        (lambda: tree_graph(5, 1, 1, grown=2), "^grown must be True or False, got 2$"),
        (lambda: random_graph(5, 0, 1), r"^density must be .* got 0$"),
        (lambda: random_graph(5, 0.1, 6), r"^count must be .* got 6$"),
        (lambda: random_density(10, "a"), r"^density must be .* got 'a'$"),
        (lambda: random_density(10, 50, None), r"^max_degree must be .* got None$"),
        (lambda: random_matrix(3, high=10**400), "high must be a number that a float can hold, got 1000"),
        (lambda: random_degree(10, "a"), r"^degree must be .* got 'a'$"),
        (lambda: random_degree(10, True), r"^degree must be .* got True$"),
        (lambda: scale_free(10, None), r"^degree must be .* got None$"),
        (lambda: scale_free(10, 2, "a"), r"^hub_fraction must be .* got 'a'$"),
        (lambda: random_graph(5, None, 1), r"^density must be .* got None$"),
        (lambda: random_graph(5, 1e-300, 1), "density=1e-300 makes"),
        (lambda: random_matrix(3, density="a"), r"^density must be .* got 'a'$"),
        (lambda: random_matrix(3, low="a"), r"^low must be .* got 'a'$"),
        (lambda: random_matrix(3, low=-np.inf), "float32 can hold, got -inf and 1000.0"),
        (lambda: random_matrix(3, high=np.inf), "numbers that float32 can hold, got 1.0 and inf"),
        (lambda: random_matrix(3, low=-3e38, high=3e38), "numbers that float32 can hold"),
        (
            lambda: random_matrix(3, low=1.5, high=2.5, dtype="int32"),
            "must be whole numbers for int32, got 1.5 and 2.5",
        ),
        (lambda: random_matrix(3, low=-np.inf, dtype="int32"), "must be whole numbers for int32, got -inf and 1000.0"),
    ],
)
def test_graphs_that_cannot_be_generated(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("weights", [(1.5, 2.5), 5, True, (1,), (1, 2, 3), "ab", (True, 3), (1, 2**31), (None, 1)])
def test_invalid_weights(weights):
    for make in (random_degree, scale_free, grid):
        with pytest.raises(InputError, match=rf"^weights must be .* got {re.escape(repr(weights))}$"):
            make(10, 2, weights=weights)


#: Every generator, with a seed.
SEEDED = {
    **MADE,
    "rmat": lambda **given: rmat(4, **given),
    "random_matrix": lambda **given: random_matrix(3, **given),
    "linked_list": lambda **given: linked_list(100, **given),
    "grid without weights": lambda **given: grid(3, 3, weights=None, **given),
}


@pytest.mark.parametrize("seed", [-1, 1.5, 2.0, "a", None, [1, 2], True, np.True_, np.int64(-1)])
@pytest.mark.parametrize("name", SEEDED)
def test_invalid_seeds(name, seed):
    with pytest.raises(InputError, match=rf"^seed must be an integer of 0 or more, got {re.escape(repr(seed))}$"):
        SEEDED[name](seed=seed)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("name", SEEDED)
def test_seeds_of_numpy(name, dtype):
    one, other = SEEDED[name](seed=dtype(3)), SEEDED[name](seed=3)
    if isinstance(one, np.ndarray):
        assert np.array_equal(one, other)
    else:
        assert same(one, other) and same_weights(one, other)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rmat(30, 2**31), "4,611,686,018,427,387,904 edges needs"),
        (lambda: random_degree(10**9, 2**20), "1,048,576,000,000,000 edges needs"),
        (lambda: scale_free(10**9, 0, 1, 2**20), "1,048,576,000,000,000 edges needs"),
        (lambda: random_density(2**30, 50), "576,460,752,303,423,488 edges needs"),
        (lambda: random_matrix(2**30), "1,073,741,824 vertices needs"),
    ],
)
def test_graphs_beyond_the_memory_are_refused_before_they_are_generated(make, words):
    with pytest.raises(MemoryLimitError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [lambda: rmat(7, 8), lambda: grid(23, 23), lambda: tree_graph(1025, 1, 2), lambda: random_graph(1024, 0.5, 1)],
)
def test_both_directions_count_against_the_memory(make, monkeypatch):
    # Room for about 1.5 directions of the 1,024 edges or so.
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: 12 * 1100 + 40 * 1500)
    drawn = mock.Mock(side_effect=AssertionError("made before it was refused"))
    monkeypatch.setattr(Graph, "from_edges", drawn)
    monkeypatch.setattr(kronecker, "rmat_edges", drawn)
    with pytest.raises(MemoryLimitError, match=r"2,(048|024) edges needs"):
        make()


def test_a_list_beyond_the_memory_is_refused_before_it_is_generated(monkeypatch):
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: 3999)
    with pytest.raises(MemoryLimitError, match="1,000 elements needs"):
        linked_list(1000)


def test_degrees_of_many_edges_do_not_wrap():
    degrees = by_degree.even_degrees(10**5, 2**48)  # whose product is beyond 64 bits
    assert degrees.sum() == 2**48 and degrees.min() == 2**48 // 10**5 and degrees.max() - degrees.min() == 1


def test_empty_graphs_and_lists():
    for graph in (random_density(0, 5), random_degree(0, 5), scale_free(0, 5), grid(0, 5), list_graph(0, 0)):
        assert (graph.n, graph.m) == (0, 0)
    assert random_graph(0, 0.5, 0).m == 0
