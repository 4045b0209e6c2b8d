"""Graphs in files of METIS, GAP, nauty and Graphalytics, and those that are not read: right, or refused."""

import gzip
import random
import re
import struct
import sys
import types

import numpy as np
import pytest

import mgraph
from mgraph import device
from mgraph.errors import FormatError, InputError, MemoryLimitError, MissingPackageError, OutputExistsError
from mgraph.io import read, stream
from tests.support.files import PACK, refused


def triples(graph):
    src, dst, weights = graph.coo()
    return sorted(zip(src.tolist(), dst.tolist(), *([] if weights is None else [weights.tolist()]), strict=True))


def serialized(n, edges, directed=True, into=None):
    """Return the bytes of a .sg or .wsg file, as GAP's own program would write them."""

    def rows(edges):
        edges = sorted(edges)
        offsets = [sum(u < v for u, *_ in edges) for v in range(n + 1)]
        numbers = [number for edge in edges for number in edge[1:]]
        return struct.pack(f"<{n + 1}q", *offsets) + struct.pack(f"<{len(numbers)}i", *numbers)

    turned = [(v, u, *weight) for u, v, *weight in edges] if into is None else into
    return struct.pack("<Bqq", directed, len(edges), n) + rows(edges) + (rows(turned) if directed else b"")


def made(seed, directed, weighted, loops=True):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    src, dst = rng.integers(0, n, (2, 3 * n))
    key = np.unique(np.where(directed or (src <= dst), src * n + dst, dst * n + src))
    src, dst = key // n, key % n
    if not loops:
        src, dst = src[src != dst], dst[src != dst]
    weights = rng.integers(1, 1000, len(src)) if weighted else None
    return mgraph.Graph.from_edges(src, dst, weights, n + 2, directed)


# METIS


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("name", ["g.graph", "g.metis"])
def test_metis(write, name, suffix):
    text = "% from the manual of METIS\n4 3 001\n2 7 3 8\n1 7\n% a comment\n1 8 4 9\r\n 3\t9 \n"
    graph = read(write(PACK[suffix](text.encode()), name + suffix))
    assert not graph.directed and graph.n == 4 and graph.ids is None
    assert triples(graph) == sorted([(0, 1, 7), (1, 0, 7), (0, 2, 8), (2, 0, 8), (2, 3, 9), (3, 2, 9)])


@pytest.mark.parametrize(
    ("header", "before"),
    [("3 2", ""), ("3 2 0", ""), ("3 2 000", ""), ("3 2 10", "5 "), ("3 2 010 2", "5 6 "), ("3 2 110 2", "4 5 6 "),
     ("3 2 100", "4 ")],
)  # fmt: skip
def test_metis_with_weights_of_vertices(write, header, before):
    path = write(f"{header}\n{before}2\n{before}1 3\n{before}2\n", "g.graph")
    assert triples(read(path)) == [(0, 1), (1, 0), (1, 2), (2, 1)]


def test_metis_with_all_weights(write):
    graph = read(write("2 1 111 2\n9 5 6 2 30\n9 5 6 1 30\n", "g.graph"))
    assert triples(graph) == [(0, 1, 30), (1, 0, 30)]
    assert not read(write("2 1 111 2\n9 5 6 2 30\n9 5 6 1 30\n", "g.graph"), weighted=False).weighted


@pytest.mark.parametrize("text", ["3 1\n2\n1\n\n", "3 1\n2\n1\n", "3 1\n2\n1\n\n\n \n%\n", "\n3 1\n2\n1\n"])
def test_metis_lines_without_neighbours(write, text):
    assert (read(write(text, "g.graph")).n, read(write(text, "g.graph")).m) == (3, 2)
    assert read(write("3 0\n\n\n\n", "g.graph")).n == 3 and read(write("0 0\n", "g.graph")).n == 0
    assert triples(read(write("3 1\n\n3\n2\n", "g.graph"))) == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("header", "loop"), [("3 7 100", "3"), ("3 4 100", "3"), ("3 4 100", "3 3"), ("3 8 100", "3 3")]
)
def test_loops_and_parallel_edges_as_the_tenth_dimacs_challenge_has_them(write, header, loop):
    """Edges are counted, or entries; a loop is one entry, or two."""
    text = f"{header}\n2 2\n1 1 3\n2 {loop}\n"
    graph = read(write(text, "g.graph"))
    loops = [(2, 2)] * (2 if header == "3 8 100" else 1)
    assert not graph.directed and triples(graph) == [(0, 1), (0, 1), (1, 0), (1, 0), (1, 2), (2, 1), *loops]
    assert read(write(text, "g.graph"), directed=True).m == 6 + len(loop.split())
    sized = "\n".join([header.split()[0] + " 3 100", "9 2 2", "9 1 1 3", "9 2"])
    assert triples(read(write(sized, "g.graph"))) == [(0, 1), (0, 1), (1, 0), (1, 0), (1, 2), (2, 1)]


