"""What a device is: where arrays live, how they get there, and how a kernel family is found.

There are two kinds, the host (NumPy and the Numba twins in `mgraph.host`) and a CUDA device (CuPy and
the kernels in ``kernels/*.cu``, launched by `mgraph.cuda`). An algorithm holds a `Device` and never asks
which kind it is. This is the only module that imports CuPy, and only once a GPU is asked for.
"""

import contextlib
import functools
import importlib
import itertools
import os
import platform
import re
import threading
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from . import limits
from .arguments import checked_integer
from .compiling import COMPILING, clock
from .errors import DeviceError, InputError

Array = Any

#: A moment in the order of a device's work: the host's clock, or a CUDA event.
Mark = Any

#: Where the CUDA sources are: beside the modules in a wheel, at the top of a checkout.
KERNELS = next(
    (
        folder
        for folder in (Path(__file__).parent / "kernels", Path(__file__).parents[1] / "kernels")
        if folder.is_dir()
    ),
    Path(__file__).parent / "kernels",
)

#: The least compute capability of a GPU that has what the kernels are written with: Ampere's.
OLDEST = 8

#: A header of ours in a CUDA source.
_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)

#: The most blocks of a launch: at first what a grid can have.
_MOST_BLOCKS = ContextVar("_MOST_BLOCKS", default=2**31 - 1)

#: Numba's portable threading layer aborts the process when two Python threads enter it at once.
_HOST_KERNELS = threading.RLock()


def _forget_lock() -> None:
    """In a forked child: nobody holds the lock, whichever thread of the parent did."""
    global _HOST_KERNELS
    _HOST_KERNELS = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class Device(Protocol):
    """Where arrays live and kernels run: what an algorithm may ask of a device, whichever it is.

    Attributes
    ----------
    kind : {"cpu", "cuda"}
        The kind of device.
    name : str
        What `find` returns it for, such as ``"cuda:1"``.
    xp : module
        NumPy, or CuPy.
    row_alignment : int
        Rows of a matrix start on multiples of so many elements.
    recorder : Recorder or None
        Profiler notified of each kernel call, or None.
    """

    kind: str
    name: str
    xp: Any
    row_alignment: int
    recorder: Any

    def __hash__(self) -> int: ...

    def model(self) -> str:
        """Return the name of the hardware."""
        ...

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now."""
        ...

    def kernels(self, family: str) -> Any:
        """Return the operations of a kernel family, e.g. ``"minplus"``."""
        ...

    def mark(self) -> Mark:
        """Return the moment at which the work so far is done."""
        ...

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Return the seconds between two marks of a stream; waits for the second."""
        ...

    def peak_memory(self) -> contextlib.AbstractContextManager["Peak"]:
        """Measure the most memory that the block takes."""
        ...

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        ...

    def synchronize(self) -> None:
        """Wait for everything launched on the current stream so far."""
        ...

    def settle(self) -> None:
        """Wait for the work of all streams."""
        ...

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array of the host that `copy` moves at full speed."""
        ...

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream."""
        ...

    def stream(self) -> Any:
        """Return a stream of work beside the current one; as a context, the current one."""
        ...

    def current_stream(self) -> Any:
        """Return the stream that work goes to unless another is chosen."""
        ...

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which this is the current device."""
        ...

    def limited(self, blocks: int) -> contextlib.AbstractContextManager[None]:
        """Run the block with at most so many thread blocks a launch, or threads of a CPU."""
        ...


class HostDevice:
    """The CPU: NumPy arrays, and the Numba kernels of `mgraph.host`."""

    kind = "cpu"
    name = "cpu"
    xp: Any = np
    #: Rows of a matrix start on multiples of this many elements.
    row_alignment = 1
    #: Profiler notified of each kernel call, or None.
    recorder: "Recorder | None" = None

    def model(self) -> str:
        """Return the name of the hardware."""
        return _host_model()

    def available_memory(self) -> int:
        """Return the bytes that this process can allocate now, within the limits of its containers and its own."""
        return limits.available_memory()

    def kernels(self, family: str) -> Any:
        """Return the operations of a kernel family, e.g. ``"minplus"``."""
        guarded = _Guarded(_host_module(f"mgraph.host.{family}"))
        return guarded if self.recorder is None else _Recorded(guarded, self, self.recorder)

    def mark(self) -> Mark:
        """Return the moment at which the work so far is done."""
        return time.perf_counter()

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Return the seconds between two marks; waits for the second."""
        return float(end - start)

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator["Peak"]:
        """Measure the most memory that the block takes: what NumPy and Python allocate, as tracemalloc counts it."""
        peak = Peak()
        tracemalloc.start()
        try:
            yield peak
            peak.bytes = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        return to_host(array)

    def synchronize(self) -> None:
        """Wait for everything launched so far; on the host, nothing is outstanding."""

    def settle(self) -> None:
        """Wait for the work of all streams; on the host, nothing is outstanding."""

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array of the host that `copy` moves at full speed."""
        return np.empty(shape, dtype)

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream."""
        np.copyto(target, source)

    def stream(self) -> "Immediate":
        """Return a stream of work beside the current one: on the host, work is done when it is asked for."""
        return Immediate()

    def current_stream(self) -> "Immediate":
        """Return the stream that work goes to unless another is chosen."""
        return Immediate()

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which this is the current device."""
        return contextlib.nullcontext()

    @contextlib.contextmanager
    def limited(self, blocks: int) -> Iterator[None]:
        """Run the block with at most so many threads: see `CudaDevice.limited`."""
        _host_module("mgraph.host")  # before Numba, to which it tells how many threads this process may have
        import numba

        before = numba.get_num_threads()
        numba.set_num_threads(min(checked_integer("blocks", blocks, 1), before))
        try:
            yield
        finally:
            numba.set_num_threads(before)


class Immediate:
    """The host's stream and event: nothing is ever outstanding."""

    def __enter__(self) -> "Immediate":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def record(self) -> "Immediate":
        """Return the event that the work so far is done."""
        return self

    def wait_event(self, event: "Immediate") -> None:
        """Let later work wait for `event`."""

    def synchronize(self) -> None:
        """Wait for the work so far."""


