"""Arrays are copied unchanged from a device, on every path; and limits on the number of blocks."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import mgraph
from mgraph import device as devices
from mgraph.device import CudaDevice, compile, cuda, launched_blocks, lookup, rows, transfer
from mgraph.errors import DeviceError, InputError
from mgraph.generate import linked_list, list_graph, rmat
from mgraph.graph import Compressed
from mgraph.kernels import components as components_kernels
from mgraph.kernels.components import cuda as components_cuda
from mgraph.kernels.list_rank import cuda as ranking_cuda

ALL = 1 << 30  # more blocks than any of these launches has


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch):
    """Copy a matrix of some kilobytes as large ones are copied, with rows that do not fit a buffer."""
    for name, size in (("_STAGED", 1024), ("_LEAST", 512), ("_LARGE", 4096)):
        monkeypatch.setattr(transfer, name, size)
    transfer.staging.cache_clear()
    yield
    transfer.staging.cache_clear()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16, np.uint32])
@pytest.mark.parametrize("shape", [(1, 3), (0, 5), (5, 0), (7, 100), (333, 17), (100, 256), (5, 513)])
def test_rows_are_carried_home(shape, dtype):
    source = np.random.default_rng(1).integers(0, 100, (shape[0], shape[1] + 3)).astype(dtype)[:, : shape[1]]
    target = np.full(shape, 77, dtype)
    for carried in devices.carry_home(devices.find("cpu"), source, target):
        carried.result()
    assert np.array_equal(target, source)


def test_matrices_are_carried_home_side_by_side():
    random, cpu = np.random.default_rng(4), devices.find("cpu")
    sources = [random.integers(0, 100, (50 + number, 60)) for number in range(8)]
    targets = [np.empty_like(source) for source in sources]
    waiting = [devices.carry_home(cpu, source, target) for source, target in zip(sources, targets, strict=True)]
    assert len(waiting[0]) == min(devices.CARRIERS, 50)
    for carried in waiting:
        for part in carried:
            part.result()
    assert all(np.array_equal(target, source) for source, target in zip(sources, targets, strict=True))


def test_who_carries_keeps_its_buffer():
    cpu = devices.find("cpu")
    source = np.arange(4000).reshape(40, 100)
    for _ in range(3):
        for carried in devices.carry_home(cpu, source, np.empty_like(source)):
            carried.result()
    assert 1 <= transfer.staging.cache_info().currsize <= devices.CARRIERS


@pytest.mark.parametrize(("majors", "count"), [([9, 9], 2), ([9, 8, 7], 2), ([7, 9], 0), ([], 0)])
def test_gpus_that_are_too_old_are_left_alone(majors, count, monkeypatch):
    class Runtime:
        def getDeviceCount(self):
            return len(majors)

        def getDeviceProperties(self, index):
            return {"major": majors[index], "minor": 0, "name": b"a GPU"}

    api = SimpleNamespace(cuda=SimpleNamespace(runtime=Runtime()))
    monkeypatch.setattr(cuda, "cupy", lambda: api)
    monkeypatch.setattr(lookup, "cupy", lambda: api)
    monkeypatch.setattr(lookup, "gpu_count", devices.gpu_count.__wrapped__)
    assert lookup.gpu_count() == count
    if not count:
        assert devices.find(None) is devices.find("cpu")
    with pytest.raises(DeviceError, match=r"compute capability 8\.0"):
        devices.find(f"cuda:{count}")


def test_a_failed_transfer_is_reported():
    source = np.ones((4, 5))
    with pytest.raises(TypeError, match="cast"):
        for carried in devices.carry_home(devices.find("cpu"), source, np.empty((4, 5), np.int32)):
            carried.result()


def test_after_an_error_nothing_is_written_to_an_array_any_more(monkeypatch):
    out, goes_on = np.zeros((4, 3)), threading.Event()

    def carried(device, source, target):
        def late():
            goes_on.wait()
            target[...] = 7

        return [pool.submit(late)]

    computes = SimpleNamespace(name="computes", kind="cuda", xp=np)
    monkeypatch.setattr(rows, "carry_home", carried)
    with ThreadPoolExecutor(1) as pool:
        stream = devices.RowStream(computes, out, 2)
        stream.batch(0, 2)
        stream.send(0, 2)
        threading.Timer(0.2, goes_on.set).start()
        stream.abandon()
        assert (out[:2] == 7).all()


@pytest.mark.gpu
@pytest.mark.parametrize("columns", [1, 77, 400])
def test_page_locked_memory_is_written_to_by_the_device(columns):
    gpu = devices.find("cuda")
    source = gpu.xp.arange(300 * 400, dtype=np.int32).reshape(300, 400)[:, :columns]
    whole = gpu.pinned((302, columns + 5), np.int32)
    whole.fill(-7)
    target = whole[1:-1, :columns]
    assert gpu.page_locked(target) and not gpu.page_locked(np.empty((3, 4)))
    [carried] = devices.carry_home(gpu, source, target)
    carried.result()
    assert np.array_equal(target, source.get())
    assert (whole[:, columns:] == -7).all() and (whole[[0, -1]] == -7).all()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16, np.uint32])
def test_every_part_of_a_matrix_comes_home(dtype):
    xp = devices.find("cuda").xp
    whole = np.random.default_rng(2).integers(0, 100, (300, 400)).astype(dtype)
    there = xp.asarray(whole)
    for part in (
        np.s_[:],
        np.s_[:, :399],
        np.s_[7:250, 8:100],
        np.s_[::-1],
        np.s_[::3, ::2],
        np.s_[:, ::-1],
        np.s_[:0],
        np.s_[:, :0],
        np.s_[5],
        np.s_[:, 5],
        np.s_[5:6],
    ):
        assert np.array_equal(devices.to_host(there[part]), whole[part])
    assert np.array_equal(devices.to_host(there.T), whole.T)


def test_arrays_that_are_copied_row_by_row():
    whole = np.zeros((30, 40), np.int32)
    assert all(
        map(transfer.rows_can_be_copied, (whole, whole[:, :39], whole[3:9, 8:10], whole[::2], np.zeros((2, 2000))))
    )
    assert not any(map(transfer.rows_can_be_copied, (whole.T, whole[::-1], whole[:, ::2])))


# Limited blocks


def a_gpu():
    """Return a device that can do nothing but be limited, which needs no GPU."""
    return object.__new__(CudaDevice)


def test_fewer_threads_on_a_cpu():
    cpu, before = devices.find("cpu"), numba.get_num_threads()
    with cpu.limited(1):
        assert numba.get_num_threads() == 1
        with cpu.limited(ALL):
            assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
    with cpu.limited(ALL):
        assert numba.get_num_threads() == before
    with pytest.raises(KeyError), cpu.limited(1):
        raise KeyError
    assert numba.get_num_threads() == before


def test_fewer_blocks_on_a_gpu():
    gpu, most = a_gpu(), 2**31 - 1
    assert launched_blocks(most) == most
    with gpu.limited(7):
        assert (launched_blocks(most), launched_blocks(7), launched_blocks(6)) == (7, 7, 6)
        with gpu.limited(9):
            assert launched_blocks(most) == 7
        with gpu.limited(np.int64(2)):
            assert launched_blocks(most) == 2
        elsewhere = []
        other = threading.Thread(target=lambda: elsewhere.append(launched_blocks(most)))
        other.start()
        other.join()
        assert elsewhere == [most] and launched_blocks(most) == 7
    with pytest.raises(KeyError), gpu.limited(1):
        raise KeyError
    assert launched_blocks(most) == most


@pytest.mark.parametrize("blocks", [0, -3, 1.0, True, None])
@pytest.mark.parametrize("place", [devices.find("cpu"), a_gpu()])
def test_invalid_numbers_of_blocks(place, blocks):
    with pytest.raises(InputError, match=f"blocks must be .* 1 or more, got {blocks!r}"), place.limited(blocks):
        pass


def launches(monkeypatch, module):
    """Note the blocks of each kernel that a module launches; return them by the kernel's name."""
    found = {}

    def function(source, name):
        return lambda blocks, threads, arguments: found.update({name.partition("<")[0]: blocks[0]})

    monkeypatch.setattr(module, "cuda_function", function)
    monkeypatch.setattr(module, "cuda_attribute", lambda name: 4, raising=False)
    return found


