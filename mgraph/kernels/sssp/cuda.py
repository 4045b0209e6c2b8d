"""Launches of the kernels of ``kernels/sssp.cu``: the operations of `mgraph.kernels.sssp.host`."""

from typing import Any

import numpy as np

from ... import device as devices
from ...device import cuda_attribute, cuda_function

SOURCE = "sssp.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = (
    *(
        f"{kernel}<{t}, {offset}>"
        for kernel in ("piles", "masks", "parents", "tight")
        for t in _TYPES.values()
        for offset in ("int", "long long")
    ),
    *(f"{kernel}<{t}>" for kernel in ("start", "settle_roots") for t in _TYPES.values()),
)

#: Where the host finds the rounds that were run, in the control words.
ROUND = 1
CONTROL_WORDS = 80

#: What `parents` leaves where it finds none.
OPEN = 2**31 - 1

#: As in the source.
_HUB, _PIECE, _THREADS = 128, 256, 1024

Array = Any


def piece_capacity(edges: int) -> int:
    """Return the most pieces that the hubs of a graph with so many edges are cut into."""
    return edges // _HUB + edges // _PIECE + 1


def _launch(kernel: str, indptr: Array, distances: Array, arguments: tuple[Any, ...]) -> None:
    offset = "int" if indptr.dtype == np.int32 else "long long"
    _launch_all(f"{kernel}<{_TYPES[np.dtype(distances.dtype)]}, {offset}>", arguments)


def _launch_all(name: str, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel with a block for each multiprocessor."""
    blocks = cuda_attribute("MultiProcessorCount")
    cuda_function(SOURCE, name, cooperative=True)((blocks,), (_THREADS,), arguments)


def compile_ahead(indptr: Array, dtype: np.dtype, masked: bool) -> None:
    """Begin to compile the rounds, by masks or by piles, which take longest."""
    offset = "int" if indptr.dtype == np.int32 else "long long"
    name = f"{'masks' if masked else 'piles'}<{_TYPES[np.dtype(dtype)]}, {offset}>"
    devices.compile_ahead(SOURCE, name, cooperative=True)


def start(seeds: Array, window: float, distances: Array, near: Array, bound: Array, control: Array) -> None:
    """Begin with the seeds as the near pile, at distance zero, and with the first bound."""
    scalar = distances.dtype.type
    arguments = seeds, np.int32(len(seeds)), scalar(window), distances, near, bound, control
    _launch_all(f"start<{_TYPES[np.dtype(distances.dtype)]}>", arguments)


def piles(
    indptr: Array,
    indices: Array,
    weights: Array,
    distances: Array,
    near: Array,
    far: Array,
    stamps: Array,
    waits: Array,
    pieces: Array,
    bound: Array,
    control: Array,
    window: float,
    limit: float,
    target: int,
    rounds: int,
) -> None:
    """Run up to `rounds` rounds from the near pile, and from the far one where that is empty, in one launch."""
    scalar = distances.dtype.type
    arguments = (
        *(indptr, indices, weights, np.int32(len(distances)), distances, near, far, stamps, waits, pieces, bound),
        *(control, scalar(window), scalar(limit), np.int32(target), np.int32(min(rounds, 2**31 - 1))),
    )
    _launch("piles", indptr, distances, arguments)


def masks(
    indptr: Array,
    indices: Array,
    weights: Array,
    first: int,
    last: int,
    distances: Array,
    updating: Array,
    mask: Array,
    pieces: Array,
    bound: Array,
    control: Array,
    window: float,
    limit: float,
    target: int,
    rounds: int,
) -> None:
    """Run up to `rounds` rounds over masks for the targets from `first` to `last`, in one launch."""
    scalar = distances.dtype.type
    arguments = (
        *(indptr, indices, weights, np.int32(len(distances)), np.int32(first), np.int32(last)),
        *(distances, updating, mask, pieces, bound, control),
        *(scalar(window), scalar(limit), np.int32(target), np.int32(min(rounds, 2**31 - 1))),
    )
    _launch("masks", indptr, distances, arguments)


def parents(
    indptr: Array,
    indices: Array,
    weights: Array,
    first: int,
    distances: Array,
    parent: Array,
    pieces: Array,
    control: Array,
) -> None:
    """Write the least nearer vertex with a tight edge to it of each vertex from `first` on that has one."""
    n = np.int32(len(distances))
    arguments = (indptr, indices, weights, n, np.int32(first), distances, parent, pieces, control)
    _launch("parents", indptr, distances, arguments)


def tight(
    indptr: Array,
    indices: Array,
    weights: Array,
    first: int,
    distances: Array,
    parent: Array,
    hops: Array,
    pieces: Array,
    control: Array,
) -> None:
    """Write 1 for each tight edge to a vertex without a predecessor, and int32's kernel infinity for the others."""
    n = np.int32(len(distances))
    arguments = (indptr, indices, weights, n, np.int32(first), distances, parent, hops, pieces, control)
    _launch("tight", indptr, distances, arguments)


def settle_roots(first: int, source: int, distances: Array, parent: Array, open_anywhere: Array) -> None:
    """Take -9999 for what no path leads to and for the source; set open_anywhere[0] if another vertex is left open."""
    last = first + len(parent)
    if last == first:
        return
    kernel = cuda_function(SOURCE, f"settle_roots<{_TYPES[np.dtype(distances.dtype)]}>")
    where = map(np.int32, (first, last, source))
    kernel((-(-(last - first) // 256),), (256,), (*where, distances, parent, open_anywhere))
