"""CUDA kernels of ``kernels/*.cu``, compiled by NVRTC at their first use."""

import functools
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import ArgumentValue, DeviceError
from .clock import COMPILING, clock
from .cuda import cupy

PACKAGE = Path(__file__).parents[1]

#: The folder of the CUDA sources: in the package of a wheel, at the top of a checkout.
KERNELS = next(
    (folder for folder in (PACKAGE / "kernels" / "sources", PACKAGE.parent / "kernels") if folder.is_dir()),
    PACKAGE / "kernels" / "sources",
)


#: An include of one of mgraph's own headers.
_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)


def _code(source: str) -> str:
    """Return a CUDA source with its headers pasted in: CuPy's cache is keyed by the text, and ignores headers."""
    return _INCLUDE.sub(lambda header: _code(header[1]), (KERNELS / source).read_text())


def compilation(source: str, names: Sequence[str], cooperative: bool = False) -> dict[str, Any]:
    """Return CuPy's arguments to compile kernels of a source: the text with headers, options and names."""
    return {
        "code": _code(source),
        "options": ("-std=c++17",),
        "name_expressions": tuple(names),
        "enable_cooperative_groups": cooperative,
    }


@functools.cache
def _module(index: int, source: str, names: tuple[str, ...], cooperative: bool) -> Any:
    return cupy().RawModule(**compilation(source, names, cooperative))


#: Kernels that `compile_ahead` has begun to compile, by device, source, name and whether they are cooperative.
_AHEAD: dict[tuple[int, str, str, bool], Future[None]] = {}


#: The dynamic shared memory that kernels may be launched with, in bytes, where that is more than 48 KiB; keys as above.
_SHARED: dict[tuple[int, str, str, bool], int] = {}

_COMPILERS = ThreadPoolExecutor(4, "mgraph-compiler")


def compile_ahead(source: str, *names: str, cooperative: bool = False) -> None:
    """Begin to compile kernels for the current CUDA device in parallel, and return at once.

    A program calls this before it copies its input. NVRTC compiles meanwhile, in threads that release Python's lock.

    Parameters
    ----------
    source, names, cooperative
        As for `cuda_function`, which waits for the kernels.
    """
    index = cupy().cuda.Device().id
    for name in names:
        key = index, source, name, cooperative
        if key not in _AHEAD:
            _AHEAD[key] = _COMPILERS.submit(_compile, *key)


def wait_for_compilers() -> None:
    """Wait for the kernels that `compile_ahead` has begun to compile for the current CUDA device."""
    index = cupy().cuda.Device().id
    for key, begun in list(_AHEAD.items()):
        if key[0] == index and not begun.done():
            _function(*key, 0)


def _compile(index: int, source: str, name: str, cooperative: bool) -> None:
    with cupy().cuda.Device(index):
        _module(index, source, (name,), cooperative).get_function(name)


@functools.cache
def _function(index: int, source: str, name: str, cooperative: bool, shared: int) -> Any:
    begun = _AHEAD.get((index, source, name, cooperative))
    # The clock's time is subtracted from times between events of the GPU, so the GPU must be idle meanwhile.
    cupy().cuda.Device(index).synchronize()
    waiting = sum(not other.done() for other in list(_AHEAD.values()) if other is not begun)
    with clock():
        COMPILING.begin(source.removesuffix(".cu"), waiting)
        try:
            if begun is not None:
                begun.result()
            function = _module(index, source, (name,), cooperative).get_function(name)
        finally:
            COMPILING.end()
    # The driver keeps one limit for all launches of a kernel: the largest.
    kernel = index, source, name, cooperative
    if shared > _SHARED.get(kernel, 48 * 1024):
        most = _attribute(index, "MaxSharedMemoryPerBlockOptin")
        if shared > most:
            raise DeviceError(
                f"cuda:{index} has {most} bytes of shared memory per block and {name} needs {shared}: use ",
                ArgumentValue("dtype", "float32"),
                ", or do without predecessors",
            )
        function.max_dynamic_shared_size_bytes = shared
        _SHARED[kernel] = shared
    return function


def cuda_function(source: str, name: str, *, cooperative: bool = False, shared: int = 0) -> Any:
    """Return a kernel for the current CUDA device, compiled at first use and cached.

    Parameters
    ----------
    source : str
        A file of the kernels folder, e.g. ``"minplus.cu"``.
    name : str
        The kernel's name expression, e.g. ``"update<float, false>"``.
    cooperative : bool
        Whether it is launched cooperatively, with all blocks resident at once.
    shared : int
        Bytes of dynamic shared memory that it will be launched with.
    """
    return _function(cupy().cuda.Device().id, source, name, cooperative, shared)


@functools.cache
def _attribute(index: int, name: str) -> int:
    return int(cupy().cuda.Device(index).attributes[name])


def cuda_attribute(name: str) -> int:
    """Return an attribute of the current CUDA device, e.g. ``"MultiProcessorCount"``."""
    return _attribute(cupy().cuda.Device().id, name)
