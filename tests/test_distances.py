"""Distances from many sources to many targets: against SciPy's Dijkstra, and measures of them against NetworkX."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mgraph
from mgraph import InputError, MemoryLimitError, VerificationError
from mgraph import device as devices
from mgraph.algorithms import batched_sssp
from mgraph.algorithms.distances import row_sinks
from mgraph.algorithms.distances.plan import planned
from mgraph.graph import potentials
from mgraph.planning.shape import Shape, shape_of
from tests.support.questions import MEASURES, questions
from tests.support.references import as_floats, as_networkx, shortest_distances

nx = pytest.importorskip("networkx")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("limit", [None, 0, 2])
@pytest.mark.parametrize("targets", [None, [7, 3, 7, 150, 42]])
def test_measures_without_weights_are_those_of_rows(directed, limit, targets, device):
    chance = np.random.default_rng(5)
    ends = chance.integers(0, 200, (2, 420))
    graph = mgraph.Graph.from_edges(*ends, n=200, directed=directed)
    sources = chance.integers(0, 200, 150)  # more than two words of searches, and some twice
    found = mgraph.distances(graph, sources, targets, limit=limit, reduce=MEASURES, device=device)
    columns = np.arange(200) if targets is None else np.unique(targets)
    rows = shortest_distances(graph, sources, np.inf if limit is None else limit)[:, columns]
    reached = np.isfinite(rows)
    others = reached.sum(axis=1) - np.isin(sources, columns)
    total = np.where(reached, rows, 0).sum(axis=1)
    assert np.array_equal(found.reached, reached.sum(axis=1))
    assert np.array_equal(as_floats(found.eccentricity), rows.max(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.array_equal(found.mean, total / others, equal_nan=True)
        inverse = np.where(reached & (rows > 0), 1 / rows, 0).sum(axis=1)
    assert np.allclose(found.out_harmonic, inverse, rtol=1e-12)
    assert np.array_equal(found.within, np.stack([(rows <= radius).sum(axis=1) for radius in (0, 3, 40.5)], axis=1))
    found.verify()


def roads(n=30, seed=0, weights=(1, 9)):
    return mgraph.generate.grid(n, n, weights=weights, seed=seed, device="cpu")


def check(question, device):
    graph, dtype, sources, targets, limit = question
    result = mgraph.distances(graph, sources, targets, limit=limit, dtype=dtype, predecessors=True, device=device)
    starts = np.arange(graph.n) if sources is None else np.array(sources)
    ends = np.arange(graph.n) if targets is None else np.array(targets)
    rows = shortest_distances(graph, starts, np.inf if limit is None else limit)
    assert result.distances.dtype == dtype and result.sources.tolist() == starts.tolist()
    assert np.array_equal(as_floats(result.distances), rows[:, ends])
    if graph.nonnegative:
        there = np.isfinite(rows[:, ends]) & (ends != starts[:, None])
        assert np.array_equal(result.predecessors >= 0, there)
    apsp = mgraph.apsp(
        graph, method="sssp" if graph.nonnegative else "johnson", dtype=dtype, predecessors=True, device=device
    )
    within = np.isfinite(rows[:, ends])
    assert np.array_equal(result.predecessors[within], apsp.predecessors[starts[:, None], ends][within])


@given(questions())
def test_small_graphs(device, question):
    check(question, device)


@given(questions(), st.sampled_from([1, 3, 20, 1000]))
def test_nearest_targets(question, nearest):
    graph, dtype, sources, targets, limit = question
    found = mgraph.distances(graph, sources, targets, limit=limit, nearest=nearest, dtype=dtype, device="cpu")
    starts = np.arange(graph.n) if sources is None else np.array(sources)
    ends = np.unique(np.arange(graph.n) if targets is None else targets)
    rows = shortest_distances(graph, starts, np.inf if limit is None else limit)
    width = min(nearest, len(ends))
    assert found.nearest.shape == found.distances.shape == (len(starts), width)
    for i, row in enumerate(rows):
        order = ends[np.lexsort((ends, row[ends]))][:width]
        assert np.array_equal(as_floats(found.distances[i]), row[order])
        assert np.array_equal(found.nearest[i], np.where(np.isfinite(row[order]), order, -9999))


def test_nearest_on_this_device(device):
    graph = roads()
    for count in (5, 40):
        found = mgraph.distances(graph, range(0, 900, 7), range(0, 900, 2), nearest=count, limit=12, device=device)
        rows = shortest_distances(graph, np.arange(0, 900, 7), 12)[:, ::2]
        order = np.argsort(rows, axis=1, kind="stable")[:, :count]
        lengths = np.take_along_axis(rows, order, axis=1)
        assert np.array_equal(as_floats(found.distances), lengths)
        assert np.array_equal(found.nearest, np.where(np.isfinite(lengths), 2 * order, -9999))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
@pytest.mark.parametrize("edges", [60, 400])
def test_measures_against_networkx(edges, weights, directed, device):
    random = np.random.default_rng(edges)
    n = 90
    lengths = None if weights is None else random.integers(0, 20, edges).astype(weights)
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, edges)), lengths, n=n, directed=directed)
    found = mgraph.distances(graph, reduce=MEASURES, device=device)
    there = as_networkx(graph)
    lengths = dict(nx.all_pairs_dijkstra_path_length(there))
    reverse = there.reverse() if directed else there
    closeness, harmonic = (
        nx.closeness_centrality(reverse, distance="weight"),
        nx.harmonic_centrality(reverse, distance="weight"),
    )
    for v in range(n):
        others = [d for u, d in lengths[v].items() if u != v]
        greatest = max(lengths[v].values()) if len(lengths[v]) == n else np.inf
        assert as_floats(found.eccentricity)[v] == greatest
        assert found.mean[v] == pytest.approx(np.mean(others) if others else np.nan, nan_ok=True)
        assert found.out_closeness[v] == pytest.approx(closeness[v])
        assert found.out_harmonic[v] == pytest.approx(harmonic[v])
        assert found.reached[v] == len(lengths[v])
        assert found.within[v].tolist() == [sum(d <= r for d in lengths[v].values()) for r in (0, 3, 40.5)]
    found.verify(graph, rows=None)


def test_measures_of_targets():
    # 0 -> 1 -> 2, and 3 alone; a repeated target counts once.
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [2, 3], n=4)
    found = mgraph.distances(graph, [0, 3], [2, 1, 2, 0], reduce=MEASURES, device="cpu")
    assert found.targets.tolist() == [0, 1, 2] and found.distances is None
    assert found.eccentricity.tolist() == [5, np.inf] and found.reached.tolist() == [3, 0]
    assert found.mean[0] == 3.5 and np.isnan(found.mean[1])
    assert found.out_closeness.tolist() == [2 / 7, 0] and found.out_harmonic.tolist() == [1 / 2 + 1 / 5, 0]
    assert found.within.tolist() == [[1, 2, 3], [0, 0, 0]]
    assert mgraph.distances(graph, [0], reduce="mean", limit=2, device="cpu").mean.tolist() == [2]


def test_sums_of_64_bits(device):
    graph = mgraph.Graph.from_edges(np.zeros(9, int), np.arange(1, 10), np.full(9, 2**28))
    found = mgraph.distances(graph, [0], reduce=["mean", "out_closeness"], device=device)
    assert found.mean.tolist() == [2**28] and found.out_closeness.tolist() == [2.0**-28]


def test_batches(monkeypatch, device):
    # Several batches, the last one shorter; measured a few rows at a time.
    for name in ("host", "cuda"):
        module = __import__(f"mgraph.kernels.sssp_many.{name}", fromlist=["batch_size"])
        monkeypatch.setattr(module, "batch_size", lambda n, itemsize: 64)
    monkeypatch.setattr(row_sinks, "AT_A_TIME", {"cpu": 5000, "cuda": 5000})
    graph = roads(20)
    sources = np.random.default_rng(1).integers(0, 400, 150)
    rows = shortest_distances(graph, sources)
    result = mgraph.distances(graph, sources, device=device)
    assert result.plan.steps == 3 and np.array_equal(result.distances, rows)
    assert np.array_equal(mgraph.distances(graph, sources, [9, 3], device=device).distances, rows[:, [9, 3]])
    measured = mgraph.distances(graph, sources, reduce="eccentricity", device=device)
    assert np.array_equal(measured.eccentricity, rows.max(axis=1))


def test_progress_and_spans():
    seen = []
    mgraph.distances(roads(9), span=1, progress=lambda *now: seen.append(now), device="cpu")
    assert seen[-1] == (1, 1)


def test_a_graph_without_vertices():
    for weights in (None, []):
        empty = mgraph.Graph.from_edges([], [], weights)
        result = mgraph.distances(empty, device="cpu")
        assert result.distances.shape == (0, 0)
        assert mgraph.distances(empty, reduce=MEASURES, device="cpu").within.shape == (0, 3)
        result.verify(empty)
        assert mgraph.distances(empty, out=np.empty((0, 0)), device="cpu").distances.shape == (0, 0)
        assert [block.distances.shape for block in mgraph.distance_blocks(empty, device="cpu")] == [(0, 0)]


def test_a_single_vertex():
    alone = mgraph.Graph.from_edges([], [], n=1)
    found = mgraph.distances(alone, reduce=MEASURES, device="cpu")
    assert found.eccentricity.tolist() == [0] and np.isnan(found.mean[0]) and found.reached.tolist() == [1]
    assert found.out_closeness.tolist() == found.out_harmonic.tolist() == [0] and found.within.tolist() == [[1, 1, 1]]


def test_negative_weights():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [5, -3, 4])
    result = mgraph.distances(graph, [0, 1], limit=4, device="cpu")
    assert result.plan.method == "johnson"
    assert as_floats(result.distances).tolist() == [[0, np.inf, 2, np.inf], [np.inf, 0, -3, 1]]
    with pytest.raises(InputError, match="requires non-negative weights; the least is -3"):
        mgraph.distances(graph, method="sssp", device="cpu")
    with pytest.raises(mgraph.NegativeCycleError):
        mgraph.distances(mgraph.Graph.from_edges([0, 1], [1, 0], [1, -2]), device="cpu")


@pytest.mark.parametrize("method", ["auto", "johnson", "blocked", "hierarchy"])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_negative_cycle_counts_if_a_source_reaches_it(method, dtype):
    def searched(sources, from_targets=False, **options):
        src, dst = [0, 2, 3, 2, 4], [1, 3, 2, 1, 5]
        ends = (dst, src) if from_targets else (src, dst)
        graph = mgraph.Graph.from_edges(*ends, np.array([1, -3, 2, 7, -1], dtype))
        return mgraph.distances(graph, sources, method=method, reverse=from_targets, device="cpu", **options)

    for from_targets in (False, True):
        found = searched([0, 4, 0], from_targets)
        row = [0, 1, *[np.inf] * 4]
        assert as_floats(found.distances).tolist() == [row, [*[np.inf] * 4, 0, -1], row]
        assert searched([4, 0], from_targets, targets=[1]).distances.tolist()[1] == [1]
        assert searched([0, 4], from_targets, nearest=1).nearest.tolist() == [[0], [5]]
        assert searched([4, 0], from_targets, reduce="reached").reached.tolist() == [2, 2]
        assert searched([0], from_targets, limit=0.5 if dtype == np.float64 else 0).distances[0, 0] == 0
        for sources in ([3], [0, 2], None):
            with pytest.raises(mgraph.NegativeCycleError) as caught:
                searched(sources, from_targets)
            assert caught.value.vertex in (2, 3)
    if method != "blocked":
        assert searched([0], predecessors=True).path(0, 1) == [0, 1]


def test_a_vertex_beyond_the_limit_has_no_path():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [5, -3, 4])
    result = mgraph.distances(graph, [0], limit=4, predecessors=True, device="cpu")
    assert result.path(0, 1) == result.path(0, 3) == [] and result.path(0, 2) == [0, 1, 2]


@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
def test_radii_are_compared_exactly(method):
    graph = mgraph.Graph.from_edges(
        [0, 1], [1, 0], np.array([0.1, 0.75], np.float32)
    )  # 0.1 in float32 is more than 0.1
    result = mgraph.distances(graph, reduce=("within", [0.1, 0.75, 1e300]), method=method, device="cpu")
    assert result.within.tolist() == [[1, 2, 2], [1, 2, 2]]
    result.verify(graph)


def test_original_ids(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("70 500 2\n500 12 3\n")
    graph = mgraph.read(path, relabel=True)
    found = mgraph.distances(graph, [500, 70], [12], ids=True, device="cpu")
    assert (found.sources.tolist(), found.targets.tolist(), found.distances.tolist()) == ([500, 70], [12], [[3], [5]])
    assert found.to_pandas().values.tolist() == [[500, 12, 3], [70, 12, 5]]
    with pytest.raises(InputError, match="targets must be an id of the graph, got 13"):
        mgraph.distances(graph, [500], [12, 13], ids=True, device="cpu")
    with pytest.raises(InputError, match="ids=True needs a graph with ids"):
        mgraph.distances(roads(3), ids=True, device="cpu")


def test_paths():
    graph = mgraph.generate.grid(1, 5, device="cpu")
    result = mgraph.distances(graph, [3, 1], predecessors=True, device="cpu")
    assert result.path(3, 0) == [3, 2, 1, 0] and result.path(1, 1) == [1]
    with pytest.raises(InputError, match="source=2 is not among the 2 sources"):
        result.path(2, 0)
    for options in ({}, {"predecessors": True}):
        with pytest.raises(
            InputError, match=r"=True\) without targets=, or find one path by mgraph.sssp\(..., target="
        ):
            mgraph.distances(graph, [3], [0], **options, device="cpu").path(3, 0)
    with pytest.raises(InputError, match="without nearest=, or find"):
        mgraph.distances(graph, [3], nearest=1, device="cpu").path(3, 0)


def test_dataframes():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [2, 3])
    frame = mgraph.distances(graph, [1, 0], nearest=2, device="cpu").to_pandas()
    assert frame.values.tolist() == [[1, 1, 0], [1, 2, 3], [0, 0, 0], [0, 1, 2]]
    assert list(frame.columns) == ["source", "target", "distances"]
    frame = mgraph.distances(graph, [1, 0], reduce=["reached", ("within", [1, 2.5])], device="cpu").to_pandas()
    assert list(frame.columns) == ["reached", "within 1", "within 2.5"] and frame.index.tolist() == [1, 0]
    assert frame.values.tolist() == [[2, 1, 1], [3, 1, 2]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sources": []}, "sources must be a sequence of one vertex or more"),
        ({"sources": [9]}, r"sources must be an integer in \[0, 9\), got 9"),
        ({"sources": np.array([0, -1])}, r"sources must be an integer in \[0, 9\), got"),
        ({"sources": [0.5]}, "sources must be an integer"),
        ({"sources": 3}, "sources must be a sequence of vertices, got 3"),
        ({"sources": SimpleNamespace(__array_interface__={})}, "sources must be a sequence of vertices, got"),
        ({"targets": [2, 12]}, r"targets must be an integer in \[0, 9\), got"),
        ({"nearest": 0}, "nearest must be an integer of 1 or more, got 0"),
        ({"limit": -1}, "limit must be a number of 0 or more, got -1"),
        ({"reduce": "radius"}, "reduce must be 'eccentricity'"),
        ({"reduce": []}, "'within' with radii or 'histogram' with the edges of bins, or several"),
        ({"reduce": ["mean", ("within", [])]}, "reduce must be 'within' with one radius or more"),
        ({"reduce": ("within", ["far"])}, "'within' with radii that are numbers of 0 or more, got 'far'"),
        ({"reduce": "mean", "nearest": 2}, "reduce='mean' keeps no distances: leave out nearest=2"),
        ({"reduce": "mean", "predecessors": True}, "leave out predecessors=True"),
        ({"dtype": "int16"}, "dtype must be float32, float64 or int32, got 'int16'"),
        ({"method": "fast"}, "method must be 'auto', 'sssp', 'johnson', 'bfs', 'blocked' or 'hierarchy', got 'fast'"),
    ],
)
def test_what_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        mgraph.distances(roads(3), device="cpu", **options)


def test_verification():
    graph = roads(6)
    for options in ({}, {"targets": [4, 1]}, {"nearest": 3}, {"reduce": MEASURES}, {"limit": 9, "targets": [3]}):
        result = mgraph.distances(graph, [0, 7, 30], device="cpu", **options)
        result.verify()
        name, array = next(iter(result.arrays.items()))
        array[2] += 1
        with pytest.raises(VerificationError):
            result.verify(graph)
            pytest.fail(f"wrong {name} are accepted")


@pytest.mark.parametrize("options", [{}, {"targets": [3, 1]}, {"nearest": 4}, {"targets": [3], "sparse": True}])
@pytest.mark.parametrize("method", ["sssp", "johnson", "blocked", "hierarchy"])
def test_integers_are_verified_exactly(options, method):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.full(3, 260_000_000))
    result = mgraph.distances(graph, [0, 1], method=method, device="cpu", **options)
    result.verify(graph)
    distances = result.distances.data if "sparse" in options else result.distances
    distances[distances == 780_000_000] += 1
    with pytest.raises(VerificationError, match=r"source 0|vertex 3"):
        result.verify(graph)


def test_plans():
    gpu = mgraph.DeviceSpec("cuda:0", "cuda", 16 << 30)
    few = mgraph.plan("distances", 10**6, 10**7, [gpu], sources=10**5, reduce="mean")
    assert max(few.peak_bytes) < 16 << 30 and few.detail.batch < few.detail.sources and not few.host_bytes
    assert "measures of rows of distances float32" in few.explain(
        verbose=True
    ) and "cuda:0: sources 0 to 99,999" in few.explain(True)
    small = mgraph.plan(
        "distances", 10**6, 10**7, [gpu], sources=10**5, reduce="mean", memory_limit=max(few.peak_bytes) - 1
    )
    assert small.detail.batch < few.detail.batch and max(small.peak_bytes) < max(few.peak_bytes)
    chosen = mgraph.plan("distances", 10**6, 10**7, [gpu], sources=1000, targets=50)
    assert chosen.detail.columns == 50 and chosen.host_bytes == 1000 * 50 * 4
    assert mgraph.plan("distances", 10**4, 10**5, "cpu", targets=50, nearest=7).detail.columns == 7
    with pytest.raises(MemoryLimitError, match=r"take fewer of the sources= at a time, or only some targets$"):
        mgraph.plan("distances", 10**7, 10**8, "cpu")


def graph_with(weights):
    """A directed graph without negative cycles, of a kind of weights."""
    chance = np.random.default_rng(8)
    src, dst = chance.integers(0, 300, (2, 1100))
    shift = chance.integers(0, 40, 300)
    values = {
        "integers": chance.integers(0, 50, len(src)),
        "negative": chance.integers(0, 50, len(src)) + shift[src] - shift[dst],
        "whole floats": chance.integers(0, 50, len(src)).astype(np.float32),
        "fractions": chance.random(len(src)),
        "none": None,
    }[weights]
    return mgraph.Graph.from_edges(src, dst, values, n=300)


@pytest.fixture
def eager(monkeypatch):
    """Whatever is predicted faster is taken, by however little."""
    monkeypatch.setattr("mgraph.algorithms.distances.plan.ADVANTAGE", 1.0)
    monkeypatch.setattr("mgraph.algorithms.distances.plan.WORTH", 0.0)
    monkeypatch.setattr("mgraph.algorithms.distances.plan.ALIKE", 0.0)
    monkeypatch.setattr("mgraph.algorithms.distances.plan.MATRIX", 0)  # a GPU would take all pairs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 60},
        {"nearest": 2},
        {"nearest": 20, "limit": 60},
        {"reduce": MEASURES},
        {"reduce": [("within", [3, 90])], "limit": 60},
        {"reverse": True, "nearest": 3},
    ],
)
@pytest.mark.parametrize("weights", ["integers", "negative", "whole floats", "none"])
def test_few_targets_are_searched_from(weights, options, eager, device):
    graph, method = graph_with(weights), {"none": "bfs", "negative": "johnson"}.get(weights, "sssp")
    for sources in (None, np.random.default_rng(9).integers(0, 300, 200)):  # some of them twice
        asked = {"targets": [17, 260, 17, 4, 99, 230, 231], "device": device, **options}
        found = mgraph.distances(graph, sources, **asked)
        assert found.plan.detail.from_targets == (7 if "nearest" not in options and "reduce" not in options else 6)
        assert "searched from the targets, against the edges: " in found.plan.explain(True)
        expected = mgraph.distances(graph, sources, method=method, **asked)
        assert not expected.plan.detail.from_targets and list(found.arrays) == list(expected.arrays)
        for name, array in expected.arrays.items():
            assert found.arrays[name].dtype == array.dtype
            if name == "out_harmonic":  # levels are added in another order
                assert np.allclose(found.out_harmonic, array, rtol=1e-12)
            else:
                assert np.array_equal(found.arrays[name], array, equal_nan=array.dtype.kind == "f"), name
        assert repr(found) != "" and np.array_equal(found.targets, expected.targets)
        if weights != "negative" or "limit" not in options:
            found.verify()


def test_targets_are_not_searched_from_where_the_result_may_differ(eager):
    few = {"targets": [5, 9], "device": "cpu"}
    fractions, whole = graph_with("fractions"), graph_with("integers")
    for graph, options in (
        (fractions, {}),
        (whole, {"predecessors": True}),
        (whole, {"sparse": True}),
        (whole, {"sources": [3]}),
        (whole, {"method": "sssp"}),
    ):
        found = mgraph.distances(graph, **few, **options)
        assert not found.plan.detail.from_targets and "searched from the targets" not in found.plan.explain(True)
    assert "reverse=True searches from the targets" in mgraph.distances(fractions, **few).plan.explain(True)


def test_a_plan_from_targets_counts_what_is_kept_of_them():
    asked = {"weighted": False, "sources": 10**5, "reduce": "mean"}
    chosen, other = (mgraph.plan("distances", 10**5, 10**6, "cpu", targets=t, **asked) for t in (400, 10**5))
    assert chosen.detail.from_targets == 400 and not other.detail.from_targets and chosen.seconds < other.seconds
    assert max(chosen.peak_bytes) > 400 * 10**5 * 4
    asked["memory_limit"] = max(chosen.peak_bytes) // 2
    assert not mgraph.plan("distances", 10**5, 10**6, "cpu", targets=400, **asked).detail.from_targets


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_few_targets_of_roads_are_searched_from(kind, weighted):
    # Milliseconds are worth it, as the searches are the same, only fewer.
    spec = mgraph.DeviceSpec(kind, kind, 64 << 30, 16) if kind == "cpu" else mgraph.DeviceSpec(kind, kind, 140 << 30)
    asked = {"weighted": weighted, "sources": 10_000, "shape": Shape(0.0, 700.0), "exact": True}
    few, all_of_them = (planned(264_346, 730_100, (spec,), targets=t, **asked) for t in (10, None))
    assert few.detail.from_targets == 10 and few.method == all_of_them.method
    assert not all_of_them.detail.from_targets and 2 * few.seconds < all_of_them.seconds < 600


@pytest.mark.parametrize("method", ["sssp", "hierarchy"])
def test_memory_is_a_batch(device, method):
    graph = roads(100)
    options = {"targets": range(0, 10_000, 2), "device": device, "method": method}
    peaks = (max(mgraph.distances(graph, range(k), **options).plan.peak_bytes) for k in (2048, 4096))
    element = 4 if device == "cpu" else 0  # of the result, which a CPU's peak contains
    few, many = (peak - element * k * 5000 for peak, k in zip(peaks, (2048, 4096), strict=True))
    assert 0 < many < few * (1.1 if device == "cpu" else 4)


@pytest.mark.parametrize("words", [None, 0, 1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_distances_in_edges(dtype, words, device, monkeypatch):
    # By words of any number and by queues; of a graph whose weights do not matter.
    if words is not None:
        if device == "cuda" and not words:
            pytest.skip("a GPU has no queues")
        monkeypatch.setattr("mgraph.algorithms.distances.plan.words_for", lambda batch, kind: words)
        fast = lambda n, m, sources, words, spec, shape: float(words == 0)  # noqa: E731
        monkeypatch.setattr("mgraph.algorithms.distances.plan.levels_seconds", fast)
    random = np.random.default_rng(5)
    graph = mgraph.Graph.from_edges(*random.integers(0, 500, (2, 900)), random.integers(-9, 0, 900), n=500)
    sources = random.integers(0, 500, 150)
    for limit in (None, 0, 3, 4.5):
        found = mgraph.distances(
            graph, sources, limit=limit, method="bfs", dtype=dtype, predecessors=True, device=device
        )
        expected = shortest_distances(graph.unweighted(), sources, np.inf if limit is None else limit)
        assert found.distances.dtype == dtype and np.array_equal(as_floats(found.distances), expected)
        same = mgraph.distances(
            graph.unweighted(), sources, limit=limit, method="sssp", predecessors=True, device=device
        )
        assert np.array_equal(found.predecessors, same.predecessors)
        found.verify(graph)


@pytest.fixture(params=[0.0, np.inf], ids=["apart", "together"])
def apart(request, monkeypatch):
    """Whether each source is searched from by itself, whatever takes less time."""
    monkeypatch.setattr("mgraph.algorithms.distances.plan.apart_seconds", lambda *facts: request.param)
    return request.param == 0


@given(question=questions())
def test_sources_by_themselves_and_together(question, apart):
    check(question, "cpu")


def test_a_plan_says_whether_sources_are_searched_from_by_themselves(apart):
    graph = roads(40)
    sources = np.random.default_rng(1).integers(0, graph.n, 200)
    found = mgraph.distances(graph, sources, limit=50, device="cpu")
    assert np.array_equal(as_floats(found.distances), shortest_distances(graph, sources, 50))
    assert found.plan.detail.apart == apart == ("each searched from by itself" in found.plan.explain(True))


def test_sources_that_are_few_or_far_apart_are_searched_from_by_themselves():
    cpu = mgraph.DeviceSpec("cpu", "cpu", 1 << 40, cores=2)
    few, many = (mgraph.plan("distances", 10**6, 10**7, [cpu], sources=k, targets=9) for k in (3, 5000))
    assert few.detail.apart and not many.detail.apart
    network = Shape(far=0.0, levels=1000.0)
    scattered = mgraph.plan("distances", 10**6, 3 * 10**6, [cpu], sources=5000, targets=9, shape=network)
    dense = mgraph.plan("distances", 10**6, 3 * 10**6, [cpu], sources=10**6, targets=9, shape=network)
    assert scattered.detail.apart and not dense.detail.apart
    together = mgraph.plan("distances", 10**6, 3 * 10**6, [cpu], sources=10**6, targets=9)
    assert scattered.seconds / 5000 < 2 * together.seconds / 10**6
    gpu = mgraph.DeviceSpec("a GPU", "cuda", 1 << 40)
    near, far = (
        mgraph.plan("distances", 10**6, 4 * 10**6, [gpu], sources=1000, targets=9, shape=Shape(0.0, levels))
        for levels in (8.0, 1000.0)
    )
    assert far.seconds > 20 * near.seconds and near.method == far.method == "sssp"


def test_the_shape_of_a_graph(device):
    xp = mgraph.device.find(device).xp
    for graph, least, most in ((mgraph.generate.grid(300, 300), 200, 900), (mgraph.generate.rmat(14), 3, 12)):
        found = shape_of(*map(xp.asarray, graph.adjacency("csr")))
        assert found == shape_of(*graph.adjacency("csr")) and least < found.levels < most


def test_predicted_sweeps():
    cpu, gpu = mgraph.DeviceSpec("cpu", "cpu", 1 << 40, cores=4), mgraph.DeviceSpec("a GPU", "cuda", 1 << 40)

    def seconds(device, sources, reduce, n=10**6):
        asked = {"sources": sources, "reduce": reduce, "method": "hierarchy"}
        return mgraph.plan("distances", n, 3 * n, [device], **asked).seconds

    for device in (cpu, gpu):
        assert seconds(device, 4096, "eccentricity") < seconds(device, 4096, ["eccentricity", "mean", "out_harmonic"])
        assert seconds(device, 32, "mean") < seconds(device, 4096, "mean") < 128 * seconds(device, 32, "mean")
    assert seconds(cpu, 128, "mean") == seconds(cpu, 512, "mean")  # each core takes 128


@pytest.mark.gpu
def test_a_sparse_matrix_of_a_graph_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    src, dst, weights = (cupy.asarray(part) for part in roads().coo())
    for dtype, module in (("float32", "cupyx"), ("int32", "scipy")):
        graph = mgraph.Graph.from_edges(src, dst, weights, n=900)
        found = mgraph.distances(graph, [5, 7], limit=9, sparse=True, dtype=dtype)
        assert type(found.distances).__module__.startswith(module)
        expected = shortest_distances(roads(), [5, 7], 9)
        rows = found.distances.toarray()
        there = np.isfinite(expected)
        assert np.array_equal(mgraph.device.to_host(rows)[there], expected[there])
        assert len(found.to_pandas()) == there.sum()


@pytest.mark.parametrize("targets", [None, [4, 90, 4, 399]])
def test_sparse_matrices(targets, device):
    graph = roads(20)
    sources = [0, 399, 7, 7]
    found = mgraph.distances(graph, sources, targets, limit=9, sparse=True, device=device)
    rows = shortest_distances(graph, sources, 9)[:, slice(None) if targets is None else targets]
    matrix = found.distances
    assert matrix.shape == rows.shape and matrix.nnz == np.isfinite(rows).sum() and matrix.has_sorted_indices
    assert np.array_equal(matrix.toarray(), np.where(np.isfinite(rows), rows, 0))
    assert "a sparse matrix of distances int32 within reach" in found.plan.explain(True)
    frame = found.to_pandas()
    assert len(frame) == matrix.nnz and set(frame["source"]) <= set(sources)
    found.verify(graph)
    nothing = mgraph.distances(mgraph.Graph.from_edges([], [], n=3), [0], [2], sparse=True, device=device).distances
    assert nothing.nnz == 0 and nothing.shape == (1, 1)


def test_blocks_of_sources():
    graph = roads(12)
    whole = mgraph.distances(graph, range(5, 140, 2), [3, 77], device="cpu").distances
    blocks = list(mgraph.distance_blocks(graph, range(5, 140, 2), [3, 77], rows=30, device="cpu"))
    assert [len(block.distances) for block in blocks] == [30, 30, 8]
    assert np.array_equal(np.concatenate([block.distances for block in blocks]), whole)
    assert np.concatenate([block.sources for block in blocks]).tolist() == list(range(5, 140, 2))


@pytest.mark.parametrize("suffix", [".npy", ".zarr", ".parquet", None])
def test_rows_into_files_and_arrays(suffix, tmp_path, monkeypatch):
    if suffix == ".zarr":
        pytest.importorskip("zarr")
    monkeypatch.setattr("mgraph.algorithms.distances.call.BLOCK", 144 * 130)
    graph = roads(12)
    whole = mgraph.distances(graph, device="cpu")
    out = (
        np.memmap(tmp_path / "rows", np.float64, "w+", shape=(144, 144)) if suffix is None else tmp_path / f"d{suffix}"
    )
    found = mgraph.distances(graph, out=out, device="cpu")
    if suffix == ".parquet":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_parquet(found.distances)
        assert frame.equals(whole.to_pandas())
    else:
        assert np.array_equal(found.distances[:], whole.distances)
    assert found.sources.tolist() == list(range(144)) and found.timings["solve"] > 0
    if suffix is not None:
        with pytest.raises(mgraph.OutputExistsError, match="overwrite=True replaces it"):
            mgraph.distances(graph, out=out, device="cpu")
        mgraph.distances(graph, [3], out=out, overwrite=True, device="cpu")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"out": "rows.txt"}, "out must be a file with one of .npy, .zarr, .csv, .csv.gz, .parquet, got 'rows.txt'"),
        ({"out": np.empty((2, 9))}, r"out must be a path, or an array of shape \(9, 9\)"),
        ({"out": "rows.npy", "nearest": 2}, "out= takes distances to all targets: leave out nearest=2"),
        ({"sparse": True, "reduce": "mean"}, "sparse= takes distances to all targets: leave out reduce='mean'"),
        ({"sparse": True, "out": "rows.npy"}, "out= takes distances to all targets: leave out sparse=True"),
    ],
)
def test_what_files_and_sparse_matrices_refuse(options, says):
    with pytest.raises(InputError, match=says):
        mgraph.distances(roads(3), device="cpu", **options)


@pytest.mark.parametrize("method", ["sssp", "johnson", "hierarchy", "blocked"])
def test_a_distance_is_within_a_limit_of_the_same(method):
    """Johnson's algorithm adds float32 in float64, where the sum may be more than the rounded distance."""
    random = np.random.default_rng(6)
    for _ in range(20):
        graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], random.random(3).astype(np.float32))
        order = mgraph.Hierarchy(graph, range(4), device="cpu") if method == "hierarchy" else graph
        [row] = mgraph.distances(order, [0], method=method, device="cpu").distances
        for limit in row[1:].tolist():
            [near] = mgraph.distances(order, [0], method=method, limit=limit, device="cpu").distances
            assert np.array_equal(near, np.where(row <= limit, row, np.inf))
        below = float(np.nextafter(row[3], np.float32(0)))
        assert mgraph.distances(order, [0], method=method, limit=below, device="cpu").distances[0, 3] == np.inf


