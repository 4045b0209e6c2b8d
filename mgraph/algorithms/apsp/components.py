"""The components of a graph, and the groups of them that are solved separately."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ... import device as devices
from ... import lazy
from ...graph import Compressed, Graph
from ...matrices.distance_matrix import Part
from ...planning.plan import Plan
from .detail import AllPairsDetail


class Group(NamedTuple):
    """Some components: their vertices, ascending, and the edges among them, numbered within the group."""

    vertices: np.ndarray
    part: Part


def components(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the weak components' sizes, and the vertices component by component; the graph keeps them."""
    found: tuple[np.ndarray, np.ndarray] = graph.kept("components", devices.find("cpu"), partial(_components, graph))
    return found


def _components(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the weak components' sizes, and the vertices component by component, ascending in each."""
    indptr, indices = (devices.to_host(array) for array in graph.layout("csr"))
    marks = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    _, labels = lazy.csgraph().connected_components(marks, directed=graph.directed, connection="weak")
    return np.bincount(labels), np.argsort(labels, kind="stable")


def groups(graph: Graph, plan: Plan[AllPairsDetail], order: np.ndarray) -> Callable[[int], list[Group]]:
    """Return a function from a shard to the plan's groups of the graph; `order` lists the vertices by component."""

    def pieces(shard: int) -> list[Group]:
        csr = graph.compressed("csr")
        indptr, indices = devices.to_host(csr.indptr), devices.to_host(csr.indices)
        weights = None if csr.weights is None else devices.to_host(csr.weights)
        place = np.empty(graph.n, np.int32)  # a vertex's number in its group
        found, first = [], 0
        for size in plan.detail.groups:
            vertices = np.sort(order[first : first + size])
            first += size
            place[vertices] = np.arange(size, dtype=np.int32)
            degrees = indptr[vertices + 1] - indptr[vertices]
            offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(indptr.dtype)
            edges = np.repeat(indptr[vertices] - offsets[:-1], degrees) + np.arange(offsets[-1])
            lengths = None if weights is None else weights[edges]
            found.append(Group(vertices, Part(None, Compressed(offsets, place[indices[edges]], lengths))))
        return found

    return pieces
