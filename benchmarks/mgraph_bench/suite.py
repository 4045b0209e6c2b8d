"""Suites: files that say which cases to measure, and which figures were published for them.

A suite is a TOML file in the folder of suites. Its name is that of the file::

    title = "All pairs: the blocked algorithm against naive and squaring"
    source = "Padamata and Raveendran, 2013"
    about = "What the study found, shown beside the plot."
    algorithm = "apsp"
    repeats = 7
    checks = ["diagonal", "rows"]

    [plot]
    x = "n"
    y = "seconds"
    series = ["method"]
    log = ["x", "y"]

    [[sweep]]
    graph = {make = "random_matrix", n = [512, 1024], high = 1000}
    call = {method = ["naive", "blocked"]}
    run = {device = "cpu"}

    [quick]
    n = [48, 96]
    repeats = 2

    [[published]]
    series = "blocked"
    machine = "Tesla M2090"
    beside = {method = "blocked"}
    x = [512, 1024]
    microseconds = [6558, 33225]

    [[claim]]
    words = "one core's time over the GPU's"
    published = "100 to 200 ×"
    of = "seconds"
    rows = {method = "scipy"}
    over = {method = "blocked", device = "cuda"}

    [traffic.splitter64]
    walk = 20

    [[drawing]]
    x = "n"
    y = "phases"
    words = "The time of each kernel."

A call is timed ``repeats`` times: `REPEATS` by default and at least, in quick runs as often as ``[quick]`` says.
Results have to pass ``checks``, some of those of the registry, before their times count; by default all of
them.

A sweep has a ``graph``, a maker of `mgraph_bench.inputs` with its arguments, a ``call``, the arguments of the public
call, and a ``run``, the conditions of the call (`mgraph_bench.schema.RUN`). Its ``algorithm`` replaces the suite's. A
list stands for each of its values; all combinations are measured. Values of ``[quick]`` replace those of the same name,
so that the whole suite runs in seconds.

A published y may be a pair, the ends of a band. Its ``beside`` says which rows are like it: the same algorithm, input
and count on the same kind of device. A ``[[claim]]`` is a statement of a study in words (`Claim`), a ``[[drawing]]`` a
further plot (`Drawing`). ``[traffic]`` has the bytes that an operation of a method moves for a unit of work as a study
counts them, ``[moved]`` as this project does; from these follow the rates of operations. Any other name in the file is
an error.
"""

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mgraph.errors import InputError
from mgraph.measuring import REPEATS

from . import CHECKOUT
from .phases import by_phase
from .schema import TIMES, check

#: Folder of the suites: in a wheel beside the modules, in a checkout ``benchmarks/suites``.
SUITES = next(
    folder for folder in (Path(__file__).parent / "suites", CHECKOUT / "benchmarks" / "suites") if folder.is_dir()
)


@dataclass(frozen=True)
class Plot:
    """A suite's plot: the names of its x, its y and the fields that distinguish series (see `value`), and its rows."""

    x: str
    y: str = "seconds"
    series: tuple[str, ...] = ("method",)
    log: tuple[str, ...] = ()
    kind: str = "line"
    rows: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawing:
    """A further plot of a suite, with words below it.

    Its x may be ``"round"``, of the times of an operation call by call. If it is ``relative``, a series shows how many
    times as fast it is as at its first x.
    """

    plot: Plot
    words: str
    relative: bool = False


