"""`mgraph.read` and `read_list`: open a file, read it with the reader of its format, return a graph or a list."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..arguments import checked_choice, checked_flag, checked_integer, warn_caller
from ..arrays import Array
from ..errors import (
    AmbiguousZerosError,
    ArgumentValue,
    FormatError,
    InputError,
    MemoryLimitError,
    StructuredError,
    parts_of,
)
from ..graph import Graph
from ..graph.ids import in_use
from ..graph.question import first_number
from .columns import read_parquet
from .content import FINITE, Content, Options, Rows, are_amounts
from .dimacs import read_gr
from .edge_files import Request, edges_of_files
from .edge_list import read_edges, read_numbers
from .files import is_url, path_of
from .formats import ATTRIBUTED, FORMATS, TABLES, check_edge_list, check_suffix, format_by_suffix
from .gap import read_sg, read_wsg
from .graph6 import read_graph6
from .graphalytics import read_graphalytics
from .matrix_market import BANNER, read_mtx
from .metis import read_metis
from .networkx_files import read_gml
from .node_link import read_json
from .npy import MAGIC, read_array
from .npz import read_arrays, read_npz
from .pajek import read_pajek
from .stream import BYTE_ORDER_MARK, check_unpacked, decompressing, held, named, opened, skip_byte_order_mark
from .table import Named, read_table
from .webgraph import is_part, read_webgraph
from .xml_files import read_gexf, read_graphml

#: Warn of sparse ids when fewer than half of their range are in use and at least this many are not.
WASTED_IDS = 300

#: Bytes from which a file's format is guessed.
_HEAD = 1 << 12

_READERS: dict[str, Callable[[Path, BufferedReader, Options], Content | Rows]] = {
    "edges": read_edges,
    "gr": read_gr,
    "mtx": read_mtx,
    "metis": read_metis,
    "sg": read_sg,
    "wsg": read_wsg,
    "webgraph": read_webgraph,
    "npz": read_npz,
    "graphml": read_graphml,
    "gexf": read_gexf,
    "gml": read_gml,
    "json": read_json,
    "pajek": read_pajek,
    "graph6": read_graph6,
    "graphalytics": read_graphalytics,
}

#: The formats whose readers take the first bytes as they are.
_BINARY = ("sg", "wsg", "webgraph", "npz")

#: How a network of Pajek begins: other texts have its suffix, too.
_PAJEK = re.compile(rb"(?:\s|%[^\n]*\n)*+\*")

_DENSE: dict[str, Callable[[Array], Graph]] = {
    "adjacency": Graph.from_adjacency,
    "distances": partial(Graph.from_distances, copy=False),
}


class SparseIdsWarning(StructuredError, UserWarning):
    r"""A file's vertex ids are a small part of their range, or begin at 1: vertices of the graph have no edge.

    Examples
    --------
    >>> import io
    >>> import warnings
    >>> import mgraph
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mgraph.SparseIdsWarning)
    ...     try:
    ...         mgraph.read(io.BytesIO(b"0 1000000\n"))
    ...     except mgraph.SparseIdsWarning:
    ...         print(mgraph.read(io.BytesIO(b"0 1000000\n"), relabel=True))
    Graph(n=2, m=1, directed, unweighted)
    """


def read(
    path: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    named: Named | None = None,
    weight: str | None = None,
) -> Graph:
    """Return the graph that a file holds; the arguments, and the errors, are those of `mgraph.read`.

    With `named`, the file is a table with columns of these names.
    """
    path, file = _named(path)
    known = FORMATS if named is None else TABLES
    if format is not None and not (isinstance(format, str) and format in known):
        raise InputError(argument="format", value=format, expected=f"one of {_formats(known)}")
    if dense is not None:
        checked_choice("dense", dense, tuple(_DENSE))
    options = _checked_options(n, directed, weighted, relabel, weight)
    with _failing_with(path), opened(path, file) as stream:
        if format is None:
            check_suffix(path)
        head = stream.peek(_HEAD)
        check_unpacked(path, head)
        if named is not None:
            return _read_named(path, stream, format or ("parquet" if head[:4] == b"PAR1" else None), named, directed)
        if format is None:
            format = _guess(path, head)
            if format == "edges" and format_by_suffix(path) != "edges":
                check_edge_list(path, head.removeprefix(BYTE_ORDER_MARK))
        if weight is not None and format not in ATTRIBUTED:
            raise InputError(
                ArgumentValue("weight", weight),
                " goes with ",
                ArgumentValue("source"),
                f", as {path} holds {FORMATS[format]}",
            )
        if format == "npy":
            return _read_dense(path, stream, options, dense)
        if dense is not None:
            raise InputError(
                ArgumentValue("dense", dense), f" is for a dense matrix, and {path} holds {FORMATS[format]}"
            )
        if format not in _BINARY:
            skip_byte_order_mark(stream)
        return _graph(path, _READERS[format](path, stream, options), options)


def _checked_options(
    n: int | None, directed: bool | None, weighted: bool | None, relabel: bool, weight: str | None
) -> Options:
    """Return how to read a file, or raise InputError."""
    if n is not None:
        n = checked_integer("n", n, 0)
    for name, value in (("directed", directed), ("weighted", weighted), ("relabel", relabel)):
        if value is not None or name == "relabel":
            checked_flag(name, value)
    return Options(n, directed, weighted, relabel, weight)


def _read_named(path: Path, stream: BufferedReader, format: str | None, named: Named, directed: bool | None) -> Graph:
    format = format or _guess(path, stream.peek(_HEAD))
    if format not in TABLES:
        raise FormatError(f"{path} holds {FORMATS[format]}: ", ArgumentValue("source"), " names a column of a table")
    try:
        if format == "parquet":
            table = read_parquet(path, stream, named)
            weight = None if named.weight is None else str(named.weight)
            if weight is not None:
                _check_amounts(path, table.column(weight))
            return Graph.from_arrow(table, str(named.source), str(named.target), weight, directed is not False)
        src, dst, weights, ids = read_table(path, stream, named)
        n = None if ids is None else len(ids)
        return Graph.from_edges(src, dst, weights, n, directed is not False, ids=ids)
    except FormatError:
        raise
    except InputError as error:
        raise FormatError(f"{path}: ", *parts_of(error)) from error


def read_files(request: Request) -> Graph:
    """Return the graph of the edges in several files, or in files of columns."""
    path = path_of(request.paths[0][0])
    with _failing_with(path):
        return _graph(path, edges_of_files(request), request.options)


def read_list(path: str | os.PathLike[str] | IO[bytes]) -> np.ndarray:
    """Read the successors of linked lists, as `mgraph.list_rank` takes them.

    Parameters
    ----------
    path : path, URL or binary file object
        An array saved by `numpy.save`, or a text with one number per line and comments after ``#``; plain or compressed
        with gzip, bzip2, xz or zstd.

    Returns
    -------
    array of int64, shape (n,)
        The successors, not checked to be a list. A saved array keeps its type and shape.

    Raises
    ------
    MissingFileError
        If the file does not exist. If the system refuses to open or read it, its own `OSError` is raised, such as
        `PermissionError`.
    FormatError
        If the file is neither; the message names the line of a text.
    MemoryLimitError
        If the file exceeds the free memory.
    """
    path, file = _named(path)
    with _failing_with(path), opened(path, file) as stream:
        head = stream.peek(_HEAD)
        check_unpacked(path, head)
        if head.startswith(MAGIC):
            return read_array(path, stream)
        skip_byte_order_mark(stream)
        return read_numbers(path, stream)


class VertexList(NamedTuple):
    """Vertices in a file, by their numbers or by ids, one a line.

    Attributes
    ----------
    path : Path
        The file.
    saved : array or None
        What it holds if it is an array saved by `numpy.save`.
    text : bytes
        Its content otherwise.
    """

    path: Path
    saved: np.ndarray | None
    text: bytes

    def numbers(self) -> np.ndarray:
        """Return the vertices as numbers, or raise FormatError for a line that is none."""
        if self.saved is not None:
            return self.saved
        return read_numbers(self.path, BufferedReader(BytesIO(self.text)))

    def words(self) -> list[str]:
        """Return the lines without blank ones: ids, and comments, which begin with ``#`` as an id may, too."""
        if self.saved is not None:
            return [str(value) for value in self.saved.tolist()]
        try:
            lines = map(str.strip, self.text.decode().splitlines())
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}: the ids are not in UTF-8: {error}") from error
        return [line for line in lines if line]


