"""Cutting the work: ranges of vertices, grids of blocks, and the supersteps of a span.

All devices of a call wait for the slowest, so equal pieces are fastest. Workers may have unequal memory; only if an
equal piece does not fit its device, ranges are cut again: each device gets what fits it, and the largest piece of work
is as small as possible (`fitting`).
"""

import bisect
import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import device as devices
from .devices import DeviceSpec, usable

#: A range of vertices: the first, and the one after the last.
Range = tuple[int, int]

#: Consecutive ranges, one for each shard, or for each row or column of a grid of shards.
Ranges = tuple[Range, ...]


@dataclass(frozen=True)
class Placed:
    """A cut that was made before: each shard's range of vertices, and the number of edges into it."""

    ranges: Ranges
    edges: tuple[int, ...]


#: The target time of a span of supersteps, in seconds: between spans lie the progress report and Dask's barrier.
SPAN_SECONDS = 1.0

#: The most vertices of a group of small components that are solved together: a smaller matrix leaves a device idle.
GROUP = 2048


def span_of(step_seconds: float, whole: int = 1) -> int:
    """Return the number of supersteps of a span, a multiple of `whole`, if each takes `step_seconds`."""
    return max(1, int(SPAN_SECONDS / max(whole * step_seconds, 1e-9))) * whole


def span_within(step_seconds: float, length: int) -> int:
    """Return the supersteps of a span, of which some make a round of `length`, or which has some whole rounds."""
    most = span_of(step_seconds)
    return most // length * length or max(size for size in range(1, most + 1) if length % size == 0)


#: The target time of a superstep that takes some of many sources, in seconds: a progress report, a checkpoint and
#: Ctrl-C wait for its end. Shorter ones take longer in all: sources that are fewer lie farther apart, and share less.
STEP_SECONDS = 4.0


