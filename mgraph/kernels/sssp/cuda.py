"""Launches of the kernels of ``kernels/sssp.cu``: the operations of `mgraph.kernels.sssp.host`."""

from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import Meeting, cuda_attribute, cuda_function, launched_blocks
from . import Bounds, EdgeArrays, Lists, Masks, Piles

SOURCE = "sssp.cu"
_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}
INSTANCES = (
    *(
        f"{kernel}<{t}, {offset}>"
        for kernel in ("masks", "parents", "tight")
        for t in _TYPES.values()
        for offset in ("int", "long long")
    ),
    *(
        f"piles<{t}, {offset}, {several}>"
        for t in _TYPES.values()
        for offset in ("int", "long long")
        for several in ("false", "true")
    ),
    *(f"{kernel}<{t}>" for kernel in ("start", "join", "settle_roots") for t in _TYPES.values()),
)

#: Places of the control words that the host reads: the number of rounds run, and the sizes of the piles.
ROUND, NEAR, FAR = 1, 2, 3
#: Place of the word that says whether another GPU did not come.
LOST = 6
CONTROL_WORDS = 80

#: The value that `parents` leaves where it finds no predecessor.
OPEN = 2**31 - 1

#: As in the source.
_HUB, _PIECE, _THREADS = 128, 256, 1024


def piece_capacity(edges: int) -> int:
    return edges // _HUB + edges // _PIECE + 1


def shared_words(n: int, itemsize: int) -> int:
    """Return the words of 32 bits that each shard shares with the others: two lists of all vertices and distances."""
    return 2 * (-(-n // 32) * 32) * (1 + itemsize // 4)


def _instance(kernel: str, indptr: Array, dtype: np.dtype) -> str:
    offset = "int" if indptr.dtype == np.int32 else "long long"
    return f"{kernel}<{_TYPES[np.dtype(dtype)]}, {offset}>"


def _piles(indptr: Array, dtype: np.dtype, several: bool) -> str:
    return _instance("piles", indptr, dtype).replace(">", f", {'true' if several else 'false'}>")


def _launch(kernel: str, indptr: Array, distances: Array, arguments: tuple[Any, ...]) -> None:
    _launch_all(_instance(kernel, indptr, distances.dtype), arguments)


def _launch_all(name: str, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel cooperatively, with one block per multiprocessor."""
    blocks = launched_blocks(cuda_attribute("MultiProcessorCount"))
    cuda_function(SOURCE, name, cooperative=True)((blocks,), (_THREADS,), arguments)


def compile_ahead(indptr: Array, dtype: np.dtype, masked: bool, several: bool) -> None:
    """Begin to compile `masks` or `piles`, which take longest."""
    name = _instance("masks", indptr, dtype) if masked else _piles(indptr, dtype, several)
    devices.compile_ahead(SOURCE, name, cooperative=True)


def start(seeds: Array, window: float, distances: Array, near: Array, bound: Array, control: Array) -> None:
    scalar = distances.dtype.type
    arguments = seeds, np.int32(len(seeds)), scalar(window), distances, near, bound, control
    _launch_all(f"start<{_TYPES[np.dtype(distances.dtype)]}>", arguments)


def piles(
    edges: EdgeArrays, arrays: Piles, control: Array, bounds: Bounds, rounds: int, meeting: Meeting | None = None
) -> None:
    n = np.int32(len(arrays.distances))
    where = meeting or (np.uintp(0), np.uintp(0))
    arguments = *edges, n, *arrays, control, *_scalars(arrays.distances, bounds, rounds), *where
    _launch_all(_piles(edges[0], arrays.distances.dtype, meeting is not None), arguments)


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
    sizes = map(np.int32, (len(distances), first))
    _launch("parents", edges[0], distances, (*edges, *sizes, distances, parent, pieces, control))


def tight(
    edges: EdgeArrays, first: int, distances: Array, parent: Array, hops: Array, pieces: Array, control: Array
) -> None:
    sizes = map(np.int32, (len(distances), first))
    _launch("tight", edges[0], distances, (*edges, *sizes, distances, parent, hops, pieces, control))


def settle_roots(first: int, source: int, distances: Array, parent: Array, open_anywhere: Array) -> None:
    last = first + len(parent)
    if last == first:
        return
    kernel = cuda_function(SOURCE, f"settle_roots<{_TYPES[np.dtype(distances.dtype)]}>")
    where = map(np.int32, (first, last, source))
    kernel((-(-(last - first) // 256),), (256,), (*where, distances, parent, open_anywhere))
