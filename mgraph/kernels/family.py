"""Access to a family of kernels: its operations on a device, with types.

A family is a package that declares the operations and constants as a Protocol, two long ones in a module `ops`. Its
`host` implements them for CPUs, compiled by Numba; `cuda` implements them for GPUs, as launches of
``kernels/FAMILY.cu``. A program asks the family for the operations on its device::

    from ...kernels import bfs as bfs_kernels

    kernels = bfs_kernels.on(device)

The module for the device is imported at the first call, as `host` imports Numba.
"""

import functools
import importlib
import os
import threading
from types import ModuleType
from typing import Any, Generic, TypeVar

from ..device import Device, Recorder
from ..device.clock import clock

Operations = TypeVar("Operations")

#: Numba's portable threading layer aborts the process when two Python threads enter it at once.
HOST_KERNELS = threading.RLock()


def _renew_lock() -> None:
    """In a forked child: replace the lock, which another thread of the parent may have held."""
    global HOST_KERNELS
    HOST_KERNELS = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class Family(Generic[Operations]):
    """A family of kernels whose operations the Protocol `Operations` declares.

    Parameters
    ----------
    package : str
        The family's package, such as ``"mgraph.kernels.bfs"``.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    def on(self, device: Device) -> Operations:
        """Return the operations on a device; the device's recorder, if there is one, times each call."""
        module: Any = _guarded(self.package) if device.kind == "cpu" else _module(self.package, device.kind)
        if device.recorder is not None:
            device.recorder.packages.add(self.package)
            module = _Recorded(module, device.recorder)
        found: Operations = module
        return found

    def of_kind(self, kind: str) -> Operations:
        """Return the constants and sizes for a kind of device, ``"cpu"`` or ``"cuda"``; none need be present."""
        operations: Operations = _module(self.package, kind)
        return operations


@functools.cache
def _module(package: str, kind: str) -> Any:
    """Return a family's module for a kind of device."""
    if kind == "cuda":
        return importlib.import_module(f"{package}.cuda")
    with clock():  # importing Numba counts as compiling
        return importlib.import_module(f"{package}.host")


@functools.cache
def _guarded(package: str) -> "_Guarded":
    return _Guarded(_module(package, "cpu"))


class _Guarded:
    """A module of Numba kernels; in this process, one kernel runs at a time.

    The module's `UNLOCKED` names operations that run no kernel.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._module, name)
        if not callable(attribute) or name in getattr(self._module, "UNLOCKED", ()):
            setattr(self, name, attribute)
            return attribute

        def call(*arguments: Any) -> Any:
            with HOST_KERNELS:
                return attribute(*arguments)

        setattr(self, name, call)
        return call


class _Recorded:
    """Operations whose calls a recorder times."""

    def __init__(self, operations: Any, recorder: Recorder) -> None:
        self._operations, self._recorder = operations, recorder

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._operations, name)
        if not callable(attribute):
            return attribute

        def call(*arguments: Any) -> Any:
            return self._recorder.timed(name, attribute, *arguments)

        return call
