"""The commands ``mgraph datasets list`` and ``mgraph datasets fetch``: well-known graphs by name."""

import sys
from pathlib import Path

import click

from ..datasets import DATASETS, fetch
from .commands import Command, main
from .interrupts import closed
from .options import json_option
from .summaries import as_json_text


@main.group(cls=click.Group, epilog="Example: mgraph datasets fetch graph500-10")
def datasets() -> None:
    """List well-known graphs, or fetch one of them."""


@datasets.command("list", cls=Command, epilog="Example: mgraph datasets list")
@json_option
def list_(as_json: bool) -> None:
    """List the graphs that can be fetched, with their published numbers of vertices and edges."""
    if as_json:
        click.echo(as_json_text({name: dataset._asdict() for name, dataset in DATASETS.items()}))
        return
    for name, dataset in DATASETS.items():
        checked = "" if dataset.sha256 else " (checksum recorded when first fetched)"
        click.echo(f"{name:15} {dataset.n:>10,} {dataset.m:>10,}  {dataset.about}{checked}")
    click.echo(f"{'graph500-SCALE':15} {'2^SCALE':>10} {'generated':>10}  Kronecker graph of Graph500")


def _names(begun: str) -> list[str]:
    """Return the names that begin so, for a shell to complete."""
    return sorted(name for name in DATASETS if name.startswith(begun))


@datasets.command("fetch", cls=Command, epilog="Example: mgraph datasets fetch graph500-10")
@click.argument("name", metavar="NAME", shell_complete=lambda *given: _names(given[-1]))
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to keep it; by default mgraph/datasets in the cache folder, $XDG_CACHE_HOME or ~/.cache.",
)
def fetch_(name: str, folder: Path | None) -> None:
    """Download or generate the graph NAME, unless it is there already, and print the path of its file.

    A download is checked by its SHA-256. If none is known, it is checked for being whole and its SHA-256 is recorded.
    """
    shown = not closed(sys.stderr) and sys.stderr.isatty()
    click.echo(fetch(name, folder, progress=shown))
