"""A shard's part of a distance matrix: cut from the input, filled on its device, decoded into a result.

Every all-pairs method that works on a matrix uses this module to load and to collect. With the distances `D` there may
be labels `P` of the same shape: predecessors, or intermediate vertices (the highest on each path).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..arrays import Array, chunk_rows, places_on
from ..dtypes import NO_PREDECESSOR, distance_range, infinity, kernel_infinity, out_of_range
from ..errors import NegativeCycleError
from ..graph import Compressed, Graph, StoredMatrix, in_turn
from ..graph.potentials import kept_lengths
from ..graph.vertex_range import VertexRange
from ..graph.weights import decode, encode
from ..kernels import minplus as minplus_kernels
from ..planning.plan import Plan
from ..runtime.communicator import Communicator
from ..runtime.gathering import Whole
from .plan import MatrixDetail

#: The value for "no pivot found on a negative cycle".
NO_CYCLE = np.iinfo(np.int32).max


class Part(NamedTuple):
    """A shard's part of the input: a rectangle of a distance matrix, or the edges from its rows to its columns.

    If predecessors are derived from distances, `incoming` holds all edges of the graph by target. If the edges are
    `encoded`, their weights are those that the kernels compute with.
    """

    dense: Array | None
    edges: Compressed | None
    incoming: Compressed | None = None
    encoded: bool = False


def kept_part(graph: Graph, plan: Plan[MatrixDetail], place: devices.Device) -> Callable[[int], Part]:
    """Return a function to the part of a device that has no others beside it: edges that the graph keeps there."""

    def part(shard: int) -> Part:
        dtype = np.dtype(plan.detail.computed)
        lengths = kept_lengths(graph, "csr", dtype, place)
        return Part(None, Compressed(*graph.layout("csr", place), lengths), encoded=True)

    return part


def parts(graph: Graph, plan: Plan[MatrixDetail]) -> Callable[[int], Part]:
    """Return a function from a shard to its part of the graph."""

    def part(shard: int) -> Part:
        first, last = plan.ranges[shard]
        left, right = plan.detail.columns[shard]
        if graph.dense is not None:
            return Part(graph.dense[first:last, left:right], None)
        indptr, indices, weights = graph.compressed("csr")
        start, end = int(indptr[first]), int(indptr[last])
        offsets = indptr[first : last + 1] - indptr[first]
        targets, lengths = indices[start:end], None if weights is None else weights[start:end]
        if (left, right) != (0, graph.n):
            xp = devices.of(indptr).xp
            inside = (targets >= left) & (targets < right)
            before = xp.concatenate([xp.zeros(1, offsets.dtype), xp.cumsum(inside, dtype=offsets.dtype)])
            offsets, targets = before[offsets], targets[inside] - np.int32(left)
            lengths = None if lengths is None else lengths[inside]
        return Part(
            None, Compressed(offsets, targets, lengths), graph.compressed("csc") if plan.detail.derived else None
        )

    return part


def gathered_part(
    whole: Whole, plan: Plan[MatrixDetail], part: VertexRange, device: devices.Device, comm: Communicator
) -> Part:
    """Return a shard's part of a graph that lies in ranges of vertices."""
    return parts(whole.graph(part, device, comm), plan)(comm.rank)


def rows_of(part: Part, first: int, last: int) -> Part:
    """Return the rows `first` to `last` - 1 of a part."""
    if part.edges is None:
        assert part.dense is not None
        return Part(part.dense[first:last], None)
    indptr, indices, weights = part.edges
    start, end = int(indptr[first]), int(indptr[last])
    lengths = None if weights is None else weights[start:end]
    return Part(None, Compressed(indptr[first : last + 1] - indptr[first], indices[start:end], lengths))


