"""Launches of the kernels of ``kernels/strong.cu``: the operations of `mgraph.kernels.strong.host`."""

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks

SOURCE = "strong.cu"

#: The methods of strong components that a GPU has.
METHODS = ("colouring",)

INSTANCES = tuple(f"{kernel}<{o}>" for kernel in ("pivot", "find_giant", "colour") for o in ("int", "long long"))

#: The words of `control`, and the place of the number of rounds.
CONTROL_WORDS = 6
ROUNDS = 5

# As in the source.
_THREADS = 256
_PROBES = 1024

# Blocks of a multiprocessor that are launched; the source makes sure that there is room for them.
_LAUNCHED = 5


def pivot(indptr: Array, indices: Array, chosen: Array) -> None:
    kernel = cuda_function(SOURCE, _instance("pivot", indptr))
    kernel((1,), (_PROBES,), (indptr, indices, np.int64(len(indices)), chosen))


def find_giant(
    indptr: Array, indices: Array, chosen: Array, forward: Array, backward: Array, labels: Array, control: Array
) -> None:
    """Label the component of `chosen` with its least vertex, the other vertices with -1, in one launch."""
    _launch("find_giant", indptr, indices, chosen, forward, backward, labels, control)


def colour(
    indptr: Array,
    indices: Array,
    forward: Array,
    labels: Array,
    classes: Array,
    reached: Array,
    reaches: Array,
    control: Array,
) -> None:
    """Label the vertices without a label, and write the number of rounds to `control`, in one launch."""
    _launch("colour", indptr, indices, forward, labels, classes, reached, reaches, control)


def _instance(kernel: str, indptr: Array) -> str:
    return f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}>"


def _launch(kernel: str, indptr: Array, indices: Array, *arguments: Array) -> None:
    """Launch a kernel cooperatively, with as many blocks as have work, and no more than are resident."""
    n = len(indptr) - 1
    blocks = launched_blocks(min(_LAUNCHED * cuda_attribute("MultiProcessorCount"), -(-n // _THREADS)))
    function = cuda_function(SOURCE, _instance(kernel, indptr), cooperative=True)
    function((blocks,), (_THREADS,), (indptr, indices, np.int32(n), *arguments))
