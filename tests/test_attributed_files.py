"""Graphs in files whose edges have attributes: GraphML, GEXF, GML and node-link JSON, and Pajek's networks."""

import io
import json

import numpy as np
import pytest

import mgraph
from mgraph.errors import FormatError, InputError

NAMES = ("a", "b", "c")


def graphml(body, keys='<key id="w" for="edge" attr.name="km" attr.type="double"/>', directed=True, nodes=NAMES[:2]):
    kind = "directed" if directed else "undirected"
    body = "".join(f'<node id="{node}"/>' for node in nodes) + body
    space = "http://graphml.graphdrawing.org/xmlns"
    return f'<graphml xmlns="{space}">{keys}<graph edgedefault="{kind}">{body}</graph></graphml>'.encode()


def gexf(body, attributes="", kind="directed", nodes=NAMES):
    nodes = "".join(f'<node id="{node}"/>' for node in nodes)
    body = f"{attributes}<nodes>{nodes}</nodes><edges>{body}</edges>"
    return f'<gexf xmlns="http://gexf.net/1.3"><graph defaultedgetype="{kind}">{body}</graph></gexf>'.encode()


def edge(source, target, data="", **attributes):
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<edge source="{source}" target="{target}"{more}>{data}</edge>'


def data(value, key="w"):
    return f'<data key="{key}">{value}</data>'


def found(content, format, **options):
    """Return the edges of a file by the names of their ends."""
    graph = mgraph.read(io.BytesIO(content if isinstance(content, bytes) else content.encode()), format, **options)
    src, dst, weights = graph.coo()
    names = range(graph.n) if graph.ids is None else graph.ids.tolist()
    ends = [(names[u], names[v]) for u, v in zip(src.tolist(), dst.tolist(), strict=True)]
    return sorted(ends if weights is None else [(*pair, w) for pair, w in zip(ends, weights.tolist(), strict=True)])


def refused(content, format, match, **options):
    with pytest.raises(FormatError, match=match):
        found(content, format, **options)


# GraphML


def test_attributes_of_edges():
    content = graphml(edge("a", "b", data(2.5)))
    graph = mgraph.read(io.BytesIO(content), weight="km")
    assert graph.ids.tolist() == ["a", "b"] and graph.csr().weights.tolist() == [2.5]
    assert not mgraph.read(io.BytesIO(content)).weighted
    undirected = graphml(edge("a", "b", data(2.5)), directed=False)
    assert mgraph.read(io.BytesIO(undirected), weight="km").m == 2
    assert mgraph.read(io.BytesIO(content), weight="km", directed=False).m == 2
    numbers = graphml(edge(7, -3), nodes=("7", "-3", "5"))
    assert mgraph.read(io.BytesIO(numbers)).ids.tolist() == [7, -3, 5]
    assert mgraph.read(io.BytesIO(numbers), relabel=True).ids.tolist() == [7, -3]
    assert found(graphml(edge("a", "b", data(2.5)) + edge("b", "a")), None, weight="km") == [
        ("a", "b", 2.5),
        ("b", "a", 1),
    ]


def test_a_long_tag():
    long = b"a" * (10 << 20)
    edges = found(b"<!--" + long + b"-->" + graphml(edge("a", "b")), "graphml")
    assert edges == [("a", "b")]
    refused(b"<graphml a='" + 4 * long, "graphml", r"line 1: a tag or a comment has more than 33,554,432 bytes")


@pytest.mark.parametrize("scope", ["edge", "all", None])
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("double", "2.5", 2.5),
        ("float", "2", 2.0),
        ("int", "2", 2),
        ("long", " 3 ", 3),
        ("string", "2.5", 2.5),
        (None, "4", 4),
    ],
)
def test_the_default_of_an_attribute(kind, text, value, scope):
    of = "" if scope is None else f'for="{scope}"'
    of += "" if kind is None else f' attr.type="{kind}"'
    keys = f'<key id="w" attr.name="km" {of}><default>{text}</default></key>'
    content = graphml(edge("a", "b", data("7")) + edge("b", "a"), keys)
    assert found(content, None, weight="km") == [("a", "b", 7), ("b", "a", value)]
    weights = mgraph.read(io.BytesIO(content), weight="km").csr().weights
    assert weights.dtype == (np.float64 if kind in ("double", "float") or text == "2.5" else np.int64)
    assert found(graphml(edge("a", "b"), keys), None, weight="km") == [("a", "b", value)]


