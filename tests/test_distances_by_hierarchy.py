"""Distances by hierarchies and by all pairs: equal to those of searches and of SciPy, and the planner's choice."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

import mgraph
from mgraph import InputError
from tests.support.commands import invoke
from tests.support.graphs import shifted
from tests.support.questions import MEASURES, questions
from tests.support.references import as_floats, shortest_distances

pytest.importorskip("pymetis")

ASKED = [
    {},
    {"targets": [5, 700, 5]},
    {"targets": [899, 3, 4], "nearest": 2},
    {"nearest": 20},
    {"sparse": True, "limit": 60},
    {"reduce": MEASURES},
    {"reduce": MEASURES, "targets": [8, 7, 8], "limit": 40},
    {"reverse": True, "targets": range(30)},
]
WITH_PREDECESSORS = [
    {},
    {"targets": [5, 700, 5], "reverse": True},
    {"nearest": 3, "targets": range(200)},
    {"limit": 60},
]


def grid(weights=(1, 99), directed=False):
    graph = mgraph.generate.grid(30, 30, weights=weights, seed=2, device="cpu")
    if not directed:
        return graph
    src, dst, _ = graph.coo()
    return mgraph.Graph.from_edges(src, dst, np.random.default_rng(4).integers(1, 99, len(src)), n=graph.n)


def same(found, expected):
    """Whether two results have the same arrays: sums of measures up to their order."""
    assert found.arrays.keys() == expected.arrays.keys()
    for name, array in found.arrays.items():
        array, other = (
            each.to_numpy() if hasattr(each, "to_numpy") else each for each in (array, expected.arrays[name])
        )
        array, other = (mgraph.device.to_host(each) for each in (array, other))
        assert array.dtype == other.dtype and array.shape == other.shape
        close = np.allclose if name in ("mean", "out_closeness", "out_harmonic") else np.array_equal
        assert close(
            array, other, **({"rtol": 1e-12} if close is np.allclose else {}), equal_nan=array.dtype.kind == "f"
        )


@given(questions(), st.integers(0, 2**32))
def test_small_graphs(question, seed):
    graph, dtype, sources, targets, limit = question
    if not graph.nonnegative and limit is not None:
        limit = None
    order = np.random.default_rng(seed).permutation(graph.n)
    prepared = mgraph.Hierarchy(graph, order=order, dtype=dtype, device="cpu")
    found = mgraph.distances(prepared, sources, targets, limit=limit)
    starts = np.arange(graph.n) if sources is None else np.array(sources)
    ends = np.arange(graph.n) if targets is None else np.array(targets)
    assert found.plan.method == "hierarchy" and found.distances.dtype == dtype
    rows = shortest_distances(graph, starts, np.inf if limit is None else limit)
    assert np.array_equal(as_floats(found.distances), rows[:, ends])
    found.verify()
    measured = mgraph.distances(prepared, sources, targets, limit=limit, reduce=MEASURES)
    method = "sssp" if graph.nonnegative else "johnson"
    same(
        measured,
        mgraph.distances(
            graph, sources, targets, limit=limit, reduce=MEASURES, dtype=dtype, method=method, device="cpu"
        ),
    )


@pytest.mark.parametrize("options", ASKED)
@pytest.mark.parametrize("directed", [False, True])
def test_by_all_pairs(options, directed, device):
    graph = grid(directed=directed)
    sources = np.random.default_rng(1).integers(0, 900, 1100)
    found = mgraph.distances(graph, sources, **options, method="blocked", device=device)
    assert found.plan.method == "blocked"
    same(found, mgraph.distances(graph, sources, **options, method="sssp", device=device))
    found.verify(rows=2)


def test_auto_takes_all_pairs_of_a_dense_graph():
    n = 1800
    random = np.random.default_rng(5)
    matrix = np.where(random.random((n, n)) < 0.5, random.integers(1, 1000, (n, n)), 0)
    graph = mgraph.Graph.from_adjacency(matrix)
    found = mgraph.distances(graph, reduce="mean", device="cpu")
    assert found.plan.method == "blocked", found.plan.explain(True)
    assert mgraph.distances(graph, [5], reduce="mean", device="cpu").plan.method == "sssp"
    assert np.allclose(found.mean[:3], mgraph.distances(graph, [0, 1, 2], reduce="mean", device="cpu").mean)


@pytest.mark.parametrize("options", WITH_PREDECESSORS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [(1, 99), (0, 2), None])
def test_predecessors(weights, options, directed, device):
    graph = grid(weights, directed and weights is not None)
    sources, asked = range(0, 900, 7), {**options, "predecessors": True, "device": device}
    same(
        mgraph.distances(graph, sources, **asked, method="hierarchy"),
        mgraph.distances(graph, sources, **asked, method="sssp"),
    )


def of_other_weights(graph, kind):
    """Return a directed graph of the same edges, with weights whose sums round, or some of which are negative."""
    if kind == "thirds":
        return graph.with_weights(graph.coo().weights / np.float32(3))
    return shifted(graph, np.random.default_rng(3).integers(0, 60, graph.n))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["thirds", "negative"])
def test_predecessors_by_entries(kind, reverse, device):
    graph = of_other_weights(grid(directed=True), kind)
    src, dst, weights = (graph.reversed() if reverse else graph).coo()
    length = np.full((graph.n, graph.n), np.inf)
    np.minimum.at(length, (src, dst), weights)
    asked = {"predecessors": True, "method": "hierarchy", "reverse": reverse, "device": device}
    found = mgraph.distances(graph, range(0, 900, 90), **asked)
    expected = mgraph.distances(graph, range(0, 900, 90), reverse=reverse, method="johnson", device="cpu")
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-5)
    for row, source in enumerate(range(0, 900, 90)):
        D, P = found.distances[row].astype(np.float64), found.predecessors[row]
        assert P[source] == -9999
        others = np.flatnonzero(np.arange(graph.n) != source)
        np.testing.assert_allclose(D[P[others]] + length[P[others], others], D[others], rtol=1e-5)
        path = found.path(source, 450)
        assert path[0] == source and path[-1] == 450 and len(set(path)) == len(path)
    if kind == "thirds":
        near = mgraph.distances(graph, [7, 8], [3, 5, 3], limit=900, **asked)
        every = mgraph.distances(graph, [7, 8], limit=900, **asked)
        assert np.array_equal(near.distances, every.distances[:, [3, 5, 3]])
        assert np.array_equal(near.predecessors, every.predecessors[:, [3, 5, 3]])
        closest = mgraph.distances(graph, [7, 8], nearest=3, **asked)
        assert np.array_equal(closest.predecessors, np.take_along_axis(every.predecessors, closest.nearest, 1))


@pytest.mark.parametrize("options", ASKED)
@pytest.mark.parametrize("directed", [False, True])
def test_the_same_as_searches(options, directed, device):
    graph = grid(directed=directed)
    sources = np.random.default_rng(1).integers(0, 900, 1100)
    expected = mgraph.distances(graph, sources, **options, method="sssp", device=device)
    found = mgraph.distances(graph, sources, **options, method="hierarchy", device=device)
    same(found, expected)
    found.verify(rows=3)
    prepared = mgraph.Hierarchy(graph, device=device)
    same(mgraph.distances(prepared, sources, **options), expected)


def test_out_and_blocks(tmp_path):
    graph = grid()
    expected = mgraph.distances(graph, method="sssp", device="cpu").distances
    found = mgraph.distances(graph, method="hierarchy", out=tmp_path / "rows.npy", device="cpu")
    assert found.plan.method == "hierarchy" and np.array_equal(found.distances, expected)
    prepared = mgraph.Hierarchy(graph, device="cpu")
    blocks = [block.distances for block in mgraph.distance_blocks(prepared, rows=400)]
    assert len(blocks) == 3 and np.array_equal(np.concatenate(blocks), expected)
    found = mgraph.distances(prepared, [7], [3], out=tmp_path / "one.npy")
    assert found.distances.tolist() == [[expected[7, 3]]]


def test_a_graph_is_prepared_once():
    graph = grid()
    assert "prepared in" in mgraph.distances(graph, [0], method="hierarchy", device="cpu").plan.explain(True)
    assert "prepared before" in mgraph.distances(graph, [0], method="hierarchy", device="cpu").plan.explain(
        verbose=True
    )
    assert any("hierarchy" in kept.name for kept in graph.cached())
    graph.release()
    assert "prepared in" in mgraph.distances(graph, [0], method="hierarchy", device="cpu").plan.explain(True)


def test_the_graph_of_a_hierarchy():
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4.0, 3.0], directed=False, ids=[70, 80, 90])
    prepared = mgraph.Hierarchy(graph, order=[0, 2, 1], device="cpu")
    assert prepared.device == "cpu" and not prepared.graph.directed
    assert mgraph.distances(prepared, [70], [90], ids=True).distances.tolist() == [[7]]
    closed = prepared.customize([np.inf, 9.0, 3.0, 1.0])  # one way only from 1 to 0
    assert closed.graph.directed and closed.graph.m == 3
    found = mgraph.distances(closed)
    assert found.distances.tolist() == [[0, np.inf, np.inf], [9, 0, 3], [10, 1, 0]]
    found.verify()


def test_auto_takes_a_hierarchy_where_it_is_clearly_faster():
    side = 150
    graph = mgraph.generate.grid(side, side, weights=(1, 99), seed=1, device="cpu")
    assert mgraph.distances(graph, [5], reduce="eccentricity", device="cpu").plan.method == "sssp"
    sources = np.arange(0, graph.n, 3)
    found = mgraph.distances(graph, sources, reduce="eccentricity", device="cpu")
    assert found.plan.method == "hierarchy", found.plan.explain(True)
    lines = found.plan.explain(True).splitlines()
    assert any(line.split()[0] == "sssp" and line.endswith("fits") for line in lines)
    found.verify(rows=2)
    # Where a limit ends searches, it is not taken; the plan says why.
    plan = mgraph.distances(graph, sources[:40], [0], limit=3, device="cpu").plan
    assert plan.method == "sssp" and "searches end at the limit" in plan.explain(True)


def exact_rows(graph, sources):
    """Distances in float64, each within `graph.n` roundings of the exact one: SciPy's."""
    return csgraph.dijkstra(graph.to_scipy().astype(np.float64), indices=sources)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_auto_takes_a_hierarchy_for_floats(dtype):
    """Float32 is summed in float64 and rounded once: within a unit in the last place of the exact sum."""
    graph = mgraph.generate.grid(150, 150, weights=(1, 99), seed=1, device="cpu")
    src, dst, weights = graph.coo()
    times = mgraph.Graph.from_edges(src, dst, (weights / 7).astype(dtype), n=graph.n)
    sources = np.arange(0, graph.n, 3)
    found = mgraph.distances(times, sources, device="cpu")
    assert found.plan.method == "hierarchy", found.plan.explain(True)
    assert found.plan.detail.computed == "float64" and found.distances.dtype == dtype
    found.verify(rows=3)
    some = np.arange(0, len(sources), 1500)
    error = np.abs(found.distances[some] - exact_rows(times, sources[some]))
    bound = np.spacing(found.distances[some]) if dtype == "float32" else graph.n * 2.0**-53 * found.distances[some]
    assert (error <= bound).all()
    searched = mgraph.distances(times, sources[some], method="sssp", device="cpu").distances
    assert np.array_equal(searched, mgraph.distances(times, sources[some], device="cpu").distances)  # few: searches
    assert np.allclose(searched, found.distances[some], rtol=1e-5 if dtype == "float32" else 1e-12)


