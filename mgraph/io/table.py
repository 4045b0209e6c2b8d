"""Tables in text, such as CSV: edges in columns that the caller names, between ids of any kind.

Fields may be quoted as RFC 4180 has it; Python's `csv` splits them. Ids are kept as they are written, as strings,
unless all of them are integers. Every row is checked, and errors name its line.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arguments import one_of
from ..errors import ArgumentValue, FormatError, InputError, shown
from ..graph.ids import Numbers, renumbered
from .content import FINITE, are_amounts
from .stream import BLOCK, require

#: What may separate columns, in this order; blanks if a file has none of these in its first row.
DELIMITERS = "\t,;|"

#: Rows that are read at a time.
ROWS = 1 << 15

#: Bytes that an edge takes while the graph is made, and a name beside its text.
_AN_EDGE, _A_NAME = 60, 250

#: An integer as an id has it.
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


class Named(NamedTuple):
    """The columns of sources, targets and weights: by the header's names, or by numbers from 0 if there is none.

    `unweighted` says that edges have no weights; `weight` is None then.
    """

    source: str | int
    target: str | int
    weight: str | int | None
    unweighted: bool = False

    @property
    def columns(self) -> tuple[str | int, ...]:
        """The columns that are named."""
        named = self.source, self.target, self.weight
        return tuple(name for name in named if name is not None)


class Table(NamedTuple):
    """The edges of a table as numbers of its ids, and these ids; None if they are 0 to n-1."""

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    ids: np.ndarray | None


def check_unweighted(path: Path | str, numeric: Sequence[str | int], by: str = "weight") -> None:
    """Raise FormatError if a table whose weights are not named has further columns of numbers, which may be weights.

    The argument `by` names the column of weights.
    """
    if numeric:
        raise FormatError(
            f"{path} has numbers in the column {one_of(list(map(shown, numeric)))}"[:400],
            ", which may be weights: name the column of weights by ",
            ArgumentValue(by, numeric[0]) if by == "weight" else ArgumentValue(by),
            ", or say ",
            ArgumentValue("weighted", False),
            " for edges of length 1",
        )


def read_table(path: Path, stream: BufferedReader, named: Named) -> Table:
    """Return the edges of a table in text.

    Lines before the first row that begin with ``#`` or ``%`` are comments.

    Raises
    ------
    FormatError
        For a column that is not there, for weights that are not named, and for the first row that is not an edge.
    MemoryLimitError
        If there are more edges than can be sorted.
    """
    text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
    numbers, count = Numbers(), 0
    src, dst = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    weights: list[np.ndarray] = []
    try:
        rows = _rows(path, text)
        line, first = next(rows, (0, None))
        if first is None:
            raise FormatError(f"{path} has no rows: a table begins with the names of its columns")
        places = [_place(path, line, first, name) for name in named.columns]
        begun = list(islice(rows, ROWS))
        _check_columns(path, named, places, line, first, [row for _, row in begun])
        if isinstance(named.source, int):
            begun.insert(0, (line, first))
        rows = chain(begun, rows)
        while some := list(islice(rows, ROWS)):
            odd = next(((line, row) for line, row in some if len(row) != len(first)), None)
            if odd is not None:
                raise FormatError(f"{path}, line {odd[0]}: the row has {len(odd[1])} columns, and the first one has "
                                  f"{len(first)}")  # fmt: skip
            columns = [[row[place].strip() for _, row in some] for place in places]
            for kind, column in zip(("source", "target"), columns, strict=False):
                if "" in column:
                    raise FormatError(f"{path}, line {some[column.index('')][0]}: the {kind} is empty")
            src.append(numbers.of(columns[0]))
            dst.append(numbers.of(columns[1]))
            if named.weight is not None:
                weights.append(_checked_weights(path, [line for line, _ in some], columns[2]))
            count += len(some)
            require(path, _AN_EDGE * count + _A_NAME * len(numbers), f"a table of at least {count:,} rows")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a text in UTF-8: {error}") from error
    finally:
        text.detach()
    met = numbers.met()
    if all(map(INTEGER.fullmatch, met)):
        met = list(map(int, met))
    try:
        ends = renumbered(np.concatenate(src), np.concatenate(dst), met)
    except InputError as error:
        raise FormatError(f"{path}: {error}") from error
    found = np.concatenate(weights) if weights else None if named.weight is None else np.empty(0)
    return Table(ends[0], ends[1], found, ends[2])


def _rows(path: Path, text: io.TextIOWrapper) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty with the number of its last line."""
    lines = _lines(path, text)
    contents = ((line, text) for line, text in enumerate(lines, 1) if text.strip() and text[0] not in "#%")
    begun, head = next(contents, (0, ""))
    if not head:
        return
    delimiter = next((each for each in DELIMITERS if each in head), None)
    whole = chain([head], lines)
    if delimiter is None:
        for line, row in enumerate(map(str.split, whole), begun):
            if row:
                yield line, row
        return
    reader = csv.reader(whole, delimiter=delimiter, skipinitialspace=delimiter != "\t", strict=True)
    try:
        for row in reader:
            if row:
                yield begun - 1 + reader.line_num, row
    except csv.Error as error:
        raise FormatError(f"{path}, line {begun - 1 + reader.line_num}: {error}") from error


