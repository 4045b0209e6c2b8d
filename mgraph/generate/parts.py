"""How generators cut their work: how much is made at a time, and parts of about equal length."""

from typing import Any

Array = Any

#: Edges, or elements of a list, made at a time: on the CPU what its caches hold, on a GPU what keeps it busy.
EDGES_AT_A_TIME = {"cpu": 1 << 16, "cuda": 1 << 24}

#: Pairs of vertices among which edges are marked at a time, likewise.
PAIRS_AT_A_TIME = {"cpu": 1 << 18, "cuda": 1 << 24}


def first_of(part: Array, whole: int, parts: int) -> Array:
    """Return the first of each part's numbers where those below `whole` are cut into parts of about equal length."""
    return part * whole // max(parts, 1)


def part_of(number: Array, whole: int, parts: int) -> Array:
    """Return in which of these parts each number is."""
    return ((number + 1) * parts - 1) // max(whole, 1)


def scaled(part: Array, whole: Array, to: int) -> Array:
    """Return ``part * to // whole`` where the product may not fit 64 bits."""
    return part * (to // whole) + part * (to % whole) // whole
