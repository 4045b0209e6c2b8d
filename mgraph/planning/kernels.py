"""What the planner asks of the kernels: their constants, the blocks they take, and what they would allocate."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import device as devices
from ..errors import Given, InputError


def check_block(block: int | None, legal: Sequence[int]) -> None:
    """Refuse a number of pivots that a family is not compiled for."""
    if block is not None and block not in legal:
        known = ", ".join(map(str, legal))
        raise InputError(Given("block", block), f" is not supported: use one of {known}; by default the best is taken")


def padded(columns: int, kind: str) -> int:
    """Return the length of a matrix's rows on a kind of device."""
    alignment = (devices.CudaDevice if kind == "cuda" else devices.HostDevice).row_alignment
    return -(-columns // alignment) * alignment


class Shapes:
    """Stands in for NumPy where only the size of what would be allocated is asked."""

    class empty:
        """An array that is not there."""

        def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
            self.size = math.prod(shape)
            self.nbytes = self.size * np.dtype(dtype).itemsize
