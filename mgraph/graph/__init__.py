"""The checked input: a graph whose edges are stored once, with the views that algorithms need.

A graph is a list of directed edges, sorted by source and target; an undirected one holds both directions. Its
compressed forms by source (CSR) and by target (CSC) are computed at first use, on the device that needs them, and kept
with the graph.
"""

from .checks import check_memory
from .compressed import Compressed, Edges
from .graph import Graph
from .inputs import as_any_graph, as_graph, check_positive, in_this_process, size_and_device
from .placed import PlacedGraph
from .stored import StoredMatrix, bands, in_memory, in_turn
from .sums import check_sums, check_weights, sums_are_exact

__all__ = [
    "Compressed",
    "Edges",
    "Graph",
    "PlacedGraph",
    "StoredMatrix",
    "as_any_graph",
    "as_graph",
    "bands",
    "check_memory",
    "check_positive",
    "check_sums",
    "check_weights",
    "in_memory",
    "in_this_process",
    "in_turn",
    "size_and_device",
    "sums_are_exact",
]
