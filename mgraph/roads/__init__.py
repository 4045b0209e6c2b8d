"""Roads: networks of streets from files, the tables, routes and areas that are asked of them, and traffic."""

from .assignment import Assignment, assignment
from .frames import from_frames, from_osmnx
from .isochrones import Isochrones, Reached
from .network import Network
from .osm import read_osm
from .performance import Links
from .places import Places
from .points import read_demand, read_points
from .route import Route
from .table import NearestOf, Table
from .tntp import TntpNetwork, from_tntp, read_trips

__all__ = [
    "Assignment",
    "Isochrones",
    "Links",
    "NearestOf",
    "Network",
    "Places",
    "Reached",
    "Route",
    "Table",
    "TntpNetwork",
    "assignment",
    "from_frames",
    "from_osmnx",
    "from_tntp",
    "read_demand",
    "read_osm",
    "read_points",
    "read_trips",
]
