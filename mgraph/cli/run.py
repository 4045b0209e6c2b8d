"""Run a call with the options of the command line: read the input, run, save and print."""

import contextlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

import mgraph

from .. import generate, lazy
from ..algorithms.command import Command, Summary
from ..device.clock import COMPILING
from ..errors import Argument, ArgumentValue, InputError, MgraphError, parts_of, printable, renamed
from ..graph import Graph, PlacedGraph
from ..hierarchy import Hierarchy
from ..io import RESULT_FORMATS, check_output, path_of, suffix_of
from ..planning.plan import Plan
from ..reading import read
from ..results import PARTS
from ..runtime.checkpoints import checked_checkpoints, held
from ..runtime.program import plans_shown
from ..runtime.progress import shown_on
from .commands import WORDS
from .interrupts import closed, stoppable
from .messages import explained, logged_warnings
from .options import READING, Output, Scheduler
from .summaries import as_json_text, described
from .vertices import named_vertices
from .workers import check_workers, client_of


def run_on_graph(
    call: Callable[..., Any],
    offered: Command,
    *,
    files: tuple[str, ...],
    scale: int | None,
    resident: str | None,
    directed: bool | None,
    hierarchy: Path | None = None,
    **options: Any,
) -> None:
    """Perform a call on the graph that the options name."""
    reading = {name: options.pop(name) for name in READING}
    if bool(files) + (scale is not None) + (resident is not None) + (hierarchy is not None) != 1:
        others = "--rmat SCALE, --hierarchy FILE" if offered.prepared else "--rmat SCALE"
        raise click.UsageError(f"give either FILE, {others} or --resident NAME")
    there = "--resident" if hierarchy is None else "--hierarchy"
    read_before = resident is not None or hierarchy is not None
    if read_before and (directed is not None or _says_how_to_read(reading)):
        raise click.UsageError(f"--directed, --undirected, {_READING} do not go with {there}")
    if hierarchy is not None:
        sent = options["workers"] is not None or options["scheduler"].named
        prepared = partial(Hierarchy.load, hierarchy, device="cpu" if sent else options["device"])
        perform(call, offered, prepared, lambda made: described(made.graph), None, **options)
        return
    if not offered.weights and reading["source_column"] is not None and reading["weight_column"] is None:
        reading["weighted"] = reading["weighted"] or False
    given = graph_given(files, scale, directed, **reading)
    perform(call, offered, given, described, resident, **options)


#: The options that say how to read a file.
_READING = "--format, --n, --weighted, --unweighted, --relabel, --dense and columns"

#: The arguments of `mgraph.read` that the options of columns give.
_COLUMNS = ("source", "target", "weight")


def _says_how_to_read(reading: Mapping[str, Any]) -> bool:
    return any(option is not None and option is not False for option in reading.values())


def graph_given(
    files: tuple[str, ...],
    scale: int | None,
    directed: bool | None,
    **reading: Any,
) -> Callable[[], Graph]:
    """Return a function that reads or generates the graph that the options describe; `reading` has those of READING."""
    if scale is not None and _says_how_to_read(reading):
        raise click.UsageError(f"{_READING} say how to read FILE: they do not go with --rmat")
    if len(files) > 1 and "-" in files:
        raise click.UsageError("'-', standard input, goes with no other FILE")

    def graph() -> Graph:
        if scale is not None:
            return generate.rmat(scale, directed=bool(directed))
        with _columns_named():
            return read(input_of(files), directed=directed, **read_arguments(reading))

    return graph


