"""Points in files of CSV: a longitude, a latitude and perhaps an id in each line."""

import csv
import math
import os
from pathlib import Path

import numpy as np

from ..errors import FormatError, MissingFileError, shown

_NAMES = (("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"), ("x", "y"))


def read_points(path: str | os.PathLike[str]) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the points of a file of CSV, shape (k, 2), and their ids.

    Its first line names the columns: ``lon`` and ``lat``, ``longitude`` and ``latitude``, or ``x`` and ``y`` in
    degrees, and ``id``, without which the ids are 0 to k - 1.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If a column is missing, or a line has no two numbers.

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
    if not Path(path).is_file():
        raise MissingFileError(2, "there is no such file", str(path))
    points: list[tuple[float, float]] = []
    ids: list[str] = []
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = csv.DictReader(file)
            names = {name.strip().lower(): name for name in lines.fieldnames or ()}
            pair = next((each for each in _NAMES if set(each) <= set(names)), None)
            if pair is None:
                raise FormatError(f"{path} has no columns lon and lat in its first line, but {shown(list(names))}")
            for line in lines:
                points.append(_place([line[names[name]] for name in pair], f"{path}, line {lines.line_num}"))
                ids.append(line[names["id"]] if "id" in names else "")
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a file of CSV: {error}") from error
    return np.array(points, np.float64).reshape(-1, 2), _ids(ids) if "id" in names else np.arange(len(ids))


def _place(words: list[str], where: str) -> tuple[float, float]:
    try:
        longitude, latitude = map(float, words)
    except (TypeError, ValueError):
        raise FormatError(f"{where}: expected two numbers, got {shown(words)}") from None
    if not (math.isfinite(longitude) and math.isfinite(latitude)):
        raise FormatError(f"{where}: expected two numbers, got {shown(words)}")
    return longitude, latitude


def _ids(words: list[str]) -> np.ndarray:
    """Return ids as integers if all are, else as text."""
    if words and all(word and word.isascii() and word.isdecimal() and len(word) < 19 for word in words):
        return np.array(words, np.int64)
    return np.array(words, object)
