"""Launches of the kernels of ``kernels/certificates.cu``: the operations of `mgraph.kernels.certificates.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function

SOURCE = "certificates.cu"

_NAMES = {"int32": "int", "int64": "long long", "float32": "float", "float64": "double"}
_OFFSETS = ("int", "long long")

#: The types of distances, and those of weights that each may be compared with. Integers are exact, so that distances in
#: them are not compared with sums of floats.
_WEIGHTS = {
    distance: tuple(weight for weight in _NAMES.values() if weight in _OFFSETS or distance not in _OFFSETS)
    for distance in _NAMES.values()
}
_OF_VERTICES = (
    "climb",
    "double_steps",
    "check_roots",
    "check_labels",
    "flatten",
    "join",
    "mark_joined",
    "check_joined",
)
INSTANCES = (
    *(
        f"{kernel}<{d}>"
        for kernel in ("check_vertices", "check_sources", "check_nearer", "check_marks")
        for d in _WEIGHTS
    ),
    *(
        f"{kernel}<{d}, {w}, {o}>"
        for kernel in ("check_edges", "check_nearest", "list_ties")
        for d, weights in _WEIGHTS.items()
        for w in weights
        for o in _OFFSETS
    ),
    *(f"{kernel}<{o}>" for kernel in ("join_first", "check_across") for o in _OFFSETS),
    *(f"check_ranks<{s}, {r}>" for s in _OFFSETS for r in _OFFSETS),
    *_OF_VERTICES,
)

# As in the source.
_THREADS = 256
_TILE = 2048

# Blocks of a multiprocessor that are launched at most: more would only begin and end.
_LAUNCHED = 32


def check_vertices(
    distances: Array,
    predecessors: Array | None,
    starts: Array,
    first: int,
    last: int,
    unreached: float,
    most: float,
    least: Array,
) -> None:
    asked = distances.dtype.type(unreached), _sum(distances, most), least
    vectors = distances, _pointer(predecessors), starts, np.int32(len(distances))
    _launch(_of(distances, "check_vertices"), last - first, *vectors, np.int32(first), np.int32(last), *asked)


def check_sources(
    distances: Array, nearest: Array, starts: Array, first: int, last: int, unreached: float, own: Array, least: Array
) -> None:
    vectors = distances, nearest, starts, np.int32(len(distances)), np.int32(first), np.int32(last)
    _launch(_of(distances, "check_sources"), last - first, *vectors, distances.dtype.type(unreached), own, least)


def check_nearer(distances: Array, predecessors: Array, starts: Array, first: int, last: int, least: Array) -> None:
    own = np.int32(first), np.int32(last)
    _launch(_of(distances, "check_nearer"), last - first, distances, predecessors, starts, *own, least)


def climb(predecessors: Array, starts: Array, above: Array) -> None:
    _launch("climb", len(above), np.int32(len(above)), predecessors, starts, above)


def double(above: Array, active: Array) -> None:
    _launch("double_steps", len(above), np.int32(len(above)), above, active)


def check_roots(predecessors: Array, above: Array, starts: Array, first: int, last: int, least: Array) -> None:
    _launch("check_roots", last - first, predecessors, above, starts, np.int32(first), np.int32(last), least)


def check_edges(
    indptr: Array,
    indices: Array,
    weights: Array | None,
    first: int,
    by_source: bool,
    distances: Array,
    predecessors: Array | None,
    unreached: float,
    most: float,
    nonnegative: bool,
    ulps: int,
    rounding: float,
    proven: Array,
    tight: Array,
    least: Array,
) -> None:
    name, edges = _over_edges("check_edges", distances, indptr, indices, weights, first, by_source)
    asked = distances.dtype.type(unreached), _sum(distances, most), np.bool_(nonnegative)
    inexact = np.int32(ulps), _sum(distances, rounding)
    marks = distances, _pointer(predecessors), *asked, *inexact, proven, tight, least
    _launch_over_edges(name, len(indices), *edges, *marks)


def check_nearest(
    indptr: Array,
    indices: Array,
    weights: Array | None,
    first: int,
    by_source: bool,
    distances: Array,
    nearest: Array,
    unreached: float,
    nonnegative: bool,
    proven: Array,
    least: Array,
) -> None:
    name, edges = _over_edges("check_nearest", distances, indptr, indices, weights, first, by_source)
    asked = distances.dtype.type(unreached), np.bool_(nonnegative), proven, least
    _launch_over_edges(name, len(indices), *edges, distances, nearest, *asked)


def check_marks(
    distances: Array, starts: Array, first: int, last: int, unreached: float, proven: Array, least: Array
) -> None:
    own = np.int32(first), np.int32(last), distances.dtype.type(unreached)
    _launch(_of(distances, "check_marks"), last - first, distances, starts, *own, proven, least)


def list_ties(
    indptr: Array,
    indices: Array,
    weights: Array | None,
    first: int,
    by_source: bool,
    distances: Array,
    nearest: Array | None,
    unreached: float,
    nonnegative: bool,
    ulps: int,
    rounding: float,
    proven: Array,
    count: Array,
    src: Array,
    dst: Array,
) -> None:
    name, edges = _over_edges("list_ties", distances, indptr, indices, weights, first, by_source)
    vectors = distances, _pointer(nearest), distances.dtype.type(unreached)
    asked = np.bool_(nonnegative), np.int32(ulps), _sum(distances, rounding)
    _launch_over_edges(name, len(indices), *edges, *vectors, *asked, proven, count, src, dst, np.int64(len(src)))


def check_ranks(succ: Array, first: int, ranks: Array, least: Array) -> None:
    arguments = succ, np.int64(len(succ)), np.int64(first), ranks, np.int64(len(ranks)), least
    _launch(f"check_ranks<{_name(succ)}, {_name(ranks)}>", len(succ), *arguments)


def check_labels(labels: Array, first: int, last: int, least: Array, roots: Array) -> None:
    _launch("check_labels", last - first, labels, np.int32(first), np.int32(last), least, roots)


def join_first(indptr: Array, indices: Array, first: int, parent: Array) -> None:
    rows = len(indptr) - 1
    _launch(f"join_first<{_name(indptr)}>", rows, indptr, indices, np.int32(rows), np.int32(first), parent)


def flatten(parent: Array) -> None:
    _launch("flatten", len(parent), np.int32(len(parent)), parent)


def join(other: Array, parent: Array) -> None:
    _launch("join", len(parent), np.int32(len(parent)), other, parent)


def mark_joined(labels: Array, parent: Array, codes: Array) -> None:
    _launch("mark_joined", len(labels), np.int32(len(labels)), labels, parent, codes)


def check_across(indptr: Array, indices: Array, first: int, codes: Array, parent: Array, least: Array) -> None:
    edges = indptr, indices, np.int32(len(indptr) - 1), np.int32(first)
    _launch_over_edges(f"check_across<{_name(indptr)}>", len(indices), *edges, codes, parent, least)


def check_joined(labels: Array, parent: Array, first: int, last: int, least: Array) -> None:
    _launch("check_joined", last - first, labels, parent, np.int32(first), np.int32(last), least)


def _name(array: Array) -> str:
    return _NAMES[array.dtype.name]


def _of(distances: Array, kernel: str) -> str:
    return f"{kernel}<{_name(distances)}>"


def _sum(distances: Array, number: float) -> Any:
    """Return a number in the type of sums."""
    return distances.dtype.type(number) if distances.dtype.kind == "f" else np.int64(number)


def _pointer(array: Array | None) -> Any:
    """Return what a kernel takes for an array: null for none."""
    return np.uintp(0) if array is None else array


def _over_edges(
    kernel: str, distances: Array, indptr: Array, indices: Array, weights: Array | None, first: int, by_source: bool
) -> tuple[str, tuple[Any, ...]]:
    """Return the instance for distances and edges, and its first arguments."""
    weight = "int" if weights is None else _name(weights)
    edges = indptr, indices, _pointer(weights), np.int32(len(indptr) - 1), np.int32(first), np.bool_(by_source)
    return f"{kernel}<{_name(distances)}, {weight}, {_name(indptr)}>", edges


def _launch(name: str, threads: int, *arguments: Any) -> None:
    """Launch a kernel with up to a thread for each vertex; do nothing for 0 threads."""
    if threads > 0:
        blocks = min(-(-threads // _THREADS), _LAUNCHED * cuda_attribute("MultiProcessorCount"))
        cuda_function(SOURCE, name)((blocks,), (_THREADS,), arguments)


def _launch_over_edges(name: str, edges: int, *arguments: Any) -> None:
    """Launch a kernel with up to a block for each tile of edges."""
    _launch(name, -(-edges // _TILE) * _THREADS, *arguments)
