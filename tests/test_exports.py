"""Ways out: results as frames with the graph's ids, as NetworkX graphs and in files."""

import bz2
import errno
import gc
import gzip
import io
import pickle
from functools import partial

import numpy as np
import pytest

import mgraph
from mgraph.algorithms.registry import ALGORITHMS
from tests.support import formats
from tests.support.calls import arguments
from tests.support.commands import invoke, misused, ok

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
    assert called(frame, "distances") == [*found.distances[:3].tolist(), None]
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
    assert frame.columns.tolist() == ["src", "dst", "weights"]
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


def test_an_empty_graph_with_ids():
    empty = mgraph.Graph.from_edges([], [], ids=[])
    assert len(mgraph.connected_components(empty, device="cpu").to_pandas()) == 0
    assert np.asarray(empty.ids).dtype == np.int64


def attributes(made, name):
    return {vertex: found[name] for vertex, found in made.nodes.items() if name in found}


def test_results_as_attributes(graph):
    pytest.importorskip("networkx")
    a, b, _c, d = graph.ids.tolist()
    made = mgraph.sssp(graph, 0, predecessors=True, device="cpu").to_networkx()
    assert attributes(made, "distances") == {0: 0, 1: 4, 2: 9} and made[0][1]["weight"] == 4
    assert attributes(made, "predecessors") == {1: a, 2: b}
    made = mgraph.connected_components(graph, device="cpu").to_networkx()
    assert attributes(made, "labels") == {0: a, 1: a, 2: a, 3: d}
    unnamed = mgraph.Graph.from_edges([0, 1], [1, 2], n=4)
    made = mgraph.bfs(unnamed, 0, predecessors=True, device="cpu").to_networkx()
    assert attributes(made, "predecessors") == {1: 0, 2: 1} and attributes(made, "distances") == {0: 0, 1: 1, 2: 2}


def test_results_that_are_no_attributes(graph):
    pytest.importorskip("networkx")
    for found in (mgraph.apsp(graph, device="cpu"), mgraph.list_rank([1, 1], device="cpu")):
        with pytest.raises(mgraph.InputError, match="it has no value for each vertex"):
            found.to_networkx()
    found = mgraph.bfs(mgraph.Graph.from_edges([0], [1]), 0, device="cpu")
    with pytest.raises(mgraph.InputError, match="no longer exists"):
        found.to_networkx()
    assert len(found.to_networkx(mgraph.Graph.from_edges([0], [1]))) == 2
    with pytest.raises(mgraph.InputError, match="graph must be the graph of the result"):
        found.to_networkx(graph)


@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
def test_graphs_in_xml(graph, suffix, tmp_path):
    networkx = pytest.importorskip("networkx")
    path = tmp_path / f"found{suffix}"
    mgraph.sssp(graph, 0, predecessors=True, device="cpu").save(path)
    made = getattr(networkx, f"read_{suffix[1:]}")(path)
    a, b, c, d = map(str, graph.ids)
    assert attributes(made, "distances") == {a: 0, b: 4, c: 9}
    assert attributes(made, "predecessors") == {b: a, c: b} and attributes(made, "label")[d] == d
    again = mgraph.read(path)
    assert (again.n, again.m) == (4, 2) and again.csr().weights.tolist() == [4, 5]
    assert again.ids.tolist() == (graph.ids.tolist() if graph.ids.dtype.kind == "i" else [a, b, c, d])
    with pytest.raises(mgraph.OutputExistsError):
        mgraph.bfs(graph, 0, device="cpu").save(path)
    mgraph.bfs(graph, 0, device="cpu").save(path, overwrite=True)
    content = path.read_bytes()
    for pack, ending in ((gzip.compress, ".gz"), (bz2.compress, ".bz2")):
        packed = tmp_path / f"found{suffix}{ending}"
        packed.write_bytes(pack(content))
        assert mgraph.read(packed).m == 2
        packed.write_bytes(pack(content)[:-15])
        with pytest.raises(mgraph.FormatError):
            mgraph.read(packed)
    path.write_bytes(content[:-30])
    with pytest.raises(mgraph.FormatError, match=r"line \d+: not well-formed XML"):
        mgraph.read(path)
    assert mgraph.read(io.BytesIO(content)).m == 2