def read_vertices(path: str | os.PathLike[str] | IO[bytes]) -> VertexList:
    """Read a list of vertices from a file, as `read_list` reads one of numbers."""
    path, file = _named(path)
    with _failing_with(path), opened(path, file) as stream:
        head = stream.peek(_HEAD)
        check_unpacked(path, head)
        if head.startswith(MAGIC):
            return VertexList(path, read_array(path, stream), b"")
        skip_byte_order_mark(stream)
        return VertexList(path, None, held(path, stream).getvalue())


def read_saved(path: str | os.PathLike[str] | IO[bytes]) -> np.ndarray:
    """Return the array of numbers in a file that `numpy.save` wrote, as a memory map if possible.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    FormatError
        If it does not hold such an array.
    MemoryLimitError
        If the array has to be read and exceeds the free memory.
    """
    path, file = _named(path)
    with _failing_with(path), opened(path, file) as stream:
        head = stream.peek(_HEAD)
        check_unpacked(path, head)
        if not head.startswith(MAGIC):
            raise FormatError(f"{path} holds no array that numpy.save wrote")
        return read_array(path, stream)


def read_archive(path: str | os.PathLike[str] | IO[bytes], holds: str, **wanted: tuple[str, int]) -> list[np.ndarray]:
    """Return arrays by name from an archive that `save` or NumPy wrote.

    Parameters
    ----------
    path : path, URL or binary file object
        The archive.
    holds : str
        What the file must hold, for messages.
    **wanted : tuple of (str, int)
        The possible kinds of type of each array, such as ``"iu"``, and its number of dimensions.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    FormatError
        If it is not such an archive, or lacks an array of such a type.
    MemoryLimitError
        If the arrays exceed the free memory.
    """
    path, file = _named(path)
    with _failing_with(path), opened(path, file) as stream:
        return read_arrays(path, stream, holds, **wanted)


