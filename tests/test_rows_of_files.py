"""Files of compressed rows make the graph that `Graph.from_edges` makes of their edges, bit for bit."""

import gzip
import io
import re
import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import mgraph
from mgraph import device as devices
from mgraph.errors import FormatError, MemoryLimitError
from mgraph.generate import rmat, weighted
from mgraph.graph import Graph, grouping
from mgraph.io import gap, stream, symmetric
from tests.support.memory import measured

QUICK = settings(deadline=None, max_examples=120)


@pytest.fixture(params=[1, 1 << 60], ids=["many", "few"])
def many(request, monkeypatch):
    """Take the smallest graphs for large ones, whose files are read by several threads in small pieces; or none."""
    monkeypatch.setattr(grouping, "MANY", request.param)
    monkeypatch.setattr(stream, "PIECE", 24)
    return request.param


def entries_of(n, src, dst, weights, directed):
    """Return the bytes of a file with these entries, in which those of a row keep their order, and the entries."""
    order = np.argsort(src, kind="stable")
    entries = [ends[order] for ends in (src, dst, *([] if weights is None else [weights]))]
    starts = np.searchsorted(entries[0], np.arange(n + 1))
    numbers = np.stack(entries[1:], axis=1).astype("<i4").tobytes()
    part = starts.astype("<i8").tobytes() + numbers
    return struct.pack("<Bqq", directed, len(src), n) + part * (1 + directed), entries


def read(data, weights, **options):
    return mgraph.read(io.BytesIO(data), "sg" if weights is None else "wsg", **options)


def expected(n, entries, directed, **options):
    """Return the graph of entries as `from_edges` makes it, of edges without a direction from one of both entries."""
    src, dst, *weights = entries
    keep = slice(None) if directed else src <= dst
    weights = weights[0][keep].astype(np.int32) if weights else None
    return Graph.from_edges(src[keep], dst[keep], weights, n, directed, **options)


def same(one, other):
    assert (one.n, one.m, one.directed, one.nonnegative) == (other.n, other.m, other.directed, other.nonnegative)
    assert one.extremes() == other.extremes()
    for order in ("csr", "csc"):
        for mine, its in zip(one.compressed(order), other.compressed(order), strict=True):
            assert (mine is None) == (its is None)
            if mine is not None:
                assert mine.dtype == its.dtype and np.array_equal(mine, its) and mine.flags.carray
    assert (one.ids is None) == (other.ids is None)
    assert one.ids is None or (one.ids.tolist() == other.ids.tolist() and not one.ids.flags.writeable)


@st.composite
def graphs(draw):
    """Vertices, and entries that are at both ends: in order or not, some parallel, with weights that may repeat."""
    n, m = draw(st.sampled_from([1, 2, 5, 40, 3000])), draw(st.sampled_from([0, 1, 6, 60, 500]))
    random = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    src, dst = random.integers(0, n, (2, m))
    weights = draw(st.sampled_from([None, (1, 3), (-(2**31), 2**31 - 1)]))
    weights = None if weights is None else random.integers(*weights, m, endpoint=True)
    if draw(st.booleans()):
        key = np.unique(np.minimum(src, dst) * n + np.maximum(src, dst), return_index=True)[1]
        src, dst, weights = (None if part is None else part[key] for part in (src, dst, weights))
    other = src != dst
    src, dst = np.concatenate([src, dst[other]]), np.concatenate([dst, src[other]])
    weights = None if weights is None else np.concatenate([weights, weights[other]])
    order = random.permutation(len(src))
    if draw(st.booleans()):
        order = order[np.lexsort((dst[order], src[order]))]
    return n, src[order], dst[order], None if weights is None else weights[order]


@pytest.mark.usefixtures("many")
@QUICK
@given(graphs(), st.sampled_from([None, False]))
def test_edges_without_directions(graph, directed):
    n, src, dst, weights = graph
    data, entries = entries_of(n, src, dst, weights, False)
    same(read(data, weights, directed=directed), expected(n, entries, False))
    same(read(data, weights, n=n + 3), expected(n + 3, entries, False))
    same(read(data, weights, directed=True), expected(n, entries, True))
    same(read(data, weights, weighted=False), expected(n, entries[:2], False))
    used, ends = np.unique(np.concatenate(entries[:2]), return_inverse=True)
    packed = [*np.split(ends, 2), *entries[2:]]
    same(read(data, weights, relabel=True), expected(len(used), packed, False, ids=used))


