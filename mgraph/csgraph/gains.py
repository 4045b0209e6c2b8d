"""Which calls of a program that uses SciPy's csgraph are left to SciPy, as it is faster.

Measured on two cores with five entries a row; benchmarks/NOTES.md has the table. Where SciPy was faster at every size
up to a million rows, a call is mgraph's on a GPU only.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import report

#: The functions that mgraph has, and the module of each.
MODULES = {
    name: f"{__package__}.{module}"
    for module, names in {
        "components": ("connected_components",),
        "conversions": (
            "csgraph_from_dense",
            "csgraph_from_masked",
            "csgraph_masked_from_dense",
            "csgraph_to_dense",
            "csgraph_to_masked",
        ),
        "loopless": ("yen",),
        "predecessors": ("construct_dist_matrix", "reconstruct_path"),
        "shortest": ("bellman_ford", "dijkstra", "floyd_warshall", "johnson", "shortest_path"),
        "spanning": ("minimum_spanning_tree",),
        "traversal": ("breadth_first_order", "breadth_first_tree"),
    }.items()
    for name in names
}

#: Sources times vertices from which searches by weight gain time, and vertices from which one by Bellman and Ford does.
SEARCHED, RELAXED = 8_000, 150

#: The same for the first call of a script that was not edited.
SEARCHED_COLD, RELAXED_COLD = 2_000_000, 1_500

#: Vertices from which components gain time, by their kind; and of the first call of such a script.
WEAK, STRONG, COLD = 10_000, 1_000, 5_000_000

#: Vertices from which a GPU is worth a copy, for what a CPU's cores do not speed up.
ON_A_GPU = 100_000

_ALWAYS = ("csgraph_from_dense", "csgraph_masked_from_dense")

#: The places of the arguments by which it is decided; the functions are not imported for it.
PLACES = {
    "bellman_ford": {"indices": 2},
    "connected_components": {"directed": 1, "connection": 2},
    "dijkstra": {"indices": 2},
    "floyd_warshall": {},
    "johnson": {"indices": 2},
    "shortest_path": {"method": 1, "indices": 6},
}

#: What a GPU is never worth: conversions.
_CONVERSIONS = ("csgraph_from_masked", "csgraph_to_dense", "csgraph_to_masked")


def left_to_scipy(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why a call is faster in SciPy; "" if it is mgraph's."""
    if name in _ALWAYS:
        return ""
    given: Any = args[0] if args else next(iter(kwargs.values()), None)
    if (
        "cupy" in sys.modules
        and _device().of(getattr(given, "data", None) if hasattr(given, "tocoo") else given).kind != "cpu"
    ):
        return ""
    shape = getattr(given, "shape", None)
    n = int(shape[0]) if shape else len(given) if hasattr(given, "__len__") else 0

    if name not in PLACES:
        on_gpu = n >= ON_A_GPU and name not in _CONVERSIONS and _device().gpu_count()
        return "" if on_gpu else "SciPy's code is as fast on a CPU"

    def argument(wanted: str, default: Any = None) -> Any:
        place = PLACES[name][wanted]
        return args[place] if place < len(args) else kwargs.get(wanted, default)

    if name != "connected_components":
        return _searches(name, n, argument)
    strong = str(argument("connection", "weak")).lower() == "strong" and argument("directed", True)
    least = COLD if report.is_cold() else STRONG if strong else WEAK
    return "" if n >= least else f"it gains from {least:,} vertices on, and there are {n:,}"


def _device() -> Any:
    """Return `mgraph.device`, which small calls do without."""
    return importlib.import_module("mgraph.device")


def _searches(name: str, n: int, argument: Callable[..., Any]) -> str:
    """Return why searches by weight are faster in SciPy; "" if they are mgraph's."""
    indices = None if name == "floyd_warshall" else argument("indices")
    sources = n if indices is None else np.size(indices)
    slow = name == "bellman_ford" or (name == "shortest_path" and argument("method", "auto") == "BF")
    searched, relaxed = (SEARCHED_COLD, RELAXED_COLD) if report.is_cold() else (SEARCHED, RELAXED)
    if slow:
        return "" if n >= relaxed else f"it gains from {relaxed:,} vertices on, and there are {n:,}"
    if sources * n >= searched:
        return ""
    return f"it gains from {searched:,} distances on, and there are {sources * n:,}"
