"""Results checked by their properties, without another search."""

import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, InputError
from mgraph import device as devices
from tests.support.references import as_floats, edges_of


def check_search(graph, source, result):
    """Check a search by its properties, as the Graph500 specification does, without another search.

    Only the source has distance 0; no edge spans more than one level downwards; exactly the reached vertices have a
    tree edge, which exists and spans one level; no edge leads from a reached vertex to an unreached one.
    """
    distances, parents = devices.to_host(result.distances), devices.to_host(result.predecessors)
    src, dst, _ = (devices.to_host(part) if part is not None else None for part in graph.coo())
    assert distances.dtype == np.int32 and distances.shape == (graph.n,)
    assert np.flatnonzero(distances == 0).tolist() == [source]
    reached = distances[src] >= 0
    assert (distances[dst[reached]] >= 0).all()
    assert (distances[dst[reached]] <= distances[src[reached]] + 1).all()
    children = np.flatnonzero(parents >= 0)
    assert np.array_equal(children, np.flatnonzero(distances > 0))
    assert (parents[distances <= 0] == -9999).all()
    assert (distances[parents[children]] == distances[children] - 1).all()
    edges = src.astype(np.int64) * graph.n + dst
    tree = parents[children].astype(np.int64) * graph.n + children
    assert np.isin(tree, edges).all()
    assert np.array_equal(devices.to_host(result.levels), np.bincount(distances[distances >= 0]))


def check_ranks(succ, ranks):
    """Check ranks by their definition: 0 at the last of a list, elsewhere one more than at the successor."""
    succ, ranks = devices.to_host(succ), devices.to_host(ranks)
    assert ranks.dtype == np.int32 and ranks.shape == succ.shape
    last = succ == np.arange(len(succ))
    assert (ranks[last] == 0).all()
    assert (ranks[~last] == ranks[succ[~last]] + 1).all()


def on_a_cycle(succ, element):
    at = succ[element]
    for _ in range(len(succ)):
        if at == element:
            return succ[element] != element
        at = succ[at]
    return False


def check_cycle(succ, method, device, client=None):
    with pytest.raises(InputError, match="on a cycle without an end") as caught:
        mgraph.list_rank(succ, method=method, device=device, client=client)
    assert on_a_cycle(succ, int(str(caught.value).split()[1]))


def check_shortest_paths(graph, source, result):
    """Check a result by its properties, without another search.

    The source is at 0; no edge leads to a vertex that is farther than its end; each reached vertex has a predecessor,
    over an edge of exactly the difference of their distances; and the predecessors lead to the source.
    """
    distances, parents = devices.to_host(result.distances), devices.to_host(result.predecessors)
    assert distances.shape == parents.shape == (graph.n,) and parents.dtype == np.int32
    src, dst, weights = edges_of(graph)
    weights = weights.astype(distances.dtype)
    reached = np.isfinite(as_floats(distances))
    assert distances[source] == 0 and parents[source] == -9999
    follows = reached[src]
    assert reached[dst[follows]].all()
    sums = distances[src[follows]] + weights[follows]
    assert (distances[dst[follows]] <= sums).all()
    tight = np.flatnonzero(follows)[distances[dst[follows]] == sums]
    children = np.flatnonzero(parents >= 0)
    assert np.array_equal(children, np.setdiff1d(np.flatnonzero(reached), [source]))
    assert (parents[~reached] == -9999).all()
    edges = src[tight].astype(np.int64) * graph.n + dst[tight]
    assert np.isin(parents[children].astype(np.int64) * graph.n + children, edges).all()
    # The ancestor of each vertex after 1, 2, 4, ... steps; the source is its own ancestor.
    ancestor = np.where(parents >= 0, parents, np.arange(graph.n))
    for _ in range(graph.n.bit_length()):
        ancestor = ancestor[ancestor]
    assert (ancestor[reached] == source).all()


def check_built(found, expected, client):
    """Compare a graph built on workers with one that was built here and sent there."""
    with DistributedGraph.from_graph(expected, client, device="cpu") as sent, found:
        for name in ("n", "m", "directed", "weights_dtype"):
            assert getattr(found, name) == getattr(expected, name)
        for ours, theirs in zip(found.to_graph().csr(), sent.to_graph().csr(), strict=True):
            assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)
            np.testing.assert_array_equal(ours, theirs)
        placement = found.placement
        assert placement.nonnegative == expected.nonnegative
        assert placement.extremes() == expected.extremes() and placement.total() == expected.total()
        names = ["csc", "weights"]
        assert sum(placement.held(names)) == sum(sent.placement.held(names))


def completions(recorder):
    """Return how elements that no walk passes were completed, in order, from the operations that ran."""
    ways = {"enter": "few", "complete": "many"}
    return [ways[name] for name, *_ in recorder.operations if name in ways]
