"""An entry of the registry: what the planner, the command line, the benchmarks and the tests use of an algorithm."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..planning.plan import Plan
from .command import Command
from .work import Measure, Work

#: Raises `WrongResultError` unless a result is right, and returns in words how it was verified. Takes what was solved,
#: the result's arrays by name, and the vertex or vertices that it starts from, or None.
Check = Callable[[Any, dict[str, Any], Any], str]


class Sample(NamedTuple):
    """A call on a small input, which takes milliseconds.

    Attributes
    ----------
    given : Graph or array
        What is solved.
    options : dict of str to object
        Other arguments of the call, but for the method and the device.
    """

    given: Any
    options: dict[str, Any]

    @property
    def start(self) -> Any:
        """The vertex or vertices that the call starts from, or None."""
        return self.options.get("source", self.options.get("sources"))


class Planned(NamedTuple):
    """What has plans, but is no algorithm of a graph: a call that takes a prepared one.

    Attributes
    ----------
    planner, needs_edges, takes
        As of `Algorithm`.
    """

    planner: Callable[..., Plan]
    needs_edges: bool = True
    takes: tuple[str, ...] = ("graph",)


_declared: dict[str, "Algorithm"] = {}


def declare(*entries: "Algorithm") -> None:
    """List entries in the registry."""
    _declared.update((entry.name, entry) for entry in entries)


def all_declared() -> dict[str, "Algorithm"]:
    """Return the entries by their names, in alphabetical order."""
    return dict(sorted(_declared.items()))


def named(*names: str) -> Callable[[Any], dict[str, Any]]:
    """Return a function that reads these attributes of a result as a dict."""
    return lambda result: {name: getattr(result, name) for name in names}


@dataclass(frozen=True)
class Algorithm:
    """An entry of the registry.

    Attributes
    ----------
    name : str
        The name in plans, suites and the registry.
    call : callable
        The public call.
    planner : callable
        Returns a call's plan from the number of vertices, of edges and the devices, and options by name.
    needs_edges : bool
        Whether a plan needs the number of edges.
    methods : tuple of str
        What the call's ``method`` may be besides ``"auto"``; none where the call has no such argument.
    checks : dict of str to Check
        The checks of a result, by the names that suites give.
    work : Measure
        Returns the work of a call by a method that reads all edges: see `measured`.
    samples : callable
        Yields samples for a method, or ``"auto"``. Together they reach every kernel of the algorithm on a GPU.
    further : callable
        Yields samples of further kinds, which take other kernels on a CPU, or kernels for other types: with other
        results, negative weights, large inputs. Warm-ups run them by ``"auto"`` unless their options name a method.
    arrays : callable
        Returns the arrays of a result by name, which checks and `work` are given: see `named`.
    command : Command or None
        What the command line offers, if anything.
    further_commands : tuple of Command
        Those of other calls of the same methods.
    cpu_only : tuple of str
        Methods that only a CPU has.
    skipping : tuple of str
        Methods that skip edges once a vertex or a component is found, so that reading all edges is no lower bound.
    takes : tuple of str
        The kinds of input: ``"graph"``, ``"matrix"``, ``"list"``.
    start : str
        The argument that says where a call starts: ``"source"``, ``"sources"``, or "" for none.
    unique : tuple of str
        The result's arrays that every method returns bit for bit: a result that equals a verified one is right.
    rounds : callable
        Returns the rounds, levels or products that a result took; None where none are counted.
    by_vertex : dict of str to str
        Other libraries' functions of a graph alone whose values of the vertices are the result's first array, by the
        library: the backend of NetworkX and the benchmarks are made from it.
    """

    name: str
    call: Callable[..., Any]
    planner: Callable[..., Plan]
    needs_edges: bool
    methods: tuple[str, ...]
    checks: dict[str, Check]
    work: Measure
    samples: Callable[[str], Iterator[Sample]]
    arrays: Callable[[Any], dict[str, Any]]
    further: Callable[[], Iterable[Sample]] = tuple
    command: Command | None = None
    further_commands: tuple[Command, ...] = ()
    cpu_only: tuple[str, ...] = ()
    skipping: tuple[str, ...] = ()
    takes: tuple[str, ...] = ("graph",)
    start: str = ""
    unique: tuple[str, ...] = ()
    rounds: Callable[[Any], int | None] = lambda result: None
    by_vertex: Mapping[str, str] = field(default_factory=dict)

    def run(self, sample: Sample, method: str, device: str) -> Any:
        """Return the result of a sample by a method on a device."""
        options = {"method": method} if self.methods else {}
        return self.call(sample.given, **options | sample.options, device=device)

    def measured(self, given: Any, plan: Plan | None, arrays: dict[str, Any]) -> Work:
        """Return the work of a call, without a bound of its traffic if its method skips edges."""
        found = self.work(given, plan, arrays)
        return found._replace(bytes=None) if plan is not None and plan.method in self.skipping else found

    def check(self, given: Any, arrays: dict[str, Any], start: Any = None, names: Iterable[str] = ()) -> str:
        """Raise unless a result is right; return in words how it was verified.

        Parameters
        ----------
        given : Graph, array of shape (n, n), or array of shape (n,)
            What was solved.
        arrays : dict of str to array
            The result's, by name.
        start : int or sequence of int, optional
            The vertex or vertices that the call started from.
        names : iterable of str
            Which of the checks to make; by default all.

        Raises
        ------
        WrongResultError
            If the result is wrong.
        """
        wanted = tuple(names) or self.checks
        words = [check(given, arrays, start) for name, check in self.checks.items() if name in wanted]
        return ", ".join(filter(None, words))
