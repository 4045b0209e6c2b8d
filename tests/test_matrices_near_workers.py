"""Matrices in files and on workers, of which each worker reads its own part: results, errors, and what travels."""

import gc
import importlib.util
import os
import threading

import dask
import numpy as np
import pytest
from distributed import get_worker

import mgraph
from mgraph.errors import AmbiguousZerosError, InputError, NegativeCycleError
from mgraph.graph import StoredMatrix
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster, wait_until
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS

da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def by_threads():
    """Compute Dask's arrays in this process, whatever other tests' clients have left in Dask's configuration."""
    with dask.config.set(scheduler="threads"):
        yield


client = clients(4)


def distances(n=70, dtype=np.float32, seed=0, low=1):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(low, 99, (n, n)).astype(dtype)
    matrix[rng.random((n, n)) < 0.6] = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    np.fill_diagonal(matrix, 0)
    return matrix


def npy(matrix, folder):
    np.save(folder / "matrix.npy", matrix)
    return np.load(folder / "matrix.npy", mmap_mode="r")


def fortran(matrix, folder):
    return npy(np.asfortranarray(matrix), folder)


def part_of_a_map(matrix, folder):
    larger = np.full((len(matrix) + 9, len(matrix) + 5), 7, matrix.dtype)
    larger[4:-5, 3:-2] = matrix
    return npy(larger, folder)[4:-5, 3:-2]


def graph_of_a_map(matrix, folder):
    npy(matrix, folder)
    return mgraph.read(folder / "matrix.npy")


def hdf5(matrix, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / f"{matrix.dtype}.h5", "w") as file:
        file["roads/matrix"] = matrix
    return h5py.File(folder / f"{matrix.dtype}.h5", "r")["roads/matrix"]


def zarr(matrix, folder):
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(folder / f"{matrix.dtype}.zarr", shape=matrix.shape, chunks=(16, 16), dtype=matrix.dtype)
    made[:] = matrix
    return zarr.open_array(folder / f"{matrix.dtype}.zarr", mode="r")


