"""Searches from many sources: each row against SciPy and against the search from that source alone."""

import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mgraph
from mgraph import device as devices
from mgraph.algorithms.batched_bfs import LevelCounts
from mgraph.algorithms.batched_sssp import network
from mgraph.errors import InputError, MemoryLimitError
from mgraph.generate import rmat
from mgraph.graph import Compressed
from mgraph.planner import plan
from mgraph.planning.devices import DeviceSpec
from mgraph.planning.shape import Shape
from tests.support.clusters import CLUSTER_WARNINGS, clients
from tests.support.graphs import grid_ends
from tests.support.memory import measured
from tests.support.parameters import exhaustive
from tests.support.references import hop_counts

pytestmark = CLUSTER_WARNINGS

GPU = DeviceSpec("a GPU", "cuda", 140 << 30)

#: Shares of the vertices from which on to pull: as it is, never, always.
SHARES = {"as it comes": 16, "push": 0, "pull": 1 << 40}


def check(graph, sources, device, **options):
    """The distances are SciPy's, and the predecessors those of the searches one by one."""
    result = mgraph.bfs_many(graph, sources, device=device, predecessors=True, **options)
    distances, parents = (np.asarray(devices.to_host(part)) for part in (result.distances, result.predecessors))
    assert distances.dtype == parents.dtype == np.int32
    assert result.sources == tuple(sources)
    assert np.array_equal(distances, hop_counts(graph, sources))
    for row in {0, len(sources) // 2, len(sources) - 1}:
        alone = mgraph.bfs(graph, sources[row], device="cpu", predecessors=True)
        assert np.array_equal(distances[row], alone.distances)
        assert np.array_equal(parents[row], alone.predecessors)


@st.composite
def searches(draw):
    n = draw(st.integers(1, 90))
    m = draw(st.integers(0, 3 * n))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    graph = mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), n=n, directed=draw(st.booleans()))
    sources = random.integers(0, n, draw(st.sampled_from([1, 2, 63, 64, 65, 130, 300])))
    return graph, sources.tolist(), draw(st.sampled_from([None, 1, 3]))


@settings(max_examples=40)
@given(searches())
def test_small_graphs(device, case):
    graph, sources, span = case
    check(graph, sources, device, span=span)


def shapes():
    n = 1500
    path = np.arange(n - 1)
    yield "path", path, path + 1
    yield "path back", path + 1, path
    yield "star", np.zeros(n - 1, int), path + 1  # a hub that a warp scans
    yield "star of the last", np.full(n - 1, n - 1), path
    yield "grid", *grid_ends(38, 38)
    yield "complete", *np.nonzero(~np.eye(100, dtype=bool))
    leaves = np.arange(5, 1205)
    yield "hubs that share their leaves", *np.array([(hub, leaf) for hub in range(5) for leaf in leaves]).T
    ends = np.r_[leaves, leaves[-1], leaves[:-1]], np.r_[np.zeros(1200, int), 1, leaves[1:]]
    yield "hubs at the end", *ends  # one that all vertices lead to, one that only the last does
    yield "loops and repeats", np.r_[path, path, np.zeros(4000, int)], np.r_[path, path + 1, np.arange(4000) % n]
    yield "nothing", [], []


@pytest.mark.parametrize("share", SHARES)
def test_shapes(share, device, monkeypatch):
    monkeypatch.setattr(importlib.import_module("mgraph.algorithms.bfs.search_many"), "PULL_SHARE", SHARES[share])
    sources = [*np.random.default_rng(5).integers(0, 1501, 70).tolist(), 0, 0, 1500]
    for number, (_, src, dst) in enumerate(shapes()):
        check(mgraph.Graph.from_edges(src, dst, n=1501, directed=bool(number % 2)), sources, device)


@pytest.mark.parametrize("directed", [False, True])
def test_rmat(directed, device):
    check(rmat(11, directed=directed), list(range(0, 2048, 7)), device)


def test_offsets_of_64_bits(device):
    graph = rmat(9, directed=True)
    indptr, indices, _ = graph.compressed("csr")
    wide = mgraph.Graph(graph.n, csr=Compressed(indptr.astype(np.int64), indices, None))
    wide.kept("csc.indptr", devices.find("cpu"), lambda: graph.csc().indptr.astype(np.int64))
    assert wide.csr().indptr.dtype == wide.csc().indptr.dtype == np.int64
    check(wide, [5, 7, 5], device)


