"""`result.plot()` draws what the arrays hold."""

import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mgraph
from mgraph import plotting
from mgraph.algorithms.registry import ALGORITHMS
from tests.support.calls import BY_CALL, arguments

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

GRAPH = mgraph.Graph.from_edges([0, 1, 1, 3], [1, 2, 3, 4], [2, 3, 4, 5], n=6, directed=False)

RESULTS = {
    "apsp": mgraph.apsp(GRAPH, device="cpu"),
    "bfs": mgraph.bfs(GRAPH, 0, predecessors=True, device="cpu"),
    "bfs_many": mgraph.bfs_many(GRAPH, [0, 5], device="cpu"),
    "closure": mgraph.transitive_closure(GRAPH, device="cpu"),
    "components": mgraph.connected_components(GRAPH, device="cpu"),
    "distances": mgraph.distances(GRAPH, [0, 1], device="cpu"),
    "forest": mgraph.minimum_spanning_forest(GRAPH, device="cpu"),
    "measures": mgraph.distances(GRAPH, reduce="reached", device="cpu"),
    "rank": mgraph.list_rank([1, 2, 2], device="cpu"),
    "sparse": mgraph.distances(GRAPH, sparse=True, limit=5, device="cpu"),
    "sssp": mgraph.sssp(GRAPH, 0, device="cpu"),
}


def bars(name, kind=None):
    axes = RESULTS[name].plot(kind)
    shown = {round(bar.get_x() + bar.get_width() / 2, 6): bar.get_height() for bar in axes.patches if bar.get_height()}
    return shown, axes.get_xlabel(), axes.get_ylabel()


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("bfs", None, ({0: 1, 1: 1, 2: 2, 3: 1}, "distance in edges", "vertices")),
        ("sssp", None, ({0: 1, 2: 1, 5: 1, 6: 1, 11: 1}, "distances", "count")),
        ("components", None, ({0: 5, 1: 1}, "component", "vertices")),
        ("forest", None, ({2: 1, 3: 1, 4: 1, 5: 1}, "weights", "count")),
        ("rank", None, ({0: 1, 1: 1, 2: 1}, "ranks", "count")),
        ("measures", None, ({1: 1, 5: 5}, "reached", "count")),
        ("distances", "distribution", ({0: 2, 2: 2, 3: 1, 4: 1, 5: 1, 6: 1, 9: 1, 11: 1}, "distances", "count")),
        ("bfs_many", "distribution", ({0: 2, 1: 1, 2: 2, 3: 1}, "distances", "count")),
        ("sparse", None, ({0: 6, 2: 2, 3: 2, 4: 2, 5: 4}, "distances", "count")),
    ],
)
def test_counts(name, kind, expected):
    assert bars(name, kind) == expected


def test_many_values_are_a_histogram():
    matrix = np.arange(1.0, 145.0).reshape(12, 12)
    axes = mgraph.apsp(mgraph.Graph.from_distances(matrix), device="cpu").plot("distribution")
    assert sum(bar.get_height() for bar in axes.patches) == 144


@pytest.mark.parametrize("name", ["apsp", "bfs_many", "closure", "distances"])
def test_matrices(name):
    axes = RESULTS[name].plot()
    (image,) = axes.images
    shown = image.get_array()
    if name == "closure":
        expected, missing = RESULTS[name].to_dense(), 0
    else:
        expected = RESULTS[name].distances
        missing = -1 if name == "bfs_many" else np.iinfo(expected.dtype).max
        assert np.array_equal(np.ma.getmaskarray(shown), expected == missing)
    assert np.array_equal(shown.filled(missing), expected)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("target", "source")
    assert image.get_extent() == [-0.5, 5.5, len(expected) - 0.5, -0.5]


def test_a_large_matrix_is_thinned(monkeypatch):
    monkeypatch.setattr(plotting, "MOST_ROWS", 3)
    monkeypatch.setattr(plotting, "MOST_VALUES", 12)
    (image,) = RESULTS["apsp"].plot().images
    assert np.array_equal(image.get_array().filled(2**31 - 1), RESULTS["apsp"].distances[::2, ::2])
    assert image.get_extent() == [-1, 5, 5, -1]
    axes = RESULTS["apsp"].plot("distribution")
    assert sum(bar.get_height() for bar in axes.patches) == 10  # of rows 0 and 3, without the lone vertex


@pytest.mark.parametrize(("name", "black"), [("bfs", 4), ("sssp", 0), ("components", 0), ("forest", 4)])
def test_graphs(name, black):
    axes = RESULTS[name].plot("graph", graph=GRAPH)
    edges, tree, vertices = axes.collections
    assert (len(edges.get_segments()), len(tree.get_segments())) == (8, black)
    places = vertices.get_offsets()
    assert len(places) == 6 and len({tuple(place) for place in places.round(3)}) == 6
    assert [text.get_text() for text in axes.texts] == list("012345")
    missing = np.ma.getmaskarray(vertices.get_array())
    assert missing.tolist() == [False] * 5 + [name in ("bfs", "sssp")]


