"""Launches of the kernels of ``kernels/strong.cu``: the operations of `mgraph.kernels.strong.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_function, launched_blocks

SOURCE = "strong.cu"

#: The methods of strong components that a GPU has.
METHODS = ("colouring",)

INSTANCES = (
    *(f"{kernel}<{offset}>" for kernel in ("pivot", "push", "pull", "spread") for offset in ("int", "long long")),
    *("divide", "start", "jump", "settle"),
)

# As in the source.
_THREADS = 256
_PROBES = 1024


def pivot(indptr: Array, indices: Array, chosen: Array) -> None:
    """Write a vertex that is likely to be in the giant component; there are edges."""
    kernel = cuda_function(SOURCE, _instance("pivot", indptr))
    kernel((1,), (_PROBES,), (indptr, indices, np.int64(len(indices)), chosen))


def push(indptr: Array, indices: Array, level: int, forward: Array, active: Array) -> None:
    """Mark what the vertices of a level have edges to with the next level; set `active` if there is any."""
    _launch(_instance("push", indptr), len(forward), indptr, indices, _n(forward), np.int32(level), forward, active)


def pull(indptr: Array, indices: Array, forward: Array, backward: Array, active: Array) -> None:
    """Mark vertices that are marked in `forward` and have an edge to a marked one; set `active` if there is any."""
    _launch(_instance("pull", indptr), len(forward), indptr, indices, _n(forward), forward, backward, active)


def divide(forward: Array, backward: Array, giant: int, labels: Array) -> None:
    """Label the vertices with both marks with `giant`, the others with -1."""
    _launch("divide", len(labels), _n(labels), forward, backward, np.int32(giant), labels)


def start(forward: Array, labels: Array, classes: Array, reached: Array, reaches: Array) -> None:
    """Give every vertex its own key, and a class: 0 if it is labelled, else by its mark."""
    _launch("start", len(labels), _n(labels), forward, labels, classes, reached, reaches)


def spread(indptr: Array, indices: Array, classes: Array, reached: Array, reaches: Array, active: Array) -> None:
    """Pass keys on along the edges within a class, in both directions; set `active` if a key changed."""
    arguments = indptr, indices, _n(classes), classes, reached, reaches, active
    _launch(_instance("spread", indptr), len(classes), *arguments)


def jump(classes: Array, reached: Array, reaches: Array) -> None:
    """Follow the vertices that the keys name to the greatest key."""
    _launch("jump", len(classes), _n(classes), classes, reached, reaches)


def settle(classes: Array, reached: Array, reaches: Array, labels: Array, active: Array) -> None:
    """Label the vertices whose keys are the same; start again with the others, and set `active` if there are any."""
    _launch("settle", len(classes), _n(classes), classes, reached, reaches, labels, active)


def _n(array: Array) -> np.int32:
    return np.int32(len(array))


def _instance(kernel: str, indptr: Array) -> str:
    return f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}>"


def _launch(name: str, threads: int, *arguments: Any) -> None:
    """Launch a kernel with one thread per vertex, unless blocks are limited; do nothing for 0 threads."""
    if threads > 0:
        cuda_function(SOURCE, name)((launched_blocks(-(-threads // _THREADS)),), (_THREADS,), arguments)
