"""Numbers of shortest paths, counted anew by NumPy from distances that have been proved.

The vertices at a distance are taken together, the nearest first: lengths are positive, so that no shortest path leads
from one of them to another. Each has the sum of the numbers at the sources of the edges that end shortest paths there.
Numbers are a fraction and an exponent of two each, so that none is too large, and exact below 2**53.
"""

from typing import Any, NamedTuple

import numpy as np

from ... import device as devices
from ...dtypes import infinity
from ...errors import WrongResultError
from ...graph import Compressed, Graph
from ...graph.compressed import lightest, rows_of
from ...graph.potentials import lengths_of
from .. import bellman
from ..distances import verify as distances

#: Up to which exponent of two numbers are compared exactly, and how much greater ones may differ, of themselves.
EXACT, RELATIVE = 53, 1e-9

#: Bytes of the host's memory for each edge and each vertex.
AN_EDGE, A_VERTEX = 60, 50


class Difference(NamedTuple):
    """The first vertex with a wrong number of paths, the number there and the right one, in words."""

    vertex: int
    found: str
    expected: str


def counts(graph: Graph, arrays: dict[str, Any], sources: Any) -> str:
    """Raise unless the distances are right, and the numbers of paths follow from them."""
    words = distances.rows(graph, arrays, sources)
    edges = edges_of_paths(graph, "csc", graph.weighted)
    edges = edges._replace(weights=lengths_of(edges, arrays["distances"].dtype, devices.find("cpu")))
    scaled = arrays.get("exponents")
    for i in bellman.rows_within(len(sources), graph.n + graph.m, distances.ROWS):
        row = arrays["distances"][i], arrays["counts"][i], None if scaled is None else scaled[i]
        broken = first_difference(edges, int(sources[i]), *row)
        if broken is not None:
            raise WrongResultError(f"{broken.found} paths lead to {broken.vertex}, and {broken.expected} by NumPy")
    return f"{words}, and numbers of paths by NumPy"


def edges_of_paths(graph: Graph, order: str, weighted: bool) -> Compressed:
    """Return the edges of a graph on the host, of parallel ones the lightest."""
    edges = Compressed(*(None if part is None else devices.to_host(part) for part in graph.compressed(order)))
    return lightest(edges if weighted else edges._replace(weights=None))


def first_difference(
    edges: Compressed, source: int, row: np.ndarray, found: np.ndarray, exponents: np.ndarray | None
) -> Difference | None:
    """Return the first vertex whose number of paths does not follow from a row of distances, or None.

    Edges are by target, with lengths of the type of the distances.
    """
    fractions, powers = _counted(edges, row, source)
    own, shifts = np.frexp(found)
    shifts = shifts.astype(np.int64) + (0 if exponents is None else exponents)
    with np.errstate(invalid="ignore"):
        near = np.abs(np.ldexp(own, np.clip(shifts - powers, -9, 9)) - fractions) <= RELATIVE * fractions
    right = np.where(powers <= EXACT, (own == fractions) & (shifts == powers), near)
    if right.all():
        return None
    vertex = int(right.argmin())
    return Difference(vertex, _in_words(own[vertex], shifts[vertex]), _in_words(fractions[vertex], powers[vertex]))


def _counted(edges: Compressed, row: np.ndarray, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of shortest paths to each vertex: fractions from 1/2 to 1, or 0, and exponents of two."""
    indptr, src, lengths = edges
    n, dst = len(row), rows_of(indptr, len(src), np)
    with np.errstate(over="ignore"):
        tight = np.flatnonzero(
            (row[src] + lengths == row[dst]) & (row[src] < row[dst]) & (row[dst] < infinity(row.dtype))
        )
    by_distance = tight[np.argsort(row[dst[tight]], kind="stable")]
    tails, heads = src[by_distance], dst[by_distance]
    fractions, powers = np.zeros(n), np.zeros(n, np.int64)
    fractions[source], powers[source] = 0.5, 1
    cuts = np.flatnonzero(np.diff(row[heads])) + 1
    for tail, head in zip(np.split(tails, cuts), np.split(heads, cuts), strict=True):
        if not len(head):
            continue
        first = np.flatnonzero(np.append(True, head[1:] != head[:-1]))
        most = np.maximum.reduceat(powers[tail], first)
        shifts = powers[tail] - np.repeat(most, np.diff(first, append=len(head)))
        sums, grown = np.frexp(np.add.reduceat(np.ldexp(fractions[tail], np.maximum(shifts, -2000)), first))
        fractions[head[first]], powers[head[first]] = sums, most + grown
    return fractions, powers


def _in_words(fraction: float, power: int) -> str:
    """Return a number of paths in words."""
    return f"{np.ldexp(fraction, power):.17g}" if power <= 1000 else f"{fraction:.17g} * 2**{power}"