@pytest.mark.parametrize(("fmt", "weight"), [("", ""), ("100", ""), ("1", " 5"), ("001", " 5")])
def test_entries_with_directions_as_gap_has_them(write, fmt, weight):
    """The first line counts entries; vertices without neighbours have an empty line, and others a blank at its end."""
    path = write(f"4 5 {fmt}\n2{weight} 3{weight} 4{weight} \n\n\n1{weight} 4{weight} \n", "g.graph")
    ends = (5,) if weight else ()
    for directed in (None, True):
        graph = read(path, directed=directed)
        assert graph.directed and graph.n == 4
        assert triples(graph) == [pair + ends for pair in ((0, 1), (0, 2), (0, 3), (3, 0), (3, 3))]
    refused(path, "between the vertices 1 and 2", "directed=True", directed=False)
    path = write(f"3 4 {fmt}\n2{weight}\n1{weight} 3{weight}\n2{weight}\n", "g.graph")
    assert not read(path).directed and read(path).m == 4


def test_metis_as_a_directed_graph(write):
    path = write("2 1 1\n2 3\n1 4\n", "g.graph")
    graph = read(path, directed=True)
    assert graph.directed and triples(graph) == [(0, 1, 3), (1, 0, 4)]
    refused(path, "between the vertices 1 and 2", "directed=True")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["'vertices edges'"]),
        ("% nothing\n", ["'vertices edges'"]),
        ("3\n", ["line 1", "not with '3'"]),
        ("%\n3 x\n", ["line 2", "not with '3 x'"]),
        ("3 1 2\n", ["line 1"]),
        ("3 1 0001\n", ["line 1"]),
        ("3000000000 0\n", ["line 1", "beyond int32"]),
        (f"{2**62} 0\n", ["line 1"]),
        ("2000000000 1\n2\n1\n", ["line 4", "the lines of 2 of 2000000000 vertices"]),
        ("2 1\n2\n1\n1\n", ["line 4", "follows the lines of all 2"]),
        ("2 1\n2\n0\n", ["line 3", "the vertex 0 is not in 1 to 2"]),
        ("2 1\n2\n3\n", ["line 3", "the vertex 3 is not in 1 to 2"]),
        ("2 1\n1\n1\n", ["line 2", "a neighbour is the vertex of the line itself"]),
        ("3 4 100\n2 3\n", ["the lines of 1 of 3"]),
        ("2 9 100\n2\n1\n", ["9 edges", "2 neighbours"]),
        ("2 2 100\n1 2\n1 2\n", ["loops"]),
        ("2 1\n2 -1\n1\n", ["line 2", "got '-'"]),
        ("2 1\n2.0\n1\n", ["line 2", "got '.'"]),
        ("2 1\n2 % here\n1\n", ["line 2", "got '%'"]),
        ("2 1\n2\n\x00\n", ["line 3", "0x00"]),
        ("2 1\n2\n1" + "0" * 20 + "\n", ["line 3", "21 digits"]),
        ("2 1 1\n2 3\n1\n", ["line 3", "lacks the weight"]),
        ("2 1 10\n5 2\n\n", ["line 3", "0 numbers, and 1"]),
        ("2 1 10\n5 2", ["the lines of 1 of 2"]),
        ("2 3\n2\n1\n", ["3 edges", "2 neighbours"]),
        ("3 1\n2\n\n2\n", ["between the vertices 1 and 2"]),
        ("3 2\n2 2\n1\n2\n", ["between the vertices 1 and 2"]),
        ("3 2 1\n2 1 2 5\n1 5 1 2\n\n", ["between the vertices 1 and 2"]),
    ],
)
def test_bad_metis(write, text, parts):
    refused(write(text, "g.graph"), *parts)


