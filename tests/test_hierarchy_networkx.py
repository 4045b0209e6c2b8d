"""Pairs, tables, sums along paths and flows of a hierarchy on 500 random graphs, beside NetworkX's paths."""

import itertools

import numpy as np
import pytest

import mgraph
from mgraph import device as devices
from mgraph.dtypes import infinity
from mgraph.hierarchy import routes
from tests.support.parameters import exhaustive
from tests.support.references import as_floats

nx = pytest.importorskip("networkx")

#: Graphs of a test; the first ones are tested with every change.
GRAPHS, TOGETHER = 500, 20

#: Weights of a kind: integers of many lengths and of few, which tie; floats whose sums are exact, and others.
WEIGHTS = {
    "integers": lambda random, m: random.integers(1, 1000, m).astype(np.int32),
    "ties": lambda random, m: random.integers(0, 3, m).astype(np.int32),
    "halves": lambda random, m: (random.integers(0, 9, m) / 2).astype(np.float32),
    "floats": lambda random, m: random.random(m) + 0.1,
}


def random_edges(random):
    """A graph of a random shape: many scattered edges or few, which leave components; streets, some of them one-way."""
    n, shape = int(random.integers(2, 30)), random.choice(["scattered", "sparse", "streets", "one-way"])
    if shape in ("scattered", "sparse"):
        m = n // 2 if shape == "sparse" else int(random.integers(n, 4 * n))
        return mgraph.Graph.from_edges(*random.integers(0, n, (2, m)), n=n, directed=bool(random.integers(2)))
    src, dst, _ = mgraph.generate.grid(int(random.integers(1, 6)), int(random.integers(2, 7))).coo()
    kept = random.random(len(src)) < (0.7 if shape == "one-way" else 1)
    return mgraph.Graph.from_edges(src[kept], dst[kept], n=int(max(src.max(), dst.max())) + 3)


def random_roads(seed, device):
    """A hierarchy of random weights, which may close edges, and its edges as NetworkX has them, with their numbers."""
    random = np.random.default_rng(seed)
    kind = list(WEIGHTS)[seed % len(WEIGHTS)]
    plain = random_edges(random)
    src, dst, _ = (None if part is None else devices.to_host(part) for part in plain.coo())
    if random.integers(2):
        weights = WEIGHTS[kind](random, plain.m)
    else:  # alike in both directions
        weights = WEIGHTS[kind](random, plain.n**2)[np.minimum(src, dst) * plain.n + np.maximum(src, dst)]
    roads = mgraph.Hierarchy(plain, random.permutation(plain.n), device=device, dtype=weights.dtype)
    if weights.dtype.kind == "f":
        weights[random.random(plain.m) < random.choice([0, 0.2])] = np.inf
    edges = nx.DiGraph()
    edges.add_nodes_from(range(plain.n))
    for number, (u, v, weight) in enumerate(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True)):
        if weight < edges.get_edge_data(u, v, {"weight": np.inf})["weight"]:  # the first of the lightest
            edges.add_edge(u, v, weight=weight, number=number)
    return roads.customize(weights), edges, random, kind != "floats"


@pytest.mark.parametrize("first", [0, *exhaustive(*range(TOGETHER, GRAPHS, TOGETHER))])
def test_paths_sums_and_flows_are_those_of_networkx(device, monkeypatch, first):
    monkeypatch.setattr(routes, "WIDE", 1)  # tables are joined as such
    monkeypatch.setattr(routes, "HIGH", 1)
    for seed in range(first, first + TOGETHER):
        roads, edges, random, exact = random_roads(seed, device)
        sources, targets = (random.integers(0, roads.n, count) for count in (5, 8))
        lengths = np.full((roads.n, roads.n), np.inf)
        for source in set(sources.tolist()):
            for target, length in nx.single_source_dijkstra_path_length(edges, source).items():
                lengths[source, target] = length
        along = random.integers(-99, 99, roads.m), random.random(roads.m)

        table = roads.distances(sources, targets, along=along)
        starts, ends = np.repeat(sources, len(targets)), np.tile(targets, len(sources))
        expected = lengths[starts, ends]
        found = roads.pairs(starts, ends, paths=True, along=along)
        near = {"rtol": 0 if exact else 1e-12}
        for distances in (roads.pairs(starts, ends), found.distances, table.distances.ravel()):
            np.testing.assert_allclose(as_floats(distances), expected, **near, err_msg=f"seed {seed}")

        amounts = random.integers(0, 50, len(starts))
        loads, served = np.zeros(roads.m, np.int64), np.isfinite(expected)
        sums = [np.full(len(starts), infinity(values.dtype), values.dtype) for values in along]
        offsets, vertices = (devices.to_host(part) for part in found[2:])
        for i, (begin, end) in enumerate(itertools.pairwise(offsets)):
            path = vertices[begin:end].tolist()
            assert bool(path) == served[i], seed
            if not path:
                continue
            assert (path[0], path[-1]) == (starts[i], ends[i]) and nx.is_simple_path(edges, path), seed
            np.testing.assert_allclose(nx.path_weight(edges, path, "weight"), expected[i], **near)
            taken = [edges.edges[step]["number"] for step in itertools.pairwise(path)]
            loads[taken] += amounts[i]
            for total, values in zip(sums, along, strict=True):
                total[i] = values[taken].sum()
        for some in (found.along, table.along):
            whole, real = (devices.to_host(total).ravel() for total in some)
            assert np.array_equal(whole, sums[0]), seed
            np.testing.assert_allclose(real, sums[1], rtol=1e-12)

        for flows in (
            roads.flows((starts, ends, amounts)),
            roads.flows(amounts.reshape(len(sources), len(targets)), sources, targets),
        ):
            flows.verify()
            assert np.array_equal(flows.loads, loads), seed
            assert flows.unserved == amounts[~served].sum()
            np.testing.assert_allclose(flows.cost, (amounts * np.where(served, expected, 0)).sum(), **near)
