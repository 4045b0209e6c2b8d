"""Keepers: each takes what a call wants of a batch of rows of distances, where the rows are.

So memory is taken for a batch of rows, never for all of them, but where a call wants all columns. Sums are added in 64
bits. The nearest targets are found by one pass over the row for each, or by sorting it if they are many.
"""

from typing import Any, Protocol

import numpy as np

from ... import device as devices
from ...arguments import HISTOGRAM, MEASURES, checked_limit
from ...arrays import Array
from ...dtypes import NO_PREDECESSOR, as_floats, bin_limits, infinity
from ...kernels import histogram as histogram_kernels
from ...kernels.bfs_many import Counts
from .output import COUNTS, DATA, INDICES, Output, within

#: The most targets that are found by a pass each.
PASSES = 16

#: Elements of rows that are measured at a time: as many as a core's cache holds, or as keep a GPU busy.
AT_A_TIME = {"cpu": 1 << 17, "cuda": 1 << 24}


class RowSink(Protocol):
    """What is kept of the rows of a shard's sources."""

    def rows(self, top: int, bottom: int) -> tuple[Array, Array | None]:
        """Return the arrays on the device to write the rows of sources number `top` to `bottom` to.

        They are those of the distances and of the predecessors, or None, of shape (bottom - top, n).
        """

    def keep(self, top: int, bottom: int, sources: Array) -> None:
        """Take what is wanted of the rows that were written last, whose sources are int32 on the device."""

    def results(self) -> dict[str, Array]:
        """Return the results by name, once all rows have been kept."""


def keeper(
    wanted: Output, device: devices.Device, home: str, rows: int, n: int, batch: int, dtype: np.dtype, parents: bool
) -> RowSink:
    """Return the keeper of what is wanted of the rows of `rows` sources, which come in batches.

    A row has n distances: to all vertices or, if `wanted` is `narrow`, to the targets alone.
    """
    if wanted.sparse:
        return SparseRows(wanted, device, n, batch, dtype)
    if wanted.vectors:
        return RowMeasures(wanted, device, rows, n, batch, dtype)
    if (wanted.targets is None or wanted.narrow) and wanted.nearest is None:
        return AllColumns(device, home, rows, n, batch, dtype, parents)
    return SelectedColumns(wanted, device, home, rows, n, batch, dtype, parents)


def measured_bytes(rows: int, bins: int, batch: int) -> int:
    """Return the bytes of the measures of some rows, which may have a number of bins each; a batch's come by itself."""
    return rows * (64 + 8 * bins) + min(rows, batch) * 8 * bins


def keeper_bytes(
    wanted: tuple[int, bool, bool],
    rows: int,
    n: int,
    batch: int,
    dtype: np.dtype,
    parents: bool,
    bins: int = 0,
    *,
    kind: str,
) -> int:
    """Return the bytes that a keeper allocates on its device, if the results live on the host.

    `wanted` are the number of columns, whether the row is measured, and whether its nearest targets are kept.
    """
    columns, measured, nearest = wanted
    each = dtype.itemsize + 4 * parents
    if measured:
        return (
            batch * n * dtype.itemsize
            + measured_bytes(rows, bins, batch)
            + 32 * min(batch * n, max(n, AT_A_TIME[kind]))
        )
    kept = rows if kind == "cpu" else devices.SLOTS * batch
    if columns == n and not nearest:
        return kept * n * each
    # What is chosen of a batch is copied once before it is kept; sorting takes 8 bytes for each position.
    work = batch * (n if nearest and columns > PASSES else columns) * 8
    return batch * n * each + kept * columns * (each + 4 * nearest) + work


def _streams(
    device: devices.Device, home: str, shape: tuple[int, int], batch: int, types: dict[str, Any]
) -> dict[str, devices.RowStream]:
    """Return a stream of rows for each name."""
    return {
        name: devices.RowStream(device, devices.rows_at(home, device, shape, dtype), batch)
        for name, dtype in types.items()
    }