def test_metis_in_many_blocks(write, monkeypatch):
    monkeypatch.setattr(stream, "BLOCK", 64)
    monkeypatch.setattr(stream, "PIECE", 16)
    for seed in range(10):
        graph = made(seed, False, seed % 2, loops=False)
        file = write(b"", "g.graph")
        mgraph.write(graph, file, overwrite=True)
        again = read(file)
        assert again.n == graph.n and triples(again) == triples(graph)
        lines = file.read_bytes().split(b"\n")
        lines[-5:-5] = [b"% a comment that is longer than others", b"%"]
        assert triples(read(write(b"\n".join(lines), "h.graph"))) == triples(graph)
    refused(write(b"99 1\n" + b"\n" * 70 + b"1 x\n", "g.graph"), "line 72")


def test_metis_by_another_program(tmp_path):
    networkit = pytest.importorskip("networkit")
    for seed in range(4):
        graph, path = made(seed, False, seed % 2, loops=False), tmp_path / f"{seed}.graph"
        mgraph.write(graph, path)
        theirs = networkit.graphio.METISGraphReader().read(str(path))
        assert (theirs.numberOfNodes(), theirs.numberOfEdges()) == (graph.n, graph.m // 2)
        networkit.graphio.METISGraphWriter().write(theirs, str(tmp_path / "again.graph"))
        assert triples(read(tmp_path / "again.graph")) == triples(graph)


# GAP


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_serialized_graphs(write, suffix, directed, weighted):
    edges = [(0, 2, 5), (2, 0, 5), (2, 3, -7), (3, 2, -7)] + [(1, 0, 2**31 - 1)] * directed
    edges = [edge[: 2 + weighted] for edge in edges]
    name = "g.wsg" if weighted else "g.sg"
    graph = read(write(PACK[suffix](serialized(5, edges, directed)), name + suffix))
    assert graph.n == 5 and graph.directed == directed and triples(graph) == sorted(edges)
    if not directed:
        graph = read(write(serialized(5, edges, directed), name), directed=True)
        assert graph.directed and triples(graph) == sorted(edges)
    assert read(write(serialized(5, edges, directed), name), n=9).n == 9
    with open(write(serialized(5, edges, directed), name), "rb") as file:
        assert read(file, format=name[2:]).m == len(edges)


def test_an_empty_serialized_graph(write):
    assert read(write(serialized(0, []), "g.sg")).n == 0
    assert read(write(serialized(3, [], False), "g.wsg")).n == 3


def changed(content, place, layout, *values):
    new = struct.pack(layout, *values)
    return content[:place] + new + content[place + len(new) :]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_broken_serialized_graphs(write, pack):
    good = serialized(4, [(0, 1, 9), (1, 2, 8), (3, 0, 7)])
    offsets, entries = 17, 17 + 5 * 8
    for content, part in [
        (b"", "0 of the 17 bytes"),
        (good[:16], "16 of the 17 bytes"),
        (good[:-1], ""),
        (good[:40], ""),
        (good + b"\0", ""),
        (b"\xef\xbb\xbf" + good, ""),
        (changed(good, 0, "<B", 2), "a byte 0 or 1"),
        (changed(good, 0, "<B", 0), ""),
        (changed(good, 1, "<q", -1), "two sizes"),
        (changed(good, 9, "<q", -1), "two sizes"),
        (changed(good, 9, "<q", 2**62), "beyond int32"),
        (changed(good, 9, "<q", 5), ""),
        (changed(good, 1, "<q", 4), ""),
        (changed(good, offsets, "<q", 1), "does not begin with 0"),
        (changed(good, offsets + 8, "<q", 3), "decreases"),
        (changed(good, offsets + 8, "<q", -1), "decreases"),
        (changed(good, offsets + 32, "<q", 2), "ends with 2"),
        (changed(good, offsets + 32, "<q", 2**62), "ends with"),
        (changed(good, entries, "<i", 4), "outside of 0 to 3"),
        (changed(good, entries, "<i", -1), "outside of 0 to 3"),
    ]:
        name = "g.wsg" if pack is bytes else "g.wsg.gz"
        refused(write(pack(content), name), part)
    refused(write(pack(serialized(3, [(0, 1)], False)), "g.sg"), "between the vertices 0 and 1", "directed=True")
    refused(write(serialized(3, [(0, 1), (1, 0)], False), "g.wsg"), "is it complete, and with int32 weights?")
    refused(write(serialized(3, [(0, 1, 4), (1, 0, 5)], False), "g.wsg"), "between the vertices 0 and 1")


@pytest.mark.parametrize("pack", ["", ".gz"])
def test_sizes_of_a_serialized_graph_are_checked_before_memory_is_taken(write, pack, monkeypatch):
    monkeypatch.setattr(device.HostDevice, "available_memory", lambda self: 1 << 30)
    for m, n in ((0, 2 * 10**9), (2**40, 3), (2**62, 3), (2**62, 2**31 - 2**20)):
        path = write(PACK[pack](struct.pack("<Bqq", 0, m, n) + bytes(100)), f"g.sg{pack}")
        with pytest.raises(MemoryLimitError if pack else FormatError, match=re.escape(str(path))):
            read(path)


@pytest.mark.parametrize("kind", ["sg", "wsg", "graph"])
def test_mutated_files_are_refused_or_read(write, kind):
    rng = random.Random(kind)
    graph = made(3, kind == "wsg", kind != "sg", loops=kind != "graph")
    path = write(b"", f"g.{kind}")
    mgraph.write(graph, path, overwrite=True)
    good, outcomes = path.read_bytes(), {"read": 0, "refused": 0}
    for _ in range(400):
        content = bytearray(good)
        for _ in range(rng.choice([1, 1, 2])):
            place = rng.randrange(len(content))
            match rng.randrange(4):
                case 0:
                    content[place] ^= 1 << rng.randrange(8)
                case 1:
                    del content[place : place + rng.choice([1, 4, 8])]
                case 2:
                    content[place:place] = rng.choice([b"\n", b"1", b" 2 ", b"%", b"\0", bytes(8), b"\xff" * 8])
                case 3:
                    content[place : place + 8] = struct.pack("<q", rng.choice([-1, 2**31, 2**62, 7]))
        try:
            found = read(write(bytes(content), path.name))
        except (FormatError, MemoryLimitError) as error:
            assert str(path) in str(error)
            outcomes["refused"] += 1
        else:
            src, dst, _ = found.coo()
            assert len(src) == 0 or (0 <= min(src.min(), dst.min()) and max(src.max(), dst.max()) < found.n)
            outcomes["read"] += 1
    assert outcomes["refused"] > 40


# WebGraph


class PanicException(BaseException):
    """What an error in Rust is raised as."""


class BvGraph:
    """A graph with the interface of the package webgraph, read from a text of successors."""

    def __init__(self, name):
        with open(f"{name}.properties") as file:
            self.n, self.m, *self.degrees = map(int, file.read().split())
        with open(f"{name}.graph") as file:
            self.rows = [list(map(int, line.split())) for line in file]

    def num_nodes(self):
        return self.n

    def num_arcs(self):
        return self.m

    def outdegrees(self):
        return np.array(self.degrees, np.uint32)

    def successors(self, vertex):
        if vertex >= len(self.rows):
            raise PanicException("unexpected end of data\nStack backtrace:")
        return iter(self.rows[vertex])


@pytest.fixture
def webgraph(monkeypatch):
    monkeypatch.setitem(sys.modules, "webgraph", types.SimpleNamespace(BvGraph=BvGraph))


def test_webgraph(webgraph, write):
    write("3 3 2 0 1", "web.properties")
    path = write("1 2\n\n0\n", "web.graph")
    for name in (path, path.with_suffix(".properties")):
        graph = read(name)
        assert graph.directed and graph.n == 3 and triples(graph) == [(0, 1), (0, 2), (2, 0)]
    assert read(path, format="webgraph", directed=False).m == 6
    refused(write("1 2\n\n3\n", "web.graph"), "outside of 0 to 2")
    refused(write(f"1 2\n\n{2**64 - 1}\n", "web.graph"), "webgraph can read")
    refused(write("1 2\n", "web.graph"), "unexpected end of data. ", "web.ef is missing: 'webgraph build ef ")
    refused(write("1 2\n1\n0\n", "web.graph"), "3 edges are expected")
    refused(write("1\n\n0\n", "web.graph"), "3 edges are expected")
    write("3000000000 3 2 0 1", "web.properties")
    refused(path, "beyond int32")
    write("", "web.properties")
    refused(path, "webgraph can read")
    with open(path, "rb") as file, pytest.raises(InputError, match="several files"):
        read(file, format="webgraph")
    with pytest.raises(InputError, match="several files"):
        read(write(gzip.compress(b"1"), "web.graph.gz"), format="webgraph")


def test_webgraph_without_its_package(monkeypatch, write):
    monkeypatch.setitem(sys.modules, "webgraph", None)
    with pytest.raises(MissingPackageError, match="pip install webgraph"):
        read(write("", "web.properties"))


# Writing


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_round_trips(tmp_path, seed, directed, weighted):
    graph = made(seed, directed, weighted)
    path = tmp_path / ("g.wsg" if weighted else "g.sg")
    mgraph.write(graph, path)
    again = mgraph.read(path)
    assert (again.n, again.directed, triples(again)) == (graph.n, directed, triples(graph))
    edges = triples(graph)
    assert path.read_bytes() == serialized(graph.n, edges, directed)
    if not directed:
        simple = made(seed, False, weighted, loops=False)
        mgraph.write(simple, tmp_path / "g.metis")
        assert triples(mgraph.read(tmp_path / "g.metis")) == triples(simple)


def test_what_the_formats_cannot_hold(tmp_path):
    cases = {
        "a.sg": (mgraph.Graph.from_edges([0], [1], [5]), "holds no weights"),
        "a.wsg": (mgraph.Graph.from_edges([0], [1]), "the graph has none"),
        "b.wsg": (mgraph.Graph.from_edges([0], [1], [0.5]), "int32"),
        "c.wsg": (mgraph.Graph.from_edges([0], [1], [2**31]), "int32"),
        "a.graph": (mgraph.Graph.from_edges([0], [1]), "no direction"),
        "b.graph": (mgraph.Graph.from_edges([0], [0], directed=False), "from a vertex to itself"),
        "c.graph": (mgraph.Graph.from_edges([0], [1], [0], directed=False), "positive integers"),
        "d.metis": (mgraph.Graph.from_edges([0], [1], [1.5], directed=False), "positive integers"),
        "big.graph": (mgraph.Graph.from_edges([0], [1], [10**18], directed=False), "more than 18 digits"),
        "a.txt": (mgraph.Graph.from_edges([0], [1]), "has the suffix"),
        "s3://bucket/a.sg": (mgraph.Graph.from_edges([0], [1]), "the path of a file"),
    }
    for name, (graph, why) in cases.items():
        with pytest.raises(InputError, match=why):
            mgraph.write(graph, name if "://" in name else tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_on_request_only(tmp_path):
    path = tmp_path / "g.sg"
    mgraph.write(mgraph.generate.grid(1, 2).unweighted(), path)
    before = path.read_bytes()
    with pytest.raises(OutputExistsError):
        mgraph.write(mgraph.generate.grid(1, 3).unweighted(), path)
    assert path.read_bytes() == before
    mgraph.write(mgraph.generate.grid(1, 3).unweighted(), path, overwrite=True)
    assert read(path).n == 3
    with pytest.raises(InputError):
        mgraph.write("g.sg", path, overwrite=True)


# graph6 and sparse6


@pytest.mark.parametrize("n", [0, 1, 2, 4, 9, 16, 63, 70])
@pytest.mark.parametrize("kind", ["graph6", "sparse6"])
def test_graph6_as_networkx_writes_it(n, kind, write):
    networkx = pytest.importorskip("networkx")
    made = networkx.gnp_random_graph(n, 0.4, seed=n)
    content = getattr(networkx, f"to_{kind}_bytes")(made)
    graph = read(write(content, f"g.{kind[0]}6"))
    assert (graph.n, graph.directed, graph.ids) == (n, False, None)
    assert triples(graph) == sorted((u, v) for a, b in made.edges for u, v in ((a, b), (b, a)))


def test_loops_and_parallel_edges_of_sparse6(write):
    assert triples(read(write(":Fa@x^\n", "g.s6"))) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (5, 6), (6, 5)]
    assert triples(read(write(">>sparse6<<:A_", "g.s6"))) == [(0, 1)] * 3 + [(1, 0)] * 3


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "holds no graph"),
        ("A_\nA_\n", "holds 2 graphs"),
        ("\nA_ x", "line 2: graph6 and sparse6 have the characters from '?' to '~', got ' '"),
        ("&A_", "got '&'"),
        ("C", "4 vertices have 1 characters, and 0 are there"),
        ("~?", "ends within the number of vertices"),
        (":", "ends within the number of vertices"),
        (":~~~~~~~~", "beyond int32"),
    ],
)
def test_wrong_graph6(write, content, part):
    refused(write(content, "g.g6"), part)


