"""Whether the first call of a script that was not edited is worth compiling kernels: what it would take NetworkX.

The estimate is a lower bound, so that no script takes longer than without mgraph. NetworkX's time for a node and an
edge of a search was measured on graphs of many shapes; benchmarks/NOTES.md has the table.
"""

from collections.abc import Sized
from typing import Any, NamedTuple


class Rates(NamedTuple):
    """Nanoseconds of NetworkX for a node and an edge that a search reaches, and seconds to compile kernels."""

    node: float
    edge: float
    compiling: float


#: Searches without weights end when all nodes are reached: their edges may not count.
_HOPS, _WEIGHTS = Rates(300, 0, 4), Rates(160, 180, 4.5)
_BETWEENNESS, _BETWEENNESS_BY_WEIGHT = Rates(900, 60, 7), Rates(1300, 240, 15)

#: Nanoseconds of what is done for all pairs of nodes by way of each node.
_CUBIC = {
    "floyd_warshall": 80.0,
    "floyd_warshall_predecessor_and_distance": 80.0,
    "floyd_warshall_numpy": 1.3,
}

#: Functions that return distances of all pairs, and what making them of mgraph's result takes, in nanoseconds each.
_OF_PAIRS, _PAIR = {"shortest_path_length"}, 250.0

#: Functions whose results take about as long to make as NetworkX's call takes.
_NEVER = frozenset(
    {
        "all_pairs_shortest_path",
        "all_pairs_dijkstra",
        "all_pairs_dijkstra_path",
        "all_pairs_bellman_ford_path",
        "johnson",
        "shortest_path",
        "all_shortest_paths",
        "single_source_all_shortest_paths",
        "transitive_closure",
    }
)

#: Functions that end with the first search where this does not reach all nodes.
_CONNECTED = frozenset(
    {"average_shortest_path_length", "center", "diameter", "eccentricity", "periphery", "radius", "wiener_index"}
)

#: From how many nodes on some are searched from, to see what they reach; a measure of fewer takes no time.
_FEW = 100

#: How many nodes are searched from.
_SAMPLES = 8


def reason(name: str, graph: Any, arguments: dict[str, Any]) -> str:
    """Return why a call is NetworkX's, if it is the first of a script; "" if it is worth compiling kernels."""
    gained, compiling = estimated(name, graph, arguments)
    if gained >= compiling:
        return ""
    return f"a script's first call may compile for {compiling:.2g} s, and this one gains {gained:.2g} s"


def estimated(name: str, graph: Any, arguments: dict[str, Any]) -> tuple[float, float]:
    """Return the least seconds that mgraph saves, if its kernels are compiled, and those that compiling takes.

    Arguments that have their defaults may be missing.
    """
    n, rates = len(graph), _rates(name, arguments)
    if name in _NEVER or n < _FEW:
        return 0.0, rates.compiling
    if name in _CUBIC:
        return _CUBIC[name] * n**3 / 1e9, rates.compiling
    if name == "local_efficiency":  # searches among the neighbours of each node
        return _HOPS.node * sum(degree**2 for _, degree in graph.degree()) / 1e9, rates.compiling
    if name == "center" and graph.number_of_edges() < n:  # a tree's is found at once
        return 0.0, rates.compiling
    pair = _PAIR if name.startswith("all_pairs_") or name in _OF_PAIRS else 0.0
    searches = _searches(name, n, arguments)
    most = searches * (n * (rates.node - pair) + 2 * graph.number_of_edges() * rates.edge) / 1e9
    if most < rates.compiling:
        return max(most, 0.0), rates.compiling
    nodes, edges = _reached(graph)
    if name in _CONNECTED and nodes < n:
        return 0.0, rates.compiling
    return searches * (nodes * (rates.node - pair) + edges * rates.edge) / 1e9, rates.compiling


def _rates(name: str, arguments: dict[str, Any]) -> Rates:
    """Return the rates of a function."""
    weight = arguments.get("distance") if "distance" in arguments else arguments.get("weight")
    weighted = weight is not None or "dijkstra" in name or "bellman_ford" in name
    if "betweenness" in name:
        return _BETWEENNESS_BY_WEIGHT if weighted else _BETWEENNESS
    return _WEIGHTS if weighted else _HOPS


def _searches(name: str, n: int, arguments: dict[str, Any]) -> int:
    """Return from how many nodes NetworkX searches, at least."""
    if name in ("betweenness_centrality", "edge_betweenness_centrality"):
        k = arguments.get("k")
        return k if isinstance(k, int) else n
    given = [each for each in (arguments.get("nbunch"), arguments.get("sources")) if each is not None]
    return min([n, *(len(each) if isinstance(each, Sized) else 0 for each in given)])


def _reached(graph: Any) -> tuple[float, float]:
    """Return how many nodes and edges a search reaches, the mean of searches from some nodes."""
    nodes, neighbors = list(graph), graph.adj
    starts = nodes[:: -(-len(nodes) // _SAMPLES)]
    reached = edges = 0
    for start in starts:
        seen, stack = {start}, [start]
        while stack:
            found = neighbors[stack.pop()]
            edges += len(found)
            fresh = [node for node in found if node not in seen]
            seen.update(fresh)
            stack.extend(fresh)
        reached += len(seen)
    return reached / len(starts), edges / len(starts)