@pytest.mark.parametrize(("limit", "blocks", "of_walks"), [(1, 1, 1), (7, 7, 7), (ALL, 11, 32)])
def test_which_launches_are_limited(limit, blocks, of_walks, monkeypatch):
    indptr, parent, one = np.zeros(2562, np.int32), np.zeros(2561, np.int32), np.zeros(1, np.int32)
    components, ranking = components_cuda, ranking_cuda
    by_components, by_ranking = launches(monkeypatch, components), launches(monkeypatch, ranking)
    edges, forest = (indptr, one, 0, 2561), (parent, parent, parent, 1)
    with a_gpu().limited(limit):
        for kernel in (components.plant, components.sample):
            kernel(*edges, parent)
        components.compress(parent)
        components.largest(parent, one)
        components.link(*edges, one, parent)
        components.join(parent, parent)
        components.initialise(parent, parent)
        components.shortcut_and_mark(*forest)
        components.hook(*edges, *forest)
        components.hook_stagnant(*edges, parent, parent, 1)
        components.shortcut_and_check(*forest, one)
        components.count_roots(0, 2561, parent, one)
        components.least(parent, parent)
        components.rename(parent, parent)
        words = np.zeros(100_000, np.uint64)
        ranking.walk(np.zeros(100_000, np.int32), 0, 0, 100_000, words, words[:0], words, words)
    assert by_components.pop("largest") == 1
    assert by_components == {name.partition("<")[0]: blocks for name in components.INSTANCES if name != "largest"}
    assert by_ranking == {"walk": of_walks}


