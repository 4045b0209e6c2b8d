"""Coordinates of vertices: two numbers each, NaN where they are not known."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import device as devices
from ..errors import InputError, type_name
from .views import handed_out

#: Pairs of columns that tables have coordinates in.
COLUMNS = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"))


def checked_coordinates(given: Any, n: int, ids: np.ndarray | None) -> np.ndarray:
    """Return coordinates of n vertices as a read-only copy of float64, of shape (n, 2).

    Parameters
    ----------
    given : array_like of shape (n, 2), dataframe, or mapping
        Of a dataframe the first of the pairs `COLUMNS` that it has; its index has the vertices' ids, or numbers if
        there are no `ids`. A mapping has two numbers by id.
    n : int
        The number of vertices.
    ids : array, shape (n,), or None
        Their ids.

    Raises
    ------
    InputError
        For another shape, what is not a number or infinite, a dataframe without these columns or with a repeated id,
        and a dataframe or a mapping with no id of the graph.
    """
    if hasattr(given, "reindex"):
        given = _of_frame(given, range(n) if ids is None else ids)
    elif isinstance(given, Mapping):
        given = _of_mapping(given, range(n) if ids is None else ids.tolist())
    try:
        found = np.array(devices.to_host(given), np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f": {error}", argument="coordinates", value=type_name(given), expected="numbers") from error
    if found.shape != (n, 2):
        raise InputError(argument="coordinates", value=found.shape, expected=f"of shape ({n}, 2), x and y per vertex")
    if np.isinf(found).any():
        raise InputError(argument="coordinates", value=np.inf, expected="numbers, or NaN where they are not known")
    return handed_out(found)


def _of_frame(frame: Any, ids: Iterable[Any]) -> Any:
    """Return the columns of coordinates of a dataframe, with a row for each vertex."""
    columns = next((pair for pair in COLUMNS if all(name in frame for name in pair)), None)
    if columns is None:
        wanted = "a dataframe with columns 'x' and 'y', or 'lon' and 'lat'"
        raise InputError(argument="coordinates", value=list(frame), expected=wanted)
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()][0]
        raise InputError(argument="coordinates", value=twice, expected="a dataframe with one row for each id")
    found = frame[list(columns)].reindex(ids)
    if len(frame) and len(found) and found.isna().all(axis=None):
        advice = ": set_index makes a column its index"
        raise InputError(advice, argument="coordinates", value=frame.index[0], expected="a dataframe indexed by ids")
    return found


def _of_mapping(places: Mapping[Any, Any], ids: Iterable[Any]) -> list[Any]:
    """Return the places of a mapping, with one for each vertex."""
    found = [places.get(each) for each in ids]
    if places and found and all(each is None for each in found):
        raise InputError(argument="coordinates", value=next(iter(places)), expected="a mapping from the graph's ids")
    return [(math.nan, math.nan) if each is None else each for each in found]


def coordinates_of(nodes: Iterable[Mapping[str, Any]], n: int) -> np.ndarray | None:
    """Return the attributes ``x`` and ``y``, or else ``pos``, of n nodes; None if no node has numbers for them."""
    found: np.ndarray | None = None
    place: tuple[float, ...]
    for node, attributes in enumerate(nodes):
        if "x" in attributes and "y" in attributes:
            place = number_of(attributes["x"]), number_of(attributes["y"])
        elif "pos" in attributes:
            pos = attributes["pos"]
            place = tuple(map(number_of, pos)) if isinstance(pos, (tuple, list, np.ndarray)) and len(pos) == 2 else ()
        else:
            continue
        if place and not any(map(math.isnan, place)):
            found = np.full((n, 2), np.nan) if found is None else found
            found[node] = place
    return found


def number_of(value: Any) -> float:
    """Return a coordinate as a float; NaN for what is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan
