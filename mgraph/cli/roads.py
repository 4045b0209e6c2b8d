"""The commands ``mgraph roads``, and of them `assign`: how traffic divides among routes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import roads as networks
from ..io import check_output
from ..roads.assignment import SUFFIXES
from ..roads.network import places_of
from ..roads.places import FAR
from .bars import bar
from .commands import Command, main
from .options import Output, output_options


@main.group(cls=click.Group, epilog="Example: mgraph roads table city.osm --origins a.csv --out t.parquet")
def roads() -> None:
    """Road networks: tables of times, areas that are reached, and traffic."""


#: The points of a file, and their ids.
Points = tuple[np.ndarray, np.ndarray]

limit_option = click.option(
    "--limit", type=float, default=FAR, show_default=True, help="How many metres a point may lie from a road."
)


def placed(network: networks.Network, given: Points, limit: float, name: str) -> networks.Places:
    """Return the points of a file on a network, with the ids that it has; errors call them by a name."""
    points, ids = given
    return places_of(network, points, name, limit=limit)._replace(ids=ids)


def _with_gap(bar: Any) -> Callable[[int, float], None]:
    """Return what shows on a bar how many iterations are done, and the gap."""

    def show(done: int, gap: float) -> None:
        bar.set_postfix_str(f"gap {gap:.2e}", refresh=False)
        bar.update(done - bar.n)

    return show


def _given(
    network: Path, trips: Path, zones: Path | None, limit: float, turns: bool, quiet: bool
) -> tuple[Any, np.ndarray, Any]:
    """Return the network, the demand, and the places of zones on streets."""
    if zones is None:
        if turns:
            raise click.UsageError("--turns is for streets: give their --zones, too")
        return networks.from_tntp(network), networks.read_trips(trips), None
    points = networks.read_points(zones)
    demand = networks.read_demand(trips, points[1])
    with bar("read", "streets and nodes", quiet) as progress:
        streets = networks.read_osm(network, component="strong", turns=turns, capacity=True, progress=progress)
    return streets, demand, placed(streets, points, limit, "zones")


@roads.command(cls=Command, epilog="Example: mgraph roads assign town_net.tntp town_trips.tntp --out flows.csv")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.argument("trips", metavar="TRIPS", type=click.Path(path_type=Path))
@click.option("--zones", type=click.Path(path_type=Path), help="Points of the zones: CSV with lon, lat, perhaps id.")
@limit_option
@click.option("--turns", is_flag=True, help="With --zones: take no turn that a restriction bars.")
@click.option("--gap", type=float, default=1e-6, show_default=True, help="The relative gap at which to end.")
@click.option("--toll-factor", type=float, default=0.0, help="What a unit of toll costs, in units of time.")
@click.option("--distance-factor", type=float, default=0.0, help="What a unit of length costs, in units of time.")
@click.option("--iterations", type=int, default=10_000, show_default=True, help="The most iterations.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the links' flows and costs (.csv, .parquet, .npz).")
@output_options
def assign(
    network: Path,
    trips: Path,
    zones: Path | None,
    limit: float,
    turns: bool,
    gap: float,
    toll_factor: float,
    distance_factor: float,
    iterations: int,
    output: Output,
) -> None:
    """Find the user equilibrium of TRIPS on NETWORK: flows at which no other route is cheaper.

    Both are files of TNTP. With --zones NETWORK is a file of OpenStreetMap, whose streets carry vehicles an hour by
    their class and lanes, and TRIPS is CSV with origin, destination and trips between ids of zones. The result is
    proved before it is saved. If the gap is not reached, a warning says so.
    """
    if output.out is not None:
        check_output(output.out, output.overwrite, SUFFIXES)
    links, demand, places = _given(network, trips, zones, limit, turns, output.quiet)
    with bar("assign", "iterations", output.quiet, _with_gap) as progress:
        found = networks.assignment(
            links,
            demand,
            places,
            gap=gap,
            toll_factor=toll_factor,
            distance_factor=distance_factor,
            iterations=iterations,
            progress=progress,
        )
    found.verify()
    if output.out is not None:
        found.save(output.out, overwrite=output.overwrite)
    if not found.converged:
        click.echo(f"mgraph: warning: the gap is {found.gap:.3g} after {iterations:,} iterations", err=True)
    carries = found.flows > 0
    cost = float(np.sum(found.flows[carries] * found.costs[carries]))
    facts = {
        "links": len(found.flows),
        "zones": len(demand),
        "demand": float(demand.sum()),
        "iterations": len(found.gaps),
        "gap": found.gap,
        "converged": found.converged,
        "cost": cost,
        "seconds": found.seconds,
    }
    words = (
        f"{facts['links']:,} links, {len(demand):,} zones, demand {facts['demand']:g}\n"
        f"relative gap {found.gap:.3g} after {len(found.gaps):,} iterations, cost {cost:g}"
    )
    output.say(facts, words)
