"""Launches of the kernels of ``kernels/components.cu``: the operations of `mgraph.kernels.components.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_function, launched_blocks

SOURCE = "components.cu"

#: The methods of `mgraph.connected_components` that a GPU has.
METHODS = ("afforest", "shiloach-vishkin")

_BY_EDGES = ("plant", "sample", "link", "hook", "hook_stagnant")
_BY_VERTICES = (
    *("compress", "roots", "largest", "members", "absorb", "list_parents", "unite_pairs", "join", "initialise"),
    *("shortcut_and_mark", "shortcut_and_check", "count_roots", "least", "rename"),
)
INSTANCES = (
    *(f"{kernel}<{offset}>" for kernel in _BY_EDGES for offset in ("int", "long long")),
    *_BY_VERTICES,
)

# As in the source.
_THREADS = 256
_PROBES = 1024
_FEW, _EACH = 4, 16


def plant(indptr: Array, indices: Array, first: int, last: int, parent: Array) -> None:
    _launch(_instance("plant", indptr), len(parent), indptr, indices, _n(parent), _int(first), _int(last), parent)


def sample(indptr: Array, indices: Array, first: int, last: int, parent: Array) -> None:
    _launch(_instance("sample", indptr), last - first, indptr, indices, _int(first), _int(last), parent)


def compress(first: int, last: int, parent: Array) -> None:
    _launch("compress", -(-(last - first) // _FEW), _int(first), _int(last), parent)


def roots(vertices: Array, parent: Array) -> None:
    _launch("roots", len(vertices), _n(vertices), vertices, parent)


def largest(first: int, last: int, parent: Array, giant: Array) -> None:
    """Write the most frequent root of the probed vertices from `first` to `last`, whose parents are roots."""
    if last > first:
        cuda_function(SOURCE, "largest")((1,), (_PROBES,), (_int(first), _int(last), parent, giant))


def link(indptr: Array, indices: Array, first: int, last: int, skipped: Array, parent: Array) -> None:
    _launch(_instance("link", indptr), last - first, indptr, indices, _int(first), _int(last), skipped, parent)


def members(first: int, last: int, parent: Array, giant: Array, bits: Array) -> None:
    _launch("members", -(-(last - first) // _EACH), _int(first), _int(last), parent, giant, bits)


def absorb(
    first: int,
    last: int,
    other_first: int,
    other_last: int,
    bits: Array,
    giants: Array,
    shard: int,
    parent: Array,
) -> None:
    ranges = _int(first), _int(last), _int(other_first), _int(other_last)
    threads = -(-(last - first + other_last - other_first) // _EACH)
    _launch("absorb", threads, *ranges, bits, giants, _n(giants), _int(shard), parent)


def list_parents(bits: Array, parent: Array, pairs: Array, count: Array) -> None:
    threads = -(-len(parent) // _EACH)
    _launch("list_parents", threads, _n(parent), bits, parent, _n(pairs), pairs, count)


def unite_pairs(pairs: Array, parent: Array) -> None:
    _launch("unite_pairs", len(pairs), _n(pairs), pairs, parent)


def join(other: Array, parent: Array) -> None:
    _launch("join", len(parent), _n(parent), other, parent)


def initialise(parent: Array, marks: Array) -> None:
    _launch("initialise", len(parent), _n(parent), parent, marks)


def shortcut_and_mark(parent: Array, after: Array, marks: Array, number: int) -> None:
    _launch("shortcut_and_mark", len(parent), _n(parent), parent, after, marks, _int(number))


def hook(
    indptr: Array, indices: Array, first: int, last: int, parent: Array, after: Array, marks: Array, number: int
) -> None:
    arguments = indptr, indices, _int(first), _int(last), parent, after, marks, _int(number)
    _launch(_instance("hook", indptr), last - first, *arguments)


def hook_stagnant(
    indptr: Array, indices: Array, first: int, last: int, after: Array, marks: Array, number: int
) -> None:
    """Hook the roots that did not change in this round, along the edges of the vertices `first` to `last`."""
    arguments = indptr, indices, _int(first), _int(last), after, marks, _int(number)
    _launch(_instance("hook_stagnant", indptr), last - first, *arguments)


def shortcut_and_check(after: Array, parent: Array, marks: Array, number: int, active: Array) -> None:
    _launch("shortcut_and_check", len(parent), _n(parent), after, parent, marks, _int(number), active)


def count_roots(first: int, last: int, parent: Array, count: Array) -> None:
    _launch("count_roots", -(-(last - first) // _EACH), _int(first), _int(last), parent, count)


def least(parent: Array, after: Array) -> None:
    _launch("least", len(parent), _n(parent), parent, after)


def rename(names: Array, parent: Array) -> None:
    _launch("rename", len(parent), _n(parent), names, parent)


def _int(value: int) -> np.int32:
    return np.int32(value)


def _n(array: Array) -> np.int32:
    return np.int32(len(array))


def _instance(kernel: str, indptr: Array) -> str:
    return f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}>"


def _launch(name: str, threads: int, *arguments: Any) -> None:
    """Launch a kernel with so many threads, unless blocks are limited; do nothing for 0 threads."""
    if threads > 0:
        cuda_function(SOURCE, name)((launched_blocks(-(-threads // _THREADS)),), (_THREADS,), arguments)