def test_names_of_vertices():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"from": ["Ulm", "Bonn"], "to": ["Bonn", "Kiel"]})
    graph = mgraph.Graph.from_pandas(frame, "from", "to")
    axes = mgraph.bfs(graph, 0, device="cpu").plot("graph")
    assert [text.get_text() for text in axes.texts] == ["Bonn", "Kiel", "Ulm"]


def test_a_path_is_drawn_at_its_distances():
    path = np.arange(5)
    places = plotting.layout(6, path, path + 1)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert_allclose(apart, abs(np.arange(6)[:, None] - np.arange(6)), atol=0.05)
    assert plotting.layout(1, path[:0], path[:0]).shape == (1, 2)
    assert np.isfinite(plotting.layout(3, path[:0], path[:0])).all()


def test_given_axes_are_used(tmp_path):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert RESULTS["bfs"].plot(ax=left) is left
    assert RESULTS["bfs"].plot("graph", graph=GRAPH, ax=right) is right
    figure.savefig(tmp_path / "both.png")
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn():
    with pytest.raises(mgraph.InputError, match="kind must be 'levels', 'hops', 'graph' or 'map', got 'matrix'"):
        RESULTS["bfs"].plot("matrix")
    result = mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cpu")
    with pytest.raises(mgraph.InputError, match=r"no longer exists.*pass it as graph="):
        result.plot("graph")
    with pytest.raises(mgraph.InputError, match="graph must be the graph of the result, of 4 vertices"):
        result.plot("graph", graph=GRAPH)
    large = mgraph.generate.grid(23, 23)
    with pytest.raises(mgraph.InputError, match="at most 500 vertices to draw"):
        mgraph.bfs(large, 0, device="cpu").plot("graph")
    assert not pyplot.get_fignums()


def test_empty_results():
    empty = mgraph.Graph.from_edges([], [], n=0)
    calls = mgraph.apsp, mgraph.transitive_closure, mgraph.connected_components, mgraph.minimum_spanning_forest
    for result in (*(call(empty, device="cpu") for call in calls), mgraph.list_rank([], device="cpu")):
        with pytest.raises(mgraph.InputError, match="nothing to draw"):
            result.plot()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(mgraph.MissingPackageError, match=r"plot\(\) needs matplotlib.* pip install matplotlib"):
        RESULTS["bfs"].plot()


def test_results_on_workers():
    with mgraph.cluster.local_client(2, "cpu") as client:
        result = mgraph.apsp(GRAPH, client=client)
        (image,) = result.plot().images
        assert np.array_equal(image.get_array().filled(2**31 - 1), RESULTS["apsp"].distances)
        (image,) = mgraph.transitive_closure(GRAPH, client=client).plot().images
        assert np.array_equal(image.get_array(), RESULTS["closure"].to_dense())
        with mgraph.DistributedGraph.from_graph(GRAPH, client) as graph:
            search = mgraph.bfs(graph, 0)
            assert [bar.get_height() for bar in search.plot().patches] == [1, 1, 2, 1]
            with pytest.raises(mgraph.InputError, match="lies on workers is not drawn"):
                search.plot("graph", graph=graph)


def test_names_are_no_formulas():
    graph = mgraph.Graph.from_edges([0], [1], ids=["$\\frac$", "$x$"])
    axes = mgraph.bfs(graph, 0, device="cpu").plot("graph")
    axes.figure.canvas.draw()
    assert {text.get_text() for text in axes.texts} == {"$\\frac$", "$x$"}


@pytest.mark.parametrize("wrong", [5, "axes", [1]])
def test_what_is_no_axes(wrong):
    with pytest.raises(mgraph.InputError, match="ax must be axes of Matplotlib, got "):
        RESULTS["bfs"].plot(ax=wrong)


TOWNS = GRAPH.with_coordinates([[-1, 50], [0, 50], [1, 50], [0, 51], [0, 52], [float("nan"), 0]])


@pytest.mark.parametrize("name", BY_CALL)
def test_every_picture_of_every_result(name, tmp_path):
    entry = ALGORITHMS[BY_CALL[name]]
    result = entry.call(*arguments(entry.name, TOWNS), device="cpu")
    with pytest.raises(mgraph.InputError, match="kind must be") as caught:
        result.plot("none")
    for kind in re.findall(r"'(\w+)'", caught.value.expected):
        axes = result.plot(kind, **({"graph": TOWNS} if kind in ("graph", "map") else {}))
        assert axes.has_data()
        axes.figure.savefig(tmp_path / "drawn.png")


