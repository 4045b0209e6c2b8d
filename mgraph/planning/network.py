"""The exchange between nodes of graphs cut into ranges, and whether a grid of two dimensions would exchange less.

In each round of a search every shard learns a vector of all vertices, such as the bitmap of a level: with ranges, all
of it enters each node but what the node has. In a grid of two dimensions (A. Yoo et al., "A scalable distributed
parallel breadth-first search algorithm on BlueGene/L", 2005; A. Buluç, K. Madduri, "Parallel breadth-first search on
distributed memory systems", 2011) a shard needs the part of its column, and then shares what it found with its row.
These are two collectives a round, but the larger the grid, the less enters a node. mgraph cuts graphs into ranges only;
a plan says from which number of devices on a grid would be faster.

The model counts what enters a node, once for all of its devices, at the rate of its network, and a latency that grows
with the logarithm of the number of nodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import device as devices
from .devices import DeviceSpec
from .rates import EXCHANGE

#: Seconds by which a collective takes longer when the number of nodes doubles; assumed.
HOP = {"cuda": 5e-6, "cpu": 0.5e-3}

#: The most devices for which grids are compared with ranges.
MOST_DEVICES = 1 << 16


@dataclass(frozen=True)
class Traffic:
    """What is predicted of the exchange between nodes.

    Attributes
    ----------
    seconds : float
        Seconds of the exchange that the network adds; 0 within one node.
    entering : int
        Bytes that enter each node.
    grid_from : int or None
        The number of devices from which on the exchange of a grid of two dimensions would take less; None if it would
        not up to `MOST_DEVICES`. Numbers of nodes that are powers of two are compared.
    """

    seconds: float
    entering: int
    grid_from: int | None


class Exchanged(NamedTuple):
    """A number of collectives, and bytes of all of them together."""

    rounds: float
    bytes: float


#: What shards, so many of them a node, exchange if the vertices are cut into ranges: the bytes that enter a node.
ByRanges = Callable[[int, int], Exchanged]


def gathered(whole: Exchanged) -> ByRanges:
    """Return what enters a node if every shard learns vectors of all vertices; their bytes are given."""
    return lambda shards, per_node: Exchanged(whole.rounds, whole.bytes * max(0, shards - per_node) / shards)


#: How shards exchange data that meet, in words, with which each way begins in which they do, or may.
WITHIN_LAUNCH = "within the launch"

#: What a plan says of them, before a call has shown whether they do.
_IF_GPUS_MEET = f"{WITHIN_LAUNCH}, if the GPUs of one host reach each other's memory, else by NCCL"


def meeting_way(specs: Sequence[DeviceSpec], network: float | None) -> str:
    """Return how shards of searches exchange data and why, in words; "" of CPUs, and of one device."""
    if specs[0].kind != "cuda" or len(specs) == 1:
        return ""
    if len(specs) > devices.MOST_PEERS:
        return f"by NCCL, as they are more than {devices.MOST_PEERS}"
    if network is not None or len({spec.node for spec in specs}) > 1:
        return "by NCCL, as not all GPUs share memory of one host"
    return _IF_GPUS_MEET


def traffic(
    shards: int, kind: str, network: float | None, per_node: int, ranges: ByRanges, grid: Exchanged
) -> Traffic | None:
    """Return what is predicted of the exchange between nodes; None if all devices are in one.

    Parameters
    ----------
    shards : int
        Number of devices.
    kind : {"cpu", "cuda"}
        Their kind.
    network : float or None
        Bytes a second that can enter a node; None if there is one node.
    per_node : int
        Consecutive devices that form a node.
    ranges : callable
        What is exchanged with ranges of vertices.
    grid : Exchanged
        What would be exchanged in a grid, in which a round takes two collectives: the rounds, and the bytes of the
        vectors of all vertices.
    """
    if network is None:
        return None

    def hops(nodes: int) -> float:
        return HOP[kind] * (nodes - 1).bit_length()

    def by_ranges(shards: int) -> float:
        if shards <= per_node:
            return 0.0
        found = ranges(shards, per_node)
        return found.rounds * hops(-(-shards // per_node)) + found.bytes / network

    def by_grid(nodes: int) -> float:
        # `high` by `wide` nodes. The second collective of a round takes as long as one within a node, and its hops.
        shapes = ((1 << i, nodes >> i) for i in range(1, nodes.bit_length() - 1))
        return min(
            (
                grid.rounds * (EXCHANGE[kind] + hops(high) + hops(wide))
                + grid.bytes * ((1 - 1 / high) / wide + (1 - 1 / wide) / high) / network
                for high, wide in shapes
            ),
            default=float("inf"),
        )

    nodes = 2
    while nodes * per_node <= MOST_DEVICES and by_grid(nodes) >= by_ranges(nodes * per_node):
        nodes *= 2
    found = nodes * per_node if nodes * per_node <= MOST_DEVICES else None
    entering = int(ranges(shards, per_node).bytes) if shards > per_node else 0
    return Traffic(by_ranges(shards), entering, found)
