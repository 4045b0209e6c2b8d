"""The kernels of certificates: both twins give the same bits, and find what a check edge by edge finds."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import mgraph
from mgraph import Graph, VerificationError
from mgraph import device as devices
from mgraph.algorithms import bellman
from mgraph.algorithms.certificates import distances as certificate
from mgraph.algorithms.certificates import labels as certificate_of_labels
from mgraph.algorithms.certificates import run
from mgraph.device.numba import small
from mgraph.dtypes import NO_PREDECESSOR, infinity
from mgraph.generate import grid, rmat, weighted
from mgraph.graph import Compressed
from mgraph.kernels import certificates as family
from mgraph.kernels.certificates import host
from tests.support.devices import poison
from tests.support.memory import measured

NONE = NO_PREDECESSOR


@pytest.fixture
def all_cores(monkeypatch):
    """Let all cores share small graphs, too."""
    monkeypatch.setattr(small, "GRAPH", -1)
    monkeypatch.setattr(host, "VERTICES", -1)
    monkeypatch.setattr(host, "FEW", 1)


def first_fault(graph, q, distances, predecessors):
    """Return the first broken rule of a search, and the least vertex that breaks it, by a look at each edge."""
    d, n, parent = distances, graph.n, predecessors
    exact, broken = d.dtype.kind == "i", {rule: set() for rule in certificate.RULES}
    reached = [x != q.unreached for x in d]
    most = q.limit
    if q.target >= 0 and reached[q.target]:
        most = min(most, d[q.target].item())
    for v in range(n):
        start, inner = v in q.starts, parent is not None and 0 <= parent[v] < n
        if start and (d[v] != 0 or (parent is not None and parent[v] != NONE)):
            broken["source"].add(v)
        if reached[v] and d[v] > most:
            broken["limit"].add(v)
        if parent is None or start:
            continue
        if not (inner and reached[parent[v]] if reached[v] else parent[v] == NONE):
            broken["tree"].add(v)
        above, steps = v, 0
        while steps <= n and above not in q.starts and 0 <= parent[above] < n:
            above, steps = parent[above], steps + 1
        if reached[v] and above not in q.starts:
            broken["cycle"].add(v)
    proven, tight, ties, any_order = set(q.starts), set(), [], []
    src, dst, weights = graph.coo()
    with np.errstate(all="ignore"):
        for e, (u, v) in enumerate(zip(src.tolist(), dst.tolist(), strict=True)):
            length = 1 if q.unit or weights is None else weights[e]
            if exact:
                low = high = most_by_edge = int(d[u]) + int(length)
            else:
                total = most_by_edge = d[u] + d.dtype.type(length)
                low, high = np.nextafter(total, d.dtype.type("-inf")), np.nextafter(total, d.dtype.type("inf"))
                if q.rounding.relative and np.isfinite(total):
                    margin = abs(total) * d.dtype.type(q.rounding.relative)
                    low, high = min(low, total - margin), max(high, total + margin)
                    most_by_edge = total + margin
            if not reached[u]:
                continue
            if not reached[v]:
                if most_by_edge <= most and most_by_edge < float("inf"):
                    broken["reached"].add(v)
                continue
            if d[v] > high:
                broken["edge"].add(v)
            if low <= d[v] <= high and u != v:
                any_order.append((u, v))
            if low <= d[v] <= high and (
                d[u] <= d[v] or not q.nonnegative or (q.rounding.relative and parent is not None)
            ):
                tight.add(v)
                if parent is not None:
                    if parent[v] == u:
                        proven.add(v)
                elif q.nonnegative and d[u] < d[v]:
                    proven.add(v)
                elif u != v:
                    ties.append((u, v))
    if parent is None:
        while found := {v for u, v in ties if u in proven} - proven:
            proven |= found
    for v in range(n):
        if reached[v] and v not in q.starts:
            if parent is None and v not in tight:
                broken["tight"].add(v)
            if v not in proven:
                broken["path" if parent is None else "tree edge"].add(v)
    if parent is None and q.nonnegative and not exact and q.rounding.relative and (broken["tight"] or broken["path"]):
        # Where distances round, the vertex before may be farther: all tight edges count.
        proven = set(q.starts)
        while found := {v for u, v in any_order if u in proven} - proven:
            proven |= found
        broken["tight"] = set()
        broken["path"] = {v for v in range(n) if reached[v]} - proven
    return next(((rule, min(vertices)) for rule, vertices in broken.items() if vertices), None)


def found_fault(check):
    """Return the rule and the vertex that a check names; None if it passes."""
    try:
        check()
    except VerificationError as error:
        return error.rule, error.vertex
    return None


WEIGHTS = [None, np.int32, np.int64, np.float32, np.float64]


@st.composite
def spoiled(draw):
    """A graph, a question, and vectors that answer it but for some elements."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, dtype, directed = draw(st.integers(1, 30)), draw(st.sampled_from(WEIGHTS)), draw(st.booleans())
    src, dst = random.integers(0, n, (2, draw(st.integers(0, 4 * n))))
    weights = None if dtype is None else random.integers(draw(st.integers(-1 if directed else 0, 1)), 4, len(src))
    if dtype in (np.float32, np.float64):
        weights = (weights / 3).astype(dtype)
    graph = Graph.from_edges(src, dst, None if weights is None else weights.astype(dtype), n=n, directed=directed)
    sources, parents = sorted({0, int(random.integers(n))}), draw(st.booleans())
    bounds = draw(st.sampled_from([{}, {"limit": 2}, {"target": n - 1}]))
    if dtype is None:
        result, unreached = mgraph.bfs(graph, sources=sources, predecessors=parents, device="cpu", **bounds), -1
    else:
        try:
            result = mgraph.sssp(graph, sources=sources, predecessors=parents, device="cpu", **bounds)
        except mgraph.NegativeCycleError:
            reject()
        unreached = infinity(result.distances.dtype)
    limits = result.solved.limit, result.solved.target
    rounding = bellman.Rounding(draw(st.sampled_from([0.0, 0.0, 0.2])))
    q = certificate.Question(tuple(sources), *limits, dtype is None, unreached, graph.nonnegative, rounding)
    d, p = result.distances, result.predecessors
    values = [0, 1, 2, -1, unreached, np.iinfo(np.int32).min]
    if d.dtype.kind == "f":
        values += [np.nan, -np.inf, -0.0, 1e-44]
    for _ in range(draw(st.integers(0, 3))):
        v = int(random.integers(n))
        if p is not None and draw(st.booleans()):
            p[v] = draw(st.sampled_from([NONE, -1, n, 2**31 - 1, v, *random.integers(0, n, 3).tolist()]))
        elif d.dtype.kind == "f" and draw(st.booleans()):
            d[v] = np.nextafter(d[v], d.dtype.type(draw(st.sampled_from([-1, 9]))))
        else:
            d[v] = draw(st.sampled_from([*values, d[int(random.integers(n))]]))
    return graph, q, d, p


