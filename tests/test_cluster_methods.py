"""Every all-pairs method on one to five workers gives its direct result; results on a grid of workers."""

import numpy as np
import pytest

import mgraph
from mgraph.cluster import DistributedMatrix
from tests.support.cluster_calls import matrix
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS


CASES = [
    ("blocked", np.float32, "predecessors"),
    ("blocked", np.int16, None),
    ("blocked", np.float64, "intermediate"),
    ("naive", np.int32, "predecessors"),
    ("naive", np.float32, "intermediate"),
    ("squaring", np.float64, "predecessors"),
    ("squaring", np.int16, "predecessors"),
    ("sssp", np.float32, "predecessors"),
    ("johnson", np.int32, "predecessors"),
]


workers = clients(4, *exhaustive(1, 2, 3, 5))


def check(client, n, method, dtype, labels, where, span=None):
    d = matrix(n, dtype, seed=n)
    if method == "johnson":
        potential = np.random.default_rng(n).integers(0, 20, n)
        d = np.where(d == np.iinfo(dtype).max, d, d + potential[:, None] - potential[None, :]).astype(dtype)
    options = dict(method=method, dtype=dtype, device=where, **({labels: True} if labels else {}))
    direct = mgraph.apsp(d, **options)
    found = mgraph.apsp(d, client=client, span=span, **options)
    assert found.plan.method == method and isinstance(found.distances, DistributedMatrix)
    assert found.distances.dtype == dtype
    np.testing.assert_array_equal(found.distances.to_numpy(), _numpy(direct.distances))
    if labels:
        np.testing.assert_array_equal(getattr(found, labels).to_numpy(), _numpy(getattr(direct, labels)))
        assert found.path(1, n - 2) == direct.path(1, n - 2)


def _numpy(array):
    return array if isinstance(array, np.ndarray) else array.get()


@pytest.mark.parametrize("span", [None, 1])
@pytest.mark.parametrize(("method", "dtype", "labels"), CASES)
def test_every_method(workers, method, dtype, labels, span):
    check(workers, 131 if span is None else 67, method, dtype, labels, "cpu", span)


def test_negative_cycles(workers):
    d = matrix(131, np.int32)
    d[100, 101], d[101, 100] = 5, -9
    for method in ("blocked", "naive", "squaring", "johnson"):
        with pytest.raises(mgraph.NegativeCycleError):
            mgraph.apsp(d, client=workers, method=method, device="cpu")


def test_a_type_that_turns_out_too_narrow(workers):
    chain = mgraph.Graph.from_edges(range(12), range(1, 13), [4000] * 12)
    found = mgraph.apsp(chain, client=workers, dtype="auto", method="blocked", device="cpu")
    assert found.distances.dtype == np.int32 and found.distances[0, 12] == 48_000


def test_closure(workers):
    d = matrix(131, seed=5)
    d[np.random.default_rng(0).random(d.shape) < 0.9] = np.inf
    direct = mgraph.transitive_closure(d, device="cpu")
    found = mgraph.transitive_closure(d, client=workers, device="cpu")
    assert found.count == direct.count
    np.testing.assert_array_equal(found.to_dense(), direct.to_dense())
    assert [found.reaches(3, j) for j in range(131)] == direct.rows(3, 4)[0].tolist()


@pytest.fixture(scope="module")
def found():
    """A client of four workers, a matrix on their grid of two by two, and the same in memory."""
    with cluster(4, processes=False) as client:
        d = matrix(200)
        result = mgraph.apsp(d, client=client, device="cpu", block=32)
        assert result.plan.detail.grid == (2, 2) and len(result.distances.columns) == 2
        yield client, result.distances, mgraph.apsp(d, device="cpu", block=32).distances


class TestGrid:
    """Access to a matrix on a grid of workers."""

    @pytest.mark.parametrize(
        "key",
        [
            (3, 150),
            (-1, -1),
            5,
            (slice(None), 7),
            (slice(90, 110), slice(90, 110)),
            (slice(180, 20, -7), slice(150, 10, -11)),
            (slice(3, 3), slice(None)),
            (slice(None), slice(9, 9)),
            (slice(0, 200, 64), slice(1, 200, 50)),
        ],
    )
    def test_parts(self, found, key):
        _, distributed, whole = found
        np.testing.assert_array_equal(distributed[key], whole[key])

    def test_wholes(self, found, tmp_path):
        client, distributed, whole = found
        np.testing.assert_array_equal(distributed.to_numpy(), whole)
        np.testing.assert_array_equal(np.concatenate(list(distributed.chunks())), whole)
        array = distributed.to_dask_array()
        assert array.numblocks == (2, 2)
        np.testing.assert_array_equal(client.compute(array).result(), whole)
        distributed.save(tmp_path / "d.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), whole)

    def test_as_an_input(self, found):
        _, distributed, whole = found
        np.testing.assert_array_equal(mgraph.apsp(distributed, device="cpu").distances, whole)


@pytest.mark.gpu
@pytest.mark.parametrize("gpus", [1, 2, 4], indirect=True)
@pytest.mark.filterwarnings("ignore")
def test_every_method_on_gpus(gpus):
    for method, dtype, labels in CASES:
        for n, span in ((131, 1), (1009, None), (1009, 4)):
            check(gpus, n, method, dtype, labels, "cuda", span)
    d = matrix(1009)
    direct, found = mgraph.transitive_closure(d, device="cuda"), mgraph.transitive_closure(d, client=gpus)
    assert found.count == direct.count
    np.testing.assert_array_equal(found.to_dense(), _numpy(direct.to_dense()))
