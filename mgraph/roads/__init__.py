"""Roads: networks of streets from files, and the tables, routes and areas that are asked of them."""

from .frames import from_frames, from_osmnx
from .isochrones import Isochrones, Reached
from .network import Network
from .osm import read_osm
from .places import Places
from .points import read_points
from .route import Route
from .table import NearestOf, Table

__all__ = [
    "Isochrones",
    "NearestOf",
    "Network",
    "Places",
    "Reached",
    "Route",
    "Table",
    "from_frames",
    "from_osmnx",
    "read_osm",
    "read_points",
]
