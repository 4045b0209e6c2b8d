"""All pairs on graphs that lie on workers: what direct calls give, gathered on each worker as the plan says."""

import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph, device
from mgraph.errors import DistanceOverflowError, InputError, MemoryLimitError, NegativeCycleError
from tests.support.clusters import CLUSTER_WARNINGS, clients, wait_until
from tests.support.parameters import exhaustive
from tests.support.residents import GRAPHS, names_kept, same

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3))


def placed(graph, client):
    return DistributedGraph.from_graph(graph, client, device="cpu")


def check_pairs(there, graph, methods=("sssp", "johnson", "blocked")):
    for method in methods:
        if method == "sssp" and not graph.nonnegative:
            continue
        found = mgraph.apsp(there, method=method, predecessors=True)
        same(found, mgraph.apsp(graph, method=method, predecessors=True, device="cpu"))
    for reflexive in (True, False):
        closure = mgraph.transitive_closure(there, reflexive=reflexive)
        expected = mgraph.transitive_closure(graph, reflexive=reflexive, device="cpu")
        same(closure, expected)
        assert closure.count == expected.count


@pytest.mark.parametrize("name", GRAPHS)
def test_all_pairs_are_those_of_direct_calls(client, name):
    graph = GRAPHS[name]()
    with placed(graph, client) as there:
        check_pairs(there, graph)
        found = mgraph.apsp(there, dtype="auto")  # by the method that the plan chooses
        same(found, mgraph.apsp(graph, method=found.plan.method, dtype=found.plan.dtype, device="cpu"))


def test_methods_to_compare(client):
    graph = GRAPHS["directed with zeros and loops"]()
    with placed(graph, client) as there:
        check_pairs(there, graph, ("naive", "squaring"))
        same(
            mgraph.apsp(there, intermediate=True, method="blocked"),
            mgraph.apsp(graph, intermediate=True, method="blocked", device="cpu"),
        )


@pytest.mark.gpu
def test_all_pairs_on_gpus():
    with mgraph.cluster.local_client(min(2, device.gpu_count()), device="cuda") as client:
        for make in GRAPHS.values():
            graph = make()
            with DistributedGraph.from_graph(graph, client, device="cuda") as there:
                check_pairs(there, graph)


def test_negative_cycles_are_found_where_the_graph_lies(client, monkeypatch):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 1, 4], [1, -5, 2, 1])
    with placed(graph, client) as there:
        # The edges are not fetched.
        monkeypatch.setattr(type(there.placement), "to_graph", lambda self: pytest.fail("the client has the graph"))
        for call in (
            lambda: mgraph.sssp(there, 0),
            lambda: mgraph.apsp(there),
            lambda: mgraph.apsp(there, method="johnson"),
        ):
            with pytest.raises(NegativeCycleError) as caught:
                call()
            assert caught.value.vertex in (1, 2)
        assert mgraph.sssp(there, 3).distances[4] == 1  # the cycle is not reached
        wait_until(lambda: set(names_kept(client)) == {there.placement.name})


def test_negative_cycles_below_rounding_and_out_of_reach(client):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4], [0.1, 0.2, -0.30000000000000004, -1])
    with placed(graph, client) as there:
        for call in (
            *(lambda v=v: mgraph.sssp(there, v) for v in range(3)),
            lambda: mgraph.distances(there, [3, 1]),
            lambda: mgraph.distances(there, [2], method="hierarchy"),
            lambda: mgraph.apsp(there, method="blocked"),
            lambda: mgraph.apsp(there),
        ):
            with pytest.raises(NegativeCycleError) as caught:
                call()
            assert caught.value.vertex in range(3)
        assert mgraph.sssp(there, 3).distances[4] == -1
        for method in ("auto", "hierarchy"):
            assert np.asarray(mgraph.distances(there, [3, 4], method=method).distances)[:, 4].tolist() == [-1, 0]


def test_distances_below_the_range_are_no_cycle(client):
    graph = Graph.from_edges([0, 1], [1, 2], np.full(2, -(2**28)), n=64)
    with placed(graph, client) as there:
        with pytest.raises(DistanceOverflowError):
            mgraph.sssp(there, 0, dtype="int32")


def test_the_plan_counts_the_edges_that_each_worker_gathers(client):
    graph = mgraph.generate.weighted(mgraph.generate.rmat(9, directed=True), (1, 9))
    with placed(graph, client) as there:
        found = mgraph.apsp(there, method="sssp")
        lists = 2 * (4 * (graph.n + 1) + 4 * graph.m)  # by source and by target
        weights = 2 * 4 * graph.m  # as given, and as the search reads them
        rows = max(last - first for first, last in found.plan.ranges)
        assert max(found.plan.peak_bytes) >= lists + weights + rows * graph.n * 4
        short = lists + weights
        with pytest.raises(MemoryLimitError, match="memory limit"):
            mgraph.apsp(there, method="sssp", memory_limit=short)
        with pytest.raises(MemoryLimitError, match="memory limit"):
            mgraph.transitive_closure(there, memory_limit=1000)


def test_strong_components_are_refused_by_name(client):
    with placed(GRAPHS["directed with zeros and loops"](), client) as there:
        with pytest.raises(InputError, match=r"connection='strong' is not computed on workers: .*to_graph\(\)"):
            mgraph.connected_components(there, connection="strong")
