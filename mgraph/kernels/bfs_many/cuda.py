"""Launches of the kernels of ``kernels/bfs_many.cu``: the operations of `mgraph.kernels.bfs_many.host`."""

from typing import Any

import numpy as np

from ...device import cuda_attribute, cuda_function

SOURCE = "bfs_many.cu"

#: Words of 64 searches that a batch may have, a vertex.
WORDS = (4, 2, 1)

INSTANCES = (
    *(
        f"{kernel}<{offset}, {w}>"
        for kernel in ("pull", "pull_hubs", "push", "push_hubs")
        for offset in ("int", "long long")
        for w in WORDS
    ),
    *(f"{kernel}<{w}>" for kernel in ("plant", "settle") for w in WORDS),
)

_THREADS = 256

#: Blocks of a multiprocessor that take the pieces of hubs.
_TAKING = 8

Array = Any


def plant(sources: Array, first: int, last: int, frontier: Array, seen: Array, row: int, distances: Array) -> None:
    """Start a search from each of `sources`, whose distances begin with row `row`."""
    arguments = _int(len(sources)), sources, _int(first), _int(last), frontier, seen, _int(row), distances
    _launch(f"plant<{frontier.shape[1]}>", len(sources), arguments)


def pull(
    in_indptr: Array, in_indices: Array, frontier: Array, seen: Array, following: Array, hubs: Array, total: Array
) -> None:
    """Gather for each vertex who of its in-neighbours is in a frontier.

    `hubs` has room for `hub_capacity` words of `mgraph.kernels.bfs.cuda`, `total` is a word.
    """
    total.fill(0)
    edges, words, put_off = (in_indptr, in_indices), (frontier, seen, following), (hubs, total)
    _launch(_instance("pull", in_indptr, frontier), len(seen), (*edges, _int(len(seen)), *words, *put_off))
    _launch(_instance("pull_hubs", in_indptr, frontier), _all(len(seen)), (*edges, *words, *put_off))


def push(
    out_indptr: Array,
    out_indices: Array,
    first: int,
    frontier: Array,
    seen: Array,
    following: Array,
    hubs: Array,
    total: Array,
) -> None:
    """Send along the edges of each vertex what frontiers it is in; `following` is zero before.

    `hubs` and `total` are as in `pull`.
    """
    total.fill(0)
    n = len(frontier) if len(seen) else 0
    edges, words, put_off = (out_indptr, out_indices), (frontier, seen, following), (hubs, total)
    _launch(_instance("push", out_indptr, frontier), n, (*edges, _int(n), _int(first), *words, *put_off))
    _launch(_instance("push_hubs", out_indptr, frontier), _all(n), (*edges, _int(first), *words, *put_off))


def settle(
    first: int,
    last: int,
    level: int,
    following: Array,
    seen: Array,
    frontier: Array,
    row: int,
    distances: Array,
    active: Array,
) -> None:
    """Make the new vertices the frontiers, at distance `level`, and add their number to `active`."""
    arguments = (
        *(_int(first), _int(last), _int(level), following, seen, frontier),
        *(_int(row), distances, active),
    )
    _launch(f"settle<{frontier.shape[1]}>", last - first, arguments)


def _all(vertices: int) -> int:
    """Return the threads of a launch for the pieces of hubs, whose number the host does not know."""
    return _TAKING * cuda_attribute("MultiProcessorCount") * _THREADS if vertices else 0


def _int(value: int) -> np.int32:
    return np.int32(value)


def _instance(kernel: str, indptr: Array, frontier: Array) -> str:
    return f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}, {frontier.shape[1]}>"


def _launch(name: str, threads: int, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel with so many threads or a few more; nothing where there are none."""
    if threads > 0:
        cuda_function(SOURCE, name)((-(-threads // _THREADS),), (_THREADS,), arguments)