def test_limits_and_measures_of_rounded_floats():
    """A distance counts by its rounded value: rows with a limit, and measures, agree with rows without."""
    graph, random = grid(), np.random.default_rng(7)
    src, dst, _ = graph.coo()
    times = mgraph.Graph.from_edges(src, dst, random.random(len(src)).astype(np.float32), n=graph.n)
    prepared = mgraph.Hierarchy(times, device="cpu")
    rows = prepared.distances()
    for limit in random.choice(rows.ravel(), 20):  # equal to a distance
        cut = np.where(rows <= limit, rows, np.inf)
        assert np.array_equal(prepared.distances(limit=limit), cut)
        measured = prepared.distances(reduce=["eccentricity", "reached", ("within", [limit / 2])], limit=limit)
        assert np.array_equal(measured.reached, (rows <= limit).sum(axis=1))
        assert np.array_equal(measured.within[:, 0], (rows <= limit / 2).sum(axis=1))
        assert np.array_equal(measured.eccentricity, cut.max(axis=1))
    assert prepared.distance(5, 700) == rows[5, 700]
    found = mgraph.distances(times, reduce=["mean", "out_closeness", "out_harmonic"], method="hierarchy", device="cpu")
    found.verify(rows=None)


def test_distances_beyond_the_greatest_float():
    """A sum beyond the greatest number of float32 is infinite, and its target not reached."""
    most = np.finfo(np.float32).max
    lengths = np.array([most / 2, most / 2, most / 2**25, most / 2**26], np.float32)
    line = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], lengths)
    prepared = mgraph.Hierarchy(line, order=[1, 0, 2, 4, 3], device="cpu")
    assert prepared.distances([0]).tolist() == [[0, lengths[0], most, most, np.inf]]  # less than half a unit more
    assert prepared.distance(0, 3) == most and prepared.distance(0, 4) == np.inf
    measured = prepared.distances([0], reduce=["reached", "eccentricity"])
    assert measured.reached.tolist() == [4] and measured.eccentricity.tolist() == [np.inf]


