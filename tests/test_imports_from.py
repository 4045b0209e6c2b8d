"""Ways in: graphs of other libraries, columns of tables, and ids of any kind, in frames that others hand over too."""

import gzip
import io

import numpy as np
import pytest

import mgraph
from mgraph import Graph, InputError
from mgraph.graph.ids import packed
from tests.support.tensors import Tensor


def edges_by_id(graph):
    """The edges between the original ids."""
    src, dst, weights = graph.coo()
    ids = np.arange(graph.n) if graph.ids is None else graph.ids
    return sorted(zip(ids[src].tolist(), ids[dst].tolist(), weights.tolist(), strict=True), key=repr)


NAMES = {
    "strings": (["Ulm", "Bonn", "Ulm"], ["Bonn", "Kiel", "Kiel"], ["Bonn", "Kiel", "Ulm"]),
    "mixed": (["Ulm", 7, "Ulm"], [7, (1, 2), (1, 2)], ["Ulm", 7, (1, 2)]),
    "sparse": ([10**15, -7, 10**15], [-7, 5, 5], [-7, 5, 10**15]),
    "dense": ([2, 1, 2], [1, 0, 0], None),
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("directed", [True, False])
def test_ids_of_any_kind(kind, directed):
    pandas = pytest.importorskip("pandas")
    source, target, ids = NAMES[kind]
    graph = Graph.from_pandas(pandas.DataFrame({"a": source, "b": target, "km": [1.5, 2, 4]}), "a", "b", "km", directed)
    assert ids == (None if graph.ids is None else graph.ids.tolist())
    there = list(zip(source, target, [1.5, 2, 4], strict=True))
    back = [] if directed else [(b, a, w) for a, b, w in there]
    assert edges_by_id(graph) == sorted(there + back, key=repr)
    if ids is not None:
        found = mgraph.distances(graph, [source[0]], [target[1]], ids=True, device="cpu")
        assert (found.sources.tolist(), found.targets.tolist()) == ([source[0]], [target[1]])
        assert found.distances.tolist() == [[3.5]]
        with pytest.raises(InputError, match="targets must be an id of the graph, got 12"):
            mgraph.distances(graph, targets=[12], ids=True, device="cpu")
        with pytest.raises(InputError, match="sources must be a sequence of one id or more"):
            mgraph.distances(graph, [], ids=True, device="cpu")


@pytest.mark.parametrize("wrong", [None, float("nan"), "pandas.NA", "pandas.NaT"])
def test_missing_ids(wrong):
    pandas = pytest.importorskip("pandas")
    wrong = getattr(pandas, wrong.partition(".")[2]) if isinstance(wrong, str) else wrong
    frame = pandas.DataFrame({"source": ["a", "b"], "target": pandas.Series(["b", wrong], dtype=object)})
    with pytest.raises(InputError, match=r"target must be an id of a vertex, got .* in row 1: leave that row out"):
        Graph.from_pandas(frame)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"source": [0.0, float("nan")], "target": [1, 2]}, "source must be a column of integers or names.*missing"),
        ({"source": [True, False], "target": [1, 2]}, "source must be a column of integers or names, got 'bool'"),
        ({"source": [[], []], "target": ["a", "b"]}, "can be hashed"),
        ({"source": np.array([2**63, 1], np.uint64), "target": [1, 2]}, "source must be ids in the range of int64"),
        ({"source": [0, 1]}, "target must be one of the columns"),
        ({"source": [0, 1], "target": [1, 2], "weight": [1.0, float("nan")]}, "weights must be numbers"),
        (
            {"source": [0, 1], "target": [1, 2], "weight": ["3", "far"]},
            "weights must be floats of up to 64 bits, or integers, got '.*' in the column 'weight'",
        ),
    ],
)
def test_wrong_columns(columns, says):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=says):
        Graph.from_pandas(pandas.DataFrame(columns), weight="weight" if "weight" in columns else None)


def test_truth_values_as_weights():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [False, True]})
    assert Graph.from_pandas(frame, weight="weight").csr().weights.tolist() == [0, 1]