def check_search(case, device):
    graph, q, d, p = case
    vectors = {"distances": device.asarray(d)} | ({} if p is None else {"predecessors": device.asarray(p)})
    solved_on = mgraph.planning.devices.spec_of(device)
    assert found_fault(lambda: certificate.verify(graph, q, vectors, [solved_on])) == first_fault(*case)


@given(spoiled())
def test_searches(hardware, case):
    check_search(case, hardware)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_unreached_neighbour_of_any_distance(hardware, dtype):
    most = np.finfo(dtype).max
    for length, directed in product((0, 1, np.inf), (False, True)):
        graph = Graph.from_edges([1], [2], np.array([length], dtype), n=3, directed=directed)
        for near, limit in product((0, most, -most, np.nan, -np.inf), (-np.inf, 2.0, np.inf)):
            q = certificate.Question((0,), limit, -1, False, np.inf, True, bellman.Rounding(0.0))
            check_search((graph, q, np.array([0, near, np.inf], dtype), None), hardware)


def made(dtype, weight, offset, directed):
    """Return a graph of several tiles of edges and hubs, distances that are mostly right, and some predecessors."""
    random = np.random.default_rng(4)
    edges = weighted(rmat(10, directed=directed), (0, 9)) if directed else weighted(rmat(10), (0, 9))
    indptr, indices, weights = edges.compressed("csr")
    graph = Graph(
        edges.n,
        csr=Compressed(indptr.astype(offset), indices, None if weight is None else weights.astype(weight)),
        directed=directed,
        nonnegative=True,
    )
    distances = mgraph.sssp(edges, 1, dtype=np.float64, device="cpu").distances
    unreached = infinity(np.dtype(dtype))
    d = np.nan_to_num(distances, posinf=0).astype(dtype)
    d[np.isinf(distances)] = unreached
    p = mgraph.sssp(edges, 1, predecessors=True, device="cpu").predecessors
    d[random.integers(0, graph.n, 40)] = random.integers(0, 9, 40)
    p[random.integers(0, graph.n, 40)] = random.integers(-2, graph.n + 2, 40)
    return graph, d, p, dtype(unreached)