@dataclass
class Peak:
    """What a block has taken at its fullest moment, in bytes; complete when the block ends."""

    bytes: int = 0


class Recorder:
    """Hears of every operation of a device's kernel families; `seconds` is what each has taken in all.

    It is for measuring, by one thread: a mark before and after each operation costs a GPU some microseconds, and
    operations of several streams, which would overlap, wait for one another.
    """

    def __init__(self, device: "Device") -> None:
        self.device = device
        self.operations: list[tuple[str, Mark, Mark]] = []
        self._stream: Any = None

    def __enter__(self) -> "Recorder":
        self.device.recorder = self
        return self

    def __exit__(self, *_: Any) -> None:
        self.device.recorder = None

    def begin(self) -> Mark:
        """Return the mark at which an operation begins; those of other streams are done by then."""
        stream = self.device.current_stream()
        if self._stream is not None and stream != self._stream:
            self._stream.synchronize()
        self._stream = stream
        return self.device.mark()

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each operation, in the order of their first calls."""
        taken: dict[str, float] = {}
        for name, start, end in self.operations:
            taken[name] = taken.get(name, 0.0) + self.device.seconds_between(start, end)
        return taken


class _Recorded:
    """A kernel family whose operations are told to a recorder."""

    def __init__(self, family: Any, device: "Device", recorder: Recorder) -> None:
        self._family, self._device, self._recorder = family, device, recorder

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._family, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            start = self._recorder.begin()
            result = attribute(*arguments)
            self._recorder.operations.append((name, start, self._device.mark()))
            return result

        return call


@functools.cache
def _host_module(name: str) -> ModuleType:
    """Return `mgraph.host` or a module of it; the first one imports Numba, which is no part of what a call computes."""
    with clock():
        return importlib.import_module(name)


class _Guarded:
    """A module of Numba kernels whose calls exclude one another within the process."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            with _HOST_KERNELS:
                return attribute(*arguments)

        setattr(self, name, call)
        return call


