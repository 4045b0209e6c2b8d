"""Files: reading and writing each format, compressed ones too, and errors that name the line."""

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import re
import socket
import subprocess
import sys
import tarfile
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

import mgraph.io
from mgraph import device
from mgraph.dtypes import MAX_VERTICES
from mgraph.errors import FormatError, InputError, MemoryLimitError, MissingFileError, OutputExistsError
from mgraph.io import SparseIdsWarning, check_output, lines, read, read_list, save, stream
from mgraph.io.content import Options
from mgraph.io.edge_list import read_edges
from tests.support.files import PACK, in_memory, refused
from tests.support.parameters import exhaustive

DATA = Path(__file__).parents[2] / "shared" / "data"
real_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data with real graphs is missing")


def triples(graph):
    src, dst, weights = graph.coo()
    return list(zip(src.tolist(), dst.tolist(), *([] if weights is None else [weights.tolist()]), strict=True))


# Edge lists


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    "text",
    [
        "0 1\n2 0\n",
        "# comment\n% another\n\n0\t1\n  2   0  # remark\n",
        "0,1\n2, 0",
        "0 1\r\n2 0\r\n",
        "\ufeff0 1\n2 0",
    ],
)
def test_ways_to_write_an_edge_list(write, text, suffix):
    path = write(PACK[suffix](text.encode()), "graph.txt" + suffix)
    graph = read(path)
    assert (graph.n, graph.directed, graph.weighted) == (3, True, False)
    assert triples(graph) == [(0, 1), (2, 0)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_seen_without_its_suffix(write, pack):
    assert triples(read(write(pack(b"0 1\n")))) == [(0, 1)]


def test_directions_and_numbers_of_vertices(write):
    path = write("0 1\n1 1\n")
    assert triples(read(path, directed=False)) == [(0, 1), (1, 0), (1, 1)]
    assert read(path, n=7).n == 7


def test_a_file_without_edges(write):
    assert read(write("# nothing\n")).n == 0
    assert read(write(""), n=5).n == 5
    assert read(write(""), relabel=True).ids.tolist() == []
    assert read(write(""), weighted=True).weighted


def test_weights(write):
    integers, floats = write("0 1 5\n1 0 -2\n", "i"), write("0 1 5\n1 0 2.5\n1 1 inf\n", "f")
    assert read(integers).weights_dtype == np.int64
    assert triples(read(integers)) == [(0, 1, 5), (1, 0, -2)]
    assert read(floats).weights_dtype == np.float64
    assert triples(read(floats)) == [(0, 1, 5), (1, 0, 2.5)]  # inf means no edge
    assert not read(integers, weighted=False).weighted
    refused(write("0 1\n"), "no weights", weighted=True)


def test_columns_beyond_the_second_are_ignored_on_request(write):
    assert triples(read(write("0 1 friend 2007\n1 2 foe\n"), weighted=False)) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "line", "part", "options"),
    [
        ("0 1\n1 two\n", 2, "'two'", {}),
        ("# c\n\nFromNodeId ToNodeId\n0 1\n", 3, "put a '#' before it, or name its columns by source=", {}),
        (
            "from,to\nUlm,Bonn\n",
            1,
            "got 'from' in 'from,to'; ids of any kind are read by source='from' and target='to'",
            {},
        ),
        ("From,To,km\nUlm,Bonn,3\n", 1, "are read by source='From', target='To' and weight='km', columns by", {}),
        ("#from,to\nUlm,Bonn\n", 2, "got 'Ulm' in 'Ulm,Bonn'; ids of any kind are read by source=", {}),
        ("source,target,weight\n0,1,2\n", 1, "'source'", {}),
        ("0 1\n1\n", 2, "1 columns of numbers, not 2", {}),
        ("0 1\n1 2 3\n", 2, "the first edge, on line 1, has 2", {}),
        ("0,1\n1 2\n", 2, "columns", {}),
        ("0,,1\n", 1, "''", {}),
        ("0 1 2 3\n", 1, "4 columns", {}),
        (
            "from,to,airline,km\nA,B,x,3\n",
            1,
            "4 columns: name those of an edge by source=, target= and weight=, as",
            {},
        ),
        ("7\n", 1, "1 columns", {}),
        ("0 1\n0 -1\n", 2, "-1", {}),
        ("0 1.5\n", 1, "'1.5'", {}),
        (f"0 1\n{MAX_VERTICES} 1\n", 2, "relabel=True", {}),
        (f"0 1\n{2**63} 1\n", 2, "beyond int64", {"relabel": True}),
        ("0 1\n1 3\n", 2, "not below n=3", {"n": 3}),
        ("0 1 2.0\n\n1 0 nan\n", 3, "'nan'", {}),
        ("0 1 2.0\n1 0 -inf\n", 2, "'-inf'", {}),
        ("0 1 2\n1 0 heavy\n", 2, "'heavy'", {}),
        ("0 1 2\n1 0\n", 2, "columns", {}),
        ("0 1\n1 2\x00\n", 2, "", {}),
    ],
)
def test_bad_lines_are_named(write, text, line, part, options):
    refused(write(text), f", line {line}:", part, **options)


@settings(max_examples=30)
@given(bad=st.integers(0, 499), block=st.integers(10, 4000), word=st.sampled_from(["x 1", "1", "1 -1", "1 2 3"]))
def test_the_line_is_found_in_every_block(write, bad, block, word):
    lines = ["3 4"] * 500
    lines[bad] = word
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mgraph.io.stream, "BLOCK", block)
        patch.setattr(mgraph.io.stream, "PIECE", 7)
        path = write("\n".join(lines))
        if bad == 0 and word == "1 2 3":
            refused(path, "line 2:")
        else:
            refused(path, f"line {bad + 1}:")


def test_blocks_and_integer_then_float_weights(write, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 16)
    text = "".join(f"{i} {i + 1} {i}\n" for i in range(50)) + "50 0 0.5\n"
    graph = read(write(text))
    assert graph.weights_dtype == np.float64
    assert triples(graph) == [(i, i + 1, i) for i in range(50)] + [(50, 0, 0.5)]


def test_relabel_keeps_the_ids(write):
    graph = read(write(f"{2**62} 10\n10 7\n7 7\n"), relabel=True)
    assert graph.ids.tolist() == [7, 10, 2**62] and graph.ids.dtype == np.int64
    assert triples(graph) == [(0, 0), (1, 0), (2, 1)]
    dense = mgraph.read(write("1 3\n3 1\n3 3\n1 1\n"), relabel=True, n=2)
    assert dense.ids.tolist() == [1, 3] and triples(dense) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    refused(write("1 3\n"), "2 distinct", "n=3", relabel=True, n=3)


TOKENS = ["0", "1", "7", "12", "007", "-1", "+2", "2147483648", "1" * 18, "1" * 19, "x", "#", "%", "# no\x00", "", " "]
NUMBERS = ["5", "-3", "0", "-0", "2.5", ".5", "5.", "-.25", "1e3", "1E-7", "2e", "1e400", "inf", "nan", "0.1", "9" * 19]
NUMBERS += ["123456789012345678901", "0.30000000000000004", "9007199254740993.0", "1e-320", "4.35e18", "1e19", "-0.0"]


@pytest.mark.parametrize("separator", [" ", "\t", ","])
@pytest.mark.parametrize("weighted", [None, False])
def test_plain_lines_are_read_as_any_others(write, monkeypatch, separator, weighted):
    """Texts with a few odd tokens give the same edges, or the same error, with the kernel and without it."""
    rng = np.random.default_rng(5)
    for _ in range(120):
        three, odd = rng.random() < 0.5, rng.random() < 0.5
        rows = []
        for _ in range(rng.integers(1, 12)):
            row = [str(end) for end in rng.integers(0, 30, 2)]
            if three:
                row.append(
                    str(rng.choice(NUMBERS[: 10 if odd else None])) if rng.random() < 0.5 else repr(rng.random())
                )
            if odd and rng.random() < 0.1:
                row.insert(rng.integers(0, 3), str(rng.choice(TOKENS)))
            ends = ["", "", "", " ", "\r", "# c", "\n", " \t ", *([" \t 1", ", 1", ",", " x"] if odd else [])]
            rows.append(separator.join(row) + str(rng.choice(ends)))
        path = write("\n".join(rows) + str(rng.choice(["", "\n"])))
        outcomes = []
        for least in (1, 1 << 40):
            monkeypatch.setattr(lines, "PLAIN", least)
            try:
                with path.open("rb") as file:
                    found = read_edges(path, file, Options(None, None, weighted, False))
                outcomes.append([None if array is None else (array.dtype, array.tobytes()) for array in found[:3]])
            except FormatError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], path.read_bytes()