@pytest.mark.parametrize("method", ["hierarchy", "johnson"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_a_path_returns_from_beyond_the_limit(method, dtype):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([5, -3, 1], dtype))
    found = mgraph.distances(graph, [0], limit=4, predecessors=True, method=method, device="cpu")
    assert found.distances[0, 1] == mgraph.dtypes.infinity(np.dtype(dtype))
    assert found.predecessors.tolist() == [[-9999, 0, 1, 2]] and found.path(0, 3) == [0, 1, 2, 3]


TOO_FAR = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [2**28] * 3)


def test_zarr_appears_whole_or_not_at_all(tmp_path):
    zarr = pytest.importorskip("zarr")
    path, graph = tmp_path / "rows.zarr", mgraph.Graph.from_edges([0], [1], [3.0])
    with pytest.raises(mgraph.DistanceOverflowError):
        mgraph.distances(TOO_FAR, out=path, device="cpu")
    assert list(tmp_path.iterdir()) == []
    found = mgraph.distances(graph, out=path, device="cpu").distances
    assert found[:].tolist() == [[0, 3], [np.inf, 0]]
    with pytest.raises(mgraph.DistanceOverflowError):
        mgraph.distances(TOO_FAR, out=path, overwrite=True, device="cpu")
    assert zarr.open_array(path, mode="r")[:].tolist() == [[0, 3], [np.inf, 0]]
    mgraph.distances(graph, [1], out=path, overwrite=True, device="cpu")
    assert zarr.open_array(path, mode="r")[:].tolist() == [[np.inf, 0]] and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("theirs", [np.int16, np.int64, np.float32, bool])
