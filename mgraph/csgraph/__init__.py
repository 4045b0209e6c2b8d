"""`scipy.sparse.csgraph` run by mgraph: the same names, signatures, defaults, types and order of what is returned.

    >>> import numpy as np
    >>> from mgraph import csgraph
    >>> csgraph.dijkstra(np.array([[0, 3, 8], [0, 0, 4], [0, 0, 0]]), indices=0)
    array([0., 3., 7.])

Functions that mgraph does not have are SciPy's own, imported with the first of them that is used; those that it has are
imported with the engine in the same way.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .. import lazy
from .gains import MODULES
from .substitution import Substitution, enable

if TYPE_CHECKING:
    from .components import connected_components
    from .conversions import (
        csgraph_from_dense,
        csgraph_from_masked,
        csgraph_masked_from_dense,
        csgraph_to_dense,
        csgraph_to_masked,
    )
    from .loopless import yen
    from .predecessors import construct_dist_matrix, reconstruct_path
    from .shortest import bellman_ford, dijkstra, floyd_warshall, johnson, shortest_path
    from .spanning import minimum_spanning_tree
    from .traversal import breadth_first_order, breadth_first_tree

__all__ = [
    "NegativeCycleError",
    "Substitution",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "enable",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        function = globals()[name] = getattr(importlib.import_module(MODULES[name]), name)
        return function
    if name in __all__:
        return getattr(lazy.csgraph(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
