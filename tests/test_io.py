import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

import mgraph.io
from mgraph.errors import FormatError, InputError, MissingFileError, OutputExistsError
from mgraph.graph import MAX_VERTICES
from mgraph.io import SparseIdsWarning, check_output, read, read_list, save

DATA = Path(__file__).parents[2] / "shared" / "data"
real_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data with real graphs is missing")

PACK = {"": lambda data: data, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.fixture
def write(tmp_path):
    def write(text, name="graph.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def triples(graph):
    src, dst, weights = graph.coo()
    return list(zip(src.tolist(), dst.tolist(), *([] if weights is None else [weights.tolist()]), strict=True))


def refused(path, *parts, **options):
    with pytest.raises(FormatError) as caught:
        read(path, **options)
    for part in (str(path), *parts):
        assert part in str(caught.value)


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


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
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
    assert triples(read(floats)) == [(0, 1, 5), (1, 0, 2.5)]  # inf is no edge
    assert not read(integers, weighted=False).weighted
    refused(write("0 1\n"), "no weights", weighted=True)


def test_columns_beyond_the_second_are_ignored_on_request(write):
    assert triples(read(write("0 1 friend 2007\n1 2 foe\n"), weighted=False)) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "line", "part", "options"),
    [
        ("0 1\n1 two\n", 2, "'two'", {}),
        ("# c\n\nFromNodeId ToNodeId\n0 1\n", 3, "put a '#' before it", {}),
        ("source,target,weight\n0,1,2\n", 1, "'source'", {}),
        ("0 1\n1\n", 2, "1 columns of numbers, not 2", {}),
        ("0 1\n1 2 3\n", 2, "the first edge, on line 1, has 2", {}),
        ("0,1\n1 2\n", 2, "columns", {}),
        ("0,,1\n", 1, "''", {}),
        ("0 1 2 3\n", 1, "4 columns", {}),
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


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
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
    dense = read(write("1 3\n3 1\n3 3\n1 1\n"), relabel=True, n=2)
    assert dense.ids.tolist() == [1, 3] and triples(dense) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    refused(write("1 3\n"), "2 distinct", "n=3", relabel=True, n=3)


def test_sparse_ids_are_warned_of(write):
    path = write("0 1000\n")
    with pytest.warns(SparseIdsWarning, match=r"2 of the ids 0 to 1000 .*relabel=True numbers") as caught:
        assert read(path).n == 1001
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(path, relabel=True)
        read(path, n=2000)
        read(write("0 300\n"))
        read(write("\n".join(f"{i} {i + 700}" for i in range(600))))


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
def test_a_header_of_few_edges_is_an_edge_only_if_the_user_says_so(write, text, line, header, vertices):
    path = write(text.replace(",", " "))
    refused(
        path, f"line {line}: '{header}'", f"pass n={vertices} to skip it", f"if it is an edge, pass n={vertices + 1}"
    )
    skipped, kept = read(path, n=vertices), read(path, n=vertices + 1)
    assert (skipped.n, kept.n, kept.m) == (vertices, vertices + 1, skipped.m + 1)
    edge = tuple(map(int, header.split()))
    assert set(triples(kept)) - set(triples(skipped)) == {edge}


def test_edges_are_not_taken_for_a_header(write):
    for text in (
        "4 2\n0 1\n1 2\n2 3\n",
        "3 3\n0 1\n1 2\n4 0\n",
        "5 0\n",
        "0 1\n2 0\n",
        "4 3 1\n0 1 1\n1 2 1\n2 3 1\n",
    ):
        assert read(write(text)).m == text.count("\n")
    assert read(write("4 3 7\n0 1 1\n1 2 1\n2 3 1\n"), weighted=False).m == 4


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


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("p sp",)),
        ("c only\n", ("p sp",)),
        ("c\n1 2\n", ("line 2:", "p tw")),
        ("p edge 3 2\n", ("line 1:", "p edge 3 2")),
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
    assert triples(read(write(banner + "2 2 1\n1 2 5\n", "m.txt"))) == [(0, 1, 5)]


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


def test_a_cut_off_compressed_matrix_tells_the_line_reached(write, monkeypatch):
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
@pytest.mark.parametrize("name", ["m.npy", "m.npz"])
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
    refused(tmp_path / "result.npz", "save_npz")
    os.replace(tmp_path / "result.npz", tmp_path / "result.npy")
    refused(tmp_path / "result.npy")


# Files that are not what they should be


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
@pytest.mark.parametrize("name", ["g.txt", "g.gr", "g.mtx", "g.npz", "g.npy"])
def test_cut_off_compressed_files(write, name, suffix):
    lines = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(1, 1000))
    text = {
        "gr": "p tw 1000 999\n",
        "mtx": "%%MatrixMarket matrix coordinate pattern general\n1000 1000 999\n",
    }
    whole = PACK[suffix]((text.get(name[2:], "") + lines).encode())
    refused(write(whole[:-20], name + suffix))
    refused(write(b"0 1\n", name + suffix))
    refused(write(b"", name + suffix))
    refused(write(whole[:1000] + b"\xff" * 30 + whole[1030:], name + suffix))


