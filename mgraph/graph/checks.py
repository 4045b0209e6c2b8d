"""Checks of a graph's input: shapes, vertex ids, weights, and the memory for sorting."""

import sys
from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import as_array, checked_integer
from ..arrays import Array
from ..dtypes import MAX_VERTICES, weight_dtype
from ..errors import ArgumentValue, InputError
from .compressed import Edges
from .grouping import MANY, extremes


def check_square(shape: tuple[int, ...]) -> None:
    """Raise InputError for a matrix that is not square or has too many vertices."""
    if len(shape) != 2 or shape[0] != shape[1]:
        several = "; mgraph.apsp_batch takes a list of graphs" if len(shape) == 1 else ""
        if shape[1:] in ((2,), (3,)):
            several = "; mgraph.Graph.from_edges(*zip(*edges)) takes the ends of edges, and their weights"
        words = f"the matrix has shape {tuple(shape)}: it must be square, a row and column per vertex"
        raise InputError(words, several)
    if shape[0] > MAX_VERTICES:
        raise InputError(f"{shape[0]} vertices are beyond int32: at most {MAX_VERTICES}")


def check_memory(n: int, edges: int, home: devices.Device) -> None:
    """Raise MemoryLimitError if sorting a graph does not fit: three arrays of offsets, and copies of the edges."""
    what = f"sorting a graph of {n:,} vertices and {edges:,} edges"
    advice = "take fewer, or, if a file's ids are sparse, number those in use by "
    devices.check_free_memory(what, 12 * n + 40 * edges, home, advice, ArgumentValue("relabel", True))


def host_array(values: Any, name: str) -> np.ndarray:
    """Return an argument, which may lie on a GPU, as an array on the host; raises as `as_array` does."""
    on_host: np.ndarray = as_array(devices.to_host(values) if devices.of(values).kind == "cuda" else values, name)
    return on_host


def check_room(name: str, values: Any) -> None:
    """Raise MemoryLimitError if vertices are too many for memory; views of few bytes, and ranges, have any length."""
    try:
        length = len(values) if hasattr(values, "__len__") else 0
    except TypeError:  # an array without dimensions
        return
    except OverflowError:  # a range
        length = sys.maxsize
    if length >= MANY:
        needed = 40 * length  # an integer of Python, and a reference to it
        advice = "give fewer, in several calls"
        devices.check_free_memory(f"a list of {length:,} {name}", needed, devices.find("cpu"), advice)


def checked_edge_ends(values: Any, name: str, xp: Any) -> tuple[Array, int]:
    """Return one end of each edge, checked, and the largest, -1 without edges; or raise InputError."""
    values = as_array(values, name, xp)
    if values.ndim != 1:
        raise InputError(argument=name, value=values.shape, expected="of shape (m,), one vertex id per edge")
    if not values.size:
        return values.astype(np.int64), -1
    if values.dtype.kind not in "iu":
        advice = ": Graph.from_pandas numbers names" if values.dtype.kind in "OUT" else ""
        raise InputError(advice, argument=name, value=values.dtype.name, expected="integers, vertex ids from 0")
    if len(values) >= MANY:  # before a view, which may repeat few bytes, is copied
        devices.check_free_memory(f"sorting {len(values):,} edges", 40 * len(values), devices.of(values), "take fewer")
    least, largest = extremes(values)
    if least < 0:
        raise InputError(argument=name, value=least, expected="vertex ids of 0 or more")
    return values, largest


def vertex_count(n: int | None, largest: int) -> int:
    """Return the number of vertices: `n` if it is given, else one more than the largest id."""
    if largest >= MAX_VERTICES:
        raise InputError(
            f"the vertex id {largest} is beyond int32: relabel the ids (",
            ArgumentValue("relabel", True),
            " on reading)",
        )
    if n is None:
        return largest + 1
    n = checked_integer("n", n, 0, MAX_VERTICES)
    if largest >= n:
        wanted = f"greater than the largest vertex id, {largest}"
        raise InputError(argument="n", value=n, expected=wanted)
    return n


