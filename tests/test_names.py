"""Vertices by ids: in the arguments of all calls, in results and their methods, and in commands."""

import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import Graph, InputError
from mgraph.algorithms.registry import ALGORITHMS
from mgraph.cli.vertices import named_vertices
from mgraph.errors import VertexNumberWarning
from mgraph.graph.question import INDEX, Question
from mgraph.io import VertexList
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.commands import invoke
from tests.support.formats import result_of

pytestmark = CLUSTER_WARNINGS

SRC, DST, WEIGHTS = [0, 1, 2, 0], [1, 2, 3, 3], [4, 3, 2, 20]

#: Ids of four vertices, ascending and not, and of several kinds; those of OpenStreetMap have 64 bits.
KINDS = {
    "text": ["Bari", "Genoa", "Pisa", "Rome"],
    "text in another order": ["Rome", "Pisa", "Genoa", "Bari"],
    "integers": [7, 12, 500, 2**62],
    "integers in another order": [2**62, -3, 9_000_000_000, 0],
    "tuples": [(0, 0), (0, 1), (1, 0), (1, 1)],
    "integers beyond 64 bits": [2**70, 5, 2**80, 1],
    "of several kinds": ["Rome", 3, (1, 2), 0.5],
}


def of(ids, directed=True):
    return Graph.from_edges(SRC, DST, WEIGHTS, directed=directed, ids=ids)


@pytest.fixture(params=KINDS)
def ids(request):
    return KINDS[request.param]


#: Of each call with vertices: the call, given a graph, its vertices by some names, and options; and what it answers.
CALLS = {
    "bfs": (lambda g, v, **o: mgraph.bfs(g, v[0], predecessors=True, **o), lambda r, v, **o: [r.source, r.path(v[3])]),
    "bfs of several": (
        lambda g, v, **o: mgraph.bfs(g, sources=[v[0], v[2]], target=v[3], predecessors=True, **o),
        lambda r, v, **o: [*r.sources, *r.path(v[3])],
    ),
    "bfs_many": (
        lambda g, v, **o: mgraph.bfs_many(g, [v[2], v[0]], predecessors=True, **o),
        lambda r, v, **o: [*r.sources, *r.path(v[0], v[2])],
    ),
    "sssp": (
        lambda g, v, **o: mgraph.sssp(g, v[0], target=v[3], predecessors=True, **o),
        lambda r, v, **o: [r.source, *r.path(v[3])],
    ),
    "sssp from several": (
        lambda g, v, **o: mgraph.sssp(g, sources=[v[2], v[0]], predecessors=True, **o),
        lambda r, v, **o: [*r.sources, *r.path(v[1])],
    ),
    "apsp": (lambda g, v, **o: mgraph.apsp(g, predecessors=True, **o), lambda r, v, **o: r.path(v[0], v[3])),
    "distances": (
        lambda g, v, **o: mgraph.distances(g, [v[1], v[0]], predecessors=True, **o),
        lambda r, v, **o: [*r.sources.tolist(), *r.path(v[0], v[3])],
    ),
    "distances to some": (
        lambda g, v, **o: mgraph.distances(g, [v[0]], [v[3], v[1]], **o),
        lambda r, v, **o: [*r.sources.tolist(), *r.targets.tolist()],
    ),
    "nearest": (
        lambda g, v, **o: mgraph.distances(g, [v[0]], [v[3], v[1]], nearest=1, **o),
        lambda r, v, **o: [*r.sources.tolist(), *r.targets.tolist()],
    ),
    "blocks": (
        lambda g, v, **o: list(mgraph.distance_blocks(g, [v[2], v[0]], [v[3]], rows=1, **o)),
        lambda r, v, **o: [name for each in r for name in (*each.sources.tolist(), *each.targets.tolist())],
    ),
}