def test_columns_that_are_there_twice_and_frames_without_rows():
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame([[0, 1, 2]], columns=["source", "target", "target"])
    with pytest.raises(InputError, match=r"target must be one of the columns .*: there are several of that name"):
        Graph.from_pandas(twice)
    with pytest.raises(InputError, match="frame must be a dataframe, got 'int'"):
        Graph.from_pandas(3)
    for kind in (int, str, object):
        empty = Graph.from_pandas(pandas.DataFrame({"source": [], "target": []}, dtype=kind))
        assert (empty.n, empty.m) == (0, 0)


def test_ids_that_are_given():
    graph = Graph.from_edges([0], [1], ids=["Ulm", 7])
    assert graph.ids.tolist() == ["Ulm", 7] and graph.reversed().ids is graph.ids
    assert Graph.from_edges([0], [1], ids=[np.int32(4), 5]).ids.dtype == np.int64
    assert Graph.from_edges([0], [1], ids=np.array(["a", "b"])).ids.tolist() == ["a", "b"]
    for wrong in (["a"], ["a", None], [0.5, float("nan")], np.array([0.5, 1])):
        with pytest.raises(InputError, match="ids must be"):
            Graph.from_edges([0], [1], ids=wrong)


def test_vertices_of_ids():
    graph = Graph.from_edges([0, 1], [1, 2], ids=["a", 5, "b"])
    assert graph.vertices_of(["b", 5]).tolist() == [2, 1] and graph.vertices_of(["b"]).dtype == np.int32
    assert Graph.from_edges([0, 1], [1, 2]).vertices_of([2, 0]).tolist() == [2, 0]
    for wrong in (["c"], "a", [[]], [("a", [])], [], 5):
        with pytest.raises(InputError, match="ids must be"):
            graph.vertices_of(wrong)
    with pytest.raises(InputError, match="ids must be an id of the graph, got 3"):
        Graph.from_edges([0, 1], [1, 2]).vertices_of([3])
    with pytest.raises(InputError, match="as the graph's ids are"):
        Graph.from_edges([0, 1], [1, 2]).vertices_of([0.5])
    with pytest.raises(InputError, match="which has none"):
        Graph.from_edges([], []).vertices_of([0])
    with pytest.raises(InputError, match=r"for one id give \['a'\]"):
        graph.vertices_of("a")


def test_who_gives_names_for_the_ends_of_edges_learns_who_numbers_them():
    with pytest.raises(InputError, match=r"Graph\.from_pandas numbers names"):
        Graph.from_edges(["Ulm"], ["Bonn"])


TABLES = {
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
}


@pytest.mark.parametrize("library", TABLES)
def test_tables_through_arrow(library):
    pytest.importorskip("pyarrow")
    table = TABLES[library]({"from": ["Ulm", "Bonn"], "to": ["Bonn", "Kiel"], "km": [420.0, 560.0]})
    graph = Graph.from_arrow(table, "from", "to", "km", directed=False)
    assert graph.ids.tolist() == ["Bonn", "Kiel", "Ulm"] and (graph.m, graph.directed) == (4, False)
    table = TABLES[library]({"source": [7, -3], "target": [-3, 10**12]})
    assert Graph.from_arrow(table).ids.tolist() == [-3, 7, 10**12]


def test_tables_of_the_older_interface_and_of_categories():
    arrow = pytest.importorskip("pyarrow")
    columns = {"source": arrow.array(["a", "b"]).dictionary_encode(), "target": ["b", "c"]}
    table = arrow.table(columns)
    older = type("Older", (), {"__dataframe__": lambda self, **options: table.__dataframe__(**options)})()
    for given in (table, older):
        assert edges_by_id(Graph.from_arrow(given).with_weights([1, 2])) == [("a", "b", 1), ("b", "c", 2)]


@pytest.mark.parametrize("rows", [2, 0])
def test_categories_of_polars(rows):
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"source": ["b", "a"], "target": ["a", "c"], "km": [1.5, 2.0]}).head(rows)
    for kind in (polars.Categorical, polars.Enum(["c", "a", "b", "unused"])):
        some = frame.with_columns(polars.col("source", "target").cast(kind))
        found = Graph.from_arrow(polars.concat([some, some], rechunk=False), weight="km")
        assert edges_by_id(found) == [("a", "c", 2.0), ("a", "c", 2.0), ("b", "a", 1.5), ("b", "a", 1.5)][: 2 * rows]


