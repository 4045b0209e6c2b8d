"""Launches of the kernels of ``kernels/spanning_forest.cu``: operations as in `spanning_forest.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from ..edges import HubBuffers
from . import Components, ForestEdges, Incident

SOURCE = "spanning_forest.cu"
_BY_EDGES = ("choose", "choose_hubs", "settle")
INSTANCES = (*(f"{kernel}<{offset}>" for kernel in _BY_EDGES for offset in ("int", "long long")), "hook", "relabel")

# As in the source.
_THREADS, _GROUP, _HUB = 256, 8, 512

#: Blocks per multiprocessor for the pieces of hubs.
_BLOCKS = 8


def hub_capacity(edges: int) -> int:
    return 2 * (edges // (_HUB + 1) + 1)


def choose(edges: Incident, first: int, alone: bool, components: Components, choice: Array, hubs: HubBuffers) -> None:
    rows = len(choice)
    if not rows:
        return
    given, found = (*edges, np.int32(first)), (components.comp, components.best, choice, *hubs)
    hubs[1].fill(0)
    _instance("choose", edges)(
        (-(-rows * _GROUP // _THREADS),), (_THREADS,), (*given, np.int32(rows), np.int32(alone), *found)
    )
    blocks = _BLOCKS * cuda_attribute("MultiProcessorCount")
    _instance("choose_hubs", edges)((blocks,), (_THREADS,), (*given, np.int32(alone), *found))


def settle(edges: Incident, first: int, components: Components, choice: Array) -> None:
    """Find the least of the greater ends of the edges that attain their component's bound."""
    rows = len(choice)
    if rows:
        comp, _, best, ends = components
        arguments = (edges.indptr, edges.indices, np.int32(first), np.int32(rows), comp, best, choice, ends)
        _instance("settle", edges)((-(-rows // _THREADS),), (_THREADS,), arguments)


def hook(first: int, last: int, components: Components, forest: ForestEdges, counts: Array) -> None:
    comp, parent, best, ends = components
    n = len(comp)
    arguments = (np.int32(n), np.int32(first), np.int32(last), comp, best, ends, parent, *forest, counts)
    cuda_function(SOURCE, "hook")((-(-n // _THREADS),), (_THREADS,), arguments)


def relabel(components: Components) -> None:
    comp, parent, best, ends = components
    n = len(comp)
    cuda_function(SOURCE, "relabel")((-(-n // _THREADS),), (_THREADS,), (np.int32(n), parent, comp, best, ends))


def order(low: Array, high: Array, n: int) -> Array:
    return (low.astype(np.int64) << 32 | high).argsort()


def _instance(kernel: str, edges: Incident) -> Any:
    return cuda_function(SOURCE, f"{kernel}<{'int' if edges.indptr.dtype == np.int32 else 'long long'}>")
