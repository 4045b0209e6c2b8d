"""Properties of kernels for the planner: legal block sizes and methods, padding, and the sizes of their buffers."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import one_of
from ..errors import ArgumentValue, InputError


def check_block(block: int | None, legal: Sequence[int]) -> None:
    """Raise InputError for a block size that a kernel family is not compiled for."""
    if block is not None and block not in legal:
        raise InputError(argument="block", value=block, expected=one_of([str(each) for each in legal]))


def check_method(method: str, there: Sequence[str]) -> None:
    """Raise InputError for a method that only CPUs have, where a device has only the methods `there`."""
    if method not in there:
        raise InputError(
            ArgumentValue("method", method),
            " runs on a CPU: add ",
            ArgumentValue("device", "cpu"),
            ", or use ",
            ArgumentValue("method", "auto"),
        )


def padded(columns: int, kind: str) -> int:
    """Return the length of a matrix's rows on a kind of device."""
    alignment = (devices.CudaDevice if kind == "cuda" else devices.HostDevice).row_alignment
    return -(-columns // alignment) * alignment


class Shapes:
    """Replaces NumPy where only the sizes of arrays are needed, without allocating them."""

    class empty:
        """The size of an array that is not allocated."""

        def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
            self.size = math.prod(shape)
            self.nbytes = self.size * np.dtype(dtype).itemsize
