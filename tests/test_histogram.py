"""Histograms of distances, from each source and of whole graphs, against NumPy, SciPy and NetworkX."""

import dataclasses
import json

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

import mgraph
from mgraph import InputError, VerificationError
from mgraph.algorithms.distances import histogram as module
from tests.support.commands import failed, invoke, misused, ok
from tests.support.memory import measured
from tests.support.parameters import exhaustive

nx = pytest.importorskip("networkx")

INF = float("inf")


def random_graph(seed, dtype, directed, most=9):
    """A graph, and SciPy's distances between its vertices."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 60)), int(random.integers(0, 150))
    src, dst = random.integers(0, n, (2, m))
    weights = None if dtype is None else random.integers(1, most, m).astype(dtype)
    if dtype is not None and np.dtype(dtype).kind == "f":
        weights = weights / np.asarray(8, dtype)  # whose sums are exact
    graph = mgraph.Graph.from_edges(src, dst, weights, n=n, directed=directed)
    best = np.full((n, n), INF)
    np.minimum.at(best, (src, dst), np.ones(m) if weights is None else weights)
    if not directed:
        best = np.minimum(best, best.T)
    rows, columns = np.isfinite(best).nonzero()
    matrix = csr_array((best[rows, columns], (rows, columns)), shape=(n, n))
    return graph, csgraph.dijkstra(matrix)


def in_bins(rows, edges):
    """NumPy's histogram of each row, without what is out of reach."""
    return [np.histogram(row[np.isfinite(row)], edges)[0].tolist() for row in rows]


METHODS = {None: ("auto", "bfs", "blocked", "hierarchy"), "weighted": ("auto", "sssp", "blocked", "hierarchy")}


@pytest.mark.parametrize("seeds", [range(6), *exhaustive(range(6, 30), range(30, 60))], ids=str)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [None, np.int32, np.float32, np.float64])
def test_rows_are_numpys(dtype, directed, device, seeds):
    for seed in seeds:
        graph, rows = random_graph(seed, dtype, directed)
        edges = [0, 1, 2, 3.5, 5, 9, 14]
        expected = in_bins(rows, edges)
        for method in METHODS[None if dtype is None else "weighted"]:
            found = mgraph.distances(graph, reduce=("histogram", edges), method=method, device=device)
            assert found.histogram.dtype == np.int64 and found.histogram.tolist() == expected, method
            found.verify(graph, rows=None)
        prepared = mgraph.Hierarchy(graph, range(graph.n), device=device)
        assert prepared.distances(reduce=["reached", ("histogram", edges)]).histogram.tolist() == expected
        some = mgraph.distances(graph, [0], [0, 0], reduce=("histogram", np.array(edges)), device=device)
        assert some.histogram.tolist() == [[1, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_edges_that_are_distances(dtype, method):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([1, 1, 2], dtype))
    asked = {"method": method, "dtype": np.dtype(dtype), "device": "cpu"}
    for edges in ([0, 1, 2, 4], [0.5, 1, 2, INF], [-3, 0, 1.5, 2], [2, 3.999, 1e300], [4, 5], [0.1, 0.9]):
        found = mgraph.distances(graph, [0], reduce=("histogram", edges), **asked).histogram
        finite = [min(edge, 1e9) for edge in edges]
        assert found.tolist() == in_bins(np.array([[0.0, 1, 2, 4]]), finite), edges
    tenths = mgraph.Graph.from_edges([0], [1], np.array([0.1], np.float32))
    low = float(np.float32(0.1))
    for edges, count in (([0.1, low], 1), ([low, 1], 1), ([0, 0.1], 0), ([0.05, low, 1], 0)):
        found = mgraph.distances(tenths, [0], [1], reduce=("histogram", edges), method=method, device="cpu").histogram
        assert found[0, 0] == count, edges


def test_negative_distances():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [5, -7, 1])
    for method in ("johnson", "hierarchy"):
        found = mgraph.distances(graph, [0], reduce=("histogram", [-2, -1, 0, 5]), method=method, device="cpu")
        assert found.histogram.tolist() == [[1, 1, 2]]