class CudaDevice:
    """One CUDA GPU: CuPy arrays, and the kernels of ``kernels/*.cu``."""

    kind = "cuda"
    #: 16 bytes of the narrowest distance type, the width of one vector load.
    row_alignment = 8
    #: Profiler notified of each kernel call, or None.
    recorder: "Recorder | None" = None

    def __init__(self, index: int) -> None:
        self.index = index
        self.name: str = f"cuda:{index}"
        self.xp = _cupy()

    def model(self) -> str:
        """Return the name of the hardware."""
        return _cuda_model(self.index)

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now, CuPy's idle pool included."""
        with self.active():
            free, _ = self.xp.cuda.runtime.memGetInfo()
            return int(free) + int(self.xp.get_default_memory_pool().free_bytes())

    def kernels(self, family: str) -> Any:
        """Return the operations of a kernel family, e.g. ``"minplus"``."""
        module = importlib.import_module(f"mgraph.cuda.{family}")
        return module if self.recorder is None else _Recorded(module, self, self.recorder)

    def mark(self) -> Mark:
        """Return an event of the current stream: the moment at which the work so far is done."""
        event = self.xp.cuda.Event()
        event.record()
        return event

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Return the seconds between two marks of a stream; waits for the second."""
        end.synchronize()
        return float(self.xp.cuda.get_elapsed_time(start, end)) * 1e-3

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator["Peak"]:
        """Measure the most memory that the block takes of CuPy's pool, beside what is taken before."""
        pool = self.xp.get_default_memory_pool()
        peak, before = Peak(), pool.used_bytes()

        class Watch(self.xp.cuda.MemoryHook):  # type: ignore[name-defined]
            name = "mgraph: peak memory"

            def malloc_postprocess(self, **_: Any) -> None:
                peak.bytes = max(peak.bytes, pool.used_bytes() - before)

        with self.active(), Watch():
            yield peak

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        if isinstance(array, self.xp.ndarray) and array.device.id == self.index:
            return array
        with self.active():
            return self.xp.asarray(array)

    def synchronize(self) -> None:
        """Wait for everything launched on the current stream so far."""
        with self.active():
            self.xp.cuda.get_current_stream().synchronize()

    def settle(self) -> None:
        """Wait for the work of all streams."""
        with self.active():
            self.xp.cuda.Device(self.index).synchronize()

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array of the host that `copy` moves at full speed: page-locked memory."""
        count = int(np.prod(shape))
        size = count * np.dtype(dtype).itemsize
        if not size:
            return np.empty(shape, dtype)
        # Without CuPy's pool of such memory, which rounds sizes up to a power of two and keeps them.
        memory = self.xp.cuda.PinnedMemoryPointer(self.xp.cuda.PinnedMemory(size), 0)
        return np.frombuffer(memory, dtype, count).reshape(shape)

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream.

        Both have two dimensions, equal shape and type, and contiguous rows, which may be padded. Returns
        at once where the host's array is pinned.
        """
        rows, columns = target.shape
        if not rows or not columns:
            return
        runtime = self.xp.cuda.runtime
        runtime.memcpy2DAsync(
            _address(target),
            target.strides[0],
            _address(source),
            source.strides[0],
            columns * target.itemsize,
            rows,
            runtime.memcpyDefault,
            self.xp.cuda.get_current_stream().ptr,
        )

    def stream(self) -> Any:
        """Return a stream of work beside the current one, before which it goes; as a context, the current one."""
        with self.active():
            return self.xp.cuda.Stream(non_blocking=True, priority=-1)  # lower numbers go first

    def current_stream(self) -> Any:
        """Return the stream that work goes to unless another is chosen."""
        return self.xp.cuda.get_current_stream()

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context in which this is the current device."""
        context: contextlib.AbstractContextManager[Any] = self.xp.cuda.Device(self.index)
        return context

    @contextlib.contextmanager
    def limited(self, blocks: int) -> Iterator[None]:
        """Run the block with at most so many thread blocks a launch, to measure how an algorithm scales with them.

        It holds for what this thread launches on GPUs of connected components, but for the one block that looks for
        the giant one, and of the walks of list ranking; on a CPU, for the threads of every kernel.

        Parameters
        ----------
        blocks : int
            1 or more; more than would be launched anyway change nothing.

        Raises
        ------
        InputError
            If `blocks` is not an integer of 1 or more.

        References
        ----------
        F. Dehne and K. Yogaratnam, "Exploring the limits of GPUs with parallel graph algorithms", 2010: times by
        the number of blocks.
        """
        before = _MOST_BLOCKS.set(min(checked_integer("blocks", blocks, 1), _MOST_BLOCKS.get()))
        try:
            yield
        finally:
            _MOST_BLOCKS.reset(before)


def launched_blocks(wanted: int) -> int:
    """Return how many blocks to launch of a kernel that would have so many, and does its work with fewer too."""
    return min(wanted, _MOST_BLOCKS.get())


def _address(array: Array) -> int:
    return int(array.data.ptr if _is_cupy(array) else array.ctypes.data)


@functools.cache
def _host_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@functools.cache
def _cuda_model(index: int) -> str:
    name: bytes = _cupy().cuda.runtime.getDeviceProperties(index)["name"]  # takes a millisecond
    return name.decode()


_HOST = HostDevice()


@functools.cache
def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(
            "a GPU needs CuPy, which is not installed: pip install 'dask-mgraph[cuda13]' "
            "(or 'dask-mgraph[cuda12]' for a driver of CUDA 12)"
        ) from error
    return cupy


@functools.cache
def gpu_count() -> int:
    """Return the number of CUDA devices that can be used: 0 without CuPy, a driver or a GPU.

    The kernels need compute capability 8.0. Those from one that is too old on are left alone: CUDA numbers the fastest
    first, unless CUDA_DEVICE_ORDER says otherwise.
    """
    try:
        runtime = _cupy().cuda.runtime
        majors = (runtime.getDeviceProperties(index)["major"] for index in range(runtime.getDeviceCount()))
        return sum(1 for _ in itertools.takewhile(lambda major: major >= OLDEST, majors))
    except Exception:  # CuPy raises its own types, and OSError where the driver's library is missing
        return 0


@functools.cache
def _cuda(index: int) -> CudaDevice:
    return CudaDevice(index)


def find(device: str | Device | None = None) -> Device:
    """Return the device that `device` names.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:N"} or None
        None takes the first GPU where there is one, the CPU elsewhere.

    Raises
    ------
    InputError
        If `device` is no device's name.
    DeviceError
        If it names a GPU that is not there.
    """
    if isinstance(device, (HostDevice, CudaDevice)):
        return device
    if device is None:
        return _cuda(0) if gpu_count() else _HOST
    if device == "cpu":
        return _HOST
    kind, _, index = str(device).partition(":")
    if kind != "cuda" or not (index.isdigit() or device == "cuda"):
        raise InputError(f"device={device!r} is not known: use 'cpu', 'cuda', 'cuda:1' or None")
    _cupy()
    count = gpu_count()
    if int(index or 0) >= count:
        there = f"this machine has {count}, numbered from 0" if count else "this machine has no usable GPU"
        there += (
            f" (of compute capability {OLDEST}.0 or more, and before any older: CUDA_VISIBLE_DEVICES can hide those)"
        )
        raise DeviceError(f"device={device!r} is not there: {there}; device='cpu' needs none")
    return _cuda(int(index or 0))


def of(array: Array) -> Device:
    """Return the device on which `array` lives; the host for anything that is no CuPy array."""
    return _cuda(array.device.id) if _is_cupy(array) else _HOST


def _is_cupy(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] in ("cupy", "cupyx")


def to_host(array: Array) -> np.ndarray:
    """Return `array` as a NumPy array, without a copy where it is one."""
    if not _is_cupy(array):
        return np.asarray(array)
    if array.ndim == 2 and _LARGE < array.nbytes and _rows_can_be_copied(array):
        result = np.empty(array.shape, array.dtype)
        for carried in carry_home(_cuda(array.device.id), array, result):
            carried.result()
        return result
    if array.ndim < 2 or array.flags.c_contiguous:
        return array.get()
    # A padded matrix row block by row block: get() would first copy all of it on the device.
    result = np.empty(array.shape, array.dtype)
    rows = max(1, (1 << 22) // max(1, array.shape[1] * array.itemsize))
    for first in range(0, array.shape[0], rows):
        result[first : first + rows] = array[first : first + rows].get()
    return result


def _rows_can_be_copied(array: Array) -> bool:
    """Whether the rows of a matrix lie one behind the other, each in one piece."""
    return bool(array.strides[1] == array.itemsize and array.shape[1] * array.itemsize <= array.strides[0])


def carry_home(device: Device, source: Array, target: np.ndarray) -> list[Future[None]]:
    """Begin to copy a matrix of a device to the host, through page-locked memory and by several threads.

    Copied directly, each page of a fresh array is made, and written to, by one thread: 2.4 GB/s on a machine
    where 16 threads reach 39 GB/s (benchmarks/NOTES.md).

    Parameters
    ----------
    device : Device
        Where `source` lives; the work of its current stream so far is waited for.
    source, target : array of two dimensions
        Of equal shape and type, with contiguous rows, which may be padded.

    Returns
    -------
    list of Future
        What to wait for before `source` is written to and `target` is read.
    """
    with device.active():
        ready = device.current_stream().record()
    parts = max(1, min(len(source), CARRIERS, source.size * source.itemsize // _LEAST))
    cuts = np.linspace(0, len(source), parts + 1).astype(int).tolist()
    return [
        _CARRIERS.submit(_carry, device, ready, source[top:bottom], target[top:bottom])
        for top, bottom in itertools.pairwise(cuts)
    ]


def _carry(device: Device, ready: Any, source: Array, target: np.ndarray) -> None:
    """Copy rows home that are `ready` by this thread's own stream and buffer, as much at a time as that holds."""
    ready.synchronize()
    stream, buffer = _staging(device, threading.get_ident())
    room = len(buffer) // source.itemsize
    columns = max(1, min(room, source.shape[1]))
    rows = room // columns
    with device.active(), stream:
        for top in range(0, len(source), rows):
            for left in range(0, source.shape[1], columns):
                piece = np.s_[top : top + rows, left : left + columns]
                part = source[piece]
                staged = buffer[: part.size * part.itemsize].view(part.dtype).reshape(part.shape)
                device.copy(staged, part)
                stream.synchronize()
                np.copyto(target[piece], staged)


