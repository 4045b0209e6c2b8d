"""Descriptions of devices for the planner: memory, cores, model."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_bytes, checked_choice, checked_integer, size_in_words
from ..errors import ArgumentValue, InputError
from . import rates as known
from .probe import Speed
from .rates import Rates

#: The most devices that `plan` takes by their number.
MAX_DEVICES = 1 << 16

#: Share of a device's free memory that a plan may use.
USABLE = 0.95


@dataclass(frozen=True)
class DeviceSpec:
    """The description of a device for the planner.

    Attributes
    ----------
    name : str
        The device's name; for a Dask worker's device, with the worker's address.
    kind : {"cpu", "cuda"}
        The kind of device.
    memory : int
        Bytes that can be allocated; `mgraph.plan` also takes a string such as ``"16GiB"``.
    cores : int
        CPU cores that its kernels may use; 1 for a GPU.
    model : str
        The hardware's name, under which `mgraph calibrate` keeps its measurements and
        `mgraph.planning.rates.PUBLISHED` has published figures.
    processors : int
        Number of multiprocessors of a GPU, by default that of an H200: a GPU with more needs more work to be busy.
    held : int
        Bytes of a graph that are on the device already. `memory` does not include them. They count as usable by a plan
        whose peak has them: one that takes the graph's edges as they are, without a copy.
    host : int or None
        Bytes of its host's memory that what a GPU computes may take: its share, where a host has several. By default
        what this machine has free, for one GPU; for several it is not known, and not compared.
    node : str
        Names the host within which GPUs may share memory: those of one name may, and so may those without one.
    shared : int
        Bytes of memory that a GPU shares with others already. `memory` does not include them. They count as usable by a
        plan whose peak has memory to share.
    kept : tuple of (str, int)
        What stays on a worker's device between calls, in words, with its bytes. `memory` does not include it.

    Examples
    --------
    >>> import mgraph
    >>> gpu = mgraph.DeviceSpec("cuda:0", "cuda", 16 << 30)
    >>> mgraph.plan("apsp", n=10_000, devices=[gpu]).method
    'blocked'
    """

    name: str
    kind: str
    memory: int
    cores: int = 1
    model: str = ""
    processors: int = 132
    held: int = 0
    host: int | None = None
    node: str = ""
    shared: int = 0
    kept: tuple[tuple[str, int], ...] = ()


#: The most things that a message lists of those that stay on a device.
LISTED = 6


def neighbours_in_words(spec: DeviceSpec) -> str:
    """Return in words which graphs and results lie on a device, to follow what it has free."""
    largest = sorted(spec.kept, key=lambda each: -each[1])
    listed = [f"{words} ({size_in_words(size)})" for words, size in largest[:LISTED]]
    if len(largest) > LISTED:
        rest = sum(size for _, size in largest[LISTED:])
        listed.append(f"{len(largest) - LISTED} more ({size_in_words(rest)})")
    return f" beside {', '.join(listed)}" if listed else ""


def spec_of(device: devices.Device, recent: bool = False) -> DeviceSpec:
    """Return the description of a device of this machine; if `recent`, the host's may be from a moment ago."""
    if device.kind == "cpu":
        reading = devices.host_reading(device, recent)
        return _host_spec(reading.memory, reading.cores)
    with device.active():
        processors = devices.cuda_attribute("MultiProcessorCount")
    return DeviceSpec(device.name, "cuda", device.available_memory(), 1, device.model(), processors)


@functools.lru_cache(4)
def _host_spec(memory: int, cores: int) -> DeviceSpec:
    """Return the description of the host, the same object for the same reading."""
    host = devices.find("cpu")
    return DeviceSpec(host.name, "cpu", memory, cores, host.model())


@functools.lru_cache(256)
def holding(spec: DeviceSpec, held: int) -> DeviceSpec:
    """Return the description of a device that holds some bytes of a graph."""
    return replace(spec, held=held)


def unheld(specs: tuple[DeviceSpec, ...]) -> tuple[DeviceSpec, ...]:
    """Return devices for a plan whose peak has no part of what they hold of a graph: that is not usable by it."""
    return tuple([holding(spec, 0) for spec in specs])


