"""Operations of betweenness from many sources at a time; ``kernels/betweenness_many.cu`` has the algorithm."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import Array
from ..edges import Adjacency
from ..family import Family

#: Words of 32 sources that a batch may have.
WORDS = (4, 2, 1)

#: Levels that a search may have, and the levels at which some of a batch's searches find a vertex, on average.
DEEP, EVENTS = 256, 12

#: Events for which there is room in any case, if all searches find a vertex at levels of their own.
SMALL = 1 << 22

#: Edges beyond which a vertex is a hub, and of its pieces.
HUB = 512

#: int32 words of the counters.
CONTROL = 20 + DEEP + 2


class Memory(NamedTuple):
    """What a batch of 32 W sources works with. Nothing need be written to it before.

    Attributes
    ----------
    seen, fronts : array of uint32, shape (n, W) and (2, n, W)
        The searches that have seen each vertex, and those in which it is new.
    rows : array of float64, shape (n, 32 W)
        Numbers of shortest paths, then dependencies over them.
    vertices, masks : array of int32, shape (c,), and of uint32, shape (c, W)
        The events: a vertex, and the searches that find it at a level.
    listed, vertex_list : array of uint32, shape (n // 32 + 1,), and of int32, shape (n,)
        The vertices that a level reaches.
    hubs, parts, met : array of int32, shape (2 h,), of float64, shape (p, 32 W), and of uint32, shape (p, W)
        Hubs of a level, and the sums of their pieces.
    control : array of int32, shape (CONTROL,)
        Counters.
    """

    seen: Array
    fronts: Array
    rows: Array
    vertices: Array
    masks: Array
    listed: Array
    vertex_list: Array
    hubs: Array
    parts: Array
    met: Array
    control: Array


def words_of(sources: int) -> int:
    """Return the words of a batch of so many sources, 128 at most."""
    return min(w for w in WORDS if 32 * w >= min(sources, 32 * WORDS[0]))


def _shapes(n: int, m: int, words: int) -> dict[str, tuple[tuple[int, ...], type]]:
    """Return the shape and type of each array of `Memory`."""
    events = min(max(EVENTS * n, min(32 * words * n, SMALL)), 2**31 - 1 - n)
    pieces = 2 * (m // HUB) + 1
    return {
        "seen": ((n, words), np.uint32),
        "fronts": ((2, n, words), np.uint32),
        "rows": ((n, 32 * words), np.float64),
        "vertices": ((events,), np.int32),
        "masks": ((events, words), np.uint32),
        "listed": ((n // 32 + 1,), np.uint32),
        "vertex_list": ((n,), np.int32),
        "hubs": ((2 * (m // HUB + 1),), np.int32),
        "parts": ((pieces, 32 * words), np.float64),
        "met": ((pieces, words), np.uint32),
        "control": ((CONTROL,), np.int32),
    }


def memory(xp: Any, n: int, m: int, words: int) -> Memory:
    """Return the memory of a batch of ``32 * words`` sources, for a graph of m edges."""
    return Memory(**{name: xp.empty(shape, dtype) for name, (shape, dtype) in _shapes(n, m, words).items()})


def memory_bytes(n: int, m: int, words: int) -> int:
    """Return the bytes of `memory`."""
    shapes = _shapes(n, m, words).values()
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)


class Operations(Protocol):
    """The operations of both twins. Edges are those of the whole graph, no two of them between the same vertices."""

    def add_together(
        self,
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
        """Add the dependencies of up to 32 W `sources` to `sums`, of shape (n,), or (m,) with `edges`; return True.

        Paths have up to `limit` edges; with `endpoints`, the ends of a path count as passed. `sources` is int32,
        `targets` bool of shape (n,), `sums` float64. `trouble`, int32 of shape (2,), gets a 1 at its first place if a
        number of paths is beyond 2**1000; the sums are of no use then. False, and nothing added, if there are more
        levels than `DEEP` or more events than there is room for.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