@pytest.mark.parametrize("least", [1, 1 << 40])
def test_a_column_beyond_the_second_is_ignored_only_behind_a_separator(write, monkeypatch, least):
    monkeypatch.setattr(lines, "PLAIN", least)
    assert triples(read(write("3,2\n10,4 \t , 1\n"), weighted=False)) == [(3, 2), (10, 4)]
    assert triples(read(write("3 2\n10 4 \t , 1\n"), weighted=False)) == [(3, 2), (10, 4)]
    refused(write("3,2\n10,4 \t 1\n"), "line 2", "got '4 \\t 1'", weighted=False)
    refused(write("3 2\n10 4,1\n"), "line 2", "got '4,1'", weighted=False)


@pytest.mark.parametrize("kind", ["sp", "tw", "mtx"])
def test_plain_lines_of_other_formats(write, monkeypatch, kind):
    monkeypatch.setattr(lines, "PLAIN", 1)
    rows = {"sp": "a 1 2 7\na 3 1 4\n", "tw": "1 2\n3 1\n", "mtx": "1 2 7\n3 1 4.5\n"}[kind]
    head = "%%MatrixMarket matrix coordinate real general\n3 3 {}\n" if kind == "mtx" else f"p {kind} 3 {{}}\n"
    text = head.format(2000) + rows * 1000
    monkeypatch.setattr(stream, "BLOCK", 512)
    monkeypatch.setattr(stream, "PIECE", 512)
    with_kernel = read(write(text, "g.mtx" if kind == "mtx" else "g.gr")).csr()
    monkeypatch.setattr(lines, "PLAIN", 1 << 40)
    without = read(write(text, "g.mtx" if kind == "mtx" else "g.gr")).csr()
    for ours, theirs in zip(with_kernel, without, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    wrong = head.format(2000) + rows * 900 + rows.replace("3", "4") + rows * 99
    monkeypatch.setattr(lines, "PLAIN", 1)
    refused(write(wrong, "g.mtx" if kind == "mtx" else "g.gr"), "line 180", "4")


def test_sparse_ids_are_warned_of(write):
    path = write("0 1000\n")
    with pytest.warns(SparseIdsWarning, match=r"2 of the ids 0 to 1000 .*relabel=True numbers") as caught:
        assert mgraph.read(path).n == 1001
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path, relabel=True)
        read(path, n=2000)
        read(write("0 300\n"))
        read(write("\n".join(f"{i} {i + 700}" for i in range(600))))


def test_ids_that_begin_at_1_are_warned_of(write):
    path = write("2 1\n2 3\n")
    with pytest.warns(SparseIdsWarning, match=r"ids begin at 1, and .* a vertex 0 .*: relabel=True numbers") as caught:
        assert mgraph.read(path).n == 4
    assert caught[0].filename == __file__
    with pytest.warns(SparseIdsWarning, match="begin at 1"):
        mgraph.read([path])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, relabel=True).n == 3 and read(path, n=4).n == 4
        assert read(write("2 3\n")).n == 4 and read(write("1 0\n")).n == 2 and read(write("")).n == 0
        read(write("p sp 2 1\na 1 2 5\n", "g.gr"))


# KONECT