CASES = [
    (np.int32, None, np.int32),
    (np.int32, np.int32, np.int32),
    (np.int64, np.int64, np.int64),
    (np.float32, np.float32, np.int32),
    (np.float32, np.float64, np.int64),
    (np.float64, np.int64, np.int32),
]


def outputs_of_search(case, device):
    """Return what all operations on distances write, on a device, by name."""
    graph, d, p, unreached = made(*case, directed=True)
    xp, kernels, n = device.xp, family.on(device), graph.n
    indptr, indices, weights = (None if a is None else device.asarray(a) for a in graph.compressed("csr"))
    d, p = device.asarray(d), device.asarray(p)
    exact = d.dtype.kind == "i"
    most = np.int64(11) if exact else d.dtype.type(11)
    starts = xp.zeros(n, np.uint8)
    starts[1] = 1
    found, near = {}, device.asarray(np.random.default_rng(5).integers(0, 3, n).astype(np.int32))
    own, least = xp.zeros(n, np.uint8), xp.full(1, n, np.int32)
    kernels.check_sources(d, near, starts, 5, n - 3, unreached, own, least)
    found["sources"] = xp.concatenate([own, least])
    edges = indptr, indices, weights, 0
    for name, parents in (("without", None), ("with", p)):
        least = xp.full(3, n, np.int32)
        kernels.check_vertices(d, parents, starts, 5, n - 3, unreached, most, least)
        found[f"vertices {name}"] = least
        for by_source in (False, True):
            for ulps, rounding in ((0, 0.0),) if exact else ((1, 0.0), (0, 0.1)):
                marks, least = xp.zeros((2, n), np.uint8), xp.full(2, n, np.int32)
                how = True, ulps, rounding
                kernels.check_edges(*edges, by_source, d, parents, unreached, most, *how, *marks, least)
                found[f"edges {name} {by_source} {ulps}"] = xp.concatenate([*marks, least])
                found |= outputs_of_marks(kernels, edges, by_source, d, None, unreached, how, marks[0], starts, name)
    for by_source in (False, True):
        marks, least = xp.zeros(n, np.uint8), xp.full(1, n, np.int32)
        kernels.check_nearest(*edges, by_source, d, near, unreached, True, marks, least)
        found[f"nearest {by_source}"] = xp.concatenate([marks, least])
        how = True, 0, 0.0
        found |= outputs_of_marks(kernels, edges, by_source, d, near, unreached, how, marks, starts, "nearest")
    tree = xp.where((p >= 0) & (p < n), p, NONE).astype(np.int32)
    tree[1] = NONE
    above, active, least = xp.empty(n, np.int32), xp.zeros(1, np.int32), xp.full(2, n, np.int32)
    kernels.check_nearer(d, xp.where(tree < 0, NONE, tree), starts, 0, n, least)
    kernels.climb(tree, starts, above)
    found["above"] = above.copy()
    for _ in range(n.bit_length()):
        kernels.double(above, active)
    kernels.check_roots(tree, above, starts, 0, n, least[1:])
    found["roots"] = least
    return {name: devices.to_host(array) for name, array in found.items()}


