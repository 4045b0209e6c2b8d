"""Schema of a suite's file: every name and value in it is checked before anything is measured."""

import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Union, get_args, get_origin, get_type_hints

from mgraph.algorithms.registry import ALGORITHMS
from mgraph.dtypes import DISTANCE_TYPES
from mgraph.errors import InputError
from mgraph.measuring import REPEATS

from .inputs import MAKERS, kind_of, parameters_of
from .peers import PEERS
from .phases import PHASED

Table = dict[str, Any]

#: Fields of a suite.
SUITE = (
    *("title", "source", "about", "algorithm", "repeats", "checks"),
    *("plot", "drawing", "sweep", "quick", "published", "claim", "traffic", "moved"),
)

#: Arguments of calls that the run gives, and suites may not.
GIVEN = ("source", "sources", "device", "client", "progress")

#: Fields of a sweep's run: the device; the library that is called instead of this one; Dask workers; random
#: sources that a search starts from, one after the other; thread blocks a launch (on a CPU, threads); the tile of the
#: (min, +) product; and where the input lies, ``"host"``, ``"workers"``, or, by default, the device.
RUN = ("device", "peer", "workers", "sources", "blocks", "tile", "where")

#: Fields that distinguish rows, in addition to the arguments of their cases, and fields that can be drawn.
TOLD_APART = ("n", "m", "edges", "method", "algorithm", "model", "on", "devices")
NUMBERS = (
    "seconds", "call_seconds", "first_call_seconds", "processor_seconds", "input_seconds", "spread", "per_element",
    "per_iteration", "overhead", "iterations", "work", "rate", "per_device", "bytes", "ceiling", "fraction",
    "peak_bytes", "predicted_bytes", "predicted_seconds", *PHASED,
)  # fmt: skip

#: How published times may be given, in seconds.
TIMES = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6}


def check(text: Table) -> None:
    """Raise unless a parsed file is a suite.

    Raises
    ------
    InputError
        The message quotes the file, and says what is allowed instead.
    """
    _look_at("a suite", text, SUITE, ("title", "source", "about", "algorithm", "plot", "sweep"))
    for name in ("title", "source", "about"):
        _require(isinstance(text[name], str), f"{name} must be text, got {text[name]!r}")
    _one_of("algorithm", text["algorithm"], ALGORITHMS)
    _require(bool(_tables("sweep", text["sweep"])), "sweep = [] leaves nothing to measure")
    quick = text.get("quick", {})
    _look_at("[quick]", quick, ("repeats", *_names(text["sweep"])))
    for sweep in text["sweep"]:
        _check_sweep(sweep, text["algorithm"], {})
        _check_sweep(sweep, text["algorithm"], quick)
    for table, least in ((text, REPEATS), (quick, 1)):
        times = table.get("repeats", REPEATS)
        enough = _fits(times, int) and times >= least
        _require(enough, f"repeats = {times!r} is too few or no number: use {least} or more")
    named = [name for sweep in text["sweep"] for name in _values(sweep.get("algorithm", text["algorithm"]))]
    algorithms = list(dict.fromkeys(named))
    _check_checks(text.get("checks"), algorithms)
    names = ("device", *TOLD_APART, *_names(text["sweep"]))
    _check_plot("[plot]", text["plot"], names)
    for drawing in _tables("drawing", text.get("drawing", [])):
        _check_plot("[[drawing]]", drawing, names, ("words", "relative"), ("y", "words"))
        _require(isinstance(drawing["words"], str), f"[[drawing]] words must be text, got {drawing['words']!r}")
        right = isinstance(drawing.get("relative", False), bool)
        _require(right, f"[[drawing]] relative must be true or false, got {drawing.get('relative')!r}")
    for series in _tables("published", text.get("published", [])):
        _check_published(series, names)
    for claim in _tables("claim", text.get("claim", [])):
        _check_claim(claim, names)
    methods = [method for name in algorithms for method in ALGORITHMS[name].methods]
    for name in ("traffic", "moved"):
        _look_at(f"[{name}]", text.get(name, {}), methods)
        for method, traffic in text.get(name, {}).items():
            right = isinstance(traffic, dict) and all(_fits(size, float) and size > 0 for size in traffic.values())
            _require(right, f"[{name}] {method} = {traffic!r} has no bytes by operation, such as {{walk = 12}}")