#: Threads that carry rows home: while some wait for their copies, the others write to the host's pages.
CARRIERS = min(16, limits.cores())
_CARRIERS = ThreadPoolExecutor(CARRIERS, "mgraph-carrier")

#: Bytes of each one's page-locked buffer, bytes that are worth waking one for, and bytes of a matrix from which on it
#: is carried.
_STAGED, _LEAST, _LARGE = 1 << 22, 1 << 18, 1 << 25


@functools.cache
def _staging(device: Device, thread: int) -> tuple[Any, np.ndarray]:
    """Return the stream and the page-locked buffer of a thread that carries, which keeps them."""
    with device.active():
        return device.stream(), device.pinned((_STAGED,), np.uint8)


def zeroed(xp: Any, *counts: int) -> tuple[Array, ...]:
    """Return arrays of so many int32 zeros each: parts of one, which is cleared in one go."""
    ends = list(itertools.accumulate(counts))
    words = xp.zeros(ends[-1], np.int32)
    return tuple(words[end - count : end] for count, end in zip(counts, ends, strict=True))


def _code(source: str) -> str:
    """Return a CUDA source with its headers in it: CuPy keeps what it compiles by its text, and reads no header's."""
    return _INCLUDE.sub(lambda header: _code(header[1]), (KERNELS / source).read_text())


