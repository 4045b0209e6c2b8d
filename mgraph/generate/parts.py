"""How generators cut their work: how much is generated at a time, and parts of about equal length."""

from ..arrays import Array

#: Edges, or elements of a list, generated at a time: what fits a CPU's caches, or keeps a GPU busy.
EDGES_AT_A_TIME = {"cpu": 1 << 16, "cuda": 1 << 24}

#: The fewest and the most edges of a chunk that a worker generates.
_CHUNKS = 1 << 10, 1 << 22

#: Pairs of vertices that are marked as edges at a time, by the same rule.
PAIRS_AT_A_TIME = {"cpu": 1 << 18, "cuda": 1 << 24}


def chunk_of(edges: int) -> int:
    """Return how many of some edges make a chunk, a power of two: many workers get about as many edges each."""
    least, most = _CHUNKS
    return max(least, min(most, 1 << (max(edges, 1) // 64).bit_length()))


def first_of(part: Array, whole: int, parts: int) -> Array:
    """Return the first number of each part, if the numbers below `whole` are cut into parts of about equal length."""
    return part * whole // max(parts, 1)


def part_of(number: Array, whole: int, parts: int) -> Array:
    """Return the part in which each number lies."""
    return ((number + 1) * parts - 1) // max(whole, 1)


def scaled(part: Array, whole: Array, to: int) -> Array:
    """Return ``part * to // whole`` for products that may not fit 64 bits."""
    return part * (to // whole) + part * (to % whole) // whole
