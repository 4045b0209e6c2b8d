"""The commands ``mgraph roads table`` and ``isochrones``: from a file of OpenStreetMap to a file of results."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import device as devices
from .. import lazy
from .. import roads as networks
from ..arguments import size_in_words
from ..errors import InputError, printable
from ..io import TABLES, check_output
from .bars import bar
from .commands import Command
from .options import json_option, quiet_option
from .roads import limit_option, placed, roads
from .summaries import as_json_text


def _network_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the file of a network and what is read of it."""
    decorators = (
        click.argument("file", metavar="FILE", type=click.Path(path_type=Path)),
        click.option("--mode", type=click.Choice(["drive", "bike", "walk"]), default="drive", show_default=True),
        click.option("--extract", metavar="W,S,E,N", help="Keep what lies in this box of degrees."),
        click.option(
            "--component",
            type=click.Choice(["weak", "strong", "all"]),
            default="strong",
            show_default=True,
            help="Keep the largest component, so that points do not lie at streets without a way out.",
        ),
        click.option(
            "--turns", is_flag=True, help="Honour restrictions of turns, and turn back only where it must be."
        ),
        click.option("--turn-seconds", metavar="L,R,B", help="What a turn to the left, to the right and back takes."),
        limit_option,
    )
    for add in reversed(decorators):
        function = add(function)
    return function


def _network(
    file: Path, mode: str, extract: str | None, component: str, turns: bool, turn_seconds: str | None, quiet: bool
) -> networks.Network:
    """Return the network that the options name."""
    box = None if extract is None else _numbers("extract", extract)
    costs = None if turn_seconds is None else _numbers("turn_seconds", turn_seconds)
    if costs is not None and len(costs) != 3:
        raise InputError(argument="turn_seconds", value=turn_seconds, expected="three numbers: left, right and back")
    kept = None if component == "all" else component
    with bar("read", "streets and nodes", quiet) as progress:
        network = networks.read_osm(file, mode, box, kept, turns=turns, progress=progress)
    return network if costs is None else network.with_turn_costs(left=costs[0], right=costs[1], back=costs[2])


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise InputError(argument=name, value=text, expected="numbers with commas between them") from None


def _say_memory(need: int, quiet: bool) -> None:
    """Print what a table takes of the free memory, before it is taken."""
    if not quiet:
        free = devices.find("cpu").available_memory()
        click.echo(f"memory: {size_in_words(need)} of {size_in_words(free)} free", err=True)


def _finish(
    network: networks.Network, facts: dict[str, Any], words: str, out: Path, quiet: bool, as_json: bool
) -> None:
    known = {"vertices": network.graph.n, "links": len(network.tail)}
    if as_json:
        click.echo(as_json_text({**known, **facts, "out": str(out)}))
    elif not quiet:
        click.echo(f"{known['vertices']:,} vertices, {known['links']:,} links\n{words}")
        click.echo(f"time: {facts['seconds']:.3g} s\nsaved: {printable(str(out))}")


@roads.command(
    cls=Command, epilog="Example: mgraph roads table city.osm --origins a.csv --destinations b.csv --out t.parquet"
)
@_network_options
@click.option(
    "--origins", type=click.Path(path_type=Path), required=True, help="Points: CSV with lon, lat, perhaps id."
)
@click.option("--destinations", type=click.Path(path_type=Path), help="Likewise; by default the origins.")
@click.option("--weight", default="seconds", show_default=True, help="What routes are shortest by: seconds or metres.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Save the table (.parquet, .csv, .csv.gz, .npz)."
)
@click.option("--overwrite", is_flag=True, help="Replace the output file if there is one.")
@quiet_option
@json_option
def table(
    file: Path,
    mode: str,
    extract: str | None,
    component: str,
    turns: bool,
    turn_seconds: str | None,
    limit: float,
    origins: Path,
    destinations: Path | None,
    weight: str,
    out: Path,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the times and lengths of the routes between points, on the streets of FILE (.osm.pbf, .osm, .osm.gz)."""
    check_output(out, overwrite, (".npz", *TABLES))
    started = time.perf_counter()
    given = networks.read_points(origins)
    others = None if destinations is None else networks.read_points(destinations)
    network = _network(file, mode, extract, component, turns, turn_seconds, quiet)
    starts = placed(network, given, limit, "origins")
    ends = starts if others is None else placed(network, others, limit, "destinations")
    _say_memory(network.table_bytes(starts, ends, weight), quiet or as_json)
    with bar("table", "origins", quiet) as progress:
        found = network.table(starts, ends, weight, progress=progress)
    found.save(out, overwrite=overwrite)
    lost = int(np.isnan(next(iter(found.matrices.values()))).sum())
    rows, columns = len(starts.ids), len(ends.ids)
    facts = {
        "origins": rows,
        "destinations": columns,
        "without_route": lost,
        "seconds": time.perf_counter() - started,
    }
    words = f"table: {rows:,} x {columns:,}, {lost:,} without a route"
    _finish(network, facts, words, out, quiet, as_json)


@roads.command(
    cls=Command, epilog="Example: mgraph roads isochrones city.osm --points a.csv --limits 300,600 --out areas.geojson"
)
@_network_options
@click.option("--points", type=click.Path(path_type=Path), required=True, help="Points: CSV with lon, lat, perhaps id.")
@click.option("--limits", metavar="LIST", default="300,600,900", show_default=True, help="Seconds, with commas.")
@click.option("--weight", default="seconds", show_default=True, help="What is limited: seconds or metres.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Save the areas (.geojson, .parquet).")
@click.option("--overwrite", is_flag=True, help="Replace the output file if there is one.")
@quiet_option
@json_option
def isochrones(
    file: Path,
    mode: str,
    extract: str | None,
    component: str,
    turns: bool,
    turn_seconds: str | None,
    limit: float,
    points: Path,
    limits: str,
    weight: str,
    out: Path,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the areas that are reached from points within limits, on the streets of FILE (.osm.pbf, .osm, .osm.gz)."""
    check_output(out, overwrite, (".geojson", ".parquet"))
    if out.suffix == ".parquet":
        lazy.optional("geopandas", "mgraph roads isochrones")
    started, steps = time.perf_counter(), _numbers("limits", limits)
    given = networks.read_points(points)
    network = _network(file, mode, extract, component, turns, turn_seconds, quiet)
    places = placed(network, given, limit, "points")
    with bar("isochrones", "points", quiet) as progress:
        found = network.isochrones(places, steps, weight, progress=progress)
    found.save(out, overwrite=overwrite)
    facts = {"points": len(found.places.ids), "limits": found.limits, "seconds": time.perf_counter() - started}
    _finish(network, facts, f"isochrones: {len(found.places.ids):,} points, {len(steps)} limits", out, quiet, as_json)
