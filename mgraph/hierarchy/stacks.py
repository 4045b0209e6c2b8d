"""Several sets of weights for the edges of a graph: a matrix with a row for each set, or a sequence of arrays.

Shapes and types are checked at once, numbers when their set has its turn: a matrix in a file is read as it is needed.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..arrays import Array
from ..dtypes import distance_dtype, weight_dtype
from ..errors import InputError, MgraphError, precede
from ..graph import Graph
from ..graph.checks import check_one_per_edge, dtype_of_weights
from .lengths import TYPES


@dataclass(frozen=True)
class Stack:
    """Sets of weights, of the right shape: an array of shape (sets, m), or a list of arrays of shape (m,)."""

    sets: Array | list[Array]

    def __len__(self) -> int:
        return len(self.sets)

    def dtype(self, number: int) -> np.dtype:
        """Return the type of the weights of a set."""
        each = self.sets[number] if isinstance(self.sets, list) else self.sets
        return np.dtype(each.dtype)

    def distance_types(self, asked: Any) -> list[np.dtype]:
        """Return the type of distances for each set, given the one that is asked for.

        Raises
        ------
        InputError
            For another type, or an integer type for weights that are floats.
        """
        if not isinstance(self.sets, list):
            return [distance_dtype(weight_dtype(np.dtype(self.sets.dtype)), asked, TYPES)] * len(self)
        types = []
        for number in range(len(self)):
            with naming(number):
                types.append(distance_dtype(weight_dtype(self.dtype(number)), asked, TYPES))
        return types

    def batch(self, first: int, most: int) -> range:
        """Return the numbers of sets of one type that follow one another, at most so many."""
        last = first + 1
        while last < min(first + most, len(self)) and self.dtype(last) == self.dtype(first):
            last += 1
        return range(first, last)

    def on(self, device: devices.Device, batch: range) -> Array:
        """Return some sets as a matrix on a device."""
        some = self.sets[batch.start : batch.stop]
        if isinstance(some, list):
            with device.active():
                rows = device.xp.empty((len(some), *some[0].shape), some[0].dtype.newbyteorder("="))
                for row, each in zip(rows, some, strict=True):
                    row[...] = device.asarray(_native(each))
            return rows
        return device.asarray(_native(some))


def stack_of(weights: Any, m: int) -> Stack | None:
    """Return several sets of weights that an argument has; None if it is a single one, or a graph.

    Raises
    ------
    InputError
        For sets of another shape, or not of numbers; of a sequence, the message names the set.
    """
    if _is_graph(weights):
        return None
    if isinstance(weights, (list, tuple)):
        if not weights or (not _is_graph(weights[0]) and np.ndim(weights[0]) == 0):
            return None
        sets = []
        for number, each in enumerate(weights):
            with naming(number):
                sets.append(_set_of(each, m))
        return Stack(sets)
    if getattr(weights, "ndim", 1) < 2:
        return None
    given = _as_array(weights)
    if given.ndim != 2 or given.shape[1] != m:
        turned = ": give weights.T" if given.ndim == 2 and len(given) == m else ""
        expected = f"of shape ({m},), one per edge, or of shape (sets, {m}), a row for each set"
        raise InputError(turned, argument="weights", value=given.shape, expected=expected)
    dtype_of_weights(given)
    return Stack(given)


@contextlib.contextmanager
def naming(number: int) -> Iterator[None]:
    """Name a set of weights in the errors of the block."""
    try:
        yield
    except MgraphError as error:
        precede(error, f"weights[{number}]: ")
        raise


def _set_of(weights: Any, m: int) -> Array:
    """Return one set of weights of a sequence as an array."""
    if _is_graph(weights):
        advice = ": for graphs take map(hierarchy.customize, graphs)"
        raise InputError(advice, argument="weights", value=weights, expected=f"an array of shape ({m},)")
    given = _as_array(weights)
    check_one_per_edge(given, m)
    dtype_of_weights(given)
    return given


def _is_graph(weights: Any) -> bool:
    return isinstance(weights, Graph) or hasattr(weights, "tocoo")


def _as_array(weights: Any) -> Array:
    """Return an argument as an array where it lies."""
    return weights if devices.of(weights).kind == "cuda" else as_array(weights, "weights")


def _native(weights: Array) -> Array:
    """Return weights in this machine's order of bytes."""
    return weights.astype(weights.dtype.newbyteorder("="), copy=False)
