"""Conversion of graphs to those of other libraries, and of those to edges."""

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, compress
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import as_array
from ..arrays import Array
from ..dtypes import advice_on_weights, weight_dtype
from ..errors import InputError, shown, type_name
from .compressed import Edges
from .ids import as_ids, is_missing, numbered, numbers_of

_VALUES = methodcaller("values")


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

    Edges whose weight is None are left out. The nodes are None if they are 0 to n-1.
    """
    rows = [row for _, row in graph.adjacency()]
    nodes = list(graph)
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    ends, in_order = chain.from_iterable(rows), nodes == list(range(len(nodes)))
    if in_order:
        dst = np.fromiter(ends, np.int32, int(degrees.sum()))
    else:
        dst = numbers_of({node: number for number, node in enumerate(nodes)}, ends)
    src = np.repeat(np.arange(len(nodes), dtype=np.int32), degrees)
    counts: np.ndarray | None = None
    if graph.is_multigraph():
        counts = np.fromiter(map(len, _joined(rows)), np.int64, len(src))
        src, dst = src.repeat(counts), dst.repeat(counts)
    chosen: list[bool] | None = None
    if not graph.is_directed():
        once = src <= dst
        src, dst, chosen = src[once], dst[once], once.tolist()

    def attributes() -> Iterable[Iterable[Any]]:
        groups = map(_VALUES, rows if counts is None else _joined(rows))
        return groups if chosen is None else [compress(chain.from_iterable(groups), chosen)]

    weights = None
    if weight is not None:
        weights, hidden = _weights(attributes, weight)
        if hidden:
            src, dst = np.delete(src, hidden), np.delete(dst, hidden)
    return Edges(src, dst, weights), None if in_order else as_ids(nodes)


def _joined(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield the values of all dictionaries."""
    return chain.from_iterable(map(_VALUES, rows))


def _weights(attributes: Callable[[], Iterable[Iterable[Any]]], name: str) -> tuple[Array | None, list[int]]:
    """Return an attribute of edges, whose attributes come in groups, as an array, and the places where it is None.

    The array has no elements for these. A missing one is 1; the array is None if all are missing.
    """
    with contextlib.suppress(KeyError):
        found = _as_weights([each[name] for group in attributes() for each in group])
        if len(found) and found.dtype.kind != "O":
            return found, []
    edges = [each for group in attributes() for each in group]
    if not any(name in each for each in edges):
        return None, []
    hidden = [place for place, each in enumerate(edges) if each.get(name, 1) is None]
    return _as_weights([each.get(name, 1) for each in edges if each.get(name, 1) is not None]), hidden


def _with_ones(values: list[Any]) -> Array | None:
    """Return weights as an array, in which None is 1; None if all are None."""
    missing = values.count(None)
    if missing == len(values):
        return None
    return _as_weights([1 if value is None else value for value in values] if missing else values)


def _as_weights(values: Any) -> Array:
    """Return weights as an array, truth values as the numbers that they are in Python."""
    found = as_array(values, "weight")
    return found.astype(np.int8) if found.dtype.kind == "b" else found


def igraph_edges(graph: Any, weight: str | None) -> tuple[Edges, np.ndarray | None]:
    """Return the edges of an igraph graph, and the names of its vertices; None if one has none."""
    ends = np.fromiter(chain.from_iterable(graph.get_edgelist()), np.int32, 2 * graph.ecount()).reshape(-1, 2)
    weights = _with_ones(graph.es[weight]) if weight in graph.es.attributes() else None
    names = graph.vs["name"] if "name" in graph.vs.attributes() else [None]
    ids = None if any(map(is_missing, names)) else as_ids(names)
    return Edges(ends[:, 0], ends[:, 1], weights), ids


class Columns(NamedTuple):
    """The columns of a table.

    Attributes
    ----------
    names : list of str
        Their names.
    read : callable
        Returns the column of a name as an array.
    """

    names: list[Any]
    read: Callable[[Any], Any]


def pandas_columns(frame: Any) -> Columns:
    """Return the columns of a pandas dataframe, or of another whose columns have `to_numpy`."""
    if not (hasattr(frame, "columns") and hasattr(frame, "__getitem__")):
        raise InputError(argument="frame", value=type_name(frame), expected="a dataframe")
    return Columns(list(frame.columns), lambda name: frame[name].to_numpy())


def arrow_columns(table: Any) -> Columns:
    """Return the columns of a table that can be exchanged by Arrow's interface, or by the older one of dataframes."""
    arrow, exchange = (lazy.optional(name, "Graph.from_arrow()") for name in ("pyarrow", "pyarrow.interchange"))
    kind = type(table).__name__
    if not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__dataframe__")):
        raise InputError(argument="table", value=kind, expected="a dataframe or a table of Arrow")
    try:
        found = arrow.table(table) if hasattr(table, "__arrow_c_stream__") else exchange.from_dataframe(table)
    except (AttributeError, RuntimeError, TypeError, ValueError, arrow.ArrowException) as error:
        raise InputError(f": {error}", argument="table", value=kind, expected="a table that Arrow can take") from error

    def read(name: str) -> np.ndarray:
        column = found.column(name)
        if column.null_count:
            raise InputError(f"the column {shown(name)} has {column.null_count} nulls: drop their rows, or fill them")
        try:
            if arrow.types.is_dictionary(column.type):  # Arrow's own cast knows no views of strings, which Polars gives
                column.validate(full=True)
                chunks = column.chunks or [arrow.array([], column.type.value_type).dictionary_encode()]
                return np.concatenate([chunk.dictionary.to_numpy(False)[chunk.indices.to_numpy()] for chunk in chunks])
            return np.asarray(column.to_numpy())
        except (arrow.ArrowException, IndexError) as error:
            raise InputError(f"the column {shown(name)} cannot be read: {error}") from error

    return Columns(found.column_names, read)


def column_edges(columns: Columns, source: str, target: str, weight: str | None) -> tuple[Edges, np.ndarray | None]:
    """Return the edges in columns of a table, between numbers of the ids in use, and these ids.

    The ids are None if they are 0 to n-1.
    """
    for name, column in (("source", source), ("target", target), ("weight", weight)):
        named = isinstance(column, Hashable)
        if (column is not None or name != "weight") and not (named and columns.names.count(column) == 1):
            twice = ": there are several of that name" if named and column in columns.names else ""
            raise InputError(twice, argument=name, value=column, expected=f"one of the columns {shown(columns.names)}")
    weights = None if weight is None else _as_weights(columns.read(weight))
    if weights is not None:
        try:
            weight_dtype(np.dtype(weights.dtype))
        except InputError as error:
            where, expected = f" in the column {shown(weight)}{advice_on_weights(weights.dtype)}", error.expected
            raise InputError(where, argument="weights", value=error.value, expected=expected) from None
    src, dst, ids = numbered(columns.read(source), columns.read(target))
    return Edges(src, dst, weights), ids