def test_what_is_refused():
    graph = grid()
    with pytest.raises(InputError, match="method='blocked' finds no predecessors: leave out predecessors=True"):
        mgraph.distances(graph, [0], method="blocked", predecessors=True, device="cpu")
    with pytest.raises(InputError, match=r"dtype must be int32, which Hierarchy\(n=900"):
        mgraph.distances(mgraph.Hierarchy(graph, device="cpu"), [0], dtype="float64")
    random = np.random.default_rng(3)
    full = mgraph.Graph.from_edges(*random.integers(0, 30_000, (2, 90_000)), n=30_000, directed=False)
    with pytest.raises(InputError, match="searches from each source take less time"):
        mgraph.distances(full, [0], method="hierarchy", device="cpu")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [True, False])
def test_measures_of_a_graph(weight, directed):
    graph = grid(directed=directed)
    prepared = mgraph.Hierarchy(graph, device="cpu")
    here = {"weight": weight, "device": "cpu"}
    for measure in (mgraph.eccentricity, mgraph.closeness, mgraph.harmonic_closeness):
        expected = measure(graph, **here)
        for found in (measure(graph, method="hierarchy", **here), measure(prepared, weight=weight)):
            assert found.dtype == expected.dtype and np.allclose(found, expected, rtol=1e-12)
    for measure in (mgraph.diameter, mgraph.radius, mgraph.average_distance):
        expected = measure(graph, **here)
        assert measure(prepared, weight=weight) == measure(graph, method="hierarchy", **here) == expected
    assert np.array_equal(mgraph.center(prepared, weight=weight), mgraph.center(graph, **here))
    assert np.array_equal(mgraph.periphery(prepared, weight=weight), mgraph.periphery(graph, **here))


