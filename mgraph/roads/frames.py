"""Networks from graphs of OSMnx and from dataframes."""

from typing import Any

import numpy as np

from .. import lazy
from ..errors import InputError
from ..graph.coordinates import COLUMNS
from .network import Network

#: Columns that other libraries have, and what they are called here.
_NAMES = {"length": "metres", "mm_len": "metres", "travel_time": "seconds"}

#: Columns that other libraries have as numbers, and that count nothing.
_NAMING = frozenset(("id", "osmid", "u", "v", "from", "to", "key", "timestamp", "version", "changeset"))

#: Columns that calls ask for by name. One of them must be whole; others are left out if they are not.
_COUNTED = frozenset(("metres", "seconds", "capacity", "toll", "b", "power"))

#: The columns of an edge's ends, and of nodes' ids.
_ENDS, _IDS = (("u", "v"), ("from", "to"), ("node_start", "node_end")), ("id", "nodeID")


def from_osmnx(graph: Any) -> Network:
    """Return the network of a graph of OSMnx, a `networkx.MultiDiGraph` whose nodes have `x` and `y`.

    Each edge is a link. ``length`` becomes ``"metres"``, ``travel_time`` (of ``osmnx.add_edge_travel_times``)
    ``"seconds"``; other attributes that are numbers of 0 or more on all edges keep their names, but for ids.
    ``geometry`` is kept.

    Raises
    ------
    InputError
        If the graph is projected or not directed, a node has no coordinates, or no attribute is a number on all edges;
        and if a length, a travel time, or a ``"capacity"``, ``"toll"``, ``"b"`` or ``"power"`` of `assignment` is a
        number of 0 or more on some edges alone.

    Examples
    --------
    >>> import networkx
    >>> from mgraph import roads
    >>> streets = networkx.MultiDiGraph()
    >>> streets.add_node(7, x=24.94, y=60.17)
    >>> streets.add_node(9, x=24.95, y=60.17)
    >>> _ = streets.add_edge(7, 9, length=553.0)
    >>> roads.from_osmnx(streets)
    Network(2 vertices, 1 links: metres)
    """
    if not hasattr(graph, "edges") or not getattr(graph, "is_directed", bool)():
        raise InputError(argument="graph", value=type(graph).__name__, expected="a networkx.MultiDiGraph of OSMnx")
    number = {node: place for place, node in enumerate(graph.nodes)}
    try:
        where = np.array([[data["x"], data["y"]] for _, data in graph.nodes(data=True)], np.float64).reshape(-1, 2)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"each node of the graph must have numbers x and y: {error}") from error
    edges = list(graph.edges(data=True))
    tail, head = (np.array([number[edge[side]] for edge in edges], np.int64) for side in (0, 1))
    names = list(dict.fromkeys(name for _, _, data in edges for name in data))
    columns = {name: [data.get(name) for _, _, data in edges] for name in names}
    return _network(tail, head, columns, where, _ids(list(graph.nodes)), np.empty(0, np.int64))


def from_frames(nodes: Any, edges: Any, twoway: Any = False) -> Network:
    """Return the network of two dataframes, such as momepy, pandana, pyrosm and OSMnx make.

    Parameters
    ----------
    nodes : DataFrame
        Its index, or a column ``id`` or ``nodeID``, has ids; columns ``x`` and ``y``, or ``lon`` and ``lat``, are
        degrees. Points of a GeoDataFrame take their place, and are converted to degrees.
    edges : DataFrame
        A row for each direction of a street: columns, or levels of the index, ``u`` and ``v``, ``from`` and ``to``, or
        ``node_start`` and ``node_end``. ``length`` and ``mm_len`` become ``"metres"``, ``travel_time`` ``"seconds"``;
        other columns of numbers of 0 or more keep their names, but for ids. ``geometry`` is kept, in degrees.
    twoway : bool, or array_like of bool with an element for each row
        Whether a row is a street of both directions, as momepy's are, and pandana's by default; of pyrosm's edges
        ``edges["oneway"] != "yes"``. The links back follow those of all rows.

    Raises
    ------
    InputError
        If a column is missing, an edge ends at a node that is not there, or no column is a number on all edges; if a
        length, a travel time, or a ``"capacity"``, ``"toll"``, ``"b"`` or ``"power"`` of `assignment` is a number of 0
        or more on some edges alone; and if `twoway` is neither a truth value nor one for each edge.

    Examples
    --------
    >>> import pandas
    >>> from mgraph import roads
    >>> nodes = pandas.DataFrame({"x": [24.94, 24.95], "y": [60.17, 60.17]}, index=[7, 9])
    >>> roads.from_frames(nodes, pandas.DataFrame({"u": [7, 9], "v": [9, 7], "length": [553.0, 553.0]}))
    Network(2 vertices, 2 links: metres)
    >>> roads.from_frames(nodes, pandas.DataFrame({"u": [7], "v": [9], "length": [553.0]}), twoway=True)
    Network(2 vertices, 2 links: metres)
    """
    pandas = lazy.optional("pandas", "from_frames()")
    edges = edges.reset_index() if edges.index.nlevels > 1 else edges
    nodes, edges = _in_degrees(nodes), _in_degrees(edges)
    ends = next((pair for pair in _ENDS if set(pair) <= set(edges)), None)
    if ends is None:
        raise InputError(argument="edges", value=list(edges), expected="a dataframe with columns 'u' and 'v'")
    name = next((each for each in _IDS if each in nodes), None)
    index = nodes.index if name is None else pandas.Index(nodes[name])
    if not index.is_unique:
        raise InputError(argument="nodes", value=index[index.duplicated()][0], expected="one row for each id")
    tail, head = (index.get_indexer(edges[name]) for name in ends)
    for found, name in ((tail, ends[0]), (head, ends[1])):
        if (found < 0).any():
            unknown = edges[name].tolist()[int(np.argmax(found < 0))]
            raise InputError(argument=f"edges[{name!r}]", value=unknown, expected="the id of a node")
    columns = {name: list(edges[name]) for name in edges if name not in (*ends, "key")}
    return _network(tail, head, columns, _places(nodes), index.to_numpy(), _rows_back(twoway, len(edges)))


