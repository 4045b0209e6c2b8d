"""Tables of travel times by other libraries: pandana on the same network, OSRM and Valhalla from the same file.

OSRM and Valhalla prepare the file by their own rules of speeds, turns and access, in a folder.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from mgraph.roads import Network

#: Returns the seconds between points, NaN where there is no route.
Solve = Callable[[], np.ndarray]

#: Seconds beyond which pandana means that there is no route: it has 2**32 thousandths then.
_NONE = 4_000_000


def pandana(network: Network, starts: np.ndarray, ends: np.ndarray) -> Solve:
    """Return pandana's call for a table: contraction hierarchies, many pairs in one call.

    It gets the nearest vertices, as it would look for them in degrees.
    """
    library = import_module("pandana")
    longitudes, latitudes = network.coordinates.T
    vertices = np.arange(network.graph.n)
    made = library.Network(
        pd.Series(longitudes, vertices),
        pd.Series(latitudes, vertices),
        pd.Series(network.tail),
        pd.Series(network.head),
        pd.DataFrame({"seconds": network.links["seconds"]}),
        twoway=False,
    )

    rows, columns = (network.nearest(points).vertices for points in (starts, ends))

    def solve() -> np.ndarray:
        pairs = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        found = np.array(made.shortest_path_lengths(*pairs)).reshape(len(rows), len(columns))
        return np.where(found > _NONE, np.nan, found)

    return solve


def osrm(file: Path, folder: Path, starts: np.ndarray, ends: np.ndarray) -> Solve:
    """Return OSRM's call for a table, by contraction hierarchies of its profile for cars."""
    library = import_module("osrm")
    copied = folder / "streets.osm.pbf"
    copied.symlink_to(file.resolve())
    profile = Path(str(library.__file__)).parent / "share" / "profiles" / "car.lua"
    for words in (["extract", "-p", str(profile), str(copied)], ["contract", str(folder / "streets.osrm")]):
        subprocess.run([sys.executable, "-m", "osrm", *words], check=True, capture_output=True)
    most = len(starts) + len(ends)
    made = library.OSRM(
        storage_config=str(folder / "streets.osrm"),
        algorithm="CH",
        use_shared_memory=False,
        max_locations_distance_table=most,
    )
    points = [tuple(point) for point in np.concatenate([starts, ends]).tolist()]
    asked = library.TableParameters(
        coordinates=points, sources=list(range(len(starts))), destinations=list(range(len(starts), most))
    )
    return lambda: np.array([list(row) for row in made.Table(asked)["durations"]], np.float64)


def valhalla(file: Path, folder: Path, starts: np.ndarray, ends: np.ndarray) -> Solve:
    """Return Valhalla's call for a matrix, by its costing for cars."""
    library = import_module("valhalla")
    tiles = folder / "tiles"
    tiles.mkdir()
    settings = library.get_config(tile_extract="", tile_dir=str(tiles))
    settings["service_limits"]["auto"]["max_matrix_location_pairs"] = len(starts) * len(ends)
    config = folder / "valhalla.json"
    config.write_text(json.dumps(settings))
    build = Path(str(library.__file__)).parent / "bin" / "valhalla_build_tiles"
    subprocess.run([str(build), "-c", str(config), str(file)], check=True, capture_output=True)
    made = library.Actor(str(config))
    sides = ([{"lon": lon, "lat": lat} for lon, lat in points.tolist()] for points in (starts, ends))
    asked = json.dumps(dict(zip(("sources", "targets"), sides, strict=True)) | {"costing": "auto", "verbose": False})

    def solve() -> np.ndarray:
        found = json.loads(made.matrix(asked))["sources_to_targets"]["durations"]
        return np.array(found, np.float64)

    return solve
