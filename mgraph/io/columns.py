"""Edges in columns: Parquet files, whose sections are row groups, and arrays saved by NumPy, cut into ranges."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import lazy
from ..arguments import one_of
from ..errors import ArgumentValue, FormatError, InputError, MgraphError, parts_of, shown
from ..graph.checks import checked_edge_ends, checked_weights
from ..graph.compressed import Edges
from .content import Options
from .files import open_file, path_of
from .npy import read_header
from .section import Section
from .stream import held, require
from .table import Named, check_unweighted

#: The columns of a Parquet file if the caller does not name them, and names of a column of weights.
COLUMNS, WEIGHTS = ("src", "dst"), ("weight", "weights")

#: The most elements of a section of arrays.
ELEMENTS = 1 << 20


@dataclass(frozen=True)
class Tables:
    """Parquet files.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns of sources, targets and, of weighted edges, weights.
    """

    columns: tuple[str, ...]
    directed: ClassVar[bool] = True

    @classmethod
    def survey(cls, path: str, columns: tuple[str, ...] | None, options: Options) -> "Tables":
        """Return how files like this one are read."""
        with _parquet(path) as file:
            there, further = file.schema_arrow.names, _further_numbers(file, COLUMNS)
        wanted = COLUMNS if columns is None else columns
        if columns is None and options.weighted is not False:
            wanted += tuple(name for name in WEIGHTS if name in there)[:1]
        if options.weighted is False:
            wanted = wanted[:2]
        for name in wanted:
            if name not in there:
                raise FormatError(
                    f"{path} has no column {shown(name)}: name those of sources, targets and weights by ",
                    ArgumentValue("columns"),
                    f", of {one_of([shown(name) for name in there]) if there else 'none'}; names, or ids of any kind, "
                    "are read by ",
                    ArgumentValue("source"),
                    " and ",
                    ArgumentValue("target"),
                )
        if columns is None and options.weighted is None and wanted == COLUMNS:
            check_unweighted(path, further, "columns")
        return cls(wanted)

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return len(self.columns) > 2

    def sections(self, path: str, beside: tuple[str, ...] = ()) -> Iterator[Section]:
        """Yield the row groups of a file."""
        with _parquet(path) as file:
            groups = file.num_row_groups
        for group in range(groups):
            yield Section(path, group, group + 1, "row groups")

    def edges(self, section: Section) -> Edges:
        """Return the edges of a row group.

        Raises
        ------
        FormatError
            If a column is missing, or does not hold vertex ids or weights.
        """
        with _parquet(section.path) as file:
            missing = [name for name in self.columns if name not in file.schema_arrow.names]
            if missing:
                raise FormatError(f"{section.path} has no column {shown(missing[0])}, which the first file has")
            size = file.metadata.row_group(section.start).total_byte_size
            require(path_of(section.path), size, f"row group {section.start}")
            table = file.read_row_group(section.start, columns=list(self.columns))
        columns = []
        for name in self.columns:
            column = table.column(name)
            if column.null_count:
                raise FormatError(f"{section}: the column {shown(name)} has {column.null_count} nulls")
            columns.append(column.to_numpy())
        return _checked(columns, section)


@dataclass(frozen=True)
class Arrays:
    """Arrays of sources, targets and weights, each a ``.npy`` file."""

    weighted: bool
    directed: ClassVar[bool] = True

    def sections(self, path: str, beside: tuple[str, ...] = ()) -> Iterator[Section]:
        """Yield ranges of the arrays in some files."""
        lengths = [_length(name) for name in (path, *beside)]
        for name, length in zip(beside, lengths[1:], strict=True):
            if length != lengths[0]:
                raise FormatError(f"{path} has {lengths[0]} entries and {name} has {length}: give one of each per edge")
        for start in range(0, lengths[0], ELEMENTS):
            yield Section(path, start, min(lengths[0], start + ELEMENTS), "entries", beside)

    def edges(self, section: Section) -> Edges:
        """Return the edges of a range.

        Raises
        ------
        FormatError
            If the arrays do not hold vertex ids and weights.
        """
        return _checked([_entries(name, section) for name in (section.path, *section.beside)], section)


def read_parquet(path: Path, stream: BufferedReader, named: Named) -> Any:
    """Return the named columns of a Parquet file as a table of Arrow.

    Raises
    ------
    FormatError
        If the file is no Parquet, or lacks a column, or may have weights that are not named.
    """
    with _parquet(str(path), stream if stream.seekable() else held(path, stream)) as file:
        there = file.schema_arrow.names
        wanted = list(dict.fromkeys(map(str, named.columns)))
        missing = [name for name in wanted if name not in there]
        if missing:
            raise FormatError(f"{path} has no column {shown(missing[0])}: it has {', '.join(there)}"[:400])
        if named.weight is None and not named.unweighted:
            check_unweighted(path, _further_numbers(file, wanted))
        groups = range(file.metadata.num_row_groups)
        require(path, 2 * sum(file.metadata.row_group(group).total_byte_size for group in groups), "the table")
        return file.read(columns=wanted)


def _further_numbers(file: Any, columns: Iterable[str]) -> list[str]:
    """Return the names of the columns of numbers in a Parquet file besides some."""
    types = lazy.optional("pyarrow.types", "reading Parquet")
    numeric = types.is_integer, types.is_floating, types.is_decimal
    fields = (field for field in file.schema_arrow if field.name not in columns)
    return [field.name for field in fields if any(kind(field.type) for kind in numeric)]


def _length(name: str) -> int:
    """Return the number of elements of an array of one dimension, all of which are in the file."""
    with open_file(name) as file:
        header = read_header(path_of(name), file)
        there = file.seek(0, os.SEEK_END) - header.size
    if len(header.shape) != 1:
        raise FormatError(f"{name} has the shape {header.shape}: give an array of one dimension, an entry per edge")
    if there != header.nbytes:
        raise FormatError(
            f"{name}: {there} bytes follow the header, and an array of shape {header.shape} has {header.nbytes}: "
            "is the file complete?"
        )
    return header.shape[0]


def _entries(name: str, section: Section) -> np.ndarray:
    with open_file(name) as file:
        header = read_header(path_of(name), file)
        item = header.dtype.itemsize
        file.seek(header.size + section.start * item)
        content = file.read((section.stop - section.start) * item)
    if len(content) != (section.stop - section.start) * item:
        raise FormatError(f"{name}: it ends before entry {section.stop}")
    found = np.frombuffer(content, header.dtype)
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def _checked(columns: list[np.ndarray], section: Section) -> Edges:
    """Return columns as edges, or raise FormatError."""
    try:
        (src, a), (dst, b) = (
            checked_edge_ends(column, name, np)
            for column, name in zip(columns, ("the source", "the target"), strict=False)
        )
        weights = checked_weights(columns[2], len(src), copy=False) if len(columns) > 2 else None
    except InputError as error:
        raise FormatError(f"{section}: ", *parts_of(error)) from error
    if max(a, b) >= 2**63:
        raise FormatError(f"{section}: the vertex id {max(a, b)} is beyond int64")
    return Edges(src.astype(np.int64, copy=False), dst.astype(np.int64, copy=False), weights)


@contextlib.contextmanager
def _parquet(path: str, opened: Any = None) -> Iterator[Any]:
    """Open a Parquet file, unless it is `opened`, for the block; what Arrow says against it becomes a FormatError."""
    arrow, parquet = (lazy.optional(name, "reading Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    with contextlib.nullcontext(opened) if opened is not None else open_file(path) as file:
        try:
            yield parquet.ParquetFile(file)
        except (MgraphError, MemoryError):
            raise
        except (ValueError, OSError, arrow.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise FormatError(f"{path} is not a Parquet file that can be read: {error}") from error
