"""The device of a name, and the device of an array."""

import re

import numpy as np

from ..errors import ArgumentValue, DeviceError, InputError
from .base import Array, Device
from .cuda import OLDEST, CudaDevice, cuda_device, cupy, gpu_count, is_cupy
from .host import HostDevice

#: The CPU, which `find` returns for "cpu".
HOST = HostDevice()

#: The kinds of device of DLPack: the host's memory, and memory that a CUDA GPU reads.
_ON_HOST, _ON_GPU = (1, 3), (2, 13)

_GPU = re.compile(r"cuda(?::([0-9]{1,9}))?")


def find(device: str | Device | None = None, argument: str = "device") -> Device:
    """Return the device that `device` names.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:N"}, Device or None
        None is the first GPU if there is one, and otherwise the CPU.
    argument : str
        The argument of the public call that names it, for messages.

    Returns
    -------
    Device

    Raises
    ------
    InputError
        If `device` is not the name of a device.
    DeviceError
        If it names a GPU that this machine does not have.

    Examples
    --------
    >>> from mgraph import device
    >>> device.find("cpu").name
    'cpu'
    """
    if isinstance(device, (HostDevice, CudaDevice)):
        return device
    if device is None:
        return cuda_device(0) if gpu_count() else HOST
    if isinstance(device, str) and device == "cpu":
        return HOST
    gpu = _GPU.fullmatch(device) if isinstance(device, str) else None
    if gpu is None:
        raise InputError(argument=argument, value=device, expected="'cpu', 'cuda' or 'cuda:N', such as 'cuda:1'")
    cupy()
    count, index = gpu_count(), int(gpu[1] or 0)
    if index >= count:
        there = f"this machine has {count}, numbered from 0" if count else "this machine has no usable GPU"
        there += (
            f" (of compute capability {OLDEST}.0 or more, and before any older: CUDA_VISIBLE_DEVICES can hide those)"
        )
        raise DeviceError(
            ArgumentValue(argument, device), f" is not there: {there}; ", ArgumentValue(argument, "cpu"), " needs none"
        )
    return cuda_device(index)


def of(array: Array) -> Device:
    """Return the device on which `array` lives; the host for anything but a CuPy array."""
    return cuda_device(array.device.id) if is_cupy(array) else HOST


def imported(array: Array) -> Array:
    """Return an array of another library, such as a tensor of PyTorch, without a copy, if it speaks DLPack alone.

    What is no such array, or can be read by NumPy or CuPy as it is, is returned unchanged.

    Raises
    ------
    InputError
        If the library does not hand its array over, or it lies on a device that is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph import device
    >>> class Tensor:
    ...     __dlpack__, __dlpack_device__ = np.arange(3).__dlpack__, np.arange(3).__dlpack_device__
    >>> device.imported(Tensor())
    array([0, 1, 2])
    """
    if isinstance(array, np.ndarray) or is_cupy(array) or not hasattr(array, "__dlpack_device__"):
        return array
    try:
        kind, index = map(int, array.__dlpack_device__())
    except Exception as error:  # of any library
        raise InputError(f"{type(array).__name__} does not say on which device it lies: {error}") from error
    if kind in _ON_HOST and hasattr(array, "__array__"):
        return array
    if kind not in _ON_HOST + _ON_GPU:
        raise InputError(f"{type(array).__name__} lies on a device of DLPack's kind {kind}: copy it to the CPU")
    try:
        return (np if kind in _ON_HOST else cuda_device(index).xp).from_dlpack(array)
    except MemoryError:
        raise
    except Exception as error:  # of any library
        raise InputError(f"{type(array).__name__} cannot be taken by DLPack: {error}") from error
