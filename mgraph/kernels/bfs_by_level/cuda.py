"""Launches of the kernels of ``kernels/bfs_by_level.cu``: the operations of `mgraph.kernels.bfs_by_level.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from ..edges import Adjacency
from . import Queued, Visited

SOURCE = "bfs_by_level.cu"

#: The most vertices in a block's own queue.
HELD = 2048

#: The methods that a GPU has.
METHODS = ("edge", "vertex", "mask", "queue", "privatized", "scan")

INSTANCES = (
    *(
        f"{kernel}<{offset}>"
        for kernel in ("rows", "vertex", "expand", "gather", "thin")
        for offset in ("int", "long long")
    ),
    *(f"enqueue<{offset}, {held}>" for offset in ("int", "long long") for held in (0, HELD)),
    *("count", "list", "mark", "edge", "settle", "update", "filter"),
)

#: Places of a launch's results in the control words.
FOUND, LEVELS, LAST, EDGES = range(4)
CONTROL_WORDS = 4

#: As in the source: the most vertices in a level that one block runs.
THIN = 1024
_THREADS = 256

#: Blocks of `filter` per multiprocessor: as many as are resident.
_RESIDENT = 8


def count(frontier: Array, control: Array) -> None:
    _launch("count", len(frontier), _int(len(frontier)), frontier, control)


def list_frontier(frontier: Array, queue: Array, control: Array) -> None:
    _launch("list", len(frontier), _int(len(frontier)), frontier, queue, control)


def mark(queue: Array, frontier: Array) -> None:
    _launch("mark", len(queue), _int(len(queue)), queue, frontier)


def rows(in_indptr: Array, first: int, last: int, targets: Array) -> None:
    arguments = in_indptr, _int(first), _int(last), np.int64(len(targets)), targets
    _launch(f"rows<{_offset(in_indptr)}>", len(targets), *arguments)


def edge(sources: Array, targets: Array, frontier: Array, level: int, distances: Array) -> None:
    """Give unvisited targets of edges from the frontier the distance `level`, one thread per edge."""
    arguments = np.int64(len(sources)), sources, targets, frontier, _int(level), distances
    _launch("edge", len(sources), *arguments)


def vertex(edges: Adjacency, frontier: Array, level: int, distances: Array) -> None:
    n = len(distances)
    _launch(_instance("vertex", edges), n, *edges, _int(n), frontier, _int(level), distances)


def settle(first: int, last: int, level: int, distances: Array, frontier: Array, control: Array) -> None:
    _launch("settle", last - first, _int(first), _int(last), _int(level), distances, frontier, control)


def expand(
    edges: Adjacency,
    first: int,
    frontier: Array,
    visited: Array,
    level: int,
    updating: Array,
    distances: Array,
) -> None:
    n = len(distances)
    arguments = *edges, _int(n), _int(first), frontier, visited, _int(level), updating, distances
    _launch(_instance("expand", edges), n, *arguments)


def update(first: int, last: int, visited: Array, updating: Array, frontier: Array, control: Array) -> None:
    """Move the marked vertices to `frontier` and `visited`, and count them."""
    _launch("update", last - first, _int(first), _int(last), visited, updating, frontier, control)


def enqueue(
    edges: Adjacency, queue: Array, level: int, distances: Array, following: Array, held: int, control: Array
) -> None:
    size = len(queue)
    arguments = *edges, _int(size), queue, _int(level), distances, following, control
    _launch(f"enqueue<{_offset(edges[0])}, {held}>", size, *arguments)


def gather(edges: Adjacency, queue: Array, targets: Array, control: Array) -> None:
    size = len(queue)
    _launch(_instance("gather", edges), size, *edges, _int(size), queue, targets, control)


def filter_edges(
    targets: Array, visited: Visited, level: int, distances: Array, following: Array, control: Array
) -> None:
    blocks = _RESIDENT * cuda_attribute("MultiProcessorCount")
    arguments = targets, _int(visited.first), _int(level), visited.bits, distances, following, control
    cuda_function(SOURCE, "filter")((blocks,), (_THREADS,), arguments)


def thin(
    edges: Adjacency,
    visited: Visited,
    distances: Array,
    frontier: Queued,
    level: int,
    limit: int,
    control: Array,
) -> None:
    """Run up to `limit` levels in one block, as long as they are thin; the first gets distance `level`."""
    arguments = (
        *(*edges, _int(visited.first), visited.bits, distances, frontier.queue),
        *(_int(frontier.head), _int(frontier.tail), _int(level), _int(min(limit, 2**31 - 1)), control),
    )
    cuda_function(SOURCE, _instance("thin", edges))((1,), (THIN,), arguments)


def _int(value: int) -> np.int32:
    return np.int32(value)


def _offset(indptr: Array) -> str:
    return "int" if indptr.dtype == np.int32 else "long long"


def _instance(kernel: str, edges: Adjacency) -> str:
    return f"{kernel}<{_offset(edges[0])}>"


def _launch(name: str, threads: int, *arguments: Any) -> None:
    """Launch a kernel with at least `threads` threads, in whole blocks; do nothing for 0."""
    if threads > 0:
        cuda_function(SOURCE, name)((-(-threads // _THREADS),), (_THREADS,), arguments)
