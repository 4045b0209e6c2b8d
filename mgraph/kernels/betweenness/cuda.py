"""Launches of the kernels of ``kernels/betweenness.cu``: the operations of `mgraph.kernels.betweenness.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_function
from ..edges import Adjacency, WeightedAdjacency
from . import Rows

SOURCE = "betweenness.cu"

_OFFSETS, _LENGTHS, _WIDE = ("int", "long long"), ("int", "double"), ("false", "true")

INSTANCES = (
    *(f"{kernel}<{offset}, {wide}>" for kernel in ("levels", "add_steps") for offset in _OFFSETS for wide in _WIDE),
    *(
        f"{kernel}<{offset}, {length}, {wide}>"
        for kernel in ("tight", "add_lengths")
        for offset in _OFFSETS
        for length in _LENGTHS
        for wide in _WIDE
    ),
    "add",
)

_THREADS = 1024

#: Sources of a batch: a block takes one, and each of an H100's 132 multiprocessors has the threads of two blocks.
SOURCES = 264


def rows(xp: Any, k: int, n: int, dtype: Any, wide: bool) -> Rows:
    return Rows(
        distances=xp.empty((k, n), dtype),
        order=xp.empty((k, n), np.int32),
        work=xp.empty((k, 2 * n + 2), np.int32),
        counts=xp.empty((k, n), np.float64),
        exponents=xp.empty((k, n if wide else 0), np.int32),
        dependencies=xp.empty((k, n), np.float64),
        shares=xp.empty((k, n), np.float64),
    )


def row_bytes(n: int, itemsize: int, wide: bool) -> int:
    return n * (itemsize + 36 + 4 * wide) + 8


def levels(
    by_source: Adjacency,
    by_target: Adjacency,
    sources: Array,
    targets: Array,
    limit: int,
    rows: Rows,
    trouble: Array,
) -> None:
    n = rows.counts.shape[1]
    arguments = *by_source, *by_target, np.int32(n), sources, targets, np.int32(limit), *rows, trouble
    _launch(f"levels<{_offset(by_source)}, {_wide(rows)}>", len(sources), arguments)


def tight(
    by_source: WeightedAdjacency,
    by_target: WeightedAdjacency,
    sources: Array,
    targets: Array,
    rows: Rows,
    trouble: Array,
) -> None:
    n = rows.counts.shape[1]
    arguments = *by_source, *by_target, np.int32(n), sources, targets, *rows, trouble
    _launch(f"tight<{_offset(by_source)}, {_length(rows)}, {_wide(rows)}>", len(sources), arguments)


def add(sources: Array, targets: Array, endpoints: bool, rows: Rows, sums: Array) -> None:
    sizes = np.int32(len(sums)), np.int32(len(sources))
    arguments = *sizes, sources, targets, np.bool_(endpoints), rows.counts, rows.dependencies, sums
    _launch("add", _blocks(len(sums)), arguments)


def add_edges(by_source: Adjacency, lengths: Array | None, rows: Rows, sums: Array) -> None:
    k, n = rows.counts.shape
    kernel, types = ("add_steps", "") if lengths is None else ("add_lengths", f", {_length(rows)}")
    values = () if lengths is None else (lengths,)
    found = rows.distances, rows.counts, rows.exponents, rows.shares
    arguments = *by_source[:2], *values, np.int32(n), np.uint64(len(sums)), np.int32(k), *found, sums
    _launch(f"{kernel}<{_offset(by_source)}{types}, {_wide(rows)}>", _blocks(len(sums)), arguments)


def _offset(edges: Any) -> str:
    return "int" if edges[0].dtype == np.int32 else "long long"


def _length(rows: Rows) -> str:
    return "int" if rows.distances.dtype == np.int32 else "double"


def _wide(rows: Rows) -> str:
    return "true" if rows.exponents.shape[1] else "false"


def _blocks(threads: int) -> int:
    return -(-threads // _THREADS)


def _launch(name: str, blocks: int, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel; do nothing without blocks."""
    if blocks:
        cuda_function(SOURCE, name)((blocks,), (_THREADS,), arguments)
