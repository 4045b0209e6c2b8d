"""METIS .graph: 'vertices edges [fmt [ncon]]', and then the neighbours of each vertex on a line of its own.

Vertices are numbered from 1, and an edge stands on the lines of both of its ends. The digits of fmt say, from the left,
whether a line begins with the vertex's size, whether `ncon` weights of the vertex follow, and whether the weight of its
edge follows each neighbour: all of them integers. Lines that begin with ``%`` are comments. The format is that of the
manual of METIS 5 (G. Karypis, 2013), section 4.1.1. Sizes and weights of vertices are not kept.

Two other kinds of files go by this name, and are told apart by how many numbers there are. The tenth DIMACS challenge
has no sizes: its fmt 100 says that there may be loops and parallel edges. In files of the GAP Benchmark Suite, the
first line counts the entries of all lines rather than edges, and entries that do not all stand at both ends have
directions.
"""

import contextlib
import re
from functools import partial
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from .. import device as devices
from ..dtypes import MAX_VERTICES, offset_type
from ..errors import FormatError, InputError
from ..graph import Compressed, Graph
from .content import Options, Rows
from .stream import Text, check_text, require
from .symmetric import undirected

_HEADER = re.compile(rb"([0-9]{1,18})[ \t]+([0-9]{1,18})(?:[ \t]+([01]{1,3})(?:[ \t]+([0-9]{1,9}))?)?")

#: A line that is a comment.
_COMMENT = re.compile(rb"^[ \t\r]*%[^\n]*", re.MULTILINE)

#: What a byte is: part of a number, a blank, or neither. A ``%`` is what is left of a comment.
_DIGIT, _BLANK = 1, 2
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b"0123456789")] = _DIGIT
_KINDS[list(b" \t\r\n%")] = _BLANK

#: The most digits of a number: all such are in int64.
_DIGITS = 18

#: Bytes per entry, until the graph is built.
_BYTES_AN_ENTRY = 40

#: Vertices whose lines are written at a time.
_VERTICES = 1 << 14


class Header(NamedTuple):
    """The first line.

    Attributes
    ----------
    vertices, edges : int
        The numbers of these.
    before : int
        How many numbers a line has before the neighbours.
    weighted : bool
        Whether edges weigh.
    entries : bool
        Whether the number of edges may be that of all neighbours.
    loops : bool
        Whether there may be edges from a vertex to itself in any case.
    """

    vertices: int
    edges: int
    before: int
    weighted: bool
    entries: bool = True
    loops: bool = False


def read_metis(path: Path, stream: BufferedReader, options: Options) -> Rows:
    """Return the edges of a METIS file.

    Raises
    ------
    FormatError
        For an invalid line, if there are fewer or more edges or vertices than the first line says, and for an edge that
        does not stand at both ends with one weight, unless entries were counted.
    MemoryLimitError
        If the edges so far are more than can be sorted.
    """
    text = Text(path, stream, b"%")
    readings: list[_Lines] = []
    for first, block in text:
        place, line = next(text.content(block))
        first += block.count(b"\n", 0, place)
        readings = [_Lines(path, header, first + 1) for header in _headers(f"{path}, line {first}", line)]
        end = block.find(b"\n", place)
        _take(readings, block[end + 1 :] if end >= 0 else b"")
        text.take = partial(_take, readings)
    if not readings:
        raise FormatError(f"{path} has no line 'vertices edges'")
    found = _found(readings, options.directed)
    if options.directed:
        return found
    try:
        return undirected(path, found)
    except FormatError:
        if options.directed is None and found.directed:
            return found
        raise


def _headers(start: str, line: bytes) -> list[Header]:
    """Return what a first line may mean."""
    found = _HEADER.fullmatch(line)
    if found is None:
        shown = line[:60].decode("utf-8", "replace")
        raise FormatError(f"{start}: a METIS file begins with 'vertices edges [fmt [ncon]]', not with {shown!r}")
    vertices, edges = int(found[1]), int(found[2])
    if vertices > MAX_VERTICES:
        raise FormatError(f"{start}: {vertices} vertices are beyond int32: at most {MAX_VERTICES}")
    sizes, weighs, weighted = (digit == ord("1") for digit in (found[3] or b"").rjust(3, b"0"))
    before = int(found[4] or 1) if weighs else 0
    plain = Header(vertices, edges, before, weighted)
    return [plain._replace(before=before + 1, entries=False), plain._replace(loops=True)] if sizes else [plain]