@functools.cache
def _module(index: int, source: str, names: tuple[str, ...], cooperative: bool) -> Any:
    return _cupy().RawModule(
        code=_code(source),
        options=("-std=c++17",),
        name_expressions=names,
        enable_cooperative_groups=cooperative,
    )


#: Kernels that `compile_ahead` has begun to compile, by device, source, name and whether they are cooperative.
_AHEAD: dict[tuple[int, str, str, bool], Future[None]] = {}
_COMPILERS = ThreadPoolExecutor(4, "mgraph-compiler")


def compile_ahead(source: str, *names: str, cooperative: bool = False) -> None:
    """Begin to compile kernels of the current CUDA device side by side, and return at once.

    A program calls this before it copies its input: NVRTC works meanwhile, in threads that do not hold Python's lock.

    Parameters
    ----------
    source, names, cooperative
        As for `cuda_function`, which waits for them.
    """
    index = _cupy().cuda.Device().id
    for name in names:
        key = index, source, name, cooperative
        if key not in _AHEAD:
            _AHEAD[key] = _COMPILERS.submit(_compile, *key)


def _compile(index: int, source: str, name: str, cooperative: bool) -> None:
    with _cupy().cuda.Device(index):
        _module(index, source, (name,), cooperative).get_function(name)


@functools.cache
def _function(index: int, source: str, name: str, cooperative: bool, shared: int) -> Any:
    begun = _AHEAD.get((index, source, name, cooperative))
    # What the clock counts is taken from the time between events of the GPU, which is to be idle meanwhile.
    _cupy().cuda.Device(index).synchronize()
    with clock(), COMPILING:
        if begun is not None:
            begun.result()
        function = _module(index, source, (name,), cooperative).get_function(name)
    if shared > 48 * 1024:
        most = _attribute(index, "MaxSharedMemoryPerBlockOptin")
        if shared > most:
            raise DeviceError(
                f"cuda:{index} has {most} bytes of shared memory for a block and {name} needs {shared}: "
                "use dtype='float32', or do without predecessors"
            )
        function.max_dynamic_shared_size_bytes = shared
    return function


