"""Many pairs of a hierarchy: distances, paths, sums of other weights along them, and flows, against the textbook."""

import itertools
import json
import math
import weakref
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import mgraph
from mgraph import device as devices
from mgraph.dtypes import infinity
from mgraph.graph.question import Question
from mgraph.hierarchy import hierarchy as hierarchy_calls
from mgraph.hierarchy import routes
from mgraph.hierarchy.placed import placed
from mgraph.kernels.routes import Parts, on
from mgraph.kernels.routes import host as kernels
from tests.support.commands import failed, invoke, misused, ok
from tests.support.graphs import grid_ends, shifted
from tests.support.references import as_floats, lightest_edges, lightest_matrix, textbook

TYPES = [np.float32, np.float64, np.int32]


@st.composite
def cases(draw):
    """A graph with loops, parallel edges, zeros and isolated vertices, its hierarchy, and pairs of vertices."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 40))
    m = draw(st.sampled_from([0, n // 2, 2 * n, 6 * n]))
    highest, dtype = draw(st.sampled_from([0, 1, 5, 1000])), draw(st.sampled_from(TYPES))
    ends = random.integers(0, max(1, n * 3 // 4), (2, m))
    weights = random.integers(0, highest + 1, m).astype(dtype)
    graph = mgraph.Graph.from_edges(*ends, weights, n=n, directed=draw(st.booleans()))
    if draw(st.booleans()):  # two cycles of length zero, or a path that is not unique, for many
        graph = shifted(graph, random.integers(-50, 50, n))
    pairs = random.integers(0, n, (2, draw(st.sampled_from([1, 7, 60]))))
    return graph, random.permutation(n), pairs, random


@pytest.fixture(params=["one block", "blocks", "climbs alone", "tables"])
def way(request, device, monkeypatch):
    """How climbs are made and kept, and whether tables are joined as such; few pairs are joined at a time."""
    monkeypatch.setattr(on(devices.find(device)), "BATCH", 1000 if request.param == "tables" else 13)
    if request.param == "blocks":
        monkeypatch.setattr(routes, "CLIMBS", 2000)
    if request.param == "climbs alone":
        monkeypatch.setattr(kernels, "STACK", 0)
    if request.param == "tables":
        monkeypatch.setattr(routes, "WIDE", 1)
        monkeypatch.setattr(routes, "HIGH", 1)
        monkeypatch.setattr(kernels, "TABLE", 0)


def listed(found):
    """The paths as lists."""
    offsets, vertices = (devices.to_host(part) for part in (found.offsets, found.vertices))
    assert offsets.dtype == np.int64 and vertices.dtype == np.int32 and offsets[0] == 0 and offsets[-1] == len(vertices)
    return [vertices[first:last].tolist() for first, last in itertools.pairwise(offsets)]


def edges_along(graph, path):
    """The numbers of the edges of a path: the first of the lightest ones between two vertices."""
    src, dst, weights = (devices.to_host(part) for part in graph.coo())
    found = []
    for u, v in itertools.pairwise(path):
        between = np.flatnonzero((src == u) & (dst == v))
        found.append(int(between[np.argmin(weights[between])]))
    return found


@given(case=cases())
def test_pairs_are_those_of_the_textbook(device, way, case):
    graph, order, (sources, targets), _ = case
    roads = mgraph.Hierarchy(graph, order, device=device)
    expected = textbook(lightest_matrix(graph))[sources, targets]
    found = roads.pairs(sources, targets)
    assert found.dtype == roads.dtype and np.array_equal(as_floats(found), expected)
    both = roads.pairs(sources, targets, paths=True)
    assert np.array_equal(devices.to_host(both.distances), devices.to_host(found)) and both.along is None
    assert listed(both) == [roads.path(*pair) for pair in zip(sources.tolist(), targets.tolist(), strict=True)]


@given(case=cases())
def test_labels_have_the_bits_of_climbs(device, way, case):
    graph, order, (sources, targets), random = case
    plain = mgraph.Hierarchy(graph, order, device=device)
    roads = plain.labelled()
    assert roads.is_labelled and not plain.is_labelled and roads.labelled() is roads
    assert roads.nbytes > plain.nbytes or graph.n == 0
    expected = devices.to_host(plain.pairs(sources, targets))
    assert np.array_equal(devices.to_host(roads.pairs(sources, targets)), expected)
    for pair in zip(sources.tolist(), targets.tolist(), strict=True):
        assert roads.distance(*pair) == plain.distance(*pair)
    other = roads.customize(random.integers(0, 9, graph.m))
    assert not other.is_labelled
    assert np.array_equal(other.pairs(sources, targets), other.labelled().pairs(sources, targets))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i8"])
def test_arrays_of_all_integers_have_the_bits_of_lists(device, dtype):
    graph, random = mgraph.generate.grid(6, 7), np.random.default_rng(3)
    roads = mgraph.Hierarchy(graph, random.permutation(42), device=device)
    sources, targets = random.integers(0, 42, (2, 100))
    expected = devices.to_host(roads.pairs(sources.tolist(), targets.tolist()))
    for each in (roads, roads.labelled()):
        assert np.array_equal(devices.to_host(each.pairs(sources.astype(dtype), targets.astype(dtype))), expected)
    apart = np.repeat(sources, 2).astype(dtype)[::2]  # which is not contiguous
    assert np.array_equal(devices.to_host(roads.pairs(apart, targets)), expected)


def test_arrays_are_checked_and_ranked_where_pairs_are_joined(device, monkeypatch):
    roads = mgraph.Hierarchy(mgraph.generate.grid(6, 7), range(42), device=device)
    where, expected = devices.find(device), roads.distance(3, 41)
    sources, targets = (where.asarray(np.full(5, vertex)) for vertex in (3, 41))
    monkeypatch.setattr(Question, "vertices", lambda *_: pytest.fail("the host checks the vertices"))
    monkeypatch.setattr(devices, "to_host", lambda _: pytest.fail("vertices are copied to the host"))
    with patch.object(on(where), "rank", wraps=on(where).rank) as ranked:
        found = roads.pairs(sources, targets)
    assert [type(call.args[0]) for call in ranked.call_args_list] == [where.xp.ndarray] * 2
    assert found.tolist() == [expected] * 5


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        (np.array([1, -3, -4]), -3),
        (np.array([1, 42, 43], np.uint8), 42),
        (np.array([2**31, 7, 7], np.uint32), 2**31),
        (np.array([1, 7, 2**63], np.uint64), 2**63),
    ],
)
def test_the_first_number_that_is_no_vertex_is_named(device, wrong, value):
    roads, right = mgraph.Hierarchy(mgraph.generate.grid(6, 7), range(42), device=device), np.arange(3)
    for name, pairs in (("sources", (wrong, right)), ("targets", (right, wrong)), ("sources", (wrong, wrong))):
        with pytest.raises(mgraph.InputError, match=rf"{name} must be an integer in \[0, 42\), got {value}"):
            roads.pairs(*pairs)
        with pytest.raises(mgraph.InputError, match=rf"{name} must be an integer in \[0, 42\), got {value}"):
            roads.pairs(*map(devices.find(device).asarray, pairs))


@pytest.mark.parametrize("dtype", TYPES)
def test_few_pairs_are_those_of_many(dtype, monkeypatch):
    random, graph = np.random.default_rng(5), mgraph.generate.grid(30, 40)
    weights = random.integers(1, 99, graph.m).astype(dtype)
    weights[random.random(graph.m) < 0.3] = 0
    roads = mgraph.Hierarchy(graph, random.permutation(1200), device="cpu").customize(weights)
    sources, targets, seen = [0, 7, 7], [1199, 80, 7], []
    expected = [roads.distance(*pair) for pair in zip(sources, targets, strict=True)]
    found = roads.pairs(sources, targets, progress=lambda *done: seen.append(done))
    assert found.dtype == roads.dtype and found.tolist() == expected and seen == [(3, 3)]
    monkeypatch.setattr(routes, "FEW", 1201)  # so that they climb
    assert roads.pairs(sources, targets).tolist() == expected


@pytest.mark.parametrize("ids", [None, ["a", "b", "c"]])
def test_a_file_remembers_labels(tmp_path, ids):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=True, ids=ids)
    roads = mgraph.Hierarchy(graph, [0, 2, 1], device="cpu")
    for each in (roads, roads.labelled()):
        each.save(tmp_path / "roads.npz", overwrite=True)
        loaded = mgraph.Hierarchy.load(tmp_path / "roads.npz", device="cpu")
        assert loaded.is_labelled == each.is_labelled
        assert (loaded.distance(0, 2), loaded.distance(2, 0)) == (7, math.inf)
        assert ids is None or loaded.distance("a", "c") == 7


def test_labels_that_do_not_fit_are_refused_before_they_are_made(monkeypatch):
    roads = mgraph.Hierarchy(mgraph.generate.grid(1, 2000), range(2000), device="cpu")
    monkeypatch.setattr(type(devices.find("cpu")), "available_memory", lambda self: 1_000_000)
    monkeypatch.setattr(kernels, "climb", lambda *_: pytest.fail("it climbs"))
    with pytest.raises(mgraph.MemoryLimitError, match="2,001,000 labels of 2,000 vertices"):
        roads.labelled()


@given(case=cases())
def test_sums_of_other_weights_are_those_along_the_paths(device, way, case):
    graph, order, (sources, targets), random = case
    roads = mgraph.Hierarchy(graph, order, device=device)
    other, whole = random.random(graph.m), random.integers(-9, 9, graph.m)
    found = roads.pairs(sources, targets, along=[other, whole, graph.unweighted()], paths=True)
    paths = [edges_along(graph, path) if path else None for path in listed(found)]
    for weights, total in zip((other, whole, np.ones(graph.m, np.int64)), found.along, strict=True):
        none = infinity(np.dtype(weights.dtype))
        assert total.dtype == weights.dtype
        expected = [none if path is None else weights[path].sum() for path in paths]
        np.testing.assert_allclose(devices.to_host(total), expected, rtol=1e-12, atol=1e-12)
    table = roads.distances(sources[:9], targets, along=[whole])
    assert np.array_equal(devices.to_host(table.distances), devices.to_host(roads.distances(sources[:9], targets)))
    assert table.offsets is None and table.along[0].shape == (len(sources[:9]), len(targets))
    for i, row in enumerate(devices.to_host(table.along[0])):
        each = roads.pairs(np.full(len(targets), sources[i]), targets, along=[whole])
        assert np.array_equal(row, devices.to_host(each.along[0]))


@pytest.mark.parametrize("call", ["pairs", "along", "paths", "flows"])
def test_one_block_of_climbs_is_alive_at_a_time(call, monkeypatch):
    roads = mgraph.Hierarchy(mgraph.generate.grid(9, 9), range(81), device="cpu")
    monkeypatch.setattr(routes, "CLIMBS", 2000)
    made, living, operations = [], [], on(devices.find("cpu"))
    climb = operations.climb

    def seen(ranks, tree, entries, lengths, climbs):
        living.append(sum(label() is not None for label in made))
        made.append(weakref.ref(climbs.label))
        climb(ranks, tree, entries, lengths, climbs)

    monkeypatch.setattr(operations, "climb", seen)
    sources, targets = np.random.default_rng(2).integers(0, 81, (2, 500))
    if call == "flows":
        roads.flows((sources, targets, np.ones(500)))
    else:
        asked = {"pairs": {}, "along": {"along": [np.ones(roads.m)]}, "paths": {"paths": True}}
        roads.pairs(sources, targets, **asked[call])
    assert len(living) > 4 and set(living) == {0}


def test_no_other_weights_have_no_sums():
    roads = mgraph.Hierarchy(mgraph.generate.grid(3, 3), range(9), device="cpu")
    for found in (roads.pairs([0], [8], along=[]), mgraph.pairs(roads, [0], [8], along=[])):
        assert found.distances.tolist() == [roads.distance(0, 8)] and found.along == ()
    for found in (roads.pairs([0], [8], paths=True), mgraph.pairs(roads, [0], [8], paths=True)):
        assert found.along is None and found.vertices.tolist() == roads.path(0, 8)
    assert "graph" not in roads.__dict__  # which a call does not make in order to find where results go


@given(case=cases())
def test_tables_have_the_bits_of_pairs(case):
    graph, order, (sources, targets), random = case
    roads = mgraph.Hierarchy(graph, order, device="cpu")
    rows, columns = random.permutation(np.repeat(sources, 17)), random.permutation(np.repeat(targets, 33))
    sums = [random.random(graph.m), random.integers(-9, 9, graph.m)]
    operations = on(devices.find("cpu"))
    with patch.object(operations, "meet_table", wraps=operations.meet_table) as joined:
        table = roads.distances(rows, columns, along=sums)
    assert joined.called
    with patch.object(operations, "meet_table", side_effect=AssertionError):
        pairs = roads.pairs(np.repeat(rows, len(columns)), np.tile(columns, len(rows)), along=sums)
    for one, other in zip([table.distances, *table.along], [pairs.distances, *pairs.along], strict=True):
        assert np.array_equal(one.ravel(), other)


@given(case=cases(), limit=st.sampled_from([math.inf, 0, 7, 900]))
def test_joined_tables_have_the_bits_of_sweeps(device, way, case, limit):
    graph, order, (sources, targets), _ = case
    roads, operations = mgraph.Hierarchy(graph, order, device=device), on(devices.find(device))
    with patch.object(operations, "JOINED", 0):
        swept = roads.distances(sources, targets, limit=limit)
    with patch.object(operations, "JOINED", 1 << 30):
        joined = roads.distances(sources, targets, limit=limit)
        assert devices.of(joined).kind == devices.of(swept).kind and joined.shape == swept.shape
        assert np.array_equal(devices.to_host(joined), devices.to_host(swept)) and joined.dtype == swept.dtype


def test_tables_of_floats_are_swept():
    """Sums that are not exact depend on their order, and a table has the distances of all vertices."""
    graph = mgraph.generate.grid(9, 9)
    roads = mgraph.Hierarchy(graph, device="cpu").customize(np.random.default_rng(0).random(graph.m))
    operations = on(devices.find("cpu"))
    with patch.object(operations, "JOINED", 1 << 30), patch.object(operations, "climb", side_effect=AssertionError):
        table = roads.distances(np.arange(81), np.arange(40))
        assert np.array_equal(table, roads.distances(np.arange(81))[:, :40])


@given(case=cases())
def test_flows_are_those_of_a_loop_over_paths(device, way, case):
    graph, order, (sources, targets), random = case
    roads = mgraph.Hierarchy(graph, order, device=device)
    amounts = random.integers(0, 100, len(sources))
    expected, cost, unserved, supply = np.zeros(graph.m, np.int64), 0.0, 0, np.zeros(graph.n, np.int64)
    for source, target, amount in zip(sources.tolist(), targets.tolist(), amounts.tolist(), strict=True):
        path = roads.path(source, target)
        if not path:
            unserved += amount
            continue
        expected[edges_along(graph, path)] += amount
        cost += amount * float(roads.distance(source, target))
        supply[source] += amount
        supply[target] -= amount
    flows = roads.flows((sources, targets, amounts))
    flows.verify()
    assert flows.loads.dtype == np.int64 and np.array_equal(flows.loads, expected)
    assert (flows.cost, flows.unserved) == (cost, unserved) and np.array_equal(flows.supply, supply)
    shares = roads.flows((sources, targets, amounts / 7))
    shares.verify()
    np.testing.assert_allclose(shares.loads, expected / 7, rtol=1e-12, atol=1e-12)


@given(case=cases())
def test_a_matrix_of_demand_is_one_of_pairs(device, way, case):
    graph, order, (sources, targets), random = case
    roads = mgraph.Hierarchy(graph, order, device=device)
    demand = random.integers(0, 4, (len(sources), len(targets)))
    i, j = np.indices(demand.shape).reshape(2, -1)
    expected = roads.flows((sources[i], targets[j], demand.ravel()))
    for given_ in (demand, sparse.coo_array(demand)) if demand.any() else (demand,):
        flows = roads.flows(given_, sources, targets)
        flows.verify()
        assert np.array_equal(flows.loads, expected.loads) and flows.unserved == expected.unserved
        assert flows.cost == expected.cost
    every = np.zeros((graph.n, graph.n), np.int64)
    np.add.at(every, (sources[i], targets[j]), demand.ravel())
    assert np.array_equal(roads.flows(every).loads, expected.loads)


@pytest.mark.parametrize("dtype", TYPES)
def test_distances_of_a_larger_graph_are_those_of_scipy(device, way, dtype):
    random = np.random.default_rng(3)
    src, dst = grid_ends(20, 30)
    weights = random.integers(1, 99, len(src)) / (1 if dtype == np.int32 else 7)
    graph = mgraph.Graph.from_edges(src, dst, weights.astype(dtype), n=650, directed=False)
    roads = mgraph.Hierarchy(graph, random.permutation(650), device=device)
    sources, targets = random.integers(0, 650, (2, 900))
    expected = dijkstra(lightest_edges(graph))[sources, targets]
    found = roads.pairs(sources, targets, paths=True)
    np.testing.assert_allclose(as_floats(found.distances), expected, rtol=1e-6 if dtype == np.float32 else 1e-12)
    if dtype == np.int32:
        single = [roads.distance(*pair) for pair in zip(sources.tolist(), targets.tolist(), strict=True)]
        assert as_floats(found.distances).tolist() == single
    lightest = lightest_matrix(graph)
    for source, target, length, path in zip(sources, targets, expected, listed(found), strict=True):
        if math.isinf(length):
            assert path == []
            continue
        assert path[0] == source and path[-1] == target and len(set(path)) == len(path)
        assert math.isclose(sum(lightest[u, v] for u, v in itertools.pairwise(path)), length, rel_tol=1e-6)
    roads.flows((sources, targets, random.random(900))).verify()


@pytest.mark.gpu
@pytest.mark.parametrize("numbers", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_sums_along_entries_have_the_bits_of_a_cpu(dtype, numbers):
    random, gpu = np.random.default_rng(6), devices.find("cuda")
    graph = mgraph.generate.weighted(mgraph.generate.grid(30, 40), (1, 50))
    roads = mgraph.Hierarchy(graph, random.permutation(graph.n), device="cpu")
    known = hierarchy_calls.prepared(roads, devices.find("cpu"))
    parts = routes.divided(known.structure, known.lengths)
    parts = parts._replace(ways=parts.ways.astype(numbers))
    assert (parts.ways[:, 1] >= 0).any() and (parts.ways[:, 1] < 0).any()
    parts.ways[-1] = -1  # as of an entry without a path
    values, expected = (random.random(graph.m) * 1000).astype(dtype), np.empty(len(parts.ways), dtype)
    kernels.add_up(parts, (), values, expected)
    found = gpu.xp.full(len(parts.ways), -5, dtype)
    stages = placed(known.structure, gpu).stages
    on(gpu).add_up(routes.parts_on(gpu, parts), stages, gpu.asarray(values), found)
    assert np.array_equal(devices.to_host(found), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
def test_a_gpu_has_the_bits_of_climbs_on_a_cpu(dtype, monkeypatch):
    monkeypatch.setattr(kernels, "STACK", 0)
    random, xp = np.random.default_rng(4), devices.find("cuda").xp
    plain, order = mgraph.generate.grid(40, 50), random.permutation(2000)
    weights = random.integers(0, 99, plain.m) if dtype == np.int32 else random.random(plain.m)
    here, there = (
        mgraph.Hierarchy(plain, order, device=kind).customize(weights.astype(dtype)) for kind in ("cpu", "cuda")
    )
    sources, targets = random.integers(0, 2000, (2, 5000))
    expected = here.pairs(sources, targets)
    assert np.array_equal(there.pairs(sources, targets), expected)
    assert np.array_equal(there.pairs(sources[:3], targets[:3]), expected[:3])
    src, dst, _ = plain.coo()
    graph = mgraph.Graph.from_edges(xp.asarray(src), xp.asarray(dst), xp.asarray(weights.astype(dtype)), n=plain.n)
    found = mgraph.Hierarchy(graph, order, device="cuda").pairs(xp.asarray(sources), xp.asarray(targets))
    assert isinstance(found, xp.ndarray) and np.array_equal(found.get(), expected)


@given(seed=st.integers(0, 2**32), dtype=st.sampled_from([np.float32, np.float64]))
def test_paths_of_lengths_that_vanish_in_sums(device, way, seed, dtype):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 30))
    ends = random.integers(0, n, (2, 3 * n))
    weights = np.array([0, 1e-9, 0.1, 1 / 3, 7, 1e6])[random.integers(0, 6, 3 * n)].astype(dtype)
    graph = mgraph.Graph.from_edges(*ends, weights, n=n, directed=bool(random.integers(2)))
    roads = mgraph.Hierarchy(graph, random.permutation(n), device=device)
    sources, targets = random.integers(0, n, (2, 50))
    expected, lightest = textbook(lightest_matrix(graph))[sources, targets], lightest_matrix(graph)
    for source, target, length, path in zip(
        sources, targets, expected, listed(roads.pairs(sources, targets, paths=True)), strict=True
    ):
        assert bool(path) == math.isfinite(length)
        if path:
            assert path[0] == source and path[-1] == target and len(set(path)) == len(path)
            assert math.isclose(sum(lightest[u, v] for u, v in itertools.pairwise(path)), length, rel_tol=1e-5)
    roads.flows((sources, targets, np.arange(50))).verify()


def test_costs_of_lengths_that_round_are_compared_as_floats():
    """Ten times 0.1 rounds to 1, and 0.2, 0.7 and 0.1 add up to a little more."""
    graph = mgraph.Graph.from_edges([0], [1], [0.1])
    flows = mgraph.Hierarchy(graph, [0, 1], device="cpu").flows(([0, 0, 0], [1, 1, 1], [2, 7, 1]))
    assert flows.cost != (flows.loads * 0.1).sum()
    flows.verify()


def test_a_cycle_is_left_out_of_a_path():
    """Of ways that lead round, as those of floats that round may: 0 to 1 to 2 to 1 to 3."""
    ways = np.array([[1, 6], [3, 4], [-1, -1], [0, -1], [5, 8], [1, -1], [3, -1], [-1, -1], [2, -1], [-1, -1]])
    ends, path = np.array([1, 2, 1, 3], np.int32), np.zeros(9, np.int32)
    met, parts = np.zeros(4, np.int32), Parts(ways.astype(np.int32), np.zeros(5, np.int32))
    length = kernels.unpack(0, parts, ends, path, 1, met, np.empty(9, np.int64))
    assert path[:length].tolist() == [0, 1, 3]


def test_a_limit_bounds_sums_along_paths(device):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 4.0])
    roads = mgraph.Hierarchy(graph, [0, 1, 2, 3], device=device)
    found = roads.distances([0], along=[[1, 1, 1]], limit=3)
    assert devices.to_host(found.distances).tolist() == [[0, 1, 3, np.inf]]
    assert devices.to_host(found.along[0]).tolist() == [[0, 1, 2, np.iinfo(np.int64).max]]


def test_closed_edges_carry_nothing_and_new_weights_have_their_own_paths(device):
    graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 1.0])
    roads = mgraph.Hierarchy(graph, [1, 0, 2], device=device)
    assert roads.flows(([0], [2], [4])).loads.tolist() == [4, 0, 4]
    busy = roads.customize([np.inf, 5, 1])
    assert busy.flows(([0, 0], [2, 1], [4, 3])).loads.tolist() == [0, 4, 0]
    assert busy.flows(([0, 0], [2, 1], [4, 3])).unserved == 3
    assert listed(busy.pairs([0], [2], paths=True)) == [[0, 2]]
    assert listed(roads.pairs([0], [2], paths=True)) == [[0, 1, 2]]


@pytest.mark.parametrize("ids", [["Rome", "Pisa", "Genoa"], [70, -3, 2**40]])
def test_pairs_and_demands_take_ids(ids):
    graph = mgraph.Graph.from_edges([0, 1], [1, 2], [4, 3], directed=False, ids=ids)
    roads = mgraph.Hierarchy(graph, [0, 2, 1], device="cpu")
    assert roads.pairs([ids[0]], [ids[2]], ids=True).tolist() == [7]
    assert roads.flows(([ids[0]], [ids[2]], [5]), ids=True).loads.tolist() == [5, 0, 5, 0]
    assert roads.flows([[5]], [ids[0]], [ids[2]], ids=True).loads.tolist() == [5, 0, 5, 0]
    if isinstance(ids[0], str):
        assert roads.pairs([ids[0], 1], [ids[2], ids[0]]).tolist() == [7, 4]


def test_distances_out_of_range_are_refused_and_flows_are_not(device):
    most = 2**28
    path = mgraph.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [most, most, most - 2, most], directed=False)
    roads = mgraph.Hierarchy(path, [0, 4, 2, 1, 3], device=device)
    assert devices.to_host(roads.pairs([0], [3])).tolist() == [3 * most - 2]
    with pytest.raises(mgraph.DistanceOverflowError, match="float64"):
        roads.pairs([0], [4])
    flows = roads.flows(([0], [4], [3]))
    flows.verify()
    assert flows.cost == 3 * (4 * most - 2)
    with pytest.raises(mgraph.DistanceOverflowError, match="may be out of range for int64"):
        roads.pairs([0], [3], along=[np.full(8, 2**61)])


def test_progress_is_reported_and_may_end_a_call(monkeypatch):
    monkeypatch.setattr(on(devices.find("cpu")), "BATCH", 5)
    graph = mgraph.generate.grid(5, 5)
    roads, seen = mgraph.Hierarchy(graph, range(25), device="cpu"), []
    sources, targets = np.arange(12), np.arange(12, 24)
    roads.pairs(sources, targets, paths=True, progress=lambda *done: seen.append(done))
    assert seen == [(5, 24), (10, 24), (12, 24), (17, 24), (22, 24), (24, 24)]
    seen.clear()
    roads.flows((sources, targets, np.ones(12)), progress=lambda *done: seen.append(done))
    assert seen == [(5, 12), (10, 12), (12, 12)]

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        roads.pairs(sources, targets, progress=stop)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda h: h.pairs([0, 4], [0, 1]), r"sources must be an integer in \[0, 4\), got 4"),
        (lambda h: h.pairs([0, 1], [0]), "targets must be 2 vertices, one for each of sources, got 1"),
        (lambda h: h.pairs(0, 1), "sources must be a sequence of vertices"),
        (lambda h: h.pairs([0], [1], paths=1), "paths must be True or False"),
        (lambda h: h.pairs([0], [1], along=[1, 2, 3]), "along must be of shape"),
        (lambda h: h.pairs([0], [1], along=3), "along must be a sequence of weights"),
        (lambda h: h.pairs([0], [1], along=[[1, 2, np.nan, 4, 5, 6]]), "along must be numbers"),
        (lambda h: h.pairs([0], [1], along=[[True] * 6]), "along must be numbers, one per edge"),
        (lambda h: h.pairs([0], [1], along=[mgraph.generate.grid(2, 2)]), "must have the same 6 edges"),
        (lambda h: h.distances([0], along=[[1] * 6], predecessors=True), "leave out predecessors=True"),
        (lambda h: h.distances([0], along=[[1] * 6], reduce="mean"), "leave out reduce='mean'"),
        (lambda h: h.distances([0], along=[[1] * 6], out=np.empty((1, 4))), "takes distances alone: leave out along="),
        (lambda h: h.flows(([0], [1])), r"demand must be three sequences, \(sources, targets, amounts\)"),
        (lambda h: h.flows(([0], [1, 2], [3])), r"targets must be of shape \(1,\)"),
        (lambda h: h.flows(([0], [1], [3, 4])), r"amounts must be of shape \(1,\)"),
        (lambda h: h.flows(([0], [9], [3])), r"targets must be an integer in \[0, 4\), got 9"),
        (lambda h: h.flows(([0], [1], [None])), "amounts must be numbers of 0 or more, got None"),
        (lambda h: h.flows(([0], [1], np.array([1], object))), "amounts must be numbers of 0 or more, got 1"),
        (lambda h: h.flows(([0], [1], [-3])), "amounts must be numbers of 0 or more, got -3"),
        (lambda h: h.flows(([0], [1], [np.nan])), "amounts must be numbers of 0 or more, got nan"),
        (lambda h: h.flows(([0], [1], [np.inf])), "amounts must be numbers of 0 or more, got inf"),
        (lambda h: h.flows(([0], [1], ["a"])), "amounts must be numbers of 0 or more, got 'a'"),
        (lambda h: h.flows(([0], [1], [3]), progress=5), "progress must be a function of the steps"),
        (lambda h: h.pairs([0], [1], progress=5), "progress must be a function of the steps"),
        (lambda h: h.pairs([0], [1], along=np.ones(2)), r"for one give \[weights\]"),
        (lambda h: h.flows(([0, 1], [1, 2], [2**53, 1])), "amounts must be integers that add up to less than"),
        (lambda h: h.flows(([0], [1], [3]), [0]), "sources= goes with a matrix"),
        (lambda h: h.flows([[1, 2]], [0], [1]), r"demand must be of shape \(1, 1\)"),
        (lambda h: h.flows([1, 2]), r"demand must be of shape \(4, 4\)"),
        (lambda h: h.flows([0, [1]]), "demand must be convertible to an array"),
        (lambda h: h.flows(np.ma.masked_equal(np.eye(4), 0)), "demand must be an array without masked elements"),
        (lambda h: h.flows(([0], [1], np.ma.masked_equal([0], 0))), "amounts must be an array without masked elements"),
    ],
)
def test_invalid_arguments_are_named(call, said):
    graph = mgraph.Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], directed=False)
    with pytest.raises(mgraph.InputError, match=said):
        call(mgraph.Hierarchy(graph, [0, 1, 2, 3], device="cpu"))


@pytest.mark.parametrize(
    ("change", "rule", "said"),
    [
        (lambda flows: flows.loads.__setitem__(0, -1), "load", "the load of edge 0, from 0 to 1, is -1"),
        (lambda flows: flows.loads.__setitem__(3, 1), "load", "the load of edge 3, from 2 to 3, is 1"),
        (
            lambda flows: flows.loads.__setitem__(0, 6),
            "conservation",
            "vertex 0 has a supply of 5, but 0 enter it and 6",
        ),
        (
            lambda flows: flows.supply.__setitem__(1, 2),
            "conservation",
            "vertex 1 has a supply of 2, but 5 enter it and 5",
        ),
        (lambda flows: flows.loads.__setitem__(slice(0, 3), [0, 5, 0]), "cost", "add up to 45.0, .* to 10.0"),
    ],
)
def test_a_wrong_flow_is_found(change, rule, said):
    graph = mgraph.Graph.from_edges([0, 1, 0, 2], [1, 2, 2, 3], [1.0, 1.0, 9.0, 1.0])
    flows = mgraph.Hierarchy(graph, range(4), device="cpu").customize([1, 9, 1, np.inf]).flows(([0], [2], [5]))
    flows.verify()
    change(flows)
    with pytest.raises(mgraph.VerificationError, match=said) as raised:
        flows.verify()
    assert raised.value.rule == rule


@pytest.mark.parametrize("call", ["pairs", "flows"])
def test_what_does_not_fit_is_refused_at_once(call, monkeypatch):
    roads = mgraph.Hierarchy(mgraph.generate.grid(9, 9), range(81), device="cpu")
    ends = np.zeros(500_000, np.int32)
    monkeypatch.setattr(type(devices.find("cpu")), "available_memory", lambda self: 1_000_000)
    monkeypatch.setattr(kernels, "climb", lambda *_: pytest.fail("it climbs"))
    with pytest.raises(mgraph.MemoryLimitError, match="500,000 pairs"):
        roads.pairs(ends, ends) if call == "pairs" else roads.flows((ends, ends, ends))


def test_paths_that_do_not_fit_are_refused_before_they_are_written(monkeypatch):
    roads = mgraph.Hierarchy(mgraph.generate.grid(1, 400), range(400), device="cpu")
    sources, targets = np.zeros(20_000, np.int32), np.full(20_000, 399)
    monkeypatch.setattr(kernels, "STACK", 0)  # of which each core has one
    monkeypatch.setattr(type(devices.find("cpu")), "available_memory", lambda self: 20_000_000)
    with pytest.raises(mgraph.MemoryLimitError, match="the 8,000,000 vertices of 20,000 paths needs"):
        roads.pairs(sources, targets, paths=True)


@pytest.mark.parametrize("graph", [mgraph.Graph.from_edges([], [], n=3), mgraph.Graph.from_edges([], [], [], n=3)])
def test_a_graph_without_edges(device, graph):
    roads = mgraph.Hierarchy(graph, device=device)
    found = roads.pairs([0, 1, 2], [0, 2, 2], paths=True, along=[[]])
    assert as_floats(found.distances).tolist() == [0, np.inf, 0]
    assert listed(found) == [[0], [], [2]]
    flows = roads.flows(([0, 1], [0, 2], [3, 4]))
    flows.verify()
    assert flows.loads.tolist() == [] and flows.unserved == 4


def test_weights_of_a_graph_with_other_ids_are_refused():
    src, dst, weights = [0, 1], [1, 0], [3, 4]
    roads = mgraph.Hierarchy(mgraph.Graph.from_edges(src, dst, weights, ids=["Rome", "Pisa"]), [0, 1], device="cpu")
    same, other = (mgraph.Graph.from_edges(src, dst, [7, 9], ids=ids) for ids in (["Rome", "Pisa"], ["Pisa", "Rome"]))
    assert roads.customize(same).distance("Rome", "Pisa") == 7
    for call in (roads.customize, lambda graph: roads.pairs([0], [1], along=[graph])):
        with pytest.raises(mgraph.InputError, match="must have the ids of the hierarchy's graph, in the same order"):
            call(other)


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    """A folder with a prepared graph, lists of vertices and a demand."""
    monkeypatch.chdir(tmp_path)
    graph = mgraph.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], [3, 4, 5, 1], ids=["Rome", "Pisa", "Bari", "Genoa"])
    mgraph.Hierarchy(graph, range(4), device="cpu").save("roads.npz")
    Path("a.txt").write_text("Rome\nGenoa\n1\n")
    Path("b.txt").write_text("Bari\nRome\n3\n")
    Path("demand.csv").write_text("from,to,amount\nRome,Genoa,10\nGenoa,Rome,2\nPisa,Genoa,4\n")
    return tmp_path


def test_pairs_on_the_command_line(prepared):
    call = "pairs", "roads.npz", "--sources", "a.txt", "--targets", "b.txt", "--device", "cpu"
    text = ok(*call, "--paths", "--out", "routes.npz")
    assert "pairs: 3, 1 of them without a path\ngreatest distance: 7\n" in text and "saved: routes.npz" in text
    with np.load("routes.npz") as saved:
        assert saved["distances"].tolist() == [7, 2**31 - 1, 5] and saved["vertices"].tolist() == [0, 1, 2, 1, 2, 3]
    facts = json.loads(ok(*call, "--out", "distances.npy", "--json"))
    assert (facts["pairs"], facts["without_path"], facts["greatest"]) == (3, 1, 7)
    assert np.load("distances.npy").tolist() == [7, 2**31 - 1, 5]
    assert "a .npy file holds the distances only" in misused(invoke(*call, "--paths", "--out", "new.npy"))
    assert "distances.npy exists" in failed(invoke(*call, "--out", "distances.npy"), 2)
    Path("none.txt").write_text("")
    for sides in (("none.txt", "b.txt"), ("a.txt", "none.txt")):
        call_on_none = "pairs", "roads.npz", "--sources", sides[0], "--targets", sides[1]
        assert "none.txt holds no vertex: give one a line" in failed(invoke(*call_on_none), 1)
    assert ok(*call, "--quiet") == ""
    said = failed(invoke("pairs", "roads.npz", "--source", "0", "--target", "99"), 2)
    assert "--target must be an integer in" in said


def test_sums_along_paths_on_the_command_line(prepared):
    Path("roads.txt").write_text("0 1 3\n1 2 4\n2 0 5\n2 3 1\n2 1 9\n")
    Path("miles.txt").write_text("0 1 10\n1 2 20\n2 0 30\n2 3 40\n2 1 50\n")
    Path("tolls.txt").write_text("0 1 0.5\n1 2 0\n2 0 1\n2 3 2\n2 1 7\n")
    mgraph.Hierarchy(mgraph.read("roads.txt"), range(4), device="cpu").save("plain.npz")
    call = "pairs", "plain.npz", "--source", "0", "--target", "3", "--source", "3", "--target", "0", "--device", "cpu"
    along = "--along", "miles.txt", "--along", "tolls.txt"
    ok(*call, *along, "--out", "sums.npz")
    with np.load("sums.npz") as saved:
        assert saved.files == ["distances", "along_0", "along_1"]
        assert saved["distances"].tolist()[0] == 8
        assert saved["along_0"].tolist() == [70, infinity(saved["along_0"].dtype)]
        assert saved["along_1"].tolist() == [2.5, np.inf]
    ok(*call, *along, "--paths", "--out", "all.npz")
    with np.load("all.npz") as saved:
        assert saved["vertices"].tolist() == [0, 1, 2, 3] and saved["along_1"].tolist() == [2.5, np.inf]
    for out in ((), ("--out", "new.npy")):
        assert "with --along, give --out a .npz file" in misused(invoke(*call, *along, *out))
    Path("fewer.txt").write_text("0 1 10\n1 2 20\n")
    assert "must have the same 5 edges" in failed(invoke(*call, "--along", "fewer.txt", "--out", "new.npz"), 2)
    assert not Path("new.npz").exists()


def test_many_sets_of_weights_on_the_command_line(prepared):
    roads = mgraph.Hierarchy.load("roads.npz", device="cpu")
    stack = np.random.default_rng(3).integers(1, 9, (3, roads.m))
    np.save("stack.npy", stack)
    assert "customized: 3 sets of weights" in ok("customize", "roads.npz", "stack.npy", "--out", "hours")
    for number, weights in enumerate(stack):
        found = mgraph.Hierarchy.load(f"hours/{number}.npz", device="cpu")
        assert np.array_equal(found.distances(), roads.customize(weights).distances())
    again = "customize", "roads.npz", "stack.npy", "--out", "hours"
    assert "--overwrite" in failed(invoke(*again), 2)
    ok(*again, "--overwrite")
    np.save("one.npy", stack[1])
    ok("customize", "roads.npz", "one.npy", "--out", "alone")
    assert np.array_equal(
        mgraph.Hierarchy.load("alone/0.npz", device="cpu").distances(), roads.customize(stack[1]).distances()
    )
    np.save("short.npy", stack[:, 1:])
    said = failed(invoke("customize", "roads.npz", "short.npy", "--out", "other"), 2)
    assert "weights must be" in said and "a row for each set" in said and not Path("other").exists()
    Path("words.npy").write_text("0 1 2")
    assert "holds no array" in failed(invoke("customize", "roads.npz", "words.npy", "--out", "other"), 1)


def test_labels_on_the_command_line(prepared):
    Path("edges.txt").write_text("0 1 3\n1 2 4\n")
    ok("hierarchy", "edges.txt", "--labels", "--out", "labelled.npz", "--device", "cpu")
    assert mgraph.Hierarchy.load("labelled.npz", device="cpu").is_labelled
    assert not mgraph.Hierarchy.load("roads.npz", device="cpu").is_labelled


def test_flows_on_the_command_line(prepared):
    columns = "--source-column", "from", "--target-column", "to", "--weight-column", "amount"
    call = "flows", "roads.npz", "demand.csv", *columns, "--device", "cpu"
    text = ok(*call, "--out", "loads.npz")
    assert "flows: 3 pairs, cost 100, 2 without a path\ngreatest load of an edge: 14\n" in text
    with np.load("loads.npz") as saved:
        assert saved["loads"].tolist() == [10, 14, 0, 14] and saved["supply"].tolist() == [10, 4, 0, -14]
    facts = json.loads(ok(*call, "--out", "loads.npy", "--json"))
    assert (facts["pairs"], facts["cost"], facts["unserved"], facts["greatest"]) == (3, 100, 2, 14)
    assert np.load("loads.npy").tolist() == [10, 14, 0, 14]
    Path("numbers.txt").write_text("0 3 10\n1 3 4\n3 0 2\n")
    assert "cost 100, 2 without a path" in ok("flows", "roads.npz", "numbers.txt")
    columns = "--source-column", "0", "--target-column", "1", "--weight-column", "2"
    for name, more, lines in (("inf.txt", (), "0 3 10"), ("inf.csv", columns, "0,3,10")):
        Path(name).write_text(f"{lines}\n{lines[:-2]}inf\n")
        said = failed(invoke("flows", "roads.npz", name, *more), 1)
        assert f"{name}, line 2: expected an amount, a number, got 'inf'" in said
        assert "an amount must be finite: leave the line out, or give a number" in said
    sparse.save_npz("inf.npz", sparse.csr_array(([1.0, np.inf], ([0, 1], [1, 2])), shape=(4, 4)))
    assert "weight number 1, counted from 0, is inf: an amount" in failed(invoke("flows", "roads.npz", "inf.npz"), 1)
    assert mgraph.read("inf.txt").m == 1  # no edge in a graph
    Path("large.txt").write_text(f"0 3 {2**53 + 1}\n1 3 4\n")
    assert f"got {2**53 + 5}: give floats" in failed(invoke("flows", "roads.npz", "large.txt"), 1)
    Path("many.txt").write_text("0 3 12345678\n")
    assert "greatest load of an edge: 12345678\n" in ok("flows", "roads.npz", "many.txt")
    Path("wrong.txt").write_text("0 3 -1\n")
    said = failed(invoke("flows", "roads.npz", "wrong.txt"), 1)
    assert "wrong.txt: amounts must be numbers of 0 or more, got -1" in said
    Path("beyond.txt").write_text("0 99 1\n")
    assert "beyond.txt: a target must be an integer in" in failed(invoke("flows", "roads.npz", "beyond.txt"), 1)
    Path("none.txt").write_text("")
    assert "none.txt holds no pair: give one a line" in failed(invoke("flows", "roads.npz", "none.txt"), 1)
    assert "give either FILE or --rmat SCALE" in misused(invoke("flows", "roads.npz"))
