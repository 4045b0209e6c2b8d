"""Ids of vertices, integers or names of any kind, and the numbers in their place.

Ids that are all integers, or all strings, are numbered ascending; ids of several kinds in the order in which they are
met. An array of ids is of int64 if all are integers, else of Python's objects.
"""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..arrays import distinct, places_of
from ..errors import InputError, shown
from .checks import check_room, host_array
from .grouping import extremes
from .views import handed_out

#: Ids are marked, rather than sorted, if their range is at most this many times the number of edges.
_SPARSE = 4

#: Ids up to which an error of a text compares it with each of them, and how alike two must be, at most 1.
_MOST_COMPARED, _NEAR = 10_000, 0.7

#: What an id must be, for messages.
_HASHABLE = "numbers, strings or other values that can be hashed"


def numbers_of(numbers: Mapping[Any, int], ids: Iterable[Any]) -> np.ndarray:
    """Return the numbers of ids, int32; KeyError for one that has none, TypeError for one that cannot be hashed.

    `itemgetter` takes two thirds of the time of a `map`: it calls nothing for an id.
    """
    keys = tuple(ids)
    found = itemgetter(*keys)(numbers) if len(keys) > 1 else [numbers[key] for key in keys]
    return np.array(found, np.int32)


class Numbers:
    """Numbers ids of any kind from 0, in the order in which they are met; equal ids have one number."""

    def __init__(self) -> None:
        self._numbers: defaultdict[Any, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def of(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the numbers of ids, int32; TypeError for one that cannot be a key of a dictionary."""
        return numbers_of(self._numbers, ids)

    def __len__(self) -> int:
        return len(self._numbers)

    def met(self) -> list[Any]:
        """Return all ids by their numbers."""
        return list(self._numbers)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for no value, as None, NaN and pandas.NA do."""
    try:
        return value is None or not value == value
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def as_ids(values: Iterable[Any]) -> np.ndarray:
    """Return ids as an array: of int64 if all of them are integers of that range, else of objects."""
    found = np.fromiter(values, object)
    kinds = set(map(type, found))
    if any(issubclass(kind, np.generic) for kind in kinds):
        return as_ids(value.item() if isinstance(value, np.generic) else value for value in found)
    if kinds <= {int} and (not len(found) or (-(2**63) <= min(found) and max(found) < 2**63)):
        return found.astype(np.int64)
    return found


def id_of(ids: Any, vertex: int) -> Any:
    """Return the id of a vertex, in an array or a vector on workers, as an object of Python; None without ids."""
    found = None if ids is None else ids[vertex]
    return found.item() if isinstance(found, np.generic) else found


def written(ids: np.ndarray) -> np.ndarray:
    """Return ids as a file of arrays holds them: integers, or text.

    Raises
    ------
    InputError
        For an id that ends with a NUL character, which NumPy's text drops.
    MemoryLimitError
        If they do not fit the memory, as each takes that of the longest.
    """
    if ids.dtype.kind == "i":
        return ids
    texts = [str(name) for name in ids]
    wrong = next((text for text in texts if text.endswith("\0")), None)
    if wrong is not None:
        raise InputError(f"an array of text cannot hold the id {shown(wrong)}: it ends with a NUL character")
    needed = 4 * len(texts) * max(map(len, texts), default=0)
    advice = "shorten the longest, as each takes its memory"
    with devices.allocating(f"an array of {len(texts):,} ids as text", needed, devices.find("cpu"), advice):
        return np.array(texts, str)


def checked_ids(ids: Any, n: int) -> np.ndarray:
    """Return the original ids of n vertices as a read-only copy, of int64 or of objects, or raise InputError."""
    if isinstance(ids, str) or not hasattr(ids, "__len__"):
        raise InputError(argument="ids", value=ids, expected="a sequence of one id per vertex")
    found = host_array(ids, "ids") if hasattr(ids, "dtype") else as_ids(ids)
    if found.shape != (n,):
        raise InputError(argument="ids", value=found.shape, expected=f"of shape ({n},), one id per vertex")
    if found.dtype == np.int64:
        return handed_out(found.copy())
    if found.dtype.kind not in "iuOUT":
        raise InputError(argument="ids", value=found.dtype.name, expected="integers or names")
    found = as_ids(found.tolist())
    missing = [value for value in found if is_missing(value)] if found.dtype.kind == "O" else []
    if missing:
        raise InputError(argument="ids", value=missing[0], expected="an id for each vertex")
    try:
        set(map(hash, found))
    except TypeError as error:
        raise InputError(f": {error}", argument="ids", value=type(found[0]).__name__, expected=_HASHABLE) from error
    return handed_out(found)


def in_use(src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the ids in use, ascending: by marking them if their range is small, else by sorting."""
    if not len(src) or not len(dst):
        return np.empty(0, np.int64)
    least, span = _range_of(src, dst)
    if span > _SPARSE * len(src):
        return distinct(np.concatenate([src, dst])).astype(np.int64, copy=False)
    used = np.zeros(span, bool)
    for ends in (src, dst):
        used[_from(least, ends)] = True
    return np.flatnonzero(used) + least


def packed(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ids in use, and the edges with each id replaced by its index among them."""
    ids = in_use(src, dst)
    if len(ids) and (span := int(ids[-1]) - int(ids[0]) + 1) <= _SPARSE * len(src):
        places = np.empty(span, np.int32)
        places[ids - ids[0]] = np.arange(len(ids), dtype=np.int32)
        src, dst = (places[_from(int(ids[0]), ends)] for ends in (src, dst))
        return ids, src, dst
    return ids, places_of(src, ids), places_of(dst, ids)


def _range_of(src: np.ndarray, dst: np.ndarray) -> tuple[int, int]:
    """Return the least id, and how many integers there are from it to the greatest."""
    least, greatest = zip(extremes(src), extremes(dst), strict=True)
    return min(least), max(greatest) - min(least) + 1


def _from(least: int, ends: np.ndarray) -> np.ndarray:
    """Return ids as numbers from 0."""
    return np.subtract(ends, least, dtype=np.int64) if least else ends


def numbered(source: Any, target: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the ends of edges as numbers of the ids in use, and these ids; None if they are 0 to n-1 already.

    Raises
    ------
    InputError
        For ids that are of another kind than integers and names, missing, or beyond int64.
    """
    src, dst = _checked_ends(source, "source"), _checked_ends(target, "target")
    if src.dtype.kind == dst.dtype.kind == "i":
        ids, *places = packed(src, dst)
        if not len(ids) or (ids[0] == 0 and ids[-1] == len(ids) - 1):
            return src, dst, None
        return places[0], places[1], ids
    numbers = Numbers()
    try:
        src, dst = (numbers.of(ends.tolist()) for ends in (src, dst))
    except TypeError as error:
        raise InputError(f"an id must be a number, a string or another value that can be hashed: {error}") from error
    return renumbered(src, dst, numbers.met())


def _checked_ends(values: Any, name: str) -> np.ndarray:
    """Return the ids in a column as an array of integers of up to 64 bits, of strings or of objects."""
    ends = as_array(values, name)
    if ends.ndim != 1 or ends.dtype.kind not in "iuOUT":
        advice = ": integers with a missing one become floats" if ends.dtype.kind == "f" else ""
        raise InputError(advice, argument=name, value=ends.dtype.name, expected="a column of integers or names")
    if ends.dtype == np.uint64 and ends.max(initial=0) > np.iinfo(np.int64).max:
        raise InputError(argument=name, value=int(ends.max()), expected="ids in the range of int64")
    return ends.astype(np.int64) if ends.dtype.kind == "u" else ends


def renumbered(src: np.ndarray, dst: np.ndarray, met: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return as `numbered` does edges between the numbers of ids in the order in which they were met.

    Raises
    ------
    InputError
        For an id that is missing.
    """
    ids = as_ids(met)
    if ids.dtype.kind == "i":
        return numbered(ids[src], ids[dst])
    for name, ends in (("source", src), ("target", dst)):
        for number, value in enumerate(met):
            if is_missing(value) and (ends == number).any():
                row = int((ends == number).argmax())
                raise InputError(
                    f" in row {row}: leave that row out", argument=name, value=value, expected="an id of a vertex"
                )
    if set(map(type, met)) not in ({str}, {int}):
        return src, dst, ids
    order = sorted(range(len(met)), key=met.__getitem__)
    places = np.empty(len(met), np.int32)
    places[order] = np.arange(len(met), dtype=np.int32)
    return places[src], places[dst], ids[order]


class Index(NamedTuple):
    """The vertices in the order of keys, by which ids are looked up.

    Attributes
    ----------
    keys : array of int64, shape (n,), or None
        Ascending: the ids if they are integers, otherwise their hashes. None if the ids are ascending integers.
    order : array of int32, shape (n,), or None
        The vertex of each key; None if vertices have ascending keys.
    """

    keys: np.ndarray | None
    order: np.ndarray | None


def index_of(ids: np.ndarray) -> Index:
    """Return the index of some ids, in which those of a million vertices are found by one binary search each.

    Raises
    ------
    MemoryLimitError
        If it does not fit the memory.
    """
    with devices.allocating(f"an index of {len(ids):,} ids", 36 * len(ids), devices.find("cpu")):
        whole = ids.dtype.kind == "i"
        keys = ids if whole else np.fromiter(map(hash, ids), np.int64, len(ids))
        if bool((keys[1:] > keys[:-1]).all()):
            return Index(None if whole else keys, None)
        order = np.argsort(keys, kind="stable")
        return Index(keys[order], order.astype(np.int32))


def repeated(ids: np.ndarray, index: Index) -> tuple[int, int] | None:
    """Return two vertices with the same id, if there are any."""
    if index.keys is None or index.order is None:
        return None
    for key in np.unique(index.keys[:-1][index.keys[1:] == index.keys[:-1]]):
        first, last = (int(np.searchsorted(index.keys, key, side)) for side in ("left", "right"))
        known: dict[Any, int] = {}
        for vertex in index.order[first:last].tolist():
            other = known.setdefault(ids[vertex], vertex)
            if other != vertex:
                return other, vertex
    return None


def places_among(known: np.ndarray, index: Index, ids: Any, name: str) -> np.ndarray:
    """Return the vertices with some ids as int32; `known` has the id of each vertex, and `index` is that of these.

    Raises
    ------
    InputError
        For an id that no vertex has, or several; `name` is the argument with the ids.
    """
    if isinstance(ids, str):
        advice = f": for one id give [{shown(str(ids))}]"
        raise InputError(advice, argument=name, value=ids, expected="a sequence of ids")
    check_room(name, ids)
    if not hasattr(ids, "__len__") or getattr(ids, "shape", None) == () or not len(ids):
        raise InputError(argument=name, value=ids, expected="a sequence of one id or more")
    whole = known.dtype.kind == "i"
    values = _as_integers(ids, name) if whole else np.fromiter(ids, object)
    if not len(known):
        raise InputError(argument=name, value=values[0], expected="an id of the graph, which has none")
    try:
        keys = values if whole else np.fromiter(map(hash, values), np.int64, len(values))
    except TypeError as error:
        raise InputError(f": {error}", argument=name, value=ids, expected="ids of the graph") from error
    ascending = known if index.keys is None else index.keys
    first, last = (np.searchsorted(ascending, keys, side) for side in ("left", "right"))
    found = np.minimum(first, len(known) - 1)
    found = found if index.order is None else index.order[found]
    certain = last - first == 1
    if not whole:  # another id may have the same hash
        certain &= known[found] == values
    for i in np.flatnonzero(~certain).tolist():
        alike = np.arange(first[i], last[i])
        alike = alike if index.order is None else index.order[alike]
        vertices = [vertex for vertex in alike.tolist() if known[vertex] == values[i]]
        if not vertices:
            meant = _alike(known, values[i])
            hint = () if meant is None else (f": {shown(meant)} is one",)
            raise InputError(*hint, argument=name, value=_plain(values[i]), expected="an id of the graph")
        if len(vertices) > 1:
            several = f": {vertices[0]} and {vertices[1]} have it"
            raise InputError(several, argument=name, value=_plain(values[i]), expected="the id of one vertex")
        found[i] = vertices[0]
    return found.astype(np.int32)


def _alike(known: np.ndarray, value: Any) -> str | None:
    """Return an id that differs from a text only in case or in spaces around it, or else one of few that is near it."""
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    texts = [each for each in known if isinstance(each, str)]
    same = next((each for each in texts if each.strip().casefold() == word), None)
    if same is not None or len(texts) > _MOST_COMPARED:
        return same
    return next(iter(difflib.get_close_matches(value, texts, 1, _NEAR)), None)


def _as_integers(ids: Any, name: str) -> np.ndarray:
    """Return ids as int64, where those of the graph are integers."""
    values = np.asarray(ids)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        wrong = next((each for each in ids if not isinstance(each, (int, np.integer)) or isinstance(each, bool)), ids)
        raise InputError(argument=name, value=wrong, expected="an integer, as the graph's ids are")
    beyond = values > np.uint64(np.iinfo(np.int64).max) if values.dtype == np.uint64 else np.zeros(0, bool)
    if beyond.any():
        raise InputError(argument=name, value=values[beyond][0].item(), expected="an id of the graph")
    return values.astype(np.int64, copy=False)


def _plain(value: Any) -> Any:
    """Return an id as a value of Python, for a message."""
    return value.item() if isinstance(value, np.generic) else value
