"""Graphs and lists from files, and results into files: text is checked line by line, no result is left half written.

Text is parsed in blocks of whole lines; every check holds or fails for a line by itself, so the line at
fault is found by bisecting the block that failed.
"""

import contextlib
import gzip
import itertools
import lzma
import math
import os
import re
import secrets
import shutil
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader, BytesIO, RawIOBase, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from . import device as devices
from .errors import FormatError, InputError, MgraphError, MissingFileError, OutputExistsError
from .graph import MAX_VERTICES, Graph

Array = Any
Stream = BufferedReader | gzip.GzipFile | lzma.LZMAFile

#: Bytes of text parsed at a time, and of decompressed data asked for at a time.
BLOCK = 1 << 24
PIECE = 1 << 20

#: Edge lines, from the first on, among which a header such as "4039 88234" is looked for.
HEAD = 5

#: Warn of sparse ids when fewer than half of their range are in use and at least this many are not.
WASTED_IDS = 300

FORMATS = {
    "edges": "an edge list, 'u v' or 'u v weight' a line",
    "gr": "DIMACS or PACE .gr",
    "mtx": "Matrix Market",
    "npz": "a SciPy sparse matrix",
    "npy": "a dense distance matrix",
}
_SUFFIXES = {
    **dict.fromkeys((".txt", ".el", ".wel", ".edges", ".edgelist", ".csv", ".tsv"), "edges"),
    **{f".{name}": name for name in ("gr", "mtx", "npz", "npy")},
}
_BROKEN = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)


class SparseIdsWarning(UserWarning):
    """A file's vertex ids are a small part of their range: most vertices of the graph have no edge."""


def read(
    path: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
) -> Graph:
    """Return the graph that a file holds, compressed with gzip or xz or not.

    Vertices are numbered from 0; the ids of a format that numbers them from 1 are lowered by one.

    Parameters
    ----------
    path : path or binary file object
        The file. Of an open file, such as ``sys.stdin.buffer``, what it holds from its position on is read, and it
        stays open.
    format : {"edges", "gr", "mtx", "npz", "npy"}, optional
        An edge list (``u v`` or ``u v weight`` a line, separated by blanks, tabs or commas, with comments
        after ``#`` or ``%``), DIMACS ``p sp`` or PACE ``p tw``, Matrix Market, a SciPy sparse matrix, a
        dense distance matrix (mapped, not loaded, unless it is compressed or comes through a pipe). By
        default the suffix decides.
    n : int, optional
        Number of vertices, for files that do not say it or say too little. A first line ``n edges`` of an
        edge list is then known to be a header and skipped. With `relabel`, the number of distinct ids.
    directed : bool, optional
        By default False for ``p tw`` and symmetric Matrix Market files, True otherwise.
    weighted : bool, optional
        True refuses a file without weights, False ignores weights and, in an edge list, all columns
        beyond the second. By default a graph has weights where the file has them. Weights are integers
        where all of them are, float64 otherwise.
    relabel : bool
        Number the ids in use from 0, ascending, and keep the file's own as the graph's `ids`.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If the file is not what it should be; the message names the line where there is one.
    InputError
        For arguments that do not go together.

    Warns
    -----
    SparseIdsWarning
        If most ids of an edge list are not in use, so that `relabel` would save memory.
    """
    path, file = _named(path)
    if format is not None and format not in FORMATS:
        raise InputError(f"format={format!r} is not known: use {_formats()}")
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0):
        raise InputError(f"n={n!r} is no number of vertices")
    if file is None and path.is_dir():
        raise FormatError(f"{path} is a folder: give a file")
    options = _Options(n, directed, weighted, relabel)
    with _opened(path, file) as stream:
        try:
            format = format or _guess(path, stream.peek(1 << 12))
            if format == "npy":
                return _read_dense(path, stream, options)
            content = _READERS[format](path, stream, options)
        except _BROKEN as error:
            raise FormatError(f"{path}: the file is cut off or corrupt: {error}") from error
    return _graph(path, content, options)


