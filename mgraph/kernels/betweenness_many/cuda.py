"""Launches of the kernel of ``kernels/betweenness_many.cu``, as `mgraph.kernels.betweenness_many.host` does it."""

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...device import cuda_attribute, cuda_function
from ..edges import Adjacency
from . import WORDS, Memory

SOURCE = "betweenness_many.cu"

INSTANCES = tuple(
    f"together<{offset}, {words}, {edges}>"
    for offset in ("int", "long long")
    for words in WORDS
    for edges in ("false", "true")
)

_THREADS = 256

#: Blocks that are resident on each multiprocessor; registers allow no more.
_RESIDENT, _RESIDENT_LONG = 4, 3  # the latter of more than a word, and of edges


def add_together(
    by_source: Adjacency,
    by_target: Adjacency,
    sources: Array,
    targets: Array,
    limit: int,
    endpoints: bool,
    edges: bool,
    memory: Memory,
    sums: Array,
    trouble: Array,
) -> bool:
    """Add the dependencies of up to 32 W `sources` to `sums`; return whether levels and events fit."""
    n, words = memory.seen.shape
    memory.control.fill(0)
    offset = "int" if by_source[0].dtype == np.int32 else "long long"
    *before, control = memory
    seen, fronts, rows, vertices, masks, *rest = before
    kernel = cuda_function(SOURCE, f"together<{offset}, {words}, {str(edges).lower()}>", cooperative=True)
    arguments = (
        *(*by_source, *by_target, np.int32(n), sources, np.int32(len(sources)), targets),
        *(np.int32(limit), np.bool_(endpoints), seen, fronts, rows, vertices, masks, np.uint32(len(vertices))),
        *(*rest, control, sums, trouble),
    )
    resident = _RESIDENT_LONG if edges or words > 1 else _RESIDENT
    kernel((resident * cuda_attribute("MultiProcessorCount"),), (_THREADS,), arguments)
    return not int(devices.to_host(memory.control[1:2])[0])