def sources_of(most: int, multiple: int, step_seconds: Callable[[int], float]) -> int:
    """Return how many sources a superstep takes, of at most `most`: those that take `STEP_SECONDS`, or a `multiple`.

    Parameters
    ----------
    most : int
        The sources that there are, or that fit.
    multiple : int
        As many sources as keep all cores busy. The result is a multiple of it, or `most`.
    step_seconds : callable
        ``step_seconds(k)`` are the predicted seconds of a superstep of k sources, which grow with k.
    """
    more = range(2 * multiple, most + multiple, multiple)
    short = bisect.bisect_right(more, STEP_SECONDS, key=lambda count: step_seconds(min(count, most)))
    steps = -(-most // (multiple * (1 + short)))
    return min(most, -(-most // max(1, steps * multiple)) * multiple)  # supersteps of about the same length


def even_ranges(n: int, parts: int, multiple: int) -> Ranges:
    """Cut 0 to n into `parts` ranges of about equal length that start on multiples; the last may be empty."""
    blocks = -(-n // multiple)
    bounds = [min(n, blocks * part // parts * multiple) for part in range(parts + 1)]
    return tuple(itertools.pairwise(bounds))


def range_in_words(own: Range) -> str:
    """Return the first and the last member of a range, in words."""
    first, last = own
    return f"{first:,} to {last - 1:,}" if last > first else "none"


def balanced_ranges(n: int, before: Callable[[int], int], parts: int) -> Ranges:
    """Cut the vertices into ranges with about equal numbers of edges, starting on multiples of 32.

    So no two shards share a word of a bitmap. ``before(v)`` is the number of edges of the vertices before v. A vertex
    counts as one edge: scanning it costs as much.
    """

    def work(vertex: int) -> int:
        return before(vertex) + vertex

    goals = (work(n) * part // parts for part in range(1, parts))
    starts = (bisect.bisect_left(range(n + 1), goal, key=work) for goal in goals)
    return tuple(itertools.pairwise([0, *(min(n, -(-start // 32) * 32) for start in starts), n]))


def fitting(even: Ranges, multiple: int, work: Callable[[int], int], fits: Callable[[int, int, int], bool]) -> Ranges:
    """Return the `even` ranges if each fits its shard, else ranges that fit; the `even` ones if none fit.

    Parameters
    ----------
    even : tuple of (int, int)
        Consecutive ranges from 0 on.
    multiple : int
        Ranges start on multiples of it.
    work : callable
        ``work(v)`` is the amount of work before v, which grows with v.
    fits : callable
        ``fits(shard, first, last)`` says whether a range, and so every part of it, fits a shard.

    Returns
    -------
    tuple of (int, int)
        The same number of ranges. Each is as long as its shard and a limit on its work allow; the limit is the least
        with which the ranges reach the end.
    """
    shards, end = range(len(even)), even[-1][1]
    if all(fits(shard, *even[shard]) for shard in shards):
        return even

    def cut(limit: int) -> Ranges | None:
        bounds = [0]
        for shard in shards:
            first = bounds[-1]

            def too_long(steps: int, shard: int = shard, first: int = first) -> bool:
                last = min(end, first + steps * multiple)
                return work(last) - work(first) > limit or not fits(shard, first, last)

            steps = bisect.bisect_left(range(1, -(-(end - first) // multiple) + 1), True, key=too_long)
            bounds.append(min(end, first + steps * multiple))
        found = tuple(itertools.pairwise(bounds))
        return found if bounds[-1] == end and all(fits(shard, *found[shard]) for shard in shards) else None

    total = work(end) - work(0)
    limit = bisect.bisect_left(range(total), True, key=lambda limit: cut(limit) is not None)
    return cut(limit) or even


def fitting_rows(
    n: int, multiple: int, specs: Sequence[DeviceSpec], memory_limit: int | None, peak: Callable[[int], int]
) -> Ranges:
    """Cut n rows for devices, evenly if they fit: ``peak(rows)`` is the peak bytes of `rows` rows on a device."""
    _, bands, _ = fitting_grid(n, multiple, [(len(specs), 1)], specs, memory_limit, lambda rows, _: peak(rows))
    return bands


def fitting_grid(
    n: int,
    multiple: int,
    grids: Sequence[tuple[int, int]],
    specs: Sequence[DeviceSpec],
    memory_limit: int | None,
    peak: Callable[[int, int], int],
) -> tuple[tuple[int, int], Ranges, Ranges]:
    """Cut a matrix of n rows and columns for the first of some grids of devices that fits.

    The columns are cut evenly; the rows too, unless only uneven rows fit.

    Parameters
    ----------
    n, multiple : int
        The rows; ranges start on multiples.
    grids : sequence of (int, int)
        Rows and columns of grids of the devices, the best first.
    specs, memory_limit
        The devices, and the most bytes to allocate on each.
    peak : callable
        ``peak(rows, columns)`` is the peak bytes of a rectangle on a device.

    Returns
    -------
    grid : tuple of (int, int)
        The first of the grids that fits; the first of all if none does.
    bands, strips : tuple of (int, int)
        The rows of each row of rectangles, and the columns of each column of them.
    """
    if len(specs) == 1:
        return (1, 1), ((0, n),), ((0, n),)
    memory = [usable(spec, memory_limit) for spec in specs]
    peak = functools.cache(peak)
    for high, wide in grids:
        even, strips = even_ranges(n, high, multiple), even_ranges(n, wide, multiple)
        widest = max(last - first for first, last in strips)
        # All devices of a row of the grid have the same rows, so the one with the least memory limits them.
        least = [min(memory[band * wide : (band + 1) * wide]) for band in range(high)]

        def fits(band: int, first: int, last: int, widest: int = widest, least: Sequence[int] = tuple(least)) -> bool:
            return peak(last - first, widest) <= least[band]

        bands = fitting(even, multiple, int, fits) if max(memory) > min(memory) else even
        if all(fits(band, *bands[band]) for band in range(high)):
            return (high, wide), bands, strips
    high, wide = grids[0]
    return grids[0], even_ranges(n, high, multiple), even_ranges(n, wide, multiple)


def shares(
    n: int,
    m: int,
    specs: Sequence[DeviceSpec],
    memory_limit: int | None,
    indptr: Any,
    peak: Callable[[int, int], int],
) -> tuple[Ranges, list[int], tuple[int, ...]]:
    """Return the vertices of each device, the number of edges into them, which are balanced if that fits, and peaks.

    If the edges of each vertex are not known, `indptr` is None, and all vertices count as having the same number. It is
    a `Placed` if the graph was cut before. ``peak(vertices, edges)`` is the peak bytes on a device.
    """
    if isinstance(indptr, Placed):
        return indptr.ranges, list(indptr.edges), _peaks(indptr.ranges, indptr.edges, peak)
    if len(specs) == 1:
        return ((0, n),), [m], (peak(n, m),)
    offsets = None if indptr is None else devices.to_host(indptr)

    def before(vertex: int) -> int:
        return m * vertex // max(n, 1) if offsets is None else int(offsets[vertex])

    def fits(shard: int, first: int, last: int) -> bool:
        return peak(last - first, before(last) - before(first)) <= usable(specs[shard], memory_limit)

    balanced = balanced_ranges(n, before, len(specs))
    ranges = fitting(balanced, 32, lambda vertex: before(vertex) + vertex, fits)
    edges = [before(last) - before(first) for first, last in ranges]
    return ranges, edges, _peaks(ranges, edges, peak)


def _peaks(ranges: Ranges, edges: Sequence[int], peak: Callable[[int, int], int]) -> tuple[int, ...]:
    return tuple(peak(last - first, own) for (first, last), own in zip(ranges, edges, strict=True))


def grids(shards: int) -> list[tuple[int, int]]:
    """Return the rows and columns of all grids of shards, ordered by how much of the panels a shard receives.

    Of equal ones the squarest comes first. With unequal devices, the last resort is a range of rows for each.
    """

    def received(rows: int) -> tuple[float, int]:
        columns = shards // rows
        return (rows > 1) / columns + (columns > 1) / rows, abs(rows - columns)

    heights = sorted((rows for rows in range(shards, 0, -1) if shards % rows == 0), key=received)
    return [(rows, shards // rows) for rows in heights]


def grouped(components: Sequence[int]) -> tuple[int, ...]:
    """Return the vertices of groups of whole components, in the order of the components.

    A component joins the previous group unless both together exceed `GROUP`: small ones cost less together.
    """
    groups: list[int] = []
    for size in components:
        if groups and groups[-1] + size <= GROUP:
            groups[-1] += size
        else:
            groups.append(size)
    return tuple(groups)
