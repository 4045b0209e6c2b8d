"""Random directed graphs of given degrees: about equal, or with a few hubs."""

from typing import Any

import numpy as np

from .. import device as devices
from ..arguments import checked_integer
from ..dtypes import MAX_VERTICES
from ..errors import InputError
from ..graph import Graph
from .checks import checked_number, checked_place, host_random
from .parts import scaled
from .weights import checked_weights, drawn_weights


def random_degree(
    n: int, degree: float, *, weights: tuple[int, int] | None = None, seed: int = 0, device: str | None = None
) -> Graph:
    """Return a directed graph of about equal degrees, with targets drawn at random.

    Self-loops and repeated edges are as likely as any other edge, and are kept.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : float
        Out-degree. For a fraction, some vertices have the next lower integer and some the next higher.
    weights : tuple of (int, int), optional
        The least and the greatest weight of an edge, drawn uniformly; by default the graph has no weights.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.scale_free : The same with a few hubs.

    References
    ----------
    P. Harish and P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007: random graphs
    of degree 6 to 7 with weights 1 to 10.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.random_degree(100, 6.5, weights=(1, 10))
    Graph(n=100, m=650, directed, int32)
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    m = round(n * _checked_degree(degree))
    weights = checked_weights(weights)
    random = host_random(seed)
    place = checked_place(device, n, m)
    return _to_random_targets(even_degrees(n, m), weights, random, place)


def scale_free(
    n: int,
    degree: float,
    hub_fraction: float = 0.001,
    hub_degree: int = 1000,
    *,
    weights: tuple[int, int] | None = None,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Return a directed graph in which a few vertices, the hubs, have many edges and the others have few.

    The same as `random_degree`, but for the hubs, which are drawn at random.

    Parameters
    ----------
    n : int
        Number of vertices.
    degree : float
        Out-degree of the other vertices.
    hub_fraction : float
        The share of the vertices that are hubs, 0 to 1.
    hub_degree : int
        Out-degree of a hub.
    weights : tuple of (int, int), optional
        The least and the greatest weight of an edge, drawn uniformly; by default the graph has no weights.
    seed : int
        The same arguments give the same graph, on every device.
    device : {"cpu", "cuda", "cuda:N"}, optional
        The device on which the graph lives; by default the CPU.

    Returns
    -------
    Graph

    See Also
    --------
    mgraph.generate.random_degree : The same without hubs.
    mgraph.generate.rmat : A graph with degrees as in a social network.

    References
    ----------
    P. Harish and P. J. Narayanan, "Accelerating large graph algorithms on the GPU using CUDA", 2007: scale-free
    graphs, 0.1% of whose vertices have degree 1000.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.generate.scale_free(100, 6, hub_fraction=0.02, hub_degree=50)
    Graph(n=100, m=688, directed, unweighted)
    """
    n = checked_integer("n", n, 0, MAX_VERTICES)
    m = round(n * _checked_degree(degree))
    hub_degree = checked_integer("hub_degree", hub_degree, 0, 2**20)
    if not 0 <= checked_number("hub_fraction", hub_fraction) <= 1:
        raise InputError(argument="hub_fraction", value=hub_fraction, expected="a number in [0, 1]")
    weights = checked_weights(weights)
    random = host_random(seed)
    hubs = round(float(hub_fraction) * n)
    place = checked_place(device, n, round((n - hubs) * float(degree)) + hubs * hub_degree)
    degrees = even_degrees(n, m)
    degrees[random.permutation(n)[:hubs]] = hub_degree
    return _to_random_targets(degrees, weights, random, place)


def _checked_degree(degree: Any) -> float:
    if not 0 <= checked_number("degree", degree) <= 2**20:
        raise InputError(argument="degree", value=degree, expected=f"a number in [0, {2**20}]")
    return float(degree)


def even_degrees(n: int, m: int) -> np.ndarray:
    """Return degrees of `n` vertices with `m` edges that differ by at most one."""
    return np.diff(scaled(np.arange(n + 1), max(n, 1), m))


def _to_random_targets(
    degrees: np.ndarray, weights: tuple[int, int] | None, random: "np.random.Generator", place: devices.Device
) -> Graph:
    """Return the graph of vertices with these out-degrees and random targets."""
    n, m = len(degrees), int(degrees.sum())
    src = np.repeat(np.arange(n, dtype=np.int32), degrees)
    dst = random.integers(0, max(n, 1), m, np.int32)
    lengths = drawn_weights(m, weights, random)
    with place.active():
        return Graph.from_edges(place.asarray(src), place.asarray(dst), lengths, n=n)