def test_defaults_that_edges_do_not_have():
    of_nodes = '<key id="w" for="node" attr.name="weight" attr.type="double"><default>2.5</default></key>'
    assert found(graphml(edge("a", "b"), of_nodes), None) == [("a", "b")]
    truth = '<key id="w" for="edge" attr.name="weight" attr.type="boolean"><default>true</default></key>'
    refused(
        graphml(edge("a", "b"), truth),
        None,
        r"line 1: the attribute 'weight' .* 'true': .* by weight=, .*weighted=False",
    )
    assert found(graphml(edge("a", "b"), truth), None, weighted=False) == [("a", "b")]


def test_weights_in_text():
    """OSMnx writes all attributes as text."""
    keys = '<key id="w" for="edge" attr.name="length" attr.type="string"/>'
    parallel = edge("a", "b", data("100.5"), id=0) + edge("a", "b", data("90.25"), id=1)
    assert found(graphml(parallel, keys), None, weight="length") == [("a", "b", 90.25), ("a", "b", 100.5)]
    refused(
        graphml(edge("a", "b", data("[1.5, 2]")), keys),
        None,
        "'length' of an edge must be .* '.1.5, 2.'",
        weight="length",
    )


def test_parallel_edges_of_one_key():
    keys = '<key id="w" for="edge" attr.name="key"/><key id="x" for="edge" attr.name="weight"/>'
    body = "".join(edge("a", "b", data("road") + data(weight, "x")) for weight in (1, 2))
    assert found(graphml(body, keys), None) == [("a", "b", 1), ("a", "b", 2)]


