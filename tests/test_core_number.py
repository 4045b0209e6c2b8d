"""Core numbers against NetworkX, on one device and on workers; what is refused; the memory that is planned."""

import numpy as np
import pytest

import mgraph
from mgraph import Graph, InputError
from mgraph_bench.peers import solver
from tests.support.clusters import clients

networkx = pytest.importorskip("networkx")

from mgraph import networkx as backend  # noqa: E402

client = clients(3)


def of(made):
    """Return a NetworkX graph of nodes 0 to n-1 as mgraph's."""
    ends = np.array(made.edges(), int).reshape(-1, 2).T
    return Graph.from_edges(*ends, n=len(made), directed=made.is_directed())


def expected(made):
    found = networkx.core_number(made, backend="networkx")
    return [found[node] for node in range(len(made))]


def graphs(directed):
    """Yield random graphs, sparse and dense, and graphs of a form."""
    for seed in range(12):
        n, share = (40, 0.03 + 0.02 * seed) if seed % 2 else (150, 0.02)
        yield networkx.gnp_random_graph(n, share, seed=seed, directed=directed)
    for made in (networkx.path_graph(9), networkx.star_graph(300), networkx.complete_graph(7), networkx.empty_graph(3)):
        yield made.to_directed() if directed else made


@pytest.mark.parametrize("directed", [False, True])
def test_networkx_has_the_same(directed, device):
    for made in graphs(directed):
        graph = of(made)
        result = mgraph.core_number(graph, device=device)
        assert np.asarray(result).tolist() == expected(made)
        result.verify()


@pytest.mark.parametrize("directed", [False, True])
def test_workers_have_the_same(directed, client):
    for made in list(graphs(directed))[::5]:
        graph = of(made)
        assert mgraph.core_number(graph, client=client, device="cpu").cores.tolist() == expected(made)
        with mgraph.DistributedGraph.from_graph(graph, client, device="cpu") as placed:
            result = mgraph.core_number(placed)
            assert np.asarray(result).tolist() == expected(made)
            result.verify(placed)


@pytest.mark.parametrize("on_workers", [False, True])
@pytest.mark.parametrize(
    ("ends", "says"),
    [
        (([0, 1, 2], [1, 2, 2]), "no self-loop, and vertex 'c' has a self-loop: leave out edges whose ends are one"),
        (
            ([0, 0, 1], [1, 1, 2]),
            "no parallel edges, and vertex '.' has parallel edges: take each pair once; .* without directed=False",
        ),
    ],
)
@pytest.mark.parametrize("directed", [False, True])
def test_loops_and_parallel_edges_are_refused(ends, says, directed, on_workers, client):
    graph = Graph.from_edges(*ends, ids=["a", "b", "c"], directed=directed)
    with pytest.raises(InputError, match=says):
        mgraph.core_number(graph, device="cpu", client=client if on_workers else None)


def test_both_directions_count():
    """Two edges between two vertices, one in each direction, are not parallel."""
    assert mgraph.core_number(Graph.from_edges([0, 1], [1, 0]), device="cpu").cores.tolist() == [2, 2]
    assert mgraph.core_number(Graph.from_edges([], [], n=0), device="cpu").cores.tolist() == []


def test_networkx_runs_it_here():
    made = networkx.gnp_random_graph(60, 0.1, seed=3)
    named = networkx.relabel_nodes(made, {node: f"node {node}" for node in made})
    found = backend.core_number(backend.convert_from_nx(named))
    assert found == networkx.core_number(named, backend="networkx")
    for refused in (networkx.MultiGraph([(0, 1)]), networkx.Graph([(0, 0)])):
        with pytest.raises(NotImplementedError):  # then NetworkX runs the call itself, and raises its own error
            backend.core_number(backend.convert_from_nx(refused))


@pytest.mark.parametrize("peer", ["networkx", "igraph"])
@pytest.mark.parametrize("directed", [False, True])
def test_peers(peer, directed):
    pytest.importorskip(peer)
    for made in list(graphs(directed))[::4]:
        solve, arrays, _ = solver(peer, "core_number", of(made))
        assert arrays(solve())["cores"].tolist() == expected(made)