def test_a_cut_off_file_tells_the_line_reached(write, monkeypatch):
    monkeypatch.setattr(mgraph.io.stream, "PIECE", 64)
    text = "".join(f"{i} {i * 7919 % 99991}\n" for i in range(20000)).encode()
    with pytest.raises(FormatError, match=r"after line (\d+)") as caught:
        read(write(gzip.compress(text)[:-5000], "g.txt.gz"))
    assert 10000 < int(str(caught.value).split("line ")[1].split(":")[0]) < 20000


def test_what_is_no_file_or_no_graph(tmp_path, write, monkeypatch):
    refused(tmp_path, "folder")
    with pytest.raises(FileNotFoundError, match="nothing"):
        read(tmp_path / "nothing.txt")
    refused(write(b"\x89PNG\r\n\x1a\n\x00\x00", "picture.png"), "'edges'", "'mtx'")
    assert triples(read(write("0 1\n", "graph.dat"))) == [(0, 1)]
    with pytest.raises(InputError, match=r"format='csv'.*'edges'"):
        read(write("0 1\n"), format="csv")
    for n in (-1, 1.5, "3", True):
        with pytest.raises(InputError, match="n="):
            read(write("0 1\n"), n=n)
    monkeypatch.setattr(mgraph.io.stream, "BLOCK", 100)
    refused(write("0 1\n" + "1" * 500), "line 2", "no text file")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
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
    """A matrix that is there only a block of rows at a time."""

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


def test_check_output(tmp_path):
    check_output(tmp_path / "result.npz")
    (tmp_path / "there.npy").write_text("old")
    with pytest.raises(OutputExistsError, match=r"overwrite=True replaces"):
        save(tmp_path / "there.npy", ARRAYS[0])
    assert (tmp_path / "there.npy").read_text() == "old"
    check_output(tmp_path / "there.npy", overwrite=True)
    (tmp_path / "folder.npy").mkdir()
    for path, part in (
        ("result.txt", r"\.npy or \.npz"),
        ("folder.npy", "folder"),
        ("no/result.npy", "no folder"),
    ):
        with pytest.raises(InputError, match=part):
            check_output(tmp_path / path, overwrite=True)


def test_arrays_that_a_file_cannot_hold(tmp_path):
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
def test_a_file_that_is_not_there(reader, tmp_path):
    with pytest.raises(MissingFileError, match=r"there is no such file: .*nothing\.gr") as caught:
        reader(tmp_path / "nothing.gr")
    assert isinstance(caught.value, FileNotFoundError) and isinstance(caught.value, mgraph.MgraphError)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "nothing.gr")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
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


def test_what_gives_no_bytes_is_refused(write):
    path = write("0 1\n")
    with path.open() as file, pytest.raises(InputError, match="binary mode"):
        read(file)
    with pytest.raises(InputError, match="is not a file"):
        read(7)


def test_malformed_files_are_refused_without_harm():
    command = [sys.executable, "-m", "tests.fuzz_files", "--count", "500"]
    result = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("refused") == 1 and "accepted" in result.stdout
