"""Launches of the kernels of ``kernels/sssp.cu``: the operations of `mgraph.kernels.sssp.host`."""

from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from .ops import Bounds, EdgeArrays, Lists, Masks, Piles

SOURCE = "sssp.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = (
    *(
        f"{kernel}<{t}, {offset}>"
        for kernel in ("piles", "masks", "parents", "tight")
        for t in _TYPES.values()
        for offset in ("int", "long long")
    ),
    *(f"{kernel}<{t}>" for kernel in ("start", "join", "settle_roots") for t in _TYPES.values()),
)

#: Places of the control words that the host reads: the number of rounds run, and the sizes of the piles.
ROUND, NEAR, FAR = 1, 2, 3
CONTROL_WORDS = 80

#: The value that `parents` leaves where it finds no predecessor.
OPEN = 2**31 - 1

#: As in the source.
_HUB, _PIECE, _THREADS = 128, 256, 1024


def piece_capacity(edges: int) -> int:
    """Return the most pieces into which the hubs of a graph with `edges` edges are cut."""
    return edges // _HUB + edges // _PIECE + 1


def _launch(kernel: str, indptr: Array, distances: Array, arguments: tuple[Any, ...]) -> None:
    offset = "int" if indptr.dtype == np.int32 else "long long"
    _launch_all(f"{kernel}<{_TYPES[np.dtype(distances.dtype)]}, {offset}>", arguments)


def _launch_all(name: str, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel cooperatively, with one block per multiprocessor."""
    blocks = cuda_attribute("MultiProcessorCount")
    cuda_function(SOURCE, name, cooperative=True)((blocks,), (_THREADS,), arguments)


def compile_ahead(indptr: Array, dtype: np.dtype, masked: bool) -> None:
    """Begin to compile `masks` or `piles`, which take longest."""
    offset = "int" if indptr.dtype == np.int32 else "long long"
    name = f"{'masks' if masked else 'piles'}<{_TYPES[np.dtype(dtype)]}, {offset}>"
    devices.compile_ahead(SOURCE, name, cooperative=True)


def start(seeds: Array, window: float, distances: Array, near: Array, bound: Array, control: Array) -> None:
    """Put the seeds on the near pile at distance zero, and set the bound to `window`."""
    scalar = distances.dtype.type
    arguments = seeds, np.int32(len(seeds)), scalar(window), distances, near, bound, control
    _launch_all(f"start<{_TYPES[np.dtype(distances.dtype)]}>", arguments)


def piles(edges: EdgeArrays, arrays: Piles, control: Array, bounds: Bounds, rounds: int) -> None:
    """Run up to `rounds` rounds from the near pile, refilled from the far pile, in one launch."""
    n = np.int32(len(arrays.distances))
    arguments = *edges, n, *arrays, control, *_scalars(arrays.distances, bounds, rounds)
    _launch("piles", edges[0], arrays.distances, arguments)


def join(first: int, last: int, known: Array, mask: Array, arrays: Piles, control: Array, window: float) -> None:
    """Put other shards' vertices that fell on the near pile, and write a mask of the shard's own that fell."""
    distances, near, bound = arrays.distances, arrays.near, arrays.bound
    sizes = map(np.int32, (len(distances), first, last))
    arguments = *sizes, distances, known, mask, near, bound, control, distances.dtype.type(window)
    _launch_all(f"join<{_TYPES[np.dtype(distances.dtype)]}>", arguments)


def masks(
    edges: EdgeArrays,
    arrays: Masks,
    lists: Lists,
    control: Array,
    bounds: Bounds,
    shard: int,
    listed: bool,
    rounds: int,
) -> None:
    """Run up to `rounds` rounds by masks, in one launch, and write the shard's list."""
    first, last, *state = arrays
    sizes = map(np.int32, (len(arrays.distances), first, last))
    shards, length = lists.vertices.shape
    where = np.int32(length), np.int32(shards), np.int32(shard), np.bool_(listed)
    scalars = _scalars(arrays.distances, bounds, rounds)
    _launch("masks", edges[0], arrays.distances, (*edges, *sizes, *state, *lists, *where, control, *scalars))


def _scalars(distances: Array, bounds: Bounds, rounds: int) -> tuple[Any, ...]:
    scalar = distances.dtype.type
    return scalar(bounds.window), scalar(bounds.limit), np.int32(bounds.target), np.int32(min(rounds, 2**31 - 1))


def parents(edges: EdgeArrays, first: int, distances: Array, parent: Array, pieces: Array, control: Array) -> None:
    """Write, for each vertex from `first` on, the least nearer vertex with a tight edge to it."""
    sizes = map(np.int32, (len(distances), first))
    _launch("parents", edges[0], distances, (*edges, *sizes, distances, parent, pieces, control))


def tight(
    edges: EdgeArrays, first: int, distances: Array, parent: Array, hops: Array, pieces: Array, control: Array
) -> None:
    """Write 1 for each tight edge to a vertex without a predecessor, and otherwise int32's infinity."""
    sizes = map(np.int32, (len(distances), first))
    _launch("tight", edges[0], distances, (*edges, *sizes, distances, parent, hops, pieces, control))


def settle_roots(first: int, source: int, distances: Array, parent: Array, open_anywhere: Array) -> None:
    """Write -9999 for unreached vertices and the source; set open_anywhere[0] if another vertex is open."""
    last = first + len(parent)
    if last == first:
        return
    kernel = cuda_function(SOURCE, f"settle_roots<{_TYPES[np.dtype(distances.dtype)]}>")
    where = map(np.int32, (first, last, source))
    kernel((-(-(last - first) // 256),), (256,), (*where, distances, parent, open_anywhere))