def lines(axes):
    """Return the lines of each bundle of a map: sorted pairs of their ends."""
    found = []
    for collection in axes.collections[:-1]:  # the last one marks where a search started
        for path in collection.get_paths():
            found.append([tuple(map(tuple, sorted(ends.tolist()))) for ends in path.vertices.reshape(-1, 2, 2)])
    return found


WEST, EAST, NORTH, TOP = (
    ((-1, 50), (0, 50)),
    ((0, 50), (1, 50)),
    ((0, 50), (0, 51)),
    ((0, 51), (0, 52)),
)


def test_maps_of_distances():
    result = mgraph.sssp(TOWNS, 0, predecessors=True, limit=6, device="cpu")
    axes = result.plot("map", routes=result.path(3))
    assert lines(axes) == [[WEST], [EAST], [NORTH], [TOP]]  # the last one is grey: its end is not reached
    shown, grey = axes.collections[:2]
    assert [shown.norm.vmin, shown.norm.vmax] == [2, 6] and len(shown.get_array()) == 3
    assert grey.get_edgecolor().tolist() == [[*matplotlib.colors.to_rgb("lightgrey"), 1]]
    assert axes.lines[0].get_xydata().tolist() == [[-1, 50], [0, 50], [0, 51]]
    assert axes.collections[-1].get_offsets().tolist() == [[-1, 50]]
    assert axes.figure.axes[1].get_ylabel() == "distance"
    assert_allclose(axes.get_aspect(), 1 / np.cos(np.radians(50.6)))


def test_maps_of_levels_components_forests_and_measures():
    axes = mgraph.bfs(TOWNS, 1, device="cpu").plot("map", routes=[[0, 1], [1, 3]])
    assert lines(axes)[0] == [WEST, EAST, NORTH] and len(axes.lines) == 2
    axes = mgraph.connected_components(TOWNS, device="cpu").plot("map")
    assert lines(axes) == [[WEST, EAST, NORTH, TOP]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["5 vertices", "1 vertices"]
    forest = mgraph.minimum_spanning_forest(TOWNS, device="cpu").plot("map")
    assert lines(forest) == [[WEST, EAST, NORTH, TOP]] * 2
    axes = mgraph.distances(TOWNS, reduce="eccentricity", device="cpu").plot("map")
    assert sum(map(len, lines(axes))) == 4


def test_maps_of_named_vertices(tmp_path):
    named = TOWNS.with_ids(["a", "b", "c", "d", "e", "f"])
    result = mgraph.sssp(named, "a", predecessors=True, device="cpu")
    axes = result.plot("map", routes=[result.path("e"), []])
    assert len(axes.lines) == 1 and axes.lines[0].get_xydata()[-1].tolist() == [0, 52]
    for suffix in ("png", "pdf"):
        axes.figure.savefig(tmp_path / f"map.{suffix}")


def test_coordinates_in_other_units():
    towns = np.array([[0, 60], [1, 60]])
    graph = mgraph.Graph.from_edges([0], [1])
    for scale, aspect in ((1, 2), (1e6, 2), (1e9, 1)):
        placed = graph.with_coordinates(towns * scale)
        assert_allclose(mgraph.bfs(placed, 0, device="cpu").plot("map").get_aspect(), aspect)


def test_what_no_map_shows():
    result = mgraph.bfs(GRAPH, 0, device="cpu")
    with pytest.raises(mgraph.InputError, match=r"a map needs coordinates.*Graph\.with_coordinates"):
        result.plot("map")
    with pytest.raises(mgraph.InputError, match="routes= are drawn on a map: give kind='map'"):
        result.plot(routes=[0, 1])
    with pytest.raises(mgraph.InputError, match="routes must be an integer in"):
        mgraph.bfs(TOWNS, 0, device="cpu").plot("map", routes=[[0, 9]])


@pytest.mark.parametrize(
    ("name", "places", "shares", "label"),
    [
        ("bfs", [0, 1, 2, 3], [1 / 6, 2 / 6, 4 / 6, 5 / 6], "distance in edges"),
        ("bfs_many", [0, 1, 2, 3], [2 / 12, 3 / 12, 5 / 12, 6 / 12], "distance in edges"),
        ("sssp", [0, 2, 5, 6, 11], [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6], "distance"),
    ],
)
def test_hops(name, places, shares, label):
    axes = RESULTS[name].plot("hops")
    curve = axes.lines[0]
    assert curve.get_xdata().tolist() == places and axes.get_xlabel() == label
    assert_allclose(curve.get_ydata(), shares)
    assert axes.get_legend().get_texts()[0].get_text() == f"90% of the paths: {places[-1]} or less"


def test_hops_of_all_pairs():
    axes = mgraph.apsp(mgraph.generate.grid(1, 20, weights=None), device="cpu").plot("hops")
    assert_allclose(axes.lines[0].get_ydata()[[0, -1]], [20 / 400, 1])
    assert axes.get_legend().get_texts()[0].get_text() == "90% of the paths: 14 or less"
