"""A shard's edges in breadth-first searches: those into its vertices, and what a search prepares from them."""

from typing import NamedTuple

import numpy as np

from ... import device as devices
from ... import lazy
from ...arrays import Array
from ...graph import Graph
from ...kernels import bfs as bfs_kernels
from ...planning.plan import Plan
from .detail import SearchDetail, SearchesDetail


class IncomingEdges(NamedTuple):
    """The edges into a shard's vertices, by target and by source, as far as they are needed and already exist.

    A shard derives missing edges by source from those by target, and missing `prepared` arrays from both.
    """

    by_target: tuple[Array, Array] | None
    by_source: tuple[Array, Array] | None = None
    prepared: tuple[Array, Array] | None = None


def piece(
    graph: Graph, plan: Plan[SearchDetail] | Plan[SearchesDetail], shard: int, place: devices.Device | None
) -> IncomingEdges:
    """Return the edges into a shard's vertices; for a single shard, in the orders that its program needs."""
    if len(plan.ranges) == 1:
        return IncomingEdges(
            graph.adjacency("csc", place) if plan.detail.by_target else None,
            graph.adjacency("csr", place) if plan.detail.by_source else None,
        )
    first, last = plan.ranges[shard]
    indptr, indices = graph.adjacency("csc")
    start, end = int(indptr[first]), int(indptr[last])
    return IncomingEdges((indptr[first : last + 1] - indptr[first], indices[start:end]))


def transposed(by_target: tuple[Array, Array], n: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same edges by source: rows are all n vertices, ``indices`` are targets."""
    indptr, indices = devices.to_host(by_target[0]), devices.to_host(by_target[1])
    rows = len(indptr) - 1
    marks = lazy.sparse().csr_matrix((np.ones(len(indices), np.int8), indices, indptr), shape=(rows, n)).tocsc()
    return marks.indptr.astype(indptr.dtype), (marks.indices + first).astype(np.int32)


def walking_aids(
    what: str | None, device: devices.Device, by_target: tuple[Array, Array], by_source: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the heads and the quads; only the one named by `what` is not empty."""
    xp, kernels = device.xp, bfs_kernels.on(device)
    with device.active():
        heads = xp.empty(len(by_target[0]) - 1 if what == "heads" else 0, np.int32)
        if what == "heads":
            kernels.heads(*by_target, by_source[0], heads)
        return heads, kernels.quads(xp, *by_source) if what == "quads" else xp.empty((0, 4), np.int32)
