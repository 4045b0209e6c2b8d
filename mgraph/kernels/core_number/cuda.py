"""Launches of the kernels of ``kernels/core_number.cu``: the operations of `mgraph.kernels.core_number.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_function, launched_blocks
from . import Lists

SOURCE = "core_number.cu"

INSTANCES = (
    *(f"{kernel}<{offset}>" for kernel in ("find_flaws", "lower") for offset in ("int", "long long")),
    *("settle", "take"),
)

_THREADS = 256  # as in the source


def find_flaws(indptr: Array, indices: Array, first: int, flaws: Array) -> None:
    """Find the least vertex with a self-loop, and the least with parallel edges."""
    rows = len(indptr) - 1
    _launch(_instance("find_flaws", indptr), 32 * rows, indptr, indices, np.int32(rows), np.int32(first), flaws)


def list_capacity(n: int) -> int:
    """Return 0: a round looks at all vertices."""
    return 0


def settle(lists: Lists, lost: Array, taken: Array, degrees: Array, least: Array) -> None:
    """Subtract what the vertices have lost from their degrees; find the least degree of a vertex left."""
    _launch("settle", len(lost), np.int32(len(lost)), lost, taken, degrees, least)


def take(lists: Lists, degrees: Array, taken: Array, cores: Array, level: int, round: int) -> None:
    """Take the vertices left with a degree of at most `level`."""
    _launch("take", len(taken), np.int32(len(taken)), degrees, taken, cores, np.int32(level), np.int32(round))


def lower(lists: Lists, indptr: Array, indices: Array, first: int, taken: Array, round: int, lost: Array) -> None:
    """Count the edges to each vertex left from vertices taken in this round."""
    rows = len(indptr) - 1
    own = np.int32(rows), np.int32(first), taken, np.int32(round), lost
    _launch(_instance("lower", indptr), rows, indptr, indices, *own)


def _instance(kernel: str, indptr: Array) -> str:
    return f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}>"


def _launch(name: str, threads: int, *arguments: Any) -> None:
    """Launch a kernel with so many threads, unless blocks are limited; do nothing for none."""
    if threads > 0:
        cuda_function(SOURCE, name)((launched_blocks(-(-threads // _THREADS)),), (_THREADS,), arguments)
