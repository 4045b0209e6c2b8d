"""What a call is asked: which vertices, and whether by their numbers or by the graph's ids.

The rule of every call and of the methods of results: text is an id; an integer is the number of a vertex unless
``ids=True``. Without ``ids=``, a number that is also the id of another vertex is warned of, once for a graph. The
answer has the form of the question: vertices are returned as ids if one was asked for by an id.
Arrays with an element per vertex, or per pair, keep numbers: a million predecessors would be a million objects.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .. import device as devices
from ..arguments import as_array, checked_flag, checked_integer, checked_vertices, warn_caller
from ..arrays import Array
from ..errors import Argument, ArgumentValue, InputError, VertexNumberWarning, Words
from .checks import check_room
from .ids import Index, id_of, index_of, places_among, repeated

#: The names under which a graph keeps the index of its ids, and a copy of those that are on workers.
INDEX, COPY = "ids by value", "ids"

#: The name under which a graph keeps the number that was warned of.
WARNED = "number warned of"

#: The name under which a graph keeps the number of the first vertex in the file that it was read from.
FIRST = "first number in the file"

#: What to do with several vertices in place of `source`.
FOR_SEVERAL = ": for several give ", ArgumentValue("sources")


class Subject(Protocol):
    """What has ids: a graph, or a result of one."""

    @property
    def ids(self) -> Any:
        """The id of each vertex, an array or a vector on workers; None if there are none."""

    def kept(self, name: str, device: devices.Device, make: Any) -> Any:
        """Return the value that `make` makes, kept under a name."""


def ids_of(subject: Subject) -> np.ndarray:
    """Return the ids of a graph that has some; those on workers are copied once."""
    ids = subject.ids
    if isinstance(ids, np.ndarray):
        return ids
    copied: np.ndarray = subject.kept(COPY, devices.find("cpu"), lambda: np.asarray(ids.to_numpy()))
    return copied


def index_kept(subject: Subject) -> Index:
    """Return the index of a graph's ids, which it keeps."""
    index: Index = subject.kept(INDEX, devices.find("cpu"), lambda: index_of(ids_of(subject)))
    return index


def first_number(subject: Subject, number: int = 0) -> int:
    """Return from where the file counts that a graph was read from, which `number` says at first; 0 without a file."""
    first: int = subject.kept(FIRST, devices.find("cpu"), lambda: number)
    return first


def check_distinct(subject: Subject) -> None:
    """Raise InputError if two vertices have the same id."""
    ids = ids_of(subject)
    twice = repeated(ids, index_kept(subject))
    if twice is not None:
        both = f": vertices {twice[0]} and {twice[1]} have it"
        raise InputError(both, argument="ids", value=id_of(ids, twice[0]), expected="an id of one vertex each")


