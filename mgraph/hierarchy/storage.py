"""Hierarchies in files: the edges, their lengths and the order of elimination, from which all else follows.

Building the structure again takes less time than checking it would. The file is an archive of arrays, which `save` of
`mgraph.io` writes as a whole or not at all. What is read is checked before compiled code sees it.
"""

import os
from typing import NamedTuple

import numpy as np

from .. import io, lazy
from ..dtypes import MAX_VERTICES, band
from ..errors import FormatError
from ..graph import Graph
from .lengths import TYPES

#: What a file must hold, for messages.
_HOLDS = "a hierarchy that Hierarchy.save wrote"

#: The version of the form of the files.
_VERSION = 1


class Stored(NamedTuple):
    """The content of a file: the edges, the length of each in the type of distances, and the order of elimination."""

    graph: Graph
    lengths: np.ndarray
    order: np.ndarray


def save(path: str | os.PathLike[str], stored: Stored, overwrite: bool) -> None:
    """Write a hierarchy to a file."""
    indptr, indices = stored.graph.adjacency("csr")
    arrays = {"indptr": indptr, "indices": indices, "lengths": stored.lengths, "order": stored.order}
    io.save(path, {"version": np.array([_VERSION]), **arrays}, overwrite)


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a hierarchy from a file.

    Raises
    ------
    FormatError
        If the file does not hold one; of the order only the number of its elements is checked.
    """
    version, indptr, indices, lengths, order = io.read_archive(
        path, _HOLDS, version=("iu", 1), indptr=("iu", 1), indices=("iu", 1), lengths=("if", 1), order=("iu", 1)
    )

    def invalid(why: str) -> FormatError:
        return FormatError(f"{os.fspath(path)} must hold {_HOLDS}: {why}")

    n, m = len(indptr) - 1, len(indices)
    if version.tolist() != [_VERSION]:
        raise invalid(f"its version is {version.tolist()[:3]}, and this mgraph reads {_VERSION}")
    if not 0 <= n <= MAX_VERTICES or len(order) != n or len(lengths) != m:
        raise invalid(f"it has {n} vertices, {m} edges, {len(lengths)} lengths, and {len(order)} vertices in order")
    if indptr[0] != 0 or int(indptr[-1]) != m or not bool((indptr[1:] >= indptr[:-1]).all()):
        raise invalid("'indptr' does not ascend from 0 to the number of edges")
    if m and not (0 <= int(indices.min()) and int(indices.max()) < n):
        raise invalid(f"an edge leads to a vertex outside of 0 to {n - 1}")
    if lengths.dtype not in TYPES:
        raise invalid(f"the lengths are of type {lengths.dtype}")
    lengths = lengths.astype(lengths.dtype.newbyteorder("="), copy=False)
    least = -np.inf if lengths.dtype.kind == "f" else -band(lengths.dtype) - 1
    within = (lengths > least) & (lengths <= (np.inf if lengths.dtype.kind == "f" else band(lengths.dtype)))
    if not bool(within.all()):
        raise invalid(f"there is a length of {lengths[~within][0]}")
    graph = Graph.from_scipy(lazy.sparse().csr_array((np.ones(m, bool), indices, indptr), shape=(n, n)))
    if not np.array_equal(graph.adjacency("csr")[1], indices):
        raise invalid("the edges of a vertex are not in ascending order")
    return Stored(graph, lengths, order)
