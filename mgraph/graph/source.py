"""Edges that are read or made in chunks, of which each worker takes its share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from .. import device as devices
from ..arguments import as_array
from ..errors import InputError
from .checks import checked_edge_ends, checked_weights, vertex_count
from .compressed import Edges


class EdgeSource(Protocol):
    """A list of edges in consecutive chunks, which workers make: the same ones as often as they like."""

    @property
    def n(self) -> int | None:
        """The number of vertices; None for one more than the largest id."""

    @property
    def chunks(self) -> int:
        """The number of chunks."""

    @property
    def weights_dtype(self) -> np.dtype | None:
        """The type of the weights, one of those that a graph keeps; None for edges without weights."""

    @property
    def directed(self) -> bool:
        """False if each edge is to be stored in both directions."""

    @property
    def unique(self) -> bool:
        """Whether repeated edges are dropped; only without weights."""

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Return the edges of a chunk on a device: ids from 0, of int32, and weights; both checked, none infinite."""

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes that the source holds, by name."""


@dataclass(frozen=True)
class Chunks:
    """Edges in chunks, of which this worker holds some until they have been placed.

    Attributes
    ----------
    held : dict
        The worker's chunks, by their numbers.
    asked : set of int
        The chunks that have been asked for once.
    """

    held: dict[int, Edges]
    chunks: int
    n: int | None
    weights_dtype: np.dtype | None
    directed: bool
    asked: set[int] = field(default_factory=set)
    unique: ClassVar[bool] = False

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Return one of the worker's chunks on a device; the second time, to be placed, it is forgotten here."""
        edges = self.held.pop(number) if number in self.asked else self.held[number]
        self.asked.add(number)
        return Edges(*(None if array is None else device.asarray(array) for array in edges))

    def sizes(self) -> dict[str, int]:
        """Return the bytes of the worker's chunks."""
        return {"chunks": sum(array.nbytes for edges in self.held.values() for array in edges if array is not None)}


def checked_edges(src: Any, dst: Any, weights: Any, dtype: np.dtype | None, n: int | None, where: str) -> Edges:
    """Return edges as a source yields them, with weights of a type, or raise InputError as `Graph.from_edges` does.

    Parameters
    ----------
    src, dst, weights : array_like
        The edges; `weights` is None for edges without weights.
    dtype : dtype or None
        The type of the weights.
    n : int or None
        The number of vertices, if it is known.
    where : str
        Where the edges are, for the message: ``"partition 3"``.
    """
    src, largest_source = checked_edge_ends(src, "src", np)
    dst, largest_target = checked_edge_ends(dst, "dst", np)
    if len(src) != len(dst):
        raise InputError(f"{where}: src has {len(src)} entries and dst has {len(dst)}: give one of each per edge")
    vertex_count(n, max(largest_source, largest_target))
    src, dst = src.astype(np.int32, copy=False), dst.astype(np.int32, copy=False)
    if dtype is None:
        return Edges(src, dst, None)
    lengths = checked_weights(as_array(weights, "weights"), len(src), f" of {where}")
    if not np.can_cast(lengths.dtype, dtype):
        raise InputError(f"{where}: the weights are of {lengths.dtype}, and were said to be of {dtype}")
    lengths = lengths.astype(dtype, copy=False)
    if dtype.kind == "f" and bool(np.isinf(lengths).any()):
        there = ~np.isinf(lengths)
        return Edges(src[there], dst[there], lengths[there])
    return Edges(src, dst, lengths)