def _check_sweep(sweep: Table, algorithm: str, quick: Table) -> None:
    """Raise unless all names and values of a sweep are known; those of ``[quick]`` replace its own."""
    _look_at("a sweep", sweep, ("algorithm", "graph", "call", "run"), ("graph",))
    graph, call, run = (
        {name: quick.get(name, value) for name, value in _table(part, sweep.get(part, {})).items()}
        for part in ("graph", "call", "run")
    )
    algorithms = _values(quick.get("algorithm", sweep.get("algorithm", algorithm)))
    for name, value in (("algorithm", algorithms), *graph.items(), *call.items(), *run.items()):
        _require(value != [], f"{name} = [] leaves nothing to measure")
    for name in algorithms:
        _one_of("algorithm", name, ALGORITHMS)
        options = _hints(ALGORITHMS[name].call, GIVEN)
        if options is not None:
            _look_at(f"call, of {name},", call, options)
        for option, each in _each(call):
            if option == "method":
                _one_of(f"method, of {name},", each, ("auto", *ALGORITHMS[name].methods))
            elif options is not None:
                _check_value(option, each, options[option])
    _require("make" in graph, f"graph lacks 'make': use one of {', '.join(MAKERS)}")
    for make in _values(graph["make"]):
        _one_of("make", make, MAKERS)
        takers = [name for name, known in ALGORITHMS.items() if kind_of(make) in known.takes]
        for name in algorithms:
            _require(name in takers, f"{name} takes nothing of make = {make!r}: that is for {', '.join(takers)}")
        known, required = parameters_of(make)
        _look_at(f"graph, of make = {make!r},", graph, ("make", *known), required)
        for name, each in _each(graph):
            if name != "make":
                _check_value(name, each, known[name])
    _look_at("run", run, RUN)
    for name, each in _each(run):
        _check_run(name, each)


def _check_value(name: str, value: Any, hint: Any) -> None:
    """Raise unless an argument takes a value."""
    if name == "dtype":
        _one_of(name, value, ("auto", *(dtype.name for dtype in DISTANCE_TYPES)))
    words = f"{name} = {value!r} does not fit: it takes {getattr(hint, '__name__', hint)}"
    if "tuple" in str(hint):
        words += f"; as lists are swept value by value, write {name} = [[1, 10]]"
    _require(_fits(value, hint), words)


def _check_run(name: str, value: Any) -> None:
    """Raise unless a run takes a value."""
    if name == "device":
        right = isinstance(value, str) and re.fullmatch(r"cpu|cuda(:\d+)?", value)
        _require(bool(right), f"device = {value!r} is not known: use cpu, cuda or cuda:1")
    elif name == "tile":
        right = isinstance(value, str) and re.fullmatch(r"\d+x\d+ \d+x\d+ \d+", value)
        _require(bool(right), f"tile = {value!r} is none: write it as '64x64 8x8 5'")
    elif name in ("peer", "where"):
        _one_of(name, value, PEERS if name == "peer" else ("host", "device", "workers"))
    else:
        _require(_fits(value, int) and value > 0, f"{name} must be an integer of 1 or more, got {value!r}")


def _check_checks(names: Any, algorithms: Iterable[str]) -> None:
    """Raise unless the named checks exist, and every algorithm has at least one of them."""
    if names is None:
        return
    known = [name for algorithm in algorithms for name in ALGORITHMS[algorithm].checks]
    _require(isinstance(names, list) and names != [], f"checks must be a list of {_words(known)}, got {names!r}")
    for name in names:
        _one_of("checks", name, known)
    for algorithm in algorithms:
        some = ALGORITHMS[algorithm].checks
        _require(bool(some.keys() & names), f"checks = {names!r} leaves {algorithm} unproved: add {_words(some)}")


def _check_plot(
    what: str, drawing: Any, names: Iterable[str], further: Iterable[str] = (), needed: Iterable[str] = ()
) -> None:
    """Raise unless a plot names fields of rows."""
    _look_at(what, drawing, ("x", "y", "series", "log", "kind", "rows", *further), ("x", *needed))
    _look_at(f"{what} rows", drawing.get("rows", {}), names)
    _one_of(f"{what} x", drawing["x"], (*names, "round") if further else names)
    _one_of(f"{what} y", drawing.get("y", "seconds"), NUMBERS)
    _one_of(f"{what} kind", drawing.get("kind", "line"), ("line", "bars"))
    for part, allowed in (("series", names), ("log", ("x", "y"))):
        found = drawing.get(part, [])
        _require(isinstance(found, list), f"{what} {part} must be a list, got {found!r}")
        for name in found:
            _one_of(f"{what} {part}", name, allowed)


