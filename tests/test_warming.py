"""Compiling ahead of the first call."""

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import mgraph
from mgraph import InputError, kernels
from mgraph.device.numba import small
from mgraph.device.numba.caching import KERNELS
from mgraph.warming import run_samples, warm_up
from tests.support.commands import ok

#: Kernels that no warm-up compiles: those of benchmarks, of several shards, and one that plans for CPUs do not choose.
LEFT = {
    *(("ceilings", name) for name in ("copy", "reads", "relaxations")),
    *((family, name) for family in ("certificates", "components") for name in ("join", "join_alone")),
    *(("components", name) for name in ("roots", "members", "absorb", "list_parents", "unite_pairs")),
    *(("sssp", name) for name in ("_listed", "_take_list", "_join")),
    ("bfs_many", "tally"),
    ("betweenness_many", "_together"),
    ("trees", "grow"),  # of benchmarks alone
}

#: First calls: small and large inputs, weights of every type, all kinds of results.
CALLS = """
import sys
import numpy as np
from scipy import sparse
import mgraph
from mgraph import csgraph, generate

def weighted(graph, dtype, least=1):
    src, dst, _ = graph.listed()
    weights = None if dtype is None else (least + (src + 3 * dst) % 7).astype(dtype)
    return mgraph.Graph.from_edges(src, dst, weights, n=graph.n, directed=graph.directed)

def acyclic(n):
    src, dst = np.sort(np.random.default_rng(n).integers(0, n, (2, 4 * n)), axis=0)
    return mgraph.Graph.from_edges(src[src < dst], dst[src < dst], n=n)

on = {"device": "cpu"}
types = (None, "int32", "int64", "float32", "float64")
for scale in (6, 11, 15):
    for dtype in types:
        for directed in (True, False):
            g = weighted(generate.rmat(scale, directed=directed), dtype)
            for options in ({}, {"predecessors": True}):
                mgraph.bfs(g, 0, **options, **on).verify()
                mgraph.bfs(g, sources=[0, 3], **options, **on).verify()
                mgraph.sssp(g, 0, **options, **on).verify()
                mgraph.sssp(g, sources=[0, 3], limit=9, **options, **on).verify()
                mgraph.bfs_many(g, range(40), **options, **on).verify()
                mgraph.distances(g, range(40), **options, **on).verify()
                if scale < 12:
                    mgraph.apsp(g, **options, **on).verify()
                    mgraph.apsp(g, dtype="auto", **options, **on).verify()
            mgraph.bfs(g, 0, predecessors="any", **on).verify()
            mgraph.distances(g, range(40), [1, 2], reverse=True, **on).verify()
            mgraph.distances(g, range(40), nearest=3, **on).verify()
            mgraph.distances(g, range(40), limit=3, sparse=True, **on).verify()
            for measure in ("eccentricity", "mean", "closeness", "harmonic", "reached", ("within", [1, 2])):
                mgraph.distances(g, range(40), reduce=measure, reverse=True, **on).verify()
            mgraph.connected_components(g, **on).verify()
            if directed:
                mgraph.connected_components(g, connection="strong", **on).verify()
            else:
                mgraph.minimum_spanning_forest(g, **on).verify()
            if scale < 12:
                mgraph.transitive_closure(g, **on).verify()
mgraph.transitive_closure(g := acyclic(2500), **on).verify()
for n in (40, 2500):
    for dtype in types[1:]:
        g = weighted(acyclic(n), dtype, -2)
        for method in ("auto", "johnson"):
            for options in ({}, {"predecessors": True}):
                mgraph.apsp(g, method=method, **options, **on).verify()
                mgraph.distances(g, [0, 1, 2], **options, **on).verify()
        mgraph.sssp(g, 0, predecessors=True, **on).verify()
        mgraph.distances(g, [0, 1, 2], reduce="mean", **on).verify()
for n in (5, 60, 200, 600):
    for dtype in ("int16", *types[1:]):
        a = np.random.default_rng(0).integers(1, 90, (n, n)).astype(dtype)
        for options in ({}, {"predecessors": True}, {"intermediate": True}):
            mgraph.apsp(a, **options, **on).verify(a)
            mgraph.apsp(a, dtype="auto", **options, **on).verify(a)
        mgraph.transitive_closure(a, **on).verify(a)
        mgraph.sssp(a, 0, predecessors=True, **on).verify(a)
        mgraph.connected_components(a, **on).verify(a)
for n in (200, 300_000):
    for dtype in ("int32", "int64"):
        succ = generate.linked_list(n).astype(dtype)
        mgraph.list_rank(succ, **on).verify(succ)
for dtype in types:
    for side in (5, 22):
        many = [weighted(generate.grid(side, side, weights=None), dtype)] * 4
        for options in ({}, {"predecessors": True}):
            mgraph.apsp_batch(many, **options, **on).verify(many)
    for side in (8, 60):
        g = weighted(generate.grid(side, side, weights=None), dtype)
        for options in ({}, {"targets": [4, 5]}, {"predecessors": True}, {"reduce": "mean"}, {"limit": 9}):
            mgraph.distances(g, range(40), method="hierarchy", **options, **on).verify()
        hierarchy = mgraph.Hierarchy(g, **on)
        hierarchy.distance(0, 9), hierarchy.path(0, 9)
        hierarchy.pairs([0], [9]), hierarchy.pairs(range(40), range(40), paths=True, along=[range(g.m)])
        hierarchy.distances(range(40), range(40), along=[range(g.m)])
        hierarchy.flows(([0], [9], [1.5])).verify()
        for other in (1, 2):
            stack = np.ones((8, g.m), dtype)
            stack[:, ::2] = other
            list(hierarchy.customize(stack))
for n in (50, 3000):
    for dtype in types[1:]:
        m = sparse.random(n, n, 4 / n, "csr", random_state=0)
        m.data = 1 + np.floor(9 * m.data)
        m = m.astype(dtype)
        csgraph.breadth_first_order(m, 0), csgraph.breadth_first_order(m, 0, directed=False)
        csgraph.connected_components(m), csgraph.connected_components(m, connection="strong")
        csgraph.dijkstra(m, indices=[0, 1], return_predecessors=True)
        csgraph.dijkstra(m, indices=[0, 1], return_predecessors=True, min_only=True)
        csgraph.johnson(m, indices=[0, 1]), csgraph.bellman_ford(m, indices=[0, 1])
        csgraph.floyd_warshall(m[:400, :400], return_predecessors=True)
        csgraph.shortest_path(m), csgraph.shortest_path(m, unweighted=True), csgraph.minimum_spanning_tree(m)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache with what a whole warm-up compiles."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(folder))
        warm_up()
    return folder


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_every_kernel_is_compiled_ahead(cache):
    for family in pkgutil.iter_modules(kernels.__path__):
        if family.ispkg:
            importlib.import_module(f"mgraph.kernels.{family.name}.host")
    indices = {(path.parent.name.rpartition("_")[0], path.name.partition("-")[0]) for path in cache.rglob("*.nbi")}
    inner = {id(part) for kernel in KERNELS for part in called(kernel)}
    missing = {
        (kernel.py_func.__module__.split(".")[-2], kernel.py_func.__name__)
        for kernel in KERNELS
        if ".kernels." in kernel.py_func.__module__ and id(kernel) not in inner and place(kernel) not in indices
    }
    assert missing <= LEFT, missing - LEFT


def place(kernel):
    """The names of a kernel's folder and of its index in the cache, without hashes."""
    *_, family, module = kernel.py_func.__module__.split(".")
    return family, f"{module}.{kernel.py_func.__qualname__}"


