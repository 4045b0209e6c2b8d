"""Launches of the kernels of ``kernels/bfs_many.cu``: the operations of `mgraph.kernels.bfs_many.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from ..edges import Adjacency, HubBuffers
from . import SearchWords

SOURCE = "bfs_many.cu"

#: Words of 64 searches that a batch may have.
WORDS = (4, 2, 1)

INSTANCES = (
    *(
        f"{kernel}<{offset}, {w}>"
        for kernel in ("pull", "pull_hubs", "push", "push_hubs")
        for offset in ("int", "long long")
        for w in WORDS
    ),
    *(f"{kernel}<{w}>" for kernel in ("plant", "settle", "tally") for w in WORDS),
)

_THREADS = 256

#: Blocks per multiprocessor for the pieces of hubs, and to count.
_TAKING = 8


def plant(sources: Array, first: int, last: int, words: SearchWords, row: int, distances: Array) -> None:
    frontier, seen, _ = words
    arguments = _int(len(sources)), sources, _int(first), _int(last), frontier, seen, _int(row), distances
    _launch(f"plant<{frontier.shape[1]}>", len(sources), arguments)


def pull(edges: Adjacency, words: SearchWords, hubs: HubBuffers) -> None:
    hubs[1].fill(0)
    n = len(words.seen)
    _launch(_instance("pull", edges, words), n, (*edges, _int(n), *words, *hubs))
    _launch(_instance("pull_hubs", edges, words), _all(n), (*edges, *words, *hubs))


def push(edges: Adjacency, first: int, words: SearchWords, hubs: HubBuffers) -> None:
    hubs[1].fill(0)
    n = len(words.frontier) if len(words.seen) else 0
    _launch(_instance("push", edges, words), n, (*edges, _int(n), _int(first), *words, *hubs))
    _launch(_instance("push_hubs", edges, words), _all(n), (*edges, _int(first), *words, *hubs))


def settle(first: int, last: int, words: SearchWords, level: int, row: int, distances: Array, active: Array) -> None:
    frontier, seen, following = words
    arguments = (
        *(_int(first), _int(last), _int(level), following, seen, frontier),
        *(_int(row), distances, active),
    )
    _launch(f"settle<{frontier.shape[1]}>", last - first, arguments)


def tally(words: SearchWords, targets: Array, counts: Array, active: Array) -> None:
    """Make the new vertices the frontiers, add their number to `active`, and to `counts` that of targets."""
    frontier, seen, following = words
    n = len(seen)
    arguments = _int(n), targets, following, seen, frontier, counts, active
    _launch(f"tally<{frontier.shape[1]}>", min(n, _all(n)), arguments)


def _all(vertices: int) -> int:
    """Return the threads of a launch of all warps, as for the pieces of hubs, whose number only the device knows."""
    return _TAKING * cuda_attribute("MultiProcessorCount") * _THREADS if vertices else 0


def _int(value: int) -> np.int32:
    return np.int32(value)


def _instance(kernel: str, edges: Adjacency, words: SearchWords) -> str:
    return f"{kernel}<{'int' if edges[0].dtype == np.int32 else 'long long'}, {words.frontier.shape[1]}>"


def _launch(name: str, threads: int, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel with at least `threads` threads, in whole blocks; do nothing for 0."""
    if threads > 0:
        cuda_function(SOURCE, name)((-(-threads // _THREADS),), (_THREADS,), arguments)
