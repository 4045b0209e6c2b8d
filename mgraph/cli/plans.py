"""The command ``mgraph plan``."""

import dataclasses
from typing import Any

import click
from click.core import ParameterSource

import mgraph

from .. import planner
from ..algorithms.entry import Algorithm, Planned
from ..algorithms.registry import PLANNED
from ..dtypes import DISTANCE_TYPES, distance_dtype
from ..io import read_list
from ..planner import takers
from ..planning.rates import MEASURED
from .commands import main
from .messages import explained
from .options import (
    INPUT_FILE,
    READING,
    Bytes,
    Count,
    json_option,
    memory_limit_option,
    reading_options,
    span_option,
)
from .run import graph_given, opened
from .summaries import as_json_text

#: A GPU that need not exist: the one of the built-in rates.
H200 = mgraph.DeviceSpec("cuda", "cuda", 140 << 30, model=MEASURED)

#: What is planned, by the names of its commands.
_COMMANDS = {name: name for name, entry in PLANNED.items() if isinstance(entry, Planned)} | {
    name: entry.command.name
    for name, entry in PLANNED.items()
    if isinstance(entry, Algorithm) and entry.command is not None
}

#: The algorithms that can be planned without the number of edges.
_WITHOUT_EDGES = ", ".join(command for name, command in _COMMANDS.items() if not PLANNED[name].needs_edges)

HELP = f"""Predict how a call would run, how long it would take and how much memory it needs.

ALGORITHM is the name of a command, {", ".join(sorted(_COMMANDS.values()))}, or of its call in Python.

FILE is a graph whose size, direction and weights count, in place of --n and --m; "-" is standard input.
"""


def _for(option: str) -> str:
    """Return which algorithms take an option, for its help."""
    return f"For {', '.join(_COMMANDS[name] for name in takers(option))}."


def _flag(spelled: str, name: str, value: object, text: str) -> Any:
    """Return a flag that passes a value; several may be of one name."""
    return click.option(spelled, name, type=click.UNPROCESSED, is_flag=True, flag_value=value, default=False, help=text)


