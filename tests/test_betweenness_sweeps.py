"""Betweenness by sweeps down a hierarchy, beside NetworkX and beside searches; when a call takes it."""

import importlib
import random
import time

import networkx as nx
import numpy as np
import pytest

import mgraph
from mgraph import device as devices
from mgraph.algorithms.betweenness import plan as plans
from mgraph.errors import InputError
from mgraph.generate import grid
from mgraph.hierarchy.hierarchy import prepared
from mgraph.hierarchy.structure import Fill
from mgraph.kernels import betweenness_sweeps
from mgraph.planning import rates
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.shape import Shape
from tests.support.betweenness import check_cores, drawn_network
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.memory import measured
from tests.support.parameters import exhaustive

pytest.importorskip("pymetis")

pytestmark = CLUSTER_WARNINGS


@pytest.fixture
def swept(monkeypatch):
    """Has calls take a hierarchy whenever they can, however small a graph is."""
    monkeypatch.setattr(plans, "WORTH", -1e18)
    monkeypatch.setattr(rates, "changes", -1)  # plans that are remembered are others


def values(graph, *pairs, device="cpu", **options):
    result = mgraph.betweenness(graph, *pairs, device=device, **options)
    src, dst, _ = graph.listed()
    assert result.plan.detail.entries or np.array_equal(src, dst)
    return devices.to_host(result.betweenness)


