"""Numbers of shortest paths and the paths themselves, against NetworkX and exact integers."""

import dataclasses
import json
import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mgraph
from mgraph import InputError, MemoryLimitError, VerificationError
from mgraph.algorithms.samples import with_weights
from mgraph.generate import rmat
from tests.support.commands import failed, invoke, ok
from tests.support.memory import measured
from tests.support.parameters import exhaustive

nx = pytest.importorskip("networkx")


def random_graph(seed, directed, dtype):
    """A graph with parallel edges and loops, and the same for NetworkX, with the lightest of parallel edges."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 40)), int(random.integers(0, 160))
    src, dst = random.integers(0, n, (2, m))
    weights = None if dtype is None else random.integers(1, 4, m).astype(dtype)
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n, directed=directed)
    there = nx.DiGraph() if directed else nx.Graph()
    there.add_nodes_from(range(n))
    for u, v, w in zip(src.tolist(), dst.tolist(), [1] * m if weights is None else weights.tolist(), strict=True):
        there.add_edge(u, v, weight=min(w, there.edges[u, v]["weight"] if there.has_edge(u, v) else math.inf))
    return graph, there


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [None, np.int32, np.int64, np.float32, np.float64])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_random_graphs(directed, dtype, seed):
    graph, there = random_graph(seed, directed, dtype)
    n = graph.n
    sources = sorted({0, n // 2, n - 1}, reverse=True)
    found = mgraph.path_counts(graph, sources, device="cpu")
    assert found.counts.shape == found.distances.shape == (len(sources), n) and found.exponents is None
    for i, source in enumerate(sources):
        expected = dict(nx.single_source_all_shortest_paths(there, source, weight="weight"))
        lengths = nx.single_source_dijkstra_path_length(there, source)
        for v in range(n):
            paths = expected.get(v, [])
            assert found.counts[i, v] == len(paths)
            assert list(found.paths(source, v)) == sorted(paths, key=lambda path: path[::-1])
            if paths:
                assert found.distances[i, v] == lengths[v]


def test_more_paths_than_int64_holds():
    side = 60
    found = mgraph.path_counts(mgraph.generate.grid(side, side, weights=None), [0], device="cpu")
    assert found.exponents is None
    exact = math.comb(2 * side - 2, side - 1)
    assert exact > 10**30 and found.counts[0, -1] == pytest.approx(exact, rel=1e-13)
    assert len(list(found.paths(0, side * side - 1, most=1000))) == 1000
    small = [[math.comb(i + j, i) for j in range(25)] for i in range(25)]
    assert found.counts.reshape(side, side)[:25, :25].tolist() == small  # exact, as they are less than 2**53


@pytest.mark.parametrize("side", [600, *exhaustive(1100)])
@pytest.mark.parametrize("weights", [None, (1, 1)])
def test_more_paths_than_float64_holds(weights, side):
    graph = mgraph.generate.grid(side, side, weights=weights)
    found = mgraph.path_counts(graph, [0, side * side - 1], device="cpu")
    exact = math.comb(2 * side - 2, side - 1)
    bits = np.log2(found.counts[0, -1]) + found.exponents[0, -1]
    assert exact > 2**1100 and bits == pytest.approx(math.log2(exact), rel=1e-12)
    found.verify()
    assert np.isfinite(found.counts).all() and found.plan.detail.wide


@pytest.mark.parametrize("seeds", [range(12), *exhaustive(range(12, 300))], ids=str)
@pytest.mark.parametrize("dtype", [None, np.int32, np.float64])
def test_layers_beside_exact_integers(device, dtype, seeds):
    """Random edges from layer to layer, up to 10^300 paths and beyond, counted by Python's integers."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        wide, deep = int(random.integers(2, 9)), int(random.integers(2, 600))
        ends = random.integers(0, wide, (2, deep, 3 * wide))
        first = wide * np.arange(deep)[:, None]
        src, dst = (ends[0] + first).ravel(), (ends[1] + first + wide).ravel()
        weights = None if dtype is None else np.repeat(random.integers(1, 4, deep), 3 * wide).astype(dtype)
        graph = mgraph.Graph.from_edges(src, dst, weights, n=wide * (deep + 1))
        exact = [0] * graph.n
        exact[0] = 1
        for u, v in sorted(set(zip(src.tolist(), dst.tolist(), strict=True))):
            exact[v] += exact[u]
        found = mgraph.path_counts(graph, [0], device=device)
        powers = np.zeros(graph.n, int) if found.exponents is None else found.exponents[0]
        for count, power, number in zip(found.counts[0].tolist(), powers.tolist(), exact, strict=True):
            value = Fraction(count) * Fraction(2) ** power
            assert value == number if number < 2**53 else abs(value - number) <= number / 10**12
        found.verify()


def test_limit_and_weights():
    graph = mgraph.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], [1, 1, 2, 2, 9])
    found = mgraph.path_counts(graph, [0], limit=3, device="cpu")
    assert found.counts.tolist() == [[1, 1, 1, 2, 0]] and list(found.paths(0, 4)) == []
    hops = mgraph.path_counts(graph, [0], weight=False, device="cpu")
    assert hops.counts.tolist() == [[1, 1, 1, 2, 2]] and hops.distances.tolist() == [[0, 1, 1, 2, 3]]


def test_ids():
    graph = mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], ids=["a", "b", "c", "d"])
    found = mgraph.path_counts(graph, ["a"], device="cpu")
    assert found.sources.tolist() == ["a"]
    assert list(found.paths("a", "d")) == [["a", "b", "d"], ["a", "c", "d"]]