def outputs_of_marks(kernels, edges, by_source, d, nearest, unreached, how, marks, starts, name):
    """Return what the operations write that take the marks of edges, by name."""
    device, n, indices = devices.of(d), len(d), edges[1]
    xp = device.xp
    count, ends = xp.zeros(1, np.int64), xp.zeros((2, len(indices)), np.int32)
    kernels.list_ties(*edges, by_source, d, nearest, unreached, *how, marks, count, *ends)
    ties, least = ends[:, : int(count[0])].astype(np.int64), xp.full(1, n, np.int32)
    kernels.check_marks(d, starts, 0, n, unreached, marks, least)
    case = f"{name} {by_source} {how[1]}"
    return {f"ties {case}": xp.sort(ties[0] * n + ties[1]), f"marks {case}": least}


def outputs_of_ranks(dtypes, device):
    """Return the first element that breaks the rule of ranks, of several lists with a fault each."""
    xp, kernels, n = device.xp, family.on(device), 5000
    order = np.random.default_rng(6).permutation(n)
    succ, ranks = np.empty((2, n), np.int64)
    succ[order], ranks[order] = np.r_[order[1:], order[-1]], np.arange(n)[::-1]
    found = []
    for array, place, value in (
        (succ, 7, 7),
        (succ, 9, n),
        (succ, 9, -1),
        (ranks, 4321, 5),
        (ranks, 11, -(2**31)),
        (ranks, 0, ranks[0]),
    ):
        right, array[place] = int(array[place]), value
        given = [device.asarray(part.astype(dtype)) for part, dtype in zip((succ, ranks), dtypes, strict=True)]
        for first in (0, 4):
            least = xp.full(1, n, np.int64)
            kernels.check_ranks(given[0][first:], first, given[1], least)
            found.append(int(least[0]))
        array[place] = right
    return {"least": np.array(found)}


def outputs_of_labels(offset, device):
    graph = made(np.int32, None, offset, directed=True)[0]
    xp, kernels, n = device.xp, family.on(device), graph.n
    indptr, indices = map(device.asarray, graph.layout("csr"))
    labels = mgraph.connected_components(graph, device="cpu").labels
    labels[[7, 70]] = labels[[70, 7]]
    labels = device.asarray(labels)
    least, roots, parent = xp.full(3, n, np.int32), xp.zeros(1, np.int32), xp.arange(n, dtype=np.int32)
    kernels.check_labels(labels, 0, n, least, roots)
    labels = xp.minimum(labels, xp.arange(n, dtype=np.int32))
    codes = xp.empty(n, np.int32)
    kernels.join_first(indptr, indices, 0, parent)
    kernels.flatten(parent)
    found = {"first": parent.copy()}
    kernels.mark_joined(labels, parent, codes)
    kernels.check_across(indptr, indices, 0, codes, parent, least[1:])
    kernels.flatten(parent)
    found["codes"], found["joined"] = codes, parent.copy()
    other = xp.maximum(xp.arange(n, dtype=np.int32) - 3, 0).astype(np.int32)
    kernels.check_joined(labels, parent, 0, n, least[2:])
    kernels.join(other, parent)
    kernels.flatten(parent)
    found |= {"all": parent, "least": least, "roots": roots}
    return {name: devices.to_host(array) for name, array in found.items()}


def compare(one, two):
    assert one.keys() == two.keys()
    for name, array in one.items():
        assert array.dtype == two[name].dtype and np.array_equal(array, two[name]), name


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_twins_of_searches_give_the_same_bits(case):
    poison()
    compare(outputs_of_search(case, devices.find("cuda")), outputs_of_search(case, devices.find("cpu")))


@pytest.mark.parametrize("dtypes", [(np.int32, np.int32), (np.int64, np.int32), (np.int64, np.int64)])
def test_ranks(dtypes, device):
    # A second element is wrong where another's successor has been changed to it, or its own rank.
    found = outputs_of_ranks(dtypes, devices.find(device))["least"]
    assert found[0] == found[1] == 7 and (found[2:6] == 9).all() and (found[6:8] <= 4321).all()
    assert found[8] <= 11 and (found[10:] == 5000).all()


@pytest.mark.gpu
@pytest.mark.parametrize("dtypes", [(np.int32, np.int32), (np.int64, np.int32), (np.int64, np.int64)])
def test_twins_of_ranks_give_the_same_bits(dtypes):
    poison()
    compare(outputs_of_ranks(dtypes, devices.find("cuda")), outputs_of_ranks(dtypes, devices.find("cpu")))


