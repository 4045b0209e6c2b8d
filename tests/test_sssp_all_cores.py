"""Shortest paths on all cores of a CPU: thick rounds are shared, and the results are those of one core."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mgraph
from mgraph.device.numba import numba
from mgraph.device.numba.small import is_small
from mgraph.generate import random_degree, rmat, weighted
from mgraph.graph import Compressed
from mgraph.kernels.sssp.piles import PIECE, THICK
from tests.support.checkpoints import Stopped, written
from tests.support.parameters import DTYPES, exhaustive
from tests.support.properties import check_shortest_paths
from tests.support.references import as_floats, shortest_distances

pytestmark = pytest.mark.usefixtures("writing")


@pytest.fixture(scope="module")
def hubs():
    """A graph whose hubs are cut to pieces, with parallel edges of Kronecker's kind and isolated vertices."""
    return rmat(17, device="cpu")


@pytest.fixture(scope="module")
def source(hubs):
    return int(np.diff(hubs.csr().indptr).argmax())


@pytest.fixture(scope="module")
def distances(hubs, source):
    return shortest_distances(weighted(hubs, (1, 255), "int32"), source)


@pytest.fixture(params=[2, *exhaustive(1)])
def cores(request):
    """Run on one core, and on all; with one, the kernels of all cores are not used."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(request.param, before))
    yield request.param
    numba.set_num_threads(before)


def test_the_graph_takes_all_cores(hubs, source):
    degrees = np.diff(hubs.csr().indptr)
    assert not is_small(hubs.csr().indptr)
    assert degrees.max() > max(2 * PIECE, THICK // 8)
    assert mgraph.sssp(weighted(hubs, (1, 1)), source, device="cpu").distances.max() > 1


@pytest.mark.parametrize("dtype", [DTYPES[0], *exhaustive(*DTYPES[1:])])
def test_distances_and_predecessors(hubs, source, distances, dtype, cores):
    graph = weighted(hubs, (1, 255), dtype)
    for method in ("nearfar", "bellman-ford", "mask"):
        result = mgraph.sssp(graph, source, method=method, predecessors=True, device="cpu")
        assert np.array_equal(as_floats(result.distances), distances)
        assert np.array_equal(result.predecessors, least_predecessors(graph, source, result.distances))
    check_shortest_paths(graph, source, result)


def least_predecessors(graph, source, distances):
    """Return the least vertex with a tight edge to each vertex, where all weights are positive."""
    src, dst, weights = graph.coo()
    found = np.full(graph.n, graph.n)
    known = as_floats(distances)
    tight = np.flatnonzero(np.isfinite(known[src]) & (known[src] + weights == known[dst]))
    np.minimum.at(found, dst[tight], src[tight])
    found[source] = graph.n
    return np.where(found < graph.n, found, -9999)


def test_fractions_are_the_same_bits(hubs, source):
    src, dst, weights = weighted(hubs, (1, 255)).coo()
    graph = mgraph.Graph.from_edges(src, dst, np.sqrt(weights), n=hubs.n)
    results = []
    for cores in (numba.get_num_threads(), 1):
        before = numba.get_num_threads()
        numba.set_num_threads(cores)
        results.append(mgraph.sssp(graph, source, predecessors=True, device="cpu"))
        numba.set_num_threads(before)
    assert results[0].distances.tobytes() == results[1].distances.tobytes()
    assert np.array_equal(results[0].predecessors, results[1].predecessors)
    assert np.allclose(as_floats(results[0].distances), shortest_distances(graph, source), rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_limit_and_target(hubs, source, distances, dtype):
    graph, order = weighted(hubs, (1, 255), dtype), np.argsort(distances)
    target = int(order[hubs.n // 3])
    for asked, most in ({"limit": 21}, 21), ({"target": target}, distances[target]), ({"limit": 0}, 0):
        found = as_floats(mgraph.sssp(graph, source, device="cpu", **asked).distances)
        assert np.array_equal(found, np.where(distances <= most, distances, np.inf)), asked


@pytest.mark.parametrize("dtype", [DTYPES[0], *exhaustive(*DTYPES[1:])])
def test_negative_weights(hubs, source, distances, dtype):
    src, dst, weights = weighted(hubs, (1, 255), dtype).coo()
    height = np.random.default_rng(1).integers(0, 200, hubs.n).astype(dtype)
    graph = mgraph.Graph.from_edges(src, dst, weights + height[dst] - height[src], n=hubs.n)
    found = mgraph.sssp(graph, source, predecessors=True, device="cpu")
    assert graph.extremes()[0] < 0
    assert np.array_equal(as_floats(found.distances), distances + height - height[source].astype(float))
    check_shortest_paths(graph, source, found)


def test_weights_of_zero_and_several_sources():
    graph = weighted(random_degree(300_000, 8, device="cpu"), (0, 2), "int32")
    assert not is_small(graph.csr().indptr)
    found = mgraph.sssp(graph, sources=[5, 70_000], predecessors=True, device="cpu")
    apart = [as_floats(mgraph.sssp(graph, source, device="cpu").distances) for source in (5, 70_000)]
    assert np.array_equal(apart[0], shortest_distances(graph, 5))
    assert np.array_equal(as_floats(found.distances), np.minimum(*apart))
    reached = np.isfinite(apart[0])
    assert np.array_equal(found.nearest[reached], np.where(apart[0] <= apart[1], 5, 70_000)[reached])
    found.verify()


@pytest.mark.parametrize("method", ["nearfar", *exhaustive("bellman-ford", "mask")])
def test_a_checkpoint_of_any_round(hubs, source, distances, method, tmp_path):
    graph = weighted(hubs, (1, 255), "float32")
    asked = {"method": method, "device": "cpu", "span": 1, "checkpoint": tmp_path}
    for resume in (False, True, True):  # stopped after its first round, and again after the next
        with pytest.raises(Stopped):
            mgraph.sssp(graph, source, checkpoint_every=0, resume=resume, progress=written(tmp_path), **asked)
    found = mgraph.sssp(graph, source, resume=True, **asked)
    assert np.array_equal(as_floats(found.distances), distances)


def test_offsets_of_64_bits(hubs, source, distances):
    indptr, indices, weights = weighted(hubs, (1, 255), "int32").compressed("csr")
    wide = mgraph.Graph(hubs.n, csr=Compressed(indptr.astype(np.int64), indices, weights), nonnegative=True)
    found = mgraph.sssp(wide, source, predecessors=True, device="cpu")
    assert np.array_equal(as_floats(found.distances), distances)
    check_shortest_paths(wide, source, found)


def test_a_star_whose_edges_are_cut_to_pieces():
    n = 3 << 20
    ends = np.arange(1, n)
    graph = mgraph.Graph.from_edges(np.zeros(n - 1, np.int64), ends, ends % 251, n=n)
    assert not is_small(graph.csr().indptr)
    found = mgraph.sssp(graph, 0, predecessors=True, device="cpu")
    assert np.array_equal(found.distances, np.arange(n) % 251)
    assert found.predecessors[0] == -9999 and not found.predecessors[1:].any()


def test_a_plan_knows_the_cores():
    def seconds(cores, n, m):
        return mgraph.plan("sssp", n, m, [mgraph.DeviceSpec("a CPU", "cpu", 1 << 36, cores)]).seconds

    assert seconds(16, 10**6, 10**7) < seconds(2, 10**6, 10**7) < seconds(1, 10**6, 10**7)
    assert seconds(16, 10**5, 10**6) == seconds(1, 10**5, 10**6)


SCRIPT = """
    import os
    import numpy as np
    import mgraph
    from mgraph.device.numba import numba
    from mgraph.generate import rmat, weighted
    graph = weighted(rmat(17, device="cpu"), (1, 255), "int32")
    def digest():
        found = mgraph.sssp(graph, 3, predecessors=True, device="cpu")
        return hash((found.distances.tobytes(), found.predecessors.tobytes()))
    print(numba.get_num_threads(), digest(), flush=True)
    if hasattr(os, "fork"):
        child = os.fork()
        if not child:
            print(numba.get_num_threads(), digest(), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""


def test_more_threads_than_cores_one_thread_and_a_fork():
    seen = set()
    for threads in (1, 7):
        environment = os.environ | {"NUMBA_NUM_THREADS": str(threads), "PYTHONHASHSEED": "0"}
        run = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(SCRIPT)]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
        lines = [line.split() for line in done.stdout.splitlines()]
        assert lines[0][0] == str(threads)
        seen.update(digest for _, digest in lines)
    assert len(seen) == 1
