"""Results that workers write: vectors as parts, matrices as Zarr, either at a URL; and what is left after an error."""

import os
import signal
from pathlib import PurePosixPath

import dask.array as da
import numpy as np
import pytest
from distributed import get_worker

import mgraph
from mgraph import DistributedGraph
from mgraph.errors import InputError, OutputExistsError, WorkerLostError
from mgraph.generate import grid
from mgraph.io import parts
from tests.support.clusters import CLUSTER_WARNINGS, clients, cluster

pytestmark = CLUSTER_WARNINGS

fsspec = pytest.importorskip("fsspec")
LocalFileSystem = fsspec.get_filesystem_class("file")


#: Workers in this process: with four, a matrix is cut in both directions, and a small vector has empty parts.
client = clients(4)


@pytest.fixture(scope="module")
def vector(client):
    with DistributedGraph.from_graph(grid(20, 30), client, device="cpu") as placed:
        yield mgraph.bfs(placed, 3).distances


@pytest.fixture
def memory():
    """A file system in memory, in place of a store of objects."""
    system = fsspec.filesystem("memory")
    yield system
    if system.exists("/results"):
        system.rm("/results", recursive=True)


def test_one_file(vector, memory, tmp_path):
    vector.save(tmp_path / "distances.npy")
    vector.save("memory://results/distances.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "distances.npy"), vector.to_numpy())
    with memory.open("/results/distances.npy") as file:
        np.testing.assert_array_equal(np.load(file), vector.to_numpy())
    with pytest.raises(OutputExistsError):
        vector.save("memory://results/distances.npy")
    vector.save("memory://results/distances.npy", overwrite=True)
    with pytest.raises(InputError, match=r"suffix '\.txt'"):
        vector.save(tmp_path / "distances.txt")


def test_parts_in_npy(vector, client, memory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vector.save("parts")
    found = da.from_npy_stack("parts", mmap_mode=None)
    assert len(found.chunks[0]) == sum(last > first for first, last in vector.ranges)
    np.testing.assert_array_equal(found.compute(scheduler="sync"), vector.to_numpy())
    with pytest.raises(OutputExistsError):
        vector.save("parts")
    (vector > 7).save("parts", overwrite=True)
    assert da.from_npy_stack("parts", mmap_mode=None).compute(scheduler="sync").sum() == (vector > 7).sum()
    vector.save("memory://results/parts")
    assert memory.exists("/results/parts/0.npy") and memory.exists("/results/parts/info")
    (vector > 7).save("memory://results/parts", overwrite=True)
    with memory.open("/results/parts/0.npy") as file:
        assert np.load(file).dtype == bool
    assert [PurePosixPath(name).name for name in memory.ls("/results", detail=False)] == ["parts"]
    (tmp_path / "parts" / "mine.txt").write_text("")
    with pytest.raises(InputError, match=r"not a folder of parts: it has mine\.txt"):
        vector.save("parts", overwrite=True)
    assert (tmp_path / "parts" / "0.npy").exists()


def test_parts_in_parquet(vector, memory, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    vector.save(tmp_path / "distances.parquet")
    vector.save("memory://results/distances.parquet")
    for found in (
        parquet.read_table(tmp_path / "distances.parquet"),
        parquet.read_table("/results/distances.parquet", filesystem=memory),
    ):
        assert found.column_names == ["vertex", "distances"]
        np.testing.assert_array_equal(found["vertex"], np.arange(len(vector)))
        np.testing.assert_array_equal(found["distances"], vector.to_numpy())


@pytest.mark.parametrize("search", [mgraph.bfs, mgraph.sssp])
def test_a_table_lacks_what_was_not_reached(search, client, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    graph = mgraph.Graph.from_edges([0, 1, 5], [1, 2, 6], [2, -3, 4] if search is mgraph.sssp else None, n=9)
    with DistributedGraph.from_graph(graph, client, device="cpu") as placed:
        found = search(placed, 0, predecessors=True)
        reached, before = np.arange(9) < 3, (np.arange(9) > 0) & (np.arange(9) < 3)
        assert np.array_equal(found.is_reached, reached) and found.is_reached.sum() == 3
        for name, there in (("distances", reached), ("predecessors", before)):
            found.arrays[name].save(tmp_path / f"{name}.parquet")
            column = parquet.read_table(tmp_path / f"{name}.parquet")[name]
            assert column.type == "int32" and column.is_valid().to_pylist() == there.tolist()
            assert column.drop_null().to_pylist() == found.arrays[name].to_numpy()[there].tolist()
        assert found.to_pandas()["distances"].isna().tolist() == (~reached).tolist()


def test_an_empty_vector(client, tmp_path):
    with DistributedGraph.from_graph(mgraph.Graph.from_edges([], [], n=1), client, device="cpu") as placed:
        found = mgraph.bfs(placed, 0).distances
        found.save(tmp_path / "one")
        assert da.from_npy_stack(tmp_path / "one").compute(scheduler="sync").tolist() == [0]


def fail_on(monkeypatch, worker, function, error):
    """Let a function of `mgraph.io.parts` fail on one worker, as on a host that does not share the storage."""
    real = getattr(parts, function)

    def failing(*arguments):
        if get_worker().address == worker:
            raise error
        return real(*arguments)

    monkeypatch.setattr(parts, function, failing)


def test_a_worker_that_cannot_write(vector, client, tmp_path, monkeypatch):
    worker = max(client.scheduler_info()["workers"])
    for error in (FileNotFoundError(2, "No such file or directory"), OSError(28, "No space left on device")):
        with monkeypatch.context() as patched:
            fail_on(patched, worker, "write", error)
            with pytest.raises(OSError, match="nothing was written") as caught:
                vector.save(tmp_path / "parts")
        assert caught.value.errno == error.errno and worker in str(caught.value) and "parts" in str(caught.value)
        assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as patched:
        patched.setattr(parts, "write", lambda *arguments: None)  # each into a folder of its own host
        with pytest.raises(FileNotFoundError, match="all workers share"):
            vector.save(tmp_path / "parts")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match=r"the worker .* cannot write"):
        vector.save("/dev/null/parts")


@pytest.mark.parametrize("function", ["write", "end", "replace"])
def test_what_could_not_be_replaced_is_there_still(vector, tmp_path, monkeypatch, function):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    vector.save(tmp_path / "parts")
    monkeypatch.setattr(parts, function, fail)
    with pytest.raises(OSError, match="nothing was written"):
        (vector > 7).save(tmp_path / "parts", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
    found = da.from_npy_stack(tmp_path / "parts").compute(scheduler="sync")
    np.testing.assert_array_equal(found, vector.to_numpy())


def test_a_folder_that_cannot_take_the_place_of_another(vector, tmp_path, monkeypatch):
    vector.save(tmp_path / "parts")
    real = LocalFileSystem.mv

    def mv(system, source, target, **options):
        if target.endswith("/parts") and not source.endswith(".old"):
            raise OSError(28, "No space left on device")
        real(system, source, target, **options)

    monkeypatch.setattr(LocalFileSystem, "mv", mv)
    with pytest.raises(OSError, match="nothing was written"):
        (vector > 7).save(tmp_path / "parts", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]
    found = da.from_npy_stack(tmp_path / "parts").compute(scheduler="sync")
    np.testing.assert_array_equal(found, vector.to_numpy())


@pytest.mark.parametrize("n", [600, 7])
def test_zarr(client, tmp_path, monkeypatch, n):
    zarr = pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    matrix = mgraph.generate.random_matrix(n, seed=3)
    found = mgraph.apsp(matrix, client=client, device="cpu").distances
    found.save("distances.zarr")
    stored = zarr.open_array(tmp_path / "distances.zarr", mode="r")
    assert stored.dtype == found.dtype
    np.testing.assert_array_equal(stored[:], found.to_numpy())
    again = mgraph.apsp(stored, client=client, device="cpu").distances
    np.testing.assert_array_equal(again.to_numpy(), mgraph.apsp(found.to_numpy(), device="cpu").distances)
    with pytest.raises(OutputExistsError):
        found.save("distances.zarr")
    many = mgraph.bfs_many(grid(9, 5), range(9), client=client, device="cpu").distances
    many.save(tmp_path / "distances.zarr", overwrite=True)  # of another shape, and not square
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "distances.zarr", mode="r")[:], many.to_numpy())
    words = mgraph.transitive_closure(grid(9, 50), client=client, device="cpu").words
    words.save("words.zarr")
    np.testing.assert_array_equal(zarr.open_array("words.zarr", mode="r")[:], words.to_numpy())


@pytest.mark.parametrize("chunk", [64, 100, 1 << 12])
def test_chunks_of_zarr_that_several_workers_have(client, tmp_path, monkeypatch, chunk):
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr(mgraph.runtime.dask.zarr, "CHUNK", chunk)
    found = mgraph.bfs_many(grid(9, 5), range(11), client=client, device="cpu").distances
    found.save(tmp_path / "rows.zarr")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "rows.zarr", mode="r")[:], found.to_numpy())