def cuda_function(source: str, name: str, *, cooperative: bool = False, shared: int = 0) -> Any:
    """Return a kernel of the current CUDA device, compiled at first use and kept.

    Parameters
    ----------
    source : str
        A file of the kernels folder, e.g. ``"minplus.cu"``.
    name : str
        The kernel's name expression, e.g. ``"update<float, false>"``.
    cooperative : bool
        Launch it so that all its blocks are resident at once.
    shared : int
        The dynamic shared memory that it will be launched with, bytes.
    """
    return _function(_cupy().cuda.Device().id, source, name, cooperative, shared)


@functools.cache
def _attribute(index: int, name: str) -> int:
    return int(_cupy().cuda.Device(index).attributes[name])


def cuda_attribute(name: str) -> int:
    """Return an attribute of the current CUDA device, e.g. ``"MultiProcessorCount"``."""
    return _attribute(_cupy().cuda.Device().id, name)


def nccl() -> Any:
    """Return CuPy's NCCL bindings.

    Raises
    ------
    DeviceError
        Where NCCL's library is missing.
    """
    _cupy()
    try:
        from cupy.cuda import nccl as bindings
    except ImportError as error:
        raise DeviceError("several GPUs need NCCL: pip install 'dask-mgraph[cuda13]'") from error
    if not bindings.available:
        raise DeviceError("several GPUs need NCCL, which CuPy cannot load: pip install 'dask-mgraph[cuda13]'")
    return bindings


def current_stream() -> int:
    """Return the handle of the current CUDA stream."""
    return int(_cupy().cuda.get_current_stream().ptr)
