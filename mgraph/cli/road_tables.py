"""The commands ``mgraph roads table`` and ``isochrones``: from a file of OpenStreetMap to a file of results."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from .. import device as devices
from .. import lazy
from .. import roads as networks
from ..arguments import size_in_words
from ..errors import InputError
from ..io import TABLES, check_output
from .bars import bar
from .commands import Command
from .options import Output, as_one, options, output_options
from .roads import limit_option, placed, roads


class Streets(NamedTuple):
    """The file of a network and what is read of it, as the options have it."""

    file: Path
    mode: str
    extract: str | None
    component: str
    turns: bool
    turn_seconds: str | None

    def read(self, quiet: bool) -> networks.Network:
        """Return the network."""
        box = None if self.extract is None else _numbers("extract", self.extract)
        given = self.turn_seconds
        costs = None if given is None else _numbers("turn_seconds", given)
        if costs is not None and len(costs) != 3:
            raise InputError(argument="turn_seconds", value=given, expected="three numbers: left, right and back")
        kept = None if self.component == "all" else self.component
        with bar("read", "streets and nodes", quiet) as progress:
            network = networks.read_osm(self.file, self.mode, box, kept, turns=self.turns, progress=progress)
        return network if costs is None else network.with_turn_costs(left=costs[0], right=costs[1], back=costs[2])


_network_options = options(
    as_one(Streets, "streets"),
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
    click.option("--turns", is_flag=True, help="Honour restrictions of turns, and turn back only where it must be."),
    click.option("--turn-seconds", metavar="L,R,B", help="What a turn to the left, to the right and back takes."),
    limit_option,
)


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


def _say(network: networks.Network, facts: dict[str, Any], words: str, output: Output) -> None:
    known = {"vertices": network.graph.n, "links": len(network.tail)}
    output.say(known | facts, f"{known['vertices']:,} vertices, {known['links']:,} links\n{words}")


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
@output_options
def table(
    streets: Streets, limit: float, origins: Path, destinations: Path | None, weight: str, output: Output
) -> None:
    """Find the times and lengths of the routes between points, on the streets of FILE (.osm.pbf, .osm, .osm.gz)."""
    check_output(output.out, output.overwrite, (".npz", *TABLES))
    started = time.perf_counter()
    given = networks.read_points(origins)
    others = None if destinations is None else networks.read_points(destinations)
    network = streets.read(output.quiet)
    starts = placed(network, given, limit, "origins")
    ends = starts if others is None else placed(network, others, limit, "destinations")
    _say_memory(network.table_bytes(starts, ends, weight), output.quiet or output.as_json)
    with bar("table", "origins", output.quiet) as progress:
        found = network.table(starts, ends, weight, progress=progress)
    found.save(output.out, overwrite=output.overwrite)
    lost = int(np.isnan(next(iter(found.matrices.values()))).sum())
    rows, columns = len(starts.ids), len(ends.ids)
    facts = {
        "origins": rows,
        "destinations": columns,
        "without_route": lost,
        "seconds": time.perf_counter() - started,
    }
    words = f"table: {rows:,} x {columns:,}, {lost:,} without a route"
    _say(network, facts, words, output)


@roads.command(
    cls=Command, epilog="Example: mgraph roads isochrones city.osm --points a.csv --limits 300,600 --out areas.geojson"
)
@_network_options
@click.option("--points", type=click.Path(path_type=Path), required=True, help="Points: CSV with lon, lat, perhaps id.")
@click.option("--limits", metavar="LIST", default="300,600,900", show_default=True, help="Seconds, with commas.")
@click.option("--weight", default="seconds", show_default=True, help="What is limited: seconds or metres.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Save the areas (.geojson, .parquet).")
@output_options
def isochrones(streets: Streets, limit: float, points: Path, limits: str, weight: str, output: Output) -> None:
    """Find the areas that are reached from points within limits, on the streets of FILE (.osm.pbf, .osm, .osm.gz)."""
    check_output(output.out, output.overwrite, (".geojson", ".parquet"))
    if output.out.suffix == ".parquet":
        lazy.optional("geopandas", "mgraph roads isochrones")
    started, steps = time.perf_counter(), _numbers("limits", limits)
    given = networks.read_points(points)
    network = streets.read(output.quiet)
    places = placed(network, given, limit, "points")
    with bar("isochrones", "points", output.quiet) as progress:
        found = network.isochrones(places, steps, weight, progress=progress)
    found.save(output.out, overwrite=output.overwrite)
    facts = {"points": len(found.places.ids), "limits": found.limits, "seconds": time.perf_counter() - started}
    _say(network, facts, f"isochrones: {len(found.places.ids):,} points, {len(steps)} limits", output)