def test_tables_that_arrow_cannot_take():
    arrow = pytest.importorskip("pyarrow")
    liar = type("Liar", (), {"__arrow_c_stream__": lambda self, requested_schema=None: 5})()
    for table in (liar, arrow.chunked_array([[1, 2]])):
        with pytest.raises(InputError, match="table must be a table that Arrow can take"):
            Graph.from_arrow(table)
    for wrong in (9, -1):
        beyond = arrow.DictionaryArray.from_arrays(arrow.array([0, wrong], arrow.int8()), ["a", "b"], safe=False)
        with pytest.raises(InputError, match="the column 'source' cannot be read"):
            Graph.from_arrow(arrow.table({"source": beyond, "target": ["a", "b"]}))
    with pytest.raises(InputError, match="target must be one of the columns"):
        Graph.from_arrow(arrow.table({"source": [1]}), "source", None)


def test_ids_that_cannot_be_hashed():
    with pytest.raises(InputError, match="ids must be numbers, strings or other values that can be hashed"):
        Graph.from_edges([0], [1], ids=[["a"], ["b"]])


@pytest.mark.parametrize("device", [5, "ab", None])
def test_a_tensor_that_does_not_say_where_it_lies(device):
    tensor = type("Liar", (), {"__dlpack_device__": lambda self: device, "__dlpack__": lambda self: None})()
    with pytest.raises(InputError, match="Liar does not say on which device it lies"):
        Graph.from_edge_index(tensor)


@pytest.mark.parametrize("name", ["__dlpack_device__", "__dlpack__"])
def test_a_tensor_whose_library_fails(name):
    def fails(self, **options):
        raise KeyError(name)

    methods = {"__dlpack_device__": lambda self: (1, 0), "__dlpack__": lambda self, **options: None, name: fails}
    with pytest.raises(InputError, match=f"Liar .*{name}"):
        Graph.from_edge_index(type("Liar", (), methods)())


def test_wrong_tables():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"source": [1, None], "target": [2, 3], "km": [1.5, None]})
    with pytest.raises(InputError, match="the column 'source' has 1 nulls"):
        Graph.from_arrow(table)
    with pytest.raises(InputError, match="the column 'km' has 1 nulls"):
        Graph.from_arrow(table, "target", "target", "km")
    with pytest.raises(InputError, match="weight must be one of the columns"):
        Graph.from_arrow(table, weight="miles")
    with pytest.raises(InputError, match="table must be a dataframe or a table of Arrow, got 'dict'"):
        Graph.from_arrow({})
    twice = arrow.table([arrow.array([1]), arrow.array([2])], names=["source", "source"])
    with pytest.raises(InputError, match="there are several of that name"):
        Graph.from_arrow(twice, target="source")


@pytest.mark.parametrize("directed", [True, False])
def test_igraph(directed):
    igraph = pytest.importorskip("igraph")
    given = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1), (2, 2)], directed=directed)
    assert not Graph.from_igraph(given).weighted and Graph.from_igraph(given).ids is None
    given.es["km"], given.vs["name"] = [5.0, 2.0, None, 4.0], ["a", "b", "c", "d"]
    graph = Graph.from_igraph(given, "km")
    there = [("a", "b", 1.0), ("a", "b", 5.0), ("b", "c", 2.0), ("c", "c", 4.0)]
    back = [] if directed else [("b", "a", 1.0), ("b", "a", 5.0), ("c", "b", 2.0)]
    assert (graph.n, graph.directed, edges_by_id(graph)) == (4, directed, sorted(there + back, key=repr))
    given.vs["name"] = ["a", None, "c", "d"]
    assert Graph.from_igraph(given).ids is None and Graph.from_igraph(igraph.Graph()).n == 0
    given.es["km"] = ["far"] * 4
    with pytest.raises(InputError):
        Graph.from_igraph(given, "km")
    with pytest.raises(InputError, match="graph must be an igraph graph, got 'int'"):
        Graph.from_igraph(3)