@main.command(help=HELP, epilog="Example: mgraph plan apsp -n 1660000 --gpus 4608 --network 25e9")
@click.argument("algorithm", metavar="ALGORITHM")
@click.argument("file", metavar="[FILE]", required=False, type=INPUT_FILE)
@reading_options
@click.option("-n", "--n", type=Count(), metavar="N", help="Number of vertices; with FILE where that does not say it.")
@click.option("--m", type=Count(), metavar="M", help=f"Number of stored directed edges; {_WITHOUT_EDGES} need none.")
@click.option("--largest", is_flag=True, help="Instead of --n: the most vertices that fit, without a temporary file.")
@click.option("--seconds", type=float, metavar="S", help="With --largest: and take at most S predicted seconds.")
@click.option(
    "--degree", type=float, metavar="D", help="With --largest: directed edges for each vertex, in place of --m."
)
@click.option(
    "--devices",
    metavar="WHICH",
    help="N of this machine's best device, a device's name (cpu, cuda, cuda:N), or both, as in 4xcuda.",
)
@click.option(
    "--memory", type=Bytes(), metavar="BYTES", help="Free memory of each device, e.g. 140GiB; it need not exist then."
)
@click.option(
    "--host-memory",
    type=Bytes(),
    metavar="BYTES",
    help="Free memory of each host, which its GPUs share; by default what this machine has, for one GPU.",
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
    help="Bytes a second into a node, which its GPUs share, e.g. 25e9; by default all are in one node. "
    + _for("network"),
)
@click.option(
    "--gpus-per-node",
    type=int,
    default=8,
    show_default=True,
    metavar="N",
    help="GPUs of a node; with --network or --host-memory.",
)
@click.option("--method", default="auto", metavar="NAME", help="auto, or one that the algorithm's own command lists.")
@click.option(
    "--connection", type=click.Choice(["weak", "strong"]), default="weak", show_default=True, help=_for("connection")
)
@click.option(
    "--dtype",
    type=click.Choice([dtype.name for dtype in DISTANCE_TYPES]),
    help="The type to compute in; by default float32. " + _for("dtype"),
)
@_flag("--predecessors", "predecessors", True, "Find the predecessors too. " + _for("predecessors"))
@_flag("--any-predecessors", "predecessors", "any", "Find any predecessors on shortest paths. For bfs.")
@click.option("--intermediate", is_flag=True, help="Find the highest intermediate vertices. " + _for("intermediate"))
@click.option("--block", type=int, metavar="N", help="Pivots eliminated at a time. " + _for("block"))
@memory_limit_option
@span_option
@click.option("--directed/--undirected", default=True, help=_for("directed"))
@click.option("--sources", type=int, default=1, metavar="N", help="Number of sources. " + _for("sources"))
@click.option("--targets", type=int, metavar="N", help="Number of targets. " + _for("targets"))
@click.option("--along", type=int, metavar="N", help="Number of other weights along the paths. " + _for("along"))
@click.option("--paths", is_flag=True, help="Find the paths, too. " + _for("paths"))
@click.option("--splitters", type=int, metavar="N", help="About how many splitters to walk from. " + _for("splitters"))
@click.option("--verbose", is_flag=True, help="Print all that the plan says, with the alternatives.")
@json_option
def plan(
    algorithm: str,
    file: str | None,
    n: int | None,
    m: int | None,
    largest: bool,
    seconds: float | None,
    degree: float | None,
    devices: str | None,
    gpus: int | None,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the plan of a call."""
    if largest and (file is not None or n is not None):
        raise click.UsageError("--largest goes without FILE and --n")
    if m is not None and (n is None or file is not None):
        raise click.UsageError("--m goes with --n; with --largest, give --degree")
    if not largest and (seconds is not None or degree is not None):
        raise click.UsageError("--seconds and --degree go with --largest")
    if gpus is not None and devices is not None:
        raise click.UsageError("give only one of --devices and --gpus")
    machines = devices if gpus is None else [H200] * gpus
    context = click.get_current_context()
    given = {
        name: each
        for name, each in options.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    if given.get("predecessors") == "any" and algorithm != "bfs":
        raise click.UsageError("--any-predecessors goes with bfs alone")
    reading = {name: given.pop(name) for name in READING if name in given and (file is not None or name != "weighted")}
    if file is None and reading:
        raise click.UsageError("--format, --relabel, --dense and columns say how to read FILE")
    if largest:
        made = planner.largest(algorithm, degree, machines, seconds=seconds, **given)
    elif file is not None:
        size, facts = _read(algorithm, file, n=n, directed=given.pop("directed", None), **reading)
        made = mgraph.plan(algorithm, *size, machines, **facts | given)
    elif n is not None:
        made = mgraph.plan(algorithm, n, m, machines, **given)
    else:
        raise click.UsageError("give FILE, --n or --largest")
    if not as_json:
        click.echo(explained(made, verbose))
        return
    result = {"result_bytes": made.result_bytes, "result_place": made.result_place}
    facts = dataclasses.asdict(made)
    click.echo(as_json_text(facts | result | facts.pop("detail")))


def _read(algorithm: str, file: str, directed: bool | None, **reading: Any) -> tuple[tuple[int, int], dict[str, Any]]:
    """Return the numbers of vertices and edges in a file, and what else a plan takes of it."""
    if "list" in PLANNED[planner.named(algorithm)].takes:
        return (len(read_list(opened(file))), 0), {}
    graph = graph_given((file,), None, directed, **reading)()
    known = {
        "directed": graph.directed,
        "weighted": graph.weighted,
        "nonnegative": graph.nonnegative,
        "dtype": distance_dtype(graph.weights_dtype).name,
    }
    taken = {option: value for option, value in known.items() if planner.named(algorithm) in takers(option)}
    return (graph.n, graph.m), taken
