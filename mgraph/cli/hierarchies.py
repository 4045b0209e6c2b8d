"""The command ``mgraph hierarchy``: a graph prepared once, for later calls with ``--hierarchy``."""

import time
from pathlib import Path
from typing import Any

import click

from ..errors import printable
from ..hierarchy import Hierarchy
from ..io import check_output
from .commands import main
from .options import graph_options, json_option, quiet_option
from .run import graph_given
from .summaries import as_json_text, described


@main.command(epilog="Example: mgraph hierarchy roads.gr --out roads.npz")
@graph_options
@click.option("--dtype", type=click.Choice(["float32", "float64", "int32"]), help="By default that of the weights.")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Save the hierarchy there (.npz).")
@click.option("--overwrite", is_flag=True, help="Replace the output file if there is one.")
@quiet_option
@json_option
def hierarchy(
    files: tuple[str, ...],
    scale: int | None,
    dtype: str | None,
    device: str | None,
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
