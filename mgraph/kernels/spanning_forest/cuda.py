"""Launches of the kernels of ``kernels/spanning_forest.cu``: operations as in `spanning_forest.host`."""

from typing import Any

import numpy as np

from ...device import cuda_attribute, cuda_function

SOURCE = "spanning_forest.cu"
_BY_EDGES = ("choose", "choose_hubs", "settle")
INSTANCES = (*(f"{kernel}<{offset}>" for kernel in _BY_EDGES for offset in ("int", "long long")), "hook", "relabel")

# As in the source.
_THREADS, _GROUP, _HUB = 256, 8, 512

#: Blocks of hubs' pieces that a multiprocessor runs at a time.
_BLOCKS = 8

Array = Any


def hub_capacity(edges: int) -> int:
    """Return how many int32 words `choose` needs for the hubs of a list of so many edges."""
    return 2 * (edges // (_HUB + 1) + 1)


def choose(
    indptr: Array,
    indices: Array,
    keys: Array,
    first: int,
    alone: bool,
    comp: Array,
    best: Array,
    choice: Array,
    hubs: Array,
    total: Array,
) -> None:
    """Choose each row's least edge that leaves its component, and lower the components' bounds."""
    rows = len(choice)
    if not rows:
        return
    edges, place = (indptr, indices, keys, np.int32(first)), (comp, best, choice, hubs, total)
    total.fill(0)
    _instance("choose", indptr)(
        (-(-rows * _GROUP // _THREADS),), (_THREADS,), (*edges, np.int32(rows), np.int32(alone), *place)
    )
    blocks = _BLOCKS * cuda_attribute("MultiProcessorCount")
    _instance("choose_hubs", indptr)((blocks,), (_THREADS,), (*edges, np.int32(alone), *place))


def settle(indptr: Array, indices: Array, first: int, comp: Array, best: Array, choice: Array, ends: Array) -> None:
    """Find the least of the greater ends of the edges that attain their component's bound."""
    if len(choice):
        arguments = (indptr, indices, np.int32(first), np.int32(len(choice)), comp, best, choice, ends)
        _instance("settle", indptr)((-(-len(choice) // _THREADS),), (_THREADS,), arguments)


def hook(
    first: int,
    last: int,
    comp: Array,
    best: Array,
    ends: Array,
    parent: Array,
    low: Array,
    high: Array,
    keys: Array,
    counts: Array,
) -> None:
    """Put each root below the component at the other end of its edge; add edges of own lesser ends to the forest."""
    n = len(comp)
    arguments = (np.int32(n), np.int32(first), np.int32(last), comp, best, ends, parent, low, high, keys, counts)
    cuda_function(SOURCE, "hook")((-(-n // _THREADS),), (_THREADS,), arguments)


def relabel(parent: Array, comp: Array, best: Array, ends: Array) -> None:
    """Let every vertex know its new root, and forget the bounds."""
    n = len(comp)
    cuda_function(SOURCE, "relabel")((-(-n // _THREADS),), (_THREADS,), (np.int32(n), parent, comp, best, ends))


def _instance(kernel: str, indptr: Array) -> Any:
    return cuda_function(SOURCE, f"{kernel}<{'int' if indptr.dtype == np.int32 else 'long long'}>")
