"""Launching the kernels of ``kernels/sssp.cu``; the operations are those of `mgraph.host.sssp`."""

from typing import Any, NamedTuple

import numpy as np

from ..device import cuda_attribute, cuda_function

SOURCE = "sssp.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = tuple(
    expression
    for t in _TYPES.values()
    for expression in (
        f"turn<{t}>",
        f"unshift<{t}>",
        *(f"{kernel}<{t}, {o}>" for kernel in ("distances", "predecessors", "plateaus") for o in ("int", "long long")),
    )
)

#: As in the source.
_THREADS, _RESIDENT, _LANES, _ROWS = 512, 3, 32, 8

#: Bytes of labels that a batch of sources shall have: about what stays in the L2 (benchmarks/NOTES.md).
_LABELS = 32 << 20

#: The most warps that `distances` is launched with, on any device.
_WARPS = 1 << 14

Array = Any


class Workspace(NamedTuple):
    """What `distances` needs beside the graph."""

    labels: Array
    stamps: Array
    asked: Array
    control: Array


def batch_size(n: int, itemsize: int) -> int:
    """Return how many sources to search from at a time: as many slices as the labels have room for."""
    return _LANES * max(1, _LABELS // max(1, n * _LANES * itemsize))


def workspace(xp: Any, n: int, sources: int, dtype: np.dtype) -> Workspace:
    """Return the arrays for batches of up to `sources` sources."""
    items = -(-sources // _LANES) * n
    return Workspace(
        labels=xp.empty((items, _LANES), dtype),
        stamps=xp.empty(items, np.int32),
        asked=xp.empty((2, -(-items // 32) + _WARPS), np.uint32),
        control=xp.empty(4, np.int32),
    )


def workspace_bytes(n: int, sources: int, itemsize: int) -> int:
    """Return the bytes of `workspace`."""
    items = -(-sources // _LANES) * n
    return items * (_LANES * itemsize + 4) + 8 * (-(-items // 32) + _WARPS)


def _leading(matrix: Array) -> np.int64:
    return np.int64(matrix.strides[0] // matrix.itemsize)


def _names(matrix: Array, indptr: Array) -> str:
    return f"{_TYPES[np.dtype(matrix.dtype)]}, {'int' if indptr.dtype == np.int32 else 'long long'}"


def distances(
    D: Array,
    first: int,
    out_indptr: Array,
    out_indices: Array,
    in_indptr: Array,
    in_indices: Array,
    weights: Array,
    work: Workspace,
) -> None:
    """D[r, v] = the length of the shortest path from vertex first + r to v."""
    rows, n = D.shape
    if not D.size:
        return
    kernel = cuda_function(SOURCE, f"distances<{_names(D, in_indptr)}>", cooperative=True)
    work.control.fill(0)
    arguments = (
        *(out_indptr, out_indices, in_indptr, in_indices, weights, np.int32(n), np.int32(first), np.int32(rows)),
        *(work.labels, work.stamps, work.asked, work.control),
    )
    kernel((cuda_attribute("MultiProcessorCount") * _RESIDENT,), (_THREADS,), arguments)
    turn = cuda_function(SOURCE, f"turn<{_TYPES[np.dtype(D.dtype)]}>")
    turn((-(-n // 32), -(-rows // 32)), (256,), (work.labels, np.int32(n), np.int32(rows), D, _leading(D)))


def unshift(D: Array, first: int, h: Array) -> None:
    """D[r, v] += h[v] - h[first + r] where v is reached."""
    rows, n = D.shape
    if not D.size:
        return
    kernel = cuda_function(SOURCE, f"unshift<{_TYPES[np.dtype(D.dtype)]}>")
    arguments = (D, _leading(D), np.int32(rows), np.int32(n), np.int32(first), h)
    kernel((-(-n // 256), min(rows, 65535)), (256,), arguments)


def predecessors(D: Array, first: int, in_indptr: Array, in_indices: Array, weights: Array, P: Array) -> None:
    """P[r, v] = the vertex before v on a shortest path from first + r, -9999 if there is none.

    The least of those nearer to the source; where all are as far, edges of weight zero are followed from
    those that have predecessors. D must be exact, a minimum over sums D[r, u] + weight.
    """
    rows, n = D.shape
    if not D.size:
        return
    names = _names(D, in_indptr)
    edges = in_indptr, in_indices, weights, P, _leading(P)
    kernel = cuda_function(SOURCE, f"predecessors<{names}>")
    arguments = (D, _leading(D), np.int32(rows), np.int32(n), np.int32(first), *edges)
    kernel((-(-n // 256), min(-(-rows // _ROWS), 65535)), (256,), arguments)
    kernel = cuda_function(SOURCE, f"plateaus<{names}>")
    kernel((rows,), (1024,), (D, _leading(D), np.int32(n), np.int32(first), *edges))
