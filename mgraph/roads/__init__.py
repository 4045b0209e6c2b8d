"""Roads: networks of streets from files, and the tables, routes and areas that are asked of them."""

from .network import Network
from .osm import read_osm
from .places import Places
from .table import NearestOf, Table

__all__ = ["NearestOf", "Network", "Places", "Table", "read_osm"]
