"""Arrays are copied unchanged from a device, on every path; and limits on the number of blocks."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import mgraph
from mgraph import device as devices
from mgraph.device import CudaDevice, HostDevice, compile, copying, cuda, launched_blocks, lookup, rows
from mgraph.errors import DeviceError, InputError
from mgraph.generate import linked_list, list_graph, rmat
from mgraph.graph import Compressed
from mgraph.kernels import components as components_kernels
from mgraph.kernels.components import cuda as components_cuda
from mgraph.kernels.list_rank import cuda as ranking_cuda
from tests.support.parameters import DEVICES

ALL = 1 << 30  # more blocks than any of these launches has


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch):
    """Copy a matrix of some kilobytes as large ones are copied, with rows that do not fit a buffer."""
    for name, size in (("_STAGED", 1024), ("_LEAST", 512), ("_LARGE", 4096)):
        monkeypatch.setattr(copying, name, size)
    copying.staging.cache_clear()
    yield
    copying.staging.cache_clear()


SHAPES = (1, 3), (0, 5), (5, 0), (7, 100), (333, 17), (100, 256), (5, 513), (0,), (1,), (9999,), (7, 30, 5), (2, 0, 3)


@pytest.mark.parametrize("copies", [devices.copies_to_host, devices.copies_to_device])
@pytest.mark.parametrize("padded", ["neither", "source", "target", "both"])
@pytest.mark.parametrize("dtype", [np.float64, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_piece_of_an_array_is_copied(shape, dtype, padded, copies):
    source, target = (_room_for(shape, dtype, padded in (side, "both")) for side in ("source", "target"))
    source[...] = np.random.default_rng(1).integers(1, 100, shape)
    for copy in copies(devices.find("cpu"), target, source):
        copy.result()
    assert np.array_equal(target, source)
    assert not any(array.base.ravel()[-3:].any() for array in (source, target) if array.base is not None)


def _room_for(shape, dtype, padded):
    """Return an array, or if `padded` a matrix whose rows end in three more elements, of zeros."""
    return np.zeros((shape[0], shape[1] + 3), dtype)[:, :-3] if padded and len(shape) == 2 else np.zeros(shape, dtype)


def test_arrays_are_copied_at_the_same_time():
    random, cpu = np.random.default_rng(4), devices.find("cpu")
    sources = [random.integers(0, 100, (50 + number, 60)) for number in range(8)]
    targets = [np.empty_like(source) for source in sources]
    waiting = [devices.copies_to_host(cpu, target, source) for source, target in zip(sources, targets, strict=True)]
    assert len(waiting[0]) == min(devices.COPIERS, -(-50 * 60 * 8 // 512))
    for copies in waiting:
        for copy in copies:
            copy.result()
    assert all(np.array_equal(target, source) for source, target in zip(sources, targets, strict=True))


class LateStream:
    """A stream that does its work when it is waited for, as a GPU may; work must follow the event of the caller."""

    def __init__(self, streams):
        self.streams, self.work, self.ordered = streams, [], False

    def __enter__(self):
        self.streams.current = self

    def __exit__(self, *_):
        self.streams.current = None

    def wait_event(self, event):
        self.ordered = event is EVENT

    def record(self):
        return EVENT

    def synchronize(self):
        for target, source in self.work:
            np.copyto(target, source)
        self.work = []


EVENT = object()


class LateDevice(HostDevice):
    """The host, with copies that are late."""

    def __init__(self):
        self.streams = threading.local()

    def stream(self):
        return LateStream(self.streams)

    current_stream = stream

    def copy(self, target, source):
        stream = self.streams.current
        assert stream.ordered and target.shape == source.shape and target.nbytes <= 1024
        stream.work.append((target, source))


@pytest.mark.parametrize("copies", [devices.copies_to_host, devices.copies_to_device])
@pytest.mark.parametrize("shape", [(20_000,), (77, 300), (3, 5000)])
def test_a_buffer_is_used_again_only_after_its_copy(shape, copies):
    device, source = LateDevice(), np.random.default_rng(7).integers(0, 99, shape)
    for _ in range(3):
        target = np.full(shape, -7)
        for copy in copies(device, target, source):
            copy.result()
        assert np.array_equal(target, source)


def test_arrays_of_the_host_stay_as_they_are():
    arrays = {"a": np.zeros(9000), "b": np.zeros((2, 3), bool)}
    found = devices.all_on(devices.find("cpu"), arrays)
    assert list(found) == ["a", "b"] and all(found[name] is array for name, array in arrays.items())


def test_a_thread_keeps_its_buffer():
    cpu = devices.find("cpu")
    source = np.arange(4000).reshape(40, 100)
    for _ in range(3):
        for copy in devices.copies_to_host(cpu, np.empty_like(source), source):
            copy.result()
    assert 1 <= copying.staging.cache_info().currsize <= devices.COPIERS


def test_an_array_is_read_part_by_part():
    cpu, source = devices.find("cpu"), np.arange(7 * 513).reshape(7, 513)
    parts = [part.copy() for part in devices.staged_parts(cpu, cpu.stream(), source[:, :500])]
    assert all(part.nbytes <= 1024 for part in parts)
    assert np.array_equal(np.concatenate([part.ravel() for part in parts]), source[:, :500].ravel())


def test_what_is_copied_by_pieces():
    large = np.zeros((64, 64), np.int32)
    there = large, large.ravel(), large.reshape(4, 16, 64), np.zeros((64, 70))[:, :64]
    assert all(map(copying.copied_by_pieces, there))
    not_there = large[:10], large.T[:, ::-1], np.zeros(9000)[::2], np.zeros((64, 64, 2))[..., 0], np.zeros((0, 5))
    assert not any(map(copying.copied_by_pieces, not_there))
    assert not copying.copied_by_pieces(np.broadcast_to(np.zeros(5000), (3, 5000)))


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
        for copy in devices.copies_to_host(devices.find("cpu"), np.empty((4, 5), np.int32), source):
            copy.result()


def test_after_an_error_nothing_is_written_to_an_array_any_more(monkeypatch):
    out, goes_on = np.zeros((4, 3)), threading.Event()

    def copies(device, target, source):
        def late():
            goes_on.wait()
            target[...] = 7

        return [pool.submit(late)]

    computes = SimpleNamespace(name="computes", kind="cuda", xp=np)
    monkeypatch.setattr(rows, "copies_to_host", copies)
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
    [copy] = devices.copies_to_host(gpu, target, source)
    copy.result()
    assert np.array_equal(target, source.get())
    assert (whole[:, columns:] == -7).all() and (whole[[0, -1]] == -7).all()
    back = gpu.xp.zeros((300, columns + 8), np.int32)[:, :columns]
    [copy] = devices.copies_to_device(gpu, back, target)
    copy.result()
    assert np.array_equal(back.get(), target)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16, np.uint8, bool])
def test_every_form_of_an_array_comes_to_a_gpu_and_back(dtype):
    gpu = devices.find("cuda")
    whole = np.random.default_rng(3).integers(0, 100, (300, 400)).astype(dtype)
    read_only = whole.copy()
    read_only.flags.writeable = False
    forms = [whole, whole[:, :399], whole[7:250, 8:100], whole.T, whole[::-1], whole[:, ::2], whole[:0], whole.ravel()]
    forms += [whole.ravel()[3:], whole.ravel()[::-1], whole.reshape(3, 100, 400), read_only]
    forms += [whole.astype(whole.dtype.newbyteorder())] if whole.dtype.itemsize > 1 else []
    for array in forms:
        there = gpu.asarray(array)
        assert there.dtype == array.dtype.newbyteorder("=") and np.array_equal(there.get(), array)
        assert np.array_equal(devices.to_host(there), array)
    together = {str(number): gpu.xp.asarray(array) for number, array in enumerate(forms[:-1])}
    for name, array in devices.all_on(devices.find("cpu"), together).items():
        assert type(array) is np.ndarray and np.array_equal(array, forms[int(name)])


@pytest.mark.gpu
def test_a_copy_follows_the_work_of_the_current_stream():
    gpu = devices.find("cuda")
    xp, waits = (
        gpu.xp,
        gpu.xp.RawKernel('extern "C" __global__ void f() { for (int i = 0; i < 50; ++i) __nanosleep(1000000); }', "f"),
    )
    with gpu.stream():
        source = xp.zeros(1 << 20, np.int32)
        waits((1,), (1,), ())
        source += 7
        assert (devices.to_host(source) == 7).all()
        target = xp.zeros(1 << 20, np.int32)
        waits((1,), (1,), ())
        target += 7
        devices.fill(gpu, target[None], np.arange(1 << 20, dtype=np.int32)[None])
        assert np.array_equal(target.get(), np.arange(1 << 20))


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
        map(copying.rows_can_be_copied, (whole, whole[:, :39], whole[3:9, 8:10], whole[::2], np.zeros((2, 2000))))
    )
    assert not any(map(copying.rows_can_be_copied, (whole.T, whole[::-1], whole[:, ::2])))


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
        components.compress(0, 2561, parent)
        components.roots(parent, parent)
        components.largest(0, 2561, parent, one)
        components.link(*edges, one, parent)
        components.members(0, 2561, parent, one, one)
        components.absorb(0, 1280, 1280, 2561, one, one, 0, parent)
        components.list_parents(one, parent, one, one)
        components.unite_pairs(parent, parent)
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
    several = {"compress": 3, "members": 1, "absorb": 1, "list_parents": 1, "count_roots": 1}  # a thread has 4 or 16
    for kernel, most in several.items():
        assert by_components.pop(kernel) == min(limit, most)
    others = {name.partition("<")[0] for name in components.INSTANCES} - {"largest", *several}
    assert by_components == dict.fromkeys(others, blocks)
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
@pytest.mark.parametrize("name", DEVICES)
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


def test_launches_with_less_shared_memory_leave_a_kernel_what_others_need(monkeypatch):
    """The driver keeps one limit for a kernel, however many functions CuPy makes of it."""
    limits = []

    class Function:
        max_dynamic_shared_size_bytes = property(fset=lambda self, size: limits.append(size))

    class Gpu:
        id, attributes = 3, {"MaxSharedMemoryPerBlockOptin": 227 * 1024}

        def __init__(self, index=id):
            pass

        def synchronize(self):
            pass

    module = SimpleNamespace(get_function=lambda name: Function())
    fake = SimpleNamespace(RawModule=lambda **_: module, cuda=SimpleNamespace(Device=Gpu))
    monkeypatch.setattr(compile, "cupy", lambda: fake)
    for kib in (100, 60, 8, 200, 100):
        compile.cuda_function("minplus.cu", "kernel of various sizes", shared=kib * 1024)
    assert limits == [100 * 1024, 200 * 1024]
    with pytest.raises(DeviceError, match="232448"):
        compile.cuda_function("minplus.cu", "kernel of various sizes", shared=228 * 1024)


def test_kernels_that_are_being_compiled_are_waited_for(monkeypatch):
    goes_on, compiled = threading.Event(), []

    def function(name):
        assert goes_on.wait(60)
        compiled.append(name)

    class Device(contextlib.nullcontext):
        id = 0
        synchronize = staticmethod(lambda: None)

    module = SimpleNamespace(get_function=function)
    library = SimpleNamespace(cuda=SimpleNamespace(Device=Device), RawModule=lambda **_: module)
    monkeypatch.setattr(compile, "cupy", lambda: library)
    compile.compile_ahead("bfs.cu", "no kernel of this name")
    threading.Timer(0.2, goes_on.set).start()
    devices.wait_for_compilers()
    assert compiled[:1] == ["no kernel of this name"]
