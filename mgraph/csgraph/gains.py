"""Which calls of a program that uses SciPy's csgraph are left to SciPy, as it is faster.

What SciPy takes is estimated from below, and compared with that from which on mgraph was faster on two cores;
benchmarks/NOTES.md has the tables. Where SciPy was faster at every size up to a million rows, a call is mgraph's on
a GPU only.
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

#: Nanoseconds that SciPy takes at least: for a row and for a stored entry of a search, for an entry in a round of
#: Bellman and Ford, and for a step of Floyd and Warshall.
_ROW, _ENTRY, _RELAXED, _STEP = 100, 10, 1.4, 0.3

#: Seconds of SciPy from which mgraph gains, by the same estimate: of searches from one row, from several and from all,
#: and of Bellman and Ford's and of Floyd and Warshall's algorithm.
_FROM_ONE, _FROM_SEVERAL, _FROM_ALL, _BY_ROUNDS, _BY_STEPS = 0.65e-3, 1.4e-3, 0.5e-3, 0.26e-3, 0.28e-3

#: Seconds that the first call of a function may compile: searches from some rows, and from more of them.
_COMPILING, _COMPILING_ALL, _SOME = 2.5, 5.0, 10

#: The share of SciPy's time that mgraph saves at least, where this is seconds.
_SAVED = 2 / 3

#: Vertices from which components gain time, by their kind.
WEAK, STRONG = 12_000, 200

#: Vertices from which a breadth-first order gains time on one core, and from which it gains no more.
ORDERED = 10_000, 250_000

#: Vertices from which a GPU is worth a copy, for what a CPU's cores do not speed up.
ON_A_GPU = 100_000

_ALWAYS = ("csgraph_from_dense", "csgraph_masked_from_dense")

#: The places of the arguments by which it is decided; the functions are not imported for it.
PLACES = {
    "bellman_ford": {"indices": 2},
    "connected_components": {"directed": 1, "connection": 2},
    "dijkstra": {"indices": 2, "limit": 5, "min_only": 6},
    "floyd_warshall": {},
    "johnson": {"indices": 2},
    "shortest_path": {"method": 1, "indices": 6},
}

#: What a GPU is never worth: conversions.
_CONVERSIONS = ("csgraph_from_masked", "csgraph_to_dense", "csgraph_to_masked")


def left_to_scipy(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return why a call is faster in SciPy; "" if it is mgraph's."""
    cold = report.is_cold(f"scipy.sparse.csgraph.{name}")
    if name in _ALWAYS:
        return "a script's first call imports mgraph, and this one gains less" if cold else ""
    given: Any = args[0] if args else next(iter(kwargs.values()), None)
    if (
        "cupy" in sys.modules
        and _device().of(getattr(given, "data", None) if hasattr(given, "tocoo") else given).kind != "cpu"
    ):
        return ""
    shape = getattr(given, "shape", None)
    n = int(shape[0]) if shape else len(given) if hasattr(given, "__len__") else 0

    if name == "breadth_first_order" and not cold and ORDERED[0] <= n < ORDERED[1]:
        return ""
    if name not in PLACES:
        on_gpu = n >= ON_A_GPU and name not in _CONVERSIONS and _device().gpu_count()
        return "" if on_gpu else "SciPy's code is as fast on a CPU"

    def argument(wanted: str, default: Any = None) -> Any:
        place = PLACES[name][wanted]
        return args[place] if place < len(args) else kwargs.get(wanted, default)

    if name != "connected_components":
        return _searches(name, given, n, argument, cold)
    if cold:
        return "a script's first call may compile for 2 s, and components seldom gain as much"
    strong = str(argument("connection", "weak")).lower() == "strong" and argument("directed", True)
    least = STRONG if strong else WEAK
    return "" if n >= least else f"it gains from {least:,} vertices on, and there are {n:,}"


def _device() -> Any:
    """Return `mgraph.device`, which small calls do without."""
    return importlib.import_module("mgraph.device")


def _searches(name: str, given: Any, n: int, argument: Callable[..., Any], cold: bool) -> str:
    """Return why searches by weight are faster in SciPy; "" if they are mgraph's."""
    seconds, least, sources = _estimated(name, given, n, argument)
    if not cold:
        much = f"it gains from {1e3 * least:.2g} ms of SciPy on, and this takes some {1e3 * seconds:.2g}"
        return "" if seconds >= least else much
    compiling = _COMPILING if sources <= _SOME else _COMPILING_ALL
    bounded = name == "dijkstra" and argument("limit", np.inf) != np.inf  # how much it visits is not known
    gained = 0.0 if bounded else _SAVED * seconds
    if gained >= compiling:
        return ""
    return f"a script's first call may compile for {compiling:.2g} s, and this one gains {gained:.2g} s"


def _estimated(name: str, given: Any, n: int, argument: Callable[..., Any]) -> tuple[float, float, int]:
    """Return the least seconds that SciPy takes, those from which on mgraph gains, and how many rows it starts from."""
    methods = {"bellman_ford": "BF", "floyd_warshall": "FW"}
    method = argument("method", "auto") if name == "shortest_path" else methods.get(name, "D")
    indices = None if name == "floyd_warshall" else argument("indices")
    sources = n if indices is None else int(np.size(indices))
    if name == "dijkstra" and argument("min_only", False):
        sources = 1  # a single search from all
    entries = given.nnz if hasattr(given, "nnz") else np.count_nonzero(given) if hasattr(given, "shape") else n * n
    if method == "BF":
        return sources * n * entries * _RELAXED * 1e-9, _BY_ROUNDS, sources
    if method == "FW" or (method == "auto" and indices is None and 4 * entries >= n * n):
        return n**3 * _STEP * 1e-9, _BY_STEPS, n
    least = _FROM_ALL if sources >= n else _FROM_SEVERAL if sources > 1 else _FROM_ONE
    return sources * (n * _ROW + entries * _ENTRY) * 1e-9, least, sources