def konect(write, text, **options):
    """Return the graph of a text of KONECT, which is the same of a list of files."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, other = mgraph.read(write(text, "out.x"), **options), mgraph.read([write(text, "out.x")], **options)
    assert repr(found) == repr(other) and triples(found) == triples(other)
    assert (found.ids is None) == (other.ids is None) and np.array_equal(found.ids, other.ids)
    return found


@pytest.mark.parametrize("sizes", ["% 2 4 4\n", "% 2 4\n", ""])
@pytest.mark.parametrize(("mark", "directed"), [("% sym unweighted", False), ("%asym\tpositive\r", True)])
def test_konect(write, mark, directed, sizes):
    graph = konect(write, f"{mark}\n{sizes}1 2\n3\t2\n")
    assert (graph.n, graph.directed, graph.ids) == (4 if sizes else 3, directed, None)
    assert triples(graph) == ([(0, 1), (2, 1)] if directed else [(0, 1), (1, 0), (1, 2), (2, 1)])
    assert konect(write, f"\ufeff{mark}\n{sizes}1 2\n3 2\n", directed=True, n=9).n == 9
    assert konect(write, f"{mark}\n{sizes}1 2\n3 2\n", relabel=True).ids.tolist() == [1, 2, 3]
    assert konect(write, f"{mark}\n{sizes}").n == (4 if sizes else 0)


@pytest.mark.parametrize("sizes", ["% 3 2 3\n", ""])
def test_konect_between_two_sides(write, sizes):
    text = f"% bip weighted\n{sizes}1 1 .5 99\n2 1 2 98\n2 3 1 97\n"
    graph = konect(write, text)
    edges = [(0, 2, 0.5), (1, 2, 2.0), (1, 4, 1.0)]
    assert (graph.n, graph.directed) == (5, False)
    assert triples(graph) == sorted(edges + [(v, u, w) for u, v, w in edges])
    relabelled = konect(write, text, relabel=True, directed=True)
    assert relabelled.ids.tolist() == [1, 2, 3, 5] and triples(relabelled) == [(0, 2, 0.5), (1, 2, 2.0), (1, 3, 1.0)]


@pytest.mark.parametrize(
    ("weights", "options", "weighted"),
    [
        ("unweighted", {}, False),
        ("positive", {}, False),
        ("positive", {"weighted": True}, True),
        ("posweighted", {}, True),
        ("signed", {}, True),
        ("multiweighted", {"weighted": False}, False),
        ("", {}, True),
    ],
)
def test_weights_of_konect(write, weights, options, weighted):
    """The third column, which may also say how often there is an edge; a time follows."""
    graph = konect(write, f"% asym {weights}\n1 2 7 1082040961\n2 1 3 1082155839\n", **options)
    assert triples(graph) == ([(0, 1, 7), (1, 0, 3)] if weighted else [(0, 1), (1, 0)])


@pytest.mark.parametrize(
    ("text", "parts", "options"),
    [
        ("% sym unweighted\n0 1\n", ["line 2", "the vertex id 0 in '0 1' is below 1"], {}),
        ("% sym unweighted\n% 1 3 3\n1 4\n", ["line 3", "is above 3, the number of vertices"], {}),
        ("% bip unweighted\n% 1 3 2\n1 2\n3 3\n", ["line 4", "the vertex id 3 in '3 3' is above 2"], {}),
        ("% bip unweighted\n% 1 2 3\n1 3\n3 3\n", ["line 4", "the vertex id 3 in '3 3' is above 2"], {}),
        ("% sym unweighted\n% 1 3 3\n1 2\n", ["says that it has 3 vertices, more than n=2"], {"n": 2}),
        ("% sym dynamic\n1 2 1 5\n", ["line 1", "'dynamic'"], {}),
        ("% bip unweighted\n% 1 2000000000 2000000000\n1 1\n", ["line 2", "beyond int32"], {}),
        ("% asym weighted\n1 2 3\n2 1 x\n", ["line 3", "'x'"], {}),
        ("% sym unweighted\n1 2\n", ["holds no weights"], {"weighted": True}),
    ],
)
def test_bad_konect(write, text, parts, options):
    path = write(text, "out.x")
    for source in (path, [path]):
        with pytest.raises(FormatError) as caught:
            mgraph.read(source, **options)
        assert all(part in str(caught.value) for part in (str(path), *parts))


def test_comments_that_are_not_of_konect(write):
    for comment in ("% symmetric", "% sym of a road", "# sym unweighted", "\n% sym unweighted", "%% sym"):
        assert triples(read(write(f"{comment}\n0 1\n"))) == [(0, 1)]


def test_parts_of_konect(write):
    head, first, other = "% sym unweighted\n% 3 3 3\n", "1 2\n", "2 3\n1 3\n"
    whole = triples(mgraph.read(write(head + first + other, "out.x")))
    for parts in ((head, first, other), (head + first, other), (head + first, head + other)):
        paths = [write(part, f"{place}.txt") for place, part in enumerate(parts)]
        assert triples(mgraph.read(paths)) == whole
    with pytest.raises(FormatError, match=r"1\.txt, line 1: .* KONECT .* read it alone"):
        mgraph.read([write("0 1\n", "0.txt"), write(head + first, "1.txt")])


# Attributes, as NetworkX writes them


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_edges_as_networkx_writes_them(write, tmp_path, separator):
    networkx = pytest.importorskip("networkx")
    cases = [
        (networkx.path_graph(4), None),
        (networkx.Graph([(0, 1, {"weight": 3.0}), (1, 2, {})]), [1.0, 1.0, 3.0, 3.0]),
        (networkx.Graph([(0, 1, {}), (1, 2, {"x": "a, {b}", "weight": -2}), (0, 2, {"p": (1,)})]), [-2, -2, *[1] * 4]),
        (networkx.DiGraph([(0, 1, {"weight": 1e-30}), (1, 0, {"x": None})]), [1e-30, 1]),
    ]  # fmt: skip
    for graph, weights in cases:
        path = tmp_path / "graph.edgelist"
        networkx.write_edgelist(graph, path, delimiter=separator)
        again = networkx.read_edgelist(path, delimiter=separator, nodetype=int, create_using=type(graph))
        expected = mgraph.Graph.from_networkx(again)
        for source in (path, [path]):
            found = mgraph.read(source, directed=graph.is_directed())
            assert triples(found) == triples(expected) and found.weights_dtype == expected.weights_dtype
            assert weights is None or sorted(found.coo()[2].tolist()) == weights
            assert not mgraph.read(source, weighted=False).weighted


def test_attributes(write, monkeypatch):
    text = "# 0 1 {'weight': 9}\n0 1 {} # {}\n1 2 {'weight': inf}\n1 0 {'weight': None}\n2 0 {\"weight\": 2}\n"
    assert triples(read(write(text))) == [(0, 1, 1.0), (2, 0, 2.0)]
    text = "0 1 {}\n" * 50 + "1 0 {'weight': 2}\n" + "2 1 {'a': '\u00e9'}\n" * 50
    whole = triples(read(write(text)))
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 64)
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 64)
    monkeypatch.setattr(lines, "PLAIN", 1)
    assert triples(read(write(text))) == whole and whole.count((1, 0, 2)) == 1
    for wrong in ("{'weight': 'x'}", "{'weight': np.float64(2.0)}", "{", "{1}", "{" * 40 + "}", "{}{}", "{}7", "{} 7"):
        refused(write(text + f"0 1 {wrong}\n"), "line 102", "expected attributes such as {'weight': 3.0}")
    refused(write("a b {}\n"), "line 1", "'a'", "Graph.from_networkx(networkx.read_edgelist(path))")
    for wrong in ("nan", "True"):
        refused(write(f"0 1 {{}}\n0 1 {{'weight': {wrong}}}\n"), "line 2", f"'{wrong}'")
    refused(write("0 1 {}\n0 1\n"), "line 2", "2 columns")
    refused(write("0 1 {}\n"), "no weights", weighted=True)


def test_a_header_is_not_taken_for_an_edge(write):
    path = write("0 0\n4 4\n0 1\n1 2\n2 3\n3 0\n")
    refused(path, "line 2", "header", "n=4", "n=5")
    assert triples(read(path, n=4)) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 0)]
    assert triples(read(path, n=5)) == [(0, 0), (0, 1), (1, 2), (2, 3), (3, 0), (4, 4)]
    assert triples(read(write("4 3\n0 1\n1 2\n2 3\n"), n=4)) == [(0, 1), (1, 2), (2, 3)]
    refused(write("4 7\n0 1\n1 2\n2 3\n"), "line 1:", "'4 7' is not below n=4", n=4)
    refused(write("4 7\n"), "line 1:", "'4 7' is not below n=4", n=4)
    refused(write("0 1\n4 x\n"), "line 2:", "'4 x'", n=4)
    assert (read(write("4 0\n"), n=4).n, read(write("4 0\n"), n=4).m) == (4, 0)
    # Ids from 1, weights under a header without one, and sparse ids.
    refused(write("3 4\n1 2\n2 3\n3 1\n1 1\n"), "line 1", "header", "put a '#'")
    assert triples(read(write("2 1\n0 1 0.5\n"), n=2)) == [(0, 1, 0.5)]
    assert triples(read(write("2 9\n9 2\n"), relabel=True, n=2)) == [(0, 1), (1, 0)]
    assert read(write("3 3\n10 20\n20 30\n30 10\n"), relabel=True, n=3).ids.tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("text", "line", "header", "vertices"),
    [
        ("4 3\n0 1\n1 2\n2 3\n", 1, "4 3", 4),
        ("10 4\n0 1\n1 2\n2 3\n3 4\n", 1, "10 4", 10),
        ("0 0\n4,3\n0 1\n1 2\n2 3\n", 2, "4 3", 4),
        ("3 2\n2 1\n1 0\n", 1, "3 2", 3),
    ],
)
def test_a_header_of_few_edges_is_an_edge_only_on_request(write, text, line, header, vertices):
    path = write(text.replace(",", " "))
    refused(
        path, f"line {line}: '{header}'", f"pass n={vertices} to skip it", f"if it is an edge, pass n={vertices + 1}"
    )
    skipped, kept = read(path, n=vertices), read(path, n=vertices + 1)
    assert (skipped.n, kept.n, kept.m) == (vertices, vertices + 1, skipped.m + 1)
    edge = tuple(map(int, header.split()))
    assert set(triples(kept)) - set(triples(skipped)) == {edge}


@pytest.mark.parametrize("header", ["4 3 1", "4 3 0", "4 4 3", "4,3,1"])
@pytest.mark.parametrize("before", ["", "0 0 9\n"])
def test_a_header_of_three_numbers(write, header, before):
    """Vertices, edges and more, or rows, columns and entries."""
    text = f"{before}{header}\n0 1 5\n1 2 7\n2 3 2\n"
    path = write(text.replace(" ", ",") if "," in header else text)
    line = 2 if before else 1
    for options in ({}, {"weighted": False}):
        refused(
            path, f"line {line}: '{header.replace(',', ' ')}' looks like a header", "pass n=4 to skip it", **options
        )
        assert (read(path, n=4, **options).m, read(path, n=5, **options).m) == (3 + line - 1, 4 + line - 1)
    edges = [(0, 0, 9), (0, 1, 5), (1, 2, 7), (2, 3, 2)]
    assert triples(read(path, n=4)) == edges[0 if before else 1 :]
    assert triples(read(write("4 3 1\n0 1\n1 2\n2 3\n"), n=4)) == [(0, 1), (1, 2), (2, 3)]


def test_edges_are_not_taken_for_a_header(write):
    for text in (
        "4 2\n0 1\n1 2\n2 3\n",
        "3 3\n0 1\n1 2\n4 0\n",
        "5 0\n",
        "0 1\n2 0\n",
        "4 2 1\n0 1 1\n1 2 1\n2 3 1\n",
        "4 3 1.0\n0 1 1\n1 2 1\n2 3 1\n",
        "3 2 3\n0 1 1\n1 2 1\n2 3 1\n",
        "3 3 4\n0 1 1\n1 2 1\n2 3 1\n",
    ):
        assert read(write(text)).m == text.count("\n")


def test_a_header_among_relabelled_edges(write):
    path = write("9 3\n0 1\n1 2\n2 3\n")
    refused(path, "header", "#' before it; if it is an edge, pass n=5", relabel=True)
    assert read(path, relabel=True, n=5).m == 4
    path = write("3 4\n1 2\n2 3\n3 1\n1 1\n")
    refused(path, "pass n=3 to skip it", "an edge, pass n=4", relabel=True)
    assert (read(path, relabel=True, n=3).m, read(path, relabel=True, n=4).m) == (4, 5)
    refused(write("4 3\n1 2\n2 3\n3 1\n"), "an edge, move it to the end", relabel=True)


# DIMACS and PACE

SP = "c road\nc\np sp 3 2\nc more\na 1 2 7\na 3 1 4\n"
TW = "c tree\np tw 4 2\n1 2\n3 1\n"


@pytest.mark.parametrize("suffix", PACK)
def test_gr(write, suffix):
    graph = read(write(PACK[suffix](SP.encode()), "g.gr" + suffix))
    assert (graph.n, graph.directed, graph.weights_dtype) == (3, True, np.int64)
    assert triples(graph) == [(0, 1, 7), (2, 0, 4)]
    graph = read(write(PACK[suffix](TW.encode()), "g.gr" + suffix))
    assert (graph.n, graph.directed, graph.weighted) == (4, False, False)
    assert triples(graph) == [(0, 1), (0, 2), (1, 0), (2, 0)]


def test_gr_options(write):
    assert triples(read(write(TW), format="gr", directed=True)) == [(0, 1), (2, 0)]
    assert not read(write(SP, "g.gr"), weighted=False).weighted
    assert read(write(SP, "g.gr"), n=9).n == 9
    assert read(write(TW, "g.gr"), relabel=True).ids.tolist() == [1, 2, 3]
    assert triples(read(write("p sp 2 1\na 1 2 0.5\n", "g.gr"))) == [(0, 1, 0.5)]
    assert read(write("p tw 2 0\n", "g.gr")).n == 2
    refused(write(SP, "g.gr"), "3 vertices", "n=2", n=2)


@pytest.mark.parametrize("problem", ["edge", "col"])
def test_dimacs_colouring(write, problem):
    graph = read(write(f"c x\np {problem} 4 3\nn 1 7\ne 1 2\ne 2 3\ne 3 3\n", "g.col"))
    assert (graph.n, graph.directed, graph.weighted) == (4, False, False)
    assert triples(graph) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    refused(write(f"p {problem} 2 1\na 1 2\n", "g.clq"), "line 2:", "'e u v'")
    refused(write(f"p {problem} 2 1\ne 1 2 3\n", "g.col"), "line 2:", "'e u v'")


def test_dimacs_flow(write):
    graph = read(write("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 7\n", "g.max"))
    assert graph.directed and triples(graph) == [(0, 1, 5), (1, 2, 7)]
    refused(write("p max 3 1\nn 1 s\na 1 4 5\n", "g.max"), "line 3:", "above 3")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("p sp",)),
        ("c only\n", ("p sp",)),
        ("c\n1 2\n", ("line 2:", "p tw")),
        ("p cnf 3 2\n", ("line 1:", "p cnf 3 2")),
        ("p sp 3\n", ("line 1:",)),
        (SP + "p sp 3 2\n", ("line 7:", "second 'p' line")),
        (TW + "p tw 3 2\n", ("line 5:", "second 'p' line")),
        (SP.replace("3 2", "3 3"), ("line 6:", "ends here", "3 edges are expected and 2 found")),
        ("p tw 4 2\n1 2", ("line 2:", "ends here", "2 edges are expected and 1 found")),
        ("p tw 4 2\n", ("line 1:", "ends here", "2 edges are expected and 0 found")),
        (TW.replace("4 2", "4 1"), ("line 2:", "1 edges are expected and 2 found")),
        (SP.replace("a 3", "a 4"), ("line 6:", "4", "above 3")),
        (TW.replace("3 1", "3 0"), ("line 4:", "below 1")),
        (SP.replace("a 3 1 4", "b 3 1 4"), ("line 6:", "a u v weight")),
        (SP.replace("a 3 1 4", "a 3 1"), ("line 6:", "columns")),
        (SP.replace("a 3 1 4", "a 3 1 nan"), ("line 6:", "nan")),
        (f"p tw {2**31} 0\n", ("line 1:", "int32")),
    ],
)
def test_bad_gr(write, text, parts):
    refused(write(text, "g.gr"), *parts)


# Matrices


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kind", [float, int, bool])
@pytest.mark.parametrize("symmetric", [False, True])
def test_matrix_market(tmp_path, kind, symmetric, suffix):
    dense = np.array([[1, 2, 0], [2, 0, 3], [0, 3, 0]])
    if not symmetric:
        dense[0, 2] = 4
    matrix = sparse.coo_matrix(dense.astype(kind))
    plain = tmp_path / "plain.mtx"
    field = "pattern" if kind is bool else None
    symmetry = "symmetric" if symmetric else "general"
    scipy_io.mmwrite(plain, matrix.astype(float) if kind is bool else matrix, field=field, symmetry=symmetry)
    path = tmp_path / ("packed.mtx" + suffix)
    path.write_bytes(PACK[suffix](plain.read_bytes()))
    graph = read(path)
    assert graph.directed is not symmetric and graph.weighted is (kind is not bool)
    src, dst = dense.nonzero()
    expected = list(zip(src, dst, *([dense[src, dst]] if graph.weighted else []), strict=True))
    assert triples(graph) == expected
    assert triples(read(path, format="mtx", directed=True)) == expected
    assert triples(read(path, weighted=False)) == [edge[:2] for edge in expected]


def test_bad_matrix_market(write):
    banner = "%%MatrixMarket matrix coordinate real general\n"
    refused(write(banner + "2 2 2\n1 1 1\n", "m.mtx"), "line 3: the file ends here", "line 2")
    refused(write(banner + "2 2 1\n3 1 1\n", "m.mtx"), "line 3")
    refused(write(banner + "2 3 1\n1 1 1\n", "m.mtx"), "square")
    refused(write(banner + "2 2 1\n1 2 nan\n", "m.mtx"), "nan")
    refused(write("1 2\n", "m.mtx"), "anner")
    refused(write("%%MatrixMarket matrix array real general\n1 1\n1\n", "m.mtx"), "dense")
    refused(write(banner.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "m.mtx"), "complex")
    refused(write(banner.replace("real", "pattern") + "1 1 1\n1 1\n", "m.mtx"), "no weights", weighted=True)
    for line in (banner, banner[1:], banner[1:].lower()):  # the Network Repository writes one '%'
        for name in ("m.mtx", "m.txt", "m.edges", "m"):
            assert triples(read(write(line + "2 2 1\n1 2 5\n", name))) == [(0, 1, 5)]
    assert read(write("%MatrixMarketing\n0 1\n")).m == 1


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("3 3 99999999999\n1 1 1\n", "line 3: the file ends here, too early for the entries that line 2"),
        ("3 3 2\n1 1 1", "line 3: the file ends here"),
        ("3 3 2\n1 1 1\n\n\n", "line 5: the file ends here"),
        ("% c\n3 3 1\n", "line 3: the file ends here, too early for the entries that line 3"),
        (f"3 3 {10**25}\n1 1 1\n", "line 2: integer out of range"),
        ("3 3 " + "9" * 5000 + "\n1 1 1\n", "line 2: integer out of range"),
        (f"{10**25} 3 1\n1 1 1\n", "line 2: integer out of range"),
        (f"3 3 1\n1 1 {10**25}\n", f"line 3: the weight {10**25} in"),
        (f"3 3 1\n1 {10**25} 1\n", f"line 3: the index {10**25} in"),
        (f"{10**15} {10**15} 1\n1 1 1\n", "int32"),
        ("3 3\n1 1 1\n", "line 2: "),
        ("", "line 2: "),
    ],
)
def test_matrix_market_that_promises_too_much(write, text, part, suffix):
    text = "%%MatrixMarket matrix coordinate integer general\n" + text
    refused(write(PACK[suffix](text.encode()), "m.mtx" + suffix), part)


def test_matrix_market_that_is_dense(write):
    refused(write("%%MatrixMarket matrix array integer general\n99999999 99999999\n1\n", "m.mtx"), "dense")


def test_the_error_of_a_truncated_compressed_matrix_names_the_line(write, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 64)
    lines = "".join(f"{i} {i * 7919 % 9973 + 1}\n" for i in range(1, 9973))
    text = f"%%MatrixMarket matrix coordinate pattern general\n9973 9973 9972\n{lines}"
    refused(write(gzip.compress(text.encode())[:-5000], "m.mtx.gz"), "corrupt after line ")


@pytest.mark.parametrize("suffix", PACK)
def test_npz(tmp_path, suffix):
    matrix = sparse.csr_array(([1.5, 0.0], ([0, 2], [1, 2])), shape=(4, 4))
    sparse.save_npz(tmp_path / "plain.npz", matrix)
    path = tmp_path / ("packed.npz" + suffix)
    path.write_bytes(PACK[suffix]((tmp_path / "plain.npz").read_bytes()))
    assert read(path).n == 4
    assert triples(read(path)) == [(0, 1, 1.5), (2, 2, 0.0)]
    assert triples(read(path, directed=False, weighted=False)) == [(0, 1), (1, 0), (2, 2)]
    refused(path, "4 vertices", n=3)


@pytest.mark.parametrize("suffix", PACK)
def test_npy(tmp_path, suffix):
    matrix = np.array([[0, 2.0], [np.inf, 0]], np.float32)
    np.save(tmp_path / "plain.npy", matrix)
    path = tmp_path / ("packed.npy" + suffix)
    path.write_bytes(PACK[suffix]((tmp_path / "plain.npy").read_bytes()))
    graph = read(path)
    np.testing.assert_array_equal(graph.dense, matrix)
    assert triples(graph) == [(0, 1, 2)]
    assert not read(path, weighted=False).weighted
    refused(path, "2 vertices", n=3)
    for option in ({"relabel": True}, {"directed": False}):
        with pytest.raises(InputError, match="dense matrix"):
            read(path, **option)


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="this system has no /dev/stdin")
@pytest.mark.parametrize("name", ["m.npz", *exhaustive("m.npy")])
def test_matrices_come_through_a_pipe(tmp_path, name):
    matrix = np.array([[0, 2.0, np.inf], [1, 0, 5], [np.inf, np.inf, 0]])
    if name == "m.npy":
        np.save(tmp_path / name, matrix)
    else:
        sparse.save_npz(tmp_path / name, sparse.csr_array(([2.0, 1.0, 5.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3)))
    code = f"from mgraph import read; print(*read('/dev/stdin', format={name[2:]!r}).coo()[2].tolist())"
    for data, output in ((tmp_path / name).read_bytes(), "2.0 1.0 5.0\n"), (b"", ""):
        result = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
        assert result.stdout.decode() == output
        assert bool(output) or b"FormatError: /dev/stdin" in result.stderr


def test_bad_npy_and_npz(write, tmp_path):
    np.save(tmp_path / "o.npy", np.array([[None]]), allow_pickle=True)
    refused(tmp_path / "o.npy")
    np.save(tmp_path / "nan.npy", np.array([[0, np.nan], [1, 0]]))
    refused(tmp_path / "nan.npy", "(0, 1)", "NaN")
    np.save(tmp_path / "cut.npy", np.zeros((9, 9)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-8])
    refused(tmp_path / "cut.npy")
    refused(write("", "empty.npy"))
    refused(write("text", "text.npy"))
    refused(write("text", "text.npz"))
    np.savez(tmp_path / "result.npz", distances=np.zeros((2, 2)))
    refused(tmp_path / "result.npz", "save_npz", "'distances', perhaps of a result that was saved, which numpy.load")
    mgraph.Hierarchy(mgraph.generate.grid(3, 3), order=np.arange(9), device="cpu").save(tmp_path / "prepared.npz")
    refused(tmp_path / "prepared.npz", "as a hierarchy has, which mgraph.Hierarchy.load reads")
    os.replace(tmp_path / "result.npz", tmp_path / "result.npy")
    refused(tmp_path / "result.npy")


CSR = {
    "format": b"csr",
    "shape": [3, 3],
    "data": np.ones(2),
    "indices": np.array([0, 1], np.int32),
    "indptr": np.array([0, 1, 2, 2], np.int32),
}
BSR = CSR | {"format": b"bsr", "shape": [2, 2], "data": np.ones((1, 2, 2)), "indices": [0], "indptr": [0, 1]}


@pytest.mark.parametrize(
    ("base", "changed"),
    [
        *((CSR, {"indptr": np.array([0, bad, 1, 2], np.int32)}) for bad in (3, 100, 500_000_000, -1)),
        *((CSR, {"format": b"csc", "indptr": np.array([0, bad, 1, 2], np.int32)}) for bad in (100, 2**31 - 1)),
        *((CSR, {"indptr": bad}) for bad in ([1, 1, 2, 2], [0, 1, 2], [0, 1, 2, 1], [0.0, 1, 2, 2], [[0, 1, 2, 2]])),
        *((CSR, {"indptr": np.array(bad, np.uint64)}) for bad in ([0, 2**64 - 1, 1, 2], [0, 2, 1, 2])),
        *((CSR, {"indices": bad}) for bad in ([0, 3], [0, -1], [0], [0, 1, 2], [0, 2**40], [True, False])),
        *((CSR, {"data": bad}) for bad in (np.ones(1), np.ones(3), np.ones((2, 1)), ["a", "b"], np.ones(2) * 1j)),
        *((CSR, {"data": [1, bad]}) for bad in (np.nan, -np.inf)),
        *((CSR, {"format": bad}) for bad in (3.5, b"lil", b"__init__", "\U0001f600", b"c\xff", [b"csr"], b"")),
        *((CSR, {"shape": bad}) for bad in ("ab", 3, [3], [3, 3, 3], [3, 4], [-3, -3], [3.0, 3.0], [2**40, 2**40])),
        *((BSR, {"indices": [bad]}) for bad in (1, -1)),
        *((BSR, {"data": bad}) for bad in (np.ones((1, 0, 2)), np.ones((1, 2, 3)), np.ones(4), np.ones((2, 2, 2)))),
        ({}, {"format": b"dia", "shape": [3, 3], "data": np.ones((2, 3)), "offsets": [0, 0]}),
        ({}, {"format": b"dia", "shape": [3, 3], "data": np.ones((2, 3)), "offsets": [0]}),
        ({}, {"format": b"coo", "shape": [3, 3], "data": np.ones(2), "row": [0, 1], "col": [0, 3]}),
        ({}, {"format": b"coo", "shape": [3, 3], "data": np.ones(2), "coords": [[0, 1]]}),
        ({}, {"format": b"csr", "shape": [3, 3], "data": np.ones(2)}),
    ],
)
def test_npz_whose_arrays_do_not_agree(tmp_path, base, changed):
    np.savez(tmp_path / "m.npz", **(base | changed))
    refused(tmp_path / "m.npz")


@pytest.mark.parametrize("wanted", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("compressed", [False, True])
def test_npz_of_each_format(tmp_path, wanted, compressed):
    matrix = sparse.csr_array(np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 4, 0], [0, 5, 6, 7]]))
    saved = sparse.bsr_array(matrix, blocksize=(2, 1)) if wanted == "bsr" else matrix.asformat(wanted)
    sparse.save_npz(tmp_path / "m.npz", saved, compressed=compressed)
    coo = matrix.tocoo()
    assert triples(read(tmp_path / "m.npz")) == list(
        zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
    )


def npy(header, data=b"", version=b"\x01\x00"):
    text = header.encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + data


def test_an_npy_header_with_other_ends_of_lines(tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), \r\n}\r\n"
    (tmp_path / "m.npy").write_bytes(npy(header, bytes(8)))
    assert read(tmp_path / "m.npy").n == 1


@pytest.mark.parametrize(
    "content",
    [
        *(
            npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}", bytes(32))
            for shape in (
                "(2, 2",
                "(2, 2))",
                "(-1, 3)",
                "(2)",
                "[2, 2]",
                "(True, 2)",
                "(2.0, 2)",
                "((2,), 2)",
                "(" * 5000,
                "(2, 2, )x",
                f"({10**30}, 2)",
                "(0, 9223372036854775807)",
            )
        ),
        *(
            npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2, 2)}}", bytes(32))
            for descr in (
                "'O'",
                "'|O8'",
                "'f8,f8'",
                "'(2,2)f8'",
                "'<f9'",
                "'<c16'",
                "'|S8'",
                "'<M8[s]'",
                "8",
                "'<f8",
                "['<f8']",
                "''",
            )
        ),
        npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 2)}", bytes(32)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", bytes(31)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", bytes(33)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'x': 1}", bytes(32)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2),\xa0}", bytes(32)),
        npy("", b""),
        npy("{", b""),
        npy("\n" * 20_000),
        npy("{}", version=b"\x07\x00"),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        b"\x93NUMPY\x01",
        b"\x93NUM",
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_invalid_npy_headers(write, content, suffix):
    refused(write(PACK[suffix](content), "m.npy" + suffix))


def test_npy_of_another_byte_order_version_or_alignment(write):
    matrix = np.array([[0, 2.0], [np.inf, 0]])
    header = "{'descr': '%s', 'fortran_order': True, 'shape': (2, 2), }"
    for content in (
        npy(header % ">f8", matrix.astype(">f8").tobytes("F")),
        npy(header % "<f8", matrix.tobytes("F"), b"\x02\x00"),
        npy(header % "<f8" + " " * 3, matrix.tobytes("F")),
        npy(header % "<d", matrix.tobytes("F")),
        npy(header.replace("2, 2", "2L, 2L") % "<f8", matrix.tobytes("F")),
    ):
        graph = read(write(content, "m.npy"))
        np.testing.assert_array_equal(graph.dense, matrix)
        assert graph.dense.dtype.isnative and graph.dense.flags.aligned


# Malformed files


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("g.txt", "# a\x00b\n0 1\n", 1),
        ("g.txt", "0 1\n0\xa01\n", 2),
        ("g.txt", "0 1\n0\x0c1\n", 2),
        ("g.txt", "0 1\n0 1\r2 3\n", 2),
        ("g.gr", "p tw 3 1\n1 2\x00\n", 2),
        ("g.gr", "p sp 3 1\na 1 2 3c\n", 2),
        ("g.gr", "p tw 3 1\n1 " + "9" * 5000, 2),
        ("g.gr", "p tw 3 " + "9" * 5000, 1),
        ("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\x00 3\n", 3),
        ("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 3 4\n", 3),
        ("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1e400\n", 3),
        ("m.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 1.5\n", 3),
        ("m.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 " + "9" * 19 + "\n", 3),
        ("g.txt", "0 1 2\n0 1 1e400\n", 2),
        ("g.txt", "0 1 inf\n# inf\n0 1 1e400\n", 3),
        ("g.txt", f"0 1 2\n0 1 {2**63}\n", 2),
        ("g.txt", f"0 1 2.5\n0 1 {-(2**63) - 1}\n", 2),
        ("g.txt", "0 1\n" + "9" * 5000 + " 1\n", 2),
        ("g.txt", "0 1 1\n0 1 " + "9" * 5000, 2),
    ],
)
def test_invalid_characters(write, name, text, line, suffix):
    refused(write(PACK[suffix](text.encode("latin-1")), name + suffix), f", line {line}:")


def test_weights_at_the_ends_of_their_types(write):
    assert triples(read(write(f"0 1 {2**63 - 1}\n1 0 {-(2**63)}\n"))) == [(0, 1, 2**63 - 1), (1, 0, -(2**63))]
    assert triples(read(write("0 1 1.7e308\n1 0 +Infinity\n1 1 1e-400\n"))) == [(0, 1, 1.7e308), (1, 1, 0.0)]


def test_blank_and_indented_lines_in_a_comma_file(write):
    text = "0,1,2\n \n\t\n  # indented\n\t% too\n 1,0,3 # remark\r\n   \r\n1, 1 ,4\n  "
    assert triples(read(write(text))) == triples(read(write(text.replace(",", " "))))
    assert triples(read(write(text))) == [(0, 1, 2), (1, 0, 3), (1, 1, 4)]


def test_skew_symmetric_and_hermitian_matrices(write):
    text = "%%MatrixMarket matrix coordinate integer {}\n3 3 2\n2 1 5\n3 3 0\n"
    assert triples(read(write(text.format("skew-symmetric"), "m.mtx"))) == [(0, 1, -5), (1, 0, 5), (2, 2, 0)]
    for symmetry in ("symmetric", "Hermitian"):
        path = write(text.format(symmetry), "m.mtx")
        assert triples(read(path)) == triples(read(path, directed=True)) == [(0, 1, 5), (1, 0, 5), (2, 2, 0)]
        assert read(path, directed=True).directed and not read(path).directed


def test_long_runs_without_edges_are_refused(write, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 1000)
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 1000)
    monkeypatch.setattr(mgraph.io.stream, "BARREN", 20_000)
    for barren in ("\n", " \t\r\n", "# comment\n"):
        assert read(write("0 1\n" + barren * (9000 // len(barren)) + "1 2\n")).m == 2
        refused(write("0 1\n" + barren * (40_000 // len(barren)) + "1 2\n"), "blank lines and comments")


@pytest.mark.parametrize("suffix", [".gz", *exhaustive(".bz2", ".xz")])
@pytest.mark.parametrize("name", ["g.txt", "g.gr", "m.mtx", "m.npz", "m.npy"])
def test_decompressed_sizes_count_against_the_memory(write, name, suffix, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 1 << 16)
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 1 << 14)
    starts = {
        "txt": b"0 1\n",
        "gr": b"p tw 9 9999999\n",
        "mtx": b"%%MatrixMarket matrix coordinate pattern general\n9 9 9999999\n",
        "npz": b"PK\3\4",
        "npy": npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3000, 3000)}"),
    }
    content = starts[name[2:]] + (b"1 2 # %\n" if name == "g.txt" else b"1 2\n") * (9_000_000 // 8)
    path = write(PACK[suffix](content), name + suffix)
    monkeypatch.setattr(device.HostDevice, "available_memory", lambda self: 3_000_000)
    with pytest.raises(MemoryLimitError, match=re.escape(str(path))):
        read(path)


def test_too_little_memory_is_refused_before_reading(write, tmp_path, monkeypatch):
    monkeypatch.setattr(device.HostDevice, "available_memory", lambda self: 1 << 30)
    dia = {"format": b"dia", "shape": [2 * 10**9] * 2, "data": np.ones((1, 1)), "offsets": [0]}
    np.savez(tmp_path / "m.npz", **dia)
    header = npy("{'descr': '>f8', 'fortran_order': False, 'shape': (700000, 700000)}")
    for path in (
        tmp_path / "m.npz",
        write("p tw 2000000000 1\n1 2\n", "g.gr"),
        write(gzip.compress(header), "m.npy.gz"),
    ):
        tracemalloc.start()
        with pytest.raises(MemoryLimitError, match=re.escape(str(path))):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()


def test_a_zip_whose_sizes_lie(tmp_path):
    path = tmp_path / "m.npz"
    np.savez_compressed(path, **CSR)
    whole = path.read_bytes()
    place = whole.rindex(b"PK\1\2")  # the directory's entry of the last array
    for offset, size in ((24, 2**31), (20, 1), (24, 0), (10, 14)):
        path.write_bytes(whole[: place + offset] + size.to_bytes(4, "little") + whole[place + offset + 4 :])
        refused(path)
    place = whole.rindex(b"PK\5\6")
    for offset in (8, 12, 16):
        path.write_bytes(whole[: place + offset] + b"\xff" * 4 + whole[place + offset + 4 :])
        with contextlib.suppress(FormatError):  # the number of entries is not checked
            assert read(path).m == 2


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_members_padding_and_what_follows(write, suffix):
    pack = PACK[suffix]
    assert triples(read(write(pack(b"0 1\n1 ") + bytes(8) + pack(b"2\n") + bytes(4), "g.txt" + suffix))) == [
        (0, 1),
        (1, 2),
    ]
    refused(write(pack(b"0 1\n") + b"more", "g.txt" + suffix))


def test_an_xz_file_that_wants_a_large_dictionary(write, monkeypatch):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 26}]
    path = write(lzma.compress(b"0 1\n", filters=filters), "g.txt.xz")
    assert read(path).m == 1
    monkeypatch.setattr(device.HostDevice, "available_memory", lambda self: 1 << 20)
    with pytest.raises(MemoryLimitError, match=re.escape(str(path))):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("name", ["g.txt", "g.gr", "g.mtx", "g.npz", "g.npy"])
def test_cut_off_compressed_files(write, name, suffix):
    lines = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(1, 1000))
    text = {"gr": "p tw 1000 999\n", "mtx": "%%MatrixMarket matrix coordinate pattern general\n1000 1000 999\n"}
    whole = PACK[suffix]((text.get(name[2:], "") + lines).encode())
    refused(write(whole[:-20], name + suffix))
    refused(write(b"0 1\n", name + suffix))
    refused(write(b"", name + suffix))
    refused(write(whole[:1000] + b"\xff" * 30 + whole[1030:], name + suffix))


def test_the_error_of_a_truncated_file_names_the_line(write, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 64)
    text = "".join(f"{i} {i * 7919 % 99991}\n" for i in range(20000)).encode()
    with pytest.raises(FormatError, match=r"after line (\d+)") as caught:
        read(write(gzip.compress(text)[:-5000], "g.txt.gz"))
    assert 10000 < int(str(caught.value).split("line ")[1].split(":")[0]) < 20000


def test_invalid_files_and_graphs(tmp_path, write, monkeypatch):
    refused(tmp_path, "folder")
    with pytest.raises(FileNotFoundError, match="nothing"):
        read(tmp_path / "nothing.txt")
    refused(write(b"\x89PNG\r\n\x1a\n\x00\x00", "picture.png"), "'edges'", "'mtx'")
    assert triples(read(write("0 1\n", "graph.dat"))) == [(0, 1)]
    for format in ([], {}, 1, ["edges"]):
        with pytest.raises(InputError, match="format must be one of 'edges'"):
            read(write("0 1\n"), format=format)
    with pytest.raises(InputError, match="dense must be 'adjacency' or 'distances'"):
        read(write("0 1\n"), dense=["adjacency"])
    for reading in (read, read_list):
        with pytest.raises(MissingFileError, match="there is no such file"):
            reading(write("0 1\n") / "x")
        with pytest.raises(FormatError, match="is a folder: give a file"):
            reading(tmp_path)
        with pytest.raises(InputError, match=r"path must be the name of a file, got 'a.x00b'"):
            reading("a\0b")
    with pytest.raises(InputError, match=r"format must be one of 'edges'.*got 'csv'"):
        read(write("0 1\n"), format="csv")
    for n in (-1, 1.5, "3", True):
        with pytest.raises(InputError, match="n must be an integer of 0 or more, got "):
            read(write("0 1\n"), n=n)
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 100)
    refused(write("0 1\n" + "1" * 500), "line 2", "a text file expected")


@settings(max_examples=50)
@given(
    edges=st.lists(st.tuples(*[st.integers(0, 20)] * 2, st.integers(-99, 99)), max_size=30),
    directed=st.booleans(),
    comma=st.booleans(),
)
def test_round_trip(write, edges, directed, comma):
    text = "\n".join((",\t" if comma else " ").join(map(str, edge)) for edge in edges)
    graph = read(write(text), n=21, directed=directed)
    both = edges if directed else edges + [(v, u, w) for u, v, w in edges if u != v]
    assert sorted(triples(graph)) == sorted(both)


# Real graphs


@real_data
def test_road_network_of_new_york():
    graph = read(DATA / "NY.gr.xz")
    assert (graph.n, graph.m, graph.directed, graph.weighted) == (264346, 2 * 365050, False, False)


@real_data
def test_autonomous_systems():
    graph = read(DATA / "as-caida20070917.txt.xz", relabel=True, weighted=False)
    assert (graph.n, graph.m, graph.directed) == (8020, 36406, True)
    assert (np.diff(graph.ids) > 0).all()
    with pytest.warns(SparseIdsWarning, match="8020"):
        read(DATA / "as-caida20070917.txt.xz")


@real_data
def test_facebook():
    path = DATA / "facebook_combined.txt.xz"
    refused(path, "line 2:", "4039 88234", "header", "n=4039")
    graph = read(path, n=4039, directed=False)
    assert (graph.n, graph.m) == (4039, 2 * 88234 + 1)  # the stray "0 0" of its first line is a self-loop


# Output


class Rows:
    """A matrix of which only a block of rows exists at a time."""

    def __init__(self, array, rows):
        self.array, self.rows = array, rows
        self.shape, self.dtype = array.shape, array.dtype

    def chunks(self):
        for first in range(0, len(self.array), self.rows):
            yield self.array[first : first + self.rows]


ARRAYS = [
    np.arange(12, dtype=np.int32).reshape(3, 4),
    np.asfortranarray(np.random.default_rng(0).random((5, 3), np.float32)),
    np.arange(20).reshape(4, 5)[::2, ::2],
    np.zeros((0, 3)),
    np.array(7.0),
    np.array([True, False]),
]


@pytest.mark.parametrize("array", ARRAYS)
def test_save_npy(tmp_path, array, monkeypatch):
    monkeypatch.setattr(mgraph.io.saving, "BLOCK", 8)
    for name, value in {"bare.npy": array, "named.npy": {"distances": array}}.items():
        save(tmp_path / name, value)
        loaded = np.load(tmp_path / name)
        assert loaded.dtype == array.dtype
        np.testing.assert_array_equal(loaded, array)
    if array.ndim:
        save(tmp_path / "rows.npy", Rows(array, 2))
        assert (tmp_path / "rows.npy").read_bytes() == (tmp_path / "bare.npy").read_bytes()


def test_save_npz(tmp_path):
    path = tmp_path / "result.npz"
    save(path, {"distances": Rows(ARRAYS[0], 2), "predecessors": ARRAYS[1]})
    with np.load(path) as loaded:
        assert list(loaded) == ["distances", "predecessors"]
        np.testing.assert_array_equal(loaded["distances"], ARRAYS[0])
        np.testing.assert_array_equal(loaded["predecessors"], ARRAYS[1])
    assert zipfile.ZipFile(path).testzip() is None
    assert os.listdir(tmp_path) == ["result.npz"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "other").touch()
    save(tmp_path / "result.npy", ARRAYS[0])
    assert (tmp_path / "result.npy").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "result.npy"
    for mode in (0o640, 0o600, 0o664):
        path.write_text("old")
        path.chmod(mode)
        save(path, ARRAYS[0], overwrite=True)
        assert path.stat().st_mode & 0o777 == mode
        np.testing.assert_array_equal(np.load(path), ARRAYS[0])


def test_a_link_stays_and_its_file_is_written(tmp_path):
    link, target = tmp_path / "link.npy", tmp_path / "folder" / "file.npy"
    link.symlink_to(Path("folder", "file.npy"))
    with pytest.raises(InputError, match=r"link\.npy cannot be written: there is no folder .*folder"):
        save(link, ARRAYS[0])
    target.parent.mkdir()
    save(link, ARRAYS[0])
    np.testing.assert_array_equal(np.load(target), ARRAYS[0])
    with pytest.raises(OutputExistsError, match=r"link\.npy"):
        save(link, ARRAYS[1])
    target.chmod(0o640)
    save(link, ARRAYS[1], overwrite=True)
    np.testing.assert_array_equal(np.load(target), ARRAYS[1])
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(target.parent) == ["file.npy"] and sorted(os.listdir(tmp_path)) == ["folder", "link.npy"]


@pytest.mark.parametrize("kind", ["fifo", "device", "socket", "circle"])
@pytest.mark.parametrize("linked", [False, True])
def test_only_regular_files_are_replaced(tmp_path, kind, linked):
    target = tmp_path / "target.npy"
    if kind == "fifo":
        os.mkfifo(target)
    elif kind == "device":
        target.symlink_to("/dev/null")
    elif kind == "circle":
        target.symlink_to(target)
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(target))
    path = target
    if linked:
        path = tmp_path / "link.npy"
        path.symlink_to(target)
    before = os.lstat(target).st_mode
    for overwrite in (False, True):
        with pytest.raises(InputError, match=rf"{path.name} .*not a regular file"):
            save(path, ARRAYS[0], overwrite)
    assert os.lstat(target).st_mode == before and len(os.listdir(tmp_path)) == 1 + linked


SAVING = """
import sys, time
import numpy as np
from mgraph.io import save
class Slow:
    shape, dtype = (2, 3), np.dtype(float)
    def chunks(self):
        yield np.zeros((1, 3))
        print(flush=True)
        time.sleep(100)
