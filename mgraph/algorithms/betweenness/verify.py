"""Betweenness by a second algorithm: distances by SciPy, and numbers of shortest paths as logarithms, by NumPy."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ... import lazy
from ...errors import WrongResultError
from ...graph import Graph, PlacedGraph, in_this_process
from ...graph.compressed import Compressed, lightest, rows_of
from .pairs import Pairs

#: How much a value may differ: of itself, and of the greatest one. Logarithms of numbers of paths round more.
RELATIVE, ABSOLUTE = 1e-6, 1e-9


class Difference(NamedTuple):
    """The rule that a value breaks, its place, what was found there and what was expected."""

    rule: str
    place: int
    found: Any
    expected: Any


def values(graph: Graph, arrays: dict[str, Any], source: Any) -> str:
    """Raise unless betweenness by the weights, normalized, is what a second algorithm finds from the sources."""
    starts = np.arange(graph.n) if source is None else np.asarray(source)
    pairs = Pairs(starts.astype(np.int32), edges="src" in arrays)
    if not np.array_equal(arrays["sources"], starts):
        raise WrongResultError("the sources are not those of the call")
    names = ("betweenness", "src", "dst") if pairs.edges else ("betweenness",)
    found = {name: devices.to_host(arrays[name]) for name in names}
    broken = first_difference(graph, found, pairs, graph.weighted)
    if broken is not None:
        raise WrongResultError(f"place {broken.place} has {broken.found}, and SciPy's paths {broken.expected}")
    return "as along SciPy's shortest paths"


def first_difference(
    graph: Graph | PlacedGraph, arrays: dict[str, np.ndarray], pairs: Pairs, weighted: bool
) -> Difference | None:
    """Return the first value that is not as expected, or None."""
    graph = in_this_process(graph)
    given = Compressed(*(None if part is None else devices.to_host(part) for part in graph.compressed("csr")))
    given = given if weighted else given._replace(weights=None)
    src = rows_of(given.indptr, len(given.indices), np)
    for name, expected in (("src", src), ("dst", given.indices)):
        if pairs.edges and not np.array_equal(arrays[name], expected):
            place = int((arrays[name] != expected).argmax())
            return Difference("ends", place, int(arrays[name][place]), int(expected[place]))
    wanted = _sums(graph.n, lightest(given), pairs)
    if pairs.edges:
        wanted = _of_each(given, src, lightest(given), wanted, graph.directed, graph.n)
    pairs.scale(wanted, graph.directed, graph.n, np)
    found = arrays["betweenness"]
    room = RELATIVE * np.abs(wanted) + ABSOLUTE * np.nanmax(np.abs(wanted), initial=0.0)
    with np.errstate(invalid="ignore"):
        wrong = ~((np.abs(found - wanted) <= room) | (np.isnan(found) & np.isnan(wanted)))
    if not wrong.any():
        return None
    place = int(wrong.argmax())
    return Difference("value", place, float(found[place]), float(wanted[place]))


def _sums(n: int, edges: Compressed, pairs: Pairs) -> np.ndarray:
    """Return the sums of dependencies on each vertex or edge."""
    src, dst = rows_of(edges.indptr, len(edges.indices), np), edges.indices
    lengths = np.ones(len(dst)) if edges.weights is None else edges.weights.astype(np.float64)
    matrix = lazy.sparse().csr_array((lengths, dst, edges.indptr), shape=(n, n))
    sums, targets = np.zeros(len(dst) if pairs.edges else n), pairs.is_target(n)
    for source in pairs.sources.tolist():
        away = lazy.csgraph().dijkstra(matrix, indices=source, limit=pairs.limit)
        there = away[src] + lengths
        tight = np.flatnonzero((there == away[dst]) & (away[src] < there) & np.isfinite(there))
        tails, heads = src[tight], dst[tight]
        depth, before = np.zeros(n, np.int64), None
        while before is None or not np.array_equal(depth, before):
            before = depth.copy()
            np.maximum.at(depth, heads, depth[tails] + 1)
        by_depth = np.argsort(depth[heads], kind="stable")
        cuts = np.searchsorted(depth[heads][by_depth], np.arange(1, depth.max(initial=0) + 2))
        groups = [by_depth[first:last] for first, last in itertools.pairwise(cuts)]
        paths, passing = np.full(n, -np.inf), np.zeros(n)
        paths[source] = 0.0
        for group in groups:
            np.logaddexp.at(paths, heads[group], paths[tails[group]])
        for group in reversed(groups):
            share = np.exp(paths[tails[group]] - paths[heads[group]]) * (passing + targets)[heads[group]]
            np.add.at(passing, tails[group], share)
            if pairs.edges:
                sums[tight[group]] += share
        if not pairs.edges:
            ends = targets & np.isfinite(away) & pairs.endpoints
            ends[source] = False
            passing[source] = 0.0
            sums += passing + ends
            sums[source] += ends.sum()
    return sums


def _of_each(
    given: Compressed, src: np.ndarray, simple: Compressed, sums: np.ndarray, directed: bool, n: int
) -> np.ndarray:
    """Return the sums of all edges, given those of the lightest between two vertices."""
    ends = rows_of(simple.indptr, len(simple.indices), np).astype(np.int64), simple.indices.astype(np.int64)
    keys = ends[0] * n + ends[1]
    if not directed:
        sums = sums + sums[np.searchsorted(keys, ends[1] * n + ends[0])]
    place = np.searchsorted(keys, src.astype(np.int64) * n + given.indices)
    light = np.ones(len(src), bool)
    if given.weights is not None and simple.weights is not None:
        light = given.weights == simple.weights[place]
    return np.where(light, (sums / np.bincount(place[light], minlength=len(sums)))[place], 0.0)
