"""Launches of the kernels of ``kernels/routes.cu``: the operations of `mgraph.kernels.routes.host`."""

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks, of
from ...dtypes import infinity
from ..hierarchy.ops import Entries, Tree
from .ops import Climbs, Parts

SOURCE = "routes.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
_VERTICES = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
_SUMS = {np.dtype(np.float64): "double", np.dtype(np.int64): "long long"}
INSTANCES = (
    *(f"rank<{t}>" for t in _VERTICES.values()),
    *(f"{kernel}<{t}>" for kernel in ("climb", "meet", "meet_table") for t in _TYPES.values()),
    *(f"{kernel}<{t}>" for kernel in ("carry", "join") for t in _SUMS.values()),
    *(f"add_up<{t}, {v}>" for t in _SUMS.values() for v in _VERTICES.values()),
    "push",
)

#: The most pairs of a table of distances that are joined from climbs: a sweep to chosen targets, which the host
#: prepares, takes 40 ms or more (benchmarks/NOTES.md).
JOINED = 1 << 30

#: Pairs that are joined at a time: some launches, and 64 bytes of memory a pair.
BATCH = 1 << 22

#: As in the source.
_THREADS, _WARPS, _WARP, _TILE = 256, 8, 32, 64


def rank(vertices: Array, rank_of: Array, ranks: Array, wrong: Array) -> None:
    """ranks[i] = rank_of[vertices[i]]; wrong[0] becomes 1 if a number is no vertex."""
    kernel = cuda_function(SOURCE, f"rank<{_VERTICES[np.dtype(vertices.dtype)]}>")
    count, n = np.int64(len(vertices)), np.int32(len(rank_of))
    kernel((-(-len(vertices) // _THREADS),), (_THREADS,), (vertices, count, rank_of, n, ranks, wrong))


def climb(vertices: Array, tree: Tree, entries: Entries, lengths: Array, climbs: Climbs) -> None:
    kernel = cuda_function(SOURCE, f"climb<{_TYPES[np.dtype(lengths.dtype)]}>")
    of_tree = tree.parent, tree.depth, entries.begin, entries.depth, lengths
    of_climbs = climbs.first, climbs.vertex, climbs.label, climbs.entry if len(climbs.entry) else np.uintp(0)
    kernel(_grid(len(vertices)), (_THREADS,), (vertices, np.int32(len(vertices)), *of_tree, *of_climbs))


def workspace_bytes(vertices: int, tree: Tree, itemsize: int, entrysize: int) -> int:
    return 0


def meet(sources: Array, targets: Array, there: Climbs, back: Climbs, D: Array, turn: Array) -> None:
    kernel = cuda_function(SOURCE, f"meet<{_TYPES[np.dtype(D.dtype)]}>")
    climbs = there.first, there.vertex, there.label, back.first, back.vertex, back.label
    turns = turn if len(turn) else np.uintp(0)
    kernel(_grid(len(D)), (_THREADS,), (sources, targets, np.int32(len(D)), *climbs, D, turns))


def meet_table(rows: Array, columns: Array, there: Climbs, back: Climbs, D: Array, turn: Array) -> None:
    """D[i, j] and turn[i, j] = what `meet` writes of the pair of rows[i] and columns[j]."""
    height, width = len(rows), len(columns)
    kernel = cuda_function(SOURCE, f"meet_table<{_TYPES[np.dtype(D.dtype)]}>")
    climbs = there.first, there.vertex, there.label, back.first, back.vertex, back.label
    arguments = rows, np.int32(height), columns, np.int32(width), *climbs, D, turn
    kernel((-(-width // _TILE), -(-height // _TILE)), (_THREADS,), arguments)


def add_up(parts: Parts, stages: tuple[Array, ...], values: Array, sums: Array) -> None:
    if not len(sums):
        return
    order, _, levels = stages
    instance = f"add_up<{_SUMS[np.dtype(sums.dtype)]}, {_VERTICES[np.dtype(parts.ways.dtype)]}>"
    kernel = cuda_function(SOURCE, instance, cooperative=True)
    arguments = order, levels, np.int32(len(levels) - 1), parts.ways, values, sums, of(sums).xp.zeros(1, np.uint32)
    kernel((launched_blocks(cuda_attribute("MultiProcessorCount")),), (_THREADS,), arguments)


def carry(depth: Array, climbs: Climbs, down: int, sums: Array, carried: Array) -> None:
    kernel = cuda_function(SOURCE, f"carry<{_SUMS[np.dtype(sums.dtype)]}>")
    count = len(climbs.first) - 1
    arguments = depth, np.int32(count), climbs.first, climbs.entry, np.int32(down), sums, carried
    kernel((-(-count // _WARP),), (_WARP,), arguments)


def join(
    sources: Array,
    targets: Array,
    turn: Array,
    firsts: tuple[Array, Array],
    carried: tuple[Array, Array],
    totals: Array,
) -> None:
    dtype = np.dtype(totals.dtype)
    kernel = cuda_function(SOURCE, f"join<{_SUMS[dtype]}>")
    count, none = len(totals), dtype.type(infinity(dtype))
    arguments = sources, targets, turn, np.int32(count), *firsts, *carried, none, totals
    kernel((-(-count // _THREADS),), (_THREADS,), arguments)


def push(depth: Array, climbs: Climbs, down: int, amounts: Array, load: Array) -> None:
    count = len(climbs.first) - 1
    arguments = depth, np.int32(count), climbs.first, climbs.entry, np.int32(down), amounts, load
    cuda_function(SOURCE, "push")((-(-count // _WARP),), (_WARP,), arguments)


def _grid(count: int) -> tuple[int]:
    return (-(-count // _WARPS),)