def test_columns_of_a_table():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2])
    found = mgraph.distances(graph, reduce=["reached", ("histogram", [0, 1, INF])], device="cpu")
    table = found.to_pandas()
    assert list(table) == ["reached", "0 to 1", "1 to inf"] and table["1 to inf"].tolist() == [2, 1, 0]


@pytest.mark.parametrize("edges", [[], [1], [1, 1], [2, 1], [0, float("nan")], [INF, 1], [[0, 1]], ["a", "b"]])
def test_bad_edges(edges):
    with pytest.raises(InputError, match=r"reduce.*two edges or more"):
        mgraph.distances([[0, 1], [1, 0]], reduce=("histogram", edges), device="cpu")


def test_a_histogram_once():
    with pytest.raises(InputError, match="'histogram' once"):
        mgraph.distances([[0, 1], [1, 0]], reduce=[("histogram", [0, 1])] * 2, device="cpu")


@pytest.mark.parametrize(
    "edges", [[0, 1, 2, 3, 4], [0, 7], [-2, 0.5, 3.25], [0, 0.001, 1, 1.5, 20, 21, 22], [1, 1.25, 90]]
)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_many_distances(dtype, edges, device):
    random = np.random.default_rng(len(edges))
    src, dst = random.integers(0, 300, (2, 1200))
    weights = random.integers(0, 30, 1200).astype(dtype) / (1 if dtype == np.int32 else np.asarray(8, dtype))
    graph = mgraph.Graph.from_edges(src, dst, weights.astype(dtype), n=300)
    found = mgraph.distances(graph, reduce=("histogram", edges), device=device).histogram
    rows = mgraph.distances(graph, dtype="float64", device="cpu").distances
    assert found.tolist() == in_bins(rows, edges)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("limit", [None, 60])
def test_many_bins_of_a_hierarchy(dtype, limit, device):
    """Of many even bins or radii a CPU computes a distance's place; radii may come in any order."""
    graph = mgraph.generate.grid(9, 8, weights=(1, 30))
    rows = mgraph.distances(graph, dtype="float64", device="cpu").distances
    rows[rows > (limit or INF)] = INF
    prepared = mgraph.Hierarchy(graph, range(graph.n), dtype=dtype, device=device)
    uneven = np.unique(np.random.default_rng(1).uniform(-5, 300, 99))
    for edges in (np.linspace(0, 200, 101), np.linspace(-9.5, 75.25, 80), uneven):
        radii = edges[edges >= 0][::-1]
        found = prepared.distances(reduce=[("histogram", edges), ("within", radii)], limit=limit)
        assert found.histogram.tolist() == in_bins(rows, edges)
        assert found.within.tolist() == [[int((row <= radius).sum()) for radius in radii] for row in rows]


def pairs_of(rows):
    """The distances of pairs of different vertices with a path."""
    found = rows[~np.eye(len(rows), dtype=bool)]
    return found[np.isfinite(found)]


@pytest.mark.parametrize("seeds", [range(10), *exhaustive(range(10, 40), range(40, 70))], ids=str)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [None, np.int32, np.float64])
def test_whole_graphs(dtype, directed, device, seeds):
    for seed in seeds:
        graph, rows = random_graph(seed, dtype, directed)
        pairs, n = pairs_of(rows), graph.n
        found = mgraph.distance_histogram(graph, device=device)
        assert found.plan.n == n and found.pairs == len(pairs) == found.counts.sum()
        assert found.counts.tolist() == np.histogram(pairs, found.edges)[0].tolist()
        if dtype is None:
            assert found.edges.tolist() == [*range(len(found.counts) + 1)]
        assert len(found.counts) <= 128 and not (len(pairs) and found.counts[-1] == 0)
        np.testing.assert_allclose(found.mean, pairs.mean() if len(pairs) else np.nan)
        efficiency = (1 / pairs).sum() / (n * (n - 1)) if n > 1 else np.nan
        np.testing.assert_allclose(found.efficiency, efficiency)
        own = mgraph.distance_histogram(graph, [0, 1, 2, 5, INF], device=device)
        assert own.counts.tolist() == np.histogram(pairs, [0, 1, 2, 5, 1e9])[0].tolist()
        assert own.pairs == len(pairs) and own.mean == pytest.approx(found.mean, nan_ok=True)
        assert found.to_pandas()["pairs"].sum() == len(pairs)
        for each in (found, own, mgraph.distance_histogram(graph, weight=False, device=device)):
            each.verify()


