import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import mgraph.generate
from mgraph import device as devices
from mgraph.errors import InputError
from mgraph.generate import random_matrix, rmat


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
    src, dst = mgraph.generate._quadrants(np, 2, 0, 1 << 18, seed=5)
    for level in (0, 1):
        quadrants = (src >> np.uint64(level) & np.uint64(1)) * 2 + (dst >> np.uint64(level) & np.uint64(1))
        shares = np.bincount(quadrants.astype(int), minlength=4) / len(src)
        np.testing.assert_allclose(shares, [0.57, 0.19, 0.19, 0.05], atol=0.004)


@hypothesis.given(st.integers(0, 14), st.integers(-(2**70), 2**70))
@hypothesis.settings(deadline=None, max_examples=30)
def test_renaming_is_a_permutation(scale, seed):
    renamed = mgraph.generate._renamed(np.arange(2**scale, dtype=np.uint64), scale, seed)
    assert np.array_equal(np.sort(renamed), np.arange(2**scale, dtype=np.uint64))


def test_rmat_depends_on_the_seed_only(monkeypatch):
    graph = rmat(9, 5, seed=1)
    assert same(graph, rmat(9, 5, seed=1))
    assert not same(graph, rmat(9, 5, seed=2))
    monkeypatch.setitem(mgraph.generate.EDGES_AT_A_TIME, "cpu", 36)
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
    "arguments",
    [{"scale": -1}, {"scale": 31}, {"scale": 2.0}, {"scale": True}, {"scale": 3, "edge_factor": -1}],
)
def test_rmat_refuses(arguments):
    with pytest.raises(InputError, match="no integer from 0"):
        rmat(**arguments)


def test_rmat_without_edges():
    assert (rmat(4, 0).n, rmat(4, 0).m) == (16, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("n", [0, 1, 2, 150])
def test_random_matrix(n, dtype, monkeypatch):
    monkeypatch.setattr(mgraph.generate, "ELEMENTS_AT_A_TIME", 1000)
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
