"""Refusing what does not fit the free memory of a device."""

import contextlib
import time
from collections.abc import Iterator
from typing import NamedTuple

from .. import limits
from ..arguments import size_in_words
from ..errors import ArgumentValue, MemoryLimitError
from .base import Device

#: Seconds for which a reading of the host is recent, and the bytes below which that is enough for an allocation.
RECENT, RECENT_BYTES = 0.01, 1 << 20


class HostReading(NamedTuple):
    """What this process may use of the host: bytes of memory and cores, and when they were read."""

    memory: int
    cores: int
    moment: float


_last = HostReading(0, 0, float("-inf"))


def host_reading(host: Device, recent: bool = False) -> HostReading:
    """Return what this process may use now; if `recent`, as it was at most `RECENT` seconds ago.

    To read it takes as long as a whole call on a small graph: the limits of containers are in files.
    """
    global _last
    now = time.monotonic()
    if not recent or now - _last.moment >= RECENT:
        _last = HostReading(host.available_memory(), limits.cores(), now)
    return _last


def check_free_memory(what: str, needed: int, device: Device, *advice: str | ArgumentValue) -> None:
    """Raise MemoryLimitError unless a device has `needed` bytes free for `what`; `advice` says how to need less."""
    few = needed < RECENT_BYTES and device.kind == "cpu"
    there = host_reading(device, recent=True).memory if few else device.available_memory()
    if needed > there:
        raise MemoryLimitError(
            f"{what} needs {size_in_words(needed)} of memory, and {device.name} has {size_in_words(there)} free",
            *((": ", *advice) if advice else ()),
        )


@contextlib.contextmanager
def allocating(what: str, needed: int, device: Device, *advice: str | ArgumentValue) -> Iterator[None]:
    """Run a block that allocates up to `needed` bytes on a device, if it has them free.

    Raises
    ------
    MemoryLimitError
        Before the block if the device has less free, and if an allocation of the block fails nevertheless.
    """
    check_free_memory(what, needed, device, *advice)
    try:
        yield
    except MemoryLimitError:
        raise
    except MemoryError as error:
        raise MemoryLimitError(
            f"{what} ran out of memory{f' ({error})' if str(error) else ''}: it needs {size_in_words(needed)}, and "
            f"{device.name} has {size_in_words(device.available_memory())} free now"
        ) from error