def _named(given: str | os.PathLike[str] | IO[bytes]) -> tuple[Path, IO[bytes] | None]:
    """Return the path or the URL of a file, and the file object if it is open already."""
    return (path_of(given), None) if isinstance(given, str) and is_url(given) else named(given)


@contextlib.contextmanager
def _failing_with(path: Path) -> Iterator[None]:
    """Turn errors of the block for a broken or too large file into errors that name it; so do the system's errors."""
    try:
        with decompressing(path):
            yield
    except MemoryLimitError as error:
        if str(path) in str(error):
            raise
        raise MemoryLimitError(f"{path}: ", *parts_of(error)) from error
    except MemoryError as error:
        raise MemoryLimitError(f"{path}: reading it took more memory than there is") from error
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def _formats(known: Mapping[str, str]) -> str:
    return ", ".join(f"{name!r} ({meaning})" for name, meaning in {**known, "parquet": TABLES["parquet"]}.items())


def _guess(path: Path, head: bytes) -> str:
    format, head = "webgraph" if is_part(path) else format_by_suffix(path), head.removeprefix(BYTE_ORDER_MARK)
    if format == "pajek" and not _PAJEK.match(head):
        format = None
    if format in ("edges", None) and BANNER.match(head):
        return "mtx"
    if format is None and head.lstrip().startswith(b"<"):
        format = next((name for name in ("graphml", "gexf") if b"<" + name.encode() in head), None)
    if format is None and re.search(rb"[\x00-\x08\x0e-\x1f]", head):
        raise FormatError(
            f"{path}: the format is clear neither from the suffix nor from the content: pass ",
            ArgumentValue("format"),
            f" one of {_formats(FORMATS)}",
        )
    return format or "edges"


