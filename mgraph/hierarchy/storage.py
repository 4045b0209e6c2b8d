"""Hierarchies in files: the edges, their lengths, the order of elimination and the graph's ids.

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
from ..graph.ids import as_ids, written
from .lengths import TYPES

#: What a file must hold, for messages.
_HOLDS = "a hierarchy that Hierarchy.save wrote"

#: The versions of the form of the files: without the graph's ids, and with them; of a hierarchy with labels two more.
_WITHOUT, _WITH, _LABELLED = 1, 2, 2


class Stored(NamedTuple):
    """The content of a file: the edges, the length of each in the type of distances, and the order of elimination.

    Whether labels were kept is stored, not the labels: to compute them takes less time than to read and check them.
    """

    graph: Graph
    lengths: np.ndarray
    order: np.ndarray
    labelled: bool = False


def save(path: str | os.PathLike[str], stored: Stored, overwrite: bool) -> None:
    """Write a hierarchy to a file."""
    io.check_output(path, overwrite, (".npz",))
    (indptr, indices), ids = stored.graph.layout("csr"), stored.graph.ids
    arrays = {"indptr": indptr, "indices": indices, "lengths": stored.lengths, "order": stored.order}
    if ids is not None:
        arrays["ids"] = written(ids)
    version = (_WITHOUT if ids is None else _WITH) + _LABELLED * stored.labelled
    io.save(path, {"version": np.array([version]), **arrays}, overwrite)


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a hierarchy from a file.

    Raises
    ------
    FormatError
        If the file does not hold one; of the order only the number of its elements is checked.
    """

    def invalid(why: str) -> FormatError:
        return FormatError(f"{os.fspath(path)} must hold {_HOLDS}: {why}")

    [version] = io.read_archive(path, _HOLDS, version=("iu", 1))
    known = range(_WITHOUT, _WITH + _LABELLED + 1)
    if len(version) != 1 or version[0] not in known:
        raise invalid(f"its version is {version.tolist()[:3]}, and this mgraph reads {known[0]} to {known[-1]}")
    labelled = int(version[0]) > _LABELLED
    named = {"ids": ("iU", 1)} if version[0] - _LABELLED * labelled == _WITH else {}
    indptr, indices, lengths, order, *ids = io.read_archive(
        path, _HOLDS, indptr=("iu", 1), indices=("iu", 1), lengths=("if", 1), order=("iu", 1), **named
    )
    n, m = len(indptr) - 1, len(indices)
    if any(len(names) != n for names in ids):
        raise invalid(f"it has {len(ids[0])} ids of {n} vertices")
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
    graph = Graph.from_scipy(lazy.sparse().csr_array((np.ones(m, bool), indices, indptr), shape=(n, n)), copy=False)
    if not np.array_equal(graph.layout("csr")[1], indices):
        raise invalid("the edges of a vertex are not in ascending order")
    for names in ids:
        if len(np.unique(names)) < n:
            raise invalid("two vertices have the same id")
        graph = graph.with_ids(as_ids(names.tolist()))
    return Stored(graph, lengths, order, labelled)