@pytest.mark.parametrize("method", ["bfs", "hierarchy", "blocked"])
def test_effective_diameter(method):
    for seed in range(8):
        graph, rows = random_graph(seed, None, False)
        hops = np.sort(pairs_of(rows))
        found = mgraph.distance_histogram(graph, method=method, device="cpu")
        for share in (0.1, 0.5, 0.9, 1):
            expected = np.nan
            if len(hops):
                hop = next(h for h in range(1, 99) if (hops <= h).sum() >= share * len(hops))
                before, within = (hops <= hop - 1).sum(), (hops <= hop).sum()
                expected = hop - 1 + (share * len(hops) - before) / (within - before)
            assert found.effective_diameter(share) == pytest.approx(expected, nan_ok=True)


def test_edges_grow_with_the_distances():
    # The vertices that are tried first are alone; a path is much longer than what they reach.
    n, length = 1000, 400
    path = np.flatnonzero(~np.isin(np.arange(n), np.linspace(0, n - 1, 64).astype(int)))[:length]
    for weights, far in (
        (None, length - 1),
        (np.full(length - 1, 3), 3 * (length - 1)),
        (np.full(length - 1, 0.7), None),
    ):
        graph = mgraph.Graph.from_edges(path[:-1], path[1:], weights, n=n)
        found = mgraph.distance_histogram(graph, device="cpu")
        assert found.pairs == length * (length - 1) // 2 == found.counts.sum()
        if far is not None:
            assert found.effective_diameter(1) == far or weights is not None


def test_lengths_between_edges():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4.0, 4.0])
    found = mgraph.distance_histogram(graph, [0, 4, 8, 12], device="cpu")
    assert found.counts.tolist() == [0, 2, 1]
    assert found.effective_diameter(0.5) == 4 + 4 * 1.5 / 2 and found.effective_diameter(1) == 12
    assert mgraph.distance_histogram(graph, [0, 4, INF], device="cpu").effective_diameter(1) == INF
    with pytest.raises(InputError, match=r"1 of 3 pairs are in no bin.*bins"):
        mgraph.distance_histogram(graph, [0, 5], device="cpu").effective_diameter()
    for share in (0, 1.5):
        with pytest.raises(InputError, match="share must be more than 0, and at most 1"):
            found.effective_diameter(share)


def test_without_weights_and_negative_ones():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [-4, 9])
    assert mgraph.distance_histogram(graph, weight=False, device="cpu").counts.tolist() == [0, 2, 1]
    assert mgraph.distance_histogram(graph, [-5, 0, 9], device="cpu").counts.tolist() == [1, 2]
    with pytest.raises(InputError, match="may be negative: give the edges of the bins"):
        mgraph.distance_histogram(graph, device="cpu")


def test_tiny_graphs():
    for n in (0, 1, 2):
        found = mgraph.distance_histogram(mgraph.Graph.from_edges([], [], n=n), device="cpu")
        assert found.pairs == 0 and found.counts.sum() == 0 and np.isnan(found.mean)
        assert np.isnan(found.effective_diameter()) and (found.efficiency == 0 or n < 2)


@pytest.mark.parametrize("weights", [None, (1, 9)])
@pytest.mark.parametrize("method", ["auto", "hierarchy"])
def test_predicted_peak_is_the_measured_one(method, weights):
    graph = mgraph.generate.grid(70, 70, weights=weights)
    mgraph.distance_histogram(graph, method=method, device="cpu")
    graph.release()
    found, peak = measured(lambda: mgraph.distance_histogram(graph, method=method, device="cpu"))
    predicted = found.plan.peak_bytes[0] - found.plan.devices[0].held
    least = 0.9 if weights is None or method == "auto" else 0.5  # a hierarchy takes most while it is prepared
    assert least * predicted < peak < 1.01 * predicted


