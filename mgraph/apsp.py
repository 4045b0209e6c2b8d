"""All-pairs shortest paths: the public call, its result, and the program of the blocked Floyd-Warshall.

The algorithm is told in ``kernels/minplus.cu``. A shard holds a range of whole block rows of the matrix.
A round of three supersteps eliminates one block of pivots:

0. the shard that owns the pivots' rows factors their diagonal block,
1. solves their rows and broadcasts them; everyone solves its part of the pivots' columns,
2. everyone updates its rows.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import device as devices
from .comm import Communicator
from .engine import Progress, checked_span, executor
from .errors import InputError, NegativeCycleError
from .graph import Compressed, as_graph, outline
from .plan import Plan, plan
from .weights import NO_PREDECESSOR, chunk_rows, decode, distance_dtype, encode, kernel_infinity

Array = Any


def apsp(
    matrix_or_graph: Any,
    *,
    method: str = "auto",
    predecessors: bool = False,
    dtype: Any = None,
    block: int | None = None,
    device: str | None = None,
    client: Any = None,
    span: int | None = None,
    progress: Progress | None = None,
) -> "ApspResult":
    """Return the lengths of the shortest paths between all pairs of vertices.

    Parameters
    ----------
    matrix_or_graph : Graph, sparse matrix, or array_like of shape (n, n)
        A dense matrix is a distance matrix: ``inf`` (for integers the type's largest value) is no edge,
        zero an edge of weight zero, and the diagonal counts as zero unless it is negative. A sparse
        matrix's stored entries are its edges, stored zeros included. An unweighted graph's edges have
        length 1.
    method : {"auto", "blocked"}
        The algorithm: blocked Floyd-Warshall [1]_ [2]_.
    predecessors : bool
        Whether to record the vertex before the last on each path.
    dtype : {"float32", "float64", "int32"}, optional
        The type to compute in. By default that of the weights; integers in int32, hop counts in float32.
    block : int, optional
        Pivots eliminated at a time (32, 64, 96 or 128); it changes the speed, never the result.
    device : {"cpu", "cuda", "cuda:N"}, optional
        By default the input's own device where that is a GPU, else a GPU where there is one. With
        `client`, what its workers shall use.
    client : distributed.Client, optional
        Run on the client's workers, one shard each; the matrices then stay distributed.
    span : int, optional
        Supersteps between two barriers of Dask; 1 makes each a task. By default about a second's worth.
    progress : callable, optional
        Called between spans with the supersteps done and their number.

    Returns
    -------
    ApspResult

    Raises
    ------
    NegativeCycleError
        If there is a cycle of negative weight; its `vertex` lies on one.
    MemoryLimitError
        If no plan fits; raised before anything is allocated.
    DistanceOverflowError
        If a weight or distance exceeds 2**28 in int32, or a weight what float32 can be.
    InputError
        For input that cannot be used.

    References
    ----------
    .. [1] Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003.
    .. [2] Katz and Kider, "All-pairs shortest-paths for large graphs on the GPU", 2008.
    """
    given = matrix_or_graph if hasattr(matrix_or_graph, "tocoo") else as_graph(matrix_or_graph)
    n, home = outline(given)
    span = checked_span(span, progress)
    runner = executor(device, client, home)

    planned = partial(
        plan, "apsp", n, devices=runner.specs, method=method, predecessors=predecessors, block=block, span=span
    )
    planned(dtype=dtype)  # a matrix that does not fit is refused before its edges are sorted
    graph = as_graph(given)
    m = 0 if graph.dense is not None else graph.m
    made = planned(m=m, dtype=distance_dtype(graph.weights_dtype, dtype), nonnegative=graph.nonnegative)

    def rows(shard: int) -> Rows:
        first, last = made.ranges[shard]
        if graph.dense is not None:
            return Rows(graph.dense[first:last], None)
        indptr, indices, weights = graph.csr()
        start, end = int(indptr[first]), int(indptr[last])
        part = None if weights is None else weights[start:end]
        return Rows(None, Compressed(indptr[first : last + 1] - indptr[first], indices[start:end], part))

    outcome = runner.run(FloydWarshall(made, graph.nonnegative), rows, made, progress)
    results = outcome.arrays
    if client is None:
        results = {name: devices.find(graph.device).asarray(value) for name, value in results.items()}
    return ApspResult(results["distances"], results.get("predecessors"), made, outcome.timings)


@dataclass(frozen=True)
class ApspResult:
    """The result of `apsp`.

    Attributes
    ----------
    distances : array of shape (n, n), or DistributedMatrix
        ``distances[i, j]`` is the length of the shortest path from ``i`` to ``j``; ``inf``, for int32 its
        largest value, where there is none.
    predecessors : array of int32, shape (n, n), DistributedMatrix or None
        The vertex before ``j`` on the path from ``i`` to ``j``; -9999 where there is none and for
        ``i == j``.
    plan : Plan
        How the call was run.
    timings : dict of str to float
        Seconds spent in ``"load"``, ``"solve"`` and ``"collect"``.
    """

    distances: Any
    predecessors: Any
    plan: Plan
    timings: dict[str, float]

    def path(self, i: int, j: int) -> list[int]:
        """Return the vertices of the shortest path from `i` to `j`, both ends included.

        Takes time linear in its length. Empty where there is no path.

        Raises
        ------
        InputError
            If the predecessors were not asked for, or a vertex is out of range.
        """
        if self.predecessors is None:
            raise InputError("path() needs the predecessors: call apsp(..., predecessors=True)")
        for vertex in (i, j):
            if isinstance(vertex, bool) or not isinstance(vertex, (int, np.integer)):
                raise InputError(f"{vertex!r} is no vertex: give its number")
            if not 0 <= vertex < self.plan.n:
                raise InputError(f"vertex {vertex} is not in the graph, which has vertices 0 to {self.plan.n - 1}")
        if i == j:
            return [int(i)]
        distributed = hasattr(self.predecessors, "row")
        row = self.predecessors.row(i) if distributed else devices.to_host(self.predecessors[i])
        vertices = [int(j)]
        while vertices[-1] != i:
            before = int(row[vertices[-1]])
            if before == NO_PREDECESSOR:
                return []
            vertices.append(before)
        return vertices[::-1]


class Rows(NamedTuple):
    """A shard's rows of the input: of a distance matrix, or the edges that leave its vertices."""

    dense: Array | None
    edges: Compressed | None


@dataclass
class Shard:
    """A shard's state: its rows of the matrix, and the panels of the round."""

    device: devices.Device
    kernels: Any
    first: int
    D: Array  # distances, rows x n
    P: Array | None  # predecessors, rows x n
    M: Array  # the factored diagonal block
    R: Array  # the pivots' rows, block x n
    labels: Array | None  # the predecessors of R
    C: Array  # the pivots' columns, block x rows
    cycle: Array  # the first pivot found on a negative cycle


NO_CYCLE = np.iinfo(np.int32).max


class FloydWarshall:
    """The blocked Floyd-Warshall algorithm over ranges of block rows."""

    def __init__(self, plan: Plan, nonnegative: bool) -> None:
        self.plan = plan
        self.nonnegative = nonnegative

    def load(self, shard: int, piece: Rows, device: devices.Device) -> Shard:
        """Return the shard with its distance matrix filled in and its panels allocated."""
        xp, n = device.xp, self.plan.n
        kernels = device.kernels("minplus")
        dtype = np.dtype(self.plan.dtype)
        first, last = self.plan.ranges[shard]
        rows = last - first
        leading = -(-n // device.row_alignment) * device.row_alignment
        D = xp.empty((rows, leading), dtype)[:, :n]
        P = xp.empty((rows, leading), np.int32)[:, :n] if self.plan.predecessors else None
        _fill(D, piece, device)
        own = xp.arange(rows)
        D[own, first + own] = xp.minimum(D[own, first + own], dtype.type(0))
        if P is not None:
            _fill_predecessors(P, D, first, xp)
        M, R, C = kernels.panels(xp, dtype, rows, n, self.plan.block)
        return Shard(
            device=device,
            kernels=kernels,
            first=first,
            D=D,
            P=P,
            M=M,
            R=R,
            labels=None if P is None else xp.empty(R.shape, np.int32),
            C=C,
            cycle=xp.full(1, NO_CYCLE, np.int32),
        )

    def step(self, state: Shard, first: int, limit: int, comm: Communicator) -> int:
        """Run one phase of one round."""
        number, phase = divmod(first, 3)
        pivot = number * self.plan.block
        if pivot >= self.plan.n:
            return 0
        b = min(self.plan.block, self.plan.n - pivot)
        owner = next(r for r, (lo, hi) in enumerate(self.plan.ranges) if lo <= pivot < hi)
        s, k = state, state.kernels
        row = pivot - s.first
        if phase == 0:
            if comm.rank == owner:
                k.factor(s.D, row, pivot, pivot, b, s.M, s.cycle)
            comm.broadcast(s.M, owner)
        elif phase == 1:
            if comm.rank == owner:
                k.solve_rows(s.D, s.P, row, pivot, b, s.M, s.R, s.labels)
            comm.broadcast(s.R, owner)
            if s.labels is not None:
                comm.broadcast(s.labels, owner)
            k.solve_columns(s.D, pivot, b, s.M, s.C)
        else:
            k.update(s.D, s.P, s.C, s.R, s.labels, pivot, b, self.nonnegative)
        return 1

    def collect(self, state: Shard, comm: Communicator) -> dict[str, Array]:
        """Return the shard's rows of the result, or raise on every shard if a pivot was negative."""
        comm.allreduce(state.cycle, "min")
        cycle = int(state.cycle[0])
        if cycle != NO_CYCLE:
            raise NegativeCycleError(cycle)
        decode(state.D, state.P, state.device.xp, self.nonnegative)
        results = {"distances": state.D}
        if state.P is not None:
            results["predecessors"] = state.P
        return results


def _fill(D: Array, piece: Rows, device: devices.Device) -> None:
    """Write a shard's rows of the input to its rows of the matrix."""
    if piece.dense is not None:
        chunk = chunk_rows(D.shape[1])
        for top in range(0, len(D), chunk):
            encode(device.asarray(piece.dense[top : top + chunk]), D[top : top + chunk], device.xp, dense=True)
        return
    assert piece.edges is not None
    indptr, indices, weights = piece.edges
    D.fill(kernel_infinity(np.dtype(D.dtype)))
    lengths = device.xp.ones(len(indices), D.dtype)
    if weights is not None:
        encode(device.asarray(weights), lengths, device.xp, dense=False)
    device.kernels("minplus").scatter(D, device.asarray(indptr), device.asarray(indices), lengths)


def _fill_predecessors(P: Array, D: Array, first: int, xp: Any) -> None:
    """Write each edge's source as the predecessor of its target; `first` is the vertex of the first row."""
    chunk = chunk_rows(P.shape[1])
    own = xp.arange(len(P), dtype=np.int32)
    edges = kernel_infinity(np.dtype(D.dtype))
    for top in range(0, len(P), chunk):
        part = slice(top, top + chunk)
        P[part] = xp.where(D[part] < edges, first + own[part, None], np.int32(NO_PREDECESSOR))
    P[own, first + own] = NO_PREDECESSOR