def _lines(path: Path, text: io.TextIOWrapper) -> Iterator[str]:
    number = 0
    while line := text.readline(BLOCK):
        number += 1
        if len(line) == BLOCK:
            raise FormatError(f"{path}, line {number}: a table in text expected, got a line of {BLOCK} characters")
        yield line


def _check_columns(
    path: Path, named: Named, places: list[int], line: int, first: list[str], rows: list[list[str]]
) -> None:
    """Raise FormatError for a first row that is a header but read as an edge, and for weights that are not named."""
    header = [field.strip() for field in first]
    by_number = isinstance(named.source, int)
    numeric = _columns_of_numbers(rows, len(first))
    if by_number and numeric and all(header) and not any(map(_is_number, header)):
        raise FormatError(
            f"{path}, line {line}: {', '.join(header)[:200]!r} looks like a header: name columns as there, by ",
            ArgumentValue("source", header[places[0]]),
            ", or put a '#' before it",
        )
    if named.weight is None and not named.unweighted:
        if by_number:
            numeric = _columns_of_numbers([first, *rows], len(first))
        further = [place for place in numeric if place not in places]
        check_unweighted(path, further if by_number else [header[place] for place in further])


def _columns_of_numbers(rows: list[list[str]], width: int) -> list[int]:
    """Return the places of columns that hold numbers and perhaps empty fields."""
    found = []
    for place in range(width):
        fields = [row[place].strip() for row in rows if len(row) == width]
        if any(fields) and all(map(_is_number, filter(None, fields))):
            found.append(place)
    return found


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _place(path: Path, line: int, first: list[str], name: str | int) -> int:
    """Return the place of a column in each row."""
    if isinstance(name, int):
        if not 0 <= name < len(first):
            raise FormatError(f"{path}, line {line}: there is no column {name}: the row has {len(first)}, from 0 on")
        return name
    header = [field.strip() for field in first]
    if header.count(name) != 1:
        what = "more than one column" if name in header else "no column"
        raise FormatError(
            f"{path}, line {line}: there is {what} {shown(name)}: the header has {', '.join(header)}"[:400]
        )
    return header.index(name)


def _checked_weights(path: Path, lines: list[int], fields: list[str]) -> np.ndarray:
    """Return weights of some rows, integers if all of them are, or raise FormatError for the first that is none."""
    try:
        return _weights(fields)
    except ValueError:
        for line, field in zip(lines, fields, strict=True):
            try:
                _weights([field])
            except ValueError as error:
                wanted = "expected a weight, a number or inf for 'no edge'"
                if are_amounts():
                    wanted = f"expected an amount, a number, got {field[:60]!r}: {FINITE}"
                    raise FormatError(f"{path}, line {line}: {wanted}") from error
                raise FormatError(f"{path}, line {line}: {wanted}, got {field[:60]!r}") from error
        raise


def _weights(fields: list[str]) -> np.ndarray:
    """Return numbers, or raise ValueError for one that is none, NaN, -inf, or beyond its type."""
    joined = "".join(fields)
    if "_" in joined or not joined.isascii():  # which Python reads as numbers, too
        raise ValueError("not a number")
    try:
        return np.array(list(map(int, fields)), np.int64)
    except OverflowError as error:
        raise ValueError("beyond int64") from error
    except ValueError:
        found = np.array(list(map(float, fields)))
    infinite = found == np.inf
    if not (found > -np.inf).all() or any("inf" not in fields[i].lower() for i in np.flatnonzero(infinite)):
        raise ValueError("no weight")
    if are_amounts() and infinite.any():
        raise ValueError("infinite")
    return found
