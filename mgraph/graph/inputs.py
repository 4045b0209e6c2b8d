"""A call's input as a graph: a `Graph`, a sparse matrix or a dense one."""

import os
from collections.abc import Sequence
from typing import Any

from .. import device as devices
from ..errors import ArgumentValue, InputError, shown, type_name
from .checks import check_square
from .graph import Graph
from .ids import id_of
from .placed import PlacedGraph


def size_and_device(value: Any) -> tuple[int, str, int]:
    """Return the vertices, the device and the stored edges of a graph or sparse matrix, without reading these.

    A graph that was made of a distance matrix counts no edges.

    Raises
    ------
    InputError
        If the matrix is not square.
    """
    if isinstance(value, Graph | PlacedGraph):
        return value.n, value.device, value.m if value.dense is None else 0
    check_square(value.shape)
    return int(value.shape[0]), devices.of(getattr(value, "data", None)).name, int(value.nnz)


def as_graph(value: Any, *, copy: bool = False) -> Graph:
    """Return `value` as a graph: a `Graph`, a sparse matrix, or a dense one as `Graph.from_dense` reads it.

    The graph shares arrays with a matrix, as a call does not outlast it. With `copy`, its edges may be kept.

    Raises
    ------
    InputError
        If it is neither, or invalid.
    """
    if isinstance(value, Graph):
        return value
    if isinstance(value, PlacedGraph) or hasattr(value, "placement"):
        raise InputError(f"this call does not take {value!r}: it needs the Graph")
    if hasattr(value, "tocoo"):
        return Graph.from_scipy(value, copy=copy)
    advice = ""
    if isinstance(value, (str, os.PathLike)):
        advice = ": mgraph.read(path) reads one from a file"
    elif hasattr(value, "adjacency"):
        advice = ": mgraph.Graph.from_networkx(graph) makes one of NetworkX's"
    elif hasattr(value, "get_edgelist"):
        advice = ": mgraph.Graph.from_igraph(graph) makes one of igraph's"
    elif hasattr(value, "iloc") and value.shape[0] != value.shape[-1]:
        advice = ": mgraph.Graph.from_pandas(frame, source, target, weight) makes one of a table of edges"
    elif isinstance(value, Sequence) and len(value) and _is_graph(value[0]):
        advice = ": mgraph.apsp_batch takes several, the other calls one of them"
    elif hasattr(value, "shape") or hasattr(value, "__array__") or isinstance(value, Sequence):
        return Graph.from_dense(value, copy=False)
    raise InputError(f"expected a mgraph.Graph, a sparse or dense matrix, got {type_name(value)}{advice}")


def _is_graph(value: Any) -> bool:
    """Return whether a value is a graph of mgraph, SciPy, NetworkX or igraph."""
    return isinstance(value, Graph) or any(hasattr(value, name) for name in ("tocoo", "adjacency", "get_edgelist"))


def as_any_graph(value: Any) -> Graph | PlacedGraph:
    """Return `value` as `as_graph` does; of a `mgraph.DistributedGraph` its placement."""
    if isinstance(value, (Graph, PlacedGraph)):
        return value
    placed: PlacedGraph | None = getattr(value, "placement", None)
    return as_graph(value) if placed is None else placed


def in_this_process(graph: Graph | PlacedGraph) -> Graph:
    """Return a graph; one on workers is copied to this process."""
    return graph.to_graph() if isinstance(graph, PlacedGraph) else graph


def check_positive(graph: Graph | PlacedGraph, need: str) -> None:
    """Raise InputError unless all weights are positive; name the lightest edge."""
    least = graph.extremes()[0] if graph.m else 1
    if least > 0:
        return
    ends = graph.lightest() if isinstance(graph, PlacedGraph) else _lightest(graph)
    start, end = ends if graph.ids is None else (shown(id_of(graph.ids, each)) for each in ends)
    advice = f" of the edge from {start} to {end} is {least}: change it, or count edges by "
    raise InputError(f"{need}; the weight", advice, ArgumentValue("weight", False))


def _lightest(graph: Graph) -> tuple[int, int]:
    """Return the ends of the first edge that has the least weight."""
    src, dst, weights = graph.listed()
    e = 0 if weights is None else int(weights.argmin())
    return int(src[e]), int(dst[e])