def dask_array(matrix, folder):
    return da.from_array(matrix, chunks=(len(matrix) // 3 + 1, 40))


def masked(matrix, folder):
    return da.ma.masked_equal(da.from_array(matrix, chunks=30), matrix.max())


FORMS = [npy, fortran, part_of_a_map, graph_of_a_map, hdf5, zarr, dask_array, masked]


@pytest.mark.parametrize("form", [*FORMS[::3], *exhaustive(*FORMS[1::3], *FORMS[2::3])])
def test_each_worker_reads_its_own_part(client, form, tmp_path, monkeypatch):
    for dtype in (np.float32, np.int64):
        matrix = distances(dtype=dtype)
        given = form(matrix, tmp_path)
        expected = mgraph.apsp(matrix, predecessors=True, device="cpu")
        with monkeypatch.context() as patched:
            patched.setattr(StoredMatrix, "__array__", only_on_workers(StoredMatrix.__array__))
            found = mgraph.apsp(given, predecessors=True, client=client, device="cpu")
            closure = mgraph.transitive_closure(given, client=client, device="cpu")
        for name, array in expected.arrays.items():
            assert found.arrays[name].dtype == array.dtype
            np.testing.assert_array_equal(found.arrays[name].to_numpy(), array)
        np.testing.assert_array_equal(closure.to_dense(), mgraph.transitive_closure(matrix, device="cpu").to_dense())


@pytest.mark.parametrize("form", [npy, hdf5, dask_array])
@pytest.mark.parametrize("dtype", [bool, np.float64])
def test_workers_find_the_edges_of_an_adjacency_matrix(client, form, dtype, tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    matrix = ((rng.random((70, 70)) < 0.05) * rng.integers(1, 9, (70, 70))).astype(dtype)
    given, expected = form(matrix, tmp_path), mgraph.Graph.from_adjacency(matrix)
    if dtype is not bool:
        given = mgraph.Graph.from_adjacency(given)
        for ours, theirs in zip(given.csr(), expected.csr(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    with monkeypatch.context() as patched:
        patched.setattr(StoredMatrix, "__array__", only_on_workers(StoredMatrix.__array__))
        found = mgraph.apsp(given, client=client, device="cpu").distances
        closure = mgraph.transitive_closure(given, client=client, device="cpu")
    np.testing.assert_array_equal(found.to_numpy(), mgraph.apsp(expected, device="cpu").distances)
    assert closure.count == mgraph.transitive_closure(expected, device="cpu").count


def only_on_workers(read):
    def here(matrix, *given, **named):
        if not threading.current_thread().name.startswith("mgraph-call"):  # a worker's thread of calls
            get_worker()  # raises ValueError in the client
        return read(matrix, *given, **named)

    return here


def test_a_product_is_the_input_of_the_next_call(client, monkeypatch):
    matrix = distances()
    product = mgraph.apsp(matrix, client=client, device="cpu").distances
    monkeypatch.setattr(mgraph.runtime.dask.blocks, "part_of", None)  # no worker sends a part to another
    for again in (mgraph.apsp(product), mgraph.apsp(product, client=client, device="cpu")):
        assert isinstance(again.distances, mgraph.cluster.DistributedMatrix)
        assert again.distances.ranges == product.ranges
        np.testing.assert_array_equal(again.distances.to_numpy(), product.to_numpy())
    np.testing.assert_array_equal(mgraph.apsp(product, device="cpu").distances, product.to_numpy())
    monkeypatch.undo()
    closure = mgraph.transitive_closure(product)  # cut in larger blocks
    assert closure.count == mgraph.transitive_closure(matrix, device="cpu").count
    shifted = distances(seed=1)
    mixed = da.minimum(product.to_dask_array(), shifted)
    expected = mgraph.apsp(np.minimum(product.to_numpy(), shifted), device="cpu").distances
    np.testing.assert_array_equal(mgraph.apsp(mixed, client=client, device="cpu").distances.to_numpy(), expected)


def test_what_is_wrong_with_a_matrix_is_found_on_workers(client, tmp_path):
    matrix = distances()
    matrix[40, 33] = np.nan
    for form in (npy, dask_array):
        with pytest.raises(InputError, match=r"entry \(40, 33\) of the matrix is NaN"):
            mgraph.apsp(form(matrix, tmp_path), client=client, device="cpu")
    matrix = np.ones((70, 70), np.float32)
    matrix[60, 3] = 0
    for form in (npy, dask_array):
        with pytest.raises(AmbiguousZerosError):
            mgraph.apsp(form(matrix, tmp_path), client=client, device="cpu")
    negative = distances(seed=5)
    negative[50, 61], negative[61, 50] = -90, 3
    for form in (npy, dask_array):
        with pytest.raises(NegativeCycleError):
            mgraph.apsp(form(negative, tmp_path), client=client, device="cpu")
    liar = da.from_array(distances(), chunks=35).map_blocks(lambda block: block[:-1], dtype=np.float32)
    liar = da.Array(liar.dask, liar.name, ((35, 35), (35, 35)), np.float32)
    with pytest.raises(InputError, match="as its Dask array says"):
        mgraph.apsp(liar, client=client, device="cpu")


def only_readable(monkeypatch, workers):
    """Let a file be there for the client and some workers alone."""
    real = np.memmap

    class Elsewhere(np.memmap):
        def __new__(cls, path, *others):
            if get_worker().address not in workers:
                raise FileNotFoundError(2, "No such file or directory", path)
            return real(path, *others)

    monkeypatch.setattr(np, "memmap", Elsewhere)
    return Elsewhere


def test_a_worker_that_cannot_read_a_file_is_named(client, tmp_path, monkeypatch):
    given, (first, *others) = npy(distances(), tmp_path), client.scheduler_info()["workers"]
    given = given.view(only_readable(monkeypatch, others))
    with pytest.raises(InputError, match=r"matrix\.npy") as caught:
        mgraph.apsp(given, client=client, device="cpu")
    assert first in str(caught.value) and "all workers share" in str(caught.value)


def test_a_file_that_only_the_client_can_read_is_sent(client, tmp_path, monkeypatch, caplog):
    matrix = distances()
    given = npy(matrix, tmp_path)
    given = given.view(only_readable(monkeypatch, ()))
    with caplog.at_level("INFO", "mgraph"):
        found = mgraph.apsp(given, client=client, device="cpu").distances
    np.testing.assert_array_equal(found.to_numpy(), mgraph.apsp(matrix, device="cpu").distances)
    assert "matrix.npy" in caplog.text and "is sent from here" in caplog.text


def test_a_file_that_is_gone_is_sent_from_here(client, tmp_path):
    matrix = distances()
    given = npy(matrix, tmp_path)
    os.unlink(tmp_path / "matrix.npy")
    expected = mgraph.apsp(matrix, device="cpu").distances
    np.testing.assert_array_equal(mgraph.apsp(given, client=client, device="cpu").distances.to_numpy(), expected)


def test_nothing_of_the_input_stays(client, tmp_path):
    def held():
        return [key for keys in client.run(lambda dask_worker: list(dask_worker.data)).values() for key in keys]

    before = set(held())
    mgraph.apsp(dask_array(distances(), tmp_path), client=client, device="cpu")
    gc.collect()
    wait_until(lambda: before.issuperset(held()))


def test_nothing_passes_through_the_client(tmp_path, carried):
    matrix = mgraph.generate.random_matrix(600, seed=1)
    given = npy(matrix, tmp_path)
    with cluster(2, processes=True) as client:
        mgraph.apsp(distances(), client=client, device="cpu")
        carried.clear()
        product = mgraph.apsp(given, client=client, device="cpu").distances
        mgraph.apsp(product)
        product.save(tmp_path / "product.zarr") if importlib.util.find_spec("zarr") else None
        # Not the sum: the longer a call takes, the more often it looks at its workers.
        assert 0 < max(carried) < 20_000 < matrix.nbytes
        np.testing.assert_array_equal(product.to_numpy(), mgraph.apsp(matrix, device="cpu").distances)