@pytest.mark.usefixtures("many")
@QUICK
@given(graphs(), st.integers(0, 1 << 30))
def test_edges_with_directions(graph, seed):
    n, src, dst, weights = graph
    some = np.random.default_rng(seed).random(len(src)) < 0.6
    data, entries = entries_of(n, src[some], dst[some], None if weights is None else weights[some], True)
    same(read(data, weights), expected(n, entries, True))
    lengths = None if weights is None else entries[2].astype(np.int32)
    same(read(data, weights, directed=False), Graph.from_edges(*entries[:2], lengths, n, False))


@pytest.mark.usefixtures("many")
@QUICK
@given(graphs(), st.data())
def test_the_first_edge_that_is_at_one_end_only_is_named(graph, data):
    n, src, dst, weights = graph
    if not len(src):
        return
    # One entry or two get another source, target or weight.
    for _ in range(data.draw(st.sampled_from([1, 2]))):
        place = data.draw(st.integers(0, len(src) - 1))
        kind = data.draw(st.sampled_from(["src", "dst", "weight"]))
        if kind == "weight" and weights is not None:
            weights[place] ^= 1
        elif kind == "src":
            src[place] = data.draw(st.integers(0, n - 1))
        else:
            dst[place] = data.draw(st.integers(0, n - 1))
    content, entries = entries_of(n, src, dst, weights, False)
    edges = list(zip(*(part.tolist() for part in entries), strict=True))
    above = Counter((u, v, *w) for u, v, *w in edges if u < v)
    below = Counter((v, u, *w) for u, v, *w in edges if u > v)
    if above == below:
        same(read(content, weights), expected(n, entries, False))
        return
    u, v, *_ = min((above - below) + (below - above))
    with pytest.raises(FormatError, match=f"between the vertices {u} and {v} must be listed at both with one weight"):
        read(content, weights)
    same(read(content, weights, directed=True), expected(n, entries, True))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("suffix", ["sg", "wsg"])