def check_one_per_edge(weights: Any, edges: int) -> None:
    """Raise InputError unless weights, in an array of any kind, are one for each edge."""
    shape = tuple(weights.shape)
    if shape != (edges,):
        value = weights.item() if not shape and hasattr(weights, "item") else shape
        raise InputError(argument="weights", value=value, expected=f"of shape ({edges},), one per edge")


def dtype_of_weights(weights: Any) -> np.dtype:
    """Return the type in which a graph keeps weights of edges, in an array of any kind; they must be numbers."""
    dtype = weight_dtype(np.dtype(weights.dtype))
    if dtype is None:
        raise InputError(
            "weights must be numbers, got truth values: leave them out, or keep only the edges that are true"
        )
    return dtype


def checked_weights(weights: Array, edges: int, part: str = "", copy: bool = True) -> Array:
    """Return weights in the type in which a graph keeps them.

    `part` says in messages of which part of the input they are: ``" of partition 3"``. Without `copy`, weights of that
    type are returned as they are.
    """
    check_one_per_edge(weights, edges)
    dtype = dtype_of_weights(weights)
    if dtype.kind == "f":
        if weights.size and not extremes(weights)[0] > -np.inf:  # NaN, if a number is
            edge = int((~(weights > -np.inf)).nonzero()[0][0])
            wanted, where = "numbers, or inf for 'no edge'", f" for edge {edge}{part}: leave that edge out"
            raise InputError(where, argument="weights", value=float(weights[edge]), expected=wanted)
    elif weights.dtype.kind == "u" and weights.size and int(weights.max()) > np.iinfo(np.int64).max:
        raise InputError(argument="weights", value=int(weights.max()), expected="in the range of int64")
    return weights.astype(dtype, copy=copy)


def check_both_directions(edges: Edges, back: Array) -> None:
    """Raise InputError if the two directions of an undirected edge have different weights.

    Parallel edges may stand in another order in the second direction, so their weights are compared in ascending order.
    """
    src, dst, weights = edges
    assert weights is not None
    differ = (weights != back).nonzero()[0]
    if not len(differ):
        return
    src, dst, weights, back = (part[differ] for part in (src, dst, weights, back))
    there, here = _ascending(src, dst, weights), _ascending(src, dst, back)
    differ = (weights[there] != back[here]).nonzero()[0]
    if len(differ):
        edge, other = int(there[differ[0]]), int(here[differ[0]])
        raise InputError(
            "weights must be the same in both directions of an undirected edge, got "
            f"{weights[edge].item()} from {int(src[edge])} to {int(dst[edge])} and {back[other].item()} back: for "
            "weights that differ, make a directed graph by Graph.from_edges(src, dst, weights)"
        )


def _ascending(src: Array, dst: Array, weights: Array) -> Array:
    """Return the order of edges by source, then target, then weight."""
    order = weights.argsort()
    for ends in (dst, src):
        order = order[ends[order].argsort(kind="stable")]
    return order


def imbalance(edges: Edges) -> int:
    """Return a number whose sum over all edges of an undirected graph is 0 modulo 2**64 if directions weigh the same.

    It adds a hash of each edge and subtracts that of the edge back, so edges may be added in any order, and anywhere.
    If directions differ, the sum is 0 with a probability of about 2**-64.
    """
    src, dst, weights = edges
    assert weights is not None
    value = weights.astype(np.float64) + 0.0 if weights.dtype.kind == "f" else weights.astype(np.int64)
    ends, bits = (src.astype(np.uint64), dst.astype(np.uint64)), value.view(np.uint64)
    there, back = _mixed(*ends, bits), _mixed(*ends[::-1], bits)
    return (int(there.sum(dtype=np.uint64)) - int(back.sum(dtype=np.uint64))) % 2**64


def _mixed(first: Array, second: Array, bits: Array) -> Array:
    found = (first << np.uint64(32) | second) * np.uint64(0x9E3779B97F4A7C15)
    for number in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):  # of the generator SplitMix64
        found ^= found >> np.uint64(30)
        found = (found ^ bits * np.uint64(0xD6E8FEB86659FD93)) * np.uint64(number)
    found ^= found >> np.uint64(31)
    return found