class Question:
    """Vertices of a call's arguments, and the form of its answer.

    Parameters
    ----------
    subject : Graph, PlacedGraph or CallInput
        What has the ids.
    n : int
        Number of vertices.
    ids : bool, optional
        Whether integers are ids, too. By default they are not, and those that may be meant for ids are warned of.

    Attributes
    ----------
    named : bool
        Whether a vertex was asked for by an id, so that the answer has ids.

    Examples
    --------
    >>> import mgraph
    >>> from mgraph.graph.question import Question
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
    >>> question = Question(graph, graph.n)
    >>> question.vertex("source", "Pisa"), question.listed([1, 2])
    (1, ['Pisa', 'Genoa'])
    """

    __slots__ = ("_doubtful", "_subject", "ids", "n", "named")

    def __init__(self, subject: Subject, n: int, ids: bool | None = None) -> None:
        self._subject, self.n = subject, n
        self.ids = None if ids is None else checked_flag("ids", ids)
        self.named = bool(ids)
        known = getattr(subject, "ids", None)
        # Ids on workers are not copied for a warning.
        self._doubtful = ids is None and isinstance(known, np.ndarray) and known.dtype.kind == "i"
        if ids and known is None:
            advice = " needs a graph with ids, and this one has none: read a file with "
            raise InputError(ArgumentValue("ids", True), advice, ArgumentValue("relabel", True), ", or give vertices")

    def vertex(self, name: str, value: Any, *advice: str | Argument | ArgumentValue) -> int:
        """Return the vertex that an argument of this name asks for, or raise InputError; with `advice` for several."""
        if type(value) is int and 0 <= value < self.n and not self.ids:
            if self._doubtful:
                self._warn_of_ids(name, np.array([value]))
            return value
        known = self._subject.ids if advice else None
        an_id = self.ids or (known is not None and known.dtype.kind == "O")  # a tuple may be one
        if advice and isinstance(value, (list, np.ndarray) if an_id else (list, tuple, np.ndarray)):
            raise InputError(*advice, argument=name, value=value, expected="one vertex")
        if self.ids or isinstance(value, str):
            return int(self._with_ids(name, [value])[0])
        if not self.n:
            raise InputError(argument=name, value=value, expected="a vertex, and the graph has none")
        try:
            return self.vertex(name, checked_integer(name, value, 0, self.n - 1))
        except InputError as error:
            raise self._advised(error) from None

    def starts(self, source: Any, sources: Any, *advice: str | Argument | ArgumentValue) -> tuple[int, ...]:
        """Return the vertices that a call starts from, asked for by either `source` or `sources`, or raise InputError.

        `advice` is what to do with a single vertex in place of `sources`.
        """
        if (source is None) == (sources is None):
            wanted = "give source (one vertex) or sources (several)"
            if source is None:
                raise InputError(wanted)
            raise InputError(wanted, ", not both: a vertex to find the way to is ", ArgumentValue("target"))
        if sources is None:
            return (self.vertex("source", source, *FOR_SEVERAL),)
        return tuple(self.vertices("sources", sources, *advice).tolist())

    def vertices(self, name: str, values: Any, *advice: str | Argument | ArgumentValue) -> np.ndarray:
        """Return the vertices that an argument asks for as int32, or raise InputError; with `advice` for a single one.

        Parameters
        ----------
        name : str
            The argument.
        values : sequence or array
            Numbers of vertices, or ids.
        *advice : str, Argument or ArgumentValue
            What to do with a single vertex.
        """
        check_room(name, values)
        given = values.to_numpy() if hasattr(values, "to_numpy") else values
        if isinstance(given, np.ma.MaskedArray):  # else what lies under the mask would be taken
            given = as_array(given, name)
        if self.ids:
            return self._with_ids(name, given if isinstance(given, Sequence) else devices.to_host(given))
        try:
            found = np.asarray(devices.to_host(given))
        except (TypeError, ValueError):  # of an object that only looks like an array
            found = np.empty(0)
        if found.ndim == 1 and len(found) and found.dtype.kind in "iu":
            wrong = (found < 0) | (found >= self.n)
            if not wrong.any():
                if self._doubtful and not isinstance(values, range):  # who counts vertices means numbers
                    self._warn_of_ids(name, found)
                return found.astype(np.int32)
            values = found[wrong].tolist()
        elif found.ndim == 1 and found.dtype.kind in "OUT":
            each = list(given) if isinstance(given, Sequence) else found.tolist()
            texts = np.fromiter((isinstance(value, str) for value in each), bool, len(each))
            if texts.any():
                return self._of_both_kinds(name, each, texts)
        try:
            return np.array(checked_vertices(name, values, self.n, *advice), np.int32)  # which says what is wrong
        except InputError as error:
            single = isinstance(values, (str, int, np.integer))  # the error says how to write it
            raise error if single else self._advised(error) from None

    def numbers(self, values: Any) -> Array | None:
        """Return an argument as it is if it is an array of integers, which are not checked; None if they may be ids.

        The array may lie on a GPU, and has an element or more. `vertices` takes all other arguments.
        """
        given = values.to_numpy() if hasattr(values, "to_numpy") else values
        if self.ids or self._doubtful or type(given) not in (np.ndarray, devices.of(given).xp.ndarray):
            return None
        whole = given.dtype.kind in "iu" and given.dtype.isnative
        return given if whole and given.ndim == 1 and len(given) else None

    def answer(self, vertices: np.ndarray) -> np.ndarray:
        """Return vertices as an array in the form of the question."""
        return ids_of(self._subject)[vertices] if self.named else vertices

    def listed(self, vertices: Sequence[int]) -> list[Any]:
        """Return vertices as a list in the form of the question."""
        return self.answer(np.array(vertices, np.int32)).tolist() if self.named else list(vertices)

    def _of_both_kinds(self, name: str, values: list[Any], texts: np.ndarray) -> np.ndarray:
        """Return vertices of which some are asked for by text, the others by number."""
        found = np.empty(len(values), np.int32)
        found[texts] = self._with_ids(name, [value for value in values if isinstance(value, str)])
        numbers = [value for value in values if not isinstance(value, str)]
        if numbers:
            found[~texts] = self.vertices(name, numbers)
        return found

    def _with_ids(self, name: str, values: Any) -> np.ndarray:
        """Return the vertices with some ids."""
        if self._subject.ids is None:
            advice = ": the graph has no ids, which with_ids() gives it"
            raise InputError(advice, argument=name, value=str(values[0]), expected=f"an integer in [0, {self.n})")
        self.named = True
        return places_among(ids_of(self._subject), index_kept(self._subject), values, name)

    def _warn_of_ids(self, name: str, numbers: np.ndarray) -> None:
        """Warn, once for a graph, of a number that is the id of another vertex."""
        ids = ids_of(self._subject)
        warned: list[int] = self._subject.kept(WARNED, devices.find("cpu"), list)
        others = [] if warned else numbers[ids[numbers] != numbers]
        place = int(np.isin(ids, others).argmax()) if len(others) else 0
        if len(others) and ids[place] in others:
            number = int(ids[place])
            warned.append(number)
            words = f" {number} is taken for the number of the vertex with id {ids[number]}, not for id {number}, which"
            advice = f"{words} vertex {place} has: ", ArgumentValue("ids", True), " takes integers for ids, "
            end = ArgumentValue("ids", False), " leaves out this warning"
            warn_caller(VertexNumberWarning(Argument(name), *advice, *end))

    def _advised(self, error: InputError) -> InputError:
        """Return an error about the number of a vertex, which names ``ids=True`` if it may be an id."""
        ids = self._subject.ids
        if ids is None and type(error.value) is int and error.value == self.n:  # the last of a file from 1 on
            words: Words = ": they count from 0; a file's own numbers go with ", ArgumentValue("relabel", True)
            words = *words, " and ", ArgumentValue("ids", True)
            return InputError(*words, argument=error.argument, value=error.value, expected=error.expected)
        kind = "i" if isinstance(error.value, (int, np.integer)) else "O"  # an id that is neither text nor a number
        if ids is None or ids.dtype.kind != kind:
            return error
        advice = ": the graph's ids go with ", ArgumentValue("ids", True)
        return InputError(*advice, argument=error.argument, value=error.value, expected=error.expected)
