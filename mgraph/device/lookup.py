"""The device of a name, and the device of an array."""

from ..errors import DeviceError, Given, InputError
from .base import Array, Device
from .cuda import OLDEST, CudaDevice, cuda_device, cupy, gpu_count, is_cupy
from .host import HostDevice

HOST = HostDevice()


def find(device: str | Device | None = None) -> Device:
    """Return the device that `device` names.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:N"} or None
        None is the first GPU if there is one, and otherwise the CPU.

    Raises
    ------
    InputError
        If `device` is not the name of a device.
    DeviceError
        If it names a GPU that this machine does not have.
    """
    if isinstance(device, (HostDevice, CudaDevice)):
        return device
    if device is None:
        return cuda_device(0) if gpu_count() else HOST
    if device == "cpu":
        return HOST
    kind, _, index = str(device).partition(":")
    if kind != "cuda" or not (index.isdigit() or device == "cuda"):
        raise InputError(Given("device", device), " is not known: use 'cpu', 'cuda' or 'cuda:1'")
    cupy()
    count = gpu_count()
    if int(index or 0) >= count:
        there = f"this machine has {count}, numbered from 0" if count else "this machine has no usable GPU"
        there += (
            f" (of compute capability {OLDEST}.0 or more, and before any older: CUDA_VISIBLE_DEVICES can hide those)"
        )
        raise DeviceError(Given("device", device), f" is not there: {there}; ", Given("device", "cpu"), " needs none")
    return cuda_device(int(index or 0))


def of(array: Array) -> Device:
    """Return the device on which `array` lives; the host for anything but a CuPy array."""
    return cuda_device(array.device.id) if is_cupy(array) else HOST
