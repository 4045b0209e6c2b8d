"""Launches of the kernels of ``kernels/hierarchy.cu``: the operations of `mgraph.kernels.hierarchy.host`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks, of
from ...dtypes import infinity, kernel_infinity
from ...errors import DeviceError, Given
from .ops import Entries, Lower, Measures, Placed, Tree

SOURCE = "hierarchy.cu"
_TYPES: dict[np.dtype, str] = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = tuple(
    expression
    for dtype, t in _TYPES.items()
    for expression in (
        *(f"{kernel}<{t}>" for kernel in ("place", "eliminate", "climb", "gather")),
        *(f"sweep<{t}, {width}, {m}>" for width in (1, 16 // dtype.itemsize) for m in ("false", "true")),
    )
)

#: Sources that a sweep takes at a time, if their labels fit into `_LABELS` bytes.
LANES = 1024
_LABELS = 4 << 30

#: As in the source.
_THREADS, _WARPS, _RESIDENT, _RADII, _TILE = 256, 8, 3, 16, 32


def stages(tree: Tree, entries: Entries) -> tuple[np.ndarray, ...]:
    """Return the entries by the depth of their lower ends, the deepest first, their rows' ends, and the levels."""
    if entries.begin.dtype != np.int32:
        raise DeviceError(
            f"a hierarchy of {len(entries.upper):,} entries is too large for a GPU's kernels: use ",
            Given("device", "cpu"),
        )
    owner = np.repeat(np.arange(len(tree.depth), dtype=np.int32), np.diff(entries.begin))
    deepest = int(tree.depth.max(initial=0))
    level = deepest - tree.depth[owner]
    order = np.argsort(level, kind="stable").astype(np.int32)
    ends = entries.begin[owner[order] + 1]
    levels = np.zeros(deepest + 2, np.int32)
    np.cumsum(np.bincount(level, minlength=deepest + 1), out=levels[1:])
    return order, ends, levels