def test_directions_of_single_edges():
    content = graphml(edge("a", "b") + edge("b", "a", directed="false") + edge("b", "b", directed="false"))
    assert found(content, None) == [("a", "b"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert mgraph.read(io.BytesIO(content), directed=False).m == 5
    assert found(graphml(edge("a", "b", directed="true"), directed=False), None) == [("a", "b")]


def test_graphs_within_graphs():
    inner = '<graph edgedefault="undirected"><node id="i"/><node id="j"/>' + edge("i", "j", data("3")) + "</graph>"
    content = graphml(f'<node id="g"><port name="p"/>{inner}</node>' + edge("g", "i"), directed=False, nodes=())
    assert found(content, None, weight="km", directed=True) == [("g", "i", 1), ("i", "j", 3)]
    assert mgraph.read(io.BytesIO(content)).ids.tolist() == ["g", "i", "j"]
    mixed = graphml(f'<node id="g">{inner}</node>' + edge("g", "i"), nodes=())
    assert found(mixed, None) == [("g", "i"), ("i", "j"), ("j", "i")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<graphml>", "line 1: not well-formed XML"),
        (b"", "line 1: not well-formed XML"),
        (b"<graphml/>", "holds no graph"),
        (b"<svg/>", "begins with the element 'graphml', not with 'svg'"),
        (b'<?xml version="1.0" encoding="nonsense"?><graphml/>', "encoding"),
        (graphml('<edge source="a"/>'), "line 1: an edge lacks its source or target"),
        (graphml("<node/>"), "line 1: a node lacks its id"),
        (
            graphml("\n" + edge("a", "b", data("far"))),
            "line 2: the attribute 'km' of an edge must be a number, got 'far'",
        ),
        (graphml(edge("a", "b", data("nan"))), "must be a number, got 'nan'"),
        (graphml(edge("a", "b", data("1e400"))), "must be a number, got '1e400'"),
        (graphml(edge("a", "b", data(""))), "must be a number, got ''"),
        (graphml(edge("a", "b", data("<x/>2"))), "holds an element, not a number"),
        (graphml(edge("a", "b", data(1) + data(2))), "has two values"),
        (graphml(edge("a", "b", data(1, "v"))), "no key 'v' is declared"),
        (graphml(edge("a", "b", directed="yes")), "directed must be true or false, not 'yes'"),
        (graphml(edge("a", "b")), "no edge has the attribute 'km'"),
        (graphml('<hyperedge><endpoint node="a"/></hyperedge>'), "'hyperedge' stands for edges of more than two ends"),
        (b'<!DOCTYPE x [<!ENTITY a "a">]><graphml/>', "defines entities"),
        (b'<!DOCTYPE x [<!ATTLIST node a CDATA "x">]><graphml/>', "a default value is declared for the attribute 'a'"),
        (b"<graphml>" + b"<a>" * 1000, "more than 1,000 elements are nested"),
        ('<!DOCTYPE x [<!ENTITY a "a">]><graphml/>'.encode("utf-16"), "defines entities"),
    ],
)
def test_wrong_graphml(content, says):
    refused(content, "graphml", says, weight="km")


@pytest.mark.parametrize("code", ["utf-8", "utf-16"])
def test_graphml_of_several_graphs(code):
    whole = graphml(edge("a", "b")).decode()
    start, end = whole.index("<graph edge"), whole.index("</graphml>")
    part = whole[start:end]
    head = f'<?xml version="1.0" encoding="{code}"?>'

    def of(*parts):
        return (head + whole[:start] + "".join(parts) + whole[end:]).encode(code)

    assert mgraph.read(io.BytesIO(of(part)), format="graphml").m == 1
    assert mgraph.read(io.BytesIO(of("<!-- <graph> -->", part)), format="graphml").m == 1
    refused(of(part, part, part), "graphml", "holds 3 graphs")


# GEXF


def test_attributes_and_defaults_of_gexf():
    attributes = (
        '<attributes class="edge"><attribute id="0" title="km" type="{}"><default>2</default></attribute></attributes>'
    )
    value = '<attvalues><attvalue for="0" value="7"/></attvalues>'
    content = gexf(edge("a", "b", value, weight="3") + edge("b", "c"), attributes.format("integer"))
    assert found(content, None, weight="km") == [("a", "b", 7), ("b", "c", 2)]
    assert found(content, None) == [("a", "b", 3), ("b", "c", 1)]
    assert mgraph.read(io.BytesIO(content), weight="km").csr().weights.dtype == np.int64
    assert (
        mgraph.read(io.BytesIO(gexf(edge("a", "b"), attributes.format("double"))), weight="km").weights_dtype
        == np.float64
    )
    refused(gexf(edge("a", "b", value * 2), attributes.format("float")), None, "has two values", weight="km")
    refused(gexf(edge("a", "b", value)), None, "no attribute '0' of edges is declared")


def test_edges_within_nodes_of_gexf():
    inner = f'<node id="d"><nodes><node id="e"/></nodes><edges>{edge("e", "d")}</edges></node>'
    content = gexf(edge("a", "b")).replace(b"</nodes>", f"{inner}</nodes><edges>{edge('b', 'c')}</edges>".encode())
    assert found(content, None) == [("a", "b"), ("b", "c"), ("e", "d")]
    assert mgraph.read(io.BytesIO(content)).ids.tolist() == ["a", "b", "c", "d", "e"]


def test_directions_of_gexf():
    both = [("a", "b"), ("b", "a")]
    assert found(gexf(edge("a", "b", type="mutual")), None) == both
    assert found(gexf(edge("a", "b"), kind="undirected"), None) == both
    assert found(gexf(edge("a", "b", type="directed"), kind="undirected"), None) == [("a", "b")]
    refused(
        gexf(edge("a", "b", type="odd")), None, "type of an edge must be one of directed, undirected, mutual, not 'odd'"
    )


# GML


def test_gml():
    pytest.importorskip("networkx")
    text = 'graph [ directed {} node [ id 1 label "{}" ] node [ id 2 label "B" ] edge [ source 2 target 1 value {} ] ]'
    assert found(text.format(1, "\xc5", 2.5), "gml", weight="value") == [("B", "\xc5", 2.5)]
    assert found(text.format(0, "A", '"3"'), "gml", weight="value") == [("A", "B", 3), ("B", "A", 3)]
    assert found(text.format(1, "B", 2), "gml") == [(2, 1)]
    parallel = "graph [ directed 1 node [ id 1 ] node [ id 2 ] " + "edge [ source 1 target 2 ]\n" * 2 + "]"
    assert found(parallel, "gml") == [(1, 2), (1, 2)]
    for weight in ("-12e-09", "1E+20", "1.e5"):
        assert found(text.format(1, "A", weight), "gml", weight="value") == [("B", "A", float(weight))]
    assert found(text.format(1, "1e5 # 2e6", "7 # 1e5\n"), "gml", weight="value") == [("B", "1e5 # 2e6", 7)]
    assert found(text.format(1, "A", "+INF"), "gml", weight="value") == []  # which stands for no edge
    refused(text.format(1, "A", '"far"'), "gml", "from 2 to 1: the attribute 'value' .* 'far'", weight="value")
    refused(text.format(1, "A", "[ x 1 ]"), "gml", "must be a number", weight="value")
    refused("graph [ node [ id 1 graph [ node [ id 2 ] ] ] ]", "gml", "a graph within a graph")
    refused(
        "graph [\nnode [ id 1 ]\n edge [ source 1 target 9 ] ]", "gml", "that NetworkX can read: .*undefined target 9"
    )
    refused("a [ " * 9999, "gml", "that NetworkX can read")
    refused("graph 7", "gml", "that NetworkX can read")
    refused("graph [ node [ id -1e400 ] ]", "gml", "id of a node must be an integer, got -inf")


# JSON


def node_link(nodes=({"id": "a"}, {"id": "b"}), edges=(), **more):
    return json.dumps({"nodes": nodes, "edges": edges, **more})


def test_node_link():
    edges = [{"source": "a", "target": "b", "weight": 2}, {"source": "a", "target": "b"}]
    assert found(node_link(edges=[edges[0] | {"weight": 1e30}], directed=True), "json") == [("a", "b", 1e30)]
    assert found(node_link(edges=edges, directed=True, multigraph=False), "json") == [("a", "b", 1), ("a", "b", 2)]
    far = [{"source": "a", "target": "b", "weight": weight} for weight in (1e20, float("inf"), -(2.0**63))]
    assert found(node_link(edges=far, directed=True), "json") == [("a", "b", -(2.0**63)), ("a", "b", 1e20)]
    links = json.dumps({"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1, "value": "1.5"}]})
    assert found(links, "json", weight="value") == [(0, 1, 1.5), (1, 0, 1.5)]
    assert found(node_link([{"id": [0, 1]}, {"id": 2}], [{"source": [0, 1], "target": 2}], directed=True), "json") == [
        ((0, 1), 2)
    ]


def test_node_link_as_networkx_writes_it():
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiGraph([(0, 1, {"weight": 2.5}), (0, 1, {"weight": 3}), (1, 2, {"weight": 1})])
    content = json.dumps(networkx.node_link_data(graph))
    assert found(content, "json") == sorted(
        (u, v, w) for a, b, w in graph.edges(data="weight") for u, v in ((a, b), (b, a))
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"nodes": [],\n "edges": ]}', "line 2: not valid JSON"),
        (b"\xff\xfe\xfd", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"elements": {"nodes": []}}', "other JSON than .*'nodes' and 'edges' or 'links'.*Graph.from_networkx"),
        ("[1]", "other JSON"),
        (node_link(directed=1), "other JSON"),
        (node_link([{"id": "a"}, {"id": "a"}]), r"nodes\[1\]: the id 'a' is that of another node"),
        (node_link([{"id": {}}]), r"nodes\[0\]: a node is called by a string or a number"),
        (node_link(["a"]), r"nodes\[0\]: a node is called by"),
        (node_link(edges=[{"source": "a"}]), r"edges\[0\]: a node is called by"),
        (node_link(edges=[{"source": "a", "target": "c"}]), r"edges\[0\]: there is no node 'c'"),
        (node_link(edges=[{"source": "a", "target": "b", "weight": None}]), "must be a number, got None"),
        (node_link(edges=[{"source": "a", "target": "b", "weight": 2**63}]), "must be a number"),
        ('{"nodes": [{}], "edges": [{"source": 0, "target": 0, "weight": 1e400}]}', "must be a number, got inf"),
    ],
)
def test_wrong_json(content, says):
    refused(content, "json", says)


