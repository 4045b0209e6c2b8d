"""Devices: where arrays live, how they are copied, and how kernels are compiled, timed and launched.

There are two kinds: the host (NumPy, and kernels compiled by Numba) and CUDA devices (CuPy, and the kernels of
``kernels/*.cu``). An algorithm uses a `Device` without asking for its kind.
"""

from .base import Array, Device, Immediate, Mark, Peak
from .compile import KERNELS, compile_ahead, cuda_attribute, cuda_function, wait_for_compilers
from .copying import COPIERS, copies_to_device, copies_to_host, fill, staged_parts
from .cuda import OLDEST, CudaDevice, current_stream, gpu_count, launched_blocks, nccl, without_tiny
from .diagnosis import gpu_problem
from .host import HostDevice
from .lookup import HOST, find, imported, of
from .memory import allocating, check_free_memory, host_reading
from .peers import HANDLE_BYTES, MOST_PEERS, Meeting, PeerMemory, shared_bytes
from .profile import Recorder
from .rows import SLOTS, RowStream, rows_at
from .transfer import all_on, to_host, zeroed

__all__ = [
    "COPIERS",
    "HANDLE_BYTES",
    "HOST",
    "KERNELS",
    "MOST_PEERS",
    "OLDEST",
    "SLOTS",
    "Array",
    "CudaDevice",
    "Device",
    "HostDevice",
    "Immediate",
    "Mark",
    "Meeting",
    "Peak",
    "PeerMemory",
    "Recorder",
    "RowStream",
    "all_on",
    "allocating",
    "check_free_memory",
    "compile_ahead",
    "copies_to_device",
    "copies_to_host",
    "cuda_attribute",
    "cuda_function",
    "current_stream",
    "fill",
    "find",
    "gpu_count",
    "gpu_problem",
    "host_reading",
    "imported",
    "launched_blocks",
    "nccl",
    "of",
    "rows_at",
    "shared_bytes",
    "staged_parts",
    "to_host",
    "wait_for_compilers",
    "without_tiny",
    "zeroed",
]