def test_blocks_of_sources_take_their_memory_in_turn(monkeypatch):
    graph = mgraph.generate.grid(40, 40, weights=None)
    whole, at_once = measured(lambda: mgraph.distance_histogram(graph, device="cpu"))
    monkeypatch.setattr(module, "CELLS", 1 << 15)
    parts, in_turn = measured(lambda: mgraph.distance_histogram(graph, device="cpu"))
    assert parts.plan.detail.sources < graph.n // 4 and parts.counts.tolist() == whole.counts.tolist()
    predicted = parts.plan.peak_bytes[0] - parts.plan.devices[0].held
    assert in_turn < at_once / 4 and in_turn < 1.1 * predicted


@pytest.mark.parametrize("method", ["auto", "bfs", "sssp"])
def test_a_call_that_does_not_fit_is_refused_before_it_begins(method):
    graph = mgraph.generate.grid(60, 60, weights=(1, 9))
    graph.layout("csc")

    def refused():
        with pytest.raises(mgraph.MemoryLimitError, match="distances"):
            mgraph.distance_histogram(graph, method=method, memory_limit=10_000, device="cpu")

    assert measured(refused)[1] < 8 * graph.n * 8  # which is much less than a row of counts for each source


def test_a_plot_draws_shares():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = mgraph.distance_histogram(mgraph.generate.grid(3, 3, weights=None), device="cpu")
    axes = found.plot()
    assert axes.lines[0].get_ydata()[-1] == 1 and axes.get_xlabel() == "distance in edges"
    assert axes.lines[1].get_xdata()[0] == found.effective_diameter()


def test_the_verifier_counts_again():
    graph, _ = random_graph(3, np.int32, True)
    found = mgraph.distance_histogram(graph, [0, 2, 4, INF], device="cpu")
    found.verify()
    for name, wrong in (("pairs", found.pairs + 1), ("mean", found.mean * 1.001), ("efficiency", 0.0)):
        with pytest.raises(VerificationError, match=f"{name} breaks the rule '{name}'"):
            dataclasses.replace(found, **{name: wrong}).verify()
    found.counts[1] += 1
    with pytest.raises(VerificationError, match="bin 1 breaks the rule 'counts'"):
        found.verify()


def test_the_command(tmp_path):
    path, out = tmp_path / "path.txt", tmp_path / "hops.csv"
    path.write_text("0 1 4\n1 2 4\n")
    said = ok("distance-histogram", path, "--device", "cpu", "--unweighted", "--out", out)
    assert "pairs with a path: 3 of 6" in said and "effective diameter: 1.7" in said and "\n2 to 3: 1\n" in said
    assert out.read_text().splitlines() == ["from,to,pairs", "0.0,1.0,0", "1.0,2.0,2", "2.0,3.0,1"]
    told = json.loads(ok("distance-histogram", path, "--weighted", "--device", "cpu", "--bins", "0,5,inf", "--json"))
    assert told["counts"] == [2, 1] and told["connected_pairs"] == 3 and told["mean"] == 16 / 3
    wrong = failed(invoke("distance-histogram", path, "--bins", "0,x"), 1)
    assert "bins must be numbers with commas between them, got '0,x'" in wrong
    assert "it is mgraph distance-histogram" in misused(invoke("hop-plot", path))


def test_the_command_of_a_hierarchy(tmp_path):
    graph = mgraph.generate.grid(6, 5, weights=(1, 9))
    mgraph.Hierarchy(graph, range(graph.n), device="cpu").save(tmp_path / "grid.npz")
    told = json.loads(ok("distance-histogram", "--hierarchy", tmp_path / "grid.npz", "--device", "cpu", "--json"))
    assert told["counts"] == mgraph.distance_histogram(graph, device="cpu").counts.tolist()
