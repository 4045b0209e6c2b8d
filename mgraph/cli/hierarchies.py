"""The commands ``mgraph hierarchy``, a graph prepared once, and ``pairs`` and ``flows``, which take it."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import device as devices
from ..algorithms import routes
from ..dtypes import infinity
from ..errors import FormatError, InputError, renamed
from ..hierarchy import Hierarchy, Routes
from ..hierarchy.hierarchy import weights_along
from ..io import check_output, finite_amounts, read_saved, read_vertices, save
from ..reading import read
from .bars import bar
from .commands import main
from .interrupts import terminable
from .options import Output, Scheduler, checkpoint_options, graph_options, output_options, worker_options
from .run import checkpoints_of, graph_given
from .summaries import described
from .vertices import named_vertices
from .workers import check_workers, client_of


@main.command(epilog="Example: mgraph hierarchy roads.gr --out roads.npz")
@graph_options
@click.option("--dtype", type=click.Choice(["float32", "float64", "int32"]), help="By default that of the weights.")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@click.option("--labels", is_flag=True, help="Keep labels for many pairs: distances to all ancestors.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Save the hierarchy there (.npz).")
@output_options
def hierarchy(
    files: tuple[str, ...],
    scale: int | None,
    dtype: str | None,
    device: str | None,
    labels: bool,
    output: Output,
    **options: Any,
) -> None:
    """Prepare FILE's graph, a road network or a mesh, for the distances of many sources.

    'mgraph distances' and 'mgraph measures' take the file with --hierarchy.
    """
    if bool(files) == (scale is not None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    check_output(output.out, output.overwrite, (".npz",))
    graph = graph_given(files, scale, **options)()
    started = time.perf_counter()
    with terminable():  # METIS has a handler of its own, which hands the signal on
        made = Hierarchy(graph, dtype=dtype, device=device)
    made = made.labelled() if labels else made
    seconds = time.perf_counter() - started
    made.save(output.out, overwrite=output.overwrite)
    known, words = described(graph)
    own = {"entries": made.entries, "height": made.height, "dtype": made.dtype.name, "device": made.device}
    words += f"\nhierarchy: {made.entries:,} entries, {made.height:,} levels, distances {made.dtype}"
    output.say({**known, **own, "seconds": seconds}, words)


#: A file that `mgraph hierarchy` wrote.
_prepared = click.argument("prepared", metavar="HIERARCHY", type=click.Path(path_type=Path))

_device = click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; paths are always found on the CPU.")


@main.command(epilog="Example: mgraph customize roads.npz morning.gr evening.gr --out hours")
@_prepared
@click.argument("weights", nargs=-1, required=True, metavar="WEIGHTS...")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="A folder: the hierarchy of set number 0 is saved there as 0.npz, and so on.",
)
@output_options
def customize(prepared: Path, weights: tuple[str, ...], device: str | None, output: Output) -> None:
    """Give HIERARCHY, a file of 'mgraph hierarchy', other weights: one set or many, which are computed together.

    WEIGHTS are graphs of the same edges, a file for each set, or a .npy file of a matrix with a row for each set.
    """
    made = Hierarchy.load(prepared, device=device)
    sets = _sets_of(made, weights)
    customized = made.customize(sets)
    places = [output.out / f"{number}.npz" for number in range(len(sets))]
    output.out.mkdir(parents=True, exist_ok=True)
    for place in places:
        check_output(place, output.overwrite, (".npz",))
    started = time.perf_counter()
    with bar("customize", "sets", output.quiet) as progress:
        for number, each in enumerate(customized):
            each.save(places[number], overwrite=output.overwrite)
            progress(number + 1, len(sets))
    facts = {"sets": len(sets), "seconds": time.perf_counter() - started}
    known, words = described(made.graph)
    output.say(known | facts, f"{words}\ncustomized: {len(sets):,} sets of weights")


def _sets_of(made: Hierarchy, weights: tuple[str, ...]) -> Any:
    """Return the sets of weights of some files: a matrix in one, or an array of each graph."""
    if len(weights) == 1 and Path(weights[0]).suffix == ".npy":
        found = read_saved(weights[0])
        return found[None] if found.ndim == 1 else found
    relabel = made.graph.ids is not None
    graphs = [read(file, directed=made.graph.directed, relabel=relabel) for file in weights]
    with _naming({"along": "weights"}):
        return list(weights_along(made, graphs))


#: Options, beside those of a scheduler, that have a command make a call with a plan.
_RUN, _KEEPING = ("workers", "retries", "memory_limit"), ("checkpoint", "checkpoint_every", "resume")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of a call with a plan out of a command's options; return them, or none if all are left out."""
    at, found = options.pop("scheduler"), {name: options.pop(name) for name in (*_RUN, *_KEEPING)}
    asked = at != Scheduler() or any(value is not None and value is not False for value in found.values())
    return {**found, "scheduler": at} if asked else {}


