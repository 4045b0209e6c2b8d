"""A shard's edges in a search for components."""

from typing import NamedTuple

from ...arrays import Array


class OutgoingEdges(NamedTuple):
    """The edges from a shard's vertices: row ``v - first`` holds the targets of ``v``'s edges."""

    indptr: Array
    indices: Array
