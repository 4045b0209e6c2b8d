"""Roads: networks of streets from files, the tables, routes and areas that are asked of them, and traffic."""

from .assignment import Assignment, assignment
from .network import Network
from .osm import read_osm
from .performance import Links
from .places import Places
from .table import NearestOf, Table
from .tntp import TntpNetwork, from_tntp, read_trips

__all__ = [
    "Assignment",
    "Links",
    "NearestOf",
    "Network",
    "Places",
    "Table",
    "TntpNetwork",
    "assignment",
    "from_tntp",
    "read_osm",
    "read_trips",
]
