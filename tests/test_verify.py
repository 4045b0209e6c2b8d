"""`verify` accepts right results of all methods, and finds wrong ones, each by its rule; here and on workers."""

import gc
import pickle
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph, VerificationError
from mgraph.errors import InputError
from mgraph.generate import grid, rmat, weighted
from mgraph.runtime.dask.worker import sessions
from tests.support.clusters import CLUSTER_WARNINGS, cluster
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS

NONE = -9999
UNREACHED = 2**31 - 1


@pytest.fixture(scope="module", params=[0, 2, *exhaustive(1, 3)])
def lying(request):
    """A context in which a graph lies here, or on workers in this process."""
    if not request.param:

        @contextmanager
        def here(graph):
            yield graph, {"device": "cpu"}

        yield here
        return
    with cluster(request.param, processes=False) as client:

        @contextmanager
        def there(graph):
            with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
                yield placed, {}

        yield there


def spoil(result, graph, name, vertex, value):
    """Change an element of a result where it lies."""
    vector = result.arrays[name]
    if isinstance(vector, np.ndarray):
        vector[vertex] = value
        return
    shard = next(i for i, (first, last) in enumerate(vector.ranges) if first <= vertex < last)
    (call, own), first = vector.place, vector.ranges[shard][0]

    def change(dask_worker):
        for session in sessions(dask_worker).sessions.values():
            if call in session.kept and session.rank == shard:
                session.kept[call][own][vertex - first] = value
                return 1
        return 0

    assert sum(graph.placement.group.client.run(change).values()) == 1


def directed(low=0, n=300, m=1500):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, n, (2, m))
    return Graph.from_edges(src, dst, rng.integers(low, 9, m), n=n)