def test_a_depth(device):
    graph = mgraph.Graph.from_edges(*np.random.default_rng(4).integers(0, 700, (2, 900)), n=700, directed=False)
    sources = list(range(0, 700, 5))
    expected = hop_counts(graph, sources)
    for depth in (0, 1, 4, 10**6):
        found = mgraph.bfs_many(graph, sources, limit=depth, device=device).distances
        assert np.array_equal(devices.to_host(found), np.where(expected > depth, -1, expected))


def test_progress_counts_levels_of_batches(apart):
    seen = []
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], n=3)
    mgraph.bfs_many(graph, [0] * 257, device="cpu", span=1, progress=lambda *now: seen.append(now))
    # Two batches, of two levels and one that finds nothing; or batches of 64 sources by themselves.
    steps = 5 if apart else 6
    assert seen == [*((step, None) for step in range(1, steps + 1)), (steps, None)]


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        ([], {}, "sources must be a sequence of one vertex or more, got"),
        ([0, 9], {}, r"sources must be an integer in \[0, 3\), got 9"),
        ([0, 1.5], {}, r"sources must be an integer in \[0, 3\), got 1\.5"),
        ([0], {"limit": -1}, "limit must be an integer of 0 or more, got -1"),
        ([0], {"span": 0}, "span must be an integer of 1 or more, got 0"),
    ],
)
def test_invalid_searches(sources, options, message):
    with pytest.raises(InputError, match=message):
        mgraph.bfs_many(mgraph.Graph.from_edges([0], [1], n=3), sources, device="cpu", **options)


def test_a_graph_without_vertices():
    with pytest.raises(InputError, match="sources must be a vertex, and the graph has none"):
        mgraph.bfs_many(mgraph.Graph.from_edges([], []), [0], device="cpu")


# Plans


def test_batches_are_as_wide_as_the_sources_and_the_memory_allow():
    assert [plan("bfs_many", 10**6, 10**7, GPU, sources=k).detail.batch for k in (1, 64, 65, 128, 129, 256, 10**4)] == [
        64, 64, 128, 128, 256, 256, 256,
    ]  # fmt: skip
    wide = plan("bfs_many", 10**7, 10**7, GPU, sources=256)
    narrow = plan("bfs_many", 10**7, 10**7, GPU, sources=256, memory_limit=max(wide.peak_bytes) - 1)
    assert narrow.detail.batch == 128
    assert max(narrow.peak_bytes) < max(wide.peak_bytes) and narrow.seconds > wide.seconds
    with pytest.raises(MemoryLimitError, match="bfs_many"):
        plan("bfs_many", 10**7, 10**7, GPU, sources=10**5)
    text = wide.explain(True)
    assert "bfs_many, method 'words'" in text and "sources: 256 at a time" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [({"method": "scan"}, "'words'"), ({"sources": 0}, r"sources must be an integer in \[1, .*got 0")],
)
def test_invalid_plans(options, message):
    with pytest.raises(InputError, match=message):
        plan("bfs_many", 10, 20, GPU, **options)


@pytest.fixture(params=[0.0, np.inf], ids=["apart", "together"])
def apart(request, monkeypatch):
    """Whether each source is searched from by itself, whatever takes less time."""
    monkeypatch.setattr("mgraph.algorithms.bfs.plan.levels_seconds", lambda *facts: request.param)
    return request.param == 0


@given(case=searches(), limit=st.sampled_from([None, 0, 2]))
def test_sources_by_themselves_and_together(case, limit, apart):
    graph, sources, span = case
    check(graph, sources, "cpu", span=span)
    found = mgraph.bfs_many(graph, sources, limit=limit, device="cpu", span=span)
    assert found.plan.detail.apart == apart == ("each searched from by itself" in found.plan.explain(True))
    expected = hop_counts(graph, sources)
    assert np.array_equal(found.distances, np.where(expected > (graph.n if limit is None else limit), -1, expected))