def test_a_worker_that_cannot_write_zarr(client, tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    found = mgraph.apsp(mgraph.generate.random_matrix(600), client=client, device="cpu").distances
    worker = max(client.scheduler_info()["workers"])
    fail_on(monkeypatch, worker, "write_zarr", FileNotFoundError(2, "No such file or directory"))
    with pytest.raises(FileNotFoundError, match="all workers share") as caught:
        found.save(tmp_path / "distances.zarr")
    assert worker in str(caught.value) and list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    found.save(tmp_path / "distances.zarr")
    fail_on(monkeypatch, worker, "write_zarr", OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="nothing was written"):
        (mgraph.apsp(found).distances).save(tmp_path / "distances.zarr", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["distances.zarr"]
    there = pytest.importorskip("zarr").open_array(tmp_path / "distances.zarr", mode="r")[:]
    np.testing.assert_array_equal(there, found.to_numpy())
    os.mkdir(tmp_path / "other.zarr")
    with pytest.raises(InputError, match="is not a Zarr array"):
        found.save(tmp_path / "other.zarr", overwrite=True)


def test_a_lost_worker_takes_vectors_and_matrices_with_it(tmp_path):
    with cluster(2, processes=True) as client:
        with DistributedGraph.from_graph(grid(20, 30), client, device="cpu") as placed:
            vector = mgraph.bfs(placed, 3).distances
            matrix = mgraph.apsp(mgraph.generate.random_matrix(70), client=client, device="cpu").distances
            near = vector < 9
            address, pid = max(client.run(os.getpid).items())
            os.kill(pid, signal.SIGKILL)
            for use in (
                lambda: vector == 3,
                lambda: near.sum(),
                lambda: vector.save(tmp_path / "parts"),
                lambda: mgraph.apsp(matrix),
                lambda: matrix.save(tmp_path / "matrix.zarr"),
            ):
                with pytest.raises(WorkerLostError, match=address):
                    use()
    assert list(tmp_path.iterdir()) == []