#: What they answer, by number.
ANSWERS = {
    "bfs": [0, [0, 3]],
    "bfs of several": [0, 2, 0, 3],
    "bfs_many": [2, 0, 0, 1, 2],
    "sssp": [0, 0, 1, 2, 3],
    "sssp from several": [0, 2, 0, 1],
    "apsp": [0, 1, 2, 3],
    "distances": [1, 0, 0, 1, 2, 3],
    "distances to some": [0, 3, 1],
    "nearest": [0, 1, 3],
    "blocks": [2, 3, 0, 3],
}


def in_names(answer, ids):
    return [in_names(each, ids) if isinstance(each, list) else ids[each] for each in answer]


@pytest.mark.parametrize("name", CALLS)
def test_calls_take_ids_and_answer_with_them(name, ids):
    call, asked = CALLS[name]
    graph = of(ids)
    assert asked(call(graph, ids, ids=True, device="cpu"), ids) == in_names(ANSWERS[name], ids)
    assert asked(call(graph, range(4), ids=False, device="cpu"), range(4)) == ANSWERS[name]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ["text", "text in another order"])
def test_text_is_always_an_id(name, kind):
    call, asked = CALLS[name]
    ids = KINDS[kind]
    assert asked(call(of(ids), ids, device="cpu"), ids) == in_names(ANSWERS[name], ids)


def test_every_call_with_vertices_takes_ids():
    """Calls that begin at a vertex, and those with results whose methods are asked for one."""
    for name, each in ALGORITHMS.items():
        methods = inspect.getmembers(result_of(each), inspect.isfunction)
        asked = {method for method, call in methods if method[0] != "_" and "ids" in inspect.signature(call).parameters}
        assert ("ids" in inspect.signature(each.call).parameters) == bool(each.start or asked), name
    for name in ("eccentricity", "center", "periphery", "closeness", "harmonic_closeness", "distance_blocks"):
        assert "ids" in inspect.signature(getattr(mgraph, name)).parameters
    for name in ("distances", "distance", "path"):
        assert "ids" in inspect.signature(getattr(mgraph.Hierarchy, name)).parameters
    for name, each in ALGORITHMS.items():
        if each.command is not None and any(option.vertices for option in each.command.options):
            assert "ids" in {option.name for option in each.command.options}, name


def test_the_form_of_a_question_is_that_of_the_answer():
    graph = of(KINDS["text"])
    result = mgraph.sssp(graph, "Bari", predecessors=True, device="cpu")
    assert result.path(3) == [0, 1, 2, 3] and result.path("Rome") == ["Bari", "Genoa", "Pisa", "Rome"]
    assert result.predecessors.tolist() == [-9999, 0, 1, 2]  # arrays keep numbers
    result = mgraph.bfs_many(graph, [3, "Bari"], device="cpu")
    assert result.sources == ("Rome", "Bari")
    numbers = of(KINDS["integers"])
    result = mgraph.bfs(numbers, 7, ids=True, predecessors=True, device="cpu")
    assert result.path(2**62) == [7, 2**62] and result.path(3, ids=False) == [0, 3]
    result = mgraph.bfs(numbers, 0, predecessors=True, device="cpu")
    assert result.path(3) == [0, 3] and result.path(2**62, ids=True) == [7, 2**62]


ASKED_BY_NUMBER = {
    "source": lambda g: mgraph.bfs(g, 2, device="cpu"),
    "sources": lambda g: mgraph.distances(g, np.array([3, 2]), device="cpu"),
    "target": lambda g: mgraph.sssp(g, 3, target=np.int64(2), device="cpu"),
    "vertex": lambda g: mgraph.sssp(g, 3, predecessors=True, device="cpu").path(2),
    "v": lambda g: mgraph.eccentricity(g, [2], device="cpu"),
    "j": lambda g: mgraph.apsp(g, predecessors=True, device="cpu").path(3, 2),
}


