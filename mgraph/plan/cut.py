"""Cutting the work: ranges of vertices, grids of blocks, and the supersteps of a span."""

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from .. import device as devices

#: Seconds that a span of supersteps shall take: between spans lie the progress report and Dask's barrier.
SPAN_SECONDS = 1.0

#: Vertices that components are grouped up to, to be solved together: a smaller matrix leaves a device idle.
GROUP = 2048


def span_of(step_seconds: float) -> int:
    """Return how many supersteps make a span, each of so many seconds."""
    return max(1, int(SPAN_SECONDS / max(step_seconds, 1e-9)))


def even_ranges(n: int, parts: int, multiple: int) -> tuple[tuple[int, int], ...]:
    """Cut 0 to n into `parts` ranges of about equal length that start on multiples; the last may be empty."""
    blocks = -(-n // multiple)
    bounds = [min(n, blocks * part // parts * multiple) for part in range(parts + 1)]
    return tuple(itertools.pairwise(bounds))


def balanced_ranges(n: int, before: Callable[[int], int], parts: int) -> tuple[tuple[int, int], ...]:
    """Cut the vertices into ranges with about equal numbers of edges, starting on multiples of 32.

    So no two shards share a word of a bitmap. ``before(v)`` is the number of edges of the vertices before v. A
    vertex weighs as much as an edge: it costs as much to scan.
    """

    def work(vertex: int) -> int:
        return before(vertex) + vertex

    goals = (work(n) * part // parts for part in range(1, parts))
    starts = (bisect.bisect_left(range(n + 1), goal, key=work) for goal in goals)
    return tuple(itertools.pairwise([0, *(min(n, -(-start // 32) * 32) for start in starts), n]))


def shares(n: int, m: int, shards: int, indptr: Any) -> tuple[tuple[tuple[int, int], ...], list[int]]:
    """Return the vertices of each shard and the number of edges into them, which is balanced.

    Where these are not known, `indptr` is None, all vertices are taken to have as many.
    """
    if shards == 1:
        return ((0, n),), [m]
    offsets = None if indptr is None else devices.to_host(indptr)

    def before(vertex: int) -> int:
        return m * vertex // max(n, 1) if offsets is None else int(offsets[vertex])

    ranges = balanced_ranges(n, before, shards)
    return ranges, [before(last) - before(first) for first, last in ranges]


def best_grid(shards: int) -> tuple[int, int]:
    """Return the rows and columns of the grid whose shards receive least of the panels; the squarest of these."""

    def received(rows: int) -> tuple[float, int]:
        columns = shards // rows
        return (rows > 1) / columns + (columns > 1) / rows, abs(rows - columns)

    rows = min((rows for rows in range(shards, 0, -1) if shards % rows == 0), key=received)
    return rows, shards // rows


def grouped(components: Sequence[int]) -> tuple[int, ...]:
    """Return the vertices of groups of whole components, in the order of the components.

    A component joins the group before unless both together exceed `GROUP`: small ones cost less together.
    """
    groups: list[int] = []
    for size in components:
        if groups and groups[-1] + size <= GROUP:
            groups[-1] += size
        else:
            groups.append(size)
    return tuple(groups)
