"""Graphs built on workers are those built here, bit for bit, whatever the number of workers."""

import gc

import dask
import dask.array
import numpy as np
import pytest

import mgraph
from mgraph import DistributedGraph, Graph, device
from mgraph.errors import InputError, MemoryLimitError, SchedulerError
from mgraph.generate import grid, linked_list, rmat, weighted
from mgraph.runtime import placing
from mgraph.runtime.dask import comm
from mgraph.runtime.placing import Placing
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster, wait_until
from tests.support.parameters import exhaustive
from tests.support.properties import check_built
from tests.support.residents import names_kept, same

pytestmark = CLUSTER_WARNINGS


client = clients(2, *exhaustive(1, 3, 5))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("scale", [0, 1, 6, 11])
def test_kronecker_graphs(client, scale, directed):
    given = {"seed": 3, "directed": directed}
    with rmat(scale, **given, client=client, device="cpu") as graph:
        expected = rmat(scale, **given)
        same(mgraph.bfs(graph, 0, predecessors=True), mgraph.bfs(expected, 0, predecessors=True, device="cpu"))
    check_built(rmat(scale, **given, client=client, device="cpu"), rmat(scale, **given), client)


def test_rows_are_sorted_some_at_a_time(client, monkeypatch):
    monkeypatch.setitem(placing.SORTED_AT_A_TIME, "cpu", 100)
    for directed in (False, True):
        check_built(rmat(9, directed=directed, client=client, device="cpu"), rmat(9, directed=directed), client)
    check_built(grid(17, 9, weights=(1, 9), client=client, device="cpu"), grid(17, 9, weights=(1, 9)), client)


@pytest.mark.parametrize("weights", [None, (1, 255), (-9, 0)])
@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 5), (1, 1), (1, 9), (9, 1), (57, 41)])
def test_grids(client, rows, columns, weights):
    given = {"weights": weights, "seed": 2}
    check_built(grid(rows, columns, **given, client=client, device="cpu"), grid(rows, columns, **given), client)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_weights_of_a_graph_on_workers(client, dtype):
    with rmat(9, client=client, device="cpu") as edges:
        check_built(weighted(edges, (1, 255), dtype), weighted(rmat(9), (1, 255), dtype), client)
        check_built(weighted(edges, (0, 0), dtype), weighted(rmat(9), (0, 0), dtype), client)
    with rmat(0, client=client, device="cpu") as none:
        check_built(weighted(none, (1, 9), dtype), weighted(rmat(0), (1, 9), dtype), client)
    with pytest.raises(InputError, match="has been closed"):
        weighted(edges, (1, 9))