def sharing(specs: tuple[DeviceSpec, ...], needed: int) -> tuple[DeviceSpec, ...]:
    """Return devices for a plan whose peak has memory to share: what they share already is usable by it."""
    return tuple([holding(spec, spec.held + min(needed, spec.shared)) for spec in specs])


def specs_of(wanted: Any, memory: int | None = None) -> tuple[DeviceSpec, ...]:
    """Return descriptions of devices, given as a number of them, in words such as ``"4xcuda"``, or descriptions.

    With `memory`, the bytes that each has free, they need not exist.
    """
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
        wanted = [str(checked_integer("devices", wanted, 1, MAX_DEVICES))]
    if wanted is None or isinstance(wanted, (str, DeviceSpec)):
        wanted = [wanted]
    if not isinstance(wanted, Sequence) or isinstance(wanted, (bytes, bytearray)) or not len(wanted):
        raise InputError(argument="devices", value=wanted, expected="a number, names or DeviceSpecs")
    return tuple(spec for each in wanted for spec in _described(each, memory))


#: A number of devices, a device's name, or both.
_WORDS = re.compile(r"(\d{1,9})|(?:(\d{1,9})x)?(cpu|cuda(?::\d{1,9})?)")


def _described(wanted: Any, memory: int | None) -> tuple[DeviceSpec, ...]:
    """Return the descriptions of one element of `devices`."""
    if isinstance(wanted, DeviceSpec):
        return (_checked(wanted if memory is None else replace(wanted, memory=memory)),)
    words = _WORDS.fullmatch(wanted) if isinstance(wanted, str) else None
    if words is None and wanted is not None:
        absent = ": a GPU that is not in this machine is 'cuda' with ", ArgumentValue("memory", "80GB")
        advice = *absent, ", or what it has; times are then those of an H200"
        expected = "'cpu', 'cuda' or 'cuda:N', also several, as in '4xcuda'"
        raise InputError(*advice, argument="devices", value=wanted, expected=expected)
    count, name = (1, wanted) if words is None else (int(words[1] or words[2] or 1), words[3])
    checked_integer("devices", count, 1, MAX_DEVICES)
    if memory is None:
        return (spec_of(devices.find(name, "devices")),) * count
    kind = name.partition(":")[0] if name else devices.find().kind
    cores = spec_of(devices.find("cpu")).cores if kind == "cpu" else 1
    return (DeviceSpec(name or kind, kind, memory, cores),) * count


def host_memory(spec: DeviceSpec) -> int:
    """Return the bytes of the memory of a device's host that a plan counts with: by default, those that are free."""
    return devices.find("cpu").available_memory() if spec.host is None else spec.host


def _checked(spec: DeviceSpec) -> DeviceSpec:
    """Return a user's description of a device with its memory in bytes, or raise InputError."""
    for name in ("name", "model", "node"):
        if not isinstance(getattr(spec, name), str):
            raise InputError(argument=name, value=getattr(spec, name), expected="a string")
    checked_choice("kind", spec.kind, ("cpu", "cuda"))
    for name, least in (("cores", 1), ("processors", 1), ("held", 0), ("shared", 0)):
        checked_integer(name, getattr(spec, name), least, 2**62)
    if spec.host is not None:
        checked_integer("host", spec.host, 0, 2**62)
    memory = checked_bytes("memory", spec.memory, 0)
    return replace(spec, memory=checked_integer("memory", memory, 0, 2**62))


def rates_of(spec: DeviceSpec) -> Rates:
    """Return the rates of a device; for a CPU, of one core."""
    return known.rates(spec.kind, spec.model, spec.cores)


def speed_of(spec: DeviceSpec) -> Speed:
    """Return how many times faster a device is than the one on which the constants of plans were measured."""
    return known.speed(spec.kind, spec.model, spec.cores)


def usable(spec: DeviceSpec, memory_limit: int | None) -> int:
    """Return the bytes that a plan may use on a device."""
    usable = int(USABLE * spec.memory) + spec.held
    return usable if memory_limit is None else min(usable, memory_limit)
