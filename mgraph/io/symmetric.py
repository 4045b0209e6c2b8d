"""Edges without direction that a file lists at both of their ends, as a graph does: compressed rows that are symmetric.

Few edges are grouped by their other ends, and compared. Of many, those above and below the diagonal are only hashed
(`balanced`), and compared if the hashes differ. On Kronecker graphs, hashing takes some 5 ns an edge and core, and no
memory. Grouping is exact, and a counting sort on all cores too, but takes 12 to 20 ns, and as much memory as the graph.
"""

from pathlib import Path

import numpy as np

from ..errors import ArgumentValue, FormatError
from ..graph import Compressed, grouping
from ..graph.compressed import rows_of, sorted_rows, transposed, transposed_bytes
from .content import Rows
from .stream import require


def undirected(path: Path, rows: Rows) -> Rows:
    """Return rows as those of a graph without directions, sorted, with parallel edges in the same order at both ends.

    Raises
    ------
    FormatError
        If an edge between two vertices is not listed at both, as often and with the same weights.
    MemoryLimitError
        If the comparison does not fit the free memory.
    """
    edges, n, _, base, _ = rows
    m = len(edges.indices)
    in_order = grouping.ascending(*edges[:2], n, strictly=edges.weights is not None)
    if in_order and m >= grouping.MANY and grouping.balanced(*edges):
        return rows._replace(directed=False)
    what = f"comparing the edges of {n:,} vertices with their other directions"
    if not in_order:
        require(path, 12 * n + 40 * m, what)
        edges = sorted_rows(edges, n)
    require(path, transposed_bytes(edges) + m, what)
    back = transposed(*edges, n)
    if not all(one is None or np.array_equal(one, other) for one, other in zip(edges, back, strict=True)):
        edges = _agreed(path, edges, back, base)
    return rows._replace(edges=edges, directed=False)


def _agreed(path: Path, edges: Compressed, back: Compressed, base: int) -> Compressed:
    """Return edges with the weights of parallel ones in one order, given the edges back; or raise FormatError."""
    m = len(edges.indices)
    src, src_back = rows_of(edges.indptr, m, np), rows_of(back.indptr, m, np)
    wrong = (src != src_back) | (edges.indices != back.indices)
    same = int(wrong.argmax()) if wrong.any() else m
    # Both lists ascend by source and target. So the first pair of ends in one of them only is the lesser of two.
    found = [(int(u[same]), int(v[same])) for u, v in ((src, edges.indices), (src_back, back.indices)) if same < m]
    if edges.weights is not None and back.weights is not None:
        # Parallel edges may stand in another order in the rows of their other ends: their weights are compared sorted.
        weights, others = edges.weights[:same], back.weights[:same]
        differ = (weights != others).nonzero()[0]
        u, v, weights, others = (part[differ] for part in (src, edges.indices, weights, others))
        one, other = np.lexsort((weights, v, u)), np.lexsort((others, v, u))
        wrong = weights[one] != others[other]
        if wrong.any():
            edge = one[wrong.argmax()]
            found.append((int(u[edge]), int(v[edge])))
    if found:
        low, high = min(found)
        raise FormatError(
            f"{path}: the edge between the vertices {low + base} and {high + base} must be listed at both with one "
            "weight: ",
            ArgumentValue("directed", True),
            " reads each entry as an edge with a direction",
        )
    return edges._replace(weights=np.where(edges.indices < src, back.weights, edges.weights))
