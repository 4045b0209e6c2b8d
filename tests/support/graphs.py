"""Graphs and lists of many shapes, and strategies that draw them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import mgraph

CHECKOUT = Path(__file__).parents[2]

#: The folder of the real graphs; None where there is none.
REAL_GRAPHS = next((d for d in (CHECKOUT.parent / "shared" / "data", CHECKOUT / ".data") if d.is_dir()), None)

needs_real_graphs = pytest.mark.skipif(REAL_GRAPHS is None, reason="the folder of real graphs is missing")


def grid_ends(rows, columns):
    """The sources and targets of a grid's edges: those along the rows, then those down the columns."""
    cell = np.arange(rows * columns).reshape(rows, columns)
    return np.r_[cell[:, :-1].ravel(), cell[:-1].ravel()], np.r_[cell[:, 1:].ravel(), cell[1:].ravel()]


def shifted(graph, potential):
    """The same edges, directed, some of negative weight: shifting by a potential keeps the weight of every cycle."""
    src, dst, weights = graph.coo()
    moved = (weights + potential[src] - potential[dst]).astype(weights.dtype)
    return mgraph.Graph.from_edges(src, dst, moved, n=graph.n)


def hub_graphs():
    """Graphs whose hubs are reached by pulling, and the sources."""
    hubs, leaves = 5, 9_000
    each = np.arange(hubs, hubs + leaves)
    src, dst = np.repeat(np.arange(hubs), leaves), np.tile(each, hubs)
    yield "hubs that share their leaves", mgraph.Graph.from_edges(src, dst, directed=False), (0, hubs - 1, hubs)
    # Each hub is reached from a path with the last numbers, after all of the hub's leaves.
    n = hubs + hubs * leaves
    src, dst = np.repeat(np.arange(hubs), leaves), np.arange(hubs, n)
    path = np.arange(n, n + 3 * hubs)
    ends = np.r_[src, path[:-1], path[2::3]], np.r_[dst, path[1:], np.arange(hubs)]
    yield "hubs along a path", mgraph.Graph.from_edges(*ends, directed=False), (n, n - 1, 0)
    # Edges into hubs that are never reached, and into one that only its last neighbour reaches.
    src = np.r_[np.repeat(each, 2), hubs + leaves - 1, np.arange(hubs, hubs + leaves - 1)]
    dst = np.r_[np.tile([0, 1], leaves), 2, np.arange(hubs + 1, hubs + leaves)]
    yield "hubs at the end", mgraph.Graph.from_edges(src, dst), (hubs + leaves - 9, hubs + leaves - 1)


def layered(directed=True):
    """Return a graph and the distances from vertex 0, known as each edge is within a layer or to the next one.

    Its layers are thin and thick in turn, and two have hubs: a search runs each kind of level on all cores.
    """
    sizes = np.array([1, 3, 150_000, 10_000, 27_000, 120_000, 5, 40_000])
    layer = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    first = np.cumsum(sizes) - sizes
    random = np.random.default_rng(3)
    own = np.arange(1, len(layer))
    above = layer[own] - 1
    more = random.integers(0, len(layer), 2_000_000)
    to = np.minimum(layer[more] + random.integers(0, 2, len(more)), len(sizes) - 1)
    src = np.concatenate([first[above] + (own - first[above + 1]) % sizes[above], more])
    dst = np.concatenate([own, first[to] + random.integers(0, sizes[to])])
    name = random.permutation(len(layer))
    name[[0, np.flatnonzero(name == 0)[0]]] = 0, name[0]  # the source stays vertex 0
    distances = np.empty_like(layer)
    distances[name] = layer
    return mgraph.Graph.from_edges(name[src], name[dst], directed=directed), distances


def linked_lists(lengths, seed=0):
    """Return linked_lists of these lengths, at random places of one array."""
    n = sum(lengths)
    places = np.random.default_rng(seed).permutation(n)
    succ = np.empty(n, np.int32)
    for part in np.split(places, np.cumsum(lengths)[:-1]):
        succ[part[:-1]] = part[1:]
        succ[part[-1:]] = part[-1:]
    return succ


