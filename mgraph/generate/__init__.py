"""Generated graphs, lists and matrices for tests and benchmarks; a seed gives the same ones on every device.

R-MAT graphs are generated on the device on which they live. The others are those of the studies that the benchmarks
reproduce: NumPy's generator draws on the host, and the rest is computed and sorted on the device.
"""

from .by_degree import random_degree, scale_free
from .by_density import random_density, random_graph
from .kronecker import rmat, rmat_edges
from .lists import linked_list
from .matrices import random_matrix
from .parts import EDGES_AT_A_TIME
from .regular import grid, list_graph, tree_graph
from .weights import weighted

__all__ = [
    "EDGES_AT_A_TIME",
    "grid",
    "linked_list",
    "list_graph",
    "random_degree",
    "random_density",
    "random_graph",
    "random_matrix",
    "rmat",
    "rmat_edges",
    "scale_free",
    "tree_graph",
    "weighted",
]
