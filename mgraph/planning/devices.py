"""What the planner knows of a device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import device as devices
from .. import limits
from ..arguments import checked_integer
from ..errors import InputError
from . import rates as known
from .probe import Speed
from .rates import Rates

#: Share of a device's free memory that a plan may use.
USABLE = 0.95


@dataclass(frozen=True)
class DeviceSpec:
    """What the planner knows of a device.

    Attributes
    ----------
    name : str
        The device's name; of a Dask worker's device, with its address.
    kind : {"cpu", "cuda"}
        What runs there.
    memory : int
        Bytes that can be allocated.
    cores : int
        CPU cores that its kernels may use; 1 for a GPU.
    model : str
        The hardware's name, by which `mgraph calibrate` keeps what it measured, and
        `mgraph.planning.rates.PUBLISHED` has what others published.
    processors : int
        Multiprocessors of a GPU, unless given those of an H200; how much it takes to keep them busy.
    held : int
        Bytes of a graph that lie there already, not part of `memory`. A plan's peak counts them, and they count as
        room for it.
    """

    name: str
    kind: str
    memory: int
    cores: int = 1
    model: str = ""
    processors: int = 132
    held: int = 0


def spec_of(device: devices.Device) -> DeviceSpec:
    """Return what the planner needs to know of a device of this machine."""
    cores = limits.cores() if device.kind == "cpu" else 1
    described = DeviceSpec(device.name, device.kind, device.available_memory(), cores, device.model())
    if device.kind == "cpu":
        return described
    with device.active():
        return replace(described, processors=devices.cuda_attribute("MultiProcessorCount"))


def specs_of(wanted: Any) -> tuple[DeviceSpec, ...]:
    """Return the descriptions of the devices that are wanted: a number of them, their names, or descriptions."""
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
        return (spec_of(devices.find(None)),) * checked_integer("devices", wanted, 1)
    if wanted is None or isinstance(wanted, (str, DeviceSpec)):
        wanted = [wanted]
    if not isinstance(wanted, Sequence) or not wanted:
        raise InputError(argument="devices", value=wanted, expected="a number, names or DeviceSpecs")
    specs = tuple(w if isinstance(w, DeviceSpec) else spec_of(devices.find(w)) for w in wanted)
    for spec in specs:
        if spec.kind not in ("cpu", "cuda") or spec.memory < 0 or spec.cores < 1:
            raise InputError(f"a device must be of kind 'cpu' or 'cuda', with memory >= 0 and cores >= 1, got {spec}")
    return specs


def rates_of(spec: DeviceSpec) -> Rates:
    """Return what a device, or a core of it, does in a second."""
    return known.rates(spec.kind, spec.model, spec.cores)


def speed_of(spec: DeviceSpec) -> Speed:
    """Return how many times faster a device is than what the constants of plans were measured on."""
    return known.speed(spec.kind, spec.model, spec.cores)


def usable(spec: DeviceSpec, memory_limit: int | None) -> int:
    """Return the bytes that a plan may take of a device."""
    usable = int(USABLE * spec.memory) + spec.held
    return usable if memory_limit is None else min(usable, memory_limit)
