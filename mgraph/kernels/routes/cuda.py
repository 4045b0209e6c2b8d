"""Launches of the kernels of ``kernels/routes.cu``: the operations of `mgraph.kernels.routes.host`."""

import numpy as np

from ...arrays import Array
from ...device import cuda_function
from ...dtypes import infinity
from ..hierarchy.ops import Entries, Tree
from .ops import Climbs

SOURCE = "routes.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
_SUMS = {np.dtype(np.float64): "double", np.dtype(np.int64): "long long"}
INSTANCES = (
    *(f"{kernel}<{t}>" for kernel in ("climb", "meet") for t in _TYPES.values()),
    *(f"{kernel}<{t}>" for kernel in ("carry", "join") for t in _SUMS.values()),
    "push",
)

#: As in the source.
_THREADS, _WARPS, _EACH = 256, 8, 32


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


def carry(depth: Array, climbs: Climbs, down: int, sums: Array, carried: Array) -> None:
    kernel = cuda_function(SOURCE, f"carry<{_SUMS[np.dtype(sums.dtype)]}>")
    count = len(climbs.first) - 1
    arguments = depth, np.int32(count), climbs.first, climbs.entry, np.int32(down), sums, carried
    kernel((-(-count // _EACH),), (_EACH,), arguments)


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
    cuda_function(SOURCE, "push")((-(-count // _EACH),), (_EACH,), arguments)


def _grid(count: int) -> tuple[int]:
    return (-(-count // _WARPS),)
