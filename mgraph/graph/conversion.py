"""Conversion of graphs to those of other libraries, and of those to edges."""

from collections.abc import Iterable
from itertools import chain, compress
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..arrays import Array, distinct, places_of
from ..errors import InputError
from .compressed import Edges


def networkx_graph(networkx: Any, n: int, edges: Edges, directed: bool, ids: np.ndarray | None) -> Any:
    """Return a NetworkX graph, a multigraph if there are parallel edges; an undirected edge is added once."""
    src, dst = devices.to_host(edges.src), devices.to_host(edges.dst)
    parallel = bool(((src[1:] == src[:-1]) & (dst[1:] == dst[:-1])).any())
    kinds = {
        (True, False): networkx.DiGraph,
        (True, True): networkx.MultiDiGraph,
        (False, False): networkx.Graph,
        (False, True): networkx.MultiGraph,
    }
    once = np.full(len(src), True) if directed else src <= dst
    added = int(once.sum())
    # Dictionaries and numbers of Python, as measured with NetworkX 3.6 and Python 3.11.
    needed = 620 * n + added * (270 + 240 * parallel + 150 * (edges.weights is not None))
    with devices.allocating(f"to_networkx() of {n:,} vertices and {added:,} edges", needed, devices.find("cpu")):
        made = kinds[directed, parallel]()
        made.add_nodes_from(range(n))
        if ids is not None:
            networkx.set_node_attributes(made, dict(enumerate(ids.tolist())), "id")
        ends = zip(src[once].tolist(), dst[once].tolist(), strict=True)
        if edges.weights is None:
            made.add_edges_from(ends)
        else:
            weights = devices.to_host(edges.weights)[once].tolist()
            made.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ends, weights, strict=True))
        return made


def networkx_edges(graph: Any, weight: str | None) -> tuple[Edges, np.ndarray | None]:
    """Return the edges of a NetworkX graph, an undirected one once, between its nodes in their order, and the nodes.

    The nodes are None if they are 0 to n-1, and if they are not all integers.
    """
    rows = [row for _, row in graph.adjacency()]
    nodes = list(graph)
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    ends: Iterable[int] = chain.from_iterable(rows)
    in_order = nodes == list(range(len(nodes)))
    if not in_order:
        ends = map({node: number for number, node in enumerate(nodes)}.__getitem__, ends)
    dst = np.fromiter(ends, np.int32, int(degrees.sum()))
    src = np.repeat(np.arange(len(nodes), dtype=np.int32), degrees)
    joined: Iterable[Any] = chain.from_iterable(row.values() for row in rows)
    if graph.is_multigraph():
        parallel = [list(edges.values()) for edges in joined]
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        src, dst, joined = src.repeat(counts), dst.repeat(counts), chain.from_iterable(parallel)
    if not graph.is_directed():
        once = src <= dst
        src, dst, joined = src[once], dst[once], compress(joined, once.tolist())
    weights = None if weight is None else _weights([attributes.get(weight) for attributes in joined])
    whole = not in_order and all(type(node) is int for node in nodes)
    return Edges(src, dst, weights), np.array(nodes) if whole else None


def _weights(values: list[Any]) -> Array | None:
    """Return weights as an array, in which a missing one is 1; None if all are missing."""
    missing = values.count(None)
    if missing == len(values):
        return None
    return as_array([1 if value is None else value for value in values] if missing else values, "weight")


def column_edges(frame: Any, source: str, target: str, weight: str | None) -> tuple[Edges, np.ndarray | None]:
    """Return the edges in columns of a dataframe, between numbers of the ids in use, and these ids, ascending.

    The ids are None if they are 0 to n-1.
    """
    for name, column in (("source", source), ("target", target), ("weight", weight)):
        if column is not None and column not in frame.columns:
            raise InputError(argument=name, value=column, expected=f"one of the columns {list(frame.columns)}")
    src, dst = (as_array(frame[column].to_numpy(), name) for column, name in ((source, "source"), (target, "target")))
    for name, ends in (("source", src), ("target", dst)):
        if ends.dtype.kind not in "iu":
            raise InputError(argument=name, value=ends.dtype.name, expected="a column of integers")
    weights = None if weight is None else as_array(frame[weight].to_numpy(), "weight")
    ids = distinct(np.concatenate([src, dst]))
    if not len(ids) or (ids[0] == 0 and ids[-1] == len(ids) - 1):
        return Edges(src, dst, weights), None
    return Edges(places_of(src, ids), places_of(dst, ids), weights), ids
