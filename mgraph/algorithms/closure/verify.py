"""The transitive closure: rows equal to what SciPy's breadth-first search reaches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import device as devices
from ... import lazy
from ...arrays import Array
from ...errors import WrongResultError
from ...graph import Graph, PlacedGraph, in_this_process
from ..bellman import sampled

#: Number of rows to check.
ROWS = 64


def rows(graph: Graph, arrays: dict[str, Any], source: object) -> str:
    """Raise unless sampled rows (of a small graph, all) hold the vertices that can be reached from their vertex.

    Whether a vertex on no cycle reaches itself depends on the call's `reflexive`, but must be the same for all.
    """
    indptr, indices = map(devices.to_host, graph.layout("csr"))
    matrix = lazy.sparse().csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(graph.n, graph.n))
    picked, themselves = sampled(graph.n, ROWS), set()
    for i in picked:
        reached = lazy.csgraph().breadth_first_order(matrix, i, return_predecessors=False)
        expected = np.zeros(graph.n, bool)
        expected[reached] = True
        found = devices.to_host(arrays["reachable"].rows(i, i + 1))[0]
        on_cycle = np.isin(i, np.concatenate([indices[indptr[u] : indptr[u + 1]] for u in reached]))
        if not on_cycle:
            themselves.add(bool(found[i]))
            expected[i] = found[i]
        if len(themselves) > 1 or not np.array_equal(found, expected):
            wrong = int((found != expected).argmax()) if len(themselves) < 2 else i
            raise WrongResultError(f"vertex {i} reaches vertex {wrong}: {bool(found[wrong])}, by SciPy otherwise")
    return f"{'all' if len(picked) == graph.n else len(picked)} rows as SciPy searches"


#: Words that are counted at a time.
WORDS = 1 << 22


def entering_edges(graph: Graph | PlacedGraph) -> Callable[[int], np.ndarray]:
    """Return a function that returns the vertices from which edges lead to a vertex."""
    indptr, indices = map(devices.to_host, in_this_process(graph).layout("csc"))
    return lambda vertex: indices[indptr[vertex] : indptr[vertex + 1]]


def first_difference(words: np.ndarray, expected: np.ndarray) -> int:
    """Return the first bit in which a row of words is not as expected, zeros beyond the last vertex; -1 if none is."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    wrong = bits.astype(bool)
    wrong[: len(expected)] ^= expected
    return int(wrong.argmax()) if wrong.any() else -1


def bits_set(words: Array) -> int:
    """Return how many bits of an array of uint32 are set: pairs of bits are added, then groups of four, of eight."""
    device, rows, total = devices.of(words), max(1, WORDS // max(1, words.shape[1])), 0
    with device.active():
        for first in range(0, len(words), rows):
            part = words[first : first + rows]
            part = part - ((part >> 1) & 0x55555555)
            part = (part & 0x33333333) + ((part >> 2) & 0x33333333)
            part = ((part + (part >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24
            total += int(part.sum(dtype=np.int64))
    return total
