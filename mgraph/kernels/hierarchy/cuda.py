"""Launches of the kernels of ``kernels/hierarchy.cu``: the operations of `mgraph.kernels.hierarchy.host`."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks, of, without_tiny
from ...dtypes import infinity, kernel_infinity
from ...errors import ArgumentValue, DeviceError
from .columns import MOST_UPPER, Columns, columns_of, with_labels
from .ops import LABELS, Entries, Lower, Measures, Placed, Schedule, Tree
from .pieces import GROUP, STACKS, Division, Stage, division

SOURCE = "hierarchy.cu"
_TYPES: dict[np.dtype, str] = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
#: What `descend` is compiled for: to keep labels, to measure what is named, or to measure whatever is asked for.
_KEEP, _ANY = "0", "ANY"
_PURPOSES = (_KEEP, "GREATEST", "REACHED | TOTAL", "WITHIN", "GREATEST | REACHED | TOTAL | WITHIN", _ANY)
INSTANCES = (
    "gather<double, float>",
    *(
        expression
        for dtype, t in _TYPES.items()
        for expression in (
            *(f"{kernel}<{t}>" for kernel in ("place", "eliminate", "place_sets", "eliminate_sets", "climb")),
            f"gather<{t}, {t}>",
            *(
                f"{kernel}<{t}, {width}, {purpose}>"
                for kernel, purposes in (("sweep", (_KEEP, _ANY)), ("descend", _PURPOSES))
                for width in (1, 16 // dtype.itemsize)
                for purpose in purposes
            ),
        )
    ),
)

#: The most sources that a sweep takes at a time, if their labels fit into `LABELS` bytes.
LANES = 1 << 15

#: As in the source: `_ROOM` groups of entries are in shared memory, counts within `_FIRST` radii in registers.
_THREADS, _WARPS, _RESIDENT, _RADII, _ROOM, _FIRST = 256, 8, 3, 16, 32, 2

#: The most sets of weights that are customized at a time: a lane has one.
SETS = 32

#: The bytes of a source beside its labels: its place in the order of ranks, in 64 bits and in 32, and its rank twice.
_A_SOURCE = 8 + 4 + 4 + 4

#: Of `gather`, as in the source: bytes of columns and sources of a tile, and tiles on each side of a square.
_TILE_BYTES, _TILE_SOURCES, _SQUARE = 512, 64, 8

#: The most squares of tiles side by side that a launch gathers: a grid's second dimension.
MOST_SQUARES = 65535

#: The most entries: the threads of a launch count in 32 bits, and each looks for its next entry beyond the last one.
_MOST_ENTRIES = 2**31 - 2**24

#: How many parts of a schedule are those of a `Division`, without its vertices and stages; the others are of `Columns`.
_DIVIDED = len(Division._fields) - 2

#: The most blocks of a multiprocessor, its registers, and the bytes of shared memory that each block takes besides.
_BLOCKS, _REGISTERS, _RESERVED = 32, 65536, 1024


def _too_large(entries: Entries) -> DeviceError:
    return DeviceError(
        f"a hierarchy of {len(entries.upper):,} entries is too large for a GPU's kernels: use ",
        ArgumentValue("device", "cpu"),
    )


def stages(tree: Tree, entries: Entries) -> tuple[np.ndarray, ...]:
    """Return the entries by the depth of their lower ends, the deepest first, their rows' ends, and the levels."""
    if entries.begin.dtype != np.int32 or len(entries.upper) > _MOST_ENTRIES:
        raise _too_large(entries)
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
    if not up.size:
        return
    t = _TYPES[np.dtype(up.dtype)]
    for one, placed in ((up, upward), (down, downward))[: 1 if down is up else 2]:
        one.fill(kernel_infinity(np.dtype(up.dtype)))
        count = len(placed.entry)
        if count:
            kernel = cuda_function(SOURCE, f"place<{t}>")
            kernel((-(-count // _THREADS),), (_THREADS,), (placed.entry, placed.edge, np.uint32(count), lengths, one))
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


def customize_sets(
    entries: Entries,
    lower: Lower,
    upward: Placed,
    downward: Placed,
    lengths: Array,
    ups: Sequence[Array],
    downs: Sequence[Array],
    stages: tuple[Array, ...],
) -> None:
    """Write the lengths of the entries for several sets of weights, as `customize` does for each."""
    sets, m = lengths.shape
    if not sets or not len(entries.upper):
        return
    xp, dtype = of(lengths).xp, np.dtype(lengths.dtype)
    up = xp.empty((len(entries.upper), sets), dtype)
    down = up if downs is ups else xp.empty_like(up)
    for one, placed in ((up, upward), (down, downward))[: 1 if down is up else 2]:
        one.fill(kernel_infinity(dtype))
        count = len(placed.entry)
        if count:
            of_edges = placed.entry, placed.edge, np.uint32(count), lengths, np.int64(m)
            kernel = cuda_function(SOURCE, f"place_sets<{_TYPES[dtype]}>")
            kernel((-(-count // _WARPS),), (_THREADS,), (*of_edges, np.int32(sets), one))
    order, ends, levels = stages
    kernel = cuda_function(SOURCE, f"eliminate_sets<{_TYPES[dtype]}>", cooperative=True)
    of_tree = order, ends, levels, np.int32(len(levels) - 1), entries.begin, entries.upper
    kernel((_blocks(),), (_THREADS,), (*of_tree, np.int32(sets), up, down, xp.zeros(1, np.uint32)))
    for one, parts in ((up, ups), (down, downs))[: 1 if down is up else 2]:
        for number, part in enumerate(parts):
            part[...] = one[:, number]


def workspace_of_sets(entries: int, edges: int, sets: int, itemsize: int, directions: int) -> int:
    """Return the bytes that `customize_sets` allocates."""
    return directions * entries * sets * itemsize


def _blocks() -> int:
    return launched_blocks(cuda_attribute("MultiProcessorCount") * _RESIDENT)


def schedule(tree: Tree, entries: Entries, chosen: np.ndarray, targets: np.ndarray | None) -> Schedule:
    """Return how a sweep goes through the chosen vertices.

    Its parts are those of a `Division`, and for targets those of `Columns`.
    """
    swept = chosen if targets is None else chosen & with_labels(tree, entries)
    room = cuda_attribute("MaxSharedMemoryPerBlockOptin") - _shared(0, 1, 8, _RADII)
    made = division(tree, entries, swept, min(STACKS[0], room // (32 * 8)))
    if len(made.rows) * GROUP > _MOST_ENTRIES:
        raise _too_large(entries)
    vertices, stages, *parts = made
    if targets is None:
        return Schedule(vertices, stages, tuple(parts))
    if len(targets) * MOST_UPPER > _MOST_ENTRIES:
        raise DeviceError(
            f"{len(targets):,} targets are too many for a GPU's kernels: use ", ArgumentValue("device", "cpu")
        )
    return Schedule(vertices, stages, (*parts, *columns_of(vertices, entries, targets)))


def workspace_bytes(
    tree: Tree, entries: Entries, schedule: Schedule, sources: int, itemsize: int, measured: bool
) -> int:
    kept = _kept(schedule, measured)
    pitch = _pitch(kept, sources, itemsize)
    *_, entry, _ = schedule.parts[:_DIVIDED]
    sums = 0 if measured else Columns(*schedule.parts[_DIVIDED:]).entry.size
    lengths = (len(entries.upper) + 2 + entry.size + sums) * itemsize  # of a copy of all, of groups, and of sums
    places = 4 * (len(tree.depth) + len(schedule.vertices))
    partial = _members(pitch, itemsize) * (4 * 8 + 4 * _RADII) if measured else 0
    return pitch * ((kept + tree.height) * itemsize + partial) + lengths + places + _A_SOURCE * sources


def _kept(schedule: Schedule, measured: bool) -> int:
    """Return for how many vertices there are labels, at least one: to measure, not for those of the last stage."""
    kept = schedule.stages[-1].place if measured and schedule.stages else len(schedule.vertices)
    return max(1, kept)


def _width(sources: int, itemsize: int) -> int:
    """Return how many sources a thread may have."""
    return 1 if sources < 32 * 16 // itemsize else 16 // itemsize


def _pitch(kept: int, sources: int, itemsize: int) -> int:
    """Return how many sources a sweep takes at a time, a multiple of those of a warp; batches are about equal."""
    each = 32 * _width(sources, itemsize)
    groups = max(1, -(-sources // each))
    most = max(1, min(LANES // each, LABELS // max(1, kept * each * itemsize), _blocks()))
    batches = -(-groups // most)
    return each * -(-groups // batches)


def _widest(pitch: int, itemsize: int) -> int:
    """Return the most sources that a thread has in any launch.

    It may be more than `_width` of the sources: 100 sources of float32 have a pitch of 128, a warp of 4 a thread.
    """
    return 1 if pitch % (32 * 16 // itemsize) else 16 // itemsize


def _members(pitch: int, itemsize: int) -> int:
    """Return the most warps that share a group of sources, in any launch."""
    blocks = cuda_attribute("MultiProcessorCount") * _BLOCKS
    return -(-blocks * 32 * _widest(pitch, itemsize) // pitch) + _WARPS


class _Launch(NamedTuple):
    """A launch of `descend`: sources of a thread, blocks, and bytes of shared memory."""

    width: int
    blocks: int
    shared: int


def _shared(rows: int, width: int, itemsize: int, radii: int) -> int:
    """Return the bytes of shared memory of a block of `descend` for a stack of so many rows."""
    return _ROOM * GROUP * (4 + itemsize) + 32 * width * (rows * itemsize + max(0, radii - _FIRST) * 4)


def _launch(name: str, stage: Stage, pitch: int, itemsize: int, radii: int) -> _Launch:
    """Return the launch of a stage: a thread has several sources unless one each keeps no block waiting.

    `name` is that of the kernel, but for its width.
    """
    processors = cuda_attribute("MultiProcessorCount")
    room = cuda_attribute("MaxSharedMemoryPerMultiprocessor")

    def launch(width: int) -> tuple[_Launch, int]:
        """Return the launch for so many sources of a thread, and how many blocks are resident."""
        shared = _shared(stage.rows, width, itemsize, radii)
        registers = 32 * cuda_function(SOURCE, name.format(width)).num_regs
        resident = processors * min(_BLOCKS, room // (shared + _RESERVED), _REGISTERS // registers)
        tasks = stage.pieces * (pitch // (32 * width))
        return _Launch(width, min(tasks, resident), shared), resident

    narrow, resident = launch(1)
    widest = _widest(pitch, itemsize)
    if narrow.blocks < resident or widest == 1:
        return narrow
    wide, _ = launch(widest)
    return wide if wide.blocks else narrow


#: A pointer to nothing.
_NONE = np.intp(0)


class _Asked(NamedTuple):
    """The last arguments of the kernels that sweep; see the source."""

    times: Any
    limit: Any
    radii: Any
    number: np.int32
    greatest: Any
    reached: Any
    total: Any
    inverse: Any
    within: Any

    def purpose(self) -> str:
        """Return which of `_PURPOSES` this is."""
        measures = {"GREATEST": self.greatest, "REACHED": self.reached, "TOTAL": self.total, "INVERSE": self.inverse}
        names = [name for name, rows in measures.items() if rows is not _NONE]
        purpose = " | ".join([*names, "WITHIN"] if self.number else names)
        return purpose if purpose in _PURPOSES else _ANY


def _bound(limit: float, up: Array, down: Array) -> Any:
    """Return the length beyond which no path leads within the limit; infinity if there may be one by any."""
    dtype = np.dtype(up.dtype)
    infinite = dtype.type(kernel_infinity(dtype))
    most = infinite - 1 if dtype.kind == "i" else np.finfo(dtype).max
    ends = limit < most and len(up) and up.min() >= 0 and (down is up or down.min() >= 0)
    return dtype.type(limit) if ends else infinite


def _lengths(down: Array) -> Array:
    """Return the lengths of entries, and those of `ZERO` and `INFINITE`, which count from the end."""
    xp, dtype = of(down).xp, np.dtype(down.dtype)
    return xp.append(down, xp.array([0, kernel_infinity(dtype)], dtype))


def _sweep_batches(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    lengths: Array,
    sources: Array,
    schedule: Schedule,
    limit: float,
    asked: _Asked | None,
    use: Callable[[Array, Array, Array], None],
) -> None:
    """Sweep for one batch of sources after the other, to measure what is asked or else to keep labels.

    `lengths` are those that `_lengths` returns. After the launches of a batch, ``use(numbers, starts, labels)``
    launches what reads it: `numbers`, int32, are those of the batch's sources, `starts` the sources, and -1 beyond the
    last one, and `labels` has a column for each of these. If labels are kept, and those of two batches fit the free
    memory, one batch is swept on a stream of its own while the other's labels are read, as the top of the tree keeps
    few warps busy.
    """
    device, dtype = of(up), np.dtype(up.dtype)
    xp, t = device.xp, _TYPES[dtype]
    steps, spans, pieces, outer, rows, entry, heads = schedule.parts[:_DIVIDED]
    vertices, stages = schedule.vertices, schedule.stages
    kept = _kept(schedule, asked is not None)
    height, count = tree.height, len(sources)
    pitch = _pitch(kept, count, dtype.itemsize)
    batches = -(-count // pitch)
    slots = 1  # batches that have labels at a time
    if asked is None and batches > 1:
        ahead = pitch * kept * dtype.itemsize
        needed = workspace_bytes(tree, entries, schedule, count, dtype.itemsize, False) + ahead
        slots += device.available_memory() > needed
    labels, climbs = xp.empty((slots, kept, pitch), dtype), xp.empty((pitch, height), dtype)
    if len(vertices) == 0:  # a leaf without an upper neighbour reads a label all the same
        labels.fill(kernel_infinity(dtype))
    arrived, turns = xp.zeros(1, np.uint32), xp.zeros((batches, len(stages), pitch // 32), np.int32)
    # Sources that are near each other in the tree pass the same pieces over.
    order = xp.argsort(sources).astype(np.int32)
    some = xp.full((batches, pitch), -1, np.int32)
    some.ravel()[:count] = sources[order]
    bound = _bound(limit, up, down)
    last = asked or _Asked(_NONE, dtype.type(0), _NONE, np.int32(0), _NONE, _NONE, _NONE, _NONE, _NONE)
    above = stages[0].place if stages else len(vertices)
    of_groups = lengths[entry]
    if asked:
        of_groups.view(np.int32)[heads, 0] = asked.times[above:]
    name = f"descend<{t}, {{}}, {asked.purpose() if asked else _KEEP}>"
    radii = int(last.number)
    launches = [_launch(name, stage, pitch, dtype.itemsize, radii) for stage in stages]
    if above:
        where = xp.empty(len(tree.depth), np.int32)
        where[vertices] = xp.arange(len(vertices), dtype=np.int32)

    def sweep_one(batch: int, labels: Array) -> Array:
        numbers = order[batch * pitch : (batch + 1) * pitch]
        upward = some[batch], np.int32(len(numbers)), tree.parent, tree.depth, entries.begin, entries.depth, up
        climb = cuda_function(SOURCE, f"climb<{t}>")
        climb((-(-len(numbers) // _WARPS),), (_THREADS,), (*upward, climbs, np.int32(height), bound))
        of_sources = some[batch], climbs, np.int32(height), labels, np.int32(pitch)
        if above:
            sweep_name = f"sweep<{t}, {_width(count, dtype.itemsize)}, {_ANY if asked else _KEEP}>"
            kernel = cuda_function(SOURCE, sweep_name, cooperative=True)
            of_tree = where, tree.depth, tree.size, entries.begin, entries.upper, down
            arguments = vertices, steps, np.int32(len(steps) - 1), *of_tree, *of_sources, arrived, *last
            kernel((_blocks(),), (_THREADS,), arguments)
        for stage, (width, blocks, shared), turn in zip(stages, launches, turns[batch], strict=True):
            kernel = cuda_function(SOURCE, name.format(width), shared=cuda_attribute("MaxSharedMemoryPerBlockOptin"))
            kernel.preferred_shared_memory_carveout = 100
            of_stage = pieces[stage.piece :], np.int32(stage.pieces), outer, rows, of_groups, turn, np.int32(stage.rows)
            whole = *of_stage, np.int32(kept), bound, spans, *of_sources, *last
            kernel((launched_blocks(blocks),), (32,), whole, shared_mem=shared)
        return numbers

    current = device.current_stream()
    sweeping = current if slots == 1 else device.stream()
    used = [current.record()] * slots
    try:
        for batch in range(batches):
            slot = batch % slots
            sweeping.wait_event(used[slot])
            with sweeping:
                numbers = sweep_one(batch, labels[slot])
            current.wait_event(sweeping.record())
            use(numbers, some[batch], labels[slot])
            used[slot] = current.record()
    finally:  # labels are freed in the order of the current stream
        current.wait_event(sweeping.record())


def sweep(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Schedule,
    limit: float,
    D: Array,
) -> None:
    if not D.size:
        return
    dtype, result, columns = np.dtype(up.dtype), np.dtype(D.dtype), D.shape[1]
    kernel = cuda_function(SOURCE, f"gather<{_TYPES[dtype]}, {_TYPES[result]}>")
    bounds = dtype.type(limit), result.type(infinity(result))
    leading = np.int64(D.strides[0] // D.itemsize)
    wide, high = _TILE_BYTES // dtype.itemsize * _SQUARE, _TILE_SOURCES * _SQUARE  # of a square
    first, place, entry, leaf = schedule.parts[_DIVIDED:]
    lengths = _lengths(down)
    added = lengths[entry]

    def gather(numbers: Array, starts: Array, labels: Array) -> None:
        for low in range(0, columns, MOST_SQUARES * wide):
            count = min(columns - low, MOST_SQUARES * wide)
            grid = _SQUARE * _SQUARE, -(-count // wide), -(-len(numbers) // high)
            of_columns = labels, np.int32(labels.shape[1]), first[low:], place, added, leaf[low:], np.int32(count)
            of_rows = starts, numbers, np.int32(len(numbers)), *bounds, D[:, low:], leading
            kernel(grid, (_THREADS,), (*of_columns, *of_rows))

    _sweep_batches(tree, entries, up, down, lengths, sources, schedule, limit, None, gather)


def measure(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Schedule,
    times: Array,
    limit: float,
    radii: np.ndarray,
    measures: Measures,
) -> None:
    for low in range(0, max(len(radii), 1), _RADII):
        some = slice(low, low + _RADII)
        _measure(
            *(tree, entries, up, down, sources, schedule, times, limit, radii[some]),
            measures._replace(within=measures.within[:, some]),
        )
        none = measures.greatest[:0]
        measures = Measures(none, none, none, none, measures.within)


def _measure(
    tree: Tree,
    entries: Entries,
    up: Array,
    down: Array,
    sources: Array,
    schedule: Schedule,
    times: Array,
    limit: float,
    radii: np.ndarray,
    measures: Measures,
) -> None:
    """Measure as `measure` does, within as many radii as a launch takes."""
    device, dtype = of(up), np.dtype(up.dtype)
    xp = device.xp
    pitch = _pitch(_kept(schedule, True), len(sources), dtype.itemsize)
    members = _members(pitch, dtype.itemsize)
    greatest, sums = xp.full((members, pitch), -np.inf), xp.zeros((3, members, pitch))
    within = xp.zeros((members, len(radii), pitch), np.int32)
    wanted = [part if len(measure) else _NONE for part, measure in zip((greatest, *sums), measures[:4], strict=True)]
    if any(len(measure) for measure in measures[2:4]):
        wanted[1] = sums[0]
    asked = _Asked(
        *(times, dtype.type(limit), device.asarray(without_tiny(radii)), np.int32(len(radii)), *wanted, within)
    )

    def add_up(numbers: Array, _starts: Array, _labels: Array) -> None:
        count = len(numbers)
        found = greatest.max(axis=0), *sums.sum(axis=1)
        for part, all_of_it in zip(found, measures[:4], strict=True):
            if len(all_of_it):
                all_of_it[numbers] = part[:count]
        if len(radii):
            measures.within[numbers] = within.sum(axis=0).T[:count]
        greatest.fill(-np.inf)
        sums.fill(0)
        within.fill(0)

    _sweep_batches(tree, entries, up, down, _lengths(down), sources, schedule, limit, asked, add_up)
