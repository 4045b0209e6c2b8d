"""Launching the kernels of ``kernels/bfs.cu``; the operations are those of `mgraph.host.bfs`."""

from typing import Any

import numpy as np

from ..device import cuda_attribute, cuda_function

SOURCE = "bfs.cu"
INSTANCES = tuple(f"{kernel}<{offset}>" for kernel in ("levels", "parents") for offset in ("int", "long long"))

#: Where the host finds the number of the frontier's level, in the control words.
LEVEL = 2
CONTROL_WORDS = 32

#: The methods' numbers in the kernel.
METHODS = {"hybrid": 0, "frontier": 1, "pull": 2}

#: As in the source: the degree from which on a vertex counts as a hub.
_HUB = 2048
_THREADS = 1024

Array = Any


def hub_capacity(edges: int) -> int:
    """Return the most hubs that a graph with so many edges can have."""
    return edges // _HUB + 1


def _offset(indptr: Array) -> str:
    return "int" if indptr.dtype == np.int32 else "long long"


def levels(
    out_indptr: Array,
    out_indices: Array,
    in_indptr: Array,
    in_indices: Array,
    first: int,
    last: int,
    distances: Array,
    visited: Array,
    frontier: Array,
    found: Array,
    queue: Array,
    hubs: Array,
    lists: Array,
    control: Array,
    limit: int,
    method: int,
    shard: int,
    listed: bool,
) -> None:
    """Run up to `limit` levels of the search for the vertices from `first` to `last`, in one launch."""
    kernel = cuda_function(SOURCE, f"levels<{_offset(out_indptr)}>", cooperative=True)
    arguments = (
        *(out_indptr, out_indices, in_indptr, in_indices),
        *(np.int32(len(distances)), np.int32(first), np.int32(last)),
        *(distances, visited, frontier, found, queue, hubs, lists, control),
        *(np.int32(min(limit, 2**31 - 1)), np.int32(method)),
        *(np.int32(lists.shape[0]), np.int32(lists.shape[1]), np.int32(shard), np.bool_(listed)),
    )
    kernel((cuda_attribute("MultiProcessorCount"),), (_THREADS,), arguments)


def parents(in_indptr: Array, in_indices: Array, first: int, last: int, distances: Array, parent: Array) -> None:
    """Write the least in-neighbour one level up of each vertex from `first` to `last`, or -9999."""
    if last == first:
        return
    kernel = cuda_function(SOURCE, f"parents<{_offset(in_indptr)}>")
    arguments = (in_indptr, in_indices, np.int32(first), np.int32(last), distances, parent)
    kernel((-(-(last - first) // 256),), (256,), arguments)