def customize(
    entries: Entries,
    lower: Lower,
    upward: Placed,
    downward: Placed,
    lengths: Array,
    up: Array,
    down: Array,
    stages: tuple[Array, ...],
) -> None:
    """Write the length of each entry: of the shortest path over lower vertices, upwards and downwards."""
    if not up.size:
        return
    t = _TYPES[np.dtype(up.dtype)]
    for one, placed in ((up, upward), (down, downward))[: 1 if down is up else 2]:
        one.fill(kernel_infinity(np.dtype(up.dtype)))
        count = len(placed.entry)
        if count:
            kernel = cuda_function(SOURCE, f"place<{t}>")
            kernel((-(-count // _THREADS),), (_THREADS,), (placed.entry, placed.edge, np.int32(count), lengths, one))
    order, ends, levels = stages
    kernel = cuda_function(SOURCE, f"eliminate<{t}>", cooperative=True)
    parts = (
        order,
        ends,
        levels,
        np.int32(len(levels) - 1),
        entries.begin,
        entries.upper,
        up,
        down,
        of(up).xp.zeros(1, np.uint32),
    )
    kernel((_blocks(),), (_THREADS,), parts)


def _blocks() -> int:
    return launched_blocks(cuda_attribute("MultiProcessorCount") * _RESIDENT)


def schedule(tree: Tree, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen vertices by depth, and where each level begins."""
    vertices = np.flatnonzero(chosen)
    vertices = vertices[np.argsort(tree.depth[vertices], kind="stable")].astype(np.int32)
    steps = np.zeros(int(tree.depth[vertices].max(initial=-1)) + 2, np.int32)
    np.cumsum(np.bincount(tree.depth[vertices], minlength=len(steps) - 1), out=steps[1:])
    return vertices, steps


def workspace_bytes(vertices: int, sources: int, height: int, itemsize: int, measured: bool) -> int:
    """Return the bytes that `sweep` or `measure` allocates for a schedule of so many vertices."""
    pitch = _pitch(vertices, sources, itemsize)
    parts = _blocks() * 32 * _width(sources, itemsize) * (4 * 8 * _WARPS + 4 * _RADII) if measured else 0
    return pitch * (vertices + height) * itemsize + parts


def _width(sources: int, itemsize: int) -> int:
    """Return how many sources a thread has."""
    return 1 if sources < 32 * 16 // itemsize else 16 // itemsize


def _pitch(vertices: int, sources: int, itemsize: int) -> int:
    """Return how many sources a launch takes, a multiple of those of a warp."""
    each = 32 * _width(sources, itemsize)
    groups = min(-(-sources // each), LANES // each, _LABELS // max(1, vertices * each * itemsize))
    return each * max(1, groups)


class _Labels(NamedTuple):
    """The labels of a batch of sources, and what its launches share."""

    first: int
    sources: Array
    labels: Array
    blocks: int


def _swept(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Array,
    steps: Array,
    measured: tuple[Any, ...] | None,
) -> Iterator[_Labels]:
    """Sweep for one batch of sources after the other; `measured` are the kernel's last arguments."""
    xp, dtype = of(up).xp, np.dtype(up.dtype)
    t, n = _TYPES[dtype], len(tree.depth)
    height = int(tree.depth.max()) + 1
    where = xp.empty(n, np.int32)
    where[schedule] = xp.arange(len(schedule), dtype=np.int32)
    most = _blocks()
    width = _width(len(sources), dtype.itemsize)
    pitch = min(_pitch(len(schedule), len(sources), dtype.itemsize), 32 * width * most)
    labels, climbs = xp.empty((len(schedule), pitch), dtype), xp.empty((pitch, height), dtype)
    some, arrived = xp.empty(pitch, np.int32), xp.zeros(1, np.uint32)
    climb = cuda_function(SOURCE, f"climb<{t}>")
    kernel = cuda_function(SOURCE, f"sweep<{t}, {width}, {'true' if measured else 'false'}>", cooperative=True)
    none = np.intp(0)
    asked = measured or (none, dtype.type(0), none, np.int32(0), none, none, none, none, none)
    for first in range(0, len(sources), pitch):
        own = sources[first : first + pitch]
        some.fill(-1)
        some[: len(own)] = own
        upward = some, np.int32(len(own)), tree.parent, tree.depth, entries.begin, entries.depth, up, climbs
        climb((-(-len(own) // _WARPS),), (_THREADS,), (*upward, np.int32(height)))
        arguments = (
            *(schedule, steps, np.int32(len(steps) - 1), where, tree.depth, tree.size, entries.begin, entries.upper),
            *(down, some, climbs, np.int32(height), labels, np.int32(pitch), arrived, *asked),
        )
        kernel((most,), (_THREADS,), arguments)
        yield _Labels(first, own, labels, most)


def sweep(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Array,
    steps: Array,
    places: Array,
    limit: float,
    D: Array,
) -> None:
    """D[r, j] = the length of the shortest path from sources[r] to the vertex at ``places[j]`` of the schedule."""
    if not D.size:
        return
    dtype, columns = np.dtype(D.dtype), len(places)
    kernel = cuda_function(SOURCE, f"gather<{_TYPES[dtype]}>")
    bounds = dtype.type(limit), dtype.type(infinity(dtype))
    for batch in _swept(tree, entries, up, down, sources, schedule, steps, None):
        rows = D[batch.first : batch.first + len(batch.sources)]
        from_labels = batch.labels, np.int32(batch.labels.shape[1]), places, np.int32(columns)
        leading = np.int64(D.strides[0] // D.itemsize)
        kernel(
            (-(-columns // _TILE), -(-len(rows) // _TILE)),
            (_THREADS,),
            (*from_labels, np.int32(len(rows)), *bounds, rows, leading),
        )


def measure(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Array,
    steps: Array,
    times: Array,
    limit: float,
    radii: Array,
    measures: Measures,
) -> None:
    """Measure the distances from each source; ``times[p]`` says how often vertex p of the schedule is a target."""
    xp, dtype = of(up).xp, np.dtype(up.dtype)
    for low in range(0, max(len(radii), 1), _RADII):
        some = radii[low : low + _RADII]
        most = _blocks()
        width = _width(len(sources), dtype.itemsize)
        pitch = min(_pitch(len(schedule), len(sources), dtype.itemsize), 32 * width * most)
        members = -(-most // (pitch // (32 * width)))  # the blocks of a group
        # A group may have a member less than others, whose rows stay as they are here.
        greatest = xp.full((members * _WARPS, pitch), -np.inf)
        sums = xp.zeros((3, members * _WARPS, pitch))
        within = xp.zeros((members, len(some), pitch), np.int32)
        inverse = sums[2] if len(measures.inverse) else np.intp(0)
        asked = times, dtype.type(limit), some, np.int32(len(some)), greatest, sums[0], sums[1], inverse, within
        for batch in _swept(tree, entries, up, down, sources, schedule, steps, asked):
            own = slice(batch.first, batch.first + len(batch.sources))
            count = len(batch.sources)
            found = greatest.max(axis=0), *sums.sum(axis=1)
            for part, all_of_it in zip(found, measures[:4], strict=True):
                if len(all_of_it) and not low:
                    all_of_it[own] = part[:count]
            if len(some):
                measures.within[own, low : low + _RADII] = within.sum(axis=0).T[:count]