def rings(n, count, seed=0):
    """Return cycles of equal lengths, through all elements."""
    places = np.random.default_rng(seed).permutation(n).reshape(count, -1)
    succ = np.empty(n, np.int32)
    succ[places] = np.roll(places, -1, axis=1)
    return succ


def weighted_by_ends(graph, weights):
    """Return the graph with an edge's length made from its ends, so that both directions have the same."""
    src, dst, _ = graph.coo()
    low, high = np.minimum(src, dst).astype(np.int64), np.maximum(src, dst)
    return mgraph.Graph.from_edges(src, dst, weights[(low * 7919 + high * 104729) % len(weights)], n=graph.n)


@st.composite
def random_graphs(draw, largest=300, degree=2):
    n = draw(st.integers(1, largest))
    m = draw(st.integers(0, degree * n))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), n=n, directed=draw(st.booleans()))


def component_shapes():
    random = np.random.default_rng(3)
    n = 5000
    path = np.arange(n - 1)
    yield "path", path, path + 1
    yield "path back", path + 1, path
    order = random.permutation(n)
    yield "path in any order", order[:-1], order[1:]
    # Numbers rise and fall in turn, so that half of the vertices are smaller than their neighbours.
    turns = np.stack([np.arange(n // 2), n - 1 - np.arange(n // 2)], 1).ravel()
    yield "zigzag", turns[:-1], turns[1:]
    yield "cycle", np.r_[path, n - 1], np.r_[path + 1, 0]
    yield "star", np.zeros(n - 1, int), path + 1
    yield "star of the last", np.full(n - 1, n - 1), path
    # The hub's edges belong to a block whose other vertices have some, one or none; its component is not the giant.
    leaves = np.arange(3, n, 3)
    rest = np.setdiff1d(np.arange(n), np.r_[1, leaves])
    yield "hub beside a giant", np.r_[np.ones(len(leaves), int), rest[:-1]], np.r_[leaves, rest[1:]]
    yield "grid", *grid_ends(70, 70)
    yield "complete", *np.nonzero(~np.eye(200, dtype=bool))
    yield "two giants", *np.sort(random.integers(0, n // 2, (2, 4 * n)) * 2 + random.integers(0, 2, 4 * n), axis=0)
    pairs = random.permutation(n).reshape(2, -1)
    yield "pairs", *pairs
    yield "trees", path + 1, (random.random(n - 1) * (path + 1)).astype(int) // 7 * 7
    yield "self-loops", np.r_[path, path], np.r_[path, np.minimum(path + 2, n - 1)]
    yield "repeated edges", np.r_[path[::2], path[::2], path[::2]], np.r_[path[::2], path[::2], path[::2]] + 1


@st.composite
def weighted_graphs(draw, largest=40):
    """Graphs of small whole weights without negative cycles (tied, zero, shifted by potentials, none), and a type."""
    n = draw(st.integers(0, largest))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    m = draw(st.sampled_from([0, n // 2, 2 * n, 5 * n, n * n // 2]))
    src, dst = random.integers(0, max(n, 1), (2, m))
    weights = random.integers(0, draw(st.sampled_from([0, 1, 9, 1000])) + 1, m)
    directed = draw(st.booleans())
    if directed and draw(st.booleans()):
        potential = random.integers(0, 50, n)
        weights += potential[src] - potential[dst]
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int32]))
    weights = draw(st.sampled_from([weights, weights.astype(dtype), None]))
    return mgraph.Graph.from_edges(src, dst, weights, n=n, directed=directed), dtype


#: Weights along cycles, of which rounded sums are negative and exact ones zero.
ZERO_BUT_FOR_ROUNDING = [[-0.6, 0.5, 0.6, -0.5], [0.0, 0.5, 0.9, -0.9, -0.7, 0.6, -0.4]]


def cycle(weights):
    n = len(weights)
    return mgraph.Graph.from_edges(range(n), [*range(1, n), 0], weights)


def negative_ring():
    """Return a matrix of a path of 100 vertices with a ring, 50..69, of total weight -1; and the ring."""
    matrix, ring = np.full((100, 100), np.inf), list(range(50, 70))
    matrix[np.arange(99), np.arange(1, 100)] = 3
    matrix[ring, ring[1:] + ring[:1]] = 1
    matrix[69, 50] = -20
    return matrix, ring
