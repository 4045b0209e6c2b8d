"""The command line: ``mgraph COMMAND``, each command a call of the library.

What a command finds goes to standard output, everything else to standard error. Exit codes: 0 if all went well, 2 for
arguments that cannot be used, an output file that exists and too little memory, 130 after Ctrl-C, 143 after SIGTERM, 1
for any other failure.
"""

import contextlib
import dataclasses
import json
import logging
import math
import os
import platform
import re
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from multiprocessing import resource_tracker
from pathlib import Path
from typing import IO, Any, NoReturn, TextIO

import click
import numpy as np
from tqdm import tqdm

import mgraph

from . import device as devices
from . import generate, namesake
from .algorithms.apsp.plan import METHODS, SEARCHES
from .algorithms.bfs import by_level as bfs_by_level
from .algorithms.bfs.plan import BFS_METHODS
from .algorithms.components import plan as components_plan
from .algorithms.list_rank import plan as ranking_plan
from .algorithms.sssp import plan as sssp_plan
from .arguments import checked_bytes
from .device.clock import COMPILING
from .dtypes import DISTANCE_TYPES, infinity
from .errors import DeviceError, FormatError, InputError, MemoryLimitError, OutputExistsError, interrupted
from .graph import Graph
from .io import FORMATS, check_output, read, read_list, save
from .planning.devices import spec_of
from .planning.rates import FILE, folder_of_figures

if _replaced := namesake.replaced():
    sys.exit(f"mgraph: error: {_replaced}")

Result = (
    mgraph.ApspResult
    | mgraph.BfsResult
    | mgraph.ClosureResult
    | mgraph.ComponentsResult
    | mgraph.ListRankResult
    | mgraph.SsspResult
)

#: Elements of a distance matrix summed up at a time.
ELEMENTS_AT_A_TIME = 1 << 22


#: Seconds that Python has after a second Ctrl-C to end a call in its own way.
SECOND_CTRL_C = 0.5


class Failure(click.ClickException):
    """An error as the user sees it: one line and an exit code."""

    def __init__(self, error: Exception) -> None:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        elif isinstance(error, mgraph.MgraphError):
            text = _in_options(text)
        else:
            text = f"{type(error).__name__}: {text} (--debug shows where)"
        super().__init__(" ".join(text.split()))

    def show(self, file: Any = None) -> None:
        """Print the line."""
        click.echo(f"mgraph: error: {self.message}", err=True)


class Misuse(Failure):
    """An error in how the command was called."""

    exit_code = 2


class Command(click.Command):
    """A command whose errors and warnings are one line each; ``--debug`` adds the traceback and Dask's log."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(click.Option(["--debug"], is_flag=True, help="Show an error's traceback, and Dask's log."))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        debug = ctx.params.pop("debug")
        logged = logging.root.manager.disable
        if not debug:
            logging.disable()  # what Dask logs at length when a connection ends, an error says in a line
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            _stop(ctx, error)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise  # click knows what to do
        except Exception as error:
            if interrupted(error):
                _stop(ctx)
            if debug:
                traceback.print_exc()
            refused = InputError, MemoryLimitError, OutputExistsError
            misuse = isinstance(error, refused) and not isinstance(error, FormatError)
            raise (Misuse if misuse else Failure)(error) from error
        finally:
            logging.disable(logged)


class Terminated(KeyboardInterrupt):
    """SIGTERM, where it ends a command as Ctrl-C does."""


def _stop(ctx: click.Context, error: BaseException | None = None) -> NoReturn:
    terminated = isinstance(error, Terminated)
    click.echo("mgraph: terminated" if terminated else "mgraph: interrupted", err=True)
    ctx.exit(128 + (signal.SIGTERM if terminated else signal.SIGINT))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = _in_options(_versions_in_words(str(message)))
    click.echo(f"mgraph: warning: {' '.join(text.split())}", err=True)


def _versions_in_words(text: str) -> str:
    """Return Dask's table of mismatched versions as a sentence, and any other text as it is."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|"]
    if "Mismatched versions found" not in text or not rows:
        return text
    (_, *places), *packages = rows
    found = "; ".join(
        f"{name}: "
        + ", ".join(f"{version} on {place.lower()}" for place, version in zip(places, versions, strict=True))
        for name, *versions in packages
    )
    return f"the versions of packages differ ({found})"


def _in_options(text: str) -> str:
    """Return what the library says with the options of the command in the place of the arguments that they give.

    The names of files that the command was given stay as they are.
    """
    context = click.get_current_context(silent=True)
    if context is None:  # another thread warns
        return text
    given = [path for path in context.params.values() if isinstance(path, Path)]
    names = sorted({str(way) for path in given for way in (path, path.resolve())}, key=len, reverse=True)
    if not names:
        return _with_options(text, context.command.params)
    parts = re.split(rf"(?<![\w./-])({'|'.join(map(re.escape, names))})(?!\w)", text)
    return "".join(part if part in names else _with_options(part, context.command.params) for part in parts)


