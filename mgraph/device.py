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
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import psutil

from .errors import DeviceError, InputError

Array = Any

#: Where the CUDA sources are: beside the modules in a wheel, at the top of a checkout.
KERNELS = next(
    (
        folder
        for folder in (Path(__file__).parent / "kernels", Path(__file__).parents[1] / "kernels")
        if folder.is_dir()
    ),
    Path(__file__).parent / "kernels",
)

#: Numba's portable threading layer aborts the process when two Python threads enter it at once.
_HOST_KERNELS = threading.RLock()


class HostDevice:
    """The CPU: NumPy arrays, and the Numba kernels of `mgraph.host`."""

    kind = "cpu"
    name = "cpu"
    xp: Any = np
    #: Rows of a matrix start on multiples of this many elements.
    row_alignment = 1

    def model(self) -> str:
        """Return the name of the hardware."""
        return _host_model()

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now."""
        return int(psutil.virtual_memory().available)

    def kernels(self, family: str) -> Any:
        """Return the operations of a kernel family, e.g. ``"minplus"``."""
        return _Guarded(importlib.import_module(f"mgraph.host.{family}"))

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device, without a copy where it is one."""
        return to_host(array)

    def synchronize(self) -> None:
        """Wait for everything launched so far; on the host, nothing is outstanding."""

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

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Run the block with this as the current device."""
        yield


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

    def __init__(self, index: int) -> None:
        self.index = index
        self.name = f"cuda:{index}"
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
        return importlib.import_module(f"mgraph.cuda.{family}")

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

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Run the block with this as the current device."""
        with self.xp.cuda.Device(self.index):
            yield


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


Device = HostDevice | CudaDevice

_HOST = HostDevice()


@functools.cache
def _cupy() -> Any:
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(
            "a GPU needs CuPy, which is not installed: pip install 'mgraph[cuda13]' "
            "(or 'mgraph[cuda12]' for a driver of CUDA 12)"
        ) from error
    return cupy


@functools.cache
def gpu_count() -> int:
    """Return the number of CUDA devices that CuPy can use: 0 without CuPy, a driver or a GPU."""
    try:
        cupy = _cupy()
        return int(cupy.cuda.runtime.getDeviceCount())
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
    if array.ndim == 2 and _STAGED < array.nbytes and _rows_can_be_copied(array):
        result = np.empty(array.shape, array.dtype)
        carry_home(of(array), array, result)
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
    """Whether the rows of a matrix lie one behind the other, each in one piece that a buffer has room for."""
    width = array.shape[1] * array.itemsize
    return array.strides[1] == array.itemsize and width <= min(array.strides[0], _STAGED)


def carry_home(device: Device, source: Array, target: np.ndarray) -> None:
    """Copy a large matrix of a device to the host, through page-locked memory and by several threads.

    Copied directly, each page of a fresh array is made, and written to, by one thread: 2.4 GB/s on a machine
    where 16 threads reach 39 GB/s (benchmarks/NOTES.md).
    """
    rows = max(1, _STAGED // (source.shape[1] * source.itemsize))
    with _CARRYING, device.active(), ThreadPoolExecutor(CARRIERS, "mgraph-carry") as pool:
        carried: list[list[Future[None]]] = [[], []]
        for number, first in enumerate(range(0, len(source), rows)):
            part = source[first : first + rows]
            for done in carried[number % 2]:
                done.result()
            buffer = _staging(device, number % 2)[: part.shape[0] * part.shape[1] * part.itemsize]
            staged = buffer.view(part.dtype).reshape(part.shape)
            device.copy(staged, part)
            arrived = device.current_stream().record()

            def carry(top: int, bottom: int, staged: Any = staged, first: int = first, arrived: Any = arrived) -> None:
                arrived.synchronize()
                np.copyto(target[first + top : first + bottom], staged[top:bottom])

            cuts = np.linspace(0, len(part), min(len(part), CARRIERS) + 1).astype(int)
            carried[number % 2] = [pool.submit(carry, *cut) for cut in itertools.pairwise(cuts)]
        for done in itertools.chain(*carried):
            done.result()


#: Threads that carry rows home, and the bytes of each of the two page-locked buffers that they carry from.
CARRIERS = min(16, os.cpu_count() or 1)
_STAGED = 1 << 25

#: The buffers are kept, and serve one matrix at a time.
_CARRYING = threading.Lock()


@functools.cache
def _staging(device: Device, number: int) -> np.ndarray:
    return device.pinned((_STAGED,), np.uint8)


@functools.cache
def _module(index: int, source: str, names: tuple[str, ...], cooperative: bool) -> Any:
    return _cupy().RawModule(
        code=(KERNELS / source).read_text(),
        options=("-std=c++17",),
        name_expressions=names,
        enable_cooperative_groups=cooperative,
    )


@functools.cache
def _function(index: int, source: str, name: str, cooperative: bool, shared: int) -> Any:
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
        raise DeviceError("several GPUs need NCCL: pip install 'mgraph[cuda13]'") from error
    if not bindings.available:
        raise DeviceError("several GPUs need NCCL, which CuPy cannot load: pip install 'mgraph[cuda13]'")
    return bindings


def current_stream() -> int:
    """Return the handle of the current CUDA stream."""
    return int(_cupy().cuda.get_current_stream().ptr)
