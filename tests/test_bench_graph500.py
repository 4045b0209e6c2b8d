"""The Graph500 benchmark: its keys, the edges it counts, validation, statistics and output."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

import mgraph
from mgraph.errors import InputError, VerificationError
from mgraph.generate import rmat, rmat_edges
from mgraph_bench import graph500
from mgraph_bench.commands import bench as main

SCALE = 7

#: The lines of the reference code's output, in its order.
NAMES = ["SCALE", "edgefactor", "NBFS", "graph_generation", "num_mpi_processes", "construction_time"]
TIMES = ["min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev"]
RATES = [*TIMES[:5], "harmonic_mean", "harmonic_stddev"]


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        yield client


def drawn_within(seed, key):
    """Return the number of edges that the generator draws within the component of a key."""
    src, dst = rmat_edges(np, SCALE, 0, graph500.EDGE_FACTOR << SCALE, seed)
    labels = mgraph.connected_components(rmat(SCALE, seed=seed), device="cpu").labels
    assert (labels[src.astype(int)] == labels[dst.astype(int)]).all()
    return int((labels[src.astype(int)] == labels[key]).sum())


def test_keys_and_counted_edges_are_those_of_the_specification(client):
    direct = graph500.measured(SCALE, device="cpu", keys=6, sssp=True)
    there = graph500.measured(SCALE, client, "cpu", keys=6, sssp=True)
    assert direct.keys == there.keys and direct.edges == there.edges and (direct.shards, there.shards) == (1, 2)
    assert len(set(direct.keys)) == 6 and (np.diff(rmat(SCALE).csr().indptr)[direct.keys] > 0).all()
    assert direct.edges == [drawn_within(0, key) for key in direct.keys]
    for run in (direct, there):
        assert set(run.kernels) == {"bfs", "sssp"} and run.construction > 0
        for kernel in run.kernels.values():
            assert len(kernel.seconds) == len(kernel.validate) == 6
            parts = zip(kernel.distances, kernel.devices, kernel.seconds, strict=True)
            assert all(0 < distances < devices < call for distances, devices, call in parts)


def test_every_vertex_with_neighbours_is_a_key_once():
    run = graph500.measured(5, device="cpu", keys=64, seed=3)
    assert sorted(run.keys) == np.flatnonzero(np.diff(rmat(5, seed=3).csr().indptr)).tolist()
    with pytest.raises(InputError, match="scale must be such that the graph has an edge, got 0"):
        graph500.measured(0, device="cpu")
    with pytest.raises(InputError, match="keys"):
        graph500.measured(5, device="cpu", keys=0)


def test_weights_are_uniform_and_the_same_both_ways():
    weights = graph500.Uniform()(np.arange(10_000), np.arange(10_000)[::-1])
    assert weights.dtype == np.float32 and (weights == weights[::-1]).all()
    assert 0 <= weights.min() < 0.01 and 0.99 < weights.max() < 1 and abs(weights.mean() - 0.5) < 0.02


def test_a_wrong_search_is_found(monkeypatch):
    right = mgraph.bfs

    def wrong(graph, source, **options):
        found = right(graph, source, **options)
        if "limit" not in options:
            found.distances[found.distances == 2] = 3
        return found

    monkeypatch.setattr(mgraph, "bfs", wrong)
    with pytest.raises(VerificationError):
        graph500.measured(SCALE, device="cpu", keys=2)


def test_statistics_are_those_of_the_reference_code():
    found = graph500.statistics_of([5, 1, 2, 4, 3])
    assert [found[name] for name in TIMES] == [1, 2, 3, 4, 5, 3, pytest.approx(2.5**0.5)]
    assert graph500.statistics_of([1, 2, 3, 4])["firstquartile"] == 1.5
    rates = graph500.rates_of([1, 2], [10, 10])
    assert (rates["min"], rates["max"], rates["median"]) == (5, 10, pytest.approx(20 / 3))
    assert rates["harmonic_mean"] == pytest.approx(20 / 3)
    assert rates["harmonic_stddev"] == pytest.approx(np.std([0.1, 0.2], ddof=1) * (20 / 3) ** 2)
    assert graph500.rates_of([2], [10])["harmonic_stddev"] == 0


def test_the_output_block_has_the_lines_of_the_reference_code():
    given = ["graph500", "--scale", str(SCALE), "--device", "cpu", "--keys", "3"]
    ran = CliRunner().invoke(main, given)
    assert ran.exit_code == 0, ran.output
    names = [line.partition(":")[0] for line in ran.stdout.splitlines()]
    assert names == [
        *NAMES,
        *(f"bfs  {name}_time" for name in TIMES),
        *(f"{name}_nedge" for name in TIMES),
        *(f"bfs  {name}_TEPS" for name in RATES),
        *(f"bfs  {name}_validate" for name in TIMES),
        *("bfs  devices_median_time", "bfs  devices_harmonic_mean_TEPS"),
        *("bfs  distances_median_time", "bfs  distances_harmonic_mean_TEPS"),
    ]
    assert "NBFS:                           3\n" in ran.stdout
    assert "bfs  harmonic_mean_TEPS:     !  " in ran.stdout
    ran = CliRunner().invoke(main, [*given, "--json", "--sssp"])
    values = json.loads(ran.stdout)
    assert values["NBFS"] == 3 and values["graph_generation"] is None and values["sssp harmonic_mean_TEPS"] > 0


def test_arguments_that_do_not_go_together_are_refused():
    ran = CliRunner().invoke(main, ["graph500", "--scale", "5", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"])
    assert ran.exit_code == 2 and "only one of --workers and --scheduler" in ran.stderr