@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
def test_ids_of_the_same_text(suffix, tmp_path):
    networkx = pytest.importorskip("networkx")
    same = mgraph.Graph.from_edges([0, 1], [1, 2], ids=[7, "7", "x"])
    mgraph.bfs(same, 0, device="cpu").save(tmp_path / f"same{suffix}")
    made = getattr(networkx, f"read_{suffix[1:]}")(tmp_path / f"same{suffix}")
    assert attributes(made, "label") == {"0": "7", "1": "7", "2": "x"} and made.number_of_edges() == 2
    plain = mgraph.Graph.from_edges([0, 1, 0], [1, 2, 1], [1.5, 2, 3], directed=False)
    mgraph.connected_components(plain, device="cpu").save(tmp_path / f"plain{suffix}")
    again = mgraph.read(tmp_path / f"plain{suffix}")
    assert (again.ids, again.m, again.directed) == (None, 6, False)


def test_a_graph_that_is_gone_is_given_again(tmp_path):
    pytest.importorskip("networkx")
    result = mgraph.bfs(mgraph.generate.grid(2, 3), 0, device="cpu")
    gc.collect()
    with pytest.raises(mgraph.InputError, match="no longer exists"):
        result.save(tmp_path / "levels.graphml")
    result.save(tmp_path / "levels.graphml", graph=mgraph.generate.grid(2, 3))
    assert mgraph.read(tmp_path / "levels.graphml").m == 14


def test_ids_that_have_no_encoding(tmp_path):
    pytest.importorskip("zarr")
    graph = mgraph.Graph.from_edges([0], [1], ids=["a\ud800", "b"])
    found, many = mgraph.bfs(graph, 0, device="cpu"), mgraph.bfs_many(graph, [0], device="cpu")
    for call in (
        found.to_pandas,
        many.to_pandas,
        lambda: found.save(tmp_path / "found.zarr"),
        lambda: found.save(tmp_path / "found.parquet"),
    ):
        with pytest.raises(mgraph.InputError, match=r"the id 'a.ud800': the string has a lone surrogate"):
            call()
    assert not list(tmp_path.iterdir())
    found.save(tmp_path / "found.npz")


def test_ids_that_no_array_of_text_holds(tmp_path, monkeypatch):
    graph = mgraph.Graph.from_edges([0], [1], ids=["a\0", "a"])
    for save in (mgraph.bfs(graph, 0, device="cpu").save, mgraph.Hierarchy(graph, order=[0, 1]).save):
        with pytest.raises(mgraph.InputError, match=r"the id 'a.x00': it ends with a NUL"):
            save(tmp_path / "found.npz")
    pytest.importorskip("networkx")
    with pytest.raises(mgraph.InputError, match="XML cannot hold"):
        mgraph.bfs(graph, 0, device="cpu").save(tmp_path / "found.graphml")
    long = mgraph.Graph.from_edges([0], [1], n=1000, ids=["a" * 1000, *map(str, range(999))])
    monkeypatch.setattr("mgraph.device.host.HostDevice.available_memory", lambda self: 2_000_000)
    with pytest.raises(mgraph.MemoryLimitError, match=r"1,000 ids as text needs 3\.81 MiB"):
        mgraph.bfs(long, 0, device="cpu").save(tmp_path / "found.npz")
    assert not list(tmp_path.iterdir())


def test_weights_of_other_files():
    with pytest.raises(mgraph.InputError, match="weight='km' goes with source="):
        mgraph.read(io.BytesIO(b"0 1\n"), weight="km")
    with pytest.raises(mgraph.InputError, match="weight='km' goes with source="):
        mgraph.read(["a.txt", "b.txt"], weight="km")
    with pytest.raises(mgraph.InputError, match="weight must be a name, got 2"):
        mgraph.read(io.BytesIO(b"0 1\n"), weight=2)


