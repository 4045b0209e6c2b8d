"""Suites: declarative files, each a sweep of one algorithm over its parameters, with the figures published for it.

A suite is a TOML file in the folder of suites, named by it::

    title = "All pairs: the blocked algorithm against naive and squaring"
    source = "Padamata and Raveendran, 2013"
    about = "What the study found, to be read beside the plot."
    algorithm = "apsp"

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

    [[published]]
    series = "blocked, Tesla M2090"
    beside = {method = "blocked"}
    x = [512, 1024]
    microseconds = [6558, 33225]

    [traffic.splitter64]
    walk = 12

A sweep's ``graph`` names a maker of `mgraph.bench.inputs` and its arguments, ``call`` has the arguments of the public
call, ``run`` what is around it (`RUN`); its ``algorithm`` may be another than the suite's. Where an argument is a list,
every value is taken, in all combinations. ``[quick]`` puts fewer and smaller values in the place of what has its name,
so that the whole suite runs in seconds. ``[traffic]`` has the bytes that an operation of a method moves for an element,
for the rates of operations.
"""

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError

#: The checkout that this module lies in, if it lies in one.
CHECKOUT = Path(__file__).resolve().parents[2]

#: Where the suites are: beside the modules in a wheel, at the top of a checkout.
SUITES = next(
    folder for folder in (Path(__file__).parent / "suites", CHECKOUT / "benchmarks" / "suites") if folder.is_dir()
)

#: What a sweep may say of a run: the device; the library that is called instead of this one; Dask workers; random
#: sources that a search starts from, one after the other; thread blocks a launch (on a CPU, threads); the tile of the
#: (min, +) product; and where the input lies, ``"host"`` or, by default, the device.
RUN = ("device", "peer", "workers", "sources", "blocks", "tile", "where")

_PARTS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6}


@dataclass(frozen=True)
class Plot:
    """How a suite is drawn: the names of what goes along x and y and of what tells series apart (see `value`)."""

    x: str
    y: str = "seconds"
    series: tuple[str, ...] = ("method",)
    log: tuple[str, ...] = ()
    kind: str = "line"


@dataclass(frozen=True)
class Published:
    """A series of figures that a study prints, and which of the rows it is set beside; times are in seconds."""

    series: str
    beside: dict[str, Any]
    x: tuple[Any, ...]
    y: tuple[float, ...]
    of: str = "seconds"


@dataclass(frozen=True)
class Case:
    """One combination of a sweep's values: what is to be measured."""

    suite: str
    algorithm: str
    graph: dict[str, Any]
    call: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """A suite as its file has it; `cases` goes through it."""

    name: str
    title: str
    source: str
    about: str
    algorithm: str
    plot: Plot
    sweeps: tuple[dict[str, dict[str, Any]], ...]
    quick: dict[str, Any]
    published: tuple[Published, ...]
    traffic: dict[str, dict[str, float]] = field(default_factory=dict)

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
    """Yield a table with one value for each name, in all combinations."""
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
        If there is no such suite, or its file is not one.
    """
    path = SUITES / f"{name}.toml"
    if name not in names():
        raise InputError(f"suite {name!r} is not known: use one of {', '.join(names())}")
    try:
        return parsed(name, tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path.name} is no suite: {error!r}; mgraph.bench.suite tells what one has") from error


def parsed(name: str, text: dict[str, Any]) -> Suite:
    """Return the suite that a parsed file describes."""
    plot: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in text["plot"].items()
    }
    for sweep in text["sweep"]:
        unknown = sweep.keys() - {"algorithm", "graph", "call", "run"} or sweep.get("run", {}).keys() - set(RUN)
        if unknown:
            raise ValueError(
                f"a sweep has algorithm, graph, call and run, and run has {', '.join(RUN)}: not {min(unknown)}"
            )
    return Suite(
        name=name,
        title=text["title"],
        source=text["source"],
        about=" ".join(text["about"].split()),
        algorithm=text["algorithm"],
        plot=Plot(**plot),
        sweeps=tuple(text["sweep"]),
        quick=text.get("quick", {}),
        published=tuple(map(_published, text.get("published", []))),
        traffic=text.get("traffic", {}),
    )


def _published(table: dict[str, Any]) -> Published:
    (of,) = table.keys() - {"series", "beside", "x"}
    x, y = table["x"], table[of]
    if len(x) != len(y):
        raise ValueError(f"{table['series']}: {len(x)} values of x and {len(y)} of {of}")
    scale = _PARTS.get(of, 1.0)
    return Published(
        series=table["series"],
        beside=table.get("beside", {}),
        x=tuple(x),
        y=tuple(value * scale for value in y),
        of="seconds" if of in _PARTS else of,
    )


def value(row: dict[str, Any], name: str) -> Any:
    """Return what a row has by a name: a field, or an argument of its call, run or graph; None where there is none."""
    if name == "devices":
        return row["device"]["count"]
    if name == "model":
        return row["device"]["model"]
    if name == "per_element":
        return row["seconds"] / row["n"] if row.get("n") else None
    if name == "overhead":
        return row["call_seconds"] / row["seconds"] - 1 if row.get("transfers") else None
    for table in (row, row["call"], row["run"], row["graph"]):
        if table.get(name) is not None and not isinstance(table[name], dict):
            return table[name]
    return None
