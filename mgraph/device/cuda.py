"""CUDA GPUs, through CuPy. Only this module imports CuPy, and only when a GPU is used."""

import contextlib
import functools
import itertools
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..arguments import checked_integer
from ..errors import DeviceError
from .base import Array, Mark, Peak
from .copying import copied_by_pieces, fill
from .profile import Recorder

#: The lowest major compute capability that the kernels support: Ampere's.
OLDEST = 8


#: The most blocks per launch; by default the limit of a grid.
_MOST_BLOCKS = ContextVar("_MOST_BLOCKS", default=2**31 - 1)


class CudaDevice:
    """A CUDA GPU: CuPy arrays, and the kernels of ``kernels/*.cu``."""

    kind = "cuda"
    #: 16 bytes, one vector load, of the narrowest distance type.
    row_alignment = 8
    #: Profiler notified of each kernel call, or None.
    recorder: "Recorder | None" = None

    def __init__(self, index: int) -> None:
        self.index = index
        self.name: str = f"cuda:{index}"
        self.xp = cupy()

    def model(self) -> str:
        """Return the name of the hardware."""
        return _cuda_model(self.index)

    def available_memory(self) -> int:
        """Return the bytes that can be allocated now, CuPy's idle pool included."""
        with self.active():
            free, _ = self.xp.cuda.runtime.memGetInfo()
            return int(free) + int(self.xp.get_default_memory_pool().free_bytes())

    def places(self, values: Array, ordered: Array) -> Array:
        """Return where each value would be inserted into an ascending array."""
        return self.xp.searchsorted(ordered, values)

    def mark(self) -> Mark:
        """Return an event of the current stream, which marks when the work so far is done."""
        event = self.xp.cuda.Event()
        event.record()
        return event

    def seconds_between(self, start: Mark, end: Mark) -> float:
        """Wait for the second of two marks of a stream, and return the seconds between them."""
        end.synchronize()
        return float(self.xp.cuda.get_elapsed_time(start, end)) * 1e-3

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator["Peak"]:
        """Measure the peak memory that the block takes from CuPy's pool, beyond what was in use before."""
        pool = self.xp.get_default_memory_pool()
        peak, before = Peak(), pool.used_bytes()

        class Watch(self.xp.cuda.MemoryHook):  # type: ignore[name-defined]
            name = "mgraph: peak memory"

            def malloc_postprocess(self, **_: Any) -> None:
                peak.bytes = max(peak.bytes, pool.used_bytes() - before)

        with self.active(), Watch():
            yield peak

    def asarray(self, array: Array) -> Array:
        """Return `array` as an array of this device; without a copy if it is one already."""
        if isinstance(array, self.xp.ndarray) and array.device.id == self.index:
            return array
        with self.active():
            if not (isinstance(array, np.ndarray) and array.dtype.isnative and copied_by_pieces(array)):
                return self.xp.asarray(array)
            # CuPy would allocate page-locked memory of the array's size, and keep it.
            result = self.xp.empty(array.shape, array.dtype)
            fill(self, result, np.asarray(array))
            return result

    def synchronize(self) -> None:
        """Wait for everything launched on the current stream so far."""
        with self.active():
            self.xp.cuda.get_current_stream().synchronize()

    def settle(self) -> None:
        """Wait for the work of all streams."""
        with self.active():
            self.xp.cuda.Device(self.index).synchronize()

    def trim(self) -> None:
        """Give back memory that CuPy's pool keeps for later arrays."""
        with self.active():
            self.xp.get_default_memory_pool().free_all_blocks()

    def pinned(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an uninitialised array in page-locked host memory, which `copy` moves at full speed."""
        count = int(np.prod(shape))
        size = count * np.dtype(dtype).itemsize
        if not size:
            return np.empty(shape, dtype)
        # CuPy's pool of page-locked memory would round sizes up to a power of two and keep the memory.
        memory = self.xp.cuda.PinnedMemoryPointer(self.xp.cuda.PinnedMemory(size), 0)
        return np.frombuffer(memory, dtype, count).reshape(shape)

    def page_locked(self, array: np.ndarray) -> bool:
        """Return whether an array on the host lies in page-locked memory, which `copy` moves at full speed."""
        if not array.size:
            return False
        first = _address(array)
        last = first + sum((size - 1) * step for size, step in zip(array.shape, array.strides, strict=True))
        with self.active():
            return all(self.xp.cuda.runtime.pointerGetAttributes(end).type == _HOST_MEMORY for end in (first, last))

    @contextlib.contextmanager
    def locked(self, array: np.ndarray) -> Iterator[None]:
        """Lock an array's pages for the block, so that `copy` moves it at full speed, if they can be locked."""
        runtime, place = self.xp.cuda.runtime, _address(array)
        with self.active():
            locked = True
            try:
                runtime.hostRegister(place, array.nbytes, 0)
            except runtime.CUDARuntimeError:  # too much is locked already, or the pages are of a kind that cannot be
                locked = False
            try:
                yield
            finally:
                if locked:
                    runtime.hostUnregister(place)

    def copy(self, target: Array, source: Array) -> None:
        """Copy a matrix to or from the host, in the order of the current stream.

        Both have two dimensions, equal shape and type, and contiguous rows, which may be padded. Returns at once if
        the host's array is pinned.
        """
        rows, columns = target.shape
        if not rows or not columns:
            return
        runtime, width = self.xp.cuda.runtime, columns * target.itemsize
        to, origin, stream = _address(target), _address(source), self.xp.cuda.get_current_stream().ptr
        if rows == 1:  # which may have any stride, and be longer than the pitch of a matrix can be
            runtime.memcpyAsync(to, origin, width, runtime.memcpyDefault, stream)
            return
        pitches = target.strides[0], source.strides[0]
        runtime.memcpy2DAsync(to, pitches[0], origin, pitches[1], width, rows, runtime.memcpyDefault, stream)

    def stream(self) -> Any:
        """Return a new stream of high priority; used as a context, it becomes the current one."""
        with self.active():
            return self.xp.cuda.Stream(non_blocking=True, priority=-1)  # lower numbers have priority

    def current_stream(self) -> Any:
        """Return the stream that work is launched on."""
        return self.xp.cuda.get_current_stream()

    def active(self) -> contextlib.AbstractContextManager[Any]:
        """Return a context that makes this the current device."""
        context: contextlib.AbstractContextManager[Any] = self.xp.cuda.Device(self.index)
        return context

    @contextlib.contextmanager
    def limited(self, blocks: int) -> Iterator[None]:
        """Run the block with at most this many thread blocks per launch, to measure how an algorithm scales.

        On GPUs the limit holds for launches of this thread for searches and shortest paths from one source, for
        connected components (but for the one block that finds the giant component) and for the walks and jumps of list
        ranking. On a CPU it holds for the threads of every
        kernel.

        Parameters
        ----------
        blocks : int
            1 or more; a number above what would be launched anyway has no effect.

        Raises
        ------
        InputError
            If `blocks` is not an integer of 1 or more.

        References
        ----------
        F. Dehne and K. Yogaratnam, "Exploring the limits of GPUs with parallel graph algorithms", 2010: running time
        against the number of blocks.
        """
        before = _MOST_BLOCKS.set(min(checked_integer("blocks", blocks, 1), _MOST_BLOCKS.get()))
        try:
            yield
        finally:
            _MOST_BLOCKS.reset(before)


#: What CUDA calls `cudaMemoryTypeHost`: memory that was allocated page-locked, or was locked later.
_HOST_MEMORY = 1


def launched_blocks(wanted: int) -> int:
    """Return how many blocks to launch of a kernel that wants `wanted` blocks but works with fewer."""
    return min(wanted, _MOST_BLOCKS.get())


def without_tiny(limits: np.ndarray) -> np.ndarray:
    """Return limits to compare with on a GPU: of float32, one just below 0 becomes the greatest that is not tiny.

    CuPy compiles with -ftz: kernels take float32 nearer to 0 than the least normal number for 0, which a distance of 0
    does not exceed.
    """
    if limits.dtype != np.float32:
        return limits
    least = np.finfo(np.float32).tiny
    return np.where((limits < 0) & (limits > -least), -least, limits)


def _address(array: Array) -> int:
    return int(array.data.ptr if is_cupy(array) else array.ctypes.data)


@functools.cache
def _cuda_model(index: int) -> str:
    name: bytes = cupy().cuda.runtime.getDeviceProperties(index)["name"]  # takes a millisecond
    return name.decode()


@functools.cache
def cupy() -> Any:
    """Return CuPy; raise DeviceError if it is not installed or cannot be imported."""
    try:
        import cupy
    except ImportError as error:
        if getattr(error, "name", None) == "cupy":
            raise DeviceError(
                "a GPU needs CuPy, which is not installed: pip install 'dask-mgraph[cuda13]' "
                "(or 'dask-mgraph[cuda12]' for a driver of CUDA 12)"
            ) from error
        why = " ".join(str(error.__cause__ or error).split())  # CuPy's own message is a page
        raise DeviceError(
            f"a GPU needs CuPy, which cannot be imported ({why}): uninstall all packages named cupy, then pip install "
            "'dask-mgraph[cuda13]' (or 'dask-mgraph[cuda12]' for a driver of CUDA 12)"
        ) from error
    return cupy


@functools.cache
def gpu_count() -> int:
    """Return the number of CUDA devices that can be used: 0 without CuPy, a driver or a GPU.

    The kernels need compute capability 8.0. The first older device, and all after it, are not used: CUDA numbers
    the fastest first, unless CUDA_DEVICE_ORDER says otherwise.

    Returns
    -------
    int

    Examples
    --------
    >>> from mgraph import device
    >>> device.gpu_count() >= 0
    True
    """
    try:
        runtime = cupy().cuda.runtime
        majors = (runtime.getDeviceProperties(index)["major"] for index in range(runtime.getDeviceCount()))
        return sum(1 for _ in itertools.takewhile(lambda major: major >= OLDEST, majors))
    except Exception:  # CuPy raises its own types, and OSError where the driver's library is missing
        return 0


@functools.cache
def cuda_device(index: int) -> CudaDevice:
    """Return the GPU with this number, always the same object."""
    return CudaDevice(index)


def is_cupy(array: Any) -> bool:
    """Return whether `array` is a CuPy array."""
    return type(array).__module__.partition(".")[0] in ("cupy", "cupyx")


def nccl() -> Any:
    """Return CuPy's NCCL bindings.

    Raises
    ------
    DeviceError
        If NCCL's library is missing.
    """
    cupy()
    try:
        from cupy.cuda import nccl as bindings
    except ImportError as error:
        raise DeviceError("several GPUs need NCCL: pip install 'dask-mgraph[cuda13]'") from error
    if not bindings.available:
        raise DeviceError("several GPUs need NCCL, which CuPy cannot load: pip install 'dask-mgraph[cuda13]'")
    return bindings


def current_stream() -> int:
    """Return the handle of the current CUDA stream."""
    return int(cupy().cuda.get_current_stream().ptr)