@pytest.mark.parametrize("seeds", [range(32), *exhaustive(range(32, 1000))], ids=str)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_networkx_finds_the_same(swept, device, weight, seeds):
    for seed in seeds:
        network, graph = drawn_network(seed, 40, 2, [1, 2, 3])
        rng, n, by = random.Random(seed), graph.n, {"weight": weight is not None}
        for endpoints in (False, True):
            found = values(graph, endpoints=endpoints, device=device, **by)
            expected = nx.betweenness_centrality(network, weight=weight, endpoints=endpoints)
            assert found == pytest.approx([expected[v] for v in range(n)], rel=1e-9, abs=1e-12), seed
        sources, targets = (rng.sample(range(n), (n + 1) // 2) for _ in range(2))
        found = values(graph, sources, targets, normalized=False, device=device, **by)
        expected = nx.betweenness_centrality_subset(network, sources, targets, weight=weight)
        assert found == pytest.approx([expected[v] for v in range(n)], rel=1e-9, abs=1e-12), seed


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [None, 3, 1000])
def test_searches_find_the_same(monkeypatch, device, directed, weights):
    """Blocks and what is above them, sources twice and more than a sweep has, limits, targets, edges."""
    monkeypatch.setattr(importlib.import_module("mgraph.kernels.betweenness_sweeps.cuda"), "_GROUPS", 2)
    rng = np.random.default_rng(weights)
    side = 32
    made = grid(side, side, weights=None)
    src, dst, _ = made.listed()
    lengths = None if weights is None else rng.integers(1, weights, made.m).astype(np.int32)
    if not directed:
        kept = src < dst
        src, dst, lengths = src[kept], dst[kept], None if lengths is None else lengths[kept]
    graph = mgraph.Graph.from_edges(src, dst, lengths, n=side * side + 2, directed=directed)
    sources, targets = rng.integers(0, graph.n, 600), np.arange(0, graph.n, 3)
    far = 20 * (1 if weights is None else weights) // 2
    cases = [{}, {"endpoints": True, "limit": far}, {"edges": True}, {"edges": True, "limit": far}]
    for options in [each | {"normalized": False} for each in cases]:
        for ends in (None, targets):
            monkeypatch.setattr(plans, "WORTH", 1e18)
            monkeypatch.setattr(rates, "changes", -2)
            searched = mgraph.betweenness(graph, sources, ends, device="cpu", **options)
            assert not searched.plan.detail.entries
            monkeypatch.setattr(plans, "WORTH", -1e18)
            monkeypatch.setattr(rates, "changes", -1)
            found = values(graph, sources, ends, device=device, **options)
            assert np.allclose(found, searched.betweenness, rtol=1e-11, atol=1e-14)
            assert device == "cpu" or np.array_equal(found, values(graph, sources, ends, device=device, **options))


def test_grids_with_more_paths_than_floats_count(swept, device):
    """Sweeps notice that numbers are too large; then searches with scaled ones begin again."""
    found = mgraph.betweenness(grid(540, 540, weights=None), [0], normalized=False, device=device)
    assert found.plan.detail.wide and not found.plan.detail.entries
    found = devices.to_host(found.betweenness)
    assert np.isfinite(found).all() and found[1] > 1000


def test_the_same_bits_for_any_number_of_cores(swept):
    graph = grid(30, 30, weights=(1, 4))
    for options in ({}, {"edges": True}):
        check_cores(lambda: values(graph, **options))  # noqa: B023


def test_a_call_takes_a_hierarchy_where_that_is_worth_it():
    roads = grid(110, 110, weights=(1, 255))
    found = mgraph.betweenness(roads, device="cpu")
    assert found.plan.detail.entries and "hierarchy: " in found.explain(verbose=True)
    sources = np.arange(0, roads.n, 7)
    few = mgraph.betweenness(roads, sources[:20], device="cpu")
    assert not few.plan.detail.entries
    few.verify()
    floats = roads.with_weights(roads.listed().weights.astype(np.float64) / 3)
    assert not mgraph.betweenness(floats, sources[:2], device="cpu").plan.detail.entries


@pytest.mark.parametrize(("sources", "swept"), [(100, False), (264_346, True)])
def test_a_gpu_takes_a_hierarchy_from_many_sources(sources, swept):
    """Of the size and fill of New York, on a GPU that need not be there."""
    gpu = DeviceSpec("cuda:0", "cuda", 80 << 30, 1, "NVIDIA H100 80GB HBM3", 132)
    fill, shape = Fill(1_327_076, 9_000_000, 2500, 269), Shape(levels=440)
    plan = plans.planned(264_346, 730_100, (gpu,), directed=False, sources=sources, fill=fill, shape=shape)
    assert (plan.detail.entries > 0) is swept and (plan.host_bytes > 0) is swept
    none = plans.planned(264_346, 730_100, (gpu,), directed=False, sources=sources, shape=shape)
    assert plan.seconds < none.seconds / 2 if swept else plan == none


@pytest.mark.gpu
def test_a_gpu_takes_a_hierarchy_by_itself():
    """The graph's shape decides: searches with many levels take a GPU long."""
    full = grid(300, 300, weights=(1, 255))
    src, dst, weights = full.coo()
    kept = (src < dst) & (np.random.default_rng(0).random(full.m) < 0.65)
    roads = mgraph.Graph.from_edges(src[kept], dst[kept], weights[kept], n=full.n, directed=False)
    assert mgraph.betweenness(roads, device="cuda").plan.detail.entries


def test_without_edges_there_is_nothing_to_sweep(swept):
    for src, dst in (([], []), ([0, 4], [0, 4])):
        found = mgraph.betweenness(mgraph.Graph.from_edges(src, dst, n=2000), device="cpu")
        assert not found.plan.detail.entries and not found.betweenness.any() and found.plan.detail.batch < 100


def test_floats_are_searched(swept):
    for weights in ([0.1, 0.2, 0.3], [2**40, 1, 1]):
        graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], weights)
        assert not mgraph.betweenness(graph, device="cpu").plan.detail.entries


def test_weights_must_be_positive(swept):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 0, 3])
    with pytest.raises(InputError, match="the weight of the edge from 1 to 2 is 0: change it"):
        mgraph.betweenness(graph, device="cpu")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", [{}, {"edges": True}, {"weight": False}], ids=str)
def test_predicted_peak_is_the_measured_one(swept, options, directed):
    graph, sources = grid(100, 100, weights=(1, 9)), np.arange(600)
    if directed:
        lengths = np.random.default_rng(1).integers(1, 9, graph.m).astype(np.int32)
        graph = mgraph.Graph.from_edges(*graph.listed()[:2], lengths, directed=True)
    values(graph, sources[:1], **options)
    graph.release()
    result, peak = measured(lambda: mgraph.betweenness(graph, sources, device="cpu", **options))
    predicted = result.plan.peak_bytes[0]
    # Without weights a directed grid has the same lengths in both directions, which are kept once.
    least = 0.85 if directed and options == {"weight": False} else 0.95
    assert result.plan.detail.entries and least * predicted < peak < 1.01 * predicted


