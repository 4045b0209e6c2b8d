"""Inputs of suites: generated graphs, matrices and lists, and graphs of files.

A suite's ``graph`` names a maker of `MAKERS` and its arguments. All are seeded: the same arguments give the same input
on every device.
"""

import inspect
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from mgraph import device as devices
from mgraph import generate
from mgraph.arrays import Array
from mgraph.errors import InputError
from mgraph.graph import Compressed, Graph
from mgraph.io import read as read_file

from . import CHECKOUT

#: Folders of files of graphs, from the current folder and from the checkout, unless a folder is named.
FOLDERS = ("data", "../shared/data", ".data")
DATA = tuple(place / name for place in (Path(), CHECKOUT) for name in FOLDERS)

#: Sources of the files that suites name.
SOURCES = {
    "USA-road-d.*.gr.gz": "mgraph datasets fetch roads-ny, -fla, -e or -w downloads it",
    "*.gr.xz": "road networks: the ninth DIMACS challenge, http://www.diag.uniroma1.it/challenge9/download.shtml",
    "as-caida*": "graphs of autonomous systems: SNAP, https://snap.stanford.edu/data/as-Caida.html",
}


def star(n: int, *, device: str | None = None) -> Graph:
    """Return the undirected star: one vertex with an edge to each of the others."""
    place = devices.find("cpu" if device is None else device)
    leaves = place.xp.arange(1, max(n, 1), dtype=np.int32)
    return Graph.from_edges(place.xp.zeros_like(leaves), leaves, n=n, directed=False)


def random_matrix(n: int, *, negative: bool = False, device: str | None = None, **given: Any) -> Array:
    """Return `mgraph.generate.random_matrix` on a device.

    With `negative`, the edges from the first half of the vertices to the second are half a unit shorter, and one has
    the length -1. No cycle is negative: every way back is as long or longer.
    """
    matrix = generate.random_matrix(n, **given)
    if negative:
        matrix[: n // 2, n // 2 :] -= matrix.dtype.type(0.5)
        matrix[0, n - 1] = -1
    return devices.find("cpu" if device is None else device).asarray(matrix)


def read(
    file: str, *, core: int | None = None, folder: Path | None = None, device: str | None = None, **given: Any
) -> Graph:
    """Return the graph of a file of the data folder, or its subgraph of the vertices of most edges.

    Parameters
    ----------
    file : str
        The file's name, in `folder`.
    core : int, optional
        Keep only this number of vertices, those of most edges, in the order of their numbers.
    folder : path, optional
        By default the first of `DATA` that has the file.
    device : {"cpu", "cuda", "cuda:N"}, optional
        Device of the graph; by default the CPU.
    **given
        As `mgraph.read` takes it.

    Raises
    ------
    InputError
        If the file is not there.
    """
    folders = [folder] if folder else DATA
    path = next((place / file for place in folders if (place / file).is_file()), None)
    if path is None:
        source = "".join(f"; {words}" for pattern, words in SOURCES.items() if fnmatch(file, pattern))
        where = folder or f"{', '.join(FOLDERS)} of the current folder or the checkout"
        raise InputError(f"{file} is not in {where}: put it there, or name its folder (--data){source}")
    graph = read_file(path, **given)
    if core is not None:
        graph = _core(graph, core)
    place = devices.find("cpu" if device is None else device)
    if place.kind == "cpu":
        return graph
    csr = Compressed(*(None if part is None else place.asarray(part) for part in graph.compressed("csr")))
    return Graph(graph.n, csr=csr, directed=graph.directed, nonnegative=graph.nonnegative)


def _core(graph: Graph, n: int) -> Graph:
    """Return the subgraph of the `n` vertices of most edges."""
    if n > graph.n:
        raise InputError(f"core={n} vertices are more than the {graph.n} that there are")
    src, dst, weights = graph.coo()
    degrees = np.bincount(src, minlength=graph.n) + np.bincount(dst, minlength=graph.n)
    kept = np.sort(np.argsort(-degrees, kind="stable")[:n])
    number = np.full(graph.n, -1, np.int32)
    number[kept] = np.arange(n, dtype=np.int32)
    there = (number[src] >= 0) & (number[dst] >= 0)
    lengths = None if weights is None else weights[there]
    made = Graph.from_edges(number[src[there]], number[dst[there]], lengths, n=n)
    made.directed = graph.directed
    return made


MAKERS: dict[str, Callable[..., Any]] = {
    "rmat": generate.rmat,
    "grid": generate.grid,
    "star": star,
    "random_matrix": random_matrix,
    "random_density": generate.random_density,
    "random_degree": generate.random_degree,
    "scale_free": generate.scale_free,
    "linked_list": generate.linked_list,
    "list_graph": generate.list_graph,
    "tree_graph": generate.tree_graph,
    "random_graph": generate.random_graph,
    "read": read,
}

#: The kinds of input of the makers that do not make graphs.
_KINDS = {"linked_list": "list", "random_matrix": "matrix"}


def kind_of(make: str) -> str:
    """Return the kind of input that a maker makes: ``"graph"``, ``"matrix"`` or ``"list"``."""
    return _KINDS.get(make, "graph")


#: Functions to which makers pass further arguments on.
_BEHIND: dict[str, tuple[Callable[..., Any], ...]] = {"random_matrix": (generate.random_matrix,), "read": (read_file,)}


def parameters_of(make: str) -> tuple[dict[str, Any], list[str]]:
    """Return the types of the parameters that suites may give a maker, and the names of the required ones.

    All makers of graphs take ``weights``.
    """
    found, needed = {}, []
    for call in (MAKERS[make], *_BEHIND.get(make, ())):
        hints = get_type_hints(call)
        for name, parameter in inspect.signature(call).parameters.items():
            if parameter.kind is not parameter.VAR_KEYWORD and name not in ("path", "folder", "device", "client"):
                found[name] = hints[name]
                needed += [name] * (parameter.default is parameter.empty and name not in needed)
        if hints["return"] in (Graph, Any):  # those that also make graphs on workers
            found.setdefault("weights", tuple[int, int])
    return found, needed


def made(graph: dict[str, Any], device: str, folder: Path | None = None) -> Any:
    """Return the input that a suite describes, on a device; ``weights`` apply to a graph that has none.

    Raises
    ------
    InputError
        If there is no such maker, or it takes no such arguments, or the file is not there.
    """
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in graph.items()}
    name = given.pop("make", None)
    if name not in MAKERS:
        raise InputError(f"make={name!r} is not known: use one of {', '.join(MAKERS)}")
    maker = MAKERS[name]
    weights = None if "weights" in inspect.signature(maker).parameters else given.pop("weights", None)
    if maker is read:
        given["folder"] = folder
    try:
        inspect.signature(maker).bind(**given, device=device)
    except TypeError as error:
        raise InputError(f"{name} cannot be made of {given}: {error}") from error
    found = maker(**given, device=device)
    return found if weights is None or found.weighted else generate.weighted(found, weights)
