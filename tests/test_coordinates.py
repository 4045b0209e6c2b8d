"""Coordinates of vertices, from where they come and what keeps them; parts of graphs, and degrees."""

import gzip
import io
import pickle

import numpy as np
import pytest

import mgraph
from mgraph import Graph

NAN = float("nan")
GRID = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [NAN, NAN]]


def placed():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [4, 5, 6], ids=["a", "b", "c", "d"])
    return graph.with_coordinates(GRID)


def same(found, expected):
    np.testing.assert_array_equal(found, np.array(expected, float))


def test_graphs_made_of_others_keep_coordinates():
    graph = placed()
    made = [
        graph,
        graph.reversed(),
        graph.unweighted(),
        graph.with_weights([1, 2, 3]),
        graph.with_weights([1, np.inf, 3]),
        graph.with_ids([5, 6, 7, 8]),
        pickle.loads(pickle.dumps(graph)),
        mgraph.generate.weighted(graph, (1, 9)),
    ]
    for each in made:
        same(each.coordinates, GRID)
    assert not graph.coordinates.flags.writeable
    assert Graph.from_edges([0], [1]).coordinates is None
    dense = Graph.from_distances([[0, 1], [2, 0]]).with_coordinates([[1, 2], [3, 4]])
    assert dense.dense is not None and dense.coordinates.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ([[1, 2]], r"coordinates must be of shape \(4, 2\), x and y per vertex, got \(1, 2\)"),
        ([["x", "y"]] * 4, "coordinates must be numbers"),
        ([[1, 10**400]] * 4, "coordinates must be numbers"),
        ([[1, np.inf]] * 4, "coordinates must be numbers, or NaN where they are not known, got inf"),
    ],
)
def test_wrong_coordinates(wrong, says):
    with pytest.raises(mgraph.InputError, match=says):
        placed().with_coordinates(wrong)


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["B", "A", "Z"], "y": [5, 7, 0], "x": [4, 6, 0]}, index=["b", "a", "z"])
    same(placed().with_coordinates(frame).coordinates, [[6, 7], [4, 5], [NAN, NAN], [NAN, NAN]])
    for names in (("lon", "lat"), ("longitude", "latitude")):
        renamed = frame.rename(columns=dict(zip("xy", names, strict=True)))
        same(placed().with_coordinates(renamed).coordinates, [[6, 7], [4, 5], [NAN, NAN], [NAN, NAN]])
    numbered = Graph.from_edges([0], [1]).with_coordinates(frame[:2].reset_index())
    same(numbered.coordinates, [[4, 5], [6, 7]])
    for wrong, says in (
        (frame[["x"]], "a dataframe with columns 'x' and 'y'"),
        (frame.iloc[[0, 0]], "a dataframe with one row for each id, got 'b'"),
        (frame.reset_index(), "a dataframe indexed by ids, got 0: set_index makes a column its index"),
    ):
        with pytest.raises(mgraph.InputError, match=says):
            placed().with_coordinates(wrong)


def test_mappings():
    same(placed().with_coordinates({"b": (4, 5), "a": [6, 7], "z": (0, 0)}).coordinates[:2], [[6, 7], [4, 5]])
    same(Graph.from_edges([0], [1]).with_coordinates({1: (6, 7)}).coordinates, [[NAN, NAN], [6, 7]])
    for wrong, says in (({"z": (0, 0)}, "a mapping from the graph's ids, got 'z'"), ({"a": 3}, "numbers, got")):
        with pytest.raises(mgraph.InputError, match=says):
            placed().with_coordinates(wrong)


def test_networkx_and_igraph():
    networkx = pytest.importorskip("networkx")
    made = placed().to_networkx()
    assert made.nodes[1] == {"id": "b", "x": 1.0, "y": 0.0} and made.nodes[3] == {"id": "d"}
    same(Graph.from_networkx(made).coordinates, GRID)
    nodes = {"u": {"x": "1.5", "y": "2"}, "v": {"pos": (3, 4)}, "w": {"x": "west", "y": 1}, "z": {"pos": (1, 2, 3)}}
    given = networkx.Graph()
    given.add_nodes_from(nodes.items())
    same(Graph.from_networkx(given).coordinates, [[1.5, 2], [3, 4], [NAN, NAN], [NAN, NAN]])
    given.remove_nodes_from(["u", "v"])
    assert Graph.from_networkx(given).coordinates is None
    igraph = pytest.importorskip("igraph")
    other = igraph.Graph([(0, 1)])
    other.vs["x"], other.vs["y"] = [1, None], [2, 3]
    same(Graph.from_igraph(other).coordinates, [[1, 2], [NAN, 3]])


def test_graphml_and_gml(tmp_path):
    networkx = pytest.importorskip("networkx")
    given = placed().to_networkx()
    networkx.relabel_nodes(given, dict(enumerate("abcd")), copy=False)
    for suffix in ("graphml", "gml"):
        getattr(networkx, f"write_{suffix}")(given, tmp_path / f"g.{suffix}")
        same(mgraph.read(tmp_path / f"g.{suffix}").coordinates, GRID)
    text = b"""<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="yed">
    <key id="k" for="node" attr.name="x" attr.type="string"/><key id="l" for="node" attr.name="y"/>
    <graph edgedefault="directed"><node id="0"><data key="k">7.5</data><data key="l">-1</data></node>
    <node id="1"><data key="k">here</data><data key="l"><y:Shape/>3</data><data key="other">1</data></node>
    <edge source="0" target="1"/></graph></graphml>"""
    same(mgraph.read(io.BytesIO(text)).coordinates, [[7.5, -1], [NAN, NAN]])
    assert mgraph.read(io.BytesIO(text.replace(b">7.5<", b"><"))).coordinates is None