@pytest.mark.gpu
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", [{}, {"edges": True}], ids=str)
def test_predicted_peak_is_the_measured_one_on_a_gpu(swept, options, directed):
    mgraph.betweenness(grid(10, 10, weights=(1, 9)), device="cuda", **options)  # compiles
    graph = grid(150, 150, weights=(1, 9))
    if directed:
        lengths = np.random.default_rng(1).integers(1, 9, graph.m).astype(np.int32)
        graph = mgraph.Graph.from_edges(*graph.listed()[:2], lengths, directed=True)
    with devices.find("cuda").peak_memory() as peak:
        result = mgraph.betweenness(graph, range(900), device="cuda", **options)
    assert result.plan.detail.entries and result.plan.peak_bytes[0] == pytest.approx(peak.bytes, rel=0.05)


def test_searches_where_a_hierarchy_does_not_fit(swept):
    graph = grid(60, 60, weights=(1, 9))
    plenty = mgraph.betweenness(graph, range(900), device="cpu")
    short = mgraph.betweenness(graph, range(900), device="cpu", memory_limit=max(plenty.plan.peak_bytes) - 1)
    assert plenty.plan.detail.entries and not short.plan.detail.entries
    assert np.allclose(plenty.betweenness, short.betweenness, rtol=1e-12, atol=1e-15)


def test_a_checkpoint_of_sweeps(swept, monkeypatch, tmp_path):
    """Sums over the sources that are done do not tell how they were found."""
    monkeypatch.setitem(plans.SWEPT, "cpu", 20)
    graph = grid(20, 20, weights=(1, 9))

    class Stopped(Exception):
        pass

    def stop(*_):
        time.sleep(0.05)  # in which checkpoints are written
        if list(tmp_path.rglob("*.json")):
            raise Stopped

    on = {"device": "cpu", "checkpoint": tmp_path, "span": 1}
    with pytest.raises(Stopped):
        mgraph.betweenness(graph, checkpoint_every=0, progress=stop, **on)
    other = graph.with_weights(graph.listed().weights + 1)
    with pytest.raises(mgraph.errors.CheckpointError, match=r"another (?:call|input)"):
        mgraph.betweenness(other, resume=True, **on)
    found = mgraph.betweenness(graph, resume=True, **on)
    monkeypatch.setitem(plans.SWEPT, "cpu", 1 << 14)
    assert np.allclose(found.betweenness, values(graph), rtol=1e-12, atol=1e-15)


client = clients(2, *exhaustive(3))


def check_workers(client, device):
    graph, sources = grid(40, 40, weights=(1, 9)), range(0, 1600, 3)
    for options in ({}, {"edges": True}, {"endpoints": True, "limit": 90}):
        found = mgraph.betweenness(graph, sources, client=client, device=device, **options)
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        assert found.plan.detail.entries and len(found.plan.devices) == workers
        here = values(graph, sources, device=device, **options)
        assert np.allclose(devices.to_host(found.betweenness), here, rtol=1e-12, atol=1e-15)


def test_workers_sweep(client, swept):
    """Each has the whole hierarchy and its share of the sources."""
    check_workers(client, "cpu")


@pytest.mark.gpu
def test_gpus_of_workers_sweep(gpu_workers, swept):
    check_workers(gpu_workers, "cuda")


def test_numbers_of_paths_of_entries():
    """Of a grid without a corner's neighbours eliminated first: each entry counts the paths over lower vertices."""
    graph = mgraph.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], np.ones(4, np.int32), directed=False)
    hierarchy = mgraph.Hierarchy(graph, order=[1, 2, 0, 3], device="cpu")
    piece = prepared(hierarchy, devices.find("cpu"))
    on, lengths = piece.there, piece.lengths
    kernels = betweenness_sweeps.on(devices.find("cpu"))
    structure = on.tree, on.entries, on.lower, on.upward, on.downward
    numbers = kernels.numbers(structure, lengths.edges, lengths.up, lengths.down)
    assert sorted(zip(numbers.up.tolist(), numbers.paths_up.tolist(), strict=True)) == [(1, 1.0)] * 4 + [(2, 2.0)]