def _in_degrees(frame: Any) -> Any:
    """Return a dataframe with its geometry in degrees, if it has one and says of what it is."""
    return frame if getattr(frame, "crs", None) is None else frame.to_crs(4326)


def _places(nodes: Any) -> np.ndarray:
    """Return the coordinates of nodes: those of their points, or of two columns."""
    pair = next((pair for pair in COLUMNS if set(pair) <= set(nodes)), None)
    if "geometry" in nodes and (pair is None or getattr(nodes, "crs", None) is not None):
        return np.stack([nodes.geometry.x, nodes.geometry.y], axis=1)
    if pair is None:
        raise InputError(argument="nodes", value=list(nodes), expected="a dataframe with columns 'x' and 'y'")
    found: np.ndarray = nodes[list(pair)].to_numpy(np.float64)
    return found


def _rows_back(twoway: Any, count: int) -> np.ndarray:
    """Return the rows of streets that lead back, too."""
    found = np.asarray(twoway)
    if found.dtype != bool or found.shape not in ((), (count,)):
        wanted = f"a truth value, or one for each of {count:,} edges"
        raise InputError(argument="twoway", value=f"{found.dtype} of shape {found.shape}", expected=wanted)
    return np.flatnonzero(np.broadcast_to(found, count))


def _ids(nodes: list[Any]) -> Any:
    return nodes if all(isinstance(node, (int, str, np.integer)) for node in nodes) else None


def _network(
    tail: np.ndarray, head: np.ndarray, given: dict[str, list[Any]], where: np.ndarray, ids: Any, back: np.ndarray
) -> Network:
    """Return a network whose columns are those that are numbers of 0 or more on all edges; some lead back, too."""
    outside = ~((np.abs(where[:, 0]) <= 360) & (np.abs(where[:, 1]) <= 90))
    if outside.any():
        value = tuple(where[outside.argmax()].tolist())
        raise InputError(
            ": a projected graph goes back by to_crs(4326)", argument="x, y", value=value, expected="degrees"
        )
    columns = {}
    for name, values in given.items():
        column = None if name in _NAMING else _column(name, values)
        if column is not None:
            columns[_NAMES.get(name, name)] = np.append(column, column[back])
    if not columns:
        raise InputError(argument="edges", value=sorted(given), expected="numbers on all edges, such as 'length'")
    shapes = _shapes(given.get("geometry"), tail, head, where, back)
    return Network(np.append(tail, head[back]), np.append(head, tail[back]), columns, where, ids, shapes)


def _column(name: str, values: list[Any]) -> np.ndarray | None:
    """Return a column of numbers of 0 or more; None for another one, unless it counts and has numbers at all."""
    column = np.array([value if _is_number(value) else np.nan for value in values], np.float64)
    wrong = np.flatnonzero(~(column >= 0))
    if not len(wrong):
        return column
    if _NAMES.get(name, name) in _COUNTED and not np.isnan(column).all():
        row = int(wrong[0])
        raise InputError(
            f" in row {row}", argument=f"edges[{name!r}]", value=values[row], expected="numbers of 0 or more"
        )
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _shapes(geometry: Any, tail: np.ndarray, head: np.ndarray, where: np.ndarray, back: np.ndarray) -> Any:
    """Return the points of all lines, straight ones where there is none, and where those of each begin.

    A line may be drawn from the head of its link to the tail; it is turned.
    """
    if geometry is None:
        return None
    lines = [
        np.array(line.coords)[:, :2] if len(getattr(line, "coords", ())) > 1 else where[[start, end]]
        for line, start, end in zip(geometry, tail.tolist(), head.tolist(), strict=True)
    ]
    for row, (line, start, end) in enumerate(zip(lines, where[tail], where[head], strict=True)):
        ends = np.abs(line[[0, -1]] - [start, end]).sum(), np.abs(line[[-1, 0]] - [start, end]).sum()
        if ends[1] < ends[0]:
            lines[row] = line[::-1]
    lines.extend([lines[row][::-1] for row in back.tolist()])
    return np.concatenate(lines) if lines else np.empty((0, 2)), np.cumsum([0, *map(len, lines)])