# Graphalytics


def test_graphalytics(write, tmp_path):
    edges, vertices = "7 90000000000 0.5\n90000000000 3 2\n", "3\n5\n7\n90000000000\n"
    alone = read(write(edges, "x.e"))
    assert (alone.n, alone.directed, alone.ids.tolist()) == (3, True, [3, 7, 90000000000])
    write(vertices, "x.v")
    for name in ("x.e", "x.v"):
        graph = read(tmp_path / name)
        assert graph.ids.tolist() == [3, 5, 7, 90000000000] and triples(graph) == [(2, 3, 0.5), (3, 0, 2)]
    write("graph.x.vertex-file = x.v\ngraph.x.directed = false\n", "x.properties")
    assert read(tmp_path / "x.e", weighted=False).m == 4
    write(gzip.compress(edges.encode()), "y.e.gz")
    assert read(write(gzip.compress(vertices.encode()), "y.v.gz")).n == 4
    refused(write("3\n7\n", "x.v"), "x.e: the vertex 90000000000 of an edge is not in")
    refused(write("3\n3\n", "x.v"), "the vertex 3 is there twice")
    refused(write("1 2\n1 b\n", "z.e"), "line 2:", "got 'b'")
    with pytest.raises(mgraph.errors.MissingFileError):
        read(write("1\n", "alone.v"))
    assert read(write("# none\n", "none.e")).n == 0


