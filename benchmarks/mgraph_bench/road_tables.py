"""Tables of travel times from a file of OpenStreetMap, beside pandana, OSRM and Valhalla where they are installed.

    python -m mgraph_bench.road_tables FILE [--points K] [--alone]

Points are drawn in the middle of the file's streets for cars. Each line is a row of JSON: `preparing` has the seconds
from the file, or for pandana from mgraph's network, to what answers; `seconds` those of a table of K x K from points to
numbers in NumPy. All are in this process, on all its cores, one after the other. pandana has mgraph's own network, so
its times must be equal up to its rounding. OSRM and Valhalla read the file by their own rules: their rows have the
median of their times over mgraph's, as `ratio`, which must lie between a half and two.
"""

import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import numpy as np

from mgraph import roads
from mgraph.cli import Command
from mgraph.errors import WrongResultError
from mgraph.limits import cores

from .peers import streets
from .roads import timed
from .run import versions

#: The packages that have the libraries.
_PACKAGES = {"pandana": "pandana", "osrm": "osrm-bindings", "valhalla": "pyvalhalla"}

#: How much pandana's seconds may differ: it keeps thousandths of each link.
_ROUNDED = 0.1


def points_in(network: roads.Network, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets of points near vertices."""
    rng = np.random.default_rng(1)
    places = network.coordinates[rng.integers(0, network.graph.n, (2, count))] + rng.normal(0, 1e-4, (2, count, 2))
    return places[0], places[1]


def rows(file: Path, count: int, alone: bool) -> Iterator[dict[str, Any]]:
    """Yield a row of each library.

    Raises
    ------
    WrongResultError
        If pandana's times differ, or those of others are far from mgraph's.
    """
    warm = roads.read_osm(file, component="strong")
    starts, ends = points_in(warm, count)
    warm.table(starts[:2], ends[:2])  # loads or compiles the kernels
    network, reading = timed(lambda: roads.read_osm(file, component="strong"))
    _, preparing = timed(network.hierarchy)
    found, seconds = timed(lambda: network.table(starts, ends, along=()))
    size = {"vertices": network.graph.n, "links": len(network.tail)}
    whole = reading["seconds"] + preparing["seconds"]
    yield {"library": "mgraph", **size, "reading": reading["seconds"], "preparing": whole, **seconds}
    if alone:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls: dict[str, Callable[[], streets.Solve]] = {
            "pandana": lambda: streets.pandana(network, starts, ends),
            "osrm": lambda: streets.osrm(file, folder, starts, ends),
            "valhalla": lambda: streets.valhalla(file, folder, starts, ends),
        }
        for library, prepare in calls.items():
            if importlib.util.find_spec(library) is None:
                yield {"library": library, "skipped": "it is not installed"}
                continue
            try:
                solve, preparing = timed(prepare)
            except FileNotFoundError as error:  # a package without the programs that prepare a file
                yield {"library": library, "skipped": str(error)}
                continue
            theirs, seconds = timed(solve)
            facts = {"version": metadata.version(_PACKAGES[library]), "preparing": preparing["seconds"], **seconds}
            yield {"library": library, **facts, **compared(library, found.seconds, theirs)}


def compared(library: str, own: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Return how another library's times differ, or raise WrongResultError."""
    both = np.isfinite(own) & np.isfinite(theirs)
    if library == "pandana":
        most = float(np.abs(own - theirs)[both].max(initial=0))
        if most > _ROUNDED or (np.isfinite(own) != np.isfinite(theirs)).any():
            raise WrongResultError(f"the times of pandana differ by up to {most:g} s")
        return {"differ": most}
    ratio = float(np.median(theirs[both & (own > 0)] / own[both & (own > 0)]))
    if not 0.5 < ratio < 2:
        raise WrongResultError(f"the times of {library} are {ratio:g} times those of mgraph")
    return {"ratio": ratio, "without_route": int(np.isnan(theirs).sum())}


@click.command(cls=Command)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--points", type=int, default=1000, show_default=True, help="Origins, and destinations.")
@click.option("--alone", is_flag=True, help="Without other libraries.")
def main(file: Path, points: int, alone: bool) -> None:
    """Measure tables of travel times on the streets of FILE (.osm.pbf)."""
    known = {"file": file.name, "points": points, "cores": cores(), "busy": os.getloadavg()[0], "versions": versions()}
    print(json.dumps(known))
    for row in rows(file, points, alone):
        print(json.dumps({**row, "busy": os.getloadavg()[0]}), flush=True)


if __name__ == "__main__":
    main()
