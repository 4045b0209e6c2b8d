"""Forests: edges of the graph at their lesser weights, a tree for each component, as light as SciPy's."""

from typing import Any

import numpy as np

from ... import device as devices
from ... import lazy
from ...errors import WrongResultError
from ...graph import Graph


def forest(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless the edges are the graph's, close no cycle, and leave as many trees as there are components."""
    low, high, lightest = _pairs(graph)
    src, dst, weights = (devices.to_host(arrays[name]) for name in ("src", "dst", "weights"))
    pairs, wanted = low * graph.n + high, src.astype(np.int64) * graph.n + dst
    places = np.searchsorted(pairs, wanted)
    there = places < len(pairs)
    there[there] = pairs[places[there]] == wanted[there]
    if not there.all():
        e = int((~there).argmax())
        raise WrongResultError(f"edge ({src[e]}, {dst[e]}) is not in the graph")
    heavier = weights != lightest[places]
    if heavier.any():
        e = int(heavier.argmax())
        raise WrongResultError(
            f"edge ({src[e]}, {dst[e]}) weighs {weights[e]}, its lesser weight is {lightest[places[e]]}"
        )
    trees, components = (_components(graph.n, *ends) for ends in ((src, dst), (low, high)))
    if trees != graph.n - len(src):
        raise WrongResultError(f"{len(src)} edges leave {trees} trees of {graph.n} vertices: they close a cycle")
    if trees != components:
        raise WrongResultError(f"{trees} trees, and SciPy counts {components} components")
    return "a tree per component"


def weight(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless the forest has the weights of SciPy's: all lightest forests have the same.

    SciPy gets the ranks of the weights, which are exact and not zero. A lightest forest depends on their order alone.
    """
    low, high, lightest = _pairs(graph)
    found = np.sort(devices.to_host(arrays["weights"]))
    values, ranks = np.unique(lightest, return_inverse=True)
    matrix = lazy.sparse().csr_array((ranks + 1.0, (low, high)), shape=(graph.n, graph.n))
    taken = lazy.csgraph().minimum_spanning_tree(matrix).data.astype(np.int64) - 1
    expected = np.sort(values[taken])
    if not np.array_equal(found, expected):
        total, wanted = (float(part.astype(np.float64).sum()) for part in (found, expected))
        raise WrongResultError(f"the forest weighs {total:.17g}, SciPy's {wanted:.17g}: their weights differ")
    return "as light as SciPy's"


def _pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of different vertices with an edge in either direction, sorted, and their lesser weights."""
    edges = graph.listed()
    src, dst = devices.to_host(edges.src), devices.to_host(edges.dst)
    weights = np.ones(len(src), np.int32) if edges.weights is None else devices.to_host(edges.weights)
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst).astype(np.int64)
    once = low != high if graph.directed else src < dst  # an undirected graph has each edge twice
    low, high, weights = low[once], high[once], weights[once]
    pairs = low * graph.n + high
    if not (pairs[1:] > pairs[:-1]).all():  # directed, or with parallel edges
        order = np.lexsort((weights, pairs))
        pairs, low, high, weights = pairs[order], low[order], high[order], weights[order]
        first = np.ones(len(pairs), bool)
        first[1:] = pairs[1:] != pairs[:-1]
        low, high, weights = low[first], high[first], weights[first]
    return low, high, weights


def _components(n: int, src: np.ndarray, dst: np.ndarray) -> int:
    marks = lazy.sparse().csr_array((np.ones(len(src), np.int8), (src, dst)), shape=(n, n))
    return int(lazy.csgraph().connected_components(marks, directed=False)[0])