def _graph(path: Path, content: Content | Rows, options: Options) -> Graph:
    n, directed, weighted, relabel, _ = options
    known, ids = content.n, content.ids
    if weighted and content.weights is None:
        raise FormatError(f"{path} holds no weights: leave out ", ArgumentValue("weighted", True))
    if known is not None and n is not None and n < known and not relabel:
        raise FormatError(f"{path} says that it has {known} vertices, more than ", ArgumentValue("n", n))
    if weighted is False:
        content = content.unweighted()
    if content.weights is not None:
        _check_amounts(path, content.weights)
    if relabel:
        used, content = content.packed()
        if n is not None and n != len(used):
            raise FormatError(f"{path} holds {len(used)} distinct vertex ids, not ", ArgumentValue("n", n))
        n, ids = len(used), used + content.base if ids is None else ids[used]
    elif n is None:
        n = known
        if isinstance(content, Content) and n is None:
            _warn_of_sparse_ids(path, content.src, content.dst)
    try:
        made = content.graph(n, content.directed if directed is None else directed, ids)
    except InputError as error:
        raise FormatError(f"{path}: ", *parts_of(error)) from error
    if ids is None and content.base:
        first_number(made, content.base)
    return made


def _check_amounts(path: Path, weights: Any) -> None:
    """Raise FormatError for an infinite one, if they are amounts; a text has been refused by its line before."""
    infinite = np.isinf(weights) if are_amounts() else np.zeros(0, bool)
    if infinite.any():
        raise FormatError(f"{path}: weight number {infinite.argmax()}, counted from 0, is inf: {FINITE}")


def _warn_of_sparse_ids(path: Path, src: np.ndarray, dst: np.ndarray) -> None:
    """Warn of vertices without edges that `relabel` would leave out: of many, or of 0 where ids begin at 1."""
    used = len(in_use(src, dst))
    span = max(int(src.max()), int(dst.max())) + 1 if used else 0
    if used < span // 2 and span - used >= WASTED_IDS:
        warn_caller(
            SparseIdsWarning(
                f"{path}: only {used} of the ids 0 to {span - 1} are in use, and the graph gets {span} vertices: ",
                ArgumentValue("relabel", True),
                " numbers those in use from 0",
            )
        )
    elif used and min(int(src.min()), int(dst.min())) == 1:
        warn_caller(first_id_warning(path))


def first_id_warning(path: Path | str) -> SparseIdsWarning:
    """Return the warning for ids that begin at 1."""
    words = f"{path}: the ids begin at 1, and the graph gets a vertex 0 without edges: "
    return SparseIdsWarning(words, ArgumentValue("relabel", True), " numbers those in use from 0")


def _read_dense(path: Path, stream: BufferedReader, options: Options, dense: str | None) -> Graph:
    if options.relabel or options.directed is False:
        option = ArgumentValue("relabel", True) if options.relabel else ArgumentValue("directed", False)
        raise InputError(option, f" does not go with {path}, a dense matrix: it has an entry for each direction")
    matrix = read_array(path, stream)
    if dense == "distances" and matrix.dtype.kind == "b":
        raise InputError(f"{path} holds truth values, no distances: pass ", ArgumentValue("dense", "adjacency"))
    try:
        graph = _DENSE.get(dense or "", partial(Graph.from_dense, copy=False))(matrix)
    except AmbiguousZerosError as error:
        raise AmbiguousZerosError(
            f"{path} has zeros off its diagonal and no infinity: pass ",
            ArgumentValue("dense", "adjacency"),
            " if they stand for no edge, ",
            ArgumentValue("dense", "distances"),
            " if they are edges of weight zero",
        ) from error
    except ValueError as error:
        raise FormatError(f"{path}: ", *parts_of(error)) from error
    if options.n is not None and options.n != graph.n:
        raise FormatError(f"{path} holds a matrix of {graph.n} vertices, not ", ArgumentValue("n", options.n))
    if options.weighted and not graph.weighted:
        raise FormatError(f"{path} holds no weights: leave out ", ArgumentValue("weighted", True))
    return graph.unweighted() if options.weighted is False else graph
