"""Names of SciPy, NetworkX and pandas: errors say what is written here, and it exists."""

import inspect
import re
from functools import reduce

import pytest

import mgraph
from mgraph.algorithms.calls import NAMES
from mgraph.vocabulary import ARGUMENTS, ATTRIBUTES, CALLS, OF_GRAPHS

GRAPH = mgraph.generate.grid(2, 2)
KNOWN = {name: inspect.signature(getattr(mgraph, name)).parameters for name in NAMES if name[0].islower()}


@pytest.mark.parametrize("words", [CALLS, ATTRIBUTES, OF_GRAPHS])
def test_what_advice_names_exists(words):
    for text in words.values():
        named = re.findall(r"\b(mgraph|graph)\.(\w+(?:\.\w+)*)", text)
        assert named or text.startswith("weights count"), text
        for root, path in named:
            assert reduce(getattr, path.split("."), mgraph if root == "mgraph" else GRAPH) is not None or path == "ids"


def test_words_are_no_names_of_mgraph():
    assert not set(CALLS) & set(dir(mgraph))
    assert not set(ATTRIBUTES) & set(dir(mgraph.Graph))


def test_arguments_stand_for_arguments_of_some_call():
    makers = [inspect.signature(make).parameters for make in (mgraph.Graph.from_edges, mgraph.Graph.from_pandas)]
    known = {argument for signature in (*KNOWN.values(), *makers) for argument in signature}
    assert {meant for several in ARGUMENTS.values() for meant in several} <= known


@pytest.mark.parametrize("word", ["nodes", "number_of_nodes", "neighbors"])
def test_an_attribute_of_another_library(word):
    with pytest.raises(AttributeError, match=re.escape(f"'Graph' object has no attribute '{word}': graph.")):
        getattr(GRAPH, word)


def test_names_that_nobody_knows_have_no_advice():
    with pytest.raises(AttributeError, match=r"'Graph' object has no attribute 'xyz'$"):
        GRAPH.xyz  # noqa: B018
    with pytest.raises(AttributeError, match=r"module 'mgraph' has no attribute 'xyz'$"):
        mgraph.xyz  # noqa: B018
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'xyz'$"):
        mgraph.bfs(GRAPH, 0, xyz=1)


def test_calls_that_mgraph_has_not_are_named_where_they_are():
    networkx = pytest.importorskip("networkx")
    for name in (name for name, text in CALLS.items() if text.startswith("networkx.")):
        assert callable(getattr(networkx, name))
    with pytest.raises(AttributeError, match=r"no attribute 'pagerank': networkx\.pagerank\(graph\.to_networkx\(\)\)$"):
        mgraph.pagerank  # noqa: B018


def test_a_call_of_another_library():
    with pytest.raises(AttributeError, match=r"no attribute 'closeness_centrality': mgraph\.closeness\(graph\)$"):
        mgraph.closeness_centrality  # noqa: B018


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("apsp", {"return_predecessors": True}, "it is predecessors= here"),
        ("apsp", {"directed": False}, "a graph has its direction"),
        ("betweenness", {"k": 3}, "it is samples= here"),
        ("bfs", {"source": 0, "cutoff": 3}, "it is limit= here"),
        ("bfs", {"source": 0, "predecesors": True}, "predecessors is one"),
        ("distances", {"indices": [0]}, "it is sources= here"),
        ("eccentricity", {"source": 0}, "it is v= here"),
        ("sssp", {"indices": 0}, "it is source= here"),
        ("sssp", {"source": 0, "weight": "km"}, "a graph has its weights"),
    ],
)
def test_an_argument_of_another_library(name, options, says):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument '\w+': {says}"):
        getattr(mgraph, name)(GRAPH, **options)


@pytest.mark.parametrize(
    ("make", "options", "says"),
    [
        (mgraph.read, {"undirected": True}, "directed=False, as of mgraph.read"),
        (mgraph.read, {"sep": ","}, "mgraph.read finds what separates columns"),
        (mgraph.Graph.from_pandas, {"edge_attr": "km"}, "it is weight= here"),
        (mgraph.Graph.from_edges, {"weight": [1]}, "it is weights= here"),
        (mgraph.Graph.from_networkx, {"weigth": "km"}, "weight is one"),
    ],
)
def test_an_argument_that_no_graph_is_made_of(make, options, says):
    with pytest.raises(TypeError, match=rf"^{make.__name__}\(\) got an unexpected keyword argument '\w+': {says}"):
        make(None, None, **options)


def test_an_unknown_argument_of_a_measure_names_the_measure():
    with pytest.raises(TypeError, match=r"^diameter\(\) got"):
        mgraph.diameter(GRAPH, source=0)


def test_an_argument_is_not_advised_to_a_call_that_lacks_it():
    assert "samples" not in KNOWN["apsp"]
    with pytest.raises(TypeError, match=r"'k'$"):
        mgraph.apsp(GRAPH, k=3)


def test_the_length_of_a_graph_is_its_number_of_vertices():
    assert len(GRAPH) == GRAPH.n
    assert mgraph.Graph.from_edges([], [], n=0)  # a graph without vertices is a graph