def test_roads_of_osmnx():
    networkx = pytest.importorskip("networkx")
    roads = networkx.MultiDiGraph(crs="epsg:4326")
    for node, x in ((2719, 8.1), (14, 8.2), (10**10, 8.3)):
        roads.add_node(node, x=x, y=50.0)
    roads.add_edge(2719, 14, 0, osmid=[1, 2], length=90.5, oneway=False)
    roads.add_edge(2719, 14, 1, osmid=3, length=70.25, oneway=True)
    roads.add_edge(14, 10**10, 0, osmid=4, length=10.0, oneway=True)
    graph = Graph.from_networkx(roads, weight="length")
    assert graph.ids.tolist() == [2719, 14, 10**10] and graph.m == 3
    assert mgraph.distances(graph, [2719], ids=True, device="cpu").distances.tolist() == [[0, 70.25, 80.25]]


def test_tensors():
    given = Tensor([[0, 1], [1, 2]])
    graph = Graph.from_edge_index(given, Tensor([2.5, 3.0]))
    assert [part.tolist() for part in graph.coo()] == [[0, 1], [1, 2], [2.5, 3.0]]
    assert Graph.from_edge_index(np.zeros((2, 0), int), n=3).n == 3
    assert Graph.from_edge_index([[0, 1], [1, 2]], directed=False).m == 4
    assert Graph.from_edges(Tensor([0, 1]), Tensor([1, 2])).m == 2
    assert Graph.from_distances(Tensor([[0.0, 3.0], [2.0, 0.0]])).n == 2
    distances = mgraph.sssp(graph, 0, device="cpu").distances
    assert np.from_dlpack(distances).tolist() == [0, 2.5, 5.5]


@pytest.mark.parametrize(
    ("edge_index", "says"),
    [
        ([[0, 1], [1, 2], [2, 0]], r"edge_index must be of shape \(2, edges\), got \(3, 2\)"),
        ([0, 1], "edge_index must be of shape"),
        ([[0.5, 1], [1, 2]], "src must be integers"),
        ([[0, -1], [1, 2]], "src must be vertex ids of 0 or more, got -1"),
        (Tensor([[0], [1]], kind=8), "Tensor lies on a device of DLPack's kind 8"),
        (Tensor(np.array([["a"], ["b"]])), "Tensor cannot be taken by DLPack"),
    ],
)
def test_wrong_tensors(edge_index, says):
    with pytest.raises(InputError, match=says):
        Graph.from_edge_index(edge_index)


