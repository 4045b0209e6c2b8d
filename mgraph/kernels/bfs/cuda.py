"""Launches of the kernels of ``kernels/bfs.cu``: the operations of `mgraph.kernels.bfs.host`."""

from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import Meeting, cuda_attribute, cuda_function, launched_blocks
from ..edges import Adjacency, HubBuffers
from . import SearchArrays, SearchEdges

SOURCE = "bfs.cu"
INSTANCES = (
    *(
        f"levels<{o}, {tree}, {several}>"
        for o in ("int", "long long")
        for tree in ("false", "true")
        for several in ("false", "true")
    ),
    *(f"{kernel}<{o}>" for kernel in ("heads", "parents", "hub_parents") for o in ("int", "long long")),
    *("seed", "quads"),
)

#: Place of the frontier's level in the control words.
LEVEL = 2
#: Place of the word that says whether another GPU did not come.
LOST = 3
CONTROL_WORDS = 32

#: The number of each method in the kernel.
METHODS = {"hybrid": 0, "frontier": 1, "pull": 2}

#: As in the source: vertices with at least this many edges are hubs.
_HUB = 512
_THREADS = 1024

#: Blocks per multiprocessor that search the parents of hubs.
_PARENTING = 4

#: The most neighbours of a vertex, and the most vertices, of a graph that is stored as quads.
_FEW = 15
_MOST_VERTICES = 1 << 29


def hub_capacity(edges: int) -> int:
    return 2 * (edges // _HUB + 1)


def _there(array: Array) -> Any:
    """Return an array as a kernel's argument; a null pointer if it is empty."""
    return array if array.size else np.uintp(0)


def _offset(indptr: Array) -> str:
    return "int" if indptr.dtype == np.int32 else "long long"


def _levels(indptr: Array, tree: bool, several: bool) -> str:
    return f"levels<{_offset(indptr)}, {'true' if tree else 'false'}, {'true' if several else 'false'}>"


def compile_ahead(indptr: Array, tree: bool, several: bool) -> None:
    """Begin to compile `levels`, which takes longest."""
    devices.compile_ahead(SOURCE, _levels(indptr, tree, several), cooperative=True)


def shared_words(n: int, shards: int) -> int:
    """Return the words of 32 bits for data that each shard shares with the others, if there are any: two bitmaps."""
    return 2 * (-(-n // 128) * 4) if shards > 1 else 0


def fill(numbers: Array, value: int) -> None:
    numbers.fill(value)


def seed(sources: Array, first: int, last: int, distances: Array, visited: Array, frontier: Array) -> None:
    arguments = (sources, *map(np.int32, (len(sources), first, last)), distances, visited, frontier)
    cuda_function(SOURCE, "seed")((-(-len(sources) // 256),), (256,), arguments)


def heads(in_indptr: Array, in_indices: Array, out_indptr: Array, head: Array) -> None:
    """Write each row's in-neighbour with the most edges, among the first `_HUB` of a hub; -1 without one."""
    if len(head):
        kernel = cuda_function(SOURCE, f"heads<{_offset(in_indptr)}>")
        kernel((-(-len(head) // 256),), (256,), (in_indptr, in_indices, out_indptr, np.int32(len(head)), head))


def quads_needed(indptr: Array) -> int:
    """Return how many quads a graph needs; 0 if a vertex has too many neighbours."""
    n = len(indptr) - 1
    if indptr.dtype != np.int32 or not 0 < n <= _MOST_VERTICES:
        return 0
    degrees = indptr[1:] - indptr[:-1]
    return 0 if int(degrees.max()) > _FEW else n + int((degrees[degrees > 4] // 4).sum())


def quads(xp: Any, indptr: Array, indices: Array) -> Array:
    """Return the neighbours of a graph as quads; none if a vertex has too many neighbours."""
    n, made = len(indptr) - 1, xp.empty((quads_needed(indptr), 4), np.int32)
    if not made.size:
        return made
    degrees = indptr[1:] - indptr[:-1]
    degrees[degrees <= 4] = 0
    degrees //= 4
    links = degrees.cumsum(dtype=np.int32)
    links -= degrees
    cuda_function(SOURCE, "quads")((-(-n // 256),), (256,), (indptr, indices, links, np.int32(n), made))
    return made


def levels(
    edges: SearchEdges,
    arrays: SearchArrays,
    limit: int,
    method: int,
    shard: int,
    listed: bool,
    meeting: Meeting | None = None,
) -> None:
    *lists_of_edges, heads, quads = edges
    first, last, distances, parents, *state = arrays
    kernel = cuda_function(SOURCE, _levels(edges.out_indptr, parents.size > 0, meeting is not None), cooperative=True)
    arguments = (
        *(*lists_of_edges, _there(heads), _there(quads)),
        *(np.int32(len(distances)), np.int32(first), np.int32(last), distances, _there(parents), *state),
        *(np.int32(min(limit, 2**31 - 1)), np.int32(method), *map(np.int32, arrays.lists.shape)),
        *(np.int32(shard), np.bool_(listed), *(meeting or (np.uintp(0), np.uintp(0)))),
    )
    kernel((launched_blocks(cuda_attribute("MultiProcessorCount")),), (_THREADS,), arguments)


def parents(
    edges: Adjacency, first: int, last: int, distances: Array, root: int, parent: Array, hubs: HubBuffers
) -> None:
    """Write the least in-neighbour one level up of each vertex from `first` to `last`, or -9999.

    `root` is the only source, or -1.
    """
    if last == first:
        return
    hubs[1].fill(0)
    offset, here = _offset(edges[0]), (np.int32(first), np.int32(last))
    kernel = cuda_function(SOURCE, f"parents<{offset}>")
    kernel((-(-(last - first) // 256),), (256,), (*edges, *here, distances, np.int32(root), parent, *hubs))
    kernel = cuda_function(SOURCE, f"hub_parents<{offset}>")
    blocks = _PARENTING * cuda_attribute("MultiProcessorCount")
    kernel((blocks,), (256,), (*edges, here[0], distances, parent, *hubs))