@dataclass(frozen=True)
class Published:
    """A series of published figures, the study's machine, and the rows to compare with; times are in seconds.

    Of a band ``y`` is the lower end, ``upper`` the other.
    """

    series: str
    machine: str
    beside: dict[str, Any]
    x: tuple[Any, ...]
    y: tuple[float, ...]
    of: str = "seconds"
    upper: tuple[float, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement of a study in words, and how to compute the same from rows.

    Attributes
    ----------
    words, published : str
        Its subject, and the study's figure as text; if that is in percent, so is ours.
    of : str
        The name of what is measured (see `value`).
    rows : dict
        Which rows have it, by their values; a list is any of its values, an empty one none at all.
    over : dict or None
        Other rows, over whose figure that of `rows` is set, at each x that both have, the best row of each. Where these
        rows name the x themselves, the best of all. ``device`` lets one be of a CPU and the other of a GPU.
    best : bool
        Whether the best row of each side is taken, at whatever x.
    by : str
        Where it is given, `of` is that of the row that has the most of this.
    band : tuple of float
        The published figures as numbers, least and most, for a plot of ratios by x and for a verdict on ours.
    steepest : bool
        Whether it is of the greatest ratio of `of` from one x to the next, as of an inflection.
    """

    words: str
    published: str
    of: str
    rows: dict[str, Any]
    over: dict[str, Any] | None = None
    best: bool = False
    by: str = ""
    band: tuple[float, ...] = ()
    steepest: bool = False


@dataclass(frozen=True)
class Case:
    """One combination of a sweep's values, to be measured."""

    suite: str
    algorithm: str
    graph: dict[str, Any]
    call: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """A suite, as read from its file."""

    name: str
    title: str
    source: str
    about: str
    algorithm: str
    plot: Plot
    sweeps: tuple[dict[str, dict[str, Any]], ...]
    quick: dict[str, Any]
    published: tuple[Published, ...]
    claims: tuple[Claim, ...] = ()
    traffic: dict[str, dict[str, float]] = field(default_factory=dict)
    moved: dict[str, dict[str, float]] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    repeats: int = REPEATS
    checks: tuple[str, ...] = ()

    def repetitions(self, quick: bool = False) -> int:
        """Return the number of times that a call is timed."""
        return int(self.quick.get("repeats", self.repeats)) if quick else self.repeats

    def cases(self, quick: bool = False) -> Iterator[Case]:
        """Yield the cases of all sweeps, each once; those of one graph follow one another."""
        seen = []
        for sweep in self.sweeps:
            algorithms = sweep.get("algorithm", self.algorithm)
            tables = ({"algorithm": algorithms}, *(sweep.get(part, {}) for part in ("graph", "run", "call")))
            every = (_combinations(table, self.quick if quick else {}) for table in tables)
            for named, graph, run, call in itertools.product(*every):
                case = Case(self.name, named["algorithm"], graph, call, run)
                if case not in seen:
                    seen.append(case)
                    yield case


def _combinations(table: dict[str, Any], quick: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all combinations of a table's values, with one value for each name."""
    values = [quick.get(name, value) for name, value in table.items()]
    lists = [value if isinstance(value, list) else [value] for value in values]
    for chosen in itertools.product(*lists):
        yield dict(zip(table, chosen, strict=True))


def names() -> list[str]:
    """Return the names of all suites."""
    return sorted(path.stem for path in SUITES.glob("*.toml"))


def load(name: str) -> Suite:
    """Return the suite of a name.

    Raises
    ------
    InputError
        If there is no such suite, or its file is invalid.
    """
    path = SUITES / f"{name}.toml"
    if name not in names():
        raise InputError(f"suite {name!r} is not known: use one of {', '.join(names())}")
    try:
        text = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML or UTF-8
        raise InputError(f"{path.name} must be TOML: {error}") from error
    return parsed(name, text)


def parsed(name: str, text: dict[str, Any]) -> Suite:
    """Return the suite that a parsed file describes.

    Raises
    ------
    InputError
        If it does not describe a suite.
    """
    try:
        check(text)
    except InputError as error:
        raise InputError(f"{name}.toml: {error}") from None
    return Suite(
        name=name,
        title=text["title"],
        source=text["source"],
        about=" ".join(text["about"].split()),
        algorithm=text["algorithm"],
        plot=_plot(text["plot"]),
        sweeps=tuple(text["sweep"]),
        quick=text.get("quick", {}),
        published=tuple(map(_published, text.get("published", []))),
        claims=tuple(Claim(**claim | {"band": tuple(claim.get("band", ()))}) for claim in text.get("claim", [])),
        traffic=text.get("traffic", {}),
        moved=text.get("moved", {}),
        drawings=tuple(map(_drawing, text.get("drawing", []))),
        repeats=text.get("repeats", REPEATS),
        checks=tuple(text.get("checks", ())),
    )


def _plot(table: dict[str, Any]) -> Plot:
    given: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in table.items()}
    return Plot(**given)


def _drawing(table: dict[str, Any]) -> Drawing:
    own = {name: table[name] for name in ("words", "relative") if name in table}
    own["words"] = " ".join(own["words"].split())
    return Drawing(_plot({name: value for name, value in table.items() if name not in own}), **own)


def _published(table: dict[str, Any]) -> Published:
    (of,) = table.keys() - {"series", "machine", "beside", "x"}
    scale = TIMES.get(of, 1.0)
    ends = [each if isinstance(each, list) else [each] for each in table[of]]
    return Published(
        series=table["series"],
        machine=table["machine"],
        beside=table.get("beside", {}),
        x=tuple(table["x"]),
        y=tuple(least * scale for least, *_ in ends),
        of="seconds" if of in TIMES else of,
        upper=tuple(most * scale for _, *upper in ends for most in upper),
    )


def matches(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Return whether a row has the values: each its own, or one of a list; with an empty list, none at all."""
    return all(
        value(row, name) in (what or [None]) if isinstance(what, list) else value(row, name) == what
        for name, what in wanted.items()
    )


def value(row: dict[str, Any], name: str) -> Any:
    """Return a row's value of a name: an argument of its graph, else a field, else an argument of its call or run.

    Computed values: ``devices``; ``model`` and ``on``, the device's model and kind; ``edges``, undirected ones counted
    once; ``per_element`` and ``per_iteration``, the solve's time for each; ``per_device``, its rate on each;
    ``overhead``, load and collect over the solve; with a point, such as ``phases.walk``, a figure of an operation.
    """
    of, _, phase = name.partition(".")
    if phase:
        return by_phase(row, of).get(phase)
    if name == "devices":
        return row["device"]["count"]
    if name == "model":
        return row["device"]["model"]
    if name == "on":
        return row["device"]["kind"]
    if name == "per_element":
        return row["seconds"] / row["n"] if row.get("n") else None
    if name == "per_iteration":
        return row["seconds"] / row["iterations"] if row.get("iterations") else None
    if name == "per_device":
        return row["rate"] / row["device"]["count"] if row.get("rate") else None
    if name == "edges":
        return round(row["work"]) if row.get("unit") == "edges/s" else None
    if name == "overhead":
        return sum(row["transfers"].values()) / row["seconds"] if row.get("transfers") else None
    for table in (row.get("graph", {}), row, row.get("call", {}), row.get("run", {})):
        if table.get(name) is not None and not isinstance(table[name], dict):
            return table[name]
    return None
