"""The commands about graphs that stay on the workers of a scheduler: ``mgraph load`` and ``mgraph unload``."""

import shlex
from typing import Any

import click

import mgraph

from ..errors import printable, shown
from .commands import main
from .options import Scheduler, graph_options, json_option, scheduler_options, wait_option
from .run import graph_given, input_of, read_arguments
from .summaries import as_json_text, described
from .workers import check_workers, client_of


@main.command(epilog="Example: mgraph load roads USA-road-d.USA.gr.gz --scheduler tcp://10.0.0.1:8786")
@click.argument("name")
@graph_options
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="Where to keep it; by default GPUs if all have one.")
@click.option(
    "--worker", "workers", multiple=True, metavar="WHICH", help="A worker to use, by address or name; by default all."
)
@click.option(
    "--by-workers",
    is_flag=True,
    help="Let the workers read FILE. All of them must find it under this path.",
)
@scheduler_options
@wait_option
@json_option
def load(
    name: str,
    *,
    by_workers: bool,
    device: str | None,
    workers: tuple[str, ...],
    scheduler: Scheduler,
    as_json: bool,
    files: tuple[str, ...],
    scale: int | None,
    directed: bool | None,
    **reading: Any,
) -> None:
    """Leave a graph on the workers of a scheduler, under NAME, for commands with --resident NAME.

    It stays until mgraph unload, or until the scheduler ends.
    """
    if bool(files) == (scale is not None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    if by_workers and files in ((), ("-",)):
        raise click.UsageError("--by-workers goes with a FILE that the workers find")
    if by_workers and any(reading[f"{name}_column"] is not None for name in ("source", "target", "weight")):
        raise click.UsageError("--source-column, --target-column and --weight-column do not go with --by-workers")
    given = graph_given(files=files, scale=scale, directed=directed, **reading)
    timeout = scheduler.worker_timeout
    with _client(scheduler) as client:
        if name in mgraph.cluster.published(client, worker_timeout=timeout):
            raise mgraph.InputError(f"there is a graph {shown(name)}: mgraph unload {shlex.quote(name)} removes it")
        there: Any = {"client": client, "device": device, "workers": workers or None, "worker_timeout": timeout}
        if scale is not None:
            graph = mgraph.generate.rmat(scale, directed=bool(directed), **there)
        elif by_workers:
            graph = mgraph.read(input_of(files), directed=directed, **read_arguments(reading), **there)
        else:
            graph = mgraph.DistributedGraph.from_graph(given(), **there)
        graph.publish(name)
        facts, words = described(graph)
        count = len(graph.ranges)
    if as_json:
        click.echo(as_json_text({"name": name, **facts, "workers": count}))
        return
    click.echo(f"{words}, on {count} worker{'s' * (count > 1)}: --resident {printable(name)}")


@main.command(epilog="Example: mgraph unload roads --scheduler tcp://10.0.0.1:8786")
@click.argument("name")
@scheduler_options
def unload(name: str, scheduler: Scheduler) -> None:
    """Remove the graph NAME from the workers of a scheduler; clients that have it can use it until they close it."""
    with _client(scheduler) as client:
        mgraph.cluster.unpublish(name, client, worker_timeout=scheduler.worker_timeout)


def _client(scheduler: Scheduler) -> Any:
    """Return, as a context, a client of the scheduler that was named."""
    if not scheduler.named:
        raise click.UsageError("give --scheduler ADDRESS or --scheduler-file FILE")
    check_workers(None, scheduler)
    return client_of(None, scheduler)