SP, CO = "p sp 3 2\na 1 2 5\na 2 3 6\n", "c x\np aux sp co 3\nv 1 -73 41\nc y\n\nv 3 -74.5 +40"


def test_dimacs(tmp_path):
    (tmp_path / "roads.gr").write_text(SP)
    assert mgraph.read(tmp_path / "roads.gr").coordinates is None
    expected = [[-73, 41], [NAN, NAN], [-74.5, 40]]
    (tmp_path / "roads.co").write_text(CO)
    same(mgraph.read(tmp_path / "roads.gr").coordinates, expected)
    same(mgraph.read(tmp_path / "roads.gr", n=4).coordinates, [*expected, [NAN, NAN]])
    same(mgraph.read(tmp_path / "roads.gr", directed=False, weighted=False).coordinates, expected)
    (tmp_path / "packed.gr.gz").write_bytes(gzip.compress(b"p sp 3 1\na 3 1 5\n"))
    (tmp_path / "packed.co.gz").write_bytes(gzip.compress(CO.encode()))
    same(mgraph.read(tmp_path / "packed.gr.gz").coordinates, expected)
    same(mgraph.read(tmp_path / "packed.gr.gz", relabel=True).coordinates, [expected[0], expected[2]])
    (tmp_path / "graph.gr").write_text("p tw 3 1\n1 2\n")
    (tmp_path / "graph.co").write_text("not read")
    assert mgraph.read(tmp_path / "graph.gr").coordinates is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("v 1 2 3\n", r"roads\.co, line 1: the coordinates of .*roads\.gr, of 3 vertices, begin with 'p aux sp co 3'"),
        ("c\np aux sp co 4\n", r"line 2: .* not with 'p aux sp co 4'"),
        ("p aux sp co 3\nc\nv 1 2\n", r"line 3: after 'p aux sp co', a vertex is 'v id x y'"),
        ("p aux sp co 3\nv 1 2 3\nv 1 2 nan\n", "line 3: after"),
        ("p aux sp co 3\nv 1 2 3 4\n", "line 2: after"),
        ("p aux sp co 3\nv 0 2 3\n", r"must be in \[1, 3\], got 0"),
        ("p aux sp co 3\nv 4 2 3\n", r"must be in \[1, 3\], got 4"),
    ],
)
def test_broken_coordinates_beside_a_graph(text, says, tmp_path):
    (tmp_path / "roads.gr").write_text(SP)
    (tmp_path / "roads.co").write_text(text)
    with pytest.raises(mgraph.FormatError, match=says):
        mgraph.read(tmp_path / "roads.gr")


@pytest.mark.parametrize("directed", [True, False])
def test_subgraphs(directed):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 50, (2, 400))
    graph = Graph.from_edges(src, dst, rng.integers(1, 99, 400), n=50, directed=directed)
    chosen = rng.permutation(50)[:20]
    part = graph.subgraph(chosen)
    assert part.directed == directed and part.ids.tolist() == chosen.tolist() and part.coordinates is None
    np.testing.assert_array_equal(part.to_scipy().toarray(), graph.to_scipy().toarray()[np.ix_(chosen, chosen)])
    assert part.m == np.isin(graph.coo().src, chosen)[np.isin(graph.coo().dst, chosen)].sum()
    assert mgraph.sssp(part, int(chosen[3]), ids=True, device="cpu").distances[3] == 0


def test_subgraphs_keep_ids_and_coordinates():
    part = placed().subgraph(["c", "b"])
    assert part.ids.tolist() == ["c", "b"] and part.coordinates.tolist() == [GRID[2], GRID[1]]
    assert part.coo().src.tolist() == [1] and part.coo().weights.tolist() == [5]
    empty = placed().subgraph([])
    assert (empty.n, empty.m, len(empty.ids), empty.coordinates.shape) == (0, 0, 0, (0, 2))
    assert Graph.from_distances([[0, 1], [2, 0]]).subgraph([1]).m == 0
    for wrong, says in (([0, 1, 0], "got 0"), ([9], "got 9"), (["z"], "got 'z'")):
        with pytest.raises(mgraph.InputError, match=says):
            placed().subgraph(wrong)


def test_largest_components():
    graph = Graph.from_edges([0, 1, 3, 4, 5, 2], [1, 0, 4, 5, 3, 3], n=8)
    assert graph.largest_component().ids.tolist() == [2, 3, 4, 5]
    assert graph.largest_component("strong").ids.tolist() == [3, 4, 5]
    halves = Graph.from_edges([0, 3], [2, 1], n=4, directed=False)
    for connection in ("weak", "strong"):
        assert halves.largest_component(connection).ids.tolist() == [0, 2]
    whole = Graph.from_edges([0, 1], [1, 0], ids=["a", "b"]).largest_component("strong")
    assert whole.ids.tolist() == ["a", "b"] and whole.m == 2
    assert Graph.from_edges([], [], n=0).largest_component().n == 0
    with pytest.raises(mgraph.InputError, match="connection must be 'weak' or 'strong'"):
        graph.largest_component("some")


def test_degrees():
    graph = Graph.from_edges([0, 0, 0, 2], [1, 1, 0, 1], n=4)
    assert graph.degrees().tolist() == [3, 0, 1, 0] and graph.reversed().degrees().tolist() == [1, 3, 0, 0]
    assert Graph.from_edges([0, 1], [1, 1], directed=False).degrees().tolist() == [1, 2]
    assert Graph.from_distances([[0, 1], [2, 0]]).degrees().tolist() == [1, 1]
