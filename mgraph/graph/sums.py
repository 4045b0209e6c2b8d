"""Checks of sums of weights along a path: whether they are exact, and stay finite."""

from typing import Protocol

import numpy as np

from ..errors import ArgumentValue, DistanceOverflowError


class Weights(Protocol):
    """What is asked of the weights of a graph, or of several of up to `n` vertices."""

    @property
    def n(self) -> int:
        """The most vertices of a graph."""

    @property
    def nonnegative(self) -> bool:
        """Whether no weight is negative."""

    def extremes(self) -> tuple[float, float, bool]:
        """Return the least and the greatest weight, and whether all are whole numbers."""

    def largest_sums(self, count: int) -> tuple[float, float]:
        """Return bounds of the magnitudes below and above zero that a sum of up to `count` weights may have."""


def sums_are_exact(graph: Weights, dtype: np.dtype) -> bool:
    """Return whether no sum of weights along a path or a cycle is rounded in a type, in whatever order."""
    if dtype.kind == "i":
        return True
    least, most, whole = graph.extremes()
    return whole and max(-least, most) * graph.n <= 2.0 ** (np.finfo(dtype).nmant + 1)


def check_weights(graph: Weights, dtype: np.dtype) -> None:
    """Raise DistanceOverflowError if a weight is out of range for float32 distances that are computed in float64."""
    if dtype == np.float32:
        least, most, _ = graph.extremes()
        largest = float(np.finfo(dtype).max)
        if least < -largest or largest < most < np.inf:
            raise DistanceOverflowError(
                f"a weight is too large for {dtype.name}: use ", ArgumentValue("dtype", "float64")
            )


def check_sums(graph: Weights, dtype: np.dtype, shifted: bool = False) -> None:
    """Raise if a sum of weights along a path may overflow the floats `dtype`, and weights may be negative.

    Without negative weights such a sum only grows, so infinity is right. With them the true sum may become finite
    again, but infinity does not. A path has at most n - 1 edges.

    Parameters
    ----------
    graph : Graph, PlacedGraph, or others like them
        The graph.
    dtype : dtype
        The type to compute in.
    shifted : bool
        Whether the weights are shifted by potentials, which are such sums themselves.

    Raises
    ------
    DistanceOverflowError
        If a sum may be too large.
    """
    if dtype.kind != "f" or graph.nonnegative:
        return
    limits, edges = np.finfo(dtype), max(graph.n - 1, 0)
    room = float(limits.max) / (1 + graph.n * float(limits.eps))  # each sum may be rounded up

    def fit(below: float, above: float) -> bool:
        return below + above <= room if shifted else max(below, above) <= room

    least, most, _ = graph.extremes()
    if fit(float(edges) * max(-least, 0), float(edges) * max(most, 0)):
        return
    below, above = graph.largest_sums(edges)
    if not fit(below, above):
        what = f"below the least {dtype.name}" if below > room else f"beyond the largest {dtype.name} and come back"
        advice = ("use ", ArgumentValue("dtype", "float64")) if dtype == np.float32 else ("scale the weights down",)
        raise DistanceOverflowError(
            f"with negative weights of this size, a sum of weights along a path may be {what}: ", *advice
        )