def table(text, **options):
    return mgraph.read(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


NAMED = {"source": "from", "target": "to", "weight": "km"}
ROADS = [("Bonn", "Kiel", 560), ("Ulm", "Bonn", 420)]


@pytest.mark.parametrize(
    "text",
    [
        "from,to,km\nUlm,Bonn,420\nBonn,Kiel,560\n",
        "# roads\n\nfrom;km;to\r\nUlm;420;Bonn\r\n\r\nBonn;560;Kiel",
        "\ufefffrom\tto\tname\tkm\nUlm\tBonn\t\t420\nBonn\tKiel\tA1\t560\n",
        'from, to, km\n"Ulm", Bonn, +420\n Bonn,"Kiel",560\n',
        "from  to km\nUlm Bonn   420\n\nBonn Kiel 560\n",
        'km|from|to|text\n420|Ulm|Bonn|"two\nlines"\n560|Bonn|Kiel|""""\n',
    ],
)
def test_tables_with_a_header(text, monkeypatch):
    for rows in (1, 1000):
        monkeypatch.setattr("mgraph.io.table.ROWS", rows)
        graph = table(text, **NAMED)
        assert edges_by_id(graph) == ROADS and graph.ids.tolist() == ["Bonn", "Kiel", "Ulm"]
        assert graph.weights_dtype == np.int64 and graph.directed
    assert table(text, **NAMED, directed=False).m == 4
    assert not table(text, **NAMED, weighted=False).weighted and table(text, **NAMED, weighted=True).weighted


@pytest.mark.parametrize(
    ("text", "further"),
    [
        ("from,to,km,name\nUlm,Bonn,420,A1\nBonn,Kiel,,\n", "'km'"),
        ("from,to,km,min\nUlm,Bonn,nan,90.5\n", "'km' or 'min'"),
        ("Ulm\tBonn\t420\n", "2"),
    ],
)
def test_weights_that_are_not_named(text, further, tmp_path):
    """Read without them, the distances would be numbers of edges."""
    header = text.startswith("from")
    ends = {"source": "from", "target": "to"} if header else {"source": 0, "target": 1}
    says = f"has numbers in the column {further}, which may be weights: name .* by weight=.*, or say weighted=False for"
    with pytest.raises(mgraph.FormatError, match=says):
        table(text, **ends)
    assert not table(text, **ends, weighted=False).weighted
    with pytest.raises(InputError, match="weight must be the name of a column, got None: weighted=True"):
        table(text, **ends, weighted=True)
    assert not table("from,to,road\nUlm,Bonn,A1\n", source="from", target="to").weighted


def test_a_header_that_is_read_as_an_edge():
    for text in ("src,dst\n0,1\n", "from,to,km\nUlm,Bonn,420\n"):
        with pytest.raises(mgraph.FormatError, match=r"line 1: '.*' looks like a header: name .* by source="):
            table(text, source=0, target=1)
        assert table(f"#{text}", source=0, target=1, weighted=False).m == 1
    assert table("Ulm,Bonn,\nBonn,Kiel,7\n", source=0, target=1, weighted=False).m == 2


def test_tables_without_a_header():
    graph = table("% SNAP\n7 a 1.5\na -3 2\n", source=0, target=1, weight=2)
    assert edges_by_id(graph) == [("7", "a", 1.5), ("a", "-3", 2.0)]
    graph = table("7,5\n5,-3\n", source=1, target=0)
    assert graph.ids.tolist() == [-3, 5, 7] and graph.ids.dtype == np.int64
    assert table("1 0\n0 2\n", source=0, target=1).ids is None
    assert table("07 7\n", source=0, target=1).ids.tolist() == ["07", "7"]
    assert table(f"{2**63} 1\n", source=0, target=1).ids.tolist() == [1, 2**63]
    assert table("from,to\n", source="from", target="to").n == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no rows"),
        ("# only\n\n", "has no rows"),
        ("from,to\n1,2\n", "line 1: there is no column 'km': the header has from, to"),
        ("from,to,km,km\n1,2,3,4\n", "line 1: there is more than one column 'km'"),
        ("\nfrom,to,km\n1,2,3\n1,2\n", "line 4: the row has 2 columns, and the first one has 3"),
        ("from,to,km\n1,2,3,4\n", "line 2: the row has 4 columns"),
        ("from,to,km\n1,2,3\n, 2,3\n", "line 3: the source is empty"),
        ("from,to,km\n1,,3\n", "line 2: the target is empty"),
        ("from,to,km\n1,2,3\n1,2,\n", "line 3: expected a weight, a number or inf for 'no edge', got ''"),
        ("from,to,km\n1,2,nan\n", "line 2: expected a weight.* got 'nan'"),
        ("from,to,km\n1,2,-inf\n", "line 2: expected a weight.* got '-inf'"),
        ("from,to,km\n1,2,1e999\n", "line 2: expected a weight.* got '1e999'"),
        ("from,to,km\n1,2,1_0\n", "line 2: expected a weight.* got '1_0'"),
        (f"from,to,km\n1,2,{2**63}\n", "line 2: expected a weight"),
        ('from,to,km\n1,2,3\n1,"2,3\n', "line 3: unexpected end of data"),
        (b"from,to,km\n1,\xff,3\n", "is not a text in UTF-8"),
        ("from,to,km\n1,2," + "3" * 200_000, "line 2: field larger than field limit"),
    ],
)
def test_wrong_tables_in_text(text, says):
    with pytest.raises(mgraph.FormatError, match=says):
        table(text, format="edges", **NAMED)


