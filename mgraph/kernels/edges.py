"""How operations take lists of edges, and the buffers in which they put off vertices with many edges."""

from ..arrays import Array

#: Edges grouped by one end (CSR or CSC), ``(indptr, indices)``. Row i has ``indices[indptr[i]:indptr[i + 1]]``.
#: ``indptr`` is int32 or int64 of shape (rows + 1,), ``indices`` is int32 of shape (edges,).
Adjacency = tuple[Array, Array]

#: ``(indptr, indices, values)``: an `Adjacency`, and a number for each edge, of shape (edges,).
WeightedAdjacency = tuple[Array, Array, Array]

#: Buffers for hubs, the vertices that an operation puts off for their many edges: int32 of shape
#: (``hub_capacity(edges)``,), and a counter, uint64 of shape (1,).
HubBuffers = tuple[Array, Array]
