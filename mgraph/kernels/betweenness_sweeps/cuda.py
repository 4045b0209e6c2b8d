"""Launches of the kernels of ``kernels/betweenness_sweeps.cu``, as `mgraph.kernels.betweenness_sweeps.host` does it."""

from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks
from ...device.cuda import cupy
from ...dtypes import kernel_infinity
from ..betweenness import LARGE
from . import GROUP, GROUPS, Numbers, Sums

SOURCE = "betweenness_sweeps.cu"

INSTANCES = ("climb", "sweep")

#: As in the source: threads of a block, blocks of a multiprocessor, and lanes of a group.
_THREADS, _RESIDENT, _LANES = 256, 3, GROUP

#: The most groups that are swept at a time, and the most bytes of their rows of vertices, if there are two or more.
_GROUPS, _ROWS = GROUPS, 12 << 30

_FAR = int(kernel_infinity(np.dtype(np.int32)))

#: Bytes of a lane of a row: a distance, a number of paths and an adjoint.
_A_LANE = 20


class _Placed(NamedTuple):
    """What the kernels read of a hierarchy.

    Attributes
    ----------
    tree : tuple of array of int32
        Parents, depths, sizes of subtrees, the vertices by depth, and where each depth begins.
    entries : tuple of array of int32
        `begin`, `upper` and `depth` of `Entries`, and all of `Lower`.
    lengths : tuple of array
        Lengths up and down, and numbers of paths up and down.
    both : bool
        Whether the lengths up and down differ.
    countable : bool
        Whether no number of paths of an entry is too large.
    """

    tree: tuple[Array, ...]
    entries: tuple[Array, ...]
    lengths: tuple[Array, ...]
    both: bool
    countable: bool


def placed(numbers: Numbers) -> _Placed:
    """Return what the kernels read of a hierarchy."""
    tree, entries, lower, xp = numbers.tree, numbers.entries, numbers.lower, cupy()
    order = np.argsort(tree.depth, kind="stable").astype(np.int32)
    levels = np.searchsorted(tree.depth[order], np.arange(tree.height + 1)).astype(np.int32)
    lists = entries.begin, entries.upper, entries.depth, lower.begin, lower.vertex, lower.entry
    both, ways = numbers.down is not numbers.up, ((numbers.up, numbers.paths_up), (numbers.down, numbers.paths_down))
    there = [tuple(map(xp.asarray, way)) for way in ways[: 1 + both]]
    (up, paths_up), (down, paths_down) = there[0], there[-1]
    return _Placed(
        tuple(map(xp.asarray, (tree.parent, tree.depth, tree.size, order, levels))),
        tuple(xp.asarray(part.astype(np.int32, copy=False)) for part in lists),
        (up, down, paths_up, paths_down),
        both,
        all(paths.max(initial=0.0) <= LARGE for _, paths in ways),
    )


def prepared_bytes(n: int, entries: int, directed: bool) -> int:
    """Return the bytes that `placed` allocates: of lists, lengths and numbers of paths."""
    return 28 * n + (16 + 12 * (1 + directed)) * entries


def swept_bytes(n: int, entries: int, height: int, sources: int, cores: int, directed: bool) -> int:
    """Return the bytes that `sweep` allocates: rows of vertices and of depths, and the sums of groups."""
    groups = _groups(n, sources)
    sums = 8 * (n + (1 + directed) * entries)
    return groups * _LANES * (_A_LANE * (n + height) + 4) + (groups + 1) * sums + n


def _groups(n: int, sources: int) -> int:
    """Return how many groups are swept at a time, the same for all numbers of sources that have as many or more."""
    return max(1, min(_GROUPS, -(-sources // _LANES), _ROWS // (_LANES * _A_LANE * max(1, n))))


def sweep(
    placed: _Placed,
    sources: np.ndarray,
    targets: np.ndarray,
    limit: int,
    endpoints: bool,
    directed: bool,
) -> Sums | None:
    """Return what sweeps from some sources add up; None if a number of paths is too large."""
    if not placed.countable:
        return None
    xp, n, groups, apart = cupy(), len(targets), _groups(len(targets), len(sources)), directed or placed.both
    parent, depth, size, order, levels = placed.tree
    begin, upper, above, *lower = placed.entries
    up, _, paths_up, _ = placed.lengths
    height, count = len(levels) - 1, len(up)
    rows, climbs = (_rows(xp, length, groups * _LANES) for length in (n, height))
    vertices, carried = xp.zeros((groups, n)), xp.zeros((1 + apart, groups, count))
    trouble, wanted = xp.zeros(2, np.int32), xp.asarray(targets)
    climbing, sweeping = cuda_function(SOURCE, "climb"), cuda_function(SOURCE, "sweep", cooperative=True)
    blocks = launched_blocks(_RESIDENT * cuda_attribute("MultiProcessorCount"))
    ascending = np.sort(sources).astype(np.int32)
    for first in range(0, len(ascending), groups * _LANES):
        some = ascending[first : first + groups * _LANES]
        used = -(-len(some) // _LANES)
        lanes = np.full(used * _LANES, n, np.int32)
        lanes[: len(some)] = some
        own, pitch = xp.asarray(lanes), np.uint64(len(lanes))
        upwards = parent, depth, begin, above, up, paths_up, own, np.int32(len(some)), pitch, *climbs
        climbing((-(-len(some) * 32 // _THREADS),), (_THREADS,), upwards)
        asked = own, wanted, np.int32(used), np.int32(min(limit, _FAR - 1)), np.bool_(endpoints)
        arguments = (
            *(np.int32(n), np.int32(height), depth, size, order, levels, begin, upper, above, *lower),
            *(np.uint32(count), *placed.lengths, *asked, *rows, *climbs),
            *(vertices, carried[0], carried[-1], trouble[:1], trouble[1:]),
        )
        sweeping((blocks,), (_THREADS,), arguments)
    if int(trouble[0]):
        return None
    found = [devices.to_host(part.sum(axis=0)) for part in (vertices, *carried)]
    return Sums(found[0], found[1], found[-1])


def _rows(xp: Any, length: int, lanes: int) -> tuple[Array, Array, Array]:
    """Return rows of lanes: distances, numbers of paths and adjoints."""
    shape = length, lanes
    return xp.empty(shape, np.int32), xp.empty(shape), xp.empty(shape)