def _check_published(series: Table, names: Iterable[str]) -> None:
    """Raise unless published figures are positive numbers of a field of rows."""
    units = dict.fromkeys((*TIMES, *NUMBERS))
    _look_at("[[published]]", series, ("series", "machine", "beside", "x", *units), ("series", "machine", "x"))
    where = f"[[published]] {series['series']}"
    _require(isinstance(series["machine"], str), f"{where}: machine must be text, got {series['machine']!r}")
    _look_at(f"{where}: beside", series.get("beside", {}), ("phase", *names))
    of = [name for name in series if name in units]
    _require(len(of) == 1, f"{where} has figures of {_words(of) or 'nothing'}: give one of {_words(units)}")
    x, y = series["x"], series[of[0]]
    right = isinstance(x, list) and isinstance(y, list) and all(map(_positive, y))
    _require(right, f"{where}: x and {of[0]} are lists, the latter of numbers above 0, or of pairs of them")
    _require(len(x) == len(y), f"{where}: {len(x)} values of x and {len(y)} of {of[0]}")


def _check_claim(claim: Table, names: Iterable[str]) -> None:
    """Raise unless a claim is of a field of rows, or of the copy of ceilings."""
    needed = ("words", "published", "of", "rows")
    _look_at("[[claim]]", claim, (*needed, "over", "best", "by", "band", "steepest"), needed)
    where = f"[[claim]] {claim['words']}"
    for name in ("words", "published"):
        _require(isinstance(claim[name], str), f"{where}: {name} must be text, got {claim[name]!r}")
    of, _, phase = str(claim["of"]).partition(".")
    _one_of(f"{where}: of", of, PHASED if phase else (*NUMBERS, *names, "copy"))
    for name in ("best", "steepest"):
        flag = claim.get(name, False)
        _require(isinstance(flag, bool), f"{where}: {name} must be true or false, got {flag!r}")
    _require("over" in claim or not claim.get("best"), f"{where}: best is of the rows that over names")
    steepest = claim.get("steepest", False)
    _require(not (steepest and "over" in claim), f"{where}: steepest is of one series of rows: leave out over")
    _one_of(f"{where}: by", claim.get("by", "rate"), NUMBERS)
    for name in ("rows", "over"):
        _look_at(f"{where}: {name}", claim.get(name, {}), ("kind", *names))
    band = claim.get("band", [1, 1])
    _require(_fits(band, tuple[float, float]), f"{where}: band must be a pair of numbers, got {band!r}")


def _positive(value: Any) -> bool:
    """Return whether a value is a number above 0, or a pair of them, the ends of a band."""
    if isinstance(value, list):
        return len(value) == 2 and all(map(_positive, value))
    return _fits(value, float) and bool(value > 0)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value of a file has a type."""
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        return isinstance(value, list) and len(value) == len(parts) and all(map(_fits, value, parts))
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return hint is Any or (isinstance(hint, type) and isinstance(value, hint))


def _hints(call: Callable[..., Any], without: Iterable[str]) -> Table | None:
    """Return the types of a call's arguments but the first and those of `without`; None if it takes any."""
    _, *arguments = inspect.signature(call).parameters.values()
    if any(argument.kind is argument.VAR_KEYWORD for argument in arguments):
        return None
    hints = get_type_hints(call)
    return {argument.name: hints[argument.name] for argument in arguments if argument.name not in without}


def _names(sweeps: list[Table]) -> list[str]:
    """Return the names of all arguments of sweeps."""
    parts = [sweep[part] for sweep in sweeps for part in ("graph", "call", "run") if isinstance(sweep.get(part), dict)]
    named = [name for part in parts for name in part]
    return list(dict.fromkeys(named + ["algorithm"] * any("algorithm" in sweep for sweep in sweeps)))


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _each(table: Table) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        yield from ((name, each) for each in _values(value))


def _words(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _table(name: str, found: Any) -> Table:
    _require(isinstance(found, dict), f"{name} must be a table, got {found!r}")
    return dict(found)


def _tables(name: str, found: Any) -> list[Table]:
    right = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    _require(right, f"{name} must be a list of tables, [[{name}]], got {found!r}")
    return list(found)


def _look_at(what: str, table: Any, allowed: Iterable[str], required: Iterable[str] = ()) -> None:
    """Raise unless a table has all required names, and no others than the allowed ones."""
    names = list(_table(what, table))
    for name in names:
        _require(name in allowed, f"{what} has no {name!r}: use {_words(allowed)}")
    for name in required:
        _require(name in names, f"{what} lacks {name!r}")


def _one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    _require(isinstance(value, str) and value in allowed, f"{name} = {value!r} is not known: use {_words(allowed)}")


def _require(right: bool, words: str) -> None:
    if not right:
        raise InputError(words)
