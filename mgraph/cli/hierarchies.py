"""The commands ``mgraph hierarchy``, a graph prepared once, and ``pairs`` and ``flows``, which take it."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import device as devices
from .. import lazy
from ..dtypes import infinity
from ..errors import printable
from ..hierarchy import Hierarchy, Routes
from ..io import check_output, read_vertices, save
from ..reading import read
from ..runtime.progress import shown_on
from .commands import main
from .interrupts import closed, stoppable
from .options import graph_options, json_option, quiet_option
from .run import graph_given
from .summaries import as_json_text, described
from .vertices import named_vertices


@main.command(epilog="Example: mgraph hierarchy roads.gr --out roads.npz")
@graph_options
@click.option("--dtype", type=click.Choice(["float32", "float64", "int32"]), help="By default that of the weights.")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@click.option("--labels", is_flag=True, help="Keep labels for many pairs: distances to all ancestors.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Save the hierarchy there (.npz).")
@click.option("--overwrite", is_flag=True, help="Replace the output file if there is one.")
@quiet_option
@json_option
def hierarchy(
    files: tuple[str, ...],
    scale: int | None,
    dtype: str | None,
    device: str | None,
    labels: bool,
    out: Path,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Prepare FILE's graph, a road network or a mesh, for the distances of many sources.

    'mgraph distances' and 'mgraph measures' take the file with --hierarchy.
    """
    if bool(files) == (scale is not None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    check_output(out, overwrite, (".npz",))
    graph = graph_given(files, scale, **options)()
    started = time.perf_counter()
    made = Hierarchy(graph, dtype=dtype, device=device)
    made = made.labelled() if labels else made
    seconds = time.perf_counter() - started
    made.save(out, overwrite=overwrite)
    known, words = described(graph)
    if as_json:
        own = {"entries": made.entries, "height": made.height, "dtype": made.dtype.name, "device": made.device}
        click.echo(as_json_text({**known, **own, "seconds": seconds, "out": str(out)}))
        return
    if quiet:
        return
    click.echo(words)
    click.echo(f"hierarchy: {made.entries:,} entries, {made.height:,} levels, distances {made.dtype}")
    click.echo(f"time: {seconds:.3g} s\nsaved: {printable(str(out))}")


#: A file that `mgraph hierarchy` wrote.
_prepared = click.argument("prepared", metavar="HIERARCHY", type=click.Path(path_type=Path))

_device = click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; paths are always found on the CPU.")

_overwrite = click.option("--overwrite", is_flag=True, help="Replace the output file if there is one.")


@contextlib.contextmanager
def _shown(name: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar, and let Ctrl-C end the call when it reports its progress; return what it calls."""
    with (
        lazy.tqdm()(desc=name, unit=" pairs", leave=False, disable=quiet or closed(sys.stderr) or None) as bar,
        stoppable(by_workers=False) as look,
    ):
        show = shown_on(bar)

        def progress(done: int, total: int) -> None:
            show(done, total)
            look()

        yield progress


def _side(name: str, file: str | None, vertices: tuple[str, ...]) -> Any:
    """Return one end of each pair: what a file has, or the vertices that the words name."""
    if (file is None) == (not vertices):
        raise click.UsageError(f"give either --{name}s LIST or --{name} V, which may be given several times")
    return vertices if file is None else read_vertices(file)


@main.command(epilog="Example: mgraph pairs roads.npz --sources a.txt --targets b.txt --paths --out routes.npz")
@_prepared
@click.option("--sources", metavar="LIST", help="A file of vertices or ids, one a line.")
@click.option("--targets", metavar="LIST", help="The other end of each pair, as many lines.")
@click.option(
    "--source", "starts", multiple=True, metavar="V", help="A vertex or id in place of --sources; repeatable."
)
@click.option("--target", "ends", multiple=True, metavar="V", help="The other end, as many times as --source.")
@click.option("--paths", is_flag=True, help="Find the paths, too.")
@click.option(
    "--along",
    multiple=True,
    metavar="FILE",
    help="A graph of the same edges, whose weights to add up along the paths; repeatable.",
)
@click.option("--ids/--no-ids", default=None, help="Whether integers are ids of the graph, not numbers of vertices.")
@_device
@click.option("--out", type=click.Path(path_type=Path), help="Save the distances (.npy), or all arrays (.npz).")
@_overwrite
@quiet_option
@json_option
def pairs(
    prepared: Path,
    sources: str | None,
    targets: str | None,
    starts: tuple[str, ...],
    ends: tuple[str, ...],
    paths: bool,
    along: tuple[str, ...],
    ids: bool | None,
    device: str | None,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the distance of each pair of vertices, on all cores, by HIERARCHY, a file of 'mgraph hierarchy'."""
    if out is not None:
        check_output(out, overwrite)
        if paths and out.suffix == ".npy":
            raise click.UsageError("a .npy file holds the distances only: with --paths, give a .npz file")
    if along and (out is None or out.suffix == ".npy"):
        raise click.UsageError("sums along paths are saved: with --along, give --out a .npz file")
    sides = _side("source", sources, starts), _side("target", targets, ends)
    made = Hierarchy.load(prepared, device=device)
    pair = [named_vertices(each, made.graph.ids, ids) for each in sides]
    others = [read(file, directed=made.graph.directed) for file in along]
    started = time.perf_counter()
    with _shown("pairs", quiet) as progress:
        found = made.pairs(*pair, along=others or None, paths=paths, ids=ids, progress=progress)
    seconds = time.perf_counter() - started
    if not (paths or along):
        found = Routes(found)
    arrays = {name: each for name, each in found._asdict().items() if each is not None and name != "along"}
    arrays |= {f"along_{i}": total for i, total in enumerate(found.along or ())}
    distances = devices.to_host(found.distances)
    reached = distances != infinity(distances.dtype)
    facts = {
        "pairs": len(distances),
        "without_path": int((~reached).sum()),
        "greatest": distances[reached].max().item() if reached.any() else None,
    }
    words = f"pairs: {facts['pairs']:,}, {facts['without_path']:,} of them without a path"
    if facts["greatest"] is not None:
        words += f"\ngreatest distance: {facts['greatest']:g}"
    _finish(made, arrays, facts, words, seconds, out, overwrite, quiet, as_json)


@main.command(epilog="Example: mgraph flows roads.npz demand.txt --out loads.npy")
@_prepared
@graph_options
@click.option("--ids/--no-ids", default=None, help="Whether integers of the demand are ids, not numbers of vertices.")
@_device
@click.option(
    "--out", type=click.Path(path_type=Path), help="Save the load of each edge (.npy), or also the supplies (.npz)."
)
@_overwrite
@quiet_option
@json_option
def flows(
    prepared: Path,
    files: tuple[str, ...],
    scale: int | None,
    ids: bool | None,
    device: str | None,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the load of each edge of HIERARCHY's graph if FILE's demand takes shortest paths.

    HIERARCHY is a file of 'mgraph hierarchy'. FILE has pairs of vertices with amounts, 1 where there is none, and is
    read as a graph whose weights they are. The loads are proved before they are saved.
    """
    if bool(files) == (scale is not None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    if out is not None:
        check_output(out, overwrite)
    made, demand = Hierarchy.load(prepared, device=device), graph_given(files, scale, **options)()
    src, dst, weights = (None if part is None else devices.to_host(part) for part in demand.coo())
    amounts = np.ones(demand.m, np.int64) if weights is None else weights
    if demand.ids is not None:
        src, dst, ids = demand.ids[src], demand.ids[dst], True
    started = time.perf_counter()
    with _shown("flows", quiet) as progress:
        found = made.flows((src, dst, amounts), ids=ids, progress=progress)
    seconds = time.perf_counter() - started
    found.verify()
    greatest = found.loads.max(initial=0).item()
    facts = {"pairs": demand.m, "cost": found.cost, "unserved": found.unserved, "greatest": greatest}
    words = (
        f"flows: {demand.m:,} pairs, cost {found.cost:g}, {found.unserved:g} without a path\n"
        f"greatest load of an edge: {greatest:g}"
    )
    arrays = {"loads": found.loads, "supply": found.supply}
    _finish(made, arrays, facts, words, seconds, out, overwrite, quiet, as_json)


def _finish(
    made: Hierarchy,
    arrays: dict[str, Any],
    facts: dict[str, Any],
    words: str,
    seconds: float,
    out: Path | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Save the arrays, the first one alone in a ``.npy`` file, and print what was found."""
    if out is not None:
        save(out, next(iter(arrays.values())) if out.suffix == ".npy" else arrays, overwrite)
    known, description = described(made.graph)
    if as_json:
        click.echo(as_json_text({**known, **facts, "seconds": seconds, "out": None if out is None else str(out)}))
    elif not quiet:
        saved = "" if out is None else f"\nsaved: {printable(str(out))}"
        click.echo(f"{description}\n{words}\ntime: {seconds:.3g} s{saved}")