# Pajek


def test_pajek():
    text = (
        '*Network x\n*Vertices 3\n% one\n1 "New York" 0.1 0.2\n2 b\n3 "c"\n*Arcs :1 "r"\n1 2 3.5 l "x"\n*Edges\n2 3\n'
    )
    assert found(text, "pajek") == [("New York", "b", 3.5), ("b", "c", 1), ("c", "b", 1)]
    assert found("*vertices 3\n*edgeslist\n1 2 3\n", "pajek") == [(0, 1), (0, 2), (1, 0), (2, 0)]
    assert found("*Vertices 2\n*Arcslist\n2 1\n", "pajek") == [(1, 0)]
    assert found("*Vertices 2\n*Matrix\n0 2\n0 1\n", "pajek") == [(0, 1, 2), (1, 1, 1)]
    assert found("*Vertices 3 1\n*Matrix\n0 2\n", "pajek") == [(0, 2, 2)]
    assert found("*Vertices 2\n*Arcs\n1 2 Inf\n2 1 infinity\n1 2 info\n", "pajek") == [(0, 1, 1)]  # inf: no edge
    same = mgraph.read(io.BytesIO(b'*Vertices 2\n1 "a"\n2 "a"\n*Edges\n1 2\n'), "pajek")
    assert (same.n, same.m, same.ids) == (2, 2, None)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "has no line"),
        ("1 2\n", "line 1: a network of Pajek begins with"),
        ("*Edges\n1 2\n", "line 1: '.Vertices n' must come before"),
        ("*Vertices 99999999999\n", "line 1: expected '.Vertices n'"),
        ("*Vertices 2\n*Edges\n\n1 3\n", "line 4: expected a vertex from 1 to 2, got '3'"),
        ("*Vertices 2\n3 c\n", "line 2: expected a vertex from 1 to 2"),
        ("*Vertices 2\n*Arcs\n1 2 1x\n", "line 3: expected a number as weight, got '1x'"),
        ("*Vertices 2\n*Arcs\n1\n", "line 3: expected an edge"),
        ("*Vertices 2\n*Matrix\n0 1 2\n", "line 3: expected 2 rows of 2 numbers"),
        ("*Vertices 2\n*Vertices 2\n", "a second network"),
        ("*Vertices 2\n*Arcs\n1 2\r1 2\n", "line 3: it holds a carriage return"),
        ("*Vertices 2\n*Partition p\n", "'partition' is not one of a network's"),
    ],
)
def test_wrong_pajek(content, says):
    refused(content, "pajek", says)


def test_weight_is_for_attributes():
    with pytest.raises(InputError, match="holds Pajek"):
        mgraph.read(io.BytesIO(b"*Vertices 0\n"), "pajek", weight="km")


def test_large_integers_of_one_hash_are_nodes_of_their_own(tmp_path):
    names = [k * (2**61 - 1) for k in range(-20, 20)]
    nodes = [{"id": name} for name in (*names, str(names[0]))]
    links = [{"source": names[k], "target": names[k + 1]} for k in range(39)]
    (tmp_path / "large.json").write_text(json.dumps({"nodes": nodes, "edges": links}))
    graph = mgraph.read(tmp_path / "large.json")
    assert list(graph.ids) == [*names, str(names[0])]
    assert mgraph.bfs(graph, names[0], ids=True).distances.tolist() == [*range(40), -1]