def graphs():
    yield rmat(13, 1)
    yield rmat(12, 16, directed=True)
    yield list_graph(20_000, 3)
    hub = np.arange(1, 30_000, 2)
    yield mgraph.Graph.from_edges(np.full(len(hub), 29_999), hub, n=30_000, directed=False)
    yield mgraph.Graph.from_edges([], [], n=3000)
    indptr, indices, _ = rmat(13, 2).compressed("csr")
    yield mgraph.Graph(2**13, csr=Compressed(indptr.astype(np.int64), indices, None), directed=False)


@pytest.mark.parametrize("limit", [1, 7])
@pytest.mark.parametrize("name", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_limit_changes_no_result(name, limit):
    place = devices.find(name)
    for graph in graphs():
        for method in components_kernels.on(place).METHODS:
            expected = mgraph.connected_components(graph, method=method, device=name)
            with place.limited(limit):
                found = mgraph.connected_components(graph, method=method, device=name)
            assert found.count == expected.count and np.array_equal(found.labels, expected.labels), (graph, method)
    succ = linked_list(300_000)
    for method in ("sequential", "wyllie", "splitter64", "splitter48")[name == "cuda" :]:
        expected = mgraph.list_rank(succ, method=method, device=name).ranks
        with place.limited(limit):
            found = mgraph.list_rank(succ, method=method, device=name).ranks
        assert np.array_equal(found, expected) and np.array_equal(np.sort(found), np.arange(len(succ)))


def test_a_gpu_is_idle_while_its_kernels_are_compiled(monkeypatch):
    """Otherwise the seconds of compiling would be subtracted from those of work done at the same time."""
    said = []

    class Gpu:
        id = 3

        def __init__(self, index=id):
            self.index = index

        def synchronize(self):
            said.append(f"waits for {self.index}")

    class Module:
        def __init__(self, **_):
            pass

        def get_function(self, name):
            said.append(f"compiles {name}")

    monkeypatch.setattr(compile, "cupy", lambda: SimpleNamespace(RawModule=Module, cuda=SimpleNamespace(Device=Gpu)))
    for _ in range(2):
        compile.cuda_function("minplus.cu", "kernel of this test")
    assert said == ["waits for 3", "compiles kernel of this test"]