def drawn(n, m, kind, seed=5):
    """Random edges with loops and parallel ones, and weights of a type; some floats are infinite."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m)) if n else np.zeros((2, 0), np.int64)
    weights = None if kind is None else rng.integers(0, 50, m).astype(kind)
    if m and weights is not None and weights.dtype.kind == "f":
        weights[::7] = np.inf
    return src, dst, weights


@pytest.mark.parametrize("directed", [False, *exhaustive(True)])
@pytest.mark.parametrize("kind", [None, "uint8", "int64", "float32"])
def test_edges_of_dask(client, kind, directed):
    for n, m, chunk in ((0, 0, 1), (2, 1, 1), (40, 900, 130), (300, 900, 900)):
        edges = drawn(n, m, kind)
        lazy = [None if array is None else dask.array.from_array(array, chunks=chunk) for array in edges]
        found = DistributedGraph.from_dask(*lazy, n=n + 40, directed=directed, client=client, device="cpu")
        check_built(found, Graph.from_edges(*edges, n=n + 40, directed=directed), client)


def test_edges_of_dask_are_freed_as_they_are_placed(client, monkeypatch):
    seen = []
    collect = Placing.collect

    def held_by_dask():
        workers = client.cluster.workers.values()
        return [key for worker in workers for key in list(worker.data) if not str(key).startswith("mgraph")]

    def collected(self, s, comm):
        wait_until(lambda: not held_by_dask())
        seen.append((len(s.source.held), s.source.sizes()["chunks"]))
        return collect(self, s, comm)

    monkeypatch.setattr(Placing, "collect", collected)
    lazy = (dask.array.from_array(array, chunks=30) for array in drawn(70, 200, "float64"))
    with DistributedGraph.from_dask(*lazy, client=client, device="cpu"):
        assert seen == [(0, 0)] * len(client.cluster.workers)


def test_edges_of_dask_in_unequal_chunks_without_n(client):
    src, dst, weights = drawn(70, 200, "float64")
    lazy = (dask.array.from_array(array, chunks=size) for array, size in ((src, 30), (dst, 7), (weights, 200)))
    with client.as_current():
        check_built(DistributedGraph.from_dask(*lazy, device="cpu"), Graph.from_edges(src, dst, weights), client)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"src": [0, -1]}, "src must be vertex ids of 0 or more, got -1"),
        ({"dst": [0.5, 1]}, "dst must be integers"),
        ({"src": [0, 2**31]}, "the vertex id 2147483648 is beyond int32"),
        ({"weights": [1, np.nan]}, "got nan for edge 0 of partition 1"),
        ({"weights": [1j, 2]}, "weights must be floats of up to 64 bits, or integers"),
        ({"weights": [True, False]}, "weights must be numbers, got truth values"),
        ({"src": [0, 1, 1]}, "src has 3 entries and dst has 2"),
        ({"n": 1}, "n must be greater than the largest vertex id, 1"),
    ],
)
def test_wrong_edges_leave_nothing_behind(client, wrong, message):
    given = {"src": [0, 1], "dst": [1, 0], "weights": [1.0, 2.0], **wrong}
    n = given.pop("n", None)
    lazy = {name: dask.array.from_array(np.array(values), chunks=1) for name, values in given.items()}
    with pytest.raises(InputError, match=message):
        DistributedGraph.from_dask(**lazy, n=n, client=client, device="cpu")
    wait_until(lambda: names_kept(client) == [])
    check_built(rmat(5, client=client, device="cpu"), rmat(5), client)


def test_what_is_no_collection_of_dask(client):
    some = dask.array.ones((2, 2), dtype=int)
    for wrong in ([0, 1], some, None):
        with pytest.raises(InputError, match="src must be a Dask array of one dimension, or a column"):
            DistributedGraph.from_dask(wrong, some[0], client=client, device="cpu")


def test_an_error_in_the_partitions_is_the_users(client):
    def fail(block):
        raise ZeroDivisionError("a test")

    wrong = dask.array.ones(4, chunks=2, dtype=int).map_blocks(fail, dtype=int, meta=np.ones(0, int))
    with pytest.raises(ZeroDivisionError, match="a test"):
        DistributedGraph.from_dask(wrong, wrong, client=client, device="cpu")
    wait_until(lambda: names_kept(client) == [])


def test_weights_of_another_type_than_was_said_are_refused(client):
    ends = dask.array.ones(8, chunks=2, dtype=int)
    halves = ends.map_blocks(lambda block: block + 0.5, dtype=int, meta=np.ones(0, int))
    with pytest.raises(InputError, match=r"partition \d: the weights are of float64, and were said to be of int64"):
        DistributedGraph.from_dask(ends, ends, halves, client=client, device="cpu")


def test_no_edges_in_several_partitions(client):
    two, one = (dask.array.from_array(np.zeros(0, int), chunks=chunks) for chunks in (((0, 0),), ((0,),)))
    for src, dst, weights in ((two, two, one), (one, two, two), (two, two, two)):
        with DistributedGraph.from_dask(src, dst, weights, n=7, client=client, device="cpu") as found:
            assert (found.n, found.m) == (7, 0)


def test_errors_keep_no_tasks(client):
    def fail(block):
        raise ZeroDivisionError("a test")

    lazy = dask.array.ones(4, chunks=2, dtype=int)
    for wrong in (lazy.map_blocks(fail, dtype=int, meta=np.ones(0, int)), lazy - 2):
        with pytest.raises((ZeroDivisionError, InputError)) as caught:
            DistributedGraph.from_dask(wrong, lazy, client=client, device="cpu")
        del caught
    gc.collect()
    wait_until(lambda: not any("keep_chunks" in key for key in client.futures))


@pytest.mark.parametrize(
    ("free", "message"), [(1000, "counting the edges into 256"), (4000, r"placing [\d,]+ edges into [\d,]+")]
)
def test_edges_that_do_not_fit_are_refused_before_they_are_placed(client, monkeypatch, free, message):
    with rmat(6, client=client, device="cpu"):  # the workers have been asked for their memory
        monkeypatch.setattr(device.HostDevice, "available_memory", lambda self: free)
        with pytest.raises(MemoryLimitError, match=rf"{message} vertices needs"):
            rmat(8, client=client, device="cpu")
    monkeypatch.undo()
    wait_until(lambda: names_kept(client) == [])
    check_built(rmat(6, client=client, device="cpu"), rmat(6), client)


def test_the_plan_of_building_covers_what_stays(client):
    with rmat(10, client=client, device="cpu") as graph:
        ends = np.asarray(graph.ranges)
        degrees = np.bincount(rmat(10).csc().indices, minlength=graph.n)
        stay = [4 * degrees[first:last].sum() + 4 * (last - first) for first, last in ends]
        assert graph.plan.ranges == graph.ranges and (graph.plan.n, graph.plan.m) == (graph.n, graph.m)
        assert all(peak > size for peak, size in zip(graph.plan.peak_bytes, stay, strict=True))
        assert "predicted time of the solve: unknown" in graph.plan.explain(True)


def test_long_sums_are_made_a_piece_at_a_time(client, monkeypatch):
    monkeypatch.setattr(comm, "PIECE", 64)
    src, dst, _ = drawn(300, 5000, None)
    lazy = [dask.array.from_array(array, chunks=700) for array in (src, dst)]
    check_built(DistributedGraph.from_dask(*lazy, client=client, device="cpu"), Graph.from_edges(src, dst), client)


def test_many_graphs_leave_nothing_behind(client):
    for seed in range(5):
        with rmat(6, seed=seed, client=client, device="cpu") as graph:
            assert graph.n == 64
    wait_until(lambda: names_kept(client) == [])


@pytest.mark.parametrize("directed", [True, False])
def test_parallel_edges_come_back_in_their_order(client, directed):
    graph = Graph.from_edges([0, 1, 0, 1, 2, 2], [1, 0, 1, 0, 2, 2], [5, 7, 3, 2, 4, 1], directed=directed)
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        for ours, theirs in zip(placed.to_graph().csr(), graph.csr(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype


@pytest.mark.gpu
def test_graphs_built_on_gpus():
    with mgraph.cluster.local_client(min(2, device.gpu_count()), device="cuda") as client:
        for directed in (False, True):
            found, expected = rmat(12, directed=directed, client=client, device="cuda"), rmat(12, directed=directed)
            for ours, theirs in zip(found.to_graph().csr(), expected.csr(), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            lengths = weighted(found, (1, 255)).to_graph().csr().weights
            np.testing.assert_array_equal(lengths, weighted(expected, (1, 255)).csr().weights)
            edges = drawn(300, 5000, "float32")
            lazy = (dask.array.from_array(array, chunks=700) for array in edges)
            found = DistributedGraph.from_dask(*lazy, directed=directed, client=client, device="cuda")
            with DistributedGraph.from_graph(
                Graph.from_edges(*edges, directed=directed), client, device="cuda"
            ) as sent:
                for ours, theirs in zip(found.to_graph().csr(), sent.to_graph().csr(), strict=True):
                    np.testing.assert_array_equal(ours, theirs)


def test_what_makes_graphs_on_workers_takes_their_timeout_and_number(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n")
    ends = dask.array.arange(3, chunks=2)
    makers = (
        lambda **how: rmat(3, **how),
        lambda **how: grid(2, 3, **how),
        lambda **how: linked_list(5, **how),
        lambda **how: mgraph.read(path, **how),
        lambda **how: DistributedGraph.from_dask(ends, ends, **how),
        lambda **how: DistributedGraph.from_graph(grid(2, 3), **how),
    )
    with cluster(1, processes=False) as client, dask.config.set({"mgraph.wait-timeout": "50 ms"}):
        how = {"client": client, "device": "cpu"}
        for seconds, make in enumerate(makers, 7):
            made = make(**how, worker_timeout=seconds, wait_for_workers=1)
            beside = grid(2, 2, **how)  # all that a client has on some workers has the timeout that was given last
            assert beside.placement.group.timeout == seconds
            with pytest.raises(InputError, match="worker_timeout must be a number of seconds, 1 or more"):
                make(**how, worker_timeout=0.5)
            with pytest.raises(SchedulerError, match="not wait_for_workers=2"):
                make(**how, wait_for_workers=2)
            del made, beside
    for make in makers[:4]:
        for option, value in (("workers", [0]), ("worker_timeout", 5), ("wait_for_workers", 2)):
            with pytest.raises(InputError, match=f"^{option} goes with client=: give both or neither$"):
                make(**{option: value})


def test_without_a_client():
    with pytest.raises(InputError, match=r"client must be a distributed\.Client"):
        DistributedGraph.from_dask(dask.array.ones(1, dtype=int), dask.array.ones(1, dtype=int))


def test_a_function_of_weights_is_called_on_no_empty_arrays(client):
    """Some workers have no edge; they learn the type of the weights from the others."""
    graph = Graph.from_edges([0, 2], [1, 1], n=400)
    with DistributedGraph.from_graph(graph, client, device="cpu") as sent:
        made = sent.with_weights(lambda src, dst: (src.max() + dst).astype(np.float64))
        np.testing.assert_array_equal(mgraph.sssp(made, 0).distances.to_numpy()[:2], [0, 3])
        check_built(made, graph.with_weights([3.0, 3.0]), client)
