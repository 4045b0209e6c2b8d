"""Checks that generators share: numbers, the device, and the memory that a graph needs."""

import contextlib
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..errors import InputError
from ..graph import check_memory


def checked_number(name: str, value: Any) -> float:
    """Return an argument that is a finite number or infinity as a float, or raise InputError."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    raise InputError(argument=name, value=value, expected="a number that a float can hold")


def host_random(seed: Any) -> "np.random.Generator":
    """Return NumPy's random generator for a seed."""
    return np.random.default_rng(checked_integer("seed", seed, 0))


def checked_place(device: str | None, n: int, edges: int) -> devices.Device:
    """Return a graph's device, or raise MemoryLimitError if the device has no memory to sort that many edges."""
    place = devices.find("cpu" if device is None else device)
    check_memory(n, edges, place)
    return place