def empty(rows: int, columns: int, dtype: Any, device: devices.Device) -> Array:
    """Return an uninitialised matrix whose rows are padded to the device's alignment."""
    leading = -(-columns // device.row_alignment) * device.row_alignment
    return device.xp.empty((rows, leading), dtype)[:, :columns]


def fill(
    D: Array, P: Array | None, part: Part, corner: tuple[int, int], device: devices.Device, plan: Plan[MatrixDetail]
) -> None:
    """Write a part of the input to the matrix, and the labels of its edges.

    Parameters
    ----------
    D, P : array
        Distances, and labels if there are any.
    part : Part
        The part to write.
    corner : (int, int)
        The vertices of the first row and the first column.
    device : Device
        The device of `D` and `P`.
    plan : Plan
        Has the type of the distances, and whether labels are predecessors: then an edge's label is its source.
    """
    kernels = minplus_kernels.on(device)
    if part.edges is not None:
        indptr, indices, weights = part.edges
        D.fill(kernel_infinity(np.dtype(D.dtype)))
        lengths = weights if part.encoded else device.xp.ones(len(indices), D.dtype)
        if weights is not None and not part.encoded:
            encode(device.asarray(weights), lengths, device, result=plan.dtype)
        kernels.scatter(D, device.asarray(indptr), device.asarray(indices), lengths)
    elif part.dense is not None:
        _fill_from(part.dense, D, corner, device, plan.dtype)
    _clip_diagonal(D, corner, device)
    if P is not None and plan.predecessors:
        kernels.label_edges(D, *corner, P)
    elif P is not None:
        P.fill(NO_PREDECESSOR)


def _fill_from(matrix: Array, D: Array, corner: tuple[int, int], device: devices.Device, result: str) -> None:
    """Write a matrix to `D`: at once if it is on the device, else as it is, or some rows at a time to convert them."""
    diagonal, stored = corner[0] - corner[1], isinstance(matrix, StoredMatrix)
    if devices.of(matrix) is device and not stored:
        encode(matrix, D, device, diagonal=diagonal, result=result)
    elif matrix.dtype == D.dtype and (stored or (isinstance(matrix, np.ndarray) and _has_rows(matrix))):
        for some, rows in in_turn(matrix) if stored else [(slice(None), matrix)]:
            devices.fill(device, D[some], rows if _has_rows(rows) else np.ascontiguousarray(rows))
            device.synchronize()  # the next rows may take their place
        _clip_diagonal(D, corner, device)
        encode(D, D, device, diagonal=diagonal, result=result)
    else:
        for some, rows in in_turn(matrix):
            encode(device.asarray(rows), D[some], device, diagonal=diagonal + some.start, result=result)


def _has_rows(matrix: np.ndarray) -> bool:
    """Return whether each row of a matrix is contiguous."""
    return matrix.strides[1] == matrix.itemsize


def _clip_diagonal(D: Array, corner: tuple[int, int], device: devices.Device) -> None:
    """Set D = min(D, 0) on the matrix's diagonal."""
    start, end = max(corner), max(*corner, min(corner[0] + D.shape[0], corner[1] + D.shape[1]))
    minplus_kernels.on(device).clip_diagonal(D, start - corner[0], start - corner[1], end - start)


def on_diagonal(D: Array, corner: tuple[int, int]) -> Array:
    """Return a copy of the elements of `D` that lie on the matrix's diagonal."""
    return D[places_on(corner[0] - corner[1], D.shape, devices.of(D).xp)]


def raise_negative_cycle(
    cycle: Array, comm: Communicator, D: Array | None = None, corner: tuple[int, int] = (0, 0)
) -> None:
    """Raise NegativeCycleError on every shard if `cycle`, an array of one element, names a vertex on any shard.

    If weights may be negative, pass the shard's finished distances `D`, and the row and column of its first element:
    by rounding, a float on the diagonal may fall below zero after its vertex was the pivot.
    """
    comm.allreduce(cycle, "min")
    if D is not None and D.dtype.kind == "f" and int(cycle[0]) == NO_CYCLE:
        fallen = devices.of(D).xp.flatnonzero(on_diagonal(D, corner) < 0)
        if len(fallen):
            cycle[0] = max(corner) + int(fallen[0])
        comm.allreduce(cycle, "min")
    vertex = int(cycle[0])
    if vertex != NO_CYCLE:
        raise NegativeCycleError(vertex)


def finished(
    D: Array, P: Array | None, plan: Plan[MatrixDetail], nonnegative: bool, narrow: Array | None = None
) -> dict[str, Array]:
    """Return the shard's part of the result by name, decoded in place.

    If the result's type is narrower than the computed one, the result is written to `narrow` or a new array.

    Raises
    ------
    DistanceOverflowError
        If a distance may have overflowed, or does not fit the result's type.
    """
    decode(D, P, devices.of(D), nonnegative)
    return named(D, P, plan, nonnegative, narrow)


def named(
    D: Array, P: Array | None, plan: Plan[MatrixDetail], nonnegative: bool, narrow: Array | None = None
) -> dict[str, Array]:
    """Return the shard's part of the result by name, as `finished` does, of what is decoded."""
    wanted = np.dtype(plan.dtype)
    if D.dtype != wanted:
        narrow = devices.of(D).xp.empty(D.shape, wanted) if narrow is None else narrow
        _narrow(D, narrow, nonnegative)
        D = narrow
    results = {"distances": D}
    if P is not None:
        results["intermediate" if plan.detail.intermediate else "predecessors"] = P
    return results


def _narrow(D: Array, narrow: Array, nonnegative: bool) -> None:
    """Write int32 distances to a matrix of a narrower type, with the same range as if computed in that type."""
    xp, dtype, none = devices.of(D).xp, np.dtype(narrow.dtype), infinity(np.dtype(D.dtype))
    least, greatest = distance_range(dtype, nonnegative)
    chunk = chunk_rows(D.shape[1])
    for top in range(0, len(D), chunk):
        part = D[top : top + chunk]
        there = part != none
        if bool((there & ((part > greatest) | (part < least))).any()):
            raise out_of_range(dtype, nonnegative)
        narrow[top : top + chunk] = xp.where(there, part, infinity(dtype))