def read_list(path: str | os.PathLike[str] | IO[bytes]) -> np.ndarray:
    """Read the successors of linked lists, as `mgraph.list_rank` takes them.

    Parameters
    ----------
    path : path or binary file object
        An array saved by `numpy.save`, or a text with a number a line, blank but for comments behind ``#``; compressed
        with gzip or xz or not.

    Returns
    -------
    array of int64, shape (n,), or what a saved array is
        Not checked for being a list.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If the file is neither.
    """
    path, file = _named(path)
    with _opened(path, file) as stream:
        try:
            if stream.peek(6).startswith(b"\x93NUMPY"):
                return _saved_array(path, stream)
            with warnings.catch_warnings(), TextIOWrapper(stream, "utf-8") as text:
                warnings.simplefilter("ignore", UserWarning)  # that there is no number
                return np.loadtxt(text, np.int64, ndmin=1)
        except _BROKEN as error:
            raise FormatError(f"{path}: the file is cut off or corrupt: {error}") from error
        except ValueError as error:
            raise FormatError(f"{path}: {error}: give a saved array (.npy), or a text with a number a line") from error


class _Options(NamedTuple):
    """What the caller of `read` says of the file."""

    n: int | None
    directed: bool | None
    weighted: bool | None
    relabel: bool


class _Content(NamedTuple):
    """What a file holds: edges over vertices numbered from 0, and what it says of them."""

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    n: int | None
    directed: bool
    base: int


def _formats() -> str:
    return ", ".join(f"{name!r} ({meaning})" for name, meaning in FORMATS.items())


class _Borrowed(RawIOBase):
    """A caller's file object, which stays open and where it was left, whoever reads it and closes this."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to as many bytes as the buffer holds, and return their number."""
        data = self.file.read(len(buffer))
        if not isinstance(data, bytes):
            raise InputError(f"{self.file!r} does not give bytes: open the file in binary mode")
        buffer[: len(data)] = data
        return len(data)


def _named(given: str | os.PathLike[str] | IO[bytes]) -> tuple[Path, IO[bytes] | None]:
    """Return the path of a file, and the file where it is open already; its path then names it in messages."""
    if isinstance(given, (str, os.PathLike)):
        return Path(given), None
    if not hasattr(given, "read"):
        raise InputError(f"{given!r} is not a file: give a path, or a file object opened in binary mode")
    name = getattr(given, "name", None)
    return Path(name if isinstance(name, str) else "<file>"), given


def _opened(path: Path, file: IO[bytes] | None) -> Stream:
    stream: BufferedReader
    if file is not None:
        stream = BufferedReader(_Borrowed(file))
    else:
        try:
            stream = path.open("rb")
        except FileNotFoundError as error:
            raise MissingFileError(error.errno, "there is no such file", os.fspath(path)) from error
    magic = stream.peek(6)
    if not magic and path.suffix.lower() in (".gz", ".xz"):
        stream.close()
        raise FormatError(f"{path} is empty, and so no compressed file")
    for unpack, suffix, start in ((gzip.open, ".gz", b"\x1f\x8b"), (lzma.open, ".xz", b"\xfd7zXZ\x00")):
        if path.suffix.lower() == suffix or magic.startswith(start):
            if file is not None:
                return unpack(stream)
            stream.close()
            return unpack(path)
    return stream


def _guess(path: Path, head: bytes) -> str:
    inner = path.with_suffix("") if path.suffix.lower() in (".gz", ".xz") else path
    format = _SUFFIXES.get(inner.suffix.lower())
    if format in ("edges", None) and head.startswith(b"%%MatrixMarket"):
        return "mtx"
    if format is None and re.search(rb"[\x00-\x08\x0e-\x1f]", head):
        raise FormatError(f"{path}: neither its suffix nor its content tells what it is: pass format={_formats()}")
    return format or "edges"


def _graph(path: Path, content: _Content, options: _Options) -> Graph:
    n, directed, weighted, relabel = options
    src, dst, weights, known, implied, base = content
    if weighted and weights is None:
        raise FormatError(f"{path} holds no weights: leave out weighted=True")
    if known is not None and n is not None and n < known and not relabel:
        raise FormatError(f"{path} says that it has {known} vertices, more than n={n}")
    ids = None
    if relabel:
        ids, src, dst = _packed(src, dst)
        if n is not None and n != len(ids):
            raise FormatError(f"{path} holds {len(ids)} distinct vertex ids, not n={n}")
        n, ids = len(ids), ids + base
    elif n is None:
        n = known
        if n is None:
            _warn_of_sparse_ids(path, src, dst)
    try:
        return Graph.from_edges(
            src,
            dst,
            None if weighted is False else weights,
            n,
            implied if directed is None else directed,
            ids=ids,
        )
    except InputError as error:
        raise FormatError(f"{path}: {error}") from error


