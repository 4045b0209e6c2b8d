"""`mgraph.write`: a graph into a file, for programs that read the formats of METIS or GAP."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..graph import Graph, as_graph
from .files import is_url
from .gap import write_sg, write_wsg
from .metis import write_metis
from .saving import check_output, replacing

_WRITERS: dict[str, Callable[[IO[bytes], Graph, Path], None]] = {
    ".sg": write_sg,
    ".wsg": write_wsg,
    ".graph": write_metis,
    ".metis": write_metis,
}


def write(graph: Any, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a graph to a file, which appears whole or not at all; `mgraph.read` reads it.

    Vertices are written by their numbers: the graph's `ids` are not.

    Parameters
    ----------
    graph : Graph, sparse matrix or array_like
        The graph.
    path : path or str
        The suffix says what is written: ``.sg`` and ``.wsg`` are GAP's serialized graphs, without weights and with
        int32 weights; ``.graph`` and ``.metis`` are METIS's, of edges without direction, whose weights are positive
        integers.
    overwrite : bool
        Replace a file that exists.

    Raises
    ------
    InputError
        For another suffix, a path that cannot be written, and a graph that the format cannot hold.
    OutputExistsError
        If the file exists, and `overwrite` is false.
    OSError
        If the file cannot be written; it is then as it was before.

    See Also
    --------
    mgraph.read : The graph in a file.
    mgraph.Result.save : A result into a file, also as attributes of a graph in GraphML and GEXF.

    Examples
    --------
    >>> import pathlib
    >>> import tempfile
    >>> import mgraph
    >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], directed=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "roads.graph")
    ...     mgraph.write(graph, path)
    ...     print(path.read_text())
    3 2 001
    2 5
    1 5 3 6
    2 6
    <BLANKLINE>
    """
    graph = as_graph(graph)
    if isinstance(path, str) and is_url(path):
        raise InputError(argument="path", value=path, expected="the path of a file")
    check_output(path, overwrite, tuple(_WRITERS))
    path = Path(path)
    with replacing(path, overwrite) as file:
        _WRITERS[path.suffix](file, graph, path)