def _with_options(text: str, parameters: list[click.Parameter]) -> str:
    for option in parameters:
        if not isinstance(option, click.Option):
            continue
        argument, spelled = rf"(?<![\w./-]){option.name}=", max(option.opts, key=len)
        text = re.sub(rf"^{option.name} (?=must|is)", f"{spelled} ", text)
        if option.is_flag:
            text = re.sub(rf"{argument}True\b", spelled, text)
            for other in option.secondary_opts:
                text = re.sub(rf"{argument}False\b", other, text)
        else:
            text = re.sub(rf"{argument}(?=[^\s,)])", f"{spelled} ", text)
            text = re.sub(argument, spelled, text)
        if option.name == "workers":
            text = text.replace("client=", spelled)
        if option.name == "tls_ca_file":
            text = text.replace("security=", "--tls-ca-file, --tls-cert and --tls-key")
    return text


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Turn a system's error, such as a full disk's, into one line; click knows what to do with a broken pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(error) from error


#: The group of entry points by which other packages add commands: a name, and the click command that it stands for.
COMMANDS = "mgraph.commands"


class Commands(click.Group):
    """The commands, those of other packages too; what goes wrong before one runs, as in its help, is one line too."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted({*super().list_commands(ctx), *metadata.entry_points(group=COMMANDS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name; None where there is none."""
        own = super().get_command(ctx, cmd_name)
        others = () if own is not None else metadata.entry_points(group=COMMANDS, name=cmd_name)
        return next((point.load() for point in others), own)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the options before the command."""
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Parse the command's own options and run it."""
        with _one_line():
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(mgraph.__version__, prog_name="mgraph")
def main() -> None:
    """Graph algorithms by one call: on a CPU, on one GPU, on all GPUs of a host, on a Dask cluster."""


def _options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds all of these, in this order."""

    def add(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return add


_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class Bytes(click.ParamType):
    """A number of bytes: 150000000000, 1.5e11, 150GB or 140GiB."""

    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            return checked_bytes("the value" if param is None else max(param.opts, key=len), value)
        except InputError as error:
            self.fail(str(error), param, ctx)


def _method_option(*methods: str) -> Callable[[Any], Any]:
    """Return the option ``--method`` of a command that has these."""
    names = f"auto, {', '.join(methods[:-1])} or {methods[-1]}."
    return click.option("--method", default="auto", metavar="NAME", help=names)


def _pairs_options(dtype_help: str, *more_types: str) -> Callable[[Any], Any]:
    """Return the options that `apsp` and `plan` share."""
    types = click.Choice([*(dtype.name for dtype in DISTANCE_TYPES), *more_types])
    return _options(
        click.option("--dtype", type=types, help=dtype_help),
        click.option("--intermediate", is_flag=True, help="Find the highest intermediate vertices, not predecessors."),
        click.option("--block", type=int, metavar="N", help="Pivots eliminated at a time: 32, 64, 96 or 128."),
    )


_memory_limit_option = click.option(
    "--memory-limit", type=Bytes(), metavar="BYTES", help="What may be taken of each device, e.g. 4GiB."
)


_span_option = click.option(
    "--span", type=int, metavar="N", help="Supersteps between two barriers; by default about a second's worth."
)

_predecessors_option = click.option("--predecessors", is_flag=True, help="Find the predecessors too.")

#: A file to read; "-" is standard input.
_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)

_input_options = _options(
    click.argument("file", required=False, type=_FILE),
    click.option("--rmat", "scale", type=int, metavar="SCALE", help="Make a graph of 2^SCALE vertices; needs no FILE."),
    click.option(
        "--format", type=click.Choice(list(FORMATS)), help="FILE's format; by default found from its suffix or content."
    ),
    click.option("--n", type=int, metavar="N", help="Number of vertices, where FILE does not say it."),
    click.option("--directed/--undirected", default=None, help="By default as FILE says, else directed."),
    click.option("--weighted/--unweighted", default=None, help="By default weighted if FILE has weights."),
    click.option("--relabel", is_flag=True, help="Number the ids in use from 0, in ascending order."),
    click.option(
        "--dense",
        type=click.Choice(["adjacency", "distances"]),
        help="What zeros mean in a dense FILE: no edges (adjacency), or edges of weight zero (distances). Needed if "
        "FILE has zeros off its diagonal and no infinity.",
    ),
)

_TARGET = "Search no farther than this vertex, and print its distance and, with --predecessors, the route to it."

_SOURCE = "The vertex to start from: 0 to n-1 as mgraph numbers them, after --relabel and from 0 in every format."

_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)

_run_options = _options(
    click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one."),
    click.option("--workers", type=int, metavar="N", help="Run on N Dask workers of this machine."),
    click.option("--scheduler", metavar="ADDRESS", help="Run on the workers of this Dask scheduler."),
    click.option(
        "--scheduler-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The same, with the address in the file that 'dask scheduler --scheduler-file' wrote.",
    ),
    click.option(
        "--worker-timeout",
        type=float,
        metavar="SECONDS",
        help="How long a worker may be silent before the run ends in an error; by default 60.",
    ),
    click.option("--tls-ca-file", type=_PEM, help="The CA's certificate, if the scheduler uses TLS."),
    click.option("--tls-cert", type=_PEM, help="This client's certificate; needed with --tls-ca-file."),
    click.option("--tls-key", type=_PEM, help="This client's private key, unless --tls-cert's file holds it."),
    _memory_limit_option,
    _span_option,
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Save the result (.npy), or all of it with the relabelled ids (.npz).",
    ),
    click.option("--overwrite", is_flag=True, help="Replace the output file if there is one."),
    click.option("--quiet", is_flag=True, help="Print only warnings, errors and what --json prints."),
    _json_option,
)


@main.command(epilog="Example: mgraph apsp --rmat 11 --out distances.npy")
@_input_options
@_method_option(*METHODS)
@_pairs_options("The type to compute in; by default that of the weights; auto: the narrowest that is exact.", "auto")
@_predecessors_option
@_run_options
def apsp(**given: Any) -> None:
    """Find the shortest paths between all pairs of the vertices of FILE's graph."""
    _run(mgraph.apsp, _pairs, **given)


