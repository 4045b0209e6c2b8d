"""The command ``mgraph plan``."""

import dataclasses
import re
from typing import Any

import click
from click.core import ParameterSource

import mgraph

from .. import device as devices
from ..algorithms.registry import ALGORITHMS
from ..dtypes import DISTANCE_TYPES
from ..planner import takers
from ..planning.devices import spec_of
from .commands import main
from .options import Bytes, json_option, memory_limit_option, span_option
from .summaries import as_json_text

#: A GPU that need not exist: the one of the built-in rates.
H200 = mgraph.DeviceSpec("cuda", "cuda", 140 << 30, model="NVIDIA H200")

#: The algorithms that can be planned without the number of edges.
_WITHOUT_EDGES = ", ".join(name for name, entry in ALGORITHMS.items() if not entry.needs_edges)

HELP = f"""Predict how a call would run, how long it would take and how much memory it needs.

ALGORITHM is one of {", ".join(ALGORITHMS)}, or the name of a command.
"""


def _for(option: str) -> str:
    """Return which algorithms take an option, for its help."""
    return f"For {', '.join(takers(option))}."


def _flag(spelled: str, name: str, value: object, text: str) -> Any:
    """Return a flag that passes a value; several may be of one name."""
    return click.option(spelled, name, type=click.UNPROCESSED, is_flag=True, flag_value=value, default=False, help=text)


@main.command(help=HELP, epilog="Example: mgraph plan apsp -n 1660000 --gpus 4608 --network 25e9")
@click.argument("algorithm", metavar="ALGORITHM")
@click.option("-n", "--n", type=int, required=True, metavar="N", help="Number of vertices.")
@click.option("--m", type=int, metavar="M", help=f"Number of stored directed edges; not needed for {_WITHOUT_EDGES}.")
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
    help="Bytes a second into a node, which its GPUs share, e.g. 25e9; by default all are in one node. "
    + _for("network"),
)
@click.option(
    "--gpus-per-node", type=int, default=8, show_default=True, metavar="N", help="GPUs of a node; with --network."
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
@click.option("--splitters", type=int, metavar="N", help="About how many splitters to walk from. " + _for("splitters"))
@json_option
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
    """Print the plan of a call."""
    if gpus is None:
        specs = _specs(wanted, memory)
    elif wanted is None:
        specs = [dataclasses.replace(H200, memory=H200.memory if memory is None else memory)] * gpus
    else:
        raise click.UsageError("give only one of --devices and --gpus")
    context = click.get_current_context()
    given = {
        name: each
        for name, each in options.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    if given.get("predecessors") == "any" and algorithm != "bfs":
        raise click.UsageError("--any-predecessors goes with bfs alone")
    made = mgraph.plan(algorithm, n, m, specs, **given)
    if not as_json:
        click.echo(made.explain())
        return
    facts = dataclasses.asdict(made)
    click.echo(as_json_text(facts | facts.pop("detail")))


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