@pytest.mark.parametrize("directed", [True, False])
def test_any_number_of_threads_reads_the_same(threads, suffix, directed, tmp_path, many, monkeypatch):
    monkeypatch.setattr(grouping, "thread_count", lambda: threads)
    graph = rmat(6, directed=directed)
    graph = weighted(graph, (1, 9), "int32") if suffix == "wsg" else graph
    path = tmp_path / f"g.{suffix}"
    mgraph.write(graph, path)
    same(mgraph.read(path), graph)
    (tmp_path / f"g.{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
    same(mgraph.read(tmp_path / f"g.{suffix}.gz"), graph)
    with open(path, "rb") as file:
        same(mgraph.read(file, suffix), graph)
    # What is wrong in any piece is found.
    content = bytearray(path.read_bytes())
    width = 8 if suffix == "wsg" else 4
    first = 17 + 8 * (graph.n + 1)
    for place in range(first, first + width * graph.m, 13 * width):
        wrong = content.copy()
        wrong[place : place + 4] = struct.pack("<i", -5)
        path.write_bytes(wrong)
        with pytest.raises(FormatError):
            mgraph.read(path)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_pieces_of_a_file(threads, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "PIECE", 10)
    path, content = tmp_path / "bytes", bytes(range(200))
    path.write_bytes(content)
    for start, size in ((0, 200), (3, 57), (190, 10), (7, 0), (150, 70)):
        found = bytearray(size)

        def take(place, piece, found=found):
            found[place : place + len(piece)] = piece

        with open(path, "rb") as file:
            file.read(start)
            there = stream.take_pieces(file, size, threads, take)
            assert there == min(size, 200 - start)
            assert found[: there - there % 10] == content[start : start + there - there % 10]
            if there == size:
                assert bytes(found) == content[start : start + size] and file.tell() == start + size


@pytest.mark.parametrize("weights", [None, "int32", "int64"])
def test_every_edge_that_lacks_its_other_direction_is_noticed(weights):
    graph = rmat(5)
    indptr, indices, values = (weighted(graph, (1, 9), "int32") if weights else graph).compressed("csr")
    values = None if values is None else values.astype(weights)
    assert grouping.balanced(indptr, indices, values)
    assert grouping.balanced(indptr.astype(np.int64), indices, values)
    src = np.repeat(np.arange(graph.n), np.diff(indptr))
    for edge in (src != indices).nonzero()[0]:
        counts = indptr.copy()
        counts[src[edge] + 1 :] -= 1
        rest = [None if part is None else np.delete(part, edge) for part in (indices, values)]
        assert not grouping.balanced(counts, *rest)
        if values is not None:
            other = values.copy()
            other[edge] += 1
            assert not grouping.balanced(indptr, indices, other)


def test_twice_in_one_direction_is_not_once_in_each():
    # As often above the diagonal as below it, with the same sums of ends.
    indptr, indices = np.array([0, 2, 3, 4, 4], np.int32), np.array([1, 2, 0, 3], np.int32)
    assert not grouping.balanced(indptr, indices, None)
    assert grouping.balanced(np.array([0, 2, 4], np.int32), np.array([1, 1, 0, 0], np.int32), None)


@pytest.mark.parametrize("kind", [None, "uint64", "float32", "float64", "uint8", "int64", "bool"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.usefixtures("many")
def test_rows_of_a_sparse_matrix(kind, index, tmp_path):
    random = np.random.default_rng(3)
    src, dst = random.integers(0, 50, (2, 400))
    values = np.ones(400, bool) if kind is None else random.integers(0, 5, 400).astype(kind)
    if kind in ("float32", "float64"):
        values[::9] = np.inf
    for form in ("csr", "csc", "coo"):
        matrix = sparse.coo_array((values, (src, dst)), shape=(50, 50)).asformat(form)
        if form != "coo":
            matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
        path = tmp_path / f"{form}.npz"
        sparse.save_npz(path, matrix)
        entries = matrix.tocoo()
        weights = None if values.dtype == bool else entries.data
        for directed in (True, False):
            same(
                mgraph.read(path, directed=directed), Graph.from_edges(entries.row, entries.col, weights, 50, directed)
            )
        same(mgraph.read(path, weighted=False), Graph.from_edges(entries.row, entries.col, n=50))


@pytest.mark.parametrize("suffix", ["sg", "wsg"])
@pytest.mark.parametrize("directed", [True, False])
def test_memory_that_reading_takes(suffix, directed, tmp_path, many, monkeypatch):
    for module in (stream, gap):
        monkeypatch.setattr(module, "PIECE", 1 << 16)
    graph = rmat(15, directed=directed)
    graph = weighted(graph, (1, 255), "int32") if suffix == "wsg" else graph
    path = tmp_path / f"g.{suffix}"
    mgraph.write(graph, path)
    mgraph.read(path)
    read, peak = measured(lambda: mgraph.read(path))
    kept = sum(part.nbytes for part in read.compressed("csr") if part is not None)
    room = grouping.thread_count() * stream.PIECE if many == 1 else stream.PIECE + 2 * graph.m
    needed = kept + 8 * graph.n + room
    if directed or many == 1:
        assert kept < peak < 1.02 * needed
    else:
        assert peak < 2 * kept + 4 * graph.m
    free = 0
    monkeypatch.setattr(devices.HostDevice, "available_memory", lambda self: free)
    free = int(0.9 * needed)
    with pytest.raises(MemoryLimitError, match=re.escape(str(path))):
        mgraph.read(path)
    free = int(1.1 * max(peak, needed))
    assert mgraph.read(path).m == graph.m


def test_large_files_are_not_grouped_again(tmp_path, monkeypatch):
    graph = rmat(8)
    mgraph.write(graph, tmp_path / "g.sg")
    monkeypatch.setattr(grouping, "MANY", 1)
    monkeypatch.setattr(symmetric, "transposed", lambda *_: pytest.fail("the edges were grouped"))
    same(mgraph.read(tmp_path / "g.sg"), graph)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.usefixtures("many")
@QUICK
@given(graphs(), st.booleans(), st.sampled_from([np.int32, np.int64]), st.sampled_from([-1, 0, 1]))
def test_whether_rows_are_in_order(threads, graph, strictly, index, beyond):
    n, src, dst, _ = graph
    order = np.argsort(src, kind="stable")
    rows, columns = src[order], dst[order].astype(index)
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(index)
    if beyond and len(columns):
        columns[len(columns) // 2] = n if beyond > 0 else -1
    steps = columns[1:] - columns[:-1]
    expected = (steps >= strictly)[rows[1:] == rows[:-1]].all() and ((columns >= 0) & (columns < n)).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "thread_count", lambda: threads)
        assert grouping.ascending(indptr, columns, n, strictly) == expected