def _distinct(src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the ids in use, ascending: by marking them where their range is small, else by sorting."""
    if not len(src):
        return np.empty(0, np.int64)
    span = max(int(src.max()), int(dst.max())) + 1
    if span > 4 * len(src):
        return np.unique(np.concatenate([src, dst])).astype(np.int64)
    used = np.zeros(span, bool)
    used[src] = True
    used[dst] = True
    return np.flatnonzero(used)


def _packed(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids in use, and the edges with each id replaced by its place among them."""
    ids = _distinct(src, dst)
    if len(ids) and ids[-1] <= 4 * len(src):
        places = np.empty(int(ids[-1]) + 1, np.int32)
        places[ids] = np.arange(len(ids), dtype=np.int32)
        return ids, places[src], places[dst]
    return ids, np.searchsorted(ids, src), np.searchsorted(ids, dst)


def _warn_of_sparse_ids(path: Path, src: np.ndarray, dst: np.ndarray) -> None:
    used = len(_distinct(src, dst))
    span = max(int(src.max()), int(dst.max())) + 1 if used else 0
    if used < span // 2 and span - used >= WASTED_IDS:
        warnings.warn(
            f"{path}: only {used} of the ids 0 to {span - 1} are in use, and the graph gets {span} vertices: "
            "relabel=True numbers those in use from 0",
            SparseIdsWarning,
            stacklevel=4,
        )


def _blocks(path: Path, stream: Stream) -> Iterator[tuple[int, bytes]]:
    """Yield a text in blocks of whole lines, each with the number of its first line."""
    line, rest, more = 1, b"", True
    while more:
        pieces = [rest]
        size = len(rest)
        try:
            while more and size < BLOCK:
                pieces.append(stream.read1(PIECE))
                size += len(pieces[-1])
                more = bool(pieces[-1])
        except _BROKEN as error:
            reached = line - 1 + sum(piece.count(b"\n") for piece in pieces)
            raise FormatError(
                f"{path}: the compressed data is cut off or corrupt after line {reached}: {error}"
            ) from error
        text = b"".join(pieces)
        end = text.rfind(b"\n") + 1 if more else size
        if more and not end:
            raise FormatError(f"{path}, line {line}: no end of the line in {size} bytes: this is no text file")
        yield line, text[:end]
        line += text.count(b"\n", 0, end)
        rest = text[end:]


def _last_line(first: int, block: bytes) -> int:
    """Return the number of a block's last line; of the line before it if it is empty."""
    return first + block.count(b"\n") - (block[-1:] in (b"", b"\n"))


class _EdgeLines:
    """How the edges of one text are written, a line each, and what must hold for every one of them."""

    def __init__(
        self,
        path: Path,
        columns: int,
        *,
        comment: str = "#",
        delimiter: str | None = None,
        tagged: bool = False,
        cut: bool = False,
        base: int = 0,
        limit: int,
        wanted: str,
    ) -> None:
        self.path = path
        self.columns = columns
        self.comment = comment
        self.delimiter = delimiter
        self.tagged = tagged
        #: Whether columns beyond those wanted are ignored.
        self.cut = cut
        #: The first id, and how many there may be.
        self.base = base
        self.limit = limit
        self.wanted = wanted
        self.parts: list[tuple[np.ndarray, ...]] = []

    def add(self, line: int, block: bytes) -> None:
        """Parse a block whose first line has the number `line`, and keep its edges."""
        try:
            self.parts.append(self._parse(block))
        except ValueError as error:
            offset, text = self._first_bad(block)
            raise FormatError(f"{self.path}, line {line + offset}: {self._complaint(text)}") from error

    def __len__(self) -> int:
        return sum(len(part[0]) for part in self.parts)

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return sources, targets and weights of all blocks, freeing these."""
        columns = [np.concatenate(parts) for parts in zip(*self.parts, strict=True)]
        self.parts.clear()
        return columns[0], columns[1], columns[2] if self.columns == 3 else None

    def _parse(self, block: bytes) -> tuple[np.ndarray, ...]:
        if self.comment == "#":
            block = block.replace(b"%", b"#")  # loadtxt is fast only with a single comment character
        rows = self._rows(block)
        if self.tagged and not (rows["tag"] == b"a").all():
            raise ValueError("tag")
        ends = []
        for name in ("src", "dst"):
            ids = rows[name] - self.base
            if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= self.limit):
                raise ValueError("id")
            ends.append(ids.astype(np.int32) if self.limit <= MAX_VERTICES else ids)
        if self.columns == 2:
            return tuple(ends)
        weights = np.ascontiguousarray(rows["weight"])
        if weights.dtype.kind == "f" and not (weights > -np.inf).all():
            raise ValueError("weight")
        return *ends, weights

    def _rows(self, block: bytes) -> np.ndarray:
        fields: list[tuple[str, type | str]] = [("src", np.int64), ("dst", np.int64)]
        if self.tagged:
            fields.insert(0, ("tag", "S2"))
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy before 2.4 reads "1.5" as the integer 1
            warnings.filterwarnings("ignore", "loadtxt: input contained no data")
            for kind in (np.int64, np.float64):
                try:
                    return np.loadtxt(
                        BytesIO(block),
                        dtype=[*fields, ("weight", kind)] if self.columns == 3 else fields,
                        comments=self.comment,
                        delimiter=self.delimiter,
                        usecols=(0, 1) if self.cut else None,
                        ndmin=1,
                    )
                except (ValueError, DeprecationWarning):
                    if self.columns == 2 or kind is np.float64:
                        raise ValueError("unreadable") from None
        raise AssertionError

    def _first_bad(self, block: bytes) -> tuple[int, str]:
        lines = block.split(b"\n")
        low, high = 0, len(lines)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._parse(b"\n".join(lines[low:middle]))
                low = middle
            except ValueError:
                high = middle
        return low, lines[low].decode("utf-8", "replace")

    def _complaint(self, text: str) -> str:
        """Say what is wrong with a line, after the rules of `_parse`."""
        text = re.split("[#%]" if self.comment == "#" else self.comment, text)[0].strip()
        shown = repr(text if len(text) <= 60 else text[:57] + "...")
        fields = [field.strip() for field in text.split(self.delimiter)]
        if self.comment == "c" and fields[0] == "p":
            return f"{shown} is a second 'p' line"
        if self.tagged and fields.pop(0) != "a":
            return f"{shown} is no edge: {self.wanted}"
        if len(fields) != self.columns and not (self.cut and len(fields) > 2):
            return f"{shown} has {len(fields)} columns of numbers, not {self.columns}: {self.wanted}"
        for field in fields[:2]:
            if not re.fullmatch(r"[+-]?[0-9]+", field):
                hint = "; if the line is a header, put a '#' before it" if self.comment == "#" else ""
                return f"{field!r} in {shown} is no vertex id{hint}"
            if int(field) < self.base:
                return f"the vertex id {field} in {shown} is below {self.base}, the first id of this format"
            if int(field) - self.base >= self.limit:
                return f"the vertex id {field} in {shown} {self._too_large()}"
        if self.columns == 3:
            return f"{fields[2]!r} in {shown} is no weight: use a number, or inf for 'no edge'"
        return f"{shown} cannot be read: {self.wanted}"

    def _too_large(self) -> str:
        if self.limit > MAX_VERTICES:
            return "is beyond int64"
        if self.limit == MAX_VERTICES:
            return "is beyond int32: relabel=True numbers the ids in use from 0"
        if self.base:
            return f"is above {self.limit}, the number of vertices in the 'p' line"
        return f"is not below n={self.limit}"


def _read_edges(path: Path, stream: Stream, options: _Options) -> _Content:
    n = options.n
    lines: _EdgeLines | None = None
    head: dict[int, int] = {}  # the first edge lines of two numbers: their lines by their places
    header: tuple[int, int, bytes] | None = None  # its place among the edge lines, its line, its text
    for first, block in _blocks(path, stream):
        if first == 1:
            block = block.removeprefix(b"\xef\xbb\xbf")
        if lines is None:
            found = list(itertools.islice(_content_lines(block, b"#%"), HEAD))
            places = [first + block.count(b"\n", 0, match.start()) for match in found]
            for place, match in enumerate(found):
                numbers = match[1].replace(b",", b" ").split()
                if len(numbers) != 2:
                    continue
                head[place] = places[place]
                if n is not None and numbers[0] == b"%d" % n:
                    # A header, if the number of edges is right as well, which only the end will tell.
                    header = place, places[place], match[1]
                    block = block[: match.start(1)] + b"#" + block[match.start(1) + 1 :]
                    break
            if found:
                edge = 1 if header is not None and header[0] == 0 and len(found) > 1 else 0
                lines = _edge_layout(path, places[edge], found[edge][1].decode("utf-8", "replace"), options)
        if lines is not None:
            lines.add(first, block)
    if lines is None:
        none = np.empty(0, np.int32)
        return _Content(none, none, np.empty(0) if options.weighted else None, None, True, 0)
    if header is not None:
        place, line, text = header
        edges = (b"%d" % len(lines), b"%d" % (len(lines) - place))
        if text.replace(b",", b" ").split()[1] not in edges:
            lines.add(line, text)
    src, dst, weights = lines.edges()
    if n is None:
        _refuse_header(path, head, src, dst, options.relabel)
    return _Content(src, dst, weights, None, True, 0)


def _content_lines(block: bytes, comments: bytes) -> Iterator[re.Match[bytes]]:
    """Find the lines that are neither blank nor a comment; group 1 is without a comment at the end."""
    return re.finditer(rb"^[ \t\r]*([^%b\s][^%b\r\n]*)" % (comments, comments), block, re.MULTILINE)


def _edge_layout(path: Path, line: int, text: str, options: _Options) -> _EdgeLines:
    """Take from the first edge how the others are written."""
    delimiter = "," if "," in text else None
    columns = len(text.split(delimiter))
    if options.weighted is False:
        columns = min(columns, 2)
    if columns not in (2, 3):
        raise FormatError(
            f"{path}, line {line}: {text.strip()[:60]!r} has {columns} columns: an edge is 'u v' or "
            "'u v weight'; put a '#' before the line if it is none, or ignore the rest with weighted=False"
        )
    return _EdgeLines(
        path,
        columns,
        delimiter=delimiter,
        cut=options.weighted is False,
        limit=2**63 if options.relabel else MAX_VERTICES if options.n is None else options.n,
        wanted=f"the first edge, on line {line}, has {columns} (if that is a header, put a '#' before it)",
    )


def _refuse_header(path: Path, head: dict[int, int], src: np.ndarray, dst: np.ndarray, relabel: bool) -> None:
    """Refuse a text one of whose first lines looks like a header "vertices edges" rather than an edge.

    The header of a tree, "4 3", could as well be an edge, as it is in "4 3", "3 2", "2 1", "1 0": only the
    user knows, and says it by `n`.
    """
    for place, line in head.items():
        a, b = int(src[place]), int(dst[place])
        following = len(src) - 1 - place
        if b not in (len(src) - 1, following):
            continue
        others = np.delete(src, place), np.delete(dst, place)
        largest = max((int(ends.max()) for ends in others if len(ends)), default=-1)
        if largest < 0:
            continue
        used = len(_distinct(*others))
        if (a > largest and b == following > 0) or (b > largest and a in (largest, largest + 1, used)):
            skips = a == used if relabel else a > largest
            skip = f"pass n={a} to skip it, or " if skips else ""
            n = len(_distinct(src, dst)) if relabel else max(a, b) + 1
            keep = f"pass n={n}" if n != a else "move it to the end of the file"
            raise FormatError(
                f"{path}, line {line}: '{a} {b}' looks like a header 'vertices edges', as there are {b} "
                f"edges: {skip}put a '#' before it; if it is an edge, {keep}"
            )


def _read_gr(path: Path, stream: Stream, options: _Options) -> _Content:
    lines: _EdgeLines | None = None
    start = kind = ""
    vertices = edges = last = 0
    for first, block in _blocks(path, stream):
        last = _last_line(first, block)
        if lines is None:
            match = next(_content_lines(block, b"c"), None)
            if match is None:
                continue
            first += block.count(b"\n", 0, match.start())
            start = f"{path}, line {first}"
            problem = re.fullmatch(r"p\s+(sp|tw)\s+([0-9]+)\s+([0-9]+)", match[1].decode("utf-8", "replace").strip())
            if problem is None:
                raise FormatError(
                    f"{start}: a .gr file begins with 'p sp vertices edges' or 'p tw vertices edges', "
                    f"not with {match[1][:60].decode('utf-8', 'replace')!r}"
                )
            kind, vertices, edges = problem[1], int(problem[2]), int(problem[3])
            if vertices > MAX_VERTICES:
                raise FormatError(f"{start}: {vertices} vertices are beyond int32: at most {MAX_VERTICES}")
            block = block[match.end() :]
            lines = _EdgeLines(
                path,
                3 if kind == "sp" else 2,
                comment="c",
                tagged=kind == "sp",
                base=1,
                limit=vertices,
                wanted="after 'p sp', an edge is 'a u v weight'" if kind == "sp" else "after 'p tw', an edge is 'u v'",
            )
        lines.add(first, block)
    if lines is None:
        raise FormatError(f"{path} has no line 'p sp vertices edges' or 'p tw vertices edges'")
    src, dst, weights = lines.edges()
    if len(src) < edges:
        raise FormatError(
            f"{path}, line {last}: the file ends here: {edges} edges are expected and {len(src)} found: is it complete?"
        )
    if len(src) > edges:
        raise FormatError(f"{start}: {edges} edges are expected and {len(src)} found")
    return _Content(src, dst, weights, vertices, kind == "sp", 1)


def _read_mtx(path: Path, stream: Stream, options: _Options) -> _Content:
    # SciPy uses its stream until an exception is forgotten, when a file may be closed: give it one in memory.
    text = BytesIO()
    last = 0
    for first, block in _blocks(path, stream):
        text.write(block)
        last = _last_line(first, block)
    data = text.getvalue()
    text.seek(0)
    banner = data[: 1 << 12].split(b"\n")[0].lower().decode("utf-8", "replace").split()
    if banner[:3] == ["%%matrixmarket", "matrix", "array"]:
        raise FormatError(f"{path} is a dense matrix: save it with numpy.save as a .npy file of distances")
    start = entries = 0
    if size := next(_content_lines(data, b"%"), None):
        start = data.count(b"\n", 0, size.start()) + 1
        numbers = re.fullmatch(rb"[0-9]+\s+[0-9]+\s+([0-9]{1,99})", size[1].strip())
        entries = int(numbers[1]) if numbers else 0
    short = f"{path}, line {last}: the file ends here, too early for the entries that line {start} tells of"
    if entries > last - start:  # or SciPy would allocate memory for them
        raise FormatError(f"{short} ({entries}): is it complete?")
    try:
        matrix = scipy_io.mmread(text, spmatrix=False)
    except (ValueError, OverflowError, MemoryError) as error:
        complaint = str(error)
        if complaint.startswith("Truncated"):
            raise FormatError(f"{short} ({entries}): is it complete?") from error
        found = re.match(r"Line ([0-9]+): ", complaint)
        line = int(found[1]) if found else start
        complaint = complaint[found.end() if found else 0 :] or "too large for the memory"
        raise FormatError(f"{path}, line {line or 1}: {complaint[:1].lower()}{complaint[1:]}") from error
    symmetric = "symmetric" in banner
    content = _matrix_content(path, matrix, directed=not symmetric, base=1)
    if symmetric and not options.directed:
        # SciPy has mirrored the entries; one of each pair makes an undirected edge.
        kept = content.src >= content.dst
        weights = None if content.weights is None else content.weights[kept]
        content = content._replace(src=content.src[kept], dst=content.dst[kept], weights=weights)
    return content._replace(weights=None) if "pattern" in banner else content


def _read_npz(path: Path, stream: Stream, options: _Options) -> _Content:
    source = stream if isinstance(stream, BufferedReader) and stream.seekable() else BytesIO(stream.read())
    try:
        matrix = sparse.load_npz(source)
    except (ValueError, KeyError, NotImplementedError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path} holds no matrix that scipy.sparse.save_npz wrote: {error}") from error
    return _matrix_content(path, matrix, directed=True, base=0)


def _matrix_content(path: Path, matrix: Any, *, directed: bool, base: int) -> _Content:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise FormatError(
            f"{path} holds a matrix of shape {matrix.shape}: it must be square, a row and column per vertex"
        )
    coo = matrix.tocoo()
    weights = None if coo.data.dtype.kind == "b" else coo.data
    return _Content(coo.row, coo.col, weights, int(matrix.shape[0]), directed, base)


def _read_dense(path: Path, stream: Stream, options: _Options) -> Graph:
    if options.relabel or options.directed is False:
        option = "relabel=True" if options.relabel else "directed=False"
        raise InputError(f"{option} does not go with {path}, a dense matrix: it has an entry for each direction")
    try:
        graph = Graph.from_dense(_saved_array(path, stream))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    if options.n is not None and options.n != graph.n:
        raise FormatError(f"{path} holds a matrix of {graph.n} vertices, not n={options.n}")
    return graph.unweighted() if options.weighted is False else graph


def _saved_array(path: Path, stream: Stream) -> np.ndarray:
    """Return an array saved by NumPy, as a memory map where that can be."""
    array: np.ndarray
    if isinstance(stream, BufferedReader) and not isinstance(stream.raw, _Borrowed) and path.is_file():
        array = np.lib.format.open_memmap(path, mode="r")
    else:
        # NumPy seeks in what it knows as a file, which fails for a pipe: show it the reading only.
        array = np.lib.format.read_array(SimpleNamespace(read=stream.read), allow_pickle=False)
    return array


_READERS: dict[str, Callable[[Path, Stream, _Options], _Content]] = {
    "edges": _read_edges,
    "gr": _read_gr,
    "mtx": _read_mtx,
    "npz": _read_npz,
}


def check_output(path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Raise if `save` could not write to `path`: worth a call before a long computation.

    Raises
    ------
    InputError
        If the suffix is neither ``.npy`` nor ``.npz``, if the path is a folder, or if it lies in a folder
        that is not there or not to be written to.
    OutputExistsError
        If there is such a file and `overwrite` is false.
    """
    path = Path(path)
    if path.suffix not in (".npy", ".npz"):
        raise InputError(f"{path} has the suffix {path.suffix!r}: a result is written as .npy or .npz")
    if path.is_dir():
        raise InputError(f"{path} is a folder: give a file")
    folder = _target(path).parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: the folder {folder} is not writable")
    if path.exists() and not overwrite:
        raise OutputExistsError(f"{path} exists: overwrite=True replaces it")


def _target(path: Path) -> Path:
    """Return the file that is written for `path`: if that is a symbolic link, the one it leads to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def save(path: str | os.PathLike[str], arrays: Array | Mapping[str, Array], overwrite: bool = False) -> None:
    """Write arrays to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path
        Ends with ``.npy`` for one array, ``.npz`` for several by name. A symbolic link stays one: the file
        that it leads to is written.
    arrays : mapping of str to array, or array
        Arrays, or objects with `shape`, `dtype` and a method `chunks` that yields consecutive blocks of
        rows: such a matrix need not fit into memory. A single array needs no name in a ``.npy`` file.
    overwrite : bool
        Replace a file that exists; the new one gets its permissions.

    Raises
    ------
    InputError, OutputExistsError
        As `check_output` does, and for arrays that the format cannot hold.
    OSError
        If the file cannot be written, e.g. because the disk is full; the path is then as it was before.
    """
    check_output(path, overwrite)
    path = Path(path)
    if not isinstance(arrays, Mapping):
        if path.suffix == ".npz":
            raise InputError(f"{path}: a .npz file holds arrays by name, give a mapping; or use .npy")
        arrays = {"array": arrays}
    if path.suffix == ".npy" and len(arrays) != 1:
        raise InputError(f"{path}: a .npy file holds one array, not {len(arrays)} ({', '.join(arrays)}): use .npz")
    with _replacing(path, overwrite) as file:
        if path.suffix == ".npy":
            for array in arrays.values():
                _write_npy(file, array)
        else:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        _write_npy(member, array)


@contextlib.contextmanager
def _replacing(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    """Open a file beside `path`, or what it links to, that takes its place when all has been written to disk."""
    target = _target(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path, overwrite)  # it may have been a long time
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, MgraphError) and error.errno is not None:
            raise OSError(error.errno, f"{error.strerror}; nothing was written", str(path)) from error
        raise


def _write_npy(file: IO[bytes], array: Array) -> None:
    chunked = callable(getattr(array, "chunks", None))
    if not chunked:
        array = devices.to_host(array)
    dtype = np.dtype(array.dtype)
    if dtype.hasobject:
        raise InputError("an array of Python objects cannot be saved: convert it to numbers")
    shape = tuple(int(length) for length in array.shape)
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    )
    written = 0
    for chunk in array.chunks() if chunked else _row_blocks(array):
        block = np.ascontiguousarray(devices.to_host(chunk), dtype)
        file.write(block.reshape(-1).view(np.uint8).data)
        written += block.size
    if written != math.prod(shape):
        raise InputError(f"the chunks of an array of shape {shape} hold {written} elements")


def _row_blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """Yield blocks of rows, so that one that must be copied to be contiguous is copied in parts."""
    if array.flags.c_contiguous:
        yield array
        return
    rows = max(1, BLOCK // max(1, array[:1].nbytes))
    for first in range(0, len(array), rows):
        yield array[first : first + rows]