def called(kernel):
    """The kernels that a kernel calls, which become parts of it."""
    function = kernel.py_func
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    return [getattr(value, "together", value) for value in named]


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
def test_first_calls_compile_nothing(cache):
    before = set(cache.rglob("*.nbc"))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(mgraph.__file__).parents[1])}
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", CALLS], env=environment, check=True)
    assert not [path.name for path in sorted(set(cache.rglob("*.nbc")) - before)]


def test_the_kernels_of_a_call_are_compiled_ahead(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    seen = []
    warm_up(["components"], progress=lambda *counts: seen.append(counts))
    assert seen[-1] == (len(seen), len(seen), "components")
    assert {finished for *_, finished in seen[:-1]} == {""}
    assert list(tmp_path.rglob("*.nbc"))


def test_a_log_gets_a_line_for_each_call(monkeypatch):
    def compiled(calls, progress):
        progress(1, 2, "")
        progress(2, 2, "bfs")

    monkeypatch.setattr("mgraph.cli.machine.compiled_ahead", compiled)
    assert ok("warm-up", "bfs").splitlines()[0] == "bfs: compiled, 2 of 2 parts"


def test_kernels_are_compiled_for_small_and_for_large_inputs():
    run_samples("components", "afforest", "cpu")
    pairs = [forms for forms in small.FORMS if ".kernels.components." in forms[0].py_func.__module__]
    ran = [forms for forms in pairs if any(form.signatures for form in forms)]
    assert ran
    for alone, together in ran:
        assert set(alone.signatures) == set(together.signatures)


def test_an_unknown_call_is_refused():
    with pytest.raises(InputError, match="got 'nothing'"):
        warm_up(["nothing"])


@pytest.mark.parametrize(
    ("name", "part", "family"),
    [
        ("apsp_batch", "int64", "apsp_batch"),
        ("hierarchy", "int64", "hierarchy"),
        ("csgraph", "auto", "bfs_by_level"),
        ("reading", "auto", "grouping"),
    ],
)
def test_samples_of_calls_outside_the_registry(name, part, family):
    run_samples(name, part, "cpu")
    own = [kernel for kernel in KERNELS if f".kernels.{family}." in kernel.py_func.__module__]
    assert any(kernel.signatures for kernel in own)