def test_compressed_tables(tmp_path):
    content = gzip.compress(b"from,to,km\nUlm,Bonn,420\nBonn,Kiel,560\n" * 1)
    path = tmp_path / "roads.csv.gz"
    path.write_bytes(content)
    assert edges_by_id(mgraph.read(path, **NAMED)) == ROADS
    path.write_bytes(content[:-12])
    with pytest.raises(mgraph.FormatError, match=r"roads\.csv\.gz"):
        mgraph.read(path, **NAMED)


def test_a_line_without_an_end(monkeypatch):
    monkeypatch.setattr("mgraph.io.table.BLOCK", 100)
    with pytest.raises(mgraph.FormatError, match="line 2: a table in text expected, got a line of 100 characters"):
        table("from,to,km\n" + "1" * 1000, **NAMED)


def test_tables_in_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "roads.parquet"
    columns = {"from": ["Ulm", "Bonn"], "to": ["Bonn", "Kiel"], "km": [420, 560], "name": ["a", None]}
    parquet.write_table(arrow.table(columns), path)
    assert edges_by_id(mgraph.read(path, **NAMED)) == ROADS
    assert edges_by_id(table(path.read_bytes(), format="parquet", **NAMED)) == ROADS
    assert mgraph.read(path, source="from", target="from", weighted=False).m == 2
    with pytest.raises(mgraph.FormatError, match=r"in the column 'km', which may be weights: .* by weight='km'"):
        mgraph.read(path, source="from", target="to")
    with pytest.raises(mgraph.FormatError, match="has no column 'miles': it has from, to, km, name"):
        mgraph.read(path, source="from", target="to", weight="miles")
    with pytest.raises(mgraph.FormatError, match=r"roads.parquet: the column 'name' has 1 nulls"):
        mgraph.read(path, source="from", target="name", weighted=False)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(mgraph.FormatError, match="is not a Parquet file that can be read"):
        mgraph.read(path, **NAMED)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"source": "from"}, "target must be the name of a column, got None: source='from' is one"),
        ({"weight": "km"}, "weight=.km. goes with source=, as <file> holds an edge list"),
        ({"source": "from", "target": 1}, "target must be the name of a column"),
        ({"source": 0, "target": "to"}, "target must be the number of a column, got 'to': source=0 is one"),
        ({"source": -1, "target": 0}, "there is no column -1"),
        ({"source": True, "target": False}, "source must be"),
        (NAMED | {"relabel": True}, "relabel=True does not go with source="),
        (NAMED | {"n": 3}, "n=3 does not go with source="),
        (NAMED | {"format": "mtx"}, "format must be one of 'edges'"),
    ],
)
def test_wrong_names_of_columns(options, says):
    with pytest.raises(InputError, match=says):
        table("from,to,km\n1,2,3\n", **options)


def test_files_whose_columns_have_no_names(tmp_path):
    for path in (["a.csv", "b.csv"], ("src.npy", "dst.npy"), "part-*.csv"):
        with pytest.raises(InputError, match="source= names a column of one file"):
            mgraph.read(path, **NAMED)
    (tmp_path / "a.mtx").write_text("")
    with pytest.raises(InputError, match="holds Matrix Market: source= names a column of a table"):
        mgraph.read(tmp_path / "a.mtx", **NAMED)
    with pytest.raises(mgraph.MissingFileError):
        mgraph.read(tmp_path / "none.csv", **NAMED)
    with pytest.raises(InputError, match="source= is for files that this process reads"):
        mgraph.read(tmp_path / "a.csv", **NAMED, client=object())


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("count", [0, 1, 3, 2000])
def test_ids_in_use_are_numbered_ascending(dtype, count):
    bounds = np.iinfo(dtype)
    for low, high in ((0, 120), (-100, 100), (7, 8), (bounds.min, bounds.max)):
        ends = np.random.default_rng(count).integers(low, high, (2, count), dtype)
        used, places = np.unique(ends, return_inverse=True)
        found = packed(*ends)
        for mine, its in zip(found, (used, *places.reshape(2, count)), strict=True):
            np.testing.assert_array_equal(mine, its)
        assert found[0].dtype == np.int64
