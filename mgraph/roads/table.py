"""Tables between places of a network, and the nearest facilities."""

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io import TABLES, check_output, path_of, save, save_table, suffix_of
from .places import Places
from .search import Column, Search, Spots, Ways, meetings, part_of

#: Distances that are kept at a time, and the rows at least: a search of fewer prepares for its targets too often.
AT_A_TIME, ROWS = 1 << 24, 64

#: Called with how many of how many steps are done, None where that is not known.
Progress = Callable[[int, int | None], object]


class Table:
    """What `Network.table` finds: a matrix for each column, which is also an attribute by its name.

    Attributes
    ----------
    origins, destinations : Places
        The rows and the columns of each matrix.
    matrices : dict of str to array of float64, shape (origins, destinations)
        Such as ``"seconds"`` and ``"metres"``; NaN where there is no route.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> network.table(where[:2], where[2:])
    <Table: 2 x 1, seconds, metres>
    """

    def __init__(self, origins: Places, destinations: Places, matrices: dict[str, np.ndarray]) -> None:
        self.origins, self.destinations, self.matrices = origins, destinations, matrices

    def __getattr__(self, name: str) -> np.ndarray:
        if name in self.__dict__.get("matrices", ()):
            return self.matrices[name]
        raise AttributeError(f"the table has no {name!r}: it has {', '.join(self.__dict__.get('matrices', ()))}")

    def __repr__(self) -> str:
        rows, columns = len(self.origins.ids), len(self.destinations.ids)
        return f"<Table: {rows:,} x {columns:,}, {', '.join(self.matrices)}>"

    def to_pandas(self, wide: bool = False) -> Any:
        """Return a DataFrame: a row for each pair, or with `wide` a row for each origin of the first matrix alone.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.

        Examples
        --------
        >>> import pandas
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> network.table(where[:2], where[2:]).to_pandas()["seconds"].tolist()
        [15.0, 8.0]
        """
        pandas = lazy.optional("pandas", "Table.to_pandas")
        starts, ends = self.origins.ids, self.destinations.ids
        if wide:
            first = next(iter(self.matrices.values()))
            return pandas.DataFrame(first, pandas.Index(starts, name="origin"), pandas.Index(ends, name="destination"))
        pairs = {"origin": np.repeat(starts, len(ends)), "destination": np.tile(ends, len(starts))}
        return pandas.DataFrame({**pairs, **{name: matrix.ravel() for name, matrix in self.matrices.items()}})

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a row for each pair to ``.csv``, ``.csv.gz`` or ``.parquet``, or the matrices to ``.npz``.

        The file appears whole or not at all.

        Raises
        ------
        InputError
            For another suffix, or a path that cannot be written.
        OutputExistsError
            If the file exists, and `overwrite` is False.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from mgraph.roads import Network
        >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
        >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "times.npz")
        ...     network.table(where[:2], where[2:]).save(path)
        ...     np.load(path)["seconds"].tolist()
        [[15.0], [8.0]]
        """
        check_output(path, overwrite, (".npz", *TABLES))
        target = path_of(os.fspath(path))
        if suffix_of(target) == ".npz":
            save(target, self.matrices, overwrite)
        else:
            save_table(target, [self.to_pandas()], overwrite)


class NearestOf(NamedTuple):
    """What `Network.nearest_of` finds.

    Attributes
    ----------
    facilities : array of int64, shape (origins, k)
        The row of each facility among those given, the nearest first; -1 where no other one has a route.
    weights : array of float64, shape (origins, k)
        The weight of the route; NaN where there is none.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> found = network.nearest_of([where[0]], where[1:], k=1)
    >>> found.facilities.tolist(), found.weights.tolist()
    ([[0]], [[7.0]])
    """

    facilities: np.ndarray
    weights: np.ndarray


class Ends(NamedTuple):
    """The places of one side of a table: where they lie, and the ways by which they are left or reached."""

    spots: Spots
    ways: Ways


def bytes_of_table(starts: Ends, ends: Ends, columns: int) -> int:
    """Return how many bytes tables of some columns take, and the distances that are kept at a time."""
    shape = len(starts.ways.vertices), len(ends.ways.vertices)
    ways = starts.ways.vertices.shape[1] * ends.ways.vertices.shape[1]
    block = min(shape[0], _rows_at_a_time(starts, ends)) * shape[1] * (ways + 3)
    return 8 * (shape[0] * shape[1] + block) * columns


def table(
    hierarchy: Hierarchy,
    search: Search,
    starts: Ends,
    ends: Ends,
    columns: dict[str, Column],
    progress: Progress | None,
) -> dict[str, np.ndarray]:
    """Return the least sums of a hierarchy's weights, the first column, and those of the others along the routes."""
    for name in columns:
        if hasattr(Table, name) or name in ("origins", "destinations", "matrices"):
            raise InputError(f"a column of a table cannot be named {name!r}: rename it")
    shape = len(starts.ways.vertices), len(ends.ways.vertices)
    need = bytes_of_table(starts, ends, len(columns))
    devices.check_free_memory(f"{len(columns)} tables of {shape[0] * shape[1]:,} entries", need, devices.find("cpu"))
    found = {name: np.empty(shape) for name in columns}
    for part, sums in _rows(hierarchy, search, starts, ends, list(columns.values()), progress):
        for matrix, block in zip(found.values(), sums, strict=True):
            matrix[part] = _with_nan(block)
    return found


