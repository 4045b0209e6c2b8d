"""Launches of the kernels of ``kernels/routes.cu``: the operations of `mgraph.kernels.routes.host`."""

import numpy as np

from ...arrays import Array
from ...device import cuda_function
from ..hierarchy.ops import Entries, Tree
from .ops import Climbs

SOURCE = "routes.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = tuple(f"{kernel}<{t}>" for kernel in ("climb", "meet") for t in _TYPES.values())

#: As in the source.
_THREADS, _WARPS = 256, 8


def climb(vertices: Array, tree: Tree, entries: Entries, lengths: Array, climbs: Climbs) -> None:
    """Write the climbs from vertices, which ascend; a GPU writes no entries."""
    kernel = cuda_function(SOURCE, f"climb<{_TYPES[np.dtype(lengths.dtype)]}>")
    of_tree = tree.parent, tree.depth, entries.begin, entries.depth, lengths
    of_climbs = climbs.first, climbs.vertex, climbs.label
    kernel(_grid(len(vertices)), (_THREADS,), (vertices, np.int32(len(vertices)), *of_tree, *of_climbs))


def workspace_bytes(vertices: int, tree: Tree, itemsize: int, entrysize: int) -> int:
    """Return the bytes that `climb` allocates."""
    return 0


def meet(sources: Array, targets: Array, there: Climbs, back: Climbs, D: Array, turn: Array) -> None:
    """D[i] = the length of the shortest path of pair i; turn[i] = the depth at which it turns, or -1."""
    kernel = cuda_function(SOURCE, f"meet<{_TYPES[np.dtype(D.dtype)]}>")
    climbs = there.first, there.vertex, there.label, back.first, back.vertex, back.label
    turns = turn if len(turn) else np.uintp(0)
    kernel(_grid(len(D)), (_THREADS,), (sources, targets, np.int32(len(D)), *climbs, D, turns))


def _grid(count: int) -> tuple[int]:
    return (-(-count // _WARPS),)