class AllColumns:
    """All columns: the rows are written to where they are kept."""

    def __init__(
        self, device: devices.Device, home: str, rows: int, n: int, batch: int, dtype: np.dtype, parents: bool
    ) -> None:
        types: dict[str, Any] = {"distances": dtype} | ({"predecessors": np.int32} if parents else {})
        self.streams = _streams(device, home, (rows, n), batch, types)

    def rows(self, top: int, bottom: int) -> tuple[Array, Array | None]:
        """Return where the rows are kept."""
        D, *P = (stream.batch(top, bottom) for stream in self.streams.values())
        return D, P[0] if P else None

    def keep(self, top: int, bottom: int, sources: Array) -> None:
        """Send the rows home."""
        for stream in self.streams.values():
            stream.send(top, bottom)

    def results(self) -> dict[str, Array]:
        """Return the rows."""
        return {name: stream.complete() for name, stream in self.streams.items()}


class _Batched:
    """The base of sinks that have the rows of one batch at a time, of the columns that count."""

    def __init__(self, wanted: Output, device: devices.Device, n: int, batch: int, dtype: np.dtype, parents: bool):
        self.wanted, self.device = wanted, device
        self.D = device.xp.empty((batch, n), dtype)
        self.P = device.xp.empty((batch, n), np.int32) if parents else None
        self.targets = None if wanted.targets is None else device.asarray(wanted.targets)

    def rows(self, top: int, bottom: int) -> tuple[Array, Array | None]:
        """Return the first rows of the batch."""
        count = bottom - top
        return self.D[:count], None if self.P is None else self.P[:count]

    def columns(self, matrix: Array) -> Array:
        """Return the columns of a matrix that count."""
        return matrix if self.targets is None or self.wanted.narrow else matrix[:, self.targets]

    def rows_at_a_time(self) -> int:
        """Return of how many rows the columns that count are looked through at a time."""
        t = self.D.shape[1] if self.targets is None else len(self.targets)
        return max(1, AT_A_TIME[self.device.kind] // max(1, t))


class SelectedColumns(_Batched):
    """The columns of some targets, or the nearest of the targets."""

    def __init__(
        self,
        wanted: Output,
        device: devices.Device,
        home: str,
        rows: int,
        n: int,
        batch: int,
        dtype: np.dtype,
        parents: bool,
    ) -> None:
        super().__init__(wanted, device, n, batch, dtype, parents)
        types: dict[str, Any] = {"distances": dtype} | ({"predecessors": np.int32} if parents else {})
        if wanted.nearest is not None:
            types["nearest"] = np.int32
        self.streams = _streams(device, home, (rows, wanted.columns(n)), batch, types)

    def keep(self, top: int, bottom: int, sources: Array) -> None:
        """Send what is chosen home."""
        for name, array in self._chosen(bottom - top).items():
            self.streams[name].batch(top, bottom)[...] = array
            self.streams[name].send(top, bottom)

    def results(self) -> dict[str, Array]:
        """Return the rows of what was chosen."""
        return {name: stream.complete() for name, stream in self.streams.items()}

    def _chosen(self, count: int) -> dict[str, Array]:
        """Return what is chosen of the batch by name."""
        xp = self.device.xp
        D = self.columns(self.D[:count])
        if self.wanted.nearest is None:
            return {"distances": D} | ({} if self.P is None else {"predecessors": self.columns(self.P[:count])})
        found, places = nearest_of(D, self.wanted.columns(self.D.shape[1]), xp)
        vertices = (places if self.targets is None else self.targets[places]).astype(np.int32)
        nothing, reached = np.int32(NO_PREDECESSOR), found != infinity(np.dtype(D.dtype))
        chosen = {"distances": found, "nearest": xp.where(reached, vertices, nothing)}
        if self.P is not None:
            before = self.P[xp.arange(count)[:, None], vertices]
            chosen["predecessors"] = xp.where(reached, before, nothing)
        return chosen


def nearest_of(D: Array, count: int, xp: Any) -> tuple[Array, Array]:
    """Return the `count` least elements of each row, ascending, and their columns; of equal ones, the first columns."""
    rows = xp.arange(len(D))
    if count > PASSES:
        places = xp.argsort(D, axis=1, kind="stable")[:, :count]
        return D[rows[:, None], places], places
    left, places = D.copy(), xp.empty((len(D), count), np.int64)
    found = xp.empty((len(D), count), D.dtype)
    for i in range(count):
        places[:, i] = left.argmin(axis=1)
        found[:, i] = left[rows, places[:, i]]
        left[rows, places[:, i]] = infinity(np.dtype(D.dtype))  # if all are, the first one is found again
    return found, places


class SparseRows(_Batched):
    """The columns of some targets within reach, as rows of a sparse matrix; of a row some bytes for each of these.

    The arrays grow in place with each batch: parts that are joined at the end would be there twice.
    """

    def __init__(self, wanted: Output, device: devices.Device, n: int, batch: int, dtype: np.dtype) -> None:
        super().__init__(wanted, device, n, batch, dtype, False)
        self.counts: list[np.ndarray] = []
        self.indices, self.data = np.empty(0, np.int32), np.empty(0, dtype)

    def keep(self, top: int, bottom: int, sources: Array) -> None:
        """Keep what is within reach of the rows, which come in order; some are looked through at a time."""
        rows, step, xp = bottom - top, self.rows_at_a_time(), self.device.xp
        slices = [(first, min(first + step, rows)) for first in range(0, rows, step)]
        counts = [devices.to_host(self._reached(*some).sum(axis=1)) for some in slices]
        begin, more = len(self.data), sum(int(count.sum()) for count in counts)
        what = f"a sparse matrix of {begin + more:,} distances so far"
        with devices.allocating(what, more * (4 + self.data.itemsize), devices.find("cpu")):
            for array in (self.indices, self.data):
                array.resize(begin + more, refcheck=False)  # nobody else has it
        for some in slices:
            # One list of places: NumPy takes several times as long for a list of rows and one of columns.
            D, places = self.columns(self.D[slice(*some)]), xp.flatnonzero(self._reached(*some))
            there = slice(begin, begin := begin + len(places))
            self.indices[there] = devices.to_host((places % max(D.shape[1], 1)).astype(np.int32))
            self.data[there] = devices.to_host(D.reshape(-1)[places])
        self.counts += counts

    def _reached(self, first: int, last: int) -> Array:
        """Return which columns of some rows are within reach."""
        return self.columns(self.D[first:last]) != infinity(np.dtype(self.D.dtype))

    def results(self) -> dict[str, Array]:
        """Return the rows, one after another."""
        counts = np.concatenate([np.empty(0, np.int64), *self.counts])
        return {COUNTS: counts, INDICES: self.indices, DATA: self.data}


class RowMeasures(_Batched):
    """Measures of each row, whose distances are not kept."""

    def __init__(self, wanted: Output, device: devices.Device, rows: int, n: int, batch: int, dtype: np.dtype) -> None:
        super().__init__(wanted, device, n, batch, dtype, False)
        self.found = unmeasured(wanted, rows)

    def keep(self, top: int, bottom: int, sources: Array) -> None:
        """Measure the rows, some at a time."""
        step, xp = self.rows_at_a_time(), self.device.xp
        itself = xp.ones(len(sources), bool) if self.targets is None else xp.isin(sources, self.targets)
        for first in range(0, bottom - top, step):
            last = min(first + step, bottom - top)
            found = measures(self.columns(self.D[first:last]), itself[first:last], self.wanted, self.device)
            for name, values in found.items():
                self.found[name][top + first : top + last] = devices.to_host(values)

    def results(self) -> dict[str, Array]:
        """Return the measures."""
        return dict(self.found)


def unmeasured(wanted: Output, rows: int) -> dict[str, np.ndarray]:
    """Return arrays for the measures of some rows, by name: counts are integers, the others floats."""
    floats = {*MEASURES} - {"reached"}
    return {
        name: np.empty(
            (rows, len(wanted.bins) - 1) if name == HISTOGRAM else rows, np.float64 if name in floats else np.int64
        )
        for name in wanted.vectors
    }


def measures(D: Array, itself: Array, wanted: Output, device: devices.Device) -> dict[str, Array]:
    """Return the measures of rows of distances by name.

    Parameters
    ----------
    D : array, shape (rows, t)
        The distances to each of the targets once.
    itself : array of bool, shape (rows,)
        Whether the row's source is one of the targets, at distance 0.
    wanted : Output
        Its `measures`, `radii` and `bins`.
    device : Device
        Where the rows are.
    """
    dtype, (_, t), xp = np.dtype(D.dtype), D.shape, device.xp
    reached = D != infinity(dtype)
    count, total, harmonic, farthest = reached.sum(axis=1), None, None, None
    if {"mean", "closeness"} & wanted.kinds:
        with np.errstate(over="ignore"):
            total = xp.where(reached, D, dtype.type(0)).sum(axis=1, dtype=np.float64 if dtype.kind == "f" else np.int64)
    if "harmonic" in wanted.kinds:
        with np.errstate(divide="ignore", over="ignore"):
            harmonic = xp.where(reached & (D != 0), 1 / D.astype(np.float64), 0.0).sum(axis=1)
    if "eccentricity" in wanted.measures:
        farthest = as_floats(D.max(axis=1))
    columns = [(reached & (most >= D)).sum(axis=1) for most in greatest_within(wanted.radii, dtype)]
    histogram = binned(D, wanted.bins, device) if wanted.bins else None
    return combined(wanted, Counts(count, total, harmonic, farthest, columns, histogram), itself, t, xp)


def binned(D: Array, bins: tuple[float, ...], device: devices.Device) -> Array:
    """Return how many distances of each row are in each bin; one without a path is beyond the last limit."""
    counts = device.xp.zeros((len(D), len(bins) - 1), np.int64)
    histogram_kernels.on(device).count(D, bin_limits(bins, np.dtype(D.dtype)), counts)
    return counts


def greatest_within(radii: tuple[float, ...], dtype: np.dtype) -> list[float]:
    """Return the greatest distance within each radius: NumPy would round it to the type of distances, perhaps up."""
    return [min(checked_limit(radius, dtype), infinity(dtype)) for radius in radii]


def combined(wanted: Output, counts: Counts, itself: Array, t: int, xp: Any) -> dict[str, Array]:
    """Return the measures by name, of what was counted and summed up of each row.

    Parameters
    ----------
    wanted : Output
        Its `measures`, `radii` and `bins`.
    counts : Counts
        Of each row; what no measure needs may be None. `farthest` is infinite where a target is out of reach,
        `within` has a column for each radius, and `histogram` one for each bin.
    itself : array of bool, shape (rows,)
        Whether the row's source is one of the targets, at distance 0.
    t : int
        The number of targets.
    xp : module
        NumPy or CuPy.
    """
    count, total, harmonic, farthest, columns, histogram = counts
    others, found = count - itself, {}
    for name in wanted.measures:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if name == "eccentricity":
                found[name] = farthest
            elif name == "mean":
                found[name] = total / others  # 0 / 0 is not a number
            elif name in ("closeness", "out_closeness"):
                share = others / xp.maximum(t - itself, 1)
                found[name] = xp.where(total > 0, others / total * share, 0.0)
            elif name in ("harmonic", "out_harmonic"):
                found[name] = harmonic
            else:
                found[name] = count
    found |= {within(i): column for i, column in enumerate(columns)}
    return found | {HISTOGRAM: histogram} if wanted.bins else found
