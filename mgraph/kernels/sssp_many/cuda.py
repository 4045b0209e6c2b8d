"""Launches of the kernels of ``kernels/sssp_many.cu``: the operations of `mgraph.kernels.sssp_many.host`."""

from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from ..edges import Adjacency, WeightedAdjacency

SOURCE = "sssp_many.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = tuple(
    expression
    for t in _TYPES.values()
    for expression in (
        f"transpose<{t}>",
        f"unshift<{t}>",
        *(f"{kernel}<{t}, {o}>" for kernel in ("distances", "predecessors", "plateaus") for o in ("int", "long long")),
    )
)

#: As in the source: threads per block, blocks per multiprocessor, bytes in a row of labels, and rows for which a
#: thread finds predecessors.
_THREADS, _RESIDENT, _ROW, _ROWS = 512, 2, 512, 8

#: Bytes of labels in a batch: a share of the whole result, so that the rows of one batch can be copied while the next
#: is searched, but enough slices to fill the device; measured (benchmarks/NOTES.md).
_SHARE, _LEAST_LABELS, _MOST_LABELS = 128, 128 << 20, 1 << 30

#: The fewest columns of a bitmap: many for each warp of any device, so that warps have about equal work.
_COLUMNS = 1 << 16


class Layout(NamedTuple):
    """The edges as they are."""

    by_source: Adjacency
    by_target: WeightedAdjacency


def layout(by_source: Adjacency, by_target: WeightedAdjacency) -> Layout:
    return Layout(by_source, by_target)


def layout_bytes(n: int, m: int, itemsize: int, directed: bool) -> int:
    return 0


class Workspace(NamedTuple):
    """The buffers of `distances`."""

    labels: Array
    stamps: Array
    bitmaps: Array
    control: Array


def batch_size(n: int, itemsize: int) -> int:
    """Return how many sources to search from at a time: whole slices."""
    labels = min(max(n * n * itemsize // _SHARE, _LEAST_LABELS), _MOST_LABELS)
    return _lanes(itemsize) * max(1, labels // max(1, n * _ROW))


def _lanes(itemsize: int) -> int:
    return _ROW // itemsize


def _items(n: int, sources: int, itemsize: int) -> int:
    return -(-sources // _lanes(itemsize)) * (n | 1)


def _columns(items: int) -> int:
    return max(_COLUMNS, 1 << (-(-items // 32) - 1).bit_length())


def workspace(xp: Any, n: int, sources: int, dtype: np.dtype) -> Workspace:
    items = _items(n, sources, dtype.itemsize)
    return Workspace(
        labels=xp.empty((items, _lanes(dtype.itemsize)), dtype),
        stamps=xp.empty(items, np.int32),
        bitmaps=xp.empty((3, _columns(items)), np.uint32),
        control=xp.empty(4, np.int32),
    )


def workspace_bytes(n: int, sources: int, itemsize: int) -> int:
    items = _items(n, sources, itemsize)
    return items * (_ROW + 4) + 12 * _columns(items)


def _leading(matrix: Array) -> np.int64:
    return np.int64(matrix.strides[0] // matrix.itemsize)


def _names(matrix: Array, indptr: Array) -> str:
    return f"{_TYPES[np.dtype(matrix.dtype)]}, {'int' if indptr.dtype == np.int32 else 'long long'}"


def distances(
    D: Array,
    sources: Array,
    edges: Layout,
    window: float,
    end: float,
    work: Workspace,
) -> None:
    """D[r, v] = the length of the shortest path from vertex sources[r] to v if it is less than `end`, else infinity.

    Distances within `window` of each other are settled together; this affects the work, never the result.
    """
    rows, n = D.shape
    if not D.size:
        return
    kernel = cuda_function(SOURCE, f"distances<{_names(D, edges.by_target[0])}>", cooperative=True)
    work.control.fill(0)
    if D.dtype.kind == "f":
        end = max(end, float(np.finfo(D.dtype).tiny))  # CuPy's kernels take smaller floats for zero
    arguments = (
        *(*edges.by_source, *edges.by_target, np.int32(n), D.dtype.type(min(window, end)), D.dtype.type(end)),
        *(sources, np.int32(rows), work.labels, work.stamps),
        *(work.bitmaps, np.int32(work.bitmaps.shape[1]), work.control),
    )
    kernel((cuda_attribute("MultiProcessorCount") * _RESIDENT,), (_THREADS,), arguments)
    transpose = cuda_function(SOURCE, f"transpose<{_TYPES[np.dtype(D.dtype)]}>")
    transpose(
        (-(-n // 32), -(-rows // 32)),
        (256,),
        (work.labels, np.int32(n), np.int32(rows), D.dtype.type(end), D, _leading(D)),
    )


def unshift(D: Array, sources: Array, h: Array) -> None:
    rows, n = D.shape
    if not D.size:
        return
    kernel = cuda_function(SOURCE, f"unshift<{_TYPES[np.dtype(D.dtype)]}>")
    arguments = (D, _leading(D), np.int32(rows), np.int32(n), sources, h)
    kernel((-(-n // 256), min(rows, 65535)), (256,), arguments)


def predecessors(D: Array, sources: Array, by_target: WeightedAdjacency, P: Array) -> None:
    """P[r, v] = the vertex before v on a shortest path from sources[r], -9999 if there is none.

    Plateaus, vertices joined by edges of weight zero, are settled by a second kernel; see the declaration.
    """
    rows, n = D.shape
    if not D.size:
        return
    names = _names(D, by_target[0])
    edges = *by_target, P, _leading(P)
    kernel = cuda_function(SOURCE, f"predecessors<{names}>")
    arguments = (D, _leading(D), np.int32(rows), np.int32(n), sources, *edges)
    kernel((-(-n // 256), min(-(-rows // _ROWS), 65535)), (256,), arguments)
    kernel = cuda_function(SOURCE, f"plateaus<{names}>")
    kernel((rows,), (1024,), (D, _leading(D), np.int32(n), sources, *edges))
