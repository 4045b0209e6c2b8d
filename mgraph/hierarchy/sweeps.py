"""Distances from many sources: each climbs to its ancestors, then one sweep goes down the tree for all of them.

To chosen targets the sweep takes the part of the tree above them (RPHAST). Measures are made of the distances where
they are computed, so that none is stored.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..arguments import HISTOGRAM, OUT, WITHIN
from ..arrays import Array, distinct
from ..dtypes import bin_limits, distance_range, infinity, kernel_infinity, out_of_range
from ..kernels.hierarchy.ops import Measures, Schedule
from .lengths import Lengths
from .placed import OnDevice
from .structure import Structure

#: Sources of a batch whose distances are brought home, or computed in another type: the usual number, and the least. Of
#: more than twice the usual number half are brought home at a time: one batch comes home while the next one is swept. A
#: batch has at most `_BYTES`, unless the least number has more.
_USUAL, _LEAST, _BYTES = 1024, 128, 2 << 30


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """What `Hierarchy.distances` measures for each source; None where it was not asked for.

    A target counts once, however often it is given. One that cannot be reached, or not within the limit, counts as said
    below. The source itself, if it is a target, is at distance 0.

    Attributes
    ----------
    eccentricity : array of float64, shape (k,), or None
        The greatest distance; ``inf`` if a target is not reached.
    mean : array of float64, shape (k,), or None
        The mean distance to the targets that are reached, without the source; NaN if there are none.
    closeness : array of float64, shape (k,), or None
        The inverse of that mean, times the share of the targets without the source that are reached; 0 unless the sum
        of the distances is positive.
    harmonic : array of float64, shape (k,), or None
        The sum of the inverse distances; targets at distance 0 and those not reached add nothing.
    out_closeness, out_harmonic : array of float64, shape (k,), or None
        The same under the names that they have in a directed graph, where the distances from each source count.
    reached : array of int64, shape (k,), or None
        The number of targets that are reached.
    within : array of int64, shape (k, radii), or None
        The number of targets within each radius.
    histogram : array of int64, shape (k, bins), or None
        The number of targets in each bin.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False)
    >>> measured = mgraph.Hierarchy(graph, order=[0, 2, 1]).distances(reduce=["eccentricity", "mean"])
    >>> measured.eccentricity.tolist(), measured.mean.tolist()
    ([7.0, 4.0, 7.0], [5.5, 3.5, 5.0])
    """

    eccentricity: np.ndarray | None = None
    mean: np.ndarray | None = None
    closeness: np.ndarray | None = None
    harmonic: np.ndarray | None = None
    out_closeness: np.ndarray | None = None
    out_harmonic: np.ndarray | None = None
    reached: np.ndarray | None = None
    within: np.ndarray | None = None
    histogram: np.ndarray | None = None


class Sweep(NamedTuple):
    """A sweep to some targets.

    Attributes
    ----------
    schedule : Schedule
        How it goes through the vertices.
    targets : int
        How many targets there are.
    times : array of int32, shape (vertices,), or None
        How often each vertex of the schedule is a target, to measure distances; on the device that sweeps.
    """

    schedule: Schedule
    targets: int
    times: Array | None


def sweep_to(structure: Structure, on: OnDevice, targets: np.ndarray, rows: bool) -> Sweep:
    """Return the sweep to these ranks, of them and their ancestors: for rows of distances, or to measure these."""
    chosen = np.zeros(len(structure.order), bool)
    chosen[targets] = True
    above = targets
    while len(above):
        above = structure.tree.parent[above]
        above = distinct(above[above >= 0])
        above = above[~chosen[above]]
        chosen[above] = True
    with on.device.active():
        wanted = targets if rows else None
        vertices, stages, parts = on.kernels.schedule(structure.tree, structure.entries, chosen, wanted)
    moved = on.device.asarray
    schedule = Schedule(moved(vertices), stages, tuple(moved(part) for part in parts))
    times = None if rows else moved(np.bincount(targets, minlength=len(chosen))[vertices].astype(np.int32))
    return Sweep(schedule, len(targets), times)


def sweep_to_all(structure: Structure, on: OnDevice, kept: dict[tuple[str, bool], Sweep], rows: bool) -> Sweep:
    """Return the sweep to all vertices in the order of their numbers; it is kept by device and purpose."""
    key = on.device.name, rows
    if key not in kept:
        kept[key] = sweep_to(structure, on, structure.rank, rows)
    return kept[key]


def distances(
    structure: Structure,
    on: OnDevice,
    home: devices.Device,
    lengths: Lengths,
    sources: np.ndarray,
    sweep: Sweep,
    limit: float,
    out: Array | None = None,
) -> Array:
    """Return the distances from some ranks to the targets of a sweep, at home: shape (sources, targets).

    They are written to `out` if it is given, a contiguous array.

    Raises
    ------
    DistanceOverflowError
        If a distance is out of range for its type.
    MemoryLimitError
        If they do not fit the free memory.
    """
    device, kernels, inner = on.device, on.kernels, np.dtype(lengths.up.dtype)
    shape = len(sources), sweep.targets
    # Integers are narrowed after a check of their range; floats are rounded by the kernel.
    narrows, moves = inner.kind != lengths.dtype.kind, home.name != device.name
    rows = max(1, len(sources))
    if narrows or moves:
        wanted = _USUAL if narrows else max(_USUAL, -(-rows // 2))
        rows = min(rows, max(_LEAST, min(wanted, _BYTES // max(1, shape[1] * inner.itemsize))))
    work = kernels.workspace_bytes(structure.tree, structure.entries, sweep.schedule, rows, inner.itemsize, False)
    batch = rows * shape[1] * (3 * narrows * inner.itemsize + moves * devices.SLOTS * lengths.dtype.itemsize)
    [most] = _limits(np.array([limit]), lengths)
    what = f"distances of {shape[0]:,} x {shape[1]:,}"
    stored = shape[0] * shape[1] * lengths.dtype.itemsize if out is None else 0
    devices.check_free_memory(what, stored + (0 if moves else batch + work), home)
    with device.active(), devices.allocating(what, batch + work, device):
        if out is None:
            with home.active():
                out = home.xp.empty(shape, lengths.dtype)
        starts, stream = device.asarray(sources), devices.RowStream(device, out, rows)
        wide = device.xp.empty((rows, shape[1]), inner) if narrows else None
        try:
            for first in range(0, len(sources), rows):
                last = min(first + rows, len(sources))
                part = stream.batch(first, last)
                own = part if wide is None else wide[: last - first]
                kernels.sweep(
                    *(on.tree, on.entries, lengths.up, lengths.down, starts[first:last]),
                    *(sweep.schedule, most, own),
                )
                if narrows:
                    part[...] = _narrowed(own, lengths, device)
                stream.send(first, last)
            return stream.complete()
        except BaseException:
            stream.abandon()
            raise


def _finite(limits: np.ndarray, inner: np.dtype) -> np.ndarray:
    """Return limits in the type that is computed in: the greatest finite numbers that do not exceed them."""
    if inner.kind == "i":
        below_infinity = int(kernel_infinity(inner)) - 1
        return np.floor(np.clip(limits, -below_infinity, below_infinity)).astype(inner)
    most = float(np.finfo(inner).max)
    rounded = np.clip(limits, -most, most).astype(inner)
    below = np.nextafter(rounded, inner.type(-np.inf))
    return np.where(rounded.astype(np.float64) > limits, below, rounded).astype(inner)


def _limits(limits: np.ndarray, lengths: Lengths) -> np.ndarray:
    """Return limits in the type that is computed in, so that a distance is rounded after it is compared.

    They are the greatest finite numbers that do not exceed the limits once they are rounded to the type of distances.
    """
    inner = np.dtype(lengths.up.dtype)
    if inner == lengths.dtype or lengths.dtype.kind == "i":
        return _finite(limits, inner)
    most = _finite(limits, lengths.dtype)
    with np.errstate(over="ignore"):
        above = np.nextafter(most, np.float32(np.inf)).astype(inner)
        above = np.where(np.isinf(above), 2.0 ** np.finfo(lengths.dtype).maxexp, above)
        middle = (most.astype(inner) + above) / 2  # which rounds to the even one
        rounded = np.where(middle.astype(lengths.dtype) <= most, middle, np.nextafter(middle, -np.inf))
    return rounded if lengths.overflows else np.where(np.isinf(limits), np.finfo(inner).max, rounded)


def cut(D: Array, limit: float, lengths: Lengths) -> None:
    """Set distances beyond a limit to infinity, as a sweep with this limit writes them."""
    [most] = _finite(np.array([limit]), lengths.dtype)
    D[D > most] = infinity(lengths.dtype)


def _narrowed(wide: Array, lengths: Lengths, device: devices.Device) -> Array:
    """Return distances that were computed in float64 as integers, or raise DistanceOverflowError."""
    xp, (least, greatest) = device.xp, distance_range(lengths.dtype, lengths.nonnegative)
    reached = xp.isfinite(wide)
    if bool((reached & ((wide < least) | (wide > greatest))).any()):
        raise out_of_range(lengths.dtype, lengths.nonnegative)
    return xp.where(reached, wide, infinity(lengths.dtype)).astype(lengths.dtype)


def measured(
    structure: Structure,
    on: OnDevice,
    lengths: Lengths,
    sources: np.ndarray,
    targets: np.ndarray,
    sweep: Sweep,
    limit: float,
    measures: tuple[str, ...],
    radii: tuple[float, ...],
    bins: tuple[float, ...] = (),
) -> Measured:
    """Return measures of the distances from some ranks to others, the targets of a sweep.

    The names of the measures, the radii of ``"within"`` and the edges of ``"histogram"`` are those that
    `mgraph.arguments.checked_reduce` returns. The bins are the differences of the numbers within their limits.

    Raises
    ------
    MemoryLimitError
        If a batch of sources does not fit the free memory of the device.
    """
    device, inner = on.device, np.dtype(lengths.up.dtype)
    xp, k = device.xp, len(sources)
    kinds = {name.removeprefix(OUT) for name in measures}
    sums = bool({"mean", "closeness"} & kinds)
    parts = "eccentricity" in kinds, sums or "reached" in kinds, sums, "harmonic" in kinds
    [most] = _limits(np.array([limit]), lengths)
    all_limits = [*map(float, radii), *(bin_limits(bins, lengths.dtype) if bins else ())]
    limits = np.minimum(_limits(np.array(all_limits, np.float64), lengths), most)
    work = on.kernels.workspace_bytes(structure.tree, structure.entries, sweep.schedule, k, inner.itemsize, True)
    made_bytes = 8 * k * (sum(parts) + len(limits))
    with device.active(), devices.allocating(f"measures of {k:,} sources", work + made_bytes, device):
        one = [xp.empty(k if part else 0, np.float64) for part in parts]
        made = Measures(one[0], one[1], one[2], one[3], xp.empty((k, len(limits)), np.float64))
        on.kernels.measure(
            *(on.tree, on.entries, lengths.up, lengths.down, device.asarray(sources), sweep.schedule),
            *(sweep.times, most, limits, made),
        )
    greatest, count, total, inverse, within = (devices.to_host(part) for part in made)
    if lengths.dtype.kind == "f":
        with np.errstate(over="ignore"):
            greatest = greatest.astype(lengths.dtype).astype(np.float64)  # rounded as a row of distances is
    found: dict[str, np.ndarray] = {
        "eccentricity": greatest,
        "harmonic": inverse,
        "reached": count.astype(np.int64),
        WITHIN: within[:, : len(radii)].astype(np.int64),
        HISTOGRAM: np.diff(within[:, len(radii) :].astype(np.int64), axis=1),
    }
    if sums:
        own = np.bincount(targets, minlength=int(sources.max(initial=0)) + 1)[sources]
        others, all_others = count - own, len(targets) - own
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found["mean"] = total / others
            found["closeness"] = np.where(total > 0, others / total * (others / all_others), 0.0)
    names = (*measures, *(WITHIN,) * bool(radii), *(HISTOGRAM,) * bool(bins))
    return Measured(**{name: found[name.removeprefix(OUT)] for name in names})
