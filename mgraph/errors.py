"""Every error that mgraph raises on purpose.

Each derives from `MgraphError` and from the built-in exception that a caller would expect, so that
``except ValueError`` and ``except MemoryError`` work.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

#: The most characters of a value in a message, and of a message.
LONGEST, LONGEST_MESSAGE = 300, 3000


def printable(text: str) -> str:
    r"""Return a text as a message holds it: on one line, with control characters escaped, without its middle if long.

    A terminal would act on control characters, or hide them, such as those that turn the direction of text.

    Examples
    --------
    >>> from mgraph.errors import printable
    >>> print(printable("a\x1b]0;b\x07 c"))
    a\x1b]0;b\x07 c
    """
    text = _cut(text, LONGEST_MESSAGE, LONGEST_MESSAGE // 3)
    first, *rest = text.split("\n")
    text = " ".join([first.rstrip(), *map(str.strip, rest)]) if rest else text
    if not text.isprintable():
        text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return _cut(text, LONGEST_MESSAGE, LONGEST_MESSAGE // 3)


def _cut(text: str, longest: int, tail: int = 0) -> str:
    return text if len(text) <= longest else f"{text[: longest - tail - 3]}...{text[len(text) - tail :]}"


def type_name(value: Any) -> str:
    """Return the name of a value's type, with its module unless it is Python's own."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def shown(value: Any) -> str:
    """Return a value as a message shows it: its `repr`, printable and cut if it is long; its type if it has none."""
    try:
        return _cut(printable(repr(value)), LONGEST)
    except Exception:  # an integer of more digits than Python prints, or any other object
        return f"a value of type {type_name(value)}"


class Argument(NamedTuple):
    """The name of a public call's argument, in a message."""

    name: str

    def __str__(self) -> str:
        return self.name


class ArgumentValue(NamedTuple):
    """A public call's argument with a value, such as ``method='johnson'``, or ``client=`` without one, in a message."""

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is ... else f"{self.name}={shown(self.value)}"


#: The parts of a message.
Words = tuple["str | Argument | ArgumentValue", ...]