@main.command(epilog="Example: mgraph bfs roads.gr --source 0 --predecessors --out tree.npz")
@_input_options
@click.option(
    "--source",
    "sources",
    type=int,
    multiple=True,
    default=(0,),
    show_default="0",
    metavar="V",
    help=f"{_SOURCE} Give it again to start from several at once.",
)
@click.option(
    "--limit", type=int, metavar="N", help="Greatest distance to search to; vertices beyond it count as unreached."
)
@click.option("--max-depth", type=int, hidden=True)  # the former name, which the call warns of
@click.option("--target", type=int, metavar="V", help=_TARGET)
@_method_option(*BFS_METHODS, *bfs_by_level.METHODS)
@_predecessors_option
@_run_options
def bfs(**given: Any) -> None:
    """Find every vertex's distance in edges from one vertex of FILE's graph, or from the nearest of several."""
    _run(mgraph.bfs, partial(_levels, target=given["target"]), **given)


@main.command(epilog="Example: mgraph sssp roads.gr --source 0 --predecessors --out tree.npz")
@_input_options
@click.option("--source", type=int, default=0, show_default=True, metavar="V", help=_SOURCE)
@click.option("--dtype", type=click.Choice(["float32", "float64", "int32"]), help="By default that of the weights.")
@click.option(
    "--limit", type=float, metavar="D", help="Greatest distance to search to; vertices beyond it count as unreached."
)
@click.option("--target", type=int, metavar="V", help=_TARGET)
@_method_option(*sssp_plan.METHODS)
@_predecessors_option
@_run_options
def sssp(**given: Any) -> None:
    """Find the shortest paths from one vertex of FILE's graph."""
    _run(mgraph.sssp, partial(_lengths, target=given["target"]), **given)


@main.command(epilog="Example: mgraph components friends.txt --relabel --out labels.npy")
@_input_options
@_method_option(*components_plan.METHODS)
@click.option("--connection", type=click.Choice(["weak", "strong"]), default="weak", show_default=True)
@_run_options
def components(**given: Any) -> None:
    """Find the connected components of FILE's graph; each vertex is labelled with the least of its own."""
    _run(mgraph.connected_components, _sizes, **given)


@main.command(epilog="Example: mgraph closure calls.txt --relabel --out reachable.npy")
@_input_options
@click.option("--reflexive/--irreflexive", default=True, show_default=True, help="Whether every vertex reaches itself.")
@_run_options
def closure(**given: Any) -> None:
    """Find which vertices of FILE's graph can be reached from which; saved as bits, 32 to a word."""
    _run(mgraph.transitive_closure, _reachable, **given)