def test_a_call_goes_on_the_other_way(tmp_path, monkeypatch):
    # From a checkpoint of sources that were searched from by themselves, and of such that were not.
    graph, sources = mgraph.generate.grid(20, 30), list(range(0, 600, 3))
    expected = hop_counts(graph, sources)
    for ways in ((0.0, np.inf), (np.inf, 0.0)):
        folder = tmp_path / str(ways[0])
        for seconds, resume in zip(ways, (False, True), strict=True):
            monkeypatch.setattr("mgraph.algorithms.bfs.plan.levels_seconds", lambda *facts, each=seconds: each)
            options = {"checkpoint": folder, "checkpoint_every": 0, "resume": resume, "span": 1}
            found = mgraph.bfs_many(graph, sources, device="cpu", **options)
            assert np.array_equal(found.distances, expected)


def test_searches_on_roads_are_by_themselves():
    cpu = DeviceSpec("cpu", "cpu", 1 << 40, cores=2)
    roads, social = Shape(far=0.0, levels=1000.0), Shape(far=0.5, levels=7.0)
    assert plan("bfs_many", 10**6, 3 * 10**6, [cpu], sources=256, shape=roads).detail.apart
    assert not plan("bfs_many", 10**6, 3 * 10**7, [cpu], sources=256, shape=social).detail.apart
    assert not plan("bfs_many", 10**6, 3 * 10**6, [cpu] * 2, sources=256, shape=roads).detail.apart
    assert not plan("bfs_many", 10**6, 3 * 10**6, [cpu], sources=256, shape=roads, method="words").detail.apart
    assert not plan("bfs_many", 10**6, 3 * 10**6, GPU, sources=256, shape=roads).detail.apart


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("sources", [20, 200])
def test_predicted_peak_is_the_measured_one(sources, predecessors):
    graph = rmat(15)
    options = {"device": "cpu", "predecessors": predecessors}
    mgraph.bfs_many(graph, list(range(sources)), **options)  # compiles
    result, peak = measured(lambda: mgraph.bfs_many(graph, list(range(sources)), **options))
    # On the CPU the edges are the input's own arrays.
    edges = 4 * graph.m + 4 * (graph.n + 1)
    assert result.plan.peak_bytes[0] - edges == pytest.approx(peak, rel=0.05)


@pytest.mark.gpu
@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_predicted_peak_is_the_measured_one_on_a_gpu(directed, predecessors):
    mgraph.bfs_many(rmat(5), [0], device="cuda", predecessors=predecessors)  # compiles
    graph = rmat(15, directed=directed)
    with devices.find("cuda").peak_memory() as peak:
        result = mgraph.bfs_many(graph, list(range(300)), device="cuda", predecessors=predecessors)
    assert result.plan.peak_bytes[0] == pytest.approx(peak.bytes, rel=0.05)


# Workers


client = clients(2, *exhaustive(1, 3, 5))


def check_workers(client, device):
    random = np.random.default_rng(7)
    for n in (1, 2, 31, 33, 65, 130, 199):  # of no more words than there are shards, and of more
        src, dst = random.integers(0, n, (2, n))
        graph = mgraph.Graph.from_edges(src, dst, n=n, directed=bool(n % 2))
        check(graph, random.integers(0, n, 9).tolist(), device, client=client, span=(None, 1)[n % 2])
    check(rmat(8), [*range(0, 256, 3), *[1] * 200], device, client=client)


def test_the_same_as_direct(client):
    check_workers(client, "cpu")


@pytest.mark.gpu
def test_the_same_as_direct_on_gpus(gpu_workers):
    check_workers(gpu_workers, "cuda")
    check(rmat(13, directed=True), list(range(100)), "cuda", client=gpu_workers)


@pytest.mark.gpu
def test_cupy_in_cupy_out():
    xp = devices.find("cuda").xp
    found = mgraph.bfs_many(rmat(10, device="cuda"), [1, 2], predecessors=True)
    assert isinstance(found.distances, xp.ndarray) and isinstance(found.predecessors, xp.ndarray)
    same = mgraph.bfs_many(rmat(10), [1, 2], predecessors=True, device="cpu")
    assert np.array_equal(found.distances.get(), same.distances)
    assert np.array_equal(found.predecessors.get(), same.predecessors)


