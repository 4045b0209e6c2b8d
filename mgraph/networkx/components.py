"""Connected components: NetworkX's `components`, weak and strong.

Strong components come in the order in which Tarjan's algorithm completes them, as NetworkX's do: the search on one core
numbers them so. It takes a vertex's neighbours from the last to the first; so each row is given to it reversed.
Where only their number is asked for, all cores or a GPU find it.
"""

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from ..algorithms.components.call import connected_components as labelled
from ..algorithms.components.completed import completed
from ..graph.compressed import rows_of
from .converted import ConvertedGraph
from .search import by_steps


def _labels(G: ConvertedGraph) -> np.ndarray:
    """Return the least vertex of each vertex's component."""
    found: np.ndarray = G.kept("labels of components", lambda: np.asarray(labelled(G.graph_of()).labels))
    return found


def _groups(G: ConvertedGraph, labels: np.ndarray) -> Iterator[set[Any]]:
    """Yield the nodes of each label, in ascending order of the labels."""
    order = labels.argsort(kind="stable")
    sizes = np.bincount(labels)
    names, first = G.named(order), 0
    for last in np.cumsum(sizes[sizes > 0]).tolist():
        yield set(names[first:last])
        first = last


def _count(G: ConvertedGraph) -> int:
    return int((_labels(G) == np.arange(len(G))).sum())


def connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """Yield what `networkx.connected_components` does."""
    yield from _groups(G, _labels(G))


def number_connected_components(G: ConvertedGraph) -> int:
    """Return `networkx.number_connected_components`."""
    return _count(G)


def is_connected(G: ConvertedGraph) -> bool:
    """Return `networkx.is_connected`."""
    return _count(G) == 1


def node_connected_component(G: ConvertedGraph, n: Any) -> set[Any]:
    """Return `networkx.node_connected_component`."""
    return set(G.named(by_steps(G, G.numbered([n]), len(G)).order))


#: What NetworkX calls them where edges have directions, which `_labels` does not follow.
weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def _strong(G: ConvertedGraph) -> np.ndarray:
    """Return the number of each vertex's strong component."""
    found: np.ndarray = G.kept("strong labels", lambda: _completed(G))
    return found


def _completed(G: ConvertedGraph) -> np.ndarray:
    indptr, indices = G.rows
    rows = rows_of(indptr, len(indices), np)
    reversed_rows = indices[indptr[rows] + indptr[rows + 1] - 1 - np.arange(len(indices))]
    return completed(indptr, reversed_rows)[1]


def strongly_connected_components(G: ConvertedGraph) -> Iterator[set[Any]]:
    """Yield what `networkx.strongly_connected_components` does."""
    yield from _groups(G, _strong(G))


def kosaraju_strongly_connected_components(G: ConvertedGraph, source: Any = None) -> Iterator[set[Any]]:
    """Yield what `networkx.kosaraju_strongly_connected_components` does, each component after those that it reaches."""
    yield from _groups(G, _strong(G))


def number_strongly_connected_components(G: ConvertedGraph) -> int:
    """Return `networkx.number_strongly_connected_components`."""
    return int(labelled(G.graph_of(), connection="strong").count)


def is_strongly_connected(G: ConvertedGraph) -> bool:
    """Return `networkx.is_strongly_connected`."""
    return number_strongly_connected_components(G) == 1


def all_reach_all(G: ConvertedGraph) -> bool:
    """Return whether every node reaches every other one."""
    return is_strongly_connected(G) if G.is_directed() else is_connected(G)


def condensation(G: ConvertedGraph, scc: Any = None) -> nx.DiGraph:
    """Return `networkx.condensation`."""
    labels, (indptr, indices) = _strong(G), G.rows
    members = dict(enumerate(_groups(G, labels)))
    tails, heads = labels[rows_of(indptr, len(indices), np)].astype(np.int64), labels[indices]
    apart = tails != heads
    _, first = np.unique(tails[apart] * len(G) + heads[apart], return_index=True)
    first.sort()
    made = nx.DiGraph()
    made.graph["mapping"] = {node: number for number, nodes in members.items() for node in nodes}
    made.add_nodes_from(range(len(members)))
    made.add_edges_from(zip(tails[apart][first].tolist(), heads[apart][first].tolist(), strict=True))
    nx.set_node_attributes(made, members, "members")
    return made