@pytest.mark.gpu
@pytest.mark.parametrize("offset", [np.int32, np.int64])
def test_twins_of_labels_give_the_same_bits(offset):
    poison()
    compare(outputs_of_labels(offset, devices.find("cuda")), outputs_of_labels(offset, devices.find("cpu")))


def test_all_cores_give_the_same_bits_as_one(monkeypatch, request):
    cases, cpu = [CASES[1], CASES[3]], devices.find("cpu")
    alone = [outputs_of_search(case, cpu) for case in cases], outputs_of_labels(np.int32, cpu)
    request.getfixturevalue("all_cores")
    for case, expected in zip(cases, alone[0], strict=True):
        compare(outputs_of_search(case, cpu), expected)
    compare(outputs_of_labels(np.int32, cpu), alone[1])


def test_all_cores_prove_strong_components(all_cores):
    cycle = np.arange(3000)
    for graph in (rmat(11, 2, directed=True), Graph.from_edges(cycle, np.roll(cycle, 1), directed=True)):
        result = mgraph.connected_components(graph, connection="strong", device="cpu")
        result.verify()
        labels = result.labels.copy()
        giant = np.bincount(labels).argmax()
        labels[labels == giant] = np.flatnonzero(labels == giant)
        with pytest.raises(VerificationError) as caught:
            replace(result, labels=labels).verify(graph)
        assert caught.value.rule == "cycle"


def test_all_cores_prove_forests_and_ranks(all_cores):
    graph = weighted(rmat(11, 2, directed=True), (1, 3))
    result = mgraph.minimum_spanning_forest(graph, device="cpu")
    result.verify()
    heavier = result.weights.copy()
    heavier[5] += 1
    assert found_fault(lambda: replace(result, weights=heavier).verify(graph)) is not None
    assert outputs_of_ranks((np.int32, np.int32), devices.find("cpu"))["least"][2:6].tolist() == [9] * 4


def test_long_ties(hardware):
    """Paths of length zero lead to most vertices, in an order that no pass over the vertices follows."""
    n = 3000
    order = np.random.default_rng(2).permutation(n)
    graph = Graph.from_edges(order[:-1], order[1:], np.r_[5, np.zeros(n - 2, np.int32)], n=n)
    result = mgraph.sssp(graph, int(order[0]), device=hardware.name)
    result.verify()
    cut = Graph.from_edges(order[1:-1], order[2:], np.zeros(n - 2, np.int32), n=n)
    ring = Graph.from_edges(np.r_[order[1:], 0], np.r_[order[2:], order[1], 0], np.zeros(n, np.int32), n=n)
    for wrong in (cut, ring):
        with pytest.raises(VerificationError) as caught:
            result.verify(wrong)
        assert caught.value.rule == ("tight" if wrong is cut else "path")


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_a_vertex_exactly_at_the_limit_is_reached(dtype, hardware):
    weights = (np.arange(1, 10) / 8 if dtype.startswith("float") else np.arange(1, 10)).astype(dtype)
    graph = Graph.from_edges(np.arange(9), np.arange(1, 10), weights)
    limit = mgraph.sssp(graph, 0, device=hardware.name).distances[5].item()
    result = mgraph.sssp(graph, 0, limit=limit, device=hardware.name)
    result.verify()
    result.distances[5] = infinity(result.distances.dtype)
    with pytest.raises(VerificationError) as caught:
        result.verify()
    assert (caught.value.rule, caught.value.vertex) == ("reached", 5)