@main.command(epilog="Example: mgraph rank successors.npy --out ranks.npy")
@click.argument("file", type=_FILE)
@_method_option(*ranking_plan.METHODS)
@click.option(
    "--splitters",
    type=int,
    metavar="N",
    help="About how many splitters to walk from; by default enough to keep the device busy.",
)
@_run_options
def rank(file: Path, **given: Any) -> None:
    """Find every element's distance to the last of its list.

    FILE holds the successor of each element, the last of a list names itself: an array (.npy), or text, a number a
    line. Elements are numbered from 0.
    """
    _perform(mgraph.list_rank, lambda: read_list(_opened(file)), _described_list, _ranked, **given)


def _run(
    call: Callable[..., Result],
    summary: Callable[[Graph, Any], tuple[dict[str, Any], str]],
    *,
    file: Path | None,
    scale: int | None,
    format: str | None,
    n: int | None,
    directed: bool | None,
    weighted: bool | None,
    relabel: bool,
    dense: str | None,
    **options: Any,
) -> None:
    """Perform a call on the graph that the options name."""
    if (file is None) == (scale is None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    if scale is not None and (relabel or any(option is not None for option in (format, n, weighted, dense))):
        reading = "--format, --n, --weighted, --unweighted, --relabel and --dense"
        raise click.UsageError(f"{reading} say how to read FILE: they do not go with --rmat")

    def graph() -> Graph:
        if scale is not None:
            return generate.rmat(scale, directed=bool(directed))
        assert file is not None
        return read(_opened(file), format, n, directed, weighted, relabel, dense=dense)

    _perform(call, graph, _described, summary, **options)


def _opened(file: Path) -> Path | IO[bytes]:
    """Return what is to be read: standard input where the file is called "-"."""
    if file != Path("-"):
        return file
    if _closed(sys.stdin):
        raise InputError("FILE must be a path where standard input is closed, got '-'")
    return sys.stdin.buffer


def _closed(stream: TextIO | None) -> bool:
    """Return whether a standard stream cannot be used; Python has None for one that the process started without."""
    return stream is None or stream.closed


def _perform(
    call: Callable[..., Result],
    read_input: Callable[[], Any],
    describe: Callable[[Any], tuple[dict[str, Any], str]],
    summary: Callable[[Any, Any], tuple[dict[str, Any], str]],
    *,
    device: str | None,
    workers: int | None,
    scheduler: str | None,
    scheduler_file: Path | None,
    tls_ca_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Read the input, make the call, save and print what it returned."""
    if sum(option is not None for option in (workers, scheduler, scheduler_file)) > 1:
        raise click.UsageError("give only one of --workers, --scheduler and --scheduler-file")
    if any((tls_ca_file, tls_cert, tls_key)):
        if scheduler is None and scheduler_file is None:
            raise click.UsageError("--tls-ca-file, --tls-cert and --tls-key go with --scheduler or --scheduler-file")
        if tls_ca_file is None or tls_cert is None:
            raise click.UsageError("give --tls-ca-file and --tls-cert together")
    if out is not None:
        check_output(out, overwrite)
        for name in ("predecessors", "intermediate"):
            if options.get(name) and out.suffix == ".npy":
                raise click.UsageError(f"a .npy file holds the distances only: with --{name}, give a .npz file")
    started = time.perf_counter()
    given = read_input()
    seconds = {"read": time.perf_counter() - started}
    with _client(workers, scheduler, scheduler_file, (tls_ca_file, tls_cert, tls_key), device) as client:
        hidden = quiet or _closed(sys.stderr) or None  # None: shown on a terminal only
        with (
            tqdm(desc=call.__name__, unit=" steps", leave=False, disable=hidden) as bar,
            _interrupted(by_workers=client is not None) as look,
            COMPILING.heard(lambda begins: _compiling(bar, call.__name__, begins, look)),
        ):

            def progress(done: int, total: int | None) -> None:
                bar.total = total
                bar.update(done - bar.n)
                look()

            result = call(given, device=device, client=client, progress=progress, **options)
            look()
        seconds |= {part: result.timings[part] for part in ("load", "compile", "solve", "collect")}
        if out is not None:
            _save(out, result, getattr(given, "ids", None), overwrite)
        if quiet and not as_json:
            return
        found, words = summary(given, result)
    plan = result.plan
    known, description = describe(given)
    if as_json:
        facts = {
            "version": mgraph.__version__,
            "algorithm": plan.algorithm,
            "method": plan.method,
            **known,
            "dtype": plan.dtype,
            "predecessors": plan.predecessors,
            "intermediate": plan.intermediate,
            "devices": [spec.name for spec in plan.devices],
            "workers": None if client is None else len(plan.devices),
            "peak_bytes": plan.peak_bytes,
            "timings": seconds,
            **found,
            "out": None if out is None else str(out),
        }
        click.echo(_json(facts))
        return
    click.echo(description)
    click.echo(plan.explain())
    click.echo("time: " + ", ".join(f"{part} {taken:.3g} s" for part, taken in seconds.items() if taken))
    click.echo(words)
    if out is not None:
        click.echo(f"saved: {out}")


def _compiling(bar: Any, name: str, begins: bool, look: Callable[[], None]) -> None:
    """Let the progress line say that a kernel is compiled, or again what runs; after a kernel, look for Ctrl-C.

    A first call compiles several kernels before its first span ends.
    """
    bar.set_description(f"{name}: compiling kernels (first use)" if begins else name)
    if not begins and threading.current_thread() is threading.main_thread():
        look()


@contextlib.contextmanager
def _interrupted(by_workers: bool) -> Iterator[Callable[[], None]]:
    """Have Ctrl-C end a call: one by workers at once, any other when the function that this yields is called.

    At any other time the exception might leave one half an object. A second Ctrl-C ends any call at once: where it
    finds compiled code at work, for which Python's handlers wait, it ends the process.
    """
    pressed = False

    def press(*_: Any) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, heard)
        if by_workers:
            raise KeyboardInterrupt

    def look() -> None:
        # What was raised in a destructor was lost.
        if pressed:
            raise KeyboardInterrupt

    heard = signal.signal(signal.SIGINT, press)
    try:
        with contextlib.nullcontext() if by_workers else _counted_interrupts("stopping after this span"):
            yield look
    finally:
        signal.signal(signal.SIGINT, heard)


@contextlib.contextmanager
def _counted_interrupts(first: str) -> Iterator[None]:
    """Say `first` when Ctrl-C comes, and end the process soon after a second one, whatever the main thread does.

    Python writes the number of each signal to a socket even while the main thread runs compiled code.
    """
    ours, pythons = socket.socketpair()
    pythons.setblocking(False)

    def count() -> None:
        presses = 0
        while heard := ours.recv(1):
            presses += heard[0] == signal.SIGINT
            if presses == 1 and not _closed(sys.stderr):  # else 2 may be a file that was opened later
                # Not to sys.stderr: it may be in the middle of writing the bar.
                with contextlib.suppress(OSError):
                    os.write(2, f"\nmgraph: {first}; Ctrl-C again stops at once\n".encode())
            if presses == 2:
                ours.settimeout(SECOND_CTRL_C)
                with contextlib.suppress(TimeoutError):
                    while ours.recv(1):
                        pass
                    return
                os._exit(130)

    before = signal.set_wakeup_fd(pythons.fileno(), warn_on_full_buffer=False)
    counting = threading.Thread(target=count, daemon=True)
    counting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        pythons.close()  # by which the other end reads nothing
        counting.join()
        ours.close()


def _client(
    workers: int | None,
    scheduler: str | None,
    scheduler_file: Path | None,
    tls: tuple[Path | None, Path | None, Path | None],
    device: str | None,
) -> contextlib.AbstractContextManager[Any]:
    """Return, as a context, a client of the Dask workers that were asked for; of None if none were."""
    if workers is not None:
        return _local_client(workers, device)
    if scheduler is None and scheduler_file is None:
        return contextlib.nullcontext()
    from .runtime.dask.connect import (
        connect,
        tls_security,  # and Dask
    )

    ca_file, cert, key = tls
    security = None if ca_file is None or cert is None else tls_security(ca_file, cert, key)
    return connect(scheduler, scheduler_file, security=security)


@contextlib.contextmanager
def _local_client(workers: int, device: str | None) -> Iterator[Any]:
    """Start local workers that do not hear the terminal's Ctrl-C: this process hears it and closes them."""
    from .runtime.dask import local_client  # and Dask

    pressed: list[type[KeyboardInterrupt]] = []

    def terminate(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one ends the process at once
        raise Terminated

    with contextlib.ExitStack() as started:
        # By default it would end this process alone, which then could not close the workers.
        before_it = signal.signal(signal.SIGTERM, lambda *_: pressed.append(Terminated))
        started.callback(signal.signal, signal.SIGTERM, before_it)
        with _counted_interrupts("stopping once the workers have started"):
            # The workers inherit the mask; the thread that counts was there before. Started later, the tracker would
            # unblock the signal.
            resource_tracker.ensure_running()
            heard = signal.signal(signal.SIGINT, lambda *_: pressed.append(KeyboardInterrupt))
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                client = started.enter_context(local_client(workers, device))
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
                signal.signal(signal.SIGINT, heard)
        signal.signal(signal.SIGTERM, terminate)
        if pressed:
            raise pressed[0]
        yield client


def _save(out: Path, result: Result, ids: np.ndarray | None, overwrite: bool) -> None:
    """Save what was found: one matrix or vector (.npy), or everything by name (.npz)."""
    found: tuple[str, ...] = ("distances", "predecessors", "intermediate")
    if isinstance(result, mgraph.ClosureResult):
        found = ("words",)
    elif isinstance(result, mgraph.ComponentsResult):
        found = ("labels",)
    elif isinstance(result, mgraph.ListRankResult):
        found = ("ranks",)
    if out.suffix == ".npy":
        save(out, getattr(result, found[0]), overwrite)
        return
    arrays = {name: getattr(result, name, None) for name in found} | {"ids": ids}
    save(out, {name: array for name, array in arrays.items() if array is not None}, overwrite)


def _json(facts: dict[str, Any]) -> str:
    """Return JSON as the standard has it: without the words Infinity and NaN."""
    return json.dumps(facts, allow_nan=False)


def _edges(graph: Graph) -> int | None:
    """Return the number of edges; None for a dense matrix, whose edges would have to be listed first."""
    return None if graph.dense is not None else graph.m


def _described(graph: Graph) -> tuple[dict[str, Any], str]:
    """Return what is known of a graph, as values and in words."""
    m = _edges(graph)
    facts = {"n": graph.n, "m": m, "directed": graph.directed, "weighted": graph.weighted}
    edges = "a dense matrix" if m is None else f"{m:,} stored edges"
    kind = "directed" if graph.directed else "undirected"
    return facts, f"graph: {graph.n:,} vertices, {edges}, {kind}, {'weighted' if graph.weighted else 'unweighted'}"


def _described_list(succ: np.ndarray) -> tuple[dict[str, Any], str]:
    """Return what is known of lists, as values and in words."""
    return {"n": len(succ)}, f"lists: {len(succ):,} elements in all"


def _pairs(graph: Graph, result: mgraph.ApspResult) -> tuple[dict[str, Any], str]:
    """Sum up a distance matrix, some rows at a time: what was found, as values and in words."""
    count, total, largest = 0, 0.0, None
    scale = 2.0 ** -(graph.n**2).bit_length()  # a sum of scaled distances does not overflow
    first = 0
    for chunk in _chunks(result.distances):
        there = chunk != infinity(chunk.dtype)
        own = np.arange(len(chunk))
        there[own, first + own] = False
        first += len(chunk)
        found = int(np.count_nonzero(there))
        if found:
            count += found
            total += float(np.multiply(chunk, scale, dtype=np.float64).sum(where=there))
            most = chunk.max(where=there, initial=-np.inf if chunk.dtype.kind == "f" else np.iinfo(chunk.dtype).min)
            largest = most if largest is None else max(largest, most)
    mean = total / (count * scale) if count else None
    searched = result.plan.method in SEARCHES
    rate = graph.n ** (2 if searched else 3) / max(result.timings["solve"], 1e-9)
    facts = {
        "rate": rate,
        "reachable_pairs": count,
        "mean_distance": mean if mean is not None and math.isfinite(mean) else None,
        "largest_distance": largest.item() if largest is not None and math.isfinite(largest) else None,
    }
    words = f"rate: {tqdm.format_sizeof(rate)} {'pairs' if searched else 'sums and minima'} a second\n"
    words += f"reachable: {count:,} of {graph.n * (graph.n - 1):,} pairs"
    if largest is not None:
        words += f", mean distance {mean:.6g}, largest {largest}"
    return facts, words


def _chunks(matrix: Any) -> Iterator[np.ndarray]:
    """Yield consecutive blocks of rows, as NumPy arrays."""
    if hasattr(matrix, "chunks"):
        yield from matrix.chunks()
        return
    rows = max(1, ELEMENTS_AT_A_TIME // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), rows):
        yield devices.to_host(matrix[first : first + rows])


def _lengths(graph: Graph, result: mgraph.SsspResult, target: int | None) -> tuple[dict[str, Any], str]:
    """Sum up the paths from one vertex: what was found, as values and in words."""
    distances = devices.to_host(result.distances)
    reached = distances[distances != infinity(distances.dtype)]
    facts = {
        "source": result.source,
        "reached": len(reached),
        "largest_distance": reached.max().item(),
        "rounds": result.iterations,
    }
    words = f"reached: {len(reached):,} of {graph.n:,} vertices, the farthest at {reached.max()}"
    if target is None:
        return facts, words
    distance = None if distances[target] == infinity(distances.dtype) else distances[target].item()
    there, told = _route(result, target, distance)
    return facts | there, f"{words}\n{told}"


def _route(
    result: mgraph.BfsResult | mgraph.SsspResult, target: int, distance: float | None
) -> tuple[dict[str, Any], str]:
    """Return the way to the target of a search, as values and in words; its distance is None where there is none."""
    route = None if result.predecessors is None or distance is None else result.path(target)
    facts = {"target": target, "distance": distance, "route": route}
    if distance is None:
        return facts, f"vertex {target} was not reached"
    words = f"distance to vertex {target}: {distance}"
    return facts, words if route is None else f"{words}\nroute: {' '.join(map(str, route))}"


def _sizes(graph: Graph, result: mgraph.ComponentsResult) -> tuple[dict[str, Any], str]:
    """Sum up the components: what was found, as values and in words."""
    sizes = np.bincount(devices.to_host(result.labels), minlength=1) if graph.n else np.zeros(1, int)
    facts = {"components": result.count, "largest_component": int(sizes.max()), "rounds": result.iterations}
    return facts, f"components: {result.count:,}, the largest with {sizes.max():,} of {graph.n:,} vertices"


def _ranked(succ: np.ndarray, result: mgraph.ListRankResult) -> tuple[dict[str, Any], str]:
    """Sum up the ranks: what was found, as values and in words."""
    ranks = devices.to_host(result.ranks)
    count, largest = int((ranks == 0).sum()), int(ranks.max(initial=0))
    return {"lists": count, "largest_rank": largest}, f"ranked: {count:,} lists, the largest rank is {largest:,}"


def _reachable(graph: Graph, result: mgraph.ClosureResult) -> tuple[dict[str, Any], str]:
    """Sum up a closure: what was found, as values and in words."""
    facts = {"reachable_pairs": result.count}
    return facts, f"reachable: {result.count:,} of {graph.n**2:,} pairs, a vertex with itself counted as one"


def _levels(graph: Graph, result: mgraph.BfsResult, target: int | None) -> tuple[dict[str, Any], str]:
    """Sum up a search: what was found, as values and in words."""
    levels, distances = devices.to_host(result.levels), devices.to_host(result.distances)
    sources = np.flatnonzero(distances == 0).tolist()
    reached, widest = int(levels.sum()), int(levels.argmax())
    degrees = np.diff(devices.to_host(graph.adjacency("csr")[0]))
    passed = int(degrees[distances >= 0].sum())
    rate = passed / max(result.timings["solve"], 1e-9)
    facts = {
        "rate": rate,
        **({"source": sources[0]} if len(sources) == 1 else {"sources": sources}),
        "reached": reached,
        "levels": len(levels),
        "widest_level": widest,
        "widest_level_vertices": int(levels[widest]),
    }
    words = (
        f"rate: {tqdm.format_sizeof(rate)} edges a second\n"
        f"reached: {reached:,} of {graph.n:,} vertices; levels: {len(levels):,}, the widest is level {widest:,} "
        f"with {levels[widest]:,}"
    )
    if target is None:
        return facts, words
    there, told = _route(result, target, int(distances[target]) if distances[target] >= 0 else None)
    return facts | there, f"{words}\n{told}"


#: A GPU that need not exist: the one of the built-in rates.
H200 = mgraph.DeviceSpec("cuda", "cuda", 140 << 30, model="NVIDIA H200")


@main.command(epilog="Example: mgraph plan apsp -n 1660000 --gpus 4608 --network 25e9")
@click.argument("algorithm", metavar="ALGORITHM")
@click.option("-n", "--n", type=int, required=True, metavar="N", help="Number of vertices.")
@click.option(
    "--m", type=int, metavar="M", help="Number of stored directed edges; apsp, closure and list_rank do not need it."
)
@click.option(
    "--devices",
    "wanted",
    metavar="WHICH",
    help="N of this machine's best device, a device's name (cpu, cuda, cuda:N), or both, as in 4xcuda.",
)
@click.option(
    "--memory", type=Bytes(), metavar="BYTES", help="Free memory of each device, e.g. 140GiB; it need not exist then."
)
@click.option(
    "--gpus",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead of --devices: N H200s, which need not exist, of 140GiB or --memory.",
)
@click.option(
    "--network",
    type=Bytes(),
    metavar="BYTES",
    help="Bytes a second into a node, which its GPUs share, e.g. 25e9; by default all are of one node. For apsp.",
)
@click.option(
    "--gpus-per-node", type=int, default=8, show_default=True, metavar="N", help="GPUs of a node; with --network."
)
@click.option("--method", default="auto", metavar="NAME", help="auto, or one that the algorithm's own command lists.")
@_pairs_options("The type to compute in; by default float32. For apsp and sssp.")
@_predecessors_option
@_memory_limit_option
@_span_option
@click.option("--directed/--undirected", default=True, help="For bfs, bfs_many and components.")
@click.option("--sources", type=int, default=1, metavar="N", help="Number of sources; for bfs_many.")
@click.option("--splitters", type=int, metavar="N", help="About how many splitters to walk from; for list_rank.")
@_json_option
def plan(
    algorithm: str,
    n: int,
    m: int | None,
    wanted: str | None,
    memory: int | None,
    gpus: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Tell how a call would be run, how long it would take and how much memory it needs.

    ALGORITHM is apsp, bfs, bfs_many, closure, components, list_rank (or rank) or sssp.
    """
    if gpus is None:
        specs = _specs(wanted, memory)
    elif wanted is None:
        specs = [dataclasses.replace(H200, memory=H200.memory if memory is None else memory)] * gpus
    else:
        raise click.UsageError("give only one of --devices and --gpus")
    made = mgraph.plan(algorithm, n, m, specs, **options)
    click.echo(_json(dataclasses.asdict(made)) if as_json else made.explain())


def _specs(wanted: str | None, memory: int | None) -> list[mgraph.DeviceSpec]:
    """Return the devices that ``--devices`` and ``--memory`` describe."""
    match = re.fullmatch(r"(\d+)|(?:(\d+)x)?(cpu|cuda(?::\d+)?)", wanted or "1")
    if match is None:
        raise click.UsageError(f"--devices {wanted} is not known: give a number, cpu, cuda, cuda:1 or 4xcuda")
    count, name = int(match[1] or match[2] or 1), match[3]
    if count < 1:
        raise click.UsageError(f"--devices must be a number of 1 or more, got {wanted}")
    if memory is None:
        return [spec_of(devices.find(name))] * count
    kind = name.partition(":")[0] if name else devices.find().kind
    cores = spec_of(devices.find("cpu")).cores if kind == "cpu" else 1
    return [mgraph.DeviceSpec(name or kind, kind, memory, cores)] * count


@main.command(epilog="Example: mgraph calibrate --device cuda:0")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@_json_option
def calibrate(device: str | None, as_json: bool) -> None:
    """Measure a device once, so that predicted times hold on it; the figures are kept in the cache folder."""
    from .calibrate import calibrate

    measured = dataclasses.asdict(calibrate(device))
    if as_json:
        click.echo(_json(measured))
        return
    for name, figure in measured.items():
        for kind, value in figure.items() if isinstance(figure, dict) else [("", figure)]:
            click.echo(f"{name:12} {kind:12} {value:.4g}")
    click.echo(f"kept in {folder_of_figures() / FILE}")


_PACKAGES = ("numpy", "scipy", "numba", "dask", "distributed", "cupy", "dask-cuda")

_CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")


@main.command()
@_json_option
def info(as_json: bool) -> None:
    """Show the versions and the devices that are there, and what is missing for GPUs."""
    versions: dict[str, str | None] = {"mgraph": mgraph.__version__, "python": platform.python_version()}
    versions |= {name: _version(*(_CUPY if name == "cupy" else (name,))) for name in _PACKAGES}
    specs = [spec_of(devices.find(name)) for name in ("cpu", *(f"cuda:{i}" for i in range(devices.gpu_count())))]
    missing, conflict = list(_missing(versions)), namesake.conflict()
    if as_json:
        found = [dataclasses.asdict(spec) for spec in specs]
        click.echo(_json({"versions": versions, "devices": found, "missing": missing, "conflict": conflict}))
        return
    for name, version in versions.items():
        click.echo(f"{name:12} {version or 'not installed'}")
    for spec in specs:
        cores = f", {spec.cores} cores" if spec.kind == "cpu" else ""
        click.echo(f"{spec.name:12} {spec.memory / 2**30:,.1f} GiB free{cores}")
    for line in (*missing, *([conflict] if conflict else [])):
        click.echo(line)


def _version(*names: str) -> str | None:
    """Return the version of the first of these distributions that is installed."""
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


def _missing(versions: dict[str, str | None]) -> Iterator[str]:
    """Say what GPUs need that is not there, and what adds it."""
    if versions["cupy"] is None:
        yield "GPUs need CuPy: pip install 'dask-mgraph[cuda13]' (or 'dask-mgraph[cuda12]' for a driver of CUDA 12)"
        return
    if not devices.gpu_count():
        yield (
            "CuPy finds no GPU of compute capability 8.0 or more: nvidia-smi tells what there is, and which CUDA its "
            "driver supports"
        )
        return
    if versions["dask-cuda"] is None:
        extra = "cuda12" if _version("cupy-cuda12x") else "cuda13"
        yield f"--workers on GPUs needs dask-cuda: pip install 'dask-mgraph[{extra}]'"
    try:
        devices.nccl()
    except DeviceError as error:
        yield str(error)


if __name__ == "__main__":
    sys.exit(main())