def _take(readings: list["_Lines"], block: bytes) -> int:
    """Let each reading take a block, and drop those that cannot but the last; return the number of lines."""
    count = 0
    for lines in readings[:]:
        try:
            count = lines.take(block)
        except FormatError:
            if len(readings) == 1:
                raise
            readings.remove(lines)
    return count


def _found(readings: list["_Lines"], directed: bool | None) -> Rows:
    """Return what the reading holds whose numbers are as many as the first line says."""
    for lines in readings[:-1]:
        with contextlib.suppress(FormatError):
            return lines.content(directed)
    return readings[-1].content(directed)


class _Lines:
    """The lines after the first one, and the edges in them."""

    def __init__(self, path: Path, header: Header, line: int) -> None:
        self.header = header
        self._path = path
        self._line = line  # the number of the next line
        self._vertex = 0  # that it belongs to
        self._count = 0
        self._loop = 0  # the number of the first line with a neighbour that is its vertex
        self._parts: list[list[np.ndarray]] = []

    def take(self, block: bytes) -> int:
        """Keep the edges in a block of whole lines; return the number of these.

        Raises
        ------
        FormatError
            For the first line that is wrong.
        MemoryLimitError
            If the edges so far are more than can be sorted.
        """
        n, _, before, weighted, *_ = self.header
        check_text(self._path, self._line, block)
        if b"%" in block:
            block = _COMMENT.sub(b"%", block)
        text = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(text == ord("\n"))
        lines = len(ends) + (not block.endswith(b"\n") and block != b"")
        row = np.searchsorted(ends, self._numbers(text, ends))
        comment = np.bincount(np.searchsorted(ends, np.flatnonzero(text == ord("%"))), minlength=lines) > 0
        vertex = self._vertex + np.cumsum(~comment) - 1
        found = np.bincount(row, minlength=lines)
        place = np.arange(len(row)) - (np.cumsum(found) - found)[row]  # of a number in its line
        self._check(found, ~comment & (vertex < n))
        # Of blanks alone it makes a zero.
        values = np.fromstring(block.replace(b"%", b" "), np.int64, sep=" ")[: len(row)]
        neighbour = place >= before
        if weighted:
            neighbour &= (place - before) % 2 == 0
        src, dst = vertex[row[neighbour]], values[neighbour] - 1
        wrong, loops = (dst < 0) | (dst >= n), dst == src
        if wrong.any():
            first = int(wrong.argmax())
            raise self._wrong(int(row[neighbour][first]), f"the vertex {int(dst[first]) + 1} is not in 1 to {n}")
        if loops.any() and not self._loop:
            self._loop = self._line + int(row[neighbour][loops.argmax()])
        part: list[np.ndarray] = [src.astype(np.int32), dst.astype(np.int32)]
        if weighted:
            part.append(values[(place >= before) & ~neighbour])
        self._parts.append(part)
        self._count += len(src)
        require(self._path, _BYTES_AN_ENTRY * self._count, f"a file of at least {self._count:,} neighbours")
        self._line += len(ends)
        self._vertex += lines - int(comment.sum())
        return len(ends)

    def _numbers(self, text: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return where the numbers of a block begin, or raise FormatError for what is no number and no blank."""
        kinds = _KINDS[text]
        inside = np.flatnonzero(text[1:] == ord("%")) + 1
        strange = np.concatenate([np.flatnonzero(kinds == 0), inside[text[inside - 1] != ord("\n")]])
        if len(strange):
            place = int(strange.min())
            line = int(np.searchsorted(ends, place))
            raise self._wrong(line, f"expected integers of 0 or more, got {chr(text[place])!r}")
        edges = np.diff((kinds == _DIGIT).astype(np.int8), prepend=0, append=0)
        starts = np.flatnonzero(edges == 1)
        lengths = np.flatnonzero(edges == -1) - starts
        if len(lengths) and lengths.max() > _DIGITS:
            line = int(np.searchsorted(ends, starts[lengths.argmax()]))
            raise self._wrong(line, f"a number has {lengths.max()} digits, and the most is {_DIGITS}")
        return starts

    def _check(self, found: np.ndarray, of_vertex: np.ndarray) -> None:
        """Raise FormatError for the first line with a wrong number of numbers."""
        n, _, before, weighted, *_ = self.header
        beyond = ~of_vertex & (found > 0)
        few = of_vertex & (found < before)
        odd = of_vertex & ((found - before) % 2 != 0) & weighted
        wrong = beyond | few | odd
        if not wrong.any():
            return
        line = int(wrong.argmax())
        if beyond[line]:
            raise self._wrong(line, f"it follows the lines of all {n} vertices")
        if few[line]:
            raise self._wrong(line, f"it has {found[line]} numbers, and {before} of the vertex itself are expected")
        raise self._wrong(line, "a neighbour lacks the weight of its edge")

    def _wrong(self, line: int, why: str) -> FormatError:
        """Return the error for a line of the block."""
        return FormatError(f"{self._path}, line {self._line + line}: {why}")

    def content(self, directed: bool | None) -> Rows:
        """Return all entries; they have directions if the first line counts them.

        Of a loop that is listed twice there is one entry, unless the caller wants a directed graph.

        Raises
        ------
        FormatError
            If lines or edges are missing, and for a loop where there must be none.
        """
        n, edges, before, weighted, entries, loops_too = self.header
        if self._vertex < n - (not before):  # the line of a last vertex without edges may lack its end
            raise FormatError(
                f"{self._path}, line {self._line}: the file ends here, with the lines of {self._vertex} of {n} "
                "vertices: is it complete?"
            )
        none = [np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64)]
        columns = [np.concatenate([none[i], *(part[i] for part in self._parts)]) for i in range(2 + weighted)]
        src, dst, weights = columns[0], columns[1], columns[2] if weighted else None
        loops = np.flatnonzero(src == dst)
        counted = entries and self._count == edges
        if len(loops) and not (loops_too or counted):
            raise FormatError(f"{self._path}, line {self._loop}: a neighbour is the vertex of the line itself")
        if not counted and self._count not in (2 * edges, 2 * edges - len(loops)):
            raise FormatError(
                f"{self._path}: the first line says that there are {edges} edges, each on two lines, and there are "
                f"{self._count} neighbours"
            )
        if len(loops) and not directed and self._count == 2 * edges:
            src, dst, weights = self._without_second_loops(src, dst, weights, loops)
        indptr = np.zeros(n + 1, offset_type(len(src)))
        np.cumsum(np.bincount(src, minlength=n), out=indptr[1:])
        return Rows(Compressed(indptr, dst, weights), n, counted, 1)

    def _without_second_loops(
        self, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, loops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return entries without one of each two that are the ends of a loop."""
        order = loops[np.lexsort([column[loops] for column in (weights, src) if column is not None])]
        one, other = order[::2], order[1::2]
        if not all(np.array_equal(column[one], column[other]) for column in (src, weights) if column is not None):
            raise FormatError(f"{self._path}: some loops are listed twice, and some are not")
        rest = np.delete(np.arange(len(src)), other)
        return src[rest], dst[rest], None if weights is None else weights[rest]


def write_metis(file: IO[bytes], graph: Graph, path: Path) -> None:
    """Write a graph without directions.

    Raises
    ------
    InputError
        If edges have directions, for a loop, and for a weight that is not a positive integer below 10^18.
    """
    if graph.directed:
        raise InputError(f"{path}: edges of a METIS file have no direction, and those of the graph have one")
    indptr, indices = map(devices.to_host, graph.compressed("csr")[:2])
    src, dst, weights = graph.listed()
    weights = None if weights is None else devices.to_host(weights)
    loops = int((src == dst).sum())
    if loops:
        raise InputError(f"{path}: a METIS file holds no edge from a vertex to itself, and the graph has {loops}")
    if weights is not None and (weights.dtype.kind != "i" or (len(weights) and weights.min() < 1)):
        raise InputError(f"{path}: the weights of a METIS file are positive integers, and those of the graph are not")
    if weights is not None and len(weights) and weights.max() >= 10**_DIGITS:
        raise InputError(f"{path}: a weight has more than {_DIGITS} digits, the most that are read: {weights.max()}")
    file.write(f"{graph.n} {graph.m // 2}{'' if weights is None else ' 001'}\n".encode())
    numbers = indices + 1 if weights is None else np.stack([indices + 1, weights], axis=1).reshape(-1)
    starts = indptr.astype(np.int64) * (1 if weights is None else 2)
    for first in range(0, graph.n, _VERTICES):
        cuts = starts[first : first + _VERTICES + 1]
        words = list(map(str, numbers[cuts[0] : cuts[-1]].tolist()))
        bounds = (cuts - cuts[0]).tolist()
        rows = (" ".join(words[a:b]) for a, b in pairwise(bounds))
        file.write("".join(f"{row}\n" for row in rows).encode())