@pytest.mark.parametrize("predecessors", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_a_changed_nearest_source_is_found(dtype, predecessors, hardware):
    rng = np.random.default_rng(3)
    for n, m, directed in ((4, 6, True), (40, 60, False), (40, 120, True)):
        weights = (rng.integers(0, 4, m) * (1 if dtype == "int32" else 0.1)).astype(dtype)
        graph = Graph.from_edges(*rng.integers(0, n, (2, m)), weights, n=n, directed=directed)
        sources = [0, 2, 3]
        result = mgraph.sssp(graph, sources=sources, predecessors=predecessors, device=hardware.name)
        result.verify()
        for v in range(n):
            right = int(result.nearest[v])
            for wrong in {*sources, 1, 77, -1, NONE} - {right}:
                result.nearest[v] = wrong
                fault = found_fault(result.verify)
                assert fault is not None and fault[0] == "nearest", (v, right, wrong)
                if wrong not in sources:
                    assert fault[1] == v
            result.nearest[v] = right


def test_numbers_beyond_int32_are_no_vertices():
    graph = grid(3, 4)
    result = mgraph.bfs(graph, 0, predecessors=True, device="cpu")
    for value in (2**32, 2**32 - 9999, -(2**40)):
        parents = result.predecessors.astype(np.int64)
        parents[5] = value
        with pytest.raises(VerificationError) as caught:
            replace(result, predecessors=parents).verify(graph)
        assert (caught.value.rule, caught.value.vertex) == ("tree", 5)
    parts = mgraph.connected_components(graph, device="cpu")
    labels = parts.labels.astype(np.int64)
    labels[5] = 2**32
    with pytest.raises(VerificationError) as caught:
        replace(parts, labels=labels).verify(graph)
    assert (caught.value.rule, caught.value.vertex) == ("label", 5)


SEARCHES = {
    "bfs": lambda graph, device: mgraph.bfs(graph, 0, device=device),
    "bfs with predecessors": lambda graph, device: mgraph.bfs(graph, 0, predecessors=True, device=device),
    "sssp with predecessors": lambda graph, device: mgraph.sssp(graph, 0, predecessors=True, device=device),
    "components": lambda graph, device: mgraph.connected_components(graph, device=device),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_predicted_peak_is_the_measured_one(name, hardware, monkeypatch):
    graph = weighted(rmat(16), (1, 9))
    result = SEARCHES[name](graph, hardware.name)
    result.verify()  # compiles, or loads what was compiled
    plans, planned = [], run.plan_of
    monkeypatch.setattr(run, "plan_of", lambda *given: plans.append(planned(*given)) or plans[-1])
    _, peak = measured(result.verify) if hardware.kind == "cpu" else peak_on(hardware, result)
    kept = 4 * graph.m + 4 * (graph.n + 1)  # edges that are there already
    if name.startswith("sssp"):
        kept += graph.weights_dtype.itemsize * graph.m
    # What only graphs with lengths of zero take is in the plan.
    unused = certificate.ABOVE * graph.n if "predecessors" in name else 0
    unused += 4 * graph.n if name == "components" else 0
    assert plans[-1].devices[0].name == hardware.name
    assert plans[-1].peak_bytes[0] - kept - unused == pytest.approx(peak, rel=0.05, abs=1 << 16)


def peak_on(device, result):
    with device.peak_memory() as peak:
        result.verify()
    return None, peak.bytes


@pytest.mark.gpu
@pytest.mark.parametrize("name", SEARCHES)
def test_results_are_proved_on_the_gpu_that_solved(name, monkeypatch):
    graph, plans, planned = weighted(rmat(10), (1, 9)), [], run.plan_of
    monkeypatch.setattr(run, "plan_of", lambda *given: plans.append(planned(*given)) or plans[-1])
    result = SEARCHES[name](graph, "cuda")
    result.verify()
    next(iter(result.arrays.values()))[3] += 1
    there = found_fault(result.verify)
    monkeypatch.setattr(run, "gpu_of", lambda solved_on: [])
    assert there is not None and there == found_fault(result.verify)
    assert [plan.devices[0].kind for plan in plans] == ["cuda", "cuda", "cpu"]


def test_a_gpu_of_another_machine_is_not_looked_for():
    graph = grid(3, 4)
    result = mgraph.bfs(graph, 0, device="cpu")
    elsewhere = replace(result.plan.devices[0], name="cuda:99", kind="cuda")
    certificate.verify(
        *(graph, certificate.Question((0,), float("inf"), -1, True, -1, True)),
        {"distances": result.distances},
        [elsewhere],
    )
    assert certificate_of_labels.verify(mgraph.connected_components(graph, device="cpu"), graph) is None