GRAPHS = {
    "Kronecker": lambda: weighted(rmat(8), (1, 255)),
    "floats": lambda: directed(1).with_weights(directed(1).coo().weights / 3),
    "float32": lambda: directed(0).with_weights((directed(0).coo().weights / 7).astype(np.float32)),
    "zeros and loops": directed,
    "all zero": lambda: grid(5, 40).with_weights(np.zeros(grid(5, 40).m, np.int32)),
    "negative": lambda: Graph.from_edges([0, 1, 0, 2, 3, 3], [1, 2, 2, 3, 4, 1], [4, -3, 2, -1, 5, 4], n=70),
    "unweighted": lambda: directed().unweighted(),
    "two vertices": lambda: Graph.from_edges([0, 1], [1, 0], [2, 3]),
    "no edges": lambda: Graph.from_edges([], [], n=40),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_right_results_pass(lying, name):
    graph = GRAPHS[name]()
    with lying(graph) as (placed, where):
        for predecessors in (False, True):
            for bounds in ({}, {"limit": 3}, {"target": graph.n - 1}, {"target": 1, "limit": 2}):
                given = {"predecessors": predecessors, **bounds, **where}
                for tree in {predecessors, predecessors and "any"}:
                    searched = {**given, "predecessors": tree}
                    mgraph.bfs(placed, 0, **searched).verify()
                    mgraph.bfs(placed, sources=[0, graph.n - 1], **searched).verify()
                result = mgraph.sssp(placed, 0, **given)
                if name == "negative" and bounds:
                    with pytest.raises(InputError, match="negative weights"):
                        result.verify()
                else:
                    result.verify()
        mgraph.connected_components(placed, **where).verify()
        mgraph.apsp(placed, **where).verify(rows=2)


def test_right_results_of_all_methods_pass():
    graph = weighted(rmat(7), (1, 9))
    for method in ("hybrid", "frontier", "pull", "edge", "vertex", "mask", "queue", "privatized", "scan", "sequential"):
        for predecessors in (True, "any"):
            mgraph.bfs(graph, 1, method=method, predecessors=predecessors, device="cpu").verify()
    for method in ("nearfar", "bellman-ford", "mask"):
        mgraph.sssp(graph, 1, method=method, device="cpu").verify()
    for method in ("afforest", "shiloach-vishkin", "sequential"):
        mgraph.connected_components(graph, method=method, device="cpu").verify()
    for method in ("blocked", "naive", "squaring", "sssp", "johnson"):
        mgraph.apsp(graph, method=method, device="cpu").verify(rows=None)
    mgraph.bfs_many(graph, [3, 1, 3], limit=2, predecessors=True, device="cpu").verify(rows=None)


#: Edges 0-1-2-3 of length 5 and 0-3 of 20, in both directions, 64-65 and 65-66 of length 2, beyond a whole word.
ENDS = [0, 1, 2, 0, 64, 65], [1, 2, 3, 3, 65, 66], [5, 5, 5, 20, 2, 2]


def lines():
    return Graph.from_edges(*ENDS, n=70, directed=False)


@pytest.mark.parametrize(
    ("predecessors", "changes", "rule", "vertex"),
    [
        (False, {"distances": {2: 9}}, "edge", 3),
        (False, {"distances": {3: 14}}, "tight", 3),
        (False, {"distances": {1: 6}}, "edge", 1),
        (False, {"distances": {0: 1}}, "source", 0),
        (False, {"distances": {1: 4, 2: 9, 3: 14}}, "tight", 1),
        (False, {"distances": {3: 20}}, "edge", 3),
        (False, {"distances": {3: UNREACHED}}, "reached", 3),
        (False, {"distances": {65: 7}}, "reached", 64),
        (False, {"distances": {69: 7}}, "tight", 69),
        (True, {"distances": {2: 9}}, "tree edge", 2),
        (True, {"distances": {1: 6}}, "tree edge", 1),
        (True, {"distances": {69: 7}}, "tree", 69),
        (True, {"distances": {3: UNREACHED}}, "tree", 3),
        (True, {"predecessors": {3: 1}}, "tree edge", 3),
        (True, {"predecessors": {3: 0}}, "tree edge", 3),
        (True, {"predecessors": {3: 99}}, "tree", 3),
        (True, {"predecessors": {3: -1}}, "tree", 3),
        (True, {"predecessors": {3: NONE}}, "tree", 3),
        (True, {"predecessors": {69: 3}}, "tree", 69),
        (True, {"predecessors": {0: 1}}, "source", 0),
        (True, {"predecessors": {1: 2, 2: 1}}, "cycle", 1),
        (True, {"predecessors": {3: 3}}, "cycle", 3),
        (True, {"distances": {64: 7, 65: 9}, "predecessors": {64: 65, 65: 64}}, "cycle", 64),
    ],
)
def test_wrong_shortest_paths_are_found(lying, predecessors, changes, rule, vertex):
    with lying(lines()) as (placed, where):
        check(mgraph.sssp(placed, 0, predecessors=predecessors, **where), placed, changes, rule, vertex)


@pytest.mark.parametrize(
    ("predecessors", "changes", "rule", "vertex"),
    [
        (False, {"distances": {2: 1}}, "tight", 2),
        (False, {"distances": {1: 2}}, "edge", 1),
        (False, {"distances": {2: -1}}, "reached", 2),
        (False, {"distances": {69: 1}}, "tight", 69),
        (False, {"distances": {69: -7}}, "tight", 69),
        (True, {"predecessors": {1: 3}}, "tree edge", 1),
        (True, {"predecessors": {1: 64}}, "tree", 1),
        ("any", {"predecessors": {1: 3}}, "tree edge", 1),
        ("any", {"predecessors": {1: 64}}, "tree", 1),
        ("any", {"predecessors": {2: NONE}}, "tree", 2),
        ("any", {"predecessors": {0: 1}}, "source", 0),
    ],
)
def test_wrong_searches_are_found(lying, predecessors, changes, rule, vertex):
    with lying(lines()) as (placed, where):
        check(mgraph.bfs(placed, 0, predecessors=predecessors, **where), placed, changes, rule, vertex)


@pytest.mark.parametrize("predecessors", [False, True])
def test_distances_beyond_the_limit_or_the_target_are_found(lying, predecessors):
    beyond = {"distances": {2: 10}, "predecessors": {2: 1}}
    changes = beyond if predecessors else {"distances": beyond["distances"]}
    with lying(lines()) as (placed, where):
        for bound in ({"limit": 9}, {"target": 1}):
            check(mgraph.sssp(placed, 0, predecessors=predecessors, **bound, **where), placed, changes, "limit", 2)
        changes["distances"] = {2: 2}
        for bound in ({"limit": 1}, {"target": 1}):
            check(mgraph.bfs(placed, 0, predecessors=predecessors, **bound, **where), placed, changes, "limit", 2)
        result = mgraph.sssp(placed, 0, limit=10, **where)  # one within it that is missing
        check(result, placed, {"distances": {2: UNREACHED}}, "reached", 2)


def test_cycles_of_length_zero_do_not_prove_themselves(lying):
    graph = Graph.from_edges([0, 0, 64, 65, 66], [1, 66, 65, 64, 64], [5, 9, 0, 0, 1], n=70)
    with lying(graph) as (placed, where):
        result = mgraph.sssp(placed, 0, **where)
        result.verify()
        check(result, placed, {"distances": {64: 3, 65: 3}}, "path", 64)
        result = mgraph.sssp(placed, 0, predecessors=True, **where)
        check(result, placed, {"distances": {64: 3, 65: 3}, "predecessors": {64: 65, 65: 64}}, "cycle", 64)


def test_negative_cycles_of_length_zero_do_not_prove_themselves(lying):
    graph = Graph.from_edges([0, 0, 64, 65], [1, 64, 65, 64], [5, 9, 3, -3], n=70)
    with lying(graph) as (placed, where):
        check(mgraph.sssp(placed, 0, **where), placed, {"distances": {64: 3, 65: 6}}, "path", 64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_exact_up_to_a_unit_in_the_last_place(lying, dtype):
    graph = lines().with_weights((lines().coo().weights / 3).astype(dtype))
    with lying(graph) as (placed, where):
        result = mgraph.sssp(placed, 0, **where)
        result.verify()
        right = result.distances[3]
        three = dtype(right) - 4 * np.spacing(dtype(right))
        check(result, placed, {"distances": {3: three}}, "tight", 3)


@pytest.mark.parametrize(
    ("changes", "rule", "vertex"),
    [
        ({2: 2}, "edge", 2),
        ({2: 1}, "label", 2),
        ({2: 3}, "label", 2),
        ({2: -1}, "label", 2),
        ({66: 65}, "label", 66),
        ({64: 0, 65: 0, 66: 0}, "connected", 64),
        ({69: 68}, "connected", 69),
    ],
)
def test_wrong_labels_are_found(lying, changes, rule, vertex):
    for graph in (lines(), Graph.from_edges(*ENDS, n=70)):
        with lying(graph) as (placed, where):
            check(mgraph.connected_components(placed, **where), placed, {"labels": changes}, rule, vertex)


def test_a_wrong_count_is_found(lying):
    with lying(lines()) as (placed, where):
        result = mgraph.connected_components(placed, **where)
        with pytest.raises(VerificationError, match="components") as caught:
            replace(result, count=result.count + 1).verify()
        assert (caught.value.rule, caught.value.vertex) == ("count", None)


def check(result, graph, changes, rule, vertex):
    """Spoil a result, and expect its verification to name a rule and a vertex."""
    for name, values in changes.items():
        for place, value in values.items():
            spoil(result, graph, name, place, value)
    with pytest.raises(VerificationError) as caught:
        result.verify()
    assert (caught.value.rule, caught.value.vertex) == (rule, vertex)
    assert str(caught.value).startswith(f"vertex {vertex} breaks the rule {rule!r}")


def test_rows_of_matrices():
    graph = directed()
    result = mgraph.apsp(graph, device="cpu")
    result.verify(rows=3)
    result.distances[0, 7] += 1
    with pytest.raises(VerificationError, match="from vertex 0 the distance of vertex 7") as caught:
        result.verify()
    assert (caught.value.rule, caught.value.vertex) == ("neighbours", 7)
    result = mgraph.apsp(graph, device="cpu")
    result.distances[150, 7] -= 1
    result.verify(rows=2)
    with pytest.raises(VerificationError):
        result.verify(rows=None)
    with pytest.raises(InputError, match="rows must be"):
        result.verify(rows=0)
    searches = mgraph.bfs_many(graph, [4, 9, 11], device="cpu")
    searches.distances[1, 9] = 3
    with pytest.raises(VerificationError) as caught:
        searches.verify()
    assert (caught.value.rule, caught.value.vertex) == ("source", 9)


def test_each_worker_is_sent_its_own_part_of_a_row(carried):
    graph = grid(300, 500)
    row = 4 * graph.n  # bytes
    searches = mgraph.bfs_many(graph, [0, 7], device="cpu")
    with cluster(3, processes=True) as client, DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        carried.clear()
        searches.verify(placed)
        # Written and read between the client and the scheduler, which are here, and written to the workers, once each.
        # The longer it takes, the more short messages there are.
        assert 5 * row < sum(size for size in carried if size > row // 100) < 6.5 * row


def test_the_graph_is_not_kept():
    graph = grid(3, 4)
    result = mgraph.bfs(graph, 0, device="cpu")
    del graph
    gc.collect()
    with pytest.raises(InputError, match="pass it as graph="):
        result.verify()
    result.verify(grid(3, 4))
    result.verify(grid(3, 4).to_scipy())
    with pytest.raises(InputError, match="of 12 vertices"):
        result.verify(grid(3, 5))
    with pytest.raises(VerificationError):
        result.verify(grid(4, 3))


def test_results_are_pickled_without_the_graph():
    graph = grid(3, 4)
    result = pickle.loads(pickle.dumps(mgraph.bfs(graph, 0, limit=2, device="cpu")))
    with pytest.raises(InputError, match="pass it as graph="):
        result.verify()
    result.verify(graph)


@pytest.mark.parametrize("method", ["sequential", "multistep", "colouring"])
def test_strong_components(method):
    for graph in (directed(), rmat(9, 2, directed=True), Graph.from_edges([], [], n=3, directed=True)):
        mgraph.connected_components(graph, connection="strong", method=method, device="cpu").verify()


def test_strong_components_need_memory(monkeypatch):
    graph = rmat(12, 2, directed=True)
    result = mgraph.connected_components(graph, connection="strong", device="cpu")
    monkeypatch.setattr(mgraph.limits, "available_memory", lambda: 1 << 10)
    with pytest.raises(mgraph.MemoryLimitError, match=r"verify\(\) needs"):
        result.verify(graph)


@pytest.mark.parametrize(
    ("labels", "rule", "vertex"),
    [
        ([0, 0, 0, 3, 3, 6, 5], "label", 5),
        ([0, 0, 0, 3, 3, 6, 6], "label", 5),
        ([0, 0, 2, 3, 3, 5, 6], "reaching", 1),  # 0, 1, 2 are on one cycle
        ([0, 1, 2, 3, 3, 5, 6], "cycle", 0),
        ([0, 0, 0, 3, 3, 3, 6], "reaching", 5),  # 5 is reached by 3 and 4
        ([0, 0, 0, 3, 3, 5, 3], "reached", 6),  # 6 reaches 3
        ([0, 0, 0, 0, 0, 5, 6], "reaching", 3),
        ([0, 0, 0, 3, 4, 5, 6], "cycle", 3),
    ],
)
def test_wrong_strong_components(labels, rule, vertex):
    graph = Graph.from_edges([0, 1, 2, 2, 3, 4, 4, 6], [1, 2, 0, 3, 4, 3, 5, 3], n=7, directed=True)
    result = mgraph.connected_components(graph, connection="strong", device="cpu")
    result.verify()
    assert result.labels.tolist() == [0, 0, 0, 3, 3, 5, 6]
    with pytest.raises(VerificationError) as caught:
        replace(result, labels=np.array(labels, np.int32)).verify(graph)
    assert (caught.value.rule, caught.value.vertex) == (rule, vertex)
    with pytest.raises(VerificationError) as caught:
        replace(result, count=5).verify(graph)
    assert caught.value.rule == "count"


def test_graphs_and_results_on_workers_and_here():
    graph = grid(5, 9)
    with cluster(2, processes=False) as client, DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        mgraph.bfs(placed, 0).verify(graph)
        mgraph.bfs(graph, 0, client=client, device="cpu").verify()
        mgraph.apsp(graph, client=client, device="cpu").verify()
        mgraph.bfs_many(graph, [0, 7], client=client, device="cpu").verify()
        result = mgraph.bfs(graph, 0, predecessors=True, device="cpu")
        result.verify(placed)
        result.distances[7] += 1
        with pytest.raises(VerificationError):
            result.verify(placed)
        elsewhere = DistributedGraph.from_graph(graph, client, device="cpu", workers=[0])
        with pytest.raises(InputError, match="does not lie beside"):
            mgraph.bfs(elsewhere, 0).verify(placed)
        mgraph.connected_components(graph, device="cpu").verify(placed)
        pairs = mgraph.apsp(graph, device="cpu")
        pairs.verify(placed)
        pairs.distances[-1, 7] += 1
        with pytest.raises(VerificationError, match="from vertex 44: vertex 7") as caught:
            pairs.verify(placed)
        assert (caught.value.rule, caught.value.vertex) == ("edge", 7)
        searches = mgraph.bfs_many(placed, [0, 7], predecessors=True)
        searches.verify()
        searches.verify(placed.to_graph())
        searches = mgraph.bfs_many(graph, [0, 7], device="cpu")
        searches.distances[1, 9] = 3
        with pytest.raises(VerificationError):
            searches.verify(placed)
        result = mgraph.bfs(placed, 0)
        placed.close()
        with pytest.raises(InputError, match="closed"):
            result.verify()


def test_right_results_of_graphs_whose_ids_are_tuples_pass():
    graph = Graph.from_edges([0, 1], [1, 2]).with_ids([("a", 0), ("b", 1), ("c",)])
    ends = [("a", 0), ("c",)]
    for source in ("a", 0), ("c",):
        mgraph.sssp(graph, source, ids=True, device="cpu").verify()
        mgraph.bfs(graph, source, ids=True, device="cpu").verify()
    for call in (mgraph.bfs_many, mgraph.path_counts, mgraph.betweenness, mgraph.distances):
        call(graph, ends, ids=True, device="cpu").verify()
        call(graph, [0, 2], ids=False, device="cpu").verify()
    mgraph.bfs(graph, sources=ends, ids=True, device="cpu").verify()
    mgraph.distances(graph, device="cpu").verify()
    mgraph.betweenness(graph, device="cpu").verify()