@pytest.mark.parametrize("argument", ASKED_BY_NUMBER)
def test_a_number_that_is_the_id_of_another_vertex_is_warned_of_once_for_a_graph(argument):
    graph = of([2, 0, 1, 3], directed=False)
    says = f"^{argument} 2 is taken for the number of the vertex with id 1, not for id 2, which vertex 0 has: ids=True "
    with pytest.warns(VertexNumberWarning, match=says) as warned:
        ASKED_BY_NUMBER[argument](graph)
    assert len(warned) == 1 and warned[0].filename == __file__
    for each in ASKED_BY_NUMBER.values():  # and further warnings are errors here
        each(graph)
        each(graph.with_weights(np.ones(graph.m)))


def test_numbers_that_mean_no_other_vertex_are_not_warned_of():
    for ids in ([2, 0, 1, 3], KINDS["integers"], KINDS["text"], None):
        graph = of(ids, directed=False)
        mgraph.bfs(graph, 3, device="cpu")
        mgraph.distances(graph, range(graph.n), device="cpu")
        mgraph.sssp(graph, 2, predecessors=True, ids=False, device="cpu").path(1)
        for call in (mgraph.diameter, mgraph.center, mgraph.closeness, mgraph.average_distance):
            call(graph, device="cpu")
        mgraph.sssp(graph, 0, predecessors=True, ids=True, device="cpu").path(1) if ids == [2, 0, 1, 3] else None


def test_ids_in_arrays_and_columns():
    pandas = pytest.importorskip("pandas")
    text, numbers = of(KINDS["text"]), of(KINDS["integers"])
    for names in (np.array(["Rome", "Bari"]), np.array(["Rome", "Bari"], object), pandas.Series(["Rome", "Bari"])):
        assert mgraph.distances(text, names, device="cpu").sources.tolist() == ["Rome", "Bari"]
        assert mgraph.bfs_many(text, names, device="cpu").sources == ("Rome", "Bari")
    for names in (np.array([500, 7]), np.array([500, 7], np.uint64), pandas.Series([500, 7]), (500, 7)):
        assert mgraph.distances(numbers, names, ids=True, device="cpu").sources.tolist() == [500, 7]


def test_measures_take_ids():
    ids = KINDS["text in another order"]
    graph = of(ids, directed=False)
    for call in (mgraph.eccentricity, mgraph.closeness, mgraph.harmonic_closeness):
        every = call(graph, device="cpu")
        assert call(graph, ["Genoa", "Rome"], device="cpu").tolist() == every[[2, 0]].tolist()
        numbers = of(KINDS["integers"], directed=False)
        assert call(numbers, [500, 7], ids=True, device="cpu").tolist() == every[[2, 0]].tolist()
    for call in (mgraph.center, mgraph.periphery):
        assert call(graph, ids=True, device="cpu").tolist() == [ids[v] for v in call(graph, device="cpu")]


def test_hierarchies_take_ids(ids):
    graph = of(ids, directed=False)
    roads = mgraph.Hierarchy(graph, order=[0, 2, 1, 3], device="cpu")
    assert roads.path(ids[0], ids[3], ids=True) == ids and roads.path(0, 3, ids=False) == [0, 1, 2, 3]
    assert roads.distance(ids[0], ids[2], ids=True) == roads.distance(0, 2, ids=False) == 7
    found = roads.distances([ids[3]], [ids[0], ids[2]], ids=True)
    assert found.tolist() == roads.distances([3], [0, 2], ids=False).tolist() == [[9, 2]]
    assert mgraph.distances(roads, [ids[3]], [ids[0]], ids=True).distances.tolist() == [[9]]
    if isinstance(ids[0], str) and isinstance(ids[3], str):
        assert roads.path(ids[0], ids[3]) == ids and roads.distances([ids[3]], [ids[0]]).tolist() == [[9]]