class StructuredError(Exception):
    """An error or a warning whose message may consist of parts: text, `Argument` and `ArgumentValue`.

    The command line writes arguments as its options.
    """

    def __init__(self, *parts: Any) -> None:
        # OSError takes its number, reason and file as separate arguments.
        of_system = bool(parts) and isinstance(parts[0], int)
        #: The message in parts.
        self.parts = parts if of_system else tuple(printable(p) if isinstance(p, str) else p for p in parts)
        super().__init__(*(parts if of_system else (printable("".join(map(str, self.parts))),)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Dask's workers send errors with tblib, which would not call the constructor without this.
        return type(self), self.parts, self.__dict__

    @property
    def names_arguments(self) -> bool:
        """Whether the message names arguments.

        Examples
        --------
        >>> from mgraph.errors import Argument, MgraphError
        >>> MgraphError(Argument("n"), " is too large").names_arguments
        True
        """
        return any(isinstance(part, (Argument, ArgumentValue)) for part in self.parts)

    def sentence(self, spelled: Callable[[Argument | ArgumentValue], str]) -> str:
        """Return the message, with arguments written by `spelled`.

        Parameters
        ----------
        spelled : callable
            Takes an `Argument` or a `ArgumentValue` and returns it as a str.

        Returns
        -------
        str

        Examples
        --------
        >>> from mgraph.errors import Argument, MgraphError
        >>> MgraphError(Argument("n"), " is too large").sentence(lambda part: f"--{part}")
        '--n is too large'
        """
        words = (spelled(part) if isinstance(part, (Argument, ArgumentValue)) else str(part) for part in self.parts)
        return printable("".join(words))


ErrorT = TypeVar("ErrorT", bound=StructuredError)


def renamed(error: ErrorT, names: Mapping[str, str]) -> ErrorT:
    """Return the same error, which calls arguments by other names."""
    made = type(error)(
        *(
            part._replace(name=names.get(part.name, part.name)) if isinstance(part, (Argument, ArgumentValue)) else part
            for part in error.parts
        )
    )
    vars(made).update((name, value) for name, value in vars(error).items() if name != "parts")
    if isinstance(made, InputError) and made.argument is not None:
        made.argument = names.get(made.argument, made.argument)
    return made


def parts_of(error: BaseException) -> tuple[Any, ...]:
    """Return the message of an error in parts, for another error's message to hold."""
    return error.parts if isinstance(error, StructuredError) else (str(error),)


def precede(error: StructuredError, *parts: Any) -> None:
    """Put parts before the message of an error, such as which of several inputs it is about.

    Examples
    --------
    >>> from mgraph.errors import MgraphError, precede
    >>> error = MgraphError("n is too large")
    >>> precede(error, "file 3: ")
    >>> print(error)
    file 3: n is too large
    """
    StructuredError.__init__(error, *parts, *error.parts)


class MgraphError(StructuredError):
    """The base of every error that mgraph raises on purpose.

    Examples
    --------
    >>> import mgraph
    >>> try:
    ...     mgraph.bfs(mgraph.generate.grid(2, 2), 7, device="cpu")
    ... except mgraph.MgraphError as error:
    ...     print(error)
    source must be an integer in [0, 4), got 7
    """


class SlowPlanWarning(StructuredError, UserWarning):
    """A call takes minutes by a choice that one argument changes; given before the work begins."""


class VertexNumberWarning(StructuredError, UserWarning):
    """An integer was taken for the number of a vertex and is the id of another one; given once for a graph."""


class InputError(MgraphError, ValueError):
    """An invalid argument or graph; the message has the value and what to do.

    Parameters
    ----------
    *parts : str, Argument or ArgumentValue
        The message; with `argument`, text that follows the sentence about it.
    argument : str, optional
        The name of the invalid argument.
    value : object
        Its value; of an array, the element, type or shape that is invalid.
    expected : str, optional
        What the value must be.

    Attributes
    ----------
    argument, value, expected
        As above; None if the error is not about the value of one argument.

    Examples
    --------
    >>> from mgraph.errors import InputError
    >>> print(InputError(argument="source", value=7, expected="an integer in [0, 3)"))
    source must be an integer in [0, 3), got 7
    """

    def __init__(
        self,
        *parts: str | Argument | ArgumentValue,
        argument: str | None = None,
        value: Any = None,
        expected: str | None = None,
    ) -> None:
        self.argument, self.value, self.expected = argument, value, expected
        head = () if argument is None else (Argument(argument), f" must be {expected}, got {shown(value)}")
        super().__init__(*head, *parts)


class AmbiguousZerosError(InputError):
    """A dense matrix whose zeros may mean edges of weight zero or no edges.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.Graph.from_dense([[0, 0], [3, 0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.AmbiguousZerosError: the matrix has zeros off its diagonal and no infinity: ...
    """


class FormatError(InputError):
    r"""A file that does not hold a graph in its format; the message names the line if there is one.

    Examples
    --------
    >>> import io
    >>> import mgraph
    >>> mgraph.read(io.BytesIO(b"0 1\n1 x\n"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.FormatError: <file>, line 2: expected an integer vertex id, got 'x' in '1 x'; ...
    """


class MissingFileError(MgraphError, FileNotFoundError):
    """The file to read does not exist; `errno` and `filename` are set as in any FileNotFoundError.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.read("no-such-file.gr")
    Traceback (most recent call last):
        ...
    mgraph.errors.MissingFileError: [Errno 2] there is no such file: 'no-such-file.gr'
    """


class RoundingError(MgraphError, ArithmeticError):
    """Rounding makes a cycle look negative that is not, so that a method finds no distances or a path has no end.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 1], [0.1, -0.5, 0.5])
    >>> result = mgraph.apsp(graph, method="blocked", predecessors=True, device="cpu")
    >>> try:
    ...     result.path(0, 1)
    ... except mgraph.RoundingError:
    ...     mgraph.apsp(graph, method="johnson", predecessors=True, device="cpu").path(0, 1)
    [0, 1]
    """


class NegativeCycleError(MgraphError, ValueError):
    """The graph has a cycle of negative weight, so that no shortest path exists.

    The exact sum of the weights counts, as they are stored: no rounding hides or makes a negative cycle.

    Attributes
    ----------
    vertex : int
        A vertex on such a cycle.
    graph : int or None
        The number of the graph, if the call solved several.
    id : object or None
        The vertex's id, if the graph has ids.

    Examples
    --------
    >>> import mgraph
    >>> try:
    ...     mgraph.apsp([[0, -2], [1, 0]], device="cpu")
    ... except mgraph.NegativeCycleError as error:
    ...     print(error.vertex)
    0
    """

    def __init__(self, vertex: int, graph: int | None = None, id: Any = None) -> None:
        self.vertex, self.graph, self.id = vertex, graph, id
        where = f"vertex {vertex}" if id is None else f"vertex {vertex}, with id {shown(id)},"
        where = where if graph is None else f"{where} of graph {graph}"
        super().__init__(f"{where} lies on a cycle of negative weight: there is no shortest path through it")

    def __reduce__(self) -> tuple[type, tuple[int, int | None, Any]]:
        return type(self), (self.vertex, self.graph, self.id)


class DistanceOverflowError(MgraphError, OverflowError):
    """A weight or distance is out of range for its type; `mgraph.apsp` lists the ranges.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.apsp(mgraph.Graph.from_edges([0], [1], [2**30]), device="cpu")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.DistanceOverflowError: the weight 1073741824 is too large for int32 distances ...
    """


class WrongResultError(MgraphError):
    """A verifier found that a result is wrong; the message names a vertex or an element."""


class VerificationError(WrongResultError):
    """A result's `verify` found that it is wrong.

    Parameters
    ----------
    *parts : str
        The message.
    rule : str
        The name of the broken rule; the result's `verify` lists them.
    vertex : int or None
        The first vertex that breaks it; None if it is not about one vertex.

    Attributes
    ----------
    rule, vertex
        As above.

    Examples
    --------
    >>> import mgraph
    >>> graph = mgraph.generate.grid(2, 2)
    >>> result = mgraph.bfs(graph, 0, device="cpu")
    >>> result.distances[3] = 1
    >>> try:
    ...     result.verify()
    ... except mgraph.VerificationError as error:
    ...     print(error.rule, error.vertex)
    tight 3
    """

    def __init__(self, *parts: str, rule: str = "", vertex: int | None = None) -> None:
        self.rule, self.vertex = rule, vertex
        super().__init__(*parts)


class MemoryLimitError(MgraphError, MemoryError):
    """No plan fits the free memory, raised before anything is allocated; or memory ran out during a call.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.apsp(mgraph.generate.grid(8, 8), device="cpu", memory_limit="1KiB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.MemoryLimitError: apsp of 64 vertices needs 19.1 KiB on cpu, which may take 1 KiB ...
    """


class DeviceError(MgraphError, RuntimeError):
    """A requested device does not exist or cannot be used.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.bfs(mgraph.generate.grid(2, 2), 0, device="cuda:99")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.DeviceError: ...
    """


class WorkerLostError(MgraphError, RuntimeError):
    """A Dask worker was lost during a call, or before it with a part of what the call needs.

    Parameters
    ----------
    *parts : str
        The message.
    workers : sequence of str
        The addresses of the lost workers.
    among : int
        Number of workers that the call used; 0 if it was not known yet.

    Attributes
    ----------
    workers, among
        As above.
    """

    def __init__(self, *parts: str, workers: Sequence[str] = (), among: int = 0) -> None:
        self.workers, self.among = tuple(workers), among
        super().__init__(*parts)


class SchedulerError(MgraphError, TimeoutError):
    """A Dask scheduler did not answer, or has no workers, or fewer than a call was told to wait for.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.cluster.connect("tcp://127.0.0.1:1", timeout=0.1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.SchedulerError: no scheduler answers at tcp://127.0.0.1:1 within 0.1 s: ...
    """


class VersionError(MgraphError, ImportError):
    """A Dask worker has no mgraph, or another version of it than the client."""


class MissingPackageError(MgraphError, ImportError):
    """An optional package, such as pandas, is not installed; the message says how to install it."""


class CheckpointError(MgraphError, ValueError):
    """A checkpoint is damaged, or of another call or another input than the one that is to go on from it.

    Examples
    --------
    >>> import pathlib
    >>> import tempfile
    >>> import mgraph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "checkpoint-000000000001.json").write_text("{}")
    ...     mgraph.apsp([[0, 3], [2, 0]], device="cpu", checkpoint=folder, resume=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.CheckpointError: no checkpoint can be used: ...
    """


class OutputExistsError(MgraphError, FileExistsError):
    """The output file exists, and `overwrite` is False.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> import tempfile
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     distances = mgraph.apsp([[0, 3], [2, 0]], client=client, device="cpu").distances
    ...     with tempfile.NamedTemporaryFile(suffix=".npy") as file:
    ...         distances.save(file.name)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mgraph.errors.OutputExistsError: ... exists: overwrite=True replaces it
    """


def interrupted(error: BaseException | None) -> bool:
    """Return whether an error was caused by Ctrl-C, which compiled code turns into other errors."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
