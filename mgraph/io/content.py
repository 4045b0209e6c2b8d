"""The options and the result of a format's reader."""

from typing import NamedTuple

import numpy as np


class Options(NamedTuple):
    """The options of `mgraph.read` that describe the file."""

    n: int | None
    directed: bool | None
    weighted: bool | None
    relabel: bool
    #: The attribute of edges that is their weight, in a format whose edges have attributes.
    weight: str | None = None


class Content(NamedTuple):
    """The content of a file: edges over vertices numbered from 0, and the file's own description of them.

    Attributes
    ----------
    src, dst : array of int, shape (edges,)
        The ends of the edges, checked: not negative, and less than `n` if that is known.
    weights : array, shape (edges,), or None
        The edges' weights.
    n : int or None
        The number of vertices, if the file has it.
    directed : bool
        Whether edges have one direction, if the caller does not specify it.
    base : int
        The first vertex id in the file.
    ids : array or None
        The ids of the vertices in a file that does not number them.
    """

    src: np.ndarray
    dst: np.ndarray
    weights: np.ndarray | None
    n: int | None
    directed: bool
    base: int
    ids: np.ndarray | None = None