def nearest_of(
    hierarchy: Hierarchy,
    search: Search,
    starts: Ends,
    ends: Ends,
    column: Column,
    k: int,
    progress: Progress | None,
) -> NearestOf:
    """Return the k nearest ends of each start; of equally near ones, the first."""
    rows, count = len(starts.ways.vertices), len(ends.ways.vertices)
    k = min(k, count)
    facilities, weights = np.empty((rows, k), np.int64), np.empty((rows, k))
    for part, (sums,) in _rows(hierarchy, search, starts, ends, [column], progress):
        chosen = np.argsort(sums, axis=1, kind="stable")[:, :k]
        facilities[part], weights[part] = chosen, np.take_along_axis(sums, chosen, 1)
    weights = _with_nan(weights)
    facilities[np.isnan(weights)] = -1
    return NearestOf(facilities, weights)


def _rows_at_a_time(starts: Ends, ends: Ends) -> int:
    return max(ROWS, AT_A_TIME // max(1, ends.ways.vertices.size * starts.ways.vertices.shape[1]))


def _rows(
    hierarchy: Hierarchy,
    search: Search,
    starts: Ends,
    ends: Ends,
    columns: list[Column],
    progress: Progress | None,
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Yield some rows at a time, and for each column the sums along the best ways; ``inf`` where there is no route."""
    count, wide = ends.ways.vertices.shape
    rows, ways = starts.ways.vertices.shape
    targets, column_of = np.unique(ends.ways.vertices, return_inverse=True)  # places share vertices
    last = [each.passed(ends.ways) for each in columns]
    met = meetings(starts.spots, ends.spots)
    direct = [part_of(each.links, met.links, met.shares) for each in columns]
    rounds = _rounds(hierarchy, search, starts, ends, columns)
    step = _rows_at_a_time(starts, ends)
    for begin in range(0, rows if count else 0, step):
        part = slice(begin, min(begin + step, rows))
        sources, row_of = np.unique(starts.ways.vertices[part], return_inverse=True)
        between = _distances(hierarchy, sources, targets, columns)
        _, row, place = np.intersect1d(sources, rounds.links, return_indices=True)
        for matrix, again in zip(between, rounds.sums, strict=True):
            matrix[row, np.searchsorted(targets, rounds.links[place])] = again[place]
        first = [each.passed(Ways(*(one[part] for one in starts.ways))) for each in columns]
        best = [np.full((part.stop - begin, count), np.inf) for _ in columns]
        for way in range(ways):
            for other in range(wide):
                cells = np.ix_(row_of.reshape(-1, ways)[:, way], column_of.reshape(-1, wide)[:, other])
                sums = [
                    ahead[:, way, None] + matrix[cells] + behind[:, other]
                    for ahead, matrix, behind in zip(first, between, last, strict=True)
                ]
                _keep_less(best, slice(None), sums)
        here = np.flatnonzero((met.rows >= begin) & (met.rows < part.stop))
        here = here[np.argsort(-direct[0][here], kind="stable")]  # of two on a pair of places, the lesser comes last
        _keep_less(best, (met.rows[here] - begin, met.columns[here]), [each[here] for each in direct])
        yield part, best
        if progress is not None:
            progress(part.stop, rows)


def _distances(
    hierarchy: Hierarchy, sources: np.ndarray, targets: np.ndarray, columns: list[Column]
) -> list[np.ndarray]:
    """Return the distances between vertices, and the sums of further columns along the paths."""
    others = [each.arcs for each in columns[1:]]
    if not others:
        return [np.asarray(devices.to_host(hierarchy.distances(sources, targets, ids=False)), np.float64)]
    found = hierarchy.distances(sources, targets, along=others, ids=False)
    return [np.asarray(devices.to_host(each), np.float64) for each in (found.distances, *found.along)]


class _Rounds(NamedTuple):
    """Links that are left from where they are entered, and reached there, and the least sums of a round back to it.

    They are ``inf`` unless a place lies behind another one on the link: a part of the link is never longer.
    """

    links: np.ndarray
    sums: list[np.ndarray]


def _rounds(hierarchy: Hierarchy, search: Search, starts: Ends, ends: Ends, columns: list[Column]) -> _Rounds:
    if not search.by_links:
        return _Rounds(np.empty(0, np.int64), [np.empty(0) for _ in columns])
    links = np.intersect1d(starts.spots.links, ends.spots.links)
    last, first = np.full(len(search.entered), -np.inf), np.full(len(search.entered), np.inf)
    np.maximum.at(last, starts.spots.links, starts.spots.shares)
    np.minimum.at(first, ends.spots.links, ends.spots.shares)
    least = [np.full(len(links), np.inf) for _ in columns]
    behind = np.flatnonzero(last[links] > first[links])
    place, turns = search.turns_of(links[behind])
    if not len(turns):
        return _Rounds(links, least)
    place = behind[place]
    pairs, others = (search.followers[turns], links[place]), [each.arcs for each in columns[1:]]
    found = hierarchy.pairs(*pairs, along=others or None, ids=False)
    back = [found] if not others else [found.distances, *found.along]
    sums = [
        each.links[links[place]] + (0.0 if each.turns is None else each.turns[turns]) + devices.to_host(rest)
        for each, rest in zip(columns, back, strict=True)
    ]
    order = np.argsort(-sums[0], kind="stable")  # of the turns of a link, the least comes last
    for kept, each in zip(least, sums, strict=True):
        kept[place[order]] = each[order]
    return _Rounds(links, least)


def _keep_less(best: list[np.ndarray], where: Any, sums: list[np.ndarray]) -> None:
    """Put sums where the first one is less than the best so far."""
    less = sums[0] < best[0][where]
    for kept, each in zip(best, sums, strict=True):
        kept[where] = np.where(less, each, kept[where])


def _with_nan(sums: np.ndarray) -> np.ndarray:
    """Return sums with NaN for infinity."""
    return np.where(np.isinf(sums), np.nan, sums)
