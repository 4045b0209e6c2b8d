"""Every call of the registry on a small input that suits it."""

from mgraph import Graph
from mgraph.algorithms.registry import ALGORITHMS

GRAPH = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], [4, 1, 1, 6, 2])

#: The algorithms by the names of their calls.
BY_CALL = {entry.call.__name__: name for name, entry in ALGORITHMS.items()}


def of_a_graph():
    """Return the calls that take a graph and nothing else."""
    return [entry.call for entry in ALGORITHMS.values() if "graph" in entry.takes and not entry.start]


def arguments(algorithm, graph=GRAPH, successors=(1, 2, 3, 4, 4), sources=(0, 3)):
    """Return what a call takes by position: a graph or a list, and where to start."""
    entry = ALGORITHMS[algorithm]
    start = {"source": (0,), "sources": (list(sources),), "": ()}
    return list(successors) if "list" in entry.takes else graph, *start[entry.start]