save(sys.argv[1], {"a": Slow(), "b": np.zeros(10**6)})
"""


def test_files_of_killed_saves_are_removed_by_the_next(tmp_path):
    saving = [
        subprocess.Popen([sys.executable, "-c", SAVING, tmp_path / f"{name}.npz"], stdout=subprocess.PIPE)
        for name in ("killed", "alive")
    ]
    try:
        for process in saving:
            process.stdout.readline()
        others = [".x.npz.mgraph-another_host-01234567.tmp", ".x.npz.0123abcd.tmp", "my.mgraph-notes.tmp"]
        for name in others:
            (tmp_path / name).write_text("another's")
        saving[0].kill()
        saving[0].wait()
        (left,) = [name for name in os.listdir(tmp_path) if name.startswith(".killed")]
        (live,) = [name for name in os.listdir(tmp_path) if name.startswith(".alive")]
        save(tmp_path / "next.npy", ARRAYS[0])
        assert sorted(os.listdir(tmp_path)) == sorted([live, "next.npy", *others])
        assert left not in os.listdir(tmp_path)
    finally:
        for process in saving:
            process.kill()
            process.wait()
            process.stdout.close()


def test_check_output(tmp_path):
    check_output(tmp_path / "result.npz")
    (tmp_path / "there.npy").write_text("old")
    with pytest.raises(OutputExistsError, match=r"overwrite=True replaces"):
        save(tmp_path / "there.npy", ARRAYS[0])
    assert (tmp_path / "there.npy").read_text() == "old"
    check_output(tmp_path / "there.npy", overwrite=True)
    (tmp_path / "folder.npy").mkdir()
    for path, part in (("result.txt", r"\.npy or \.npz"), ("folder.npy", "folder"), ("no/result.npy", "no folder")):
        with pytest.raises(InputError, match=part):
            check_output(tmp_path / path, overwrite=True)


def test_arrays_that_cannot_be_saved(tmp_path):
    class Short(Rows):
        def chunks(self):
            yield self.array[:1]

    for name, arrays, part in (
        ("r.npy", {"a": ARRAYS[0], "b": ARRAYS[1]}, r"not 2 \(a, b\): use .npz"),
        ("r.npy", {}, "not 0"),
        ("r.npz", ARRAYS[0], "by name"),
        ("r.npy", np.array([None]), "objects"),
        ("r.npy", Short(ARRAYS[0], 1), "hold 4 elements"),
    ):
        with pytest.raises(InputError, match=part):
            save(tmp_path / name, arrays)
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["result.npy", "result.npz"])
def test_a_failure_leaves_no_file_and_the_old_one(tmp_path, name, monkeypatch):
    class Failing(Rows):
        error: BaseException

        def chunks(self):
            yield self.array[:1]
            raise self.error

    (tmp_path / name).write_text("old")
    failing = Failing(ARRAYS[0], 1)
    for failing.error in (ValueError("why"), KeyboardInterrupt(), TimeoutError("late")):
        with pytest.raises(type(failing.error)) as caught:
            save(tmp_path / name, {"a": failing}, overwrite=True)
        assert caught.value is failing.error

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"nothing was written.*{name}") as caught:
        save(tmp_path / name, {"a": ARRAYS[0]}, overwrite=True)
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == [name] and (tmp_path / name).read_text() == "old"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    class Slow(Rows):
        def chunks(self):
            (tmp_path / "result.npy").write_text("another's")
            return super().chunks()

    with pytest.raises(OutputExistsError):
        save(tmp_path / "result.npy", Slow(ARRAYS[0], 1))
    assert os.listdir(tmp_path) == ["result.npy"]
    assert (tmp_path / "result.npy").read_text() == "another's"


def test_a_file_that_appears_at_the_last_moment_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "result.npy"

    def check(*arguments):
        checked(*arguments)
        looks.append(path)
        if len(looks) == 2:  # the last check before the file gets its name
            path.write_text("another's")

    looks, checked = [], check_output
    monkeypatch.setattr(mgraph.io.saving, "check_output", check)
    with pytest.raises(OutputExistsError):
        save(path, ARRAYS[0])
    assert len(looks) == 2
    assert os.listdir(tmp_path) == ["result.npy"] and path.read_text() == "another's"


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def link(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    save(tmp_path / "result.npy", ARRAYS[0])
    assert os.listdir(tmp_path) == ["result.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "result.npy"), ARRAYS[0])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk(tmp_path, monkeypatch):
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda path, mode: (opened(path, mode).close(), opened("/dev/full", "wb"))[1])
    for name in ("result.npy", "result.npz"):
        with pytest.raises(OSError, match=name) as caught:
            save(tmp_path / name, {"a": np.zeros(10**6)})
        assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("reader", [read, read_list])
def test_a_missing_file(reader, tmp_path):
    with pytest.raises(MissingFileError, match=r"there is no such file: .*nothing\.gr") as caught:
        reader(tmp_path / "nothing.gr")
    assert isinstance(caught.value, FileNotFoundError) and isinstance(caught.value, mgraph.MgraphError)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "nothing.gr")


@pytest.mark.parametrize("pack", PACK.values())
def test_an_open_file_is_read_and_stays_open(tmp_path, pack):
    path = tmp_path / "graph.txt"
    path.write_bytes(pack(b"0 1 3\n1 2 4\n"))
    with path.open("rb") as file:
        assert triples(read(file)) == triples(read(path))
        assert not file.closed
    assert triples(read(io.BytesIO(path.read_bytes()))) == triples(read(path))


def test_an_open_file_is_read_from_its_position_on(tmp_path):
    path = tmp_path / "matrix.npy"
    first, second = np.array([[0.0, 1], [2, 0]]), np.array([[0.0, 3], [4, 0]])
    with path.open("wb") as file:
        np.save(file, first)
        np.save(file, second)
    with path.open("rb") as file:
        np.load(file)
        np.testing.assert_array_equal(read(file).dense, second)
    for unbuffered in (path.open("rb", buffering=0), io.BytesIO(path.read_bytes())):
        with unbuffered as file:
            np.testing.assert_array_equal(read(file, "npy").dense, first)
    assert list(read_list(io.BytesIO(b"1\n2\n2\n"))) == [1, 2, 2]


def test_text_streams_are_refused(write):
    path = write("0 1\n")
    with path.open() as file, pytest.raises(InputError, match="binary mode"):
        read(file)
    with pytest.raises(InputError, match="expected a path or a file object"):
        read(7)


ZIP = in_memory(lambda file: zipfile.ZipFile(file, "w").writestr("graph.txt", "0 1\n"))
TAR = in_memory(lambda file: tarfile.open(fileobj=file, mode="w").addfile(tarfile.TarInfo("graph.txt")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x04\x22\x4d\x18\x64\x40", "compressed with lz4: "),
        (lzma.compress(b"0 1\n", lzma.FORMAT_ALONE), "compressed with lzma: "),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "compressed with 7z: "),
        (b"\x1f\x9d\x90\x30", "compressed with compress: "),
        (ZIP, "compressed with zip: decompress it first, e.g. 'unzip -p FILE"),
        (TAR, "is a tar archive: extract the graph's file, e.g. 'tar -xOf FILE NAME"),
        (bz2.compress(TAR), "is a tar archive"),
    ],
    # Archives hold the time, and all processes that run the tests must give them the same names.
    ids=["lz4", "lzma", "7z", "compress", "zip", "tar", "tar in bzip2"],
)
def test_archives_and_compressions_that_are_not_read_are_named(write, content, says):
    for name, options in (("g.txt", {}), ("g.packed", {}), ("g.packed", {"format": "edges"}), ("g.gr", {})):
        refused(write(content, name), says, **options)
    with pytest.raises(FormatError, match=re.escape(says)):
        read_list(write(content))


def test_a_byte_order_mark_before_a_text_is_skipped(write):
    mark = "\ufeff"
    assert triples(read(write(mark + "p tw 2 1\n1 2\n", "g.gr"), directed=True)) == [(0, 1)]
    matrix = mark + "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
    for name in ("g.mtx", "g.txt", "g"):
        assert triples(read(write(matrix, name))) == [(0, 1)]
    assert triples(read(write(gzip.compress((mark + "0 1\n").encode())))) == [(0, 1)]
    assert read_list(write(mark + "1\n1\n")).tolist() == [1, 1]


def test_a_file_is_named_once(write, tmp_path):
    np.save(tmp_path / "m.npy", np.eye(2, dtype=complex))
    for path in (tmp_path / "m.npy", write("0 1\n", "n.npy")):
        with pytest.raises(FormatError) as caught:
            read(path)
        assert str(caught.value).count(str(path)) == 1


@pytest.mark.parametrize("reader", [read, read_list])
@pytest.mark.parametrize("after", [b"", b"1\n" * 10_000])
def test_the_file_is_named_where_the_system_cannot_read_it(reader, after):
    class Failing(io.BytesIO):
        name = "graph on a failing disk"

        def read(self, size=-1):
            data = super().read(size)
            if not data:
                raise OSError(errno.EIO, "Input/output error")
            return data

    with pytest.raises(OSError, match="Input/output error: 'graph on a failing disk'") as caught:
        reader(Failing(after.replace(b"1", b"0 1") if reader is read else after))
    assert caught.value.errno == errno.EIO and caught.value.filename == "graph on a failing disk"


@pytest.mark.parametrize("weight", ["", ".", "+", "e5"])
def test_a_malformed_weight_is_not_called_too_large(write, weight):
    refused(
        write(f"0,1,2\n1,2,{weight}\n"), f"line 2: expected a weight, a number or inf for 'no edge', got {weight!r}"
    )


def test_an_empty_weight_can_be_ignored(write):
    path = write("0,1,\n1,2,\n")
    refused(path, "line 1: expected a weight", "weighted=False ignores the column")
    assert triples(read(path, weighted=False)) == [(0, 1), (1, 2)]


def test_malformed_files_are_refused_without_harm():
    command = [sys.executable, "-m", "tests.fuzz_files", "--count", "500"]
    result = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("refused") == 1 and "accepted" in result.stdout


def test_a_corrupt_npz_is_not_quoted_at_length(tmp_path):
    sparse.save_npz(tmp_path / "m.npz", sparse.eye_array(300, format="csr"), compressed=False)
    content = bytearray((tmp_path / "m.npz").read_bytes())
    content[27] = 8  # the name in the first local header is now of 2 KiB
    (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(FormatError, match="save_npz wrote: ") as error:
        mgraph.read(tmp_path / "m.npz")
    assert len(str(error.value)) < len(str(tmp_path)) + 300


def test_truth_values_are_no_distances(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(3, dtype=bool))
    with pytest.raises(InputError, match=r"pass dense='adjacency'"):
        mgraph.read(tmp_path / "m.npy", dense="distances")
