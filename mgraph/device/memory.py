"""Refusing what does not fit the free memory of a device."""

import contextlib
from collections.abc import Iterator

from ..arguments import size_in_words
from ..errors import Given, MemoryLimitError
from .base import Device


def check_free_memory(what: str, needed: int, device: Device, *advice: str | Given) -> None:
    """Raise MemoryLimitError unless a device has `needed` bytes free for `what`; `advice` says how to need less."""
    there = device.available_memory()
    if needed > there:
        raise MemoryLimitError(
            f"{what} needs {size_in_words(needed)} of memory, and {device.name} has {size_in_words(there)} free",
            *((": ", *advice) if advice else ()),
        )


@contextlib.contextmanager
def allocating(what: str, needed: int, device: Device, *advice: str | Given) -> Iterator[None]:
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
