"""Files of CSV: points by longitude and latitude, perhaps with an id, and demand between their ids."""

import contextlib
import csv
import math
import os
from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import device as devices
from ..errors import FormatError, InputError, MissingFileError, shown
from ..graph.coordinates import COLUMNS

#: Lines of a file with what errors call them; a field that a short line has not is None.
Lines = Iterator[tuple[str, dict[str, Any]]]

_DEMAND = ("origin", "destination", "trips")


def read_points(path: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the points of a file of CSV, shape (k, 2), and their ids.

    Its first line names the columns: ``lon`` and ``lat``, ``longitude`` and ``latitude``, or ``x`` and ``y`` in
    degrees, and ``id``, without which the ids are 0 to k - 1.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If a column is missing, or there is no point; and for a line without two numbers or an id, with more fields than
        the first line, or with an id that was there before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mgraph import roads
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_text("id,lon,lat\nhome,24.94,60.17\n")
    ...     points, ids = roads.read_points(path)
    >>> points.tolist(), ids.tolist()
    ([[24.94, 60.17]], ['home'])
    """
    with _opened(path) as (lines, names):
        pair = next((each for each in COLUMNS if set(each) <= set(names)), None)
        if pair is None:
            raise FormatError(f"{path} has no columns lon and lat in its first line, but {shown(list(names))}")
        points: list[tuple[float, float]] = []
        ids: dict[str, None] = {}
        for where, line in lines:
            points.append(_place([line[names[name]] for name in pair], where))
            if "id" in names:
                ids[_id(line[names["id"]], ids, where)] = None
    if not points:
        raise FormatError(f"{path} has no points below its first line")
    return np.array(points, np.float64).reshape(-1, 2), _numbers(list(ids)) if "id" in names else np.arange(len(points))


def read_demand(path: str | os.PathLike[str], zones: Any) -> np.ndarray:
    r"""Return the demand in a file of CSV, whose first line names columns ``origin``, ``destination`` and ``trips``.

    Parameters
    ----------
    path : path
        The file.
    zones : sequence of str or int
        The ids of the zones, each once, such as those of `read_points`, in the order of the rows and columns.

    Returns
    -------
    array of float64, shape (zones, zones)
        The trips from each zone to each other; 0 where the file names none.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If a column is missing; and for a line with another zone, with a pair that was there before, or whose trips are
        not a number of 0 or more.
    InputError
        If two zones have one id.
    MemoryLimitError
        If a matrix of so many zones does not fit the free memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mgraph import roads
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "trips.csv")
    ...     _ = path.write_text("origin,destination,trips\nhome,work,30.5\n")
    ...     roads.read_demand(path, ["home", "work"]).tolist()
    [[0.0, 30.5], [0.0, 0.0]]
    """
    number: dict[str, int] = {}
    for place, zone in enumerate(zones):
        if number.setdefault(str(zone), place) != place:
            raise InputError(argument="zones", value=zone, expected="ids of which no two are alike")
    devices.check_free_memory(f"trips between {len(zones):,} zones", 8 * len(zones) ** 2, devices.find("cpu"))
    demand, known = np.zeros((len(zones), len(zones))), set()
    with _opened(path) as (lines, names):
        if not set(_DEMAND) <= set(names):
            wanted = "origin, destination and trips"
            raise FormatError(f"{path} has no columns {wanted} in its first line, but {shown(list(names))}")
        for where, line in lines:
            start, end, trips = (line[names[name]] for name in _DEMAND)
            for zone in (start, end):
                if zone not in number:
                    raise FormatError(f"{where}: {shown(zone)} is not the id of a zone")
            if (start, end) in known:
                raise FormatError(f"{where}: trips from {shown(start)} to {shown(end)} are given a second time")
            known.add((start, end))
            demand[number[start], number[end]] = _amount(trips, where)
    return demand


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[Lines, dict[str, str]]]:
    """Open a file of CSV; return its lines with what errors call them, and its columns by name, in small letters."""
    if not Path(path).is_file():
        raise MissingFileError(2, "there is no such file", str(path))
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file, skipinitialspace=True)
            names = [name.strip().lower() for name in lines.fieldnames or ()]
            twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
            if twice is not None:
                raise FormatError(f"{path} has two columns {shown(twice)} in its first line")
            yield _whole(lines, path), {name.strip().lower(): name for name in lines.fieldnames or ()}
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a file of CSV: {error}") from error


def _whole(lines: "csv.DictReader[str]", path: str | os.PathLike[str]) -> Lines:
    """Yield the lines of a file, with what errors call them; none has more fields than the first one has names."""
    for line in lines:
        where = f"{path}, line {lines.line_num}"
        more = line.pop(None, None)
        if more is not None and any(more):
            raise FormatError(f"{where}: {shown(more[0])} is one field more than the first line names")
        yield where, line


def _amount(word: str | None, where: str) -> float:
    try:
        found = float(word or "")
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise FormatError(f"{where}: expected trips as a number of 0 or more, got {shown(word)}")
    return found


def _place(words: list[str], where: str) -> tuple[float, float]:
    try:
        longitude, latitude = map(float, words)
    except (TypeError, ValueError):
        raise FormatError(f"{where}: expected two numbers, got {shown(words)}") from None
    if not (math.isfinite(longitude) and math.isfinite(latitude)):
        raise FormatError(f"{where}: expected two numbers, got {shown(words)}")
    return longitude, latitude


def _id(word: str | None, known: Container[str], where: str) -> str:
    if not word:
        raise FormatError(f"{where}: expected an id, got {shown(word)}")
    if word in known:
        raise FormatError(f"{where}: the id {shown(word)} is given a second time")
    return word


def _numbers(words: list[str]) -> np.ndarray:
    """Return ids as integers if all are written as such, without zeros in front; else as text."""
    if words and all(len(word) < 19 and word.isdecimal() and word == str(int(word)) for word in words):
        return np.array(words, np.int64)
    return np.array(words, object)
