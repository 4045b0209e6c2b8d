"""The command ``mgraph bench``, which mgraph's command line finds by the entry point of this name (pyproject.toml)."""

from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from mgraph.cli import Command
from mgraph.cli.options import Scheduler, json_option
from mgraph.cli.summaries import as_json_text
from mgraph.cli.workers import client_of
from mgraph.errors import InputError


class Suites(click.Group):
    """The group ``bench``: ``report`` and ``graph500`` are commands of it, all other words are suites to measure."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take all words but the commands' for names of suites."""
        return super().parse_args(ctx, args if args[:1] in (["report"], ["graph500"]) else ["run", *args])


@click.group(
    "bench",
    cls=Suites,
    no_args_is_help=False,
    options_metavar="",
    subcommand_metavar="[SUITE]... | report [DIR] | graph500",
)
def bench() -> None:
    """Measure the benchmark suites, report the measurements, or run Graph500."""


bench.command_class = Command


class Nameless(click.Context):
    """The context of a command that users call by the name of its group."""

    @property
    def command_path(self) -> str:
        """The words that call it."""
        assert self.parent is not None
        return self.parent.command_path


class Measuring(Command):
    """The command behind ``mgraph bench``."""

    context_class = Nameless


@bench.command("run", cls=Measuring, epilog="Example: mgraph bench bfs-size rank-scaling --quick --out here")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--device", metavar="NAME", help="Measure on this device only: cpu, cuda or cuda:N.")
@click.option(
    "--workers", type=int, metavar="N", help="Run cases that name no workers on N Dask workers of this machine."
)
@click.option("--scheduler", metavar="ADDRESS", help="Run cases for workers on this Dask scheduler.")
@click.option("--quick", is_flag=True, help="Shrink every sweep to seconds.")
@click.option("--limit", type=float, metavar="SECONDS", help="Start no case after this many seconds; 0 starts none.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="bench", show_default=True)
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Where graphs' files are.")
def bench_run(suites: tuple[str, ...], **options: Any) -> None:
    """Measure suites, all by default, and write a row for each case to a folder.

    Rows that the folder has are kept: call it again to continue a run that was interrupted.

    mgraph bench report [DIR] writes the report of the measurements. mgraph bench graph500 runs that benchmark.
    """
    from .run import bench

    ended = bench(suites, on_row=_print_row, **options)
    click.echo(
        f"{ended.measured} measured, {ended.kept} kept, {ended.skipped} skipped, {ended.wrong} wrong, "
        f"{ended.failed} failed" + (", stopped by --limit: call again to go on" if ended.limited else ""),
        err=True,
    )
    if ended.wrong or ended.failed:
        raise click.exceptions.Exit(1)


def _print_row(row: dict[str, Any]) -> None:
    """Print a row of a benchmark in a line."""
    if row["kind"] == "ceilings":
        click.echo(f"ceilings of {row['device']['model']}: copy {tqdm.format_sizeof(row['copy'])}B/s")
        return
    asked = " ".join(f"{name}={value}" for part in ("graph", "run", "call") for name, value in row[part].items())
    what = f"{row['suite']} {row['algorithm']} {asked}: "
    if row["kind"] != "case":
        click.echo(f"{what}{row['kind']}: {row['why']}")
        return
    click.echo(
        f"{what}{row['method']} on {row['device']['count']} x {row['device']['kind']} {row['seconds'] * 1e3:.4g} ms, "
        f"{tqdm.format_sizeof(row['rate'])} {row['unit']}"
    )


@bench.command("report", epilog="Example: mgraph bench report here --baseline before")
@click.argument("folder", metavar="[DIR]", default="bench", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Show what is slower than in this folder.",
)
def bench_report(folder: Path, baseline: Path | None) -> None:
    """Write report.html and report.md into a folder of runs, by default bench, where mgraph bench writes."""
    if not folder.is_dir():
        kept = "those of a checkout are in benchmarks/results/suites"
        raise InputError(f"there is no folder {folder} of runs: mgraph bench --out {folder} makes one, and {kept}")
    try:
        from .report import report
    except ImportError as error:
        raise InputError(f"a report needs {error.name}: pip install 'dask-mgraph[bench]'") from error
    for path in report(folder, baseline):
        click.echo(path)


@bench.command("graph500", epilog="Example: mgraph bench graph500 --scale 20 --workers 2 --sssp")
@click.option("--scale", type=int, required=True, metavar="S", help="The graph has 2^S vertices, and S is at most 30.")
@click.option("--workers", type=int, metavar="N", help="Make and search the graph on N Dask workers of this machine.")
@click.option("--scheduler", metavar="ADDRESS", help="Make and search it on the workers of this Dask scheduler.")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@click.option("--sssp", is_flag=True, help="Measure shortest paths, too.")
@click.option("--keys", type=int, default=64, show_default=True, metavar="K", help="Search from K vertices.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the graph and of the keys.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@json_option
def bench_graph500(
    scale: int,
    workers: int | None,
    scheduler: str | None,
    device: str | None,
    sssp: bool,
    keys: int,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the Graph500 benchmark, and print its output block.

    Every search is validated. A time is that of the call, with its tree of predecessors. Lines named devices have the
    time on the devices, without messages to workers, and lines named distances that without a tree that is found
    afterwards: a breadth-first search writes its tree as it goes. The time of construction includes that of generating
    the edges.
    """
    from . import graph500

    if workers is not None and scheduler is not None:
        raise click.UsageError("give only one of --workers and --scheduler")
    with (
        client_of(workers, Scheduler(scheduler), device) as client,
        tqdm(desc="graph500", unit=" searches", leave=False, disable=quiet or None) as bar,
    ):
        run = graph500.measured(scale, client, device, sssp=sssp, keys=keys, seed=seed, done=bar.update)
    click.echo(as_json_text(graph500.output(run)) if as_json else graph500.block(run))
