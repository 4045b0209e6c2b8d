"""GAP's serialized graphs, .sg and .wsg: compressed rows in binary, as the GAP Benchmark Suite writes and maps them.

A byte that is 1 for edges with a direction, the number m of entries and the number n of vertices as int64, where the
entries of each vertex begin as n + 1 int64, and m neighbours as int32, which in .wsg alternate with int32 weights. With
directions, the same follows for the edges into each vertex. All is little-endian, without padding. An edge without a
direction is an entry at both of its ends. The format is that of `WriterBase` in
https://github.com/sbeamer/gapbs (S. Beamer, K. Asanović, D. Patterson, "The GAP Benchmark Suite", 2015).
"""

import struct
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO

import numpy as np

from .. import device as devices
from ..dtypes import MAX_VERTICES, offset_type
from ..errors import FormatError, InputError
from ..graph import Graph, grouping
from ..graph.compressed import Compressed
from .compressed_rows import starts_of, within
from .content import Options, Rows
from .npy import Header, read_elements
from .stream import PIECE, require, size_known, take_pieces
from .symmetric import undirected

_HEADER = struct.Struct("<Bqq")
_OFFSET, _NUMBER = np.dtype("<i8"), np.dtype("<i4")

#: Entries that are written at a time.
_ENTRIES = 1 << 17


def read_sg(path: Path, stream: BufferedReader, options: Options) -> Rows:
    """Return the edges of a .sg file."""
    return _content(path, stream, options, 1)


def read_wsg(path: Path, stream: BufferedReader, options: Options) -> Rows:
    """Return the edges of a .wsg file."""
    return _content(path, stream, options, 2)


def _content(path: Path, stream: BufferedReader, options: Options, width: int) -> Rows:
    """Return the edges of a file whose entries have `width` numbers.

    Raises
    ------
    FormatError
        If the sizes in the header do not fit the file, for rows that do not follow one another, for a vertex that is
        not in [0, n), and for an edge without a direction that is not listed at both ends.
    MemoryLimitError
        If the arrays exceed the free memory.
    """
    head = stream.read(_HEADER.size)
    if len(head) < _HEADER.size:
        raise FormatError(f"{path}: it ends after {len(head)} of the {_HEADER.size} bytes of its header")
    directed, m, n = _HEADER.unpack(head)
    if directed > 1 or m < 0 or n < 0:
        raise FormatError(
            f"{path} must begin with a byte 0 or 1 and two sizes, of edges and of vertices, got {directed}, {m}, {n}: "
            "it is no serialized graph of GAP"
        )
    if n > MAX_VERTICES:
        raise FormatError(f"{path}: {n} vertices are beyond int32: at most {MAX_VERTICES}")
    part = _OFFSET.itemsize * (n + 1) + _NUMBER.itemsize * width * m
    whole, there = _HEADER.size + part * (1 + directed), size_known(stream)
    if there and there != whole:
        raise FormatError(
            f"{path} has {there} bytes, and a graph of {n} vertices and {m} entries has {whole}: is it complete"
            f"{', and without weights' if width == 1 else ', and with int32 weights'}?"
        )
    many = m >= grouping.MANY
    threads = grouping.thread_count() if there and many else 1
    room = threads * PIECE + (0 if many else 2 * m)  # buffers, and truth values that tell whether few are in order
    require(path, part + offset_type(m).itemsize * (n + 1) + room, f"a graph of {m:,} entries")
    offsets = read_elements(path, stream, Header(_OFFSET, False, (n + 1,), 0), "offsets", last=False)
    columns = _columns(path, stream, m, width, threads)
    if not there:
        _pass_over(path, stream, part if directed else 0)
    try:
        indptr, indices = starts_of(offsets, m, n, "the list of offsets"), within(columns[0], n)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    rows = Rows(Compressed(indptr, indices, columns[1] if width == 2 else None), n, bool(directed), 0)
    return rows if directed or options.directed else undirected(path, rows)


def _columns(path: Path, stream: BufferedReader, m: int, width: int, threads: int) -> list[np.ndarray]:
    """Return the neighbours, and of entries of two numbers the weights."""
    columns = [np.empty(m, np.int32) for _ in range(width)]
    entry = _NUMBER.itemsize * width

    def take(place: int, piece: memoryview) -> None:
        numbers = np.frombuffer(piece, _NUMBER).reshape(-1, width)
        for column, its in zip(columns, numbers.T, strict=True):
            column[place // entry :][: len(its)] = its

    there = take_pieces(stream, entry * m, threads, take)
    if there < entry * m:
        raise FormatError(f"{path}: it ends after {there} of the {entry * m} bytes of its entries: is it complete?")
    return columns


def _pass_over(path: Path, stream: BufferedReader, size: int) -> None:
    """Read the edges into each vertex, which say nothing new; or raise FormatError unless they end the file."""
    passed = take_pieces(stream, size, 1, lambda place, piece: None)
    if passed < size or stream.read(1):
        what = f"ends {size - passed} bytes before" if passed < size else "goes on after"
        raise FormatError(f"{path}: it {what} the end of the edges into each vertex: is it complete?")


def write_sg(file: IO[bytes], graph: Graph, path: Path) -> None:
    """Write an unweighted graph.

    Raises
    ------
    InputError
        If the graph has weights.
    """
    if graph.weighted:
        raise InputError(f"{path}: a .sg file holds no weights: use .wsg, or write graph.unweighted()")
    _write(file, graph)


def write_wsg(file: IO[bytes], graph: Graph, path: Path) -> None:
    """Write a weighted graph.

    Raises
    ------
    InputError
        If the graph has no weights, or one that is not an integer of 32 bits.
    """
    if not graph.weighted:
        raise InputError(f"{path}: a .wsg file holds weights, and the graph has none: use .sg")
    dtype = graph.weights_dtype
    bounds = np.iinfo(np.int32)
    least, greatest, _ = graph.extremes()
    if dtype is None or dtype.kind != "i" or least < bounds.min or greatest > bounds.max:
        raise InputError(f"{path}: the weights of a .wsg file are int32, and those of the graph are not all: {dtype}")
    _write(file, graph)


def _write(file: IO[bytes], graph: Graph) -> None:
    file.write(_HEADER.pack(graph.directed, graph.m, graph.n))
    for edges in (graph.compressed("csr"), graph.compressed("csc")) if graph.directed else (graph.compressed("csr"),):
        for piece in _pieces(edges):
            file.write(piece.data)


def _pieces(edges: Compressed) -> Iterator[np.ndarray]:
    """Yield what is written of compressed edges; each piece uses the memory of the one before."""
    yield devices.to_host(edges.indptr).astype(_OFFSET)
    columns = [column for column in (edges.indices, edges.weights) if column is not None]
    buffer = np.empty((min(_ENTRIES, len(edges.indices)), len(columns)), _NUMBER)
    for first in range(0, len(edges.indices), _ENTRIES):
        piece = buffer[: len(edges.indices) - first]
        for place, column in enumerate(columns):
            piece[:, place] = devices.to_host(column[first : first + _ENTRIES])
        yield piece
