"""Launches of the kernels of ``kernels/apsp_batch.cu``: the operations of `mgraph.kernels.apsp_batch.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_function

SOURCE = "apsp_batch.cu"

#: The most vertices of graphs that are best solved together, ascending: a thread block has as many threads as the
#: largest graph of its class needs.
CLASSES = (32, 64, 128, 256, 512)

#: Threads across and down, and samples across and down, of a matrix in registers, by its class and whether there are
#: predecessors. For larger ones, registers do not suffice.
_IN_REGISTERS = {
    (32, False): (8, 4),
    (32, True): (8, 4),
    (64, False): (16, 4),
    (64, True): (16, 4),
    (128, False): (16, 8),
}

_HOPS = {np.dtype(np.int8): "signed char", np.dtype(np.int16): "short"}
_LENGTHS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int"}

INSTANCES = (
    "mark",
    *(f"lay<{t}>" for t in _LENGTHS.values()),
    *(f"hops<{most // 32}, {t}, {p}>" for most in CLASSES for t in _HOPS.values() for p in ("false", "true")),
    *(f"solve<{t}, {a}, {b}, {str(p).lower()}>" for t in _LENGTHS.values() for (_, p), (a, b) in _IN_REGISTERS.items()),
    *(f"eliminate<{t}, {p}>" for t in _LENGTHS.values() for p in ("false", "true")),
)

# As in the source.
_PIVOTS = 16
_TILE = 128
_THREADS = 256


def fill(results: Array, value: float) -> None:
    """Set all elements to a value, 8 bytes at a time: a store of one byte takes as long."""
    elements = results.reshape(results.size)
    pattern = np.full(8 // results.itemsize, value, results.dtype)
    whole = elements.size // pattern.size * pattern.size
    elements[:whole].view(np.int64).fill(int(pattern.view(np.int64)[0]))
    elements[whole:].fill(value)


def mark(src: Array, dst: Array, batch: Array, starts: Array, bits: Array, bad: Array) -> None:
    _, side, words = bits.shape
    _by_edge("mark", src, dst, batch, starts, side, bits, np.int32(words), bad)


def lay(src: Array, dst: Array, batch: Array, starts: Array, weights: Array, distances: Array, bad: Array) -> None:
    kernel = f"lay<{_LENGTHS[np.dtype(distances.dtype)]}>"
    _by_edge(kernel, src, dst, batch, starts, distances.shape[1], weights, distances, bad)


def _by_edge(kernel: str, src: Array, dst: Array, batch: Array, starts: Array, side: int, *rest: Any) -> None:
    """Launch a kernel with a thread for each edge."""
    edges = len(src)
    if edges:
        arguments = src, dst, np.int64(edges), batch, np.int64(len(batch)), starts, np.int32(side), *rest
        cuda_function(SOURCE, kernel)((-(-edges // _THREADS),), (_THREADS,), arguments)


def hops(
    bits: Array,
    order: Array,
    lengths: Array,
    longest: int,
    distances: Array,
    predecessors: Array | None,
    beyond: Array,
) -> None:
    wide, dtype = longest // 32, np.dtype(distances.dtype)
    kernel = cuda_function(SOURCE, f"hops<{wide}, {_HOPS[dtype]}, {_flag(predecessors)}>")
    _, side, words = bits.shape
    most = np.int32(np.iinfo(dtype).max - 1)
    sizes = np.int32(words), order, lengths, np.int32(side), most
    kernel((len(order),), (32 * wide,), (bits, *sizes, distances, _pointer(predecessors), beyond))


def solve(
    order: Array,
    lengths: Array,
    longest: int,
    distances: Array,
    predecessors: Array | None,
    cycles: Array,
) -> None:
    kind, flag, side = _LENGTHS[np.dtype(distances.dtype)], _flag(predecessors), distances.shape[1]
    results = distances, _pointer(predecessors), cycles
    sizes = _IN_REGISTERS.get((longest, predecessors is not None))
    if sizes is not None:
        across, samples = sizes
        kernel = cuda_function(SOURCE, f"solve<{kind}, {across}, {samples}, {flag}>")
        kernel((len(order),), (across * across,), (order, lengths, np.int32(side), *results))
        return
    pitch = -(-side // _TILE) * _TILE + 1
    shared = _PIVOTS * pitch * (2 * distances.itemsize + 2 * (predecessors is not None))
    kernel = cuda_function(SOURCE, f"eliminate<{kind}, {flag}>", shared=shared)
    arguments = order, lengths, np.int32(side), np.int32(pitch), *results
    kernel((len(order),), (_THREADS,), arguments, shared_mem=shared)


def _flag(predecessors: Array | None) -> str:
    return "false" if predecessors is None else "true"


def _pointer(array: Array | None) -> Any:
    return np.uintp(0) if array is None else array
