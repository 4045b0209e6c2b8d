"""Ways out: results as frames with the graph's ids, as NetworkX graphs and in files."""

import pickle

import numpy as np
import pytest

import mgraph

pandas = pytest.importorskip("pandas")

#: Ulm to Bonn to Kiel; nothing leads to Rome.
KINDS = {"names": ["Ulm", "Bonn", "Kiel", "Rome"], "numbers": [70, -9999, 10**12, 5], "mixed": ["Ulm", 7, (1, 2), "x"]}


@pytest.fixture(params=KINDS)
def graph(request):
    return mgraph.Graph.from_edges([0, 1], [1, 2], [4, 5], n=4, ids=KINDS[request.param])


def called(frame, column):
    return [None if pandas.isna(value) is True else value for value in frame[column].tolist()]


@pytest.mark.parametrize("call", ["sssp", "bfs"])
def test_searches(graph, call):
    a, b, c, d = ids = graph.ids.tolist()
    found = getattr(mgraph, call)(graph, sources=[0], predecessors=True, device="cpu")
    frame = found.to_pandas()
    assert frame.index.tolist() == ids and frame.index.name == "vertex"
    assert called(frame, "predecessors") == [None, a, b, None]
    assert frame["distances"].tolist() == found.distances.tolist()
    if call == "sssp":
        assert called(frame, "nearest") == [a, a, a, None]
    again = pickle.loads(pickle.dumps(found)).to_pandas()
    assert again.index.tolist() == ids and called(again, "predecessors") == called(frame, "predecessors")
    assert c in frame.index and d in frame.index


def test_components_forests_and_closures(graph):
    a, b, c, d = ids = graph.ids.tolist()
    frame = mgraph.connected_components(graph, device="cpu").to_pandas()
    assert frame.index.tolist() == ids and called(frame, "labels") == [a, a, a, d]
    forest = mgraph.minimum_spanning_forest(mgraph.Graph.from_edges([0, 1], [1, 2], [4, 5], 4, False, ids=graph.ids))
    frame = forest.to_pandas()
    assert frame.index.name == "edge" and frame.index.tolist() == [0, 1]
    assert (called(frame, "src"), called(frame, "dst"), frame["weights"].tolist()) == ([a, b], [b, c], [4, 5])
    frame = mgraph.transitive_closure(graph, device="cpu", reflexive=False).to_pandas()
    assert sorted(zip(called(frame, "source"), called(frame, "target"), strict=True), key=repr) == sorted(
        [(a, b), (a, c), (b, c)], key=repr
    )


@pytest.mark.parametrize("by_id", [True, False])
def test_distances(graph, by_id):
    a, b, c, d = graph.ids.tolist()
    sources, targets = ([b, a], [c]) if by_id else ([1, 0], [2])
    frame = mgraph.distances(graph, sources, targets, ids=by_id, device="cpu").to_pandas()
    expected = {"source": [b, a], "target": [c, c], "distances": [5, 9]}
    assert frame.to_dict("list") == expected
    sparse = mgraph.distances(graph, sources, targets, ids=by_id, sparse=True, device="cpu").to_pandas()
    assert sparse.to_dict("list") == expected
    near = mgraph.distances(graph, sources, nearest=2, ids=by_id, device="cpu").to_pandas()
    assert called(near, "source") == [b, b, a, a] and called(near, "target") == [b, c, a, b]
    measured = mgraph.distances(graph, sources, reduce="reached", ids=by_id, device="cpu").to_pandas()
    assert measured.index.tolist() == [b, a] and measured["reached"].tolist() == [2, 3]
    many = mgraph.bfs_many(graph, [1], device="cpu").to_pandas()
    assert called(many, "source") == [b, b] and called(many, "target") == [b, c]
    every = mgraph.apsp(graph, predecessors=True, device="cpu").to_pandas()
    assert called(every, "predecessors").count(a) == 1 and set(called(every, "target")) == {a, b, c, d}


def test_the_former_name_warns():
    found = mgraph.bfs(mgraph.generate.grid(1, 3), 0, device="cpu")
    with pytest.warns(FutureWarning, match=r"to_dataframe\(\) is the former name of to_pandas\(\)"):
        assert found.to_dataframe().equals(found.to_pandas())


def test_an_empty_graph_with_ids():
    empty = mgraph.Graph.from_edges([], [], ids=[])
    assert len(mgraph.connected_components(empty, device="cpu").to_pandas()) == 0
    assert np.asarray(empty.ids).dtype == np.int64