@contextlib.contextmanager
def _running(device: str | None, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Start or reach the workers, and hold the checkpoints, that options ask for; return a call's arguments."""
    workers, at = given["workers"], given["scheduler"]
    check_workers(workers, at)
    run = {name: given[name] for name in ("retries", "memory_limit", *_KEEPING)}
    with checkpoints_of(given) as kept, client_of(workers, at, device) as client:
        yield run | {"client": client, "device": device, "worker_timeout": at.worker_timeout} | kept


def _loaded(prepared: Path, device: str | None, given: dict[str, Any]) -> Hierarchy:
    """Return a prepared graph: on the host where it is to be sent to workers."""
    sent = given and (given["workers"] is not None or given["scheduler"].named)
    return Hierarchy.load(prepared, device="cpu" if sent else device)


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
@click.option("--table", is_flag=True, help="Pair each source with each target: arrays have a row for each source.")
@click.option("--paths", is_flag=True, help="Find the paths, too.")
@click.option(
    "--along",
    multiple=True,
    metavar="FILE",
    help="A graph of the same edges, whose weights to add up along the paths; repeatable.",
)
@click.option("--ids/--no-ids", default=None, help="Whether integers are ids of the graph, not numbers of vertices.")
@_device
@worker_options
@checkpoint_options
@click.option("--out", type=click.Path(path_type=Path), help="Save the distances (.npy), or all arrays (.npz).")
@output_options
def pairs(
    prepared: Path,
    sources: str | None,
    targets: str | None,
    starts: tuple[str, ...],
    ends: tuple[str, ...],
    table: bool,
    paths: bool,
    along: tuple[str, ...],
    ids: bool | None,
    device: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Find the distance of each pair of vertices, on all cores or workers, by HIERARCHY, a file of 'mgraph hierarchy'.

    With --table and --along, that is a table of distances and further ones of other weights along the same paths.
    """
    given = _given(options)
    if paths and (table or given.get("checkpoint") is not None):
        raise click.UsageError("--paths does not go with --table and --checkpoint")
    _check_output_of_pairs(output, paths=paths, along=bool(along))
    sides = _side("source", sources, starts), _side("target", targets, ends)
    made = _loaded(prepared, device, given)
    pair = [named_vertices(each, made.graph.ids, ids) for each in sides]
    relabel = made.graph.ids is not None
    others = [read(file, directed=made.graph.directed, relabel=relabel) for file in along] or None
    shape = tuple(map(len, pair)) if table else None
    if table:
        rows, columns = (each if isinstance(each, np.ndarray) else np.asarray(each, object) for each in pair)
        pair = [np.repeat(rows, len(columns)), np.tile(columns, len(rows))]
    given_one_by_one = {"sources": "starts"} if starts else {}
    given_one_by_one |= {"targets": "ends"} if ends else {}
    started = time.perf_counter()
    with _naming(given_one_by_one), bar("pairs", "steps" if given else "pairs", output.quiet) as progress:
        if given:
            with _running(device, given) as run:
                found = routes.pairs(made, *pair, along=others, paths=paths, ids=ids, progress=progress, **run)
        else:
            found = made.pairs(*pair, along=others, paths=paths, ids=ids, progress=progress)
    seconds = time.perf_counter() - started
    found = found if isinstance(found, Routes) else Routes(found)
    arrays = {name: each for name, each in found._asdict().items() if each is not None and name != "along"}
    arrays |= {f"along_{i}": total for i, total in enumerate(found.along or ())}
    if shape is not None:
        arrays = {name: each.reshape(shape) for name, each in arrays.items()}
    facts, words = _summary_of_pairs(devices.to_host(found.distances))
    _finish(made, arrays, {**facts, "seconds": seconds}, words, output)


def _check_output_of_pairs(output: Output, paths: bool, along: bool) -> None:
    """Raise UsageError unless a file can be written, and holds the arrays that are asked for."""
    _check_output(output)
    if paths and output.out is not None and output.out.suffix == ".npy":
        raise click.UsageError("a .npy file holds the distances only: with --paths, give a .npz file")
    if along and (output.out is None or output.out.suffix == ".npy"):
        raise click.UsageError("sums along paths are saved: with --along, give --out a .npz file")


def _summary_of_pairs(distances: np.ndarray) -> tuple[dict[str, Any], str]:
    """Return facts of the distances of pairs, and these in words."""
    reached = distances != infinity(distances.dtype)
    facts = {
        "pairs": len(distances),
        "without_path": int((~reached).sum()),
        "greatest": distances[reached].max().item() if reached.any() else None,
    }
    words = f"pairs: {facts['pairs']:,}, {facts['without_path']:,} of them without a path"
    if facts["greatest"] is not None:
        words += f"\ngreatest distance: {facts['greatest']:g}"
    return facts, words


@main.command(epilog="Example: mgraph flows roads.npz demand.txt --out loads.npy")
@_prepared
@graph_options
@click.option("--ids/--no-ids", default=None, help="Whether integers of the demand are ids, not numbers of vertices.")
@_device
@worker_options
@checkpoint_options
@click.option(
    "--out", type=click.Path(path_type=Path), help="Save the load of each edge (.npy), or also the supplies (.npz)."
)
@output_options
def flows(
    prepared: Path,
    files: tuple[str, ...],
    scale: int | None,
    ids: bool | None,
    device: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Find the load of each edge of HIERARCHY's graph if FILE's demand takes shortest paths.

    HIERARCHY is a file of 'mgraph hierarchy'. FILE has pairs of vertices with amounts, 1 where there is none, and is
    read as a graph whose weights they are. The loads are proved before they are saved.
    """
    if bool(files) == (scale is not None):
        raise click.UsageError("give either FILE or --rmat SCALE")
    _check_output(output)
    given = _given(options)
    made = _loaded(prepared, device, given)
    with finite_amounts():
        demand = graph_given(files, scale, **options)()
    if not demand.m:
        raise FormatError(f"{_file_of(files)} holds no pair: give one a line")
    src, dst, weights = (None if part is None else devices.to_host(part) for part in demand.coo())
    amounts = np.ones(demand.m, np.int64) if weights is None else weights
    if demand.ids is not None:
        src, dst, ids = demand.ids[src], demand.ids[dst], True
    started = time.perf_counter()
    with _of_demand(_file_of(files)), bar("flows", "steps" if given else "pairs", output.quiet) as progress:
        if given:
            with _running(device, given) as run:
                found = routes.flows(made, (src, dst, amounts), ids=ids, progress=progress, **run)
        else:
            found = made.flows((src, dst, amounts), ids=ids, progress=progress)
    seconds = time.perf_counter() - started
    found.verify()
    greatest = found.loads.max(initial=0).item()
    facts = {"pairs": demand.m, "cost": found.cost, "unserved": found.unserved, "greatest": greatest}
    words = (
        f"flows: {demand.m:,} pairs, cost {found.cost:g}, {found.unserved:g} without a path\n"
        f"greatest load of an edge: {greatest if isinstance(greatest, int) else f'{greatest:g}'}"
    )
    arrays = {"loads": found.loads, "supply": found.supply}
    _finish(made, arrays, {**facts, "seconds": seconds}, words, output)


@contextlib.contextmanager
def _naming(options: dict[str, str]) -> Iterator[None]:
    """Name the options in place of the arguments that they stand for, in the errors of the block."""
    try:
        yield
    except InputError as error:
        raise renamed(error, options) from error


@contextlib.contextmanager
def _of_demand(file: str) -> Iterator[None]:
    """Say of which file the pairs are, in the errors of the block."""
    try:
        yield
    except InputError as error:
        words = {"sources": "a source", "targets": "a target"}
        raise FormatError(f"{file}: {error.sentence(lambda part: words.get(part.name, str(part)))}") from error


def _file_of(files: tuple[str, ...]) -> str:
    """Return the name of the file of a demand, in an error."""
    return ", ".join(files) or "the demand"


def _check_output(output: Output) -> None:
    """Raise if there is a file to write that cannot be written."""
    if output.out is not None:
        check_output(output.out, output.overwrite)


def _finish(made: Hierarchy, arrays: dict[str, Any], facts: dict[str, Any], words: str, output: Output) -> None:
    """Save the arrays, the first one alone in a ``.npy`` file, and print what was found."""
    out = output.out
    if out is not None:
        save(out, next(iter(arrays.values())) if out.suffix == ".npy" else arrays, output.overwrite)
    known, description = described(made.graph)
    output.say(known | facts, f"{description}\n{words}")
