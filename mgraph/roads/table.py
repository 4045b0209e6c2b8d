"""Tables between places of a network, and the nearest facilities."""

import os
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..errors import InputError
from ..hierarchy import Hierarchy
from ..io import TABLES, check_output, path_of, save, save_table, suffix_of
from .places import Places

#: Entries of a table that are compared at a time to find the nearest facilities.
_AT_A_TIME = 1 << 22


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


def table(hierarchy: Hierarchy, starts: Places, ends: Places, weight: str, along: dict[str, np.ndarray]) -> Table:
    """Return the table of a hierarchy's weights, and of other weights along the routes."""
    for name in (weight, *along):
        if hasattr(Table, name) or name in ("origins", "destinations", "matrices"):
            raise InputError(f"a column of a table cannot be named {name!r}: rename it")
    entries = len(starts.vertices) * len(ends.vertices)
    devices.check_free_memory(f"{1 + len(along)} tables of {entries:,} entries", 17 * entries, devices.find("cpu"))
    rows, row = np.unique(starts.vertices, return_inverse=True)  # points share vertices: each is searched once
    columns, column = np.unique(ends.vertices, return_inverse=True)
    if along:
        found = hierarchy.distances(rows, columns, along=list(along.values()), ids=False)
        matrices = dict(zip((weight, *along), (found.distances, *found.along), strict=True))
    else:
        matrices = {weight: hierarchy.distances(rows, columns, ids=False)}
    return Table(starts, ends, {name: _with_nan(matrix)[np.ix_(row, column)] for name, matrix in matrices.items()})


def nearest_of(hierarchy: Hierarchy, starts: Places, ends: Places, k: int) -> NearestOf:
    """Return the k nearest ends of each start; of equally near ones, the first."""
    k, rows = min(k, len(ends.vertices)), len(starts.vertices)
    facilities, weights = np.empty((rows, k), np.int64), np.empty((rows, k))
    if not k:
        return NearestOf(facilities, weights)
    step = max(1, _AT_A_TIME // len(ends.vertices))
    for first in range(0, rows, step):
        part = slice(first, first + step)
        distances = devices.to_host(hierarchy.distances(starts.vertices[part], ends.vertices, ids=False))
        chosen = np.argsort(distances, axis=1, kind="stable")[:, :k]
        facilities[part], weights[part] = chosen, np.take_along_axis(distances, chosen, 1)
    weights = _with_nan(weights)
    facilities[np.isnan(weights)] = -1
    return NearestOf(facilities, weights)


def _with_nan(distances: Any) -> np.ndarray:
    """Return distances on the host with NaN for infinity."""
    found = np.asarray(devices.to_host(distances), np.float64)
    found[np.isinf(found)] = np.nan
    return found
