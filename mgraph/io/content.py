"""What the reader of a format is asked for, and what it returns."""

from typing import NamedTuple

import numpy as np


class Options(NamedTuple):
    """What the caller of `mgraph.read` says of the file."""

    n: int | None
    directed: bool | None
    weighted: bool | None
    relabel: bool


class Content(NamedTuple):
    """What a file holds: edges over vertices numbered from 0, and what the file says of them.

    Attributes
    ----------
    src, dst : array of int, shape (edges,)
        The edges' ends, checked: not negative, and below `n` where that is known.
    weights : array, shape (edges,), or None
        The edges' weights.
    n : int or None
        The number of vertices, if the file says it.
    directed : bool
        Whether each edge has one direction, if the caller does not say it.
    base : int
        The first vertex id in the file.
    """

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    n: int | None
    directed: bool
    base: int