def test_an_array_of_another_type_is_refused(theirs):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [40000, 7])
    with pytest.raises(mgraph.InputError, match="out must be an array of int32 or float64"):
        mgraph.distances(graph, out=np.zeros((3, 3), theirs), device="cpu")


class LooksLarger(np.ndarray):
    @property
    def shape(self):
        return 9, 9


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.lib.stride_tricks.as_strided(np.zeros(9), (9, 9), (0, 8)), "has elements that share memory"),
        (np.lib.stride_tricks.as_strided(np.zeros(99), (9, 9), (8, 8)), "has elements that share memory"),
        (np.lib.stride_tricks.as_strided(np.zeros(99), (9, 9), (64, 8)), "has elements that share memory"),
        (np.ma.masked_all((9, 9), np.float64), "has a mask"),
        (np.zeros((1, 1)).view(LooksLarger), r"out must be a path, or an array of shape \(9, 9\)"),
    ],
)
def test_arrays_that_are_not_what_they_seem(out, says):
    with pytest.raises(InputError, match=says):
        mgraph.distances(roads(3), out=out, device="cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("there", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_into_an_array_on_a_gpu(there, dtype, monkeypatch):
    monkeypatch.setattr("mgraph.algorithms.distances.call.BLOCK", 144 * 130)
    graph, xp = roads(12), devices.find("cuda").xp
    out = xp.full((144, 144), -1, dtype)
    if graph.weights_dtype != dtype:
        graph = graph.with_weights(graph.coo().weights.astype(dtype))
    assert mgraph.distances(graph, out=out, device=there).distances is out
    assert np.array_equal(out.get(), mgraph.distances(graph, device="cpu").distances)


def test_strided_arrays_are_written_to():
    graph, whole = roads(3), np.zeros((9, 20))
    for out in (whole[:, 1:19:2], whole[::-1, :9], np.zeros((9, 9)).T, np.zeros((9, 9)).view(np.matrix)):
        assert mgraph.distances(graph, out=out, device="cpu").distances is out
        assert np.array_equal(out, mgraph.distances(graph, device="cpu").distances)


@pytest.mark.parametrize("theirs", ["f8", ">f8"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_an_array_of_float64_is_infinite_where_there_is_no_path(dtype, theirs):
    graph, out = mgraph.Graph.from_edges([0], [1], np.array([7], dtype)), np.zeros((2, 2), theirs)
    assert mgraph.distances(graph, out=out, device="cpu").distances is out
    assert out.tolist() == [[0, 7], [np.inf, 0]]


def test_a_result_in_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    graph = mgraph.Graph.from_edges([0], [1], [7])
    found = mgraph.distances(graph, out=tmp_path / "pairs.parquet", device="cpu")
    assert repr(found).startswith("<DistancesResult") and found.arrays == {}
    assert found.to_pandas().to_numpy().tolist() == [[0, 0, 0], [0, 1, 7], [1, 1, 0]]
    with pytest.raises(mgraph.InputError, match="the distances are pairs in"):
        found.verify(graph)
    for name in ("other.npz", "other.npy"):
        with pytest.raises(mgraph.InputError, match="the result has no array"):
            found.save(tmp_path / name)


def test_blocks_are_not_written():
    with pytest.raises(mgraph.InputError, match="out= takes the rows of one call"):
        next(mgraph.distance_blocks(TOO_FAR, out="rows.npy", device="cpu"))


@pytest.mark.parametrize("method", ["sssp", "johnson", "blocked", "hierarchy"])
def test_a_weight_beyond_float32(method):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [1e39, 1])
    with pytest.raises(mgraph.DistanceOverflowError, match="a weight is too large for float32"):
        mgraph.distances(graph, [0], dtype="float32", method=method, device="cpu")
    if method != "hierarchy":
        with pytest.raises(mgraph.DistanceOverflowError, match="a weight is too large for float32"):
            mgraph.apsp(graph, dtype="float32", method=method, device="cpu")


def test_a_radius_that_no_float_holds():
    graph = mgraph.generate.grid(2, 2)
    for each in (graph, mgraph.Hierarchy(graph, order=range(4), device="cpu")):
        found = mgraph.distances(each, [0], reduce=("within", [10**400]), device="cpu")
        assert found.within.tolist() == [[4]]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_a_second_call_neither_copies_nor_encodes_edges(dtype, directed, device, monkeypatch):
    random = np.random.default_rng(4)
    weights = random.integers(1, 9, 300).astype(dtype)
    graph = mgraph.Graph.from_edges(*random.integers(0, 50, (2, 300)), weights, 50, directed)
    calls = [({"device": device, "method": "sssp"}, range(k)) for k in (1, 50)]  # apart, and together
    first = [mgraph.distances(graph, list(sources), **asked).distances for asked, sources in calls]
    assert np.array_equal(first[1], mgraph.apsp(graph, method="sssp", device=device).distances)
    place = type(devices.find(device))
    asarray = place.asarray

    def copied(self, array):
        assert isinstance(array, type(self.xp.empty(0))) or len(array) <= graph.n
        return asarray(self, array)

    monkeypatch.setattr(place, "asarray", copied)
    monkeypatch.setattr(batched_sssp, "edge_lengths", lambda *_: pytest.fail("encoded"))
    monkeypatch.setattr(batched_sssp, "lazy", SimpleNamespace(sparse=lambda: pytest.fail("transposed")))
    for (asked, sources), expected in zip(calls, first, strict=True):
        assert np.array_equal(mgraph.distances(graph, list(sources), **asked).distances, expected)
    kept = {each.name for each in graph.cached() if each.device == "cpu"}
    assert kept <= {"csc.indptr", "csc.indices", "csc.weights"}


def test_weights_that_are_encoded_are_not_taken_as_they_are():
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([-0.0, 2, 3]))
    for _ in range(2):
        found = mgraph.distances(graph, [0], method="sssp", device="cpu").distances
        assert found.tolist() == [[0, 0, 2, 5]] and not np.signbit(found).any()


def test_potentials_are_computed_once_for_a_graph(monkeypatch):
    graph = mgraph.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], [3.0, -2.0, 1.0, 4.0])
    first = mgraph.distances(graph, [0], method="johnson", device="cpu").distances
    assert first.tolist() == [[0, 3, 1]] and ("potentials", 24) in {(each.name, each.nbytes) for each in graph.cached()}
    with monkeypatch.context() as patches:
        patches.setattr(potentials, "sssp_many_kernels", SimpleNamespace(on=lambda _: pytest.fail("relaxed")))
        assert mgraph.distances(graph, [0], method="johnson", device="cpu").distances.tolist() == first.tolist()
        assert mgraph.apsp(graph, method="johnson", device="cpu").distances[0].tolist() == [0, 3, 1]
    heavier = graph.with_weights([3.0, -4.0, 2.0, 5.0])  # 0 to 1, 0 to 2, 1 to 2, 2 to 0
    assert mgraph.distances(heavier, [0], method="johnson", device="cpu").distances.tolist() == [[0, 3, -4]]