def test_the_closure_takes_ids(ids):
    result = mgraph.transitive_closure(of(ids), ids=True, device="cpu")
    assert result.reaches(ids[0], ids[3]) and not result.reaches(ids[3], ids[0])
    assert result.reaches(0, 3, ids=False)


def test_results_know_ids_without_their_graph(ids):
    graph = of(ids)
    result = mgraph.bfs(graph, 0, ids=False, predecessors=True, device="cpu")
    again = pickle.loads(pickle.dumps(result))
    del graph
    for each in (result, again, again):
        assert each.path(ids[3], ids=True) == [ids[0], ids[3]]


def test_rows_in_files_and_their_names(tmp_path):
    found = mgraph.distances(of(KINDS["text"]), ["Rome", "Bari"], out=tmp_path / "d.npy", device="cpu")
    assert found.sources.tolist() == ["Rome", "Bari"] and np.asarray(found.distances)[1].tolist() == [0, 4, 7, 9]


@pytest.mark.parametrize(
    ("kind", "call", "says"),
    [
        ("text", lambda g: mgraph.bfs(g, "Ulm"), "source must be an id of the graph, got 'Ulm'"),
        ("text", lambda g: mgraph.sssp(g, 0, target="Ulm"), "target must be an id of the graph, got 'Ulm'"),
        ("text", lambda g: mgraph.bfs(g, 4), r"source must be an integer in \[0, 4\), got 4$"),
        ("text", lambda g: mgraph.bfs(g, 0, ids=True), "source must be an id of the graph, got 0"),
        ("text", lambda g: mgraph.bfs(g, 0, ids="yes"), "ids must be True or False"),
        ("text", lambda g: mgraph.bfs_many(g, "Rome"), r"sources must be a sequence of vertices, got 'Rome'"),
        ("text", lambda g: mgraph.bfs_many(g, "Rome"), r"got 'Rome': for one vertex give \['Rome'\]$"),
        ("text", lambda g: mgraph.distances(g, "Rome", ["Bari"]), r"got 'Rome': for one vertex give \['Rome'\]$"),
        ("text", lambda g: mgraph.distances(g, ["Rome"], 2), r"targets must be .*, got 2: for one vertex give \[2\]$"),
        ("text", lambda g: mgraph.bfs(g, ["Rome", "Bari"]), "source must be one vertex, .*: for several give sources="),
        ("text", lambda g: mgraph.sssp(g, ["Rome", "Bari"]), r": for several give sources=$"),
        ("integers", lambda g: mgraph.sssp(g, (7, 500)), r"got \(7, 500\): for several give sources=$"),
        ("text", lambda g: mgraph.sssp(g), r"^give source \(one vertex\) or sources \(several\)$"),
        ("text", lambda g: mgraph.bfs(g, 0, sources=[1]), "give source .* or sources .*, not both"),
        ("text", lambda g: mgraph.distances(g, ["Rome", None]), r"sources must be an integer in \[0, 4\), got None"),
        ("integers", lambda g: mgraph.bfs(g, "Rome"), "source must be an integer, as the graph's ids are, got 'Rome'"),
        ("integers", lambda g: mgraph.bfs(g, 500), r"got 500: the graph's ids go with ids=True"),
        ("integers", lambda g: mgraph.distances(g, [0, 500]), r"got 500: the graph's ids go with ids=True"),
        ("integers", lambda g: mgraph.bfs(g, 8, ids=True), "source must be an id of the graph, got 8"),
        ("integers", lambda g: mgraph.bfs(g, 2**63, ids=True), "source must be an id of the graph, got 92233720368547"),
        ("integers", lambda g: mgraph.bfs(g, 7.0, ids=True), "an integer, as the graph's ids are, got 7.0"),
        (None, lambda g: mgraph.bfs(g, "Rome"), r"got 'Rome': the graph has no ids, which with_ids\(\) gives it"),
        (None, lambda g: mgraph.bfs(g, 4), r"got 4: they count from 0; a file's own numbers go with relabel=True and "),
        (None, lambda g: mgraph.apsp(g, ids=True), "ids=True needs a graph with ids"),
        (None, lambda g: mgraph.center(g, ids=True), "ids=True needs a graph with ids"),
    ],
)  # fmt: skip
def test_what_is_no_vertex_is_refused(kind, call, says):
    with pytest.raises(InputError, match=says):
        call(of(None if kind is None else KINDS[kind]))