def test_paths():
    graph = mgraph.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 0])
    found = mgraph.bfs_many(graph, [0, 2], predecessors=True, device="cpu")
    assert [found.path(*ends) for ends in ((0, 3), (2, 3), (0, 0), (2, 0))] == [[0, 1, 2, 3], [2, 3], [0], []]
    for ends, words in (
        ((1, 2), "source=1 is not among the 2 sources"),
        ((0, 5), r"vertex must be an integer in \[0, 5\), got 5"),
        ((0, "a"), r"vertex must be an integer in \[0, 5\), got 'a'"),
    ):
        with pytest.raises(mgraph.InputError, match=words):
            found.path(*ends)
    with pytest.raises(mgraph.InputError, match="predecessors=True"):
        mgraph.bfs_many(graph, [0], device="cpu").path(0, 1)


@pytest.mark.parametrize("targets", [None, np.arange(0, 900, 7, dtype=np.int32)])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("words", [0, 1, 2, 4])
def test_levels_are_counted_as_their_distances_say(device, words, directed, targets):
    if not words and device != "cpu":
        pytest.skip("a GPU has no queues")
    random = np.random.default_rng(words)
    path = np.arange(40)  # beside a random part, and vertices alone
    src, dst = (np.append(random.integers(40, 700, 2000), part) for part in (path[:-1], path[1:]))
    graph = mgraph.Graph.from_edges(src, dst, n=900, directed=directed)
    sources = np.append(random.integers(0, 900, 297), [5, 5, 800]).astype(np.int32)
    hops = mgraph.bfs_many(graph, sources, device="cpu").distances[:, slice(None) if targets is None else targets]
    radii, limits = np.array([0.0, 2.0, 1e9]), np.array([-1.0, 0.0, 2.0, 5.0, 1e9])
    for limit in (np.inf, 3):
        searches = LevelCounts(network(graph), devices.find(device), targets, limit, words)
        counts = searches.counted(sources, radii, limits)
        near = (hops >= 0) & (hops <= limit)
        assert np.array_equal(counts.reached, near.sum(axis=1))
        assert np.array_equal(counts.total, np.where(near, hops, 0).sum(axis=1))
        assert np.array_equal(counts.farthest, np.where(near, hops, 0).max(axis=1))
        assert np.array_equal(counts.within.T, [(near & (hops <= radius)).sum(axis=1) for radius in radii])
        bins = [(near & (hops > low) & (hops <= high)).sum(axis=1) for low, high in itertools.pairwise(limits)]
        assert np.array_equal(counts.histogram.T, bins)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(counts.harmonic, np.where(near & (hops > 0), 1 / hops, 0).sum(axis=1))


@pytest.mark.parametrize("words", [1, 4])
@pytest.mark.parametrize("n", [1024, 1025, 2100])
def test_levels_of_long_paths_are_counted(device, words, n):
    path = np.arange(n - 1)
    graph = mgraph.Graph.from_edges(path, path + 1, n=n)
    counts = LevelCounts(network(graph), devices.find(device), None, np.inf, words).counted(
        np.arange(3, dtype=np.int32), np.array([9.0]), np.array([1.0, 3.0])
    )
    assert counts.histogram.tolist() == [[2]] * 3
    assert counts.reached.tolist() == [n, n - 1, n - 2] and counts.farthest.tolist() == [n - 1, n - 2, n - 3]
    assert (
        counts.total.tolist() == [(n - k) * (n - k - 1) // 2 for k in range(3)] and counts.within.tolist() == [[10]] * 3
    )


@pytest.mark.parametrize("directed", [False, True])
def test_measures_of_a_social_graph(device, directed):
    graph = rmat(9, seed=3, directed=directed)
    asked = ["eccentricity", "mean", "out_closeness", "out_harmonic", "reached", ("within", [1, 3])]
    found = mgraph.distances(graph, reduce=asked, device=device)
    rows = mgraph.distances(graph, method="sssp", reduce=asked, device="cpu")
    assert found.plan.method == "bfs" and found.plan.detail.counted
    for name in ("eccentricity", "reached", "within"):
        assert np.array_equal(getattr(found, name), getattr(rows, name))
    for name in ("mean", "out_closeness", "out_harmonic"):
        np.testing.assert_allclose(getattr(found, name), getattr(rows, name))
