"""What the command line offers of an algorithm: its options, and what it prints of a result."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..graph import Graph
from ..graph.question import first_number
from ..io import read_vertices

#: Elements of a matrix that a summary reads at a time.
ELEMENTS_AT_A_TIME = 1 << 22


class Summary(NamedTuple):
    """Summary of a result.

    Attributes
    ----------
    facts : dict of str to object
        By name, for JSON.
    words : str
        For people: lines of text.
    unit : str
        What ``facts["rate"]`` counts a second; "" where there is no rate.
    """

    facts: dict[str, Any]
    words: str
    unit: str = ""


class Option(NamedTuple):
    """An argument of the call that the command line offers.

    Attributes
    ----------
    name : str
        The argument.
    type : type or tuple of str
        `bool` makes a flag; a tuple lists the choices.
    help : str
        What ``--help`` says.
    default : object
        The value if the option is not given.
    metavar : str or None
        What stands for the value in the help.
    spelled : str
        The option, if it is not ``--`` and the name; both of a pair for a flag that is on by default.
    several : bool
        Whether the option may be given several times.
    array : bool
        Whether it adds an array to the result: ``--out`` then takes a ``.npz`` file.
    flag : object
        What a flag passes to the call.
    read : callable or None
        Makes the value of what the option says, such as the content of a file that it names.
    vertices : bool
        Whether it names vertices: by their numbers or by ids.
    single : bool
        Whether an option without the ``s`` gives single vertices in its place, each as a word.
    """

    name: str
    type: type | tuple[str, ...]
    help: str = ""
    default: Any = None
    metavar: str | None = None
    spelled: str = ""
    several: bool = False
    array: bool = False
    flag: object = True
    read: Callable[[Any], Any] | None = None
    vertices: bool = False
    single: bool = False


class Command(NamedTuple):
    """The command of an algorithm.

    Attributes
    ----------
    name : str
        Its name.
    help : str
        What it does.
    example : str
        An example of its use.
    summary : callable
        Sums up a result, from the input, the result and the options by name.
    options : tuple of Option
        Its own options, besides ``--method`` and those that all commands have.
    not_in : mapping of str to str
        Why a format cannot hold the result, by its suffix.
    prepared : bool
        Whether the call takes a `mgraph.Hierarchy` in place of a graph.
    weights : bool
        Whether the call reads weights; if not, a table's column of weights need not be named.
    call : callable or None
        The call, if it is not the algorithm's.
    """

    name: str
    help: str
    example: str
    summary: Callable[[Any, Any, dict[str, Any]], Summary]
    options: tuple[Option, ...] = ()
    not_in: Mapping[str, str] = {}
    prepared: bool = False
    weights: bool = True
    call: Callable[..., Any] | None = None


PREDECESSORS = Option("predecessors", bool, "Find the predecessors too.", array=True)

#: The help of an option that names where a search starts.
SOURCE = (
    "The vertex to start from: its id in FILE, such as a name, or its number, 0 to n-1 as mgraph numbers them, after "
    "--relabel and from 0 in every format."
)

SOURCES = Option(
    "sources",
    str,
    f"{SOURCE} Give it again for each further one.",
    default=(0,),
    metavar="V",
    spelled="--source",
    several=True,
    vertices=True,
)


def listed_vertices(name: str, text: str) -> Option:
    """Return the option of a file of vertices, which single ones may stand in for."""
    return Option(name, str, text, metavar="LIST", read=read_vertices, vertices=True, single=True)


IDS = Option(
    "ids",
    bool,
    "Whether numbers that name vertices here are ids of FILE, which --relabel keeps. Text always is one. Without "
    "either, a number that is also the id of another vertex is warned of.",
    spelled="--ids/--no-ids",
)

LIMIT = "Greatest distance to search to; vertices beyond it count as unreached."

TARGET = Option(
    "target",
    str,
    "Search no farther than this vertex, and print its distance and, with --predecessors, the route to it.",
    metavar="V",
    vertices=True,
)


def started(graph: Any, result: Any, source: Any) -> str:
    """Return the line that says where a search started: by number, and id if the graph has ids."""
    line = f"source: {called(graph, result, source)}"
    if graph.ids is not None:
        return line
    first = first_number(graph) if isinstance(graph, Graph) else 0  # a graph on workers does not know its file
    return f"{line}, counting from 0" + (f"; FILE counts from {first}: there it is {source + first}" if first else "")


def called(graph: Any, result: Any, vertex: Any) -> str:
    """Return a vertex in words, as the call named it: by number, and id if the graph has ids."""
    ids = graph.ids
    if ids is None or isinstance(vertex, str) or result.solved.by_ids:
        return str(vertex)
    return f"vertex {vertex}, which FILE calls {ids[vertex]}"


def route(graph: Any, result: Any, target: Any, distance: float | None, searched: int) -> Summary:
    """Return the way to the target of a search, as the call named it, which ended there.

    `distance` is None where there is no path, and `searched` is the number of vertices with a distance.
    """
    found = None if result.predecessors is None or distance is None else result.path(target)
    facts = {"target": target, "distance": distance, "route": found, "searched": searched}
    end = called(graph, result, target)
    end = end if end.startswith("vertex ") else f"vertex {end}"
    if distance is None:
        return Summary(facts, f"searched: {searched:,} of {graph.n:,} vertices\nnot reached: {end}")
    words = f"searched as far as vertex {target}: {searched:,} of {graph.n:,} vertices\ndistance to {end}: {distance}"
    if found is None:
        return Summary(facts, words)
    words += f"\nroute: {' '.join(map(str, found))}"
    if found and called(graph, result, found[0]) != str(found[0]):
        words += f", which FILE calls {' '.join(str(graph.ids[vertex]) for vertex in found)}"
    return Summary(facts, words)


def isolation(sources: list[int], reached: int, options: dict[str, Any]) -> str:
    """Return in words that a search got nowhere, as its sources have no edges to others; otherwise nothing."""
    if reached > len(sources) or options["limit"] is not None:
        return ""
    vertices = f"vertex {sources[0]}" if len(sources) == 1 else f"the {len(sources)} sources"
    return f"\nno edge leads from {vertices} to another: choose where to start by --source"


def edges_from(graph: Any) -> np.ndarray | None:
    """Return the number of edges from each vertex; None for a graph on workers, which know those into each."""
    return np.diff(devices.to_host(graph.layout("csr")[0])) if isinstance(graph, Graph) else None


def blocks_of_rows(matrix: Any) -> Iterator[np.ndarray]:
    """Yield consecutive rows of a matrix, some at a time, as NumPy arrays."""
    if hasattr(matrix, "chunks"):
        yield from matrix.chunks()
        return
    rows = max(1, ELEMENTS_AT_A_TIME // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), rows):
        yield devices.to_host(matrix[first : first + rows])