@pytest.mark.parametrize("call", [mgraph.sssp, mgraph.bfs])
def test_the_distance_of_one_vertex(call, ids):
    found = call(of(ids), ids[1], ids=True, device="cpu")
    expected = [float("inf"), 0, *found.distances[2:].tolist()]
    assert [found.distance(name) for name in ids] == expected
    assert [found.distance(number, ids=False) for number in range(4)] == expected
    with pytest.raises(InputError, match=r"vertex must be an integer in \[0, 4\), got 4"):
        found.distance(4, ids=False)


def test_an_id_of_two_vertices_is_refused_where_it_is_asked_for():
    for twice, other in (([5, 9, 5, 7], 9), (["a", "b", "a", "c"], "b"), ([1, 2.5, 1, "c"], 2.5)):
        graph = of(twice)
        with pytest.raises(InputError, match=r"source must be the id of one vertex, got .*: 0 and 2 have it"):
            mgraph.bfs(graph, twice[0], ids=True, device="cpu")
        assert mgraph.bfs(graph, other, ids=True, device="cpu").source == other
        with pytest.raises(InputError, match=r"ids must be an id of one vertex each, got .*: vertices 0 and 2 have it"):
            graph.with_ids(twice)


class Colliding:
    """An id whose hash many have."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return isinstance(other, Colliding) and self.name == other.name


def test_ids_of_the_same_hash_are_told_apart():
    graph = of([Colliding(name) for name in "dbca"])
    graph = graph.with_ids(graph.ids)
    assert graph.vertices_of([Colliding(name) for name in "abcd"]).tolist() == [3, 1, 2, 0]
    with pytest.raises(InputError, match="ids must be an id of the graph"):
        graph.vertices_of([Colliding("e")])


def test_with_ids(ids):
    plain = of(None)
    graph = plain.with_ids(ids)
    assert plain.ids is None and graph.ids.tolist() == ids and not graph.ids.flags.writeable
    assert graph.vertices_of(ids[::-1]).tolist() == [3, 2, 1, 0]
    assert graph.layout("csr")[1] is plain.layout("csr")[1]
    assert graph.compressed("csr").weights is plain.compressed("csr").weights
    assert graph.with_ids(KINDS["integers"]).vertices_of([500]).tolist() == [2]
    assert graph.with_weights([1, 1, 1, 1]).ids is graph.ids is graph.reversed().ids
    dense = Graph.from_distances([[0, 3], [np.inf, 0]]).with_ids(["a", "b"])
    assert mgraph.apsp(dense, predecessors=True, device="cpu").path("a", "b") == ["a", "b"]


@pytest.mark.parametrize("wrong", [["a"], "abcd", ["a", "b", "c", None], [0.5, 1.5, 2.5, 3.5], 4, [["a"], [], [], []]])
def test_ids_are_checked(wrong):
    with pytest.raises(InputError, match="ids must be"):
        of(None).with_ids(np.array(wrong) if wrong and isinstance(wrong, list) and type(wrong[0]) is float else wrong)


@pytest.fixture(scope="module")
def cluster():
    with Client(processes=False, dashboard_address=":0") as client:
        yield client


@pytest.mark.parametrize("remade", [False, True])
def test_with_ids_on_workers(ids, cluster, remade):
    """Names given to a graph on workers: its edges are shared, and its ids stay when it is made again."""
    graph = mgraph.DistributedGraph.from_graph(plain := of(None), cluster, device="cpu")
    named = graph.with_ids(ids)
    assert graph.ids is None and named.ids.tolist() == ids and named.placement.facts.ids is named.ids
    if remade:
        named = mgraph.DistributedGraph(named.placement.origin.again())
    graph.close()
    result = mgraph.bfs(named, ids[0], predecessors=True, ids=True)
    expected = mgraph.bfs(plain, 0, predecessors=True, device="cpu")
    assert result.source == ids[0] and result.path(ids[3]) == [ids[v] for v in expected.path(3)]
    assert named.with_weights(lambda src, dst: src + dst).ids.tolist() == ids
    assert named.with_ids(KINDS["integers"]).ids.tolist() == KINDS["integers"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["a"], r"of shape \(4,\), one id per vertex"),
        (["a", "b", "a", "c"], "got 'a': vertices 0 and 2 have it"),
        (np.array([0.5, 1.5, 2.5, 3.5]), "integers or names"),
    ],
)
def test_ids_of_a_graph_on_workers_are_checked(wrong, says, cluster):
    graph = mgraph.DistributedGraph.from_graph(of(None), cluster, device="cpu")
    with pytest.raises(InputError, match=says):
        graph.with_ids(wrong)


def test_a_batch_of_graphs_with_names():
    one, other = of(KINDS["text"]), of(None)
    found = mgraph.apsp_batch([other, one], predecessors=True, device="cpu")
    start, *_, end = mgraph.bfs(one, 0, predecessors=True, device="cpu").path(3)
    name = KINDS["text"]
    assert found.path(1, name[start], end) == [name[v] for v in found.path(1, start, end)] != []
    assert found.path(1, end, start) == [] == found.path(1, name[end], start)
    table = found.to_pandas()
    first, second = (table[table.graph == g].drop(columns="graph").to_numpy().tolist() for g in (0, 1))
    assert second == [[name[s], name[t], d, None if p is None else name[p]] for s, t, d, p in missing_as_none(first)]
    with pytest.raises(InputError, match="i must be an id of the graph, got 'Ulm'"):
        found.path(1, "Ulm", 0)
    with pytest.raises(InputError, match=r"the graph has no ids, which with_ids\(\) gives it"):
        found.path(0, "Rome", 0)
    with pytest.raises(InputError, match="ids=True needs graphs with ids, and graph 0 has none"):
        mgraph.apsp_batch([other, one], ids=True)
    whole = mgraph.apsp_batch([of(KINDS["integers"])], ids=True, predecessors=True, device="cpu")
    number = KINDS["integers"]
    assert whole.path(0, number[start], number[end]) == [number[v] for v in found.path(0, start, end)]
    assert whole.path(0, start, end, ids=False) == found.path(0, start, end)
    assert pickle.loads(pickle.dumps(found)).path(1, name[start], end) == found.path(1, name[start], end)


def missing_as_none(rows):
    """Return rows of a table with None for a missing value."""
    return [[None if value is None or value != value else value for value in row] for row in rows]


def test_ids_are_read_only():
    graph = of(KINDS["text"])
    with pytest.raises(AttributeError, match="ids"):
        graph.ids = KINDS["text"][:2]


def test_the_index_is_kept_and_released():
    rng = np.random.default_rng(1)
    ids = rng.permutation(10**6)
    graph = Graph.from_edges([0], [1], n=10**6, ids=ids)
    assert not graph.cached()
    question = Question(graph, graph.n, ids=True)
    assert question.vertices("v", ids[[5, 3]]).tolist() == [5, 3]
    assert {kept.name: kept.nbytes for kept in graph.cached()} == {INDEX: 12 * 10**6}
    made = graph.kept(INDEX, mgraph.device.find("cpu"), None)
    assert graph.unweighted().kept(INDEX, mgraph.device.find("cpu"), None) is made
    graph.release()
    assert not graph.cached() and graph.vertices_of([int(ids[9])]).tolist() == [9]
    ascending = Graph.from_edges([0], [1], n=10**6, ids=np.arange(10**6) * 3)
    assert ascending.vertices_of([9]).tolist() == [3] and not ascending.cached()  # nothing but the ids is needed


@pytest.fixture(scope="module")
def flights(tmp_path_factory):
    path = tmp_path_factory.mktemp("flights") / "flights.csv"
    path.write_text("from,to,minutes\nAAB,MID,30\nMID,ZZ1,45\nMID,007,10\n")
    return path


COLUMNS = ("--source-column", "from", "--target-column", "to", "--weight-column", "minutes", "--device", "cpu")


def said(*arguments, code=0):
    result = invoke(*arguments)
    assert result.exit_code == code, (result.output, result.stderr)
    return result.output if code == 0 else result.stderr


def test_commands_take_names(flights):
    words = said("sssp", flights, *COLUMNS, "--source", "AAB", "--target", "ZZ1", "--predecessors")
    assert "distance to vertex ZZ1: 75" in words and "route: AAB MID ZZ1" in words
    words = said("bfs", flights, *COLUMNS, "--source", "AAB", "--source", "MID", "--target", "ZZ1", "--predecessors")
    assert "route: MID ZZ1" in words
    assert '"sources": ["ZZ1", "AAB"]' in said(
        "bfs-many", flights, *COLUMNS, "--source", "ZZ1", "--source", "AAB", "--json"
    )
    words = said("sssp", flights, *COLUMNS, "--source", "1", "--target", "2", "--predecessors")
    assert "route: 1 2" in words  # numbers of vertices, by the order of the names
    words = said("sssp", flights, *COLUMNS, "--ids", "--source", "MID", "--target", "007", "--predecessors")
    assert "route: MID 007" in words
    assert '"source": "007"' in said("sssp", flights, *COLUMNS, "--ids", "--json")  # that of vertex 0
    assert "--source must be an id of the graph, got 'XYZ'" in said(
        "sssp", flights, *COLUMNS, "--source", "XYZ", code=2
    )


def test_commands_take_lists_of_names(flights, tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "from.txt").write_text("# airports\nAAB\n\n MID \n")
    (tmp_path / "to.txt").write_text("007\n")
    lists = ("--sources", tmp_path / "from.txt", "--targets", tmp_path / "to.txt")
    said("distances", flights, *COLUMNS, *lists, "--ids", "--out", tmp_path / "d.parquet")
    assert pandas.read_parquet(tmp_path / "d.parquet").values.tolist() == [["AAB", "007", 40], ["MID", "007", 10]]
    said("measures", flights, *COLUMNS, "--reached", *lists[:2], "--out", tmp_path / "m.parquet")
    assert pandas.read_parquet(tmp_path / "m.parquet").values.tolist() == [["AAB", 4], ["MID", 3]]
    np.save(tmp_path / "numbers.npy", [1])
    numbers = ("--sources", tmp_path / "numbers.npy", "--out", tmp_path / "n.parquet")
    said("distances", flights, *COLUMNS, *numbers)
    assert pandas.read_parquet(tmp_path / "n.parquet")["source"].unique().tolist() == ["AAB"]
    (tmp_path / "wrong.txt").write_bytes(b"\xff\n")
    assert "not in UTF-8" in said("distances", flights, *COLUMNS, "--sources", tmp_path / "wrong.txt", code=1)


def test_commands_take_ids_of_64_bits(tmp_path):
    path, some = tmp_path / "osm.txt", tmp_path / "some.txt"
    path.write_text("9000000000 7\n7 8\n")
    some.write_text("8\n9000000000\n")
    words = said(
        "bfs", path, "--relabel", "--ids", "--source", 9000000000, "--target", 8, "--predecessors", "--device", "cpu"
    )
    assert "route: 9000000000 7 8" in words
    assert "route: 0 1" in said(
        "bfs", path, "--relabel", "--source", 0, "--target", 1, "--predecessors", "--device", "cpu"
    )
    path.write_text("1 2\n2 3\n")
    asked = "sssp", path, "--relabel", "--source", 1, "--target", 2, "--predecessors", "--device", "cpu"
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        words = said(*asked)
    assert "mgraph: warning: --source 1 is taken for the number of the vertex with id 2, not for id 1, which" in words
    assert "vertex 0 has: --ids takes integers for ids, --no-ids leaves out this warning" in words
    assert "distance to vertex 2, which FILE calls 3: 1.0\nroute: 1 2, which FILE calls 2 3\n" in words
    assert "source: vertex 1, which FILE calls 2\n" in said(*asked, "--no-ids")
    assert "route: 1 2\n" in said(*asked, "--ids")
    path.write_text("9000000000 7\n7 8\n")
    pandas = pytest.importorskip("pandas")
    said("distances", path, "--relabel", "--ids", "--sources", some, "--device", "cpu", "--out", tmp_path / "d.parquet")
    frame = pandas.read_parquet(tmp_path / "d.parquet")
    assert frame["source"].tolist() == [8, 9000000000, 9000000000, 9000000000]
    assert "got 9000000000: the graph's ids go with --ids" in said(
        "bfs", path, "--relabel", "--source", 9000000000, code=2
    )
    assert "--ids needs a graph with ids, and this one has none: read a file with --relabel" in said(
        "bfs", "--rmat", 3, "--ids", code=2
    )
    assert "a file's own numbers go with --relabel and --ids" in said("bfs", "--rmat", 3, "--source", 8, code=2)
    assert "--source must be an integer in" in said("bfs", "--rmat", 3, "--source", "x", code=2)


client = clients(2)


@pytest.mark.parametrize("relabelled", [False, True])
def test_graphs_on_workers_take_ids(client, tmp_path, relabelled):
    path = tmp_path / "edges.txt"
    path.write_text("70 500 2\n500 12 3\n")
    if relabelled:
        graph = mgraph.read(path, relabel=True, client=client, device="cpu")
    else:
        graph = mgraph.DistributedGraph.from_graph(mgraph.read(path, relabel=True), client, device="cpu")
    with graph:
        result = mgraph.sssp(graph, 70, ids=True, predecessors=True)
        assert result.path(12) == [70, 500, 12] and result.source == 70
        assert mgraph.bfs_many(graph, [500], ids=True).sources == (500,)
        assert mgraph.distances(graph, [12], ids=True).sources.tolist() == [12]
        with pytest.raises(InputError, match="source must be an id of the graph, got 13"):
            mgraph.bfs(graph, 13, ids=True)
        held = {kept.name for kept in graph.cached() if kept.device == "cpu"}
        assert ("ids" in held) == relabelled
        graph.release()
        assert "ids" not in {kept.name for kept in graph.cached()}
        with pytest.raises(AttributeError):
            graph.ids = [1]


def test_a_word_of_digits_that_is_an_id_is_no_number():
    ids = np.array(["Ulm", "007", "10", "Kiel"], dtype=object)
    assert named_vertices("007", ids, False) == "007" and named_vertices("3", ids, False) == 3
    assert named_vertices(("10", "Ulm", "2"), ids, False) == ["10", "Ulm", 2]
    lines = VertexList(Path("some"), None, b"# of two\n#1\n\n007\n3\n")
    assert named_vertices(lines, np.array(["#1", "007"], dtype=object), False) == ["#1", "007", 3]
    assert named_vertices("007", np.array([7, 10]), False) == 7 and named_vertices("007", None, False) == 7


def test_dir_lists_what_the_reference_has():
    listed = {name for name in dir(mgraph) if not name.startswith("__")}
    assert listed == {*mgraph.__all__, "cluster", "csgraph", "device", "planner", "roads"}
    assert all(hasattr(mgraph, name) for name in listed)