def test_arrays_and_tables(graph, tmp_path):
    pytest.importorskip("pyarrow")
    found = mgraph.bfs(graph, 0, predecessors=True, device="cpu")
    found.save(tmp_path / "found.npy")
    assert np.load(tmp_path / "found.npy").tolist() == [0, 1, 2, -1]
    found.save(tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as archive:
        assert sorted(archive) == ["distances", "ids", "predecessors"]
        assert archive["ids"].tolist() == (
            graph.ids.tolist() if graph.ids.dtype.kind == "i" else [*map(str, graph.ids)]
        )
    if graph.ids.tolist() == KINDS["mixed"]:
        with pytest.raises(mgraph.InputError, match="Parquet cannot hold these ids"):
            found.save(tmp_path / "found.parquet")
    else:
        found.save(tmp_path / "found.parquet")
        frame = pandas.read_parquet(tmp_path / "found.parquet")
        assert frame["vertex"].tolist() == graph.ids.tolist() and called(frame, "distances") == [0, 1, 2, None]
    assert not list(tmp_path.glob(".*"))
    for name in ("found.txt", "none/found.npy"):
        with pytest.raises(mgraph.InputError):
            found.save(tmp_path / name)


def test_zarr(graph, tmp_path):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "found.zarr"
    found = mgraph.bfs(graph, 0, predecessors=True, device="cpu")
    found.save(path)
    group = zarr.open_group(path, mode="r")
    assert {name: array[:].tolist() for name, array in group.arrays()} == {
        "distances": [0, 1, 2, -1],
        "predecessors": [-9999, 0, 1, -9999],
        "ids": graph.ids.tolist() if graph.ids.dtype.kind == "i" else [*map(str, graph.ids)],
    }
    with pytest.raises(mgraph.OutputExistsError):
        found.save(path)
    mgraph.apsp(graph, device="cpu").save(path, overwrite=True)
    assert zarr.open_group(path, mode="r")["distances"].shape == (4, 4)
    assert "predecessors" not in zarr.open_group(path, mode="r")
    assert [each.name for each in tmp_path.iterdir()] == ["found.zarr"]
    mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cpu").save("memory://results/found.zarr", overwrite=True)
    assert zarr.open_group("memory://results/found.zarr", mode="r")["distances"][:].tolist() == [0, 1, 1, 2]


def test_zarr_at_a_link_that_leads_nowhere(tmp_path):
    pytest.importorskip("zarr")
    found = mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cpu")
    (tmp_path / "link.zarr").symlink_to(tmp_path / "nowhere.zarr")
    for overwrite in (False, True):
        with pytest.raises(mgraph.InputError, match=r"link\.zarr is a symbolic link to .*, which is not there"):
            found.save(tmp_path / "link.zarr", overwrite=overwrite)
    assert [each.name for each in tmp_path.iterdir()] == ["link.zarr"]


def test_zarr_of_a_batch(tmp_path):
    zarr = pytest.importorskip("zarr")
    found = mgraph.apsp_batch(np.full((70, 128, 128), 0.1), predecessors=True, device="cpu")
    found.save(tmp_path / "batch.zarr")
    group = zarr.open_group(tmp_path / "batch.zarr", mode="r")
    assert sorted(group) == ["distances", "lengths", "predecessors"]
    assert group["distances"].chunks == (64, 128, 128)
    for name, array in group.arrays():
        assert array.dtype == getattr(found, name).dtype and np.array_equal(array[:], getattr(found, name))


def test_zarr_that_cannot_be_written(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr")
    found = mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cpu")
    other = tmp_path / "other.zarr"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(mgraph.InputError, match="is not a Zarr array or group"):
        found.save(other, overwrite=True)
    with pytest.raises(mgraph.InputError, match="path must be a path or a URL"):
        found.save("a\0b.zarr")
    with pytest.raises(mgraph.InputError, match="overwrite"):
        found.save(tmp_path / "found.zarr", overwrite="no")
    found.save(tmp_path / "found.zarr")
    monkeypatch.setattr(zarr.Group, "create_array", lambda *_, **__: 1 / 0)
    for name in ("found.zarr", "new.zarr"):
        with pytest.raises(ZeroDivisionError):
            found.save(tmp_path / name, overwrite=True)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(zarr.Group, "create_array", full)
    with pytest.raises(OSError, match=r"No space left on device; nothing was written: .*new\.zarr"):
        found.save(tmp_path / "new.zarr")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["found.zarr", "other.zarr"]
    assert zarr.open_group(tmp_path / "found.zarr", mode="r")["distances"][:].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("name", ["a\0c", "a\ud800"])
@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
def test_ids_that_xml_cannot_hold(name, suffix, tmp_path):
    pytest.importorskip("networkx")
    graph = mgraph.Graph.from_edges([0], [1], ids=[name, "b"])
    with pytest.raises(mgraph.InputError, match="cannot hold"):
        mgraph.bfs(graph, 0, device="cpu").save(tmp_path / f"found{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [None, 5, b"found.npy", "found\0.npy"])
def test_what_is_no_path(path):
    found = mgraph.bfs(mgraph.generate.grid(1, 2), 0, device="cpu")
    with pytest.raises(mgraph.InputError, match="path must be a path or a URL"):
        found.save(path)


SMALL = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [4, 5, 6], ids=["Ulm", "Bonn", "Kiel", "Rome"], directed=False)

#: A small result of every kind.
RESULTS = {
    **{
        entry.call.__name__: partial(entry.call, *arguments(name, SMALL, [1, 1], [0, 1]), device="cpu")
        for name, entry in ALGORITHMS.items()
    },
    "apsp": lambda: mgraph.apsp(SMALL, predecessors=True, device="cpu"),
    "apsp_batch": lambda: mgraph.apsp_batch([SMALL], device="cpu"),
    "betweenness(edges=True)": lambda: mgraph.betweenness(SMALL, edges=True, device="cpu"),
    "distances(reduce=…)": lambda: mgraph.distances(SMALL, reduce=["closeness", ("within", [4])], device="cpu"),
}


def rows_of(path, suffix):
    """Return how many rows, vertices or elements a file has."""
    if suffix in (".npy", ".npz"):
        found = np.load(path)
        return len(found if suffix == ".npy" else found[found.files[0]])
    if suffix == ".zarr":
        return next(pytest.importorskip("zarr").open_group(path, mode="r").array_values()).shape[0]
    if suffix in (".csv", ".csv.gz", ".parquet"):
        return len(pandas.read_parquet(path) if suffix == ".parquet" else pandas.read_csv(path))
    return mgraph.read(path).n


@pytest.mark.parametrize("call", RESULTS)
def test_every_result_in_every_format(call, tmp_path):
    for package in ("networkx", "pyarrow", "zarr"):
        pytest.importorskip(package)
    found = RESULTS[call]()
    result, command = next(row[1:] for row in formats.rows() if row[0] == f"`{call}`")
    assert type(found) is result
    for column, cell in zip(formats.COLUMNS, formats.cells(result, command), strict=True):
        for suffix in column:
            path = tmp_path / f"found{suffix}"
            if cell.startswith("no: "):
                with pytest.raises(mgraph.InputError, match=cell.removeprefix("no: ")):
                    found.save(path)
                assert not path.exists()
            else:
                found.save(path)
                assert rows_of(path, suffix)
                with pytest.raises(mgraph.OutputExistsError):
                    found.save(path)


@pytest.mark.parametrize("suffix", [suffix for column in formats.COLUMNS for suffix in column])
def test_the_commands_write_what_the_calls_do(suffix, tmp_path):
    for package in ("networkx", "pyarrow", "zarr"):
        pytest.importorskip(package)
    edges, lists = tmp_path / "edges.txt", tmp_path / "list.txt"
    edges.write_text("0 1 4\n1 2 5\n")
    lists.write_text("1\n1\n")
    for call, result, command in formats.rows():
        if command is None:
            continue
        cell = dict(zip(formats.COLUMNS, formats.cells(result, command), strict=True))[
            next(column for column in formats.COLUMNS if suffix in column)
        ]
        path = tmp_path / f"{call.strip(chr(96))}{suffix}"
        given = [lists] if command.name == "rank" else [edges, "--undirected"]
        given += ["--closeness"] if command.name == "measures" else ["--edges"] if "edges" in call else []
        line = command.name, *given, "--device", "cpu", "--out", path, "--quiet"
        if suffix == ".npy" and "edges" in call:
            assert "with --edges, give a .npz file" in misused(invoke(*line))
        elif cell.startswith("no: "):
            assert cell.removeprefix("no: ") in misused(invoke(*line)), call
        else:
            ok(*line)
            assert rows_of(path, suffix), call


def test_tables_at_urls_and_compressed(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    found = mgraph.bfs(SMALL, 0, device="cpu")
    found.save("memory://tables/found.csv.gz", overwrite=True)
    with fsspec.open("memory://tables/found.csv.gz", compression="gzip") as file:
        assert file.read().decode().splitlines() == ["vertex,distances", "Ulm,0", "Bonn,1", "Kiel,2", "Rome,3"]
    with pytest.raises(mgraph.OutputExistsError):
        found.save("memory://tables/found.csv.gz")


def test_measures_and_forests_as_graphs():
    pytest.importorskip("networkx")
    made = mgraph.distances(SMALL, [1, 3], reduce=["reached", ("within", [5, 20])], device="cpu").to_networkx()
    assert [made.nodes[vertex] for vertex in (0, 3)] == [
        {"id": "Ulm"},
        {"id": "Rome", "reached": 4, "within 5": 1, "within 20": 4},
    ]
    cycle = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], [4, 5, 6], ids=["a", "b", "c"], directed=False)
    made = mgraph.minimum_spanning_forest(cycle, device="cpu").to_networkx()
    assert sorted(made.edges(data="weight")) == [(0, 1, 4), (1, 2, 5)] and made.nodes[2] == {"id": "c"}


def test_wide_tables(graph):
    a, b, c, d = graph.ids.tolist()
    frame = mgraph.distances(graph, [1, 0], [2, 3, 0], device="cpu").to_pandas(wide=True)
    assert frame.index.tolist() == [b, a] and frame.columns.tolist() == [c, d, a]
    assert (frame.index.name, frame.columns.name) == ("source", "target")
    assert [[None if value is pandas.NA else value for value in row] for row in frame.to_numpy().tolist()] == [
        [5, None, None],
        [9, None, 0],
    ]
    whole = mgraph.apsp(SMALL, device="cpu").to_pandas(wide=True)
    assert whole.loc["Ulm", "Rome"] == 15 and (whole.dtypes == "int32").all()
    closure = mgraph.transitive_closure(graph, device="cpu").to_pandas(wide=True)
    assert closure.to_numpy().tolist() == [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    for wanted in ({"nearest": 1}, {"reduce": "reached"}, {"sparse": True}):
        with pytest.raises(mgraph.InputError, match="wide=True is for distances to all targets"):
            mgraph.distances(graph, [0], device="cpu", **wanted).to_pandas(wide=True)


def test_pairs_are_written_some_rows_at_a_time(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    graph = mgraph.Graph.from_edges([2], [3], [7], n=4, ids=["Ulm", "Bonn", "Kiel", "Rome"])
    monkeypatch.setattr("mgraph.results.PAIRS_AT_A_TIME", 1)
    found = mgraph.distances(graph, [0, 2, 3], [3], device="cpu")  # of which the first rows have no pair
    expected = {"source": ["Kiel", "Rome"], "target": ["Rome", "Rome"], "distances": [7, 0]}
    for suffix, read in ((".parquet", pandas.read_parquet), (".csv", pandas.read_csv), (".csv.gz", pandas.read_csv)):
        found.save(tmp_path / f"saved{suffix}")
        out = mgraph.distances(graph, [0, 2, 3], [3], out=tmp_path / f"out{suffix}", device="cpu")
        for name in ("saved", "out"):
            assert read(tmp_path / f"{name}{suffix}").to_dict("list") == expected
        assert out.to_pandas().to_dict("list") == expected
        assert f"3 x 1 distances in '{tmp_path / f'out{suffix}'}'" in repr(out)
    assert out.explain().startswith("3 x 1 distances, written in 1 block of 3 sources\n")


def test_the_plan_of_several_blocks(monkeypatch):
    monkeypatch.setattr("mgraph.algorithms.distances.call.BLOCK", 0)
    graph = mgraph.generate.grid(10, 30)
    out = np.empty((300, 300))
    found = mgraph.distances(graph, out=out, device="cpu")
    assert found.explain().startswith(
        "300 x 300 distances, written in 3 blocks of up to 128 sources; the plan is that of the first\n"
    )
    found.verify()


def test_betweenness_of_edges_as_attributes():
    pytest.importorskip("networkx")
    parallel = mgraph.Graph.from_edges([0, 0, 1], [1, 1, 2], [1, 1, 3], directed=False)
    made = mgraph.betweenness(parallel, edges=True, normalized=False, device="cpu").to_networkx()
    assert sorted(made.edges(data="betweenness")) == [(0, 1, 1.0), (0, 1, 1.0), (1, 2, 2.0)]