def test_some_sources_at_a_time():
    graph = mgraph.generate.grid(20, 20, weights=None)
    expected = mgraph.path_counts(graph, range(400), device="cpu").counts
    few = mgraph.path_counts(graph, range(400), memory_limit=2_000_000, device="cpu").counts
    assert np.array_equal(few, expected)
    with pytest.raises(MemoryLimitError):
        mgraph.path_counts(graph, range(400), memory_limit=1000, device="cpu")


def test_a_result_that_does_not_fit_is_refused_before_the_search():
    graph = mgraph.Graph.from_edges([0], [1], n=10**6)
    with pytest.raises(MemoryLimitError, match=r"numbers of paths from 1,000,000 sources"):
        mgraph.path_counts(graph, np.arange(10**6), device="cpu")


def test_what_is_refused():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [3, 0])
    with pytest.raises(InputError, match=r"edge from 1 to 2 is 0: change it, or count edges by weight=False"):
        mgraph.path_counts(graph, [0], device="cpu")
    with pytest.raises(InputError, match="lost in the sum"):
        mgraph.path_counts(mgraph.Graph.from_edges([0, 1], [1, 2], [1.0, 1e-30]), [0], device="cpu")
    found = mgraph.path_counts(graph, [0], weight=False, device="cpu")
    with pytest.raises(InputError, match="source=1 is not among the 1 sources"):
        found.paths(1, 2)
    with pytest.raises(InputError, match="vertex"):
        found.paths(0, 9)
    with pytest.raises(InputError, match="most"):
        found.paths(0, 2, most=0)


def test_paths_one_by_one():
    # There are more paths than fit anywhere.
    found = mgraph.path_counts(mgraph.generate.grid(40, 40, weights=None), [0], device="cpu")
    first = list(islice(found.paths(0, 1599), 3))
    assert len({tuple(path) for path in first}) == 3 and {len(path) for path in first} == {79}


@pytest.mark.parametrize("dtype", [None, np.int32, np.float64])
def test_the_same_on_every_device(dtype, device):
    for seed in range(5):
        graph, _ = random_graph(seed, bool(seed % 2), dtype)
        expected = mgraph.path_counts(graph, range(graph.n), device="cpu")
        found = mgraph.path_counts(graph, range(graph.n), device=device)
        assert np.array_equal(found.counts, expected.counts) and np.array_equal(found.distances, expected.distances)
    large = mgraph.generate.grid(600, 600, weights=None if dtype is None else (1, 1))
    expected, found = (mgraph.path_counts(large, [0], device=where) for where in ("cpu", device))
    logs = [np.log2(each.counts) + each.exponents for each in (expected, found)]
    np.testing.assert_allclose(*logs, rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [False, True])
def test_predicted_peak_is_the_measured_one(directed, weight):
    graph, sources = with_weights(rmat(13, 8, directed=directed), "int32", 1), range(64)
    mgraph.path_counts(graph, sources, weight=weight, device="cpu")
    graph.release()
    result, peak = measured(lambda: mgraph.path_counts(graph, sources, weight=weight, device="cpu"))
    predicted = result.plan.peak_bytes[0] - result.plan.devices[0].held
    assert 0.9 * predicted < peak < 1.01 * predicted


def test_numbers_that_are_rounded_verify():
    """Beyond 2^53 a number may differ by rounding, and by no more; below, it may not."""
    side = 60
    graph = mgraph.generate.grid(side, side, weights=None)
    found = mgraph.path_counts(graph, [0], device="cpu")
    right = found.counts.copy()
    assert right[0, -1] > 2**100
    for vertex, factor, holds in ((-1, 1 + 1e-12, True), (-1, 1 + 1e-7, False), (side + 1, 1 + 1e-12, False)):
        found.counts[0, vertex] = right[0, vertex] * factor
        if holds:
            found.verify()
        else:
            with pytest.raises(VerificationError, match="breaks the rule 'count'"):
                found.verify()
        found.counts[:] = right


def test_a_file_and_a_table(tmp_path):
    graph = mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], ids=["a", "b", "c", "d"])
    found = mgraph.path_counts(graph, ["a"], device="cpu")
    assert found.to_pandas().values.tolist()[-1] == ["a", "d", 2.0, 2]
    found.save(tmp_path / "paths.npz")
    with np.load(tmp_path / "paths.npz") as saved:
        assert saved["counts"].tolist() == [[1, 1, 1, 2]] and saved["distances"].tolist() == [[0, 1, 1, 2]]


def test_the_command(tmp_path):
    path = tmp_path / "diamond.txt"
    path.write_text("0 1\n0 2\n1 3\n2 3\n")
    out = tmp_path / "paths.npz"
    said = ok("path-counts", path, "--device", "cpu", "--out", out)
    assert "reached: 4 of 4 pairs; most paths: 2, from 0 to 3" in said
    with np.load(out) as saved:
        assert saved["counts"].tolist() == [[1, 1, 1, 2]]
    told = json.loads(ok("path-counts", path, "--source", 1, "--source", 3, "--device", "cpu", "--json"))
    assert told["reached_pairs"] == 3 and told["most_paths_log2"] == 0


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    graph = mgraph.generate.grid(4, 4, weights=None)
    found = mgraph.path_counts(graph, [0, 5], device="cpu")
    assert found.plot().has_data() and found.plot("distribution").has_data()
    large = dataclasses.replace(found, exponents=np.zeros(found.counts.shape, np.int32))
    with pytest.raises(InputError, match="beyond float64 are not drawn"):
        large.plot()


def test_commands_say_how_edges_are_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text("0 1 -2\n1 2 3\n")
    for command in (("betweenness", "g.txt"), ("path-counts", "g.txt", "--source", "0")):
        assert "change it, or count edges by --unweighted" in failed(invoke(*command), 2)