# Formats of other programs


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("g.dot", ("DOT of Graphviz", "nx_pydot.read_dot")),
        ("g.GV.gz", ("DOT of Graphviz",)),
        ("g.xlsx", ("a spreadsheet", "from_pandas")),
        ("g.pkl", ("a pickle", "pickle.load")),
        ("g.mat", ("MATLAB", "loadmat")),
        ("g.lgl", ("LGL", "Read_Lgl")),
    ],
)
def test_suffixes_of_other_programs(write, name, parts):
    content = b"0 1\n" if name.endswith(".gz") else b"PK\x03\x04 0 1\n"
    path = write(gzip.compress(content) if name.endswith(".gz") else content, name)
    refused(path, *parts)
    with pytest.raises(FormatError, match=parts[0]):
        mgraph.read([path])
    assert read(write("0 1\n", "h" + name.removesuffix(".gz")), format="edges").m == 1


def test_suffixes_that_mean_nothing(write):
    assert read(write("\ufeff# a graph\n\n0 1\n", "g.dat")).m == read(write("% a graph\n0 1\n", "g.net")).m == 1
    assert read(write("% of Pajek\n*Vertices 2\n*Arcs\n1 2\n", "h.net")).m == 1
    for content in ("digraph {\n", "# x\n\nname other\n0 1\n", "{}"):
        refused(
            write(content, "g.odd"),
            "expected an edge, got ",
            "the suffix '.odd' is not that of a format",
            "format=",
            "networkx.read_...",
        )
    refused(write("# x\nv w\n", "g.odd"), "line 2: expected an edge, got 'v w'")
    assert mgraph.read(write("v w\na b\n", "h.odd"), source="v", target="w").m == 1


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000"])
def test_a_line_of_blanks_that_are_not_ascii(write, blank):
    refused(write(f"p sp 3 1\na 1 2 5\n{blank}\n", "g.gr"), f"line 3: expected an edge, got {blank!r}")


@pytest.mark.parametrize(("name", "text"), [("a.gr", "p sp 2 1\na 1 2 5\n"), ("a.graph", "2 1\n2\n1\n")])
def test_a_graph_says_that_its_file_counts_from_1(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    graph = mgraph.read(path)
    assert ", from 0 where its file counts from 1)" in repr(graph)
    assert "counts" not in repr(mgraph.read(path, relabel=True))  # whose ids are the file's
    assert "counts" not in repr(graph.reversed().subgraph([1, 0]))