def read_arguments(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `mgraph.read` that the options in READING give."""
    return {name.removesuffix("_column"): value for name, value in reading.items()}


@contextlib.contextmanager
def _columns_named() -> Iterator[None]:
    """Call arguments of `mgraph.read` in its errors by the options of columns: ``--source`` is that of a search."""
    try:
        yield
    except MgraphError as error:
        names = {part.name for part in parts_of(error) if isinstance(part, (Argument, ArgumentValue))}
        if not names & set(_COLUMNS):
            raise
        raise renamed(error, {name: f"{name}_column" for name in _COLUMNS}) from error


def input_of(files: tuple[str, ...]) -> Any:
    """Return what `mgraph.read` takes for some files."""
    return list(files) if len(files) > 1 else opened(*files)


def opened(file: str) -> str | IO[bytes]:
    """Return what is to be read: standard input where the file is called "-"."""
    if file != "-":
        return file
    if closed(sys.stdin):
        raise InputError("FILE must be a path where standard input is closed, got '-'")
    return sys.stdin.buffer


def perform(
    call: Callable[..., Any],
    offered: Command,
    read_input: Callable[[], Any],
    describe: Callable[[Any], tuple[dict[str, Any], str]],
    resident: str | None = None,
    *,
    device: str | None,
    workers: int | None,
    scheduler: Scheduler,
    output: Output,
    **options: Any,
) -> None:
    """Read the input or find the published graph `resident`, make the call, save and print what it returned."""
    _check_resident(resident, device, scheduler)
    check_workers(workers, scheduler)
    added = {each.name: bool(options[each.name]) for each in offered.options if each.array}
    out = output.out
    shown: list[Plan] = []
    if out is not None:
        _check_output_of(offered, out, output.overwrite, added)
    with checkpoints_of(options) as kept:
        started = time.perf_counter()
        given = read_input() if resident is None else None
        seconds = {"read": time.perf_counter() - started}
        with client_of(workers, scheduler, device) as client:
            where = {"device": device, "client": client, "worker_timeout": scheduler.worker_timeout}
            if resident is not None:
                started = time.perf_counter()
                given, where = mgraph.resident(resident, client, worker_timeout=scheduler.worker_timeout), {}
                seconds = {"find": time.perf_counter() - started}
            for each in (each for each in offered.options if each.vertices and options[each.name] is not None):
                options[each.name] = named_vertices(options[each.name], _ids_of(given), options["ids"])
            with _watched(call.__name__, output, shown, client is not None) as progress:
                result = call(given, **where, progress=progress, **options | kept)
            seconds |= {part: result.timings[part] for part in PARTS}
            if out is not None:
                result.save(out, output.overwrite, graph=_graph_for(out, given))
            if output.quiet and not output.as_json:
                return
            found = offered.summary(_graph_of(given), result, options)
    known, description = describe(given)
    if output.as_json:
        used = None if client is None else len(result.plan.devices)
        facts = _facts(result.plan, known, added, used, seconds)
        click.echo(as_json_text(facts | found.facts | {"out": out}))
        return
    _show(result.plan, shown)  # unless it was: an empty graph needs no run
    click.echo(description)
    _print(found, seconds, out)


@contextlib.contextmanager
def _watched(
    name: str, output: Output, shown: list[Plan], by_workers: bool
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a call's plan and progress, log its warnings, and let Ctrl-C end it; return what the call reports to."""
    hidden = output.quiet or closed(sys.stderr) or None  # None: shown on a terminal only
    with (
        lazy.tqdm()(desc=name, unit=" steps", leave=False, disable=hidden) as bar,
        stoppable(by_workers=by_workers) as look,
        COMPILING.listening(lambda what: _compiling(bar, name, what, look)),
        plans_shown(lambda plan: None if output.quiet or output.as_json else _show(plan, shown)),
        logged_warnings(),
    ):
        show = shown_on(bar)

        def progress(done: int, total: int | None) -> None:
            show(done, total)
            look()

        yield progress
        look()


def _check_resident(resident: str | None, device: str | None, scheduler: Scheduler) -> None:
    """Raise unless a published graph has a scheduler, and no device."""
    if resident is None:
        return
    if not scheduler.named:
        raise click.UsageError("--resident goes with --scheduler or --scheduler-file")
    if device is not None:
        raise click.UsageError("--device does not go with --resident: the graph runs where it lies")


def _print(found: Summary, seconds: dict[str, float], out: str | None) -> None:
    """Print what was found, in how many seconds, and where it was saved."""
    click.echo("time: " + ", ".join(f"{part} {taken:.3g} s" for part, taken in seconds.items() if taken))
    if found.unit:
        click.echo(f"rate: {lazy.tqdm().format_sizeof(found.facts['rate'])} {found.unit} a second")
    click.echo(found.words)
    if out is not None:
        click.echo(f"saved: {printable(out)}")


def _graph_for(out: str, given: Any) -> Any:
    """Return the graph that a file of its vertices' values needs, copied from workers if it lies there."""
    graph = _graph_of(given)
    as_graph = suffix_of(path_of(out)).startswith((".graphml", ".gexf"))
    return graph.to_graph() if as_graph and isinstance(graph, PlacedGraph) else graph


def _show(plan: Plan, shown: list[Plan]) -> None:
    """Print the first plan of a call, before it runs; further ones are those of its parts."""
    if not shown and not closed(sys.stderr):
        lazy.tqdm().write(explained(plan), file=sys.stderr)
    shown.append(plan)


def _ids_of(given: Any) -> Any:
    """Return the ids of a call's input, or None."""
    return getattr(_graph_of(given), "ids", None)


def _graph_of(given: Any) -> Any:
    """Return a call's input, of a hierarchy its graph."""
    return given.graph if isinstance(given, Hierarchy) else given


def _facts(
    plan: Plan, known: dict[str, Any], added: dict[str, bool], workers: int | None, seconds: dict[str, float]
) -> dict[str, Any]:
    """Return what --json prints of every call: the input's `known` facts, and which arrays were `added`."""
    return {
        "version": mgraph.__version__,
        "algorithm": plan.algorithm,
        "method": plan.method,
        **known,
        "dtype": plan.dtype,
        "predecessors": plan.predecessors,
        **added,
        "devices": [spec.name for spec in plan.devices],
        "workers": workers,
        "peak_bytes": plan.peak_bytes,
        "timings": seconds,
    }


def _check_output_of(offered: Command, out: str, overwrite: bool, added: dict[str, bool]) -> None:
    """Refuse a file that cannot be written, or cannot hold the arrays of the result."""
    check_output(out, overwrite, tuple(RESULT_FORMATS))
    suffix = suffix_of(path_of(out))
    if suffix in offered.not_in:
        raise click.UsageError(f"{out} cannot hold the result of mgraph {offered.name}: {offered.not_in[suffix]}")
    for name in (name for name, wanted in added.items() if wanted and suffix == ".npy"):
        raise click.UsageError(f"a .npy file holds the main array only: with --{name}, give a .npz file")


@contextlib.contextmanager
def checkpoints_of(options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Hold the folder of a command's checkpoints; return the call's argument for them, if the command has one.

    The command that begins to write them is noted there, for ``mgraph resume``.
    """
    given = options.get("checkpoint"), options.get("checkpoint_every"), options.get("resume", False)
    wanted = checked_checkpoints(*given)
    with held(wanted):
        words = click.get_current_context().meta[WORDS]
        again = "-" not in words  # standard input cannot be read again
        if wanted is not None and again and not wanted.store.numbers():
            try:
                wanted.store.write_command(words)
            except Exception as error:  # of any library by which fsspec knows URLs; the call goes on
                warnings.warn(f"mgraph resume will not know this command: {error}", RuntimeWarning, stacklevel=2)
        yield {} if wanted is None else {"checkpoint": wanted}


def _compiling(bar: Any, name: str, what: str, look: Callable[[], None]) -> None:
    """Show in the progress bar which kernel is being compiled; after each kernel, check for Ctrl-C.

    A first call compiles several kernels before its first span ends.
    """
    bar.set_description(f"{name}: compiling kernels (first use: {what})" if what else name)
    if not what and threading.current_thread() is threading.main_thread():
        look()