def said(*words, code=0):
    done = invoke(*words)
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


def test_on_the_command_line(tmp_path):
    graph = grid()
    src, dst, weights = (part.tolist() for part in graph.coo())
    roads, prepared = tmp_path / "roads.gr", tmp_path / "roads.npz"
    arcs = "".join(f"a {u + 1} {v + 1} {w}\n" for u, v, w in zip(src, dst, weights, strict=True))
    roads.write_text(f"p sp {graph.n} {graph.m}\n{arcs}")
    (tmp_path / "some.txt").write_text("3\n700\n")
    facts = json.loads(said("hierarchy", roads, "--out", prepared, "--device", "cpu", "--json"))
    assert facts["n"] == 900 and facts["entries"] == mgraph.Hierarchy.load(prepared, device="cpu").entries
    assert "--overwrite" in said("hierarchy", roads, "--out", prepared, code=2)
    out = tmp_path / "rows.npy"
    lists = "--sources", tmp_path / "some.txt", "--out", out, "--device", "cpu", "--json"
    expected = mgraph.distances(graph, [3, 700], device="cpu").distances
    for graph_given in ([roads, "--method", "hierarchy"], ["--hierarchy", prepared]):
        facts = json.loads(said("distances", *graph_given, *lists, "--overwrite"))
        assert facts["method"] == "hierarchy" and np.array_equal(np.load(out), expected)
    few = "--source", 3, "--target", 700, "--device", "cpu"
    shown = [said("distances", *given, *few).splitlines()[-2:] for given in ([roads], ["--hierarchy", prepared])]
    assert shown[0] == shown[1]
    words = said("measures", "--hierarchy", prepared, "--eccentricity", "--device", "cpu")
    most = mgraph.diameter(graph, device="cpu")
    assert f"to {most:g}" in words
    assert "--hierarchy FILE or --resident NAME" in said("distances", roads, "--hierarchy", prepared, code=2)
    assert "do not go with --hierarchy" in said("distances", "--hierarchy", prepared, "--n", 7, code=2)
