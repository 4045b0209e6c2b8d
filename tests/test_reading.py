"""Graphs that workers read from files are those that are read here, bit for bit, and errors are the same."""

import bz2
import gzip
import io
import lzma
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import dask
import fsspec
import numpy as np
import pytest
from distributed import get_worker

import mgraph
from mgraph import Graph
from mgraph.errors import FormatError, InputError, MissingFileError, WorkerLostError
from mgraph.io import FORMATS, edge_files, files
from mgraph.io import columns as file_columns
from mgraph.io.section import Section
from mgraph.runtime.placing import Placing
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster, wait_until
from tests.support.parameters import exhaustive
from tests.support.properties import check_built as check_built
from tests.support.residents import names_kept, same

pytestmark = CLUSTER_WARNINGS


#: Workers in this process: one of them has no section of a short file.
client = clients(2)


@pytest.fixture(autouse=True)
def short_sections(monkeypatch):
    """Cut files into sections of a few lines."""
    monkeypatch.setattr(edge_files, "SECTION", (128, 512))


def check(client, path, **options):
    """Compare a graph that workers read with the same one read here; return the latter."""
    expected = mgraph.read(path, **options)
    check_built(mgraph.read(path, **options, client=client, device="cpu"), expected, client)
    return expected


def lines(m=300, n=90, weights=None, separator=" ", seed=4):
    """The text of random edges, with loops and parallel ones."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n, m), rng.integers(0, n, m)]
    if weights is not None:
        columns.append(rng.integers(-9, 50, m) if weights == "integers" else rng.random(m))
    return "".join(separator.join(map(str, row)) + "\n" for row in zip(*(c.tolist() for c in columns), strict=True))


@pytest.mark.parametrize(("weights", "directed"), [(None, False), ("integers", None), ("floats", False)])
def test_edge_lists(client, write, weights, directed):
    path = write("# a comment\n\n" + lines(weights=weights))
    graph = check(client, path, directed=directed)
    assert graph.weighted == (weights is not None)
    with mgraph.read(path, directed=directed, client=client, device="cpu") as placed:
        same(mgraph.bfs(placed, 3), mgraph.bfs(graph, 3, device="cpu"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("", {"n": 5, "weighted": True}),
        ("# nothing\n", {}),
        ("0 1", {}),
        ("\ufeff0 1\r\n1 2\r\n", {}),
        ("0,1,2\n" * 40 + "1,2,0.5\n" + "2,0,inf\n" * 40, {}),
        ("0 1 7\n" * 9 + "0 9 inf\n", {}),
        ("0\t1\tfriend\n" * 30, {"weighted": False}),
        (lines(), {"n": 200}),
        ("#" * 500 + "\n" + lines(), {}),
        ("\ufeff# from a site\n90 300\n" + lines(), {"n": 90}),
        ("# from a site\n" * 30 + "91 300\n" + lines(), {"n": 91}),
        ("90 299\n" + lines(), {"n": 300}),
        ("7 3\n" + "0 1\n" * 30, {"n": 8}),
        ("0 1\n" + "# \n" * 100 + "1 2\n", {}),
        ("90 300 1\n" + lines(weights="integers"), {"n": 90}),
        ("90 90 300\n" + lines(weights="integers"), {"n": 91}),
        ("0 1 {}\n" * 60 + "1 2 {'weight': 2}\n" + "2 0 {'x': '#'}\n" * 60, {}),
        ("0 1 {}\n" * 60, {}),
        ("% sym unweighted\n% 80 3 3\n" + "1 2 1 99\n2 3 1 99\n" * 40, {}),
        ("% asym signed\n" + "4 2 -1\n2 3 1\n" * 40, {"n": 7}),
        ("% bip weighted\n% 80 9 9\n" + "4 2 .5\n2 3 1\n" * 40, {}),
        ("% bip unweighted\n" + "4 2\n" * 70 + "5 3\n2 9\n", {"directed": True}),
        ("% sym unweighted\n% 0 5 5\n", {}),
    ],
)
def test_texts(client, write, text, options):
    check(client, write(text), **options)


@pytest.mark.parametrize(("largest", "directed"), [(5, None), (2**62, False)])
def test_ids_are_numbered_as_here(client, write, directed, largest):
    rng = np.random.default_rng(3)
    used = np.unique(rng.integers(0, largest, 60))
    text = "".join(f"{u} {v} {u % 7}\n" for u, v in rng.choice(used, (200, 2)))
    path = write(text)
    expected = mgraph.read(path, relabel=True, directed=directed)
    with mgraph.read(path, relabel=True, directed=directed, client=client, device="cpu") as found:
        np.testing.assert_array_equal(found.ids, expected.ids)
        assert found.ids.ranges == found.ranges and found.to_graph().ids.dtype == np.int64
        distances = mgraph.bfs(found, 0).distances
        here = mgraph.bfs(expected, 0, device="cpu").distances
        np.testing.assert_array_equal(found.ids[distances == 1], expected.ids[here == 1])
        found.publish("numbered")
    with mgraph.resident("numbered", client) as found:
        np.testing.assert_array_equal(found.ids, expected.ids)
        mgraph.cluster.unpublish("numbered", client)
    check_built(mgraph.read(path, relabel=True, directed=directed, client=client, device="cpu"), expected, client)


def test_ids_on_workers_come_back_in_results(client, write, tmp_path):
    pytest.importorskip("pandas")
    with mgraph.read(write("70 500\n500 12\n"), relabel=True, client=client, device="cpu") as found:
        result = mgraph.bfs(found, 1, predecessors=True)
        frame = result.to_pandas()
        assert frame.index.tolist() == [12, 70, 500] and frame["distances"].tolist() == [2, 0, 1]
        assert frame["predecessors"].isna().tolist() == [False, True, False] and frame["predecessors"][12] == 500
        result.save(tmp_path / "found.npz")
        with np.load(tmp_path / "found.npz") as archive:
            assert archive["ids"].tolist() == [12, 70, 500]
    names = Graph.from_edges([0, 1], [1, 2], ids=["a", "b", "c"])
    with mgraph.DistributedGraph.from_graph(names, client, device="cpu") as found:
        frame = mgraph.distances(found, ["b"], ids=True).to_pandas()
        assert frame["target"].tolist() == ["b", "c"] and found.to_graph().ids.tolist() == ["a", "b", "c"]


def test_numbered_ids_of_few_edges(client, write):
    for text in ("", "7 7\n", "9 4\n" * 90, f"0 {2**63 - 1}\n"):
        expected = mgraph.read(write(text), relabel=True)
        with mgraph.read(write(text), relabel=True, client=client, device="cpu") as found:
            assert found.ids.to_numpy().tolist() == expected.ids.tolist() and found.n == expected.n
    path = write("5 7\n7 9\n" * 40)
    assert mgraph.read(path, relabel=True, n=3, client=client, device="cpu").n == 3
    for wrong, n, message in ((path, 4, "holds 3 distinct vertex ids, not n=4"), ("0 -1\n", None, "below 0")):
        given = wrong if n else write(wrong)
        with pytest.raises(FormatError, match=message):
            mgraph.read(given, relabel=True, n=n, client=client, device="cpu")
    del found
    wait_until(lambda: names_kept(client) == [])


def test_sparse_ids_are_warned_of(client, write):
    path = write("0 1000\n")
    with pytest.warns(mgraph.SparseIdsWarning, match="at most 2 of the ids 0 to 1000 are in use") as caught:
        assert mgraph.read(path, client=client, device="cpu").n == 1001
    assert caught[0].filename == __file__


def test_ids_that_begin_at_1_are_warned_of(client, write):
    with pytest.warns(mgraph.SparseIdsWarning, match="the ids begin at 1, .* relabel=True") as caught:
        assert mgraph.read(write("1 2\n" * 60), client=client, device="cpu").n == 3
    assert caught[0].filename == __file__


@pytest.mark.parametrize("sizes", ["% 100 9 9\n", ""])
def test_ids_of_konect_are_numbered_as_here(client, write, sizes):
    path = write(f"% bip unweighted\n{sizes}" + "4 2\n" * 50 + "9 3\n2 7\n")
    expected = mgraph.read(path, relabel=True)
    with mgraph.read(path, relabel=True, client=client, device="cpu") as found:
        assert found.ids.to_numpy().tolist() == expected.ids.tolist() == [2, 4, 9, 11, 12, 16]
        assert not found.directed and found.m == expected.m == 104


def test_some_of_the_workers(client, write):
    first = next(iter(client.scheduler_info()["workers"]))
    with mgraph.read(write(lines()), client=client, device="cpu", workers=[first]) as found:
        assert len(found.ranges) == 1


@pytest.mark.parametrize("start", (125, 126, 127))
def test_lines_at_the_ends_of_sections(client, write, start):
    check(client, write("#" * start + "\n" + "".join(f"{u} {u + 1}\n" for u in range(90))))


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (lzma.compress, ".xz"), (gzip.compress, "")])
def test_compressed(client, write, pack, suffix):
    check(client, write(pack(lines(weights="integers").encode()), "edges.txt" + suffix))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("0 1\n" * 40 + "0 x\n" + "1 1\n" * 40 + "y\n", {}),
        ("0 1\n" * 40 + "0 1 2\n", {}),
        ("0 1\n" * 40 + "0 2147483648\n", {}),
        ("0 1\n" * 40 + "0 9\n", {"n": 5}),
        ("0 1 2\n" * 40 + "0 1 nan\n", {}),
        ("0 1 2 3\n", {}),
        ("0 1\n" * 4, {"weighted": True}),
        ("5 40\n" + "0 1\n" * 40, {}),
        ("0 1\n1 1\n2 40\n" + "0 1\n" * 38, {}),
        ("5 39\n" + "0 1\n" * 40, {"n": 5}),
        ("0 1\n" * 40 + "\0\n", {}),
        ("5 40 1\n" + "0 1 2\n" * 40, {}),
        ("5 5 40\n" + "0 1 2\n" * 40, {}),
        ("0 1 {}\n" * 40 + "0 1 {'weight': x}\n", {}),
        ("% bip unweighted\n% 41 2 3\n" + "1 1\n" * 40 + "3 3\n", {}),
        ("% sym unweighted\n% 40 9 9\n" + "1 1\n" * 40, {"n": 5}),
        ("% sym unweighted\n" + "1 1\n" * 40 + "0 1\n", {}),
    ],
)
def test_errors_are_those_of_reading_here(client, write, text, options):
    path = write(text)
    with pytest.raises(FormatError) as here:
        mgraph.read(path, **options)
    with pytest.raises(FormatError) as there:
        mgraph.read(path, **options, client=client, device="cpu")
    assert str(here.value) in str(there.value)
    wait_until(lambda: names_kept(client) == [])


@pytest.mark.parametrize("kept", [90, *exhaustive(1)])
@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (lzma.compress, ".xz"), (bz2.compress, ".bz2")])
def test_compressed_files_that_are_cut_off(client, write, pack, suffix, kept):
    ids = np.random.default_rng(0).integers(0, 999, (5000, 2))
    content = pack("".join(f"{src} {dst}\n" for src, dst in ids).encode())
    path = write(content[: len(content) * kept // 100], "edges.txt" + suffix)
    for options in ({}, {"client": client, "device": "cpu"}):
        with pytest.raises(FormatError, match="is cut off or corrupt"):
            mgraph.read([path], **options)


@pytest.mark.parametrize(
    ("start", "stop", "size"),
    [(0, 396, 3), (0, 396, 395), (100, 300, 3), (100, 300, 99), (100, 300, 299), (391, 396, 395)],
)
def test_a_file_that_gets_shorter(write, start, stop, size):
    path = write("10 20\n" * 66)
    section = Section(str(path), start, stop)
    with files.open_section(section) as lines:
        assert lines.read().count(b"\n") == len(range(-(-start // 6), -(-stop // 6)))
    os.truncate(path, size)
    with pytest.raises(FormatError, match=rf"bytes {start} to {stop}: the file has become shorter"):
        with files.open_section(section) as lines:
            lines.read()


def test_weights_of_no_edges(client, tmp_path):
    names = [str(tmp_path / name) for name in ("src.npy", "dst.npy", "weights.npy")]
    for name, dtype in zip(names, (int, int, "float32"), strict=True):
        np.save(name, np.zeros(0, dtype))
    for options in ({}, {"client": client, "device": "cpu"}):
        assert mgraph.read(tuple(names), n=3, **options).weights_dtype == np.float64
        assert mgraph.read(tuple(names[:2]), n=3, **options).weights_dtype is None


def test_files_of_two_formats(write):
    one, other, column = write("0 1 5\n"), write("", "other.parquet"), write("0 1\n", "other.mtx")
    with pytest.raises(FormatError, match=r"other.parquet is of the format 'parquet', and .*edges.txt of 'edges'"):
        mgraph.read([one, other])
    with pytest.raises(FormatError, match=r"other.mtx: graphs from several files"):
        mgraph.read([one, column])
    assert mgraph.read([one, column], format="edges", weighted=False).m == 2


def test_an_error_names_the_bytes(client, write):
    path = write("0 1\n" * 40 + "0 x\n" + "0 1\n" * 40)
    with pytest.raises(FormatError, match=r"edges.txt, line 41: .* in '0 x'.* \(in bytes \d+ to \d+\)"):
        mgraph.read(path, client=client, device="cpu")


def test_files_that_a_worker_cannot_read(client, write, tmp_path):
    with pytest.raises(MissingFileError, match=r"no such file, on the worker inproc://.*: '/.*none.txt'"):
        mgraph.read(tmp_path / "none.txt", client=client, device="cpu")
    with pytest.raises(FormatError, match="is a folder"):
        mgraph.read(tmp_path, client=client, device="cpu")
    check(client, write(lines()))


def test_a_file_that_one_worker_cannot_read(client, write, monkeypatch):
    path, last = write(lines()), list(client.cluster.workers.values())[-1].address
    opened = files.open_file

    def refused(name):
        if threading.current_thread() is not threading.main_thread() and get_worker().address == last:
            raise PermissionError(13, "Permission denied", name)
        return opened(name)

    monkeypatch.setattr(edge_files, "open_file", refused)
    monkeypatch.setattr(files, "open_file", refused)
    with pytest.raises(PermissionError) as caught:  # as of reading it here
        mgraph.read(path, client=client, device="cpu")
    assert str(caught.value) == f"[Errno 13] Permission denied, on the worker {last}: '{path}'"
    assert caught.value.filename == str(path)
    wait_until(lambda: names_kept(client) == [])
    monkeypatch.undo()
    monkeypatch.setattr(edge_files, "SECTION", (128, 512))
    check(client, path)


def test_a_worker_that_is_lost_while_it_reads(write, tmp_path):
    path = write(lines())
    os.mkfifo(tmp_path / "pipe.txt")  # which nobody writes to: opening it waits
    with cluster(2, processes=True) as client, ThreadPoolExecutor(1) as thread, dask.config.set({"mgraph.retries": 0}):
        pids = client.run(os.getpid)
        reading = thread.submit(mgraph.read, tmp_path / "pipe.txt", client=client, device="cpu")
        wait_until(lambda: any("survey" in str(key) for keys in client.processing().values() for key in keys))
        [address] = [worker for worker, keys in client.processing().items() if any("survey" in str(k) for k in keys)]
        os.kill(pids[address], signal.SIGKILL)
        with pytest.raises(WorkerLostError, match=address):
            reading.result()
        wait_until(lambda: len(client.scheduler_info()["workers"]) == 2)  # its nanny starts another one
        check(client, path)
        wait_until(lambda: names_kept(client) == [])


def test_a_file_that_changes_while_it_is_read(client, write, monkeypatch):
    path, step = write("0 1\n" * 300), Placing.step

    def stepped(self, s, first, limit, comm):
        if first == 1:
            comm.allreduce(np.zeros(1), "sum")  # all have counted
            path.write_bytes(b"0 1 \n" * 240)
            comm.allreduce(np.zeros(1), "sum")
        return step(self, s, first, limit, comm)

    monkeypatch.setattr(Placing, "step", stepped)
    with pytest.raises(FormatError, match=r"edges.txt, bytes .*: the file has changed while it was read"):
        mgraph.read(path, client=client, device="cpu")
    path.unlink()
    wait_until(lambda: names_kept(client) == [])


def test_arguments(write, client):
    path = write("0 1\n")
    with pytest.raises(InputError, match="device goes with client="):
        mgraph.read(path, device="cpu")
    with pytest.raises(InputError, match=r"client must be a distributed\.Client"):
        mgraph.read(path, client="tcp://10.0.0.1:8786")
    with path.open("rb") as file, pytest.raises(InputError, match="path must be a path, a list of them"):
        mgraph.read(file, client=client)


def columns(m=300, n=90, dtype="int64", seed=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(0, 50, m).astype(dtype)


def check_columns(client, path, edges, **options):
    """Compare a graph that was read here and on workers with that of its edges."""
    expected = Graph.from_edges(*edges)
    check_built(mgraph.read(path, **options, client=client, device="cpu"), expected, client)
    found = mgraph.read(path, **options)
    for ours, theirs in zip(found.csr(), expected.csr(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_several_texts(client, write, tmp_path):
    parts = [lines(seed=seed, weights="integers") for seed in (1, 2)]
    paths = [
        write("# none\n", "part-0.txt"),
        write(parts[0], "part-1.txt"),
        write(gzip.compress(parts[1].encode()), "part-2.txt.gz"),
    ]
    whole = mgraph.read(write("".join(parts), "all.txt"))
    for given in (paths, [tmp_path / "part-0.txt", str(tmp_path / "part-[12]*")], tmp_path / "part-*"):
        found = check(client, given)
        for ours, theirs in zip(found.csr(), whole.csr(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    write("4 5\n", "part-3.txt")
    with pytest.raises(FormatError, match=r"part-3.txt, line 1: '4 5' has 2 columns of numbers, not 3"):
        mgraph.read(tmp_path / "part-*")
    with pytest.raises(FormatError, match=r"part-3.txt, line 1: '4 5' has 2 columns of numbers, not 3"):
        mgraph.read(tmp_path / "part-*", client=client, device="cpu")


def test_a_header_of_several_texts(client, write, tmp_path):
    write("30 6\n" + "0 1\n" * 3, "a.txt")
    write("0 2\n" * 3, "b.txt")
    assert check(client, tmp_path / "?.txt", n=30).m == 6
    assert check(client, tmp_path / "?.txt", n=31).m == 7
    with pytest.raises(FormatError, match=r"a.txt, line 1: '30 6' looks like a header"):
        mgraph.read(tmp_path / "?.txt")


@pytest.mark.parametrize("kind", [None, "int64", "float32"])
def test_arrays_of_columns(client, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(file_columns, "ELEMENTS", 70)
    edges = columns(dtype=kind or "int64")[: 3 if kind else 2]
    names = ("src", "dst", "weights")[: len(edges)]
    for part, chosen in enumerate((slice(0, 100), slice(100, None))):
        for name, column in zip(names, edges, strict=True):
            np.save(tmp_path / f"{name}-{part}.npy", column[chosen].astype(">i4") if part else column[chosen])
    if kind == "float32":
        np.save(tmp_path / "weights-1.npy", edges[2][100:])
    check_columns(client, tuple(tmp_path / f"{name}-*.npy" for name in names), edges)
    parts = [tuple(tmp_path / f"{name}-{part}.npy" for name in names) for part in (0, 1)]
    check_columns(client, parts, edges)
    if kind:
        check_columns(client, parts, edges[:2], weighted=False)


def test_wrong_arrays_of_columns(client, tmp_path):
    def saved(name, values):
        np.save(tmp_path / name, values)
        return tmp_path / name

    src, three = saved("src.npy", [0, 1]), saved("three.npy", [0, 1, 2])
    for pair, message in (
        ((src, three), "has 2 entries and .* has 3"),
        ((src, saved("negative.npy", [0, -1])), "entries 0 to 2: the target must be vertex ids of 0 or more, got -1"),
        ((src, saved("floats.npy", [0.5, 1])), "the target must be integers"),
        ((src, saved("square.npy", np.eye(2, dtype=int))), r"has the shape \(2, 2\)"),
        ((src, saved("large.npy", [0, 2**31])), "beyond int32"),
        ((src, src, saved("nan.npy", [0, np.nan])), "got nan for edge 1"),
    ):
        for options in ({}, {"client": client, "device": "cpu"}):
            with pytest.raises(FormatError, match=message):
                mgraph.read(pair, **options)
    (tmp_path / "cut.npy").write_bytes(src.read_bytes()[:-1])
    with pytest.raises(FormatError, match="is the file complete"):
        mgraph.read((src, tmp_path / "cut.npy"), client=client, device="cpu")
    with pytest.raises(InputError, match="the parts do not match"):
        mgraph.read((src, tmp_path / "*.npy"), client=client, device="cpu")
    with pytest.raises(FormatError, match="read this one by itself"):
        mgraph.read([src], client=client, device="cpu")
    wait_until(lambda: names_kept(client) == [])


SINGLE = [".properties" if name == "webgraph" else f".{name}" for name in FORMATS if name != "edges"]


@pytest.mark.parametrize("suffix", [*SINGLE, ".graph", ".MTX.gz"])
def test_formats_of_one_file_are_not_read_as_edges(write, suffix):
    """Also a format that is added: each file of it would be taken for an edge list."""
    given = [write("0 1\n", f"{part}{suffix}") for part in range(2)]
    with pytest.raises(FormatError, match=r"0.*: graphs from several files, .* read this one by itself"):
        mgraph.read(given)


def test_parquet(client, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    edges = columns(dtype="float32")
    path = tmp_path / "edges.parquet"
    parquet.write_table(pyarrow.table(dict(zip(("a", "b", "w"), edges, strict=True))), path, row_group_size=70)
    check_columns(client, path, edges, columns=["a", "b", "w"])
    check_columns(client, path, edges[:2], columns=("a", "b"))
    for options in ({}, {"client": client, "device": "cpu"}):
        with pytest.raises(FormatError, match=r"has no column 'src': name those .* by columns=, of 'a', 'b' or 'w'"):
            mgraph.read(path, **options)
    for part in (0, 1):
        chosen = {name: column[part::2] for name, column in zip(("src", "dst", "weight"), edges, strict=True)}
        parquet.write_table(pyarrow.table(chosen), tmp_path / f"part-{part}.pq")
    joined = [np.concatenate([column[::2], column[1::2]]) for column in edges]
    parquet.write_table(pyarrow.table({"src": [0], "dst": [1], "km": [420]}), tmp_path / "km.parquet")
    for options in ({}, {"client": client, "device": "cpu"}):
        with pytest.raises(FormatError, match=r"in the column 'km', which may be weights: name .* by columns=, or"):
            mgraph.read(tmp_path / "km.parquet", **options)
        assert mgraph.read(tmp_path / "km.parquet", **options, weighted=False).m == 1
    check_columns(client, tmp_path / "part-*", joined)
    check_columns(client, tmp_path / "part-*", joined[:2], weighted=False)
    wrong = tmp_path / "wrong.parquet"
    for table, message in (
        ({"src": [0, None], "dst": [0, 1]}, "row groups 0 to 1: the column 'src' has 1 nulls"),
        ({"src": [0, -1], "dst": [0, 1]}, "the source must be vertex ids of 0 or more, got -1"),
        ({"src": ["a"], "dst": ["b"]}, "the source must be integers"),
        ({"src": [0], "dst": [1], "weight": [float("nan")]}, "got nan for edge 0"),
    ):
        parquet.write_table(pyarrow.table(table), wrong)
        for options in ({}, {"client": client, "device": "cpu"}):
            with pytest.raises(FormatError, match=message):
                mgraph.read(wrong, **options)
    wrong.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="is not a Parquet file that can be read"):
        mgraph.read(wrong)
    wait_until(lambda: names_kept(client) == [])


def test_urls(client, write, monkeypatch):
    path = write(lines(weights="integers"))
    expected = mgraph.read(path)
    check_built(mgraph.read(f"file://{path}", client=client, device="cpu"), expected, client)
    system = fsspec.filesystem("memory")
    for name, content in (("edges.txt", path.read_bytes()), ("edges.txt.gz", gzip.compress(path.read_bytes()))):
        system.pipe(f"/graphs/{name}", content)
    # Workers read at the same time, and all readers of such a file share its position.
    monkeypatch.setattr(type(system), "open", lambda system, path, *_, **__: io.BytesIO(system.cat_file(path)))
    for name in ("edges.txt", "edges.txt.gz", "*.txt"):
        check(client, f"memory://graphs/{name}")
    for options in ({}, {"client": client, "device": "cpu"}):
        with pytest.raises(MissingFileError, match=r"memory://graphs/none.txt"):
            mgraph.read("memory://graphs/none.txt", **options)
        with pytest.raises(MissingFileError, match="no file has a name of this pattern"):
            mgraph.read("memory://graphs/*.csv", **options)
        with pytest.raises(InputError, match="is a URL of an unknown kind"):
            mgraph.read("nothing://graphs/*.csv", **options)
        with pytest.raises(InputError, match="is not a URL that fsspec can open"):
            mgraph.read("reference://x/a.txt", **options)
    system.rm("/graphs", recursive=True)


def test_zstd(client, write):
    zstd = pytest.importorskip("backports.zstd")
    packed = zstd.compress(lines(weights="floats").encode())
    check(client, write(packed, "edges.txt.zst"))
    check(client, write(packed + packed))
    with pytest.raises(FormatError, match="cut off or corrupt"):
        mgraph.read(write(packed[:-30], "cut.txt.zst"))
    with pytest.raises(FormatError, match="cut off or corrupt"):
        mgraph.read(write(packed[:4] + b"\xff" * 20 + packed[24:], "wrong.txt.zst"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "path must be one file or more"),
        ([7], "path must be a path, a list of them, or a tuple"),
        (("a.npy",), "path must be tuples of two or three"),
        (("a.npy",) * 4, "path must be tuples of two or three"),
        ("https://[::1", r"path must be a valid URL, got 'https://\[::1'"),
        (["a.txt", "s3://[::1/b-*.txt"], r"path must be a valid URL, got 's3://\[::1/b-\*\.txt'"),
    ],
)
def test_what_are_no_paths(client, given, message):
    for where in ({}, {"client": client, "device": "cpu"}):
        with pytest.raises(InputError, match=message):
            mgraph.read(given, **where)


def test_wrong_options_of_files(write):
    path = write("0 1\n")
    for wrong in ("src", ["src"], [1, 2], ["a", "b", "c", "d"]):
        with pytest.raises(InputError, match="columns must be two or three names"):
            mgraph.read(path, columns=wrong)
    with pytest.raises(InputError, match="dense='adjacency' is for one file with a dense matrix"):
        mgraph.read([path], dense="adjacency")
    with pytest.raises(InputError, match="format must be"):
        mgraph.read([path], format="mtx")


def test_relative_paths_are_of_this_process(client, write, monkeypatch):
    path = write(lines())
    monkeypatch.chdir(path.parent)
    check(client, os.path.basename(path))
