"""Graphs of LDBC Graphalytics: NAME.v has a vertex id a line, NAME.e an edge, 'source target' or with a weight.

NAME.properties says whether edges have a direction: A. Iosup et al., "The LDBC Graphalytics Benchmark" (2020),
https://arxiv.org/abs/2011.15028. Without NAME.v the vertices are those that have an edge.
"""

import re
from io import BufferedReader
from pathlib import Path

import numpy as np

from ..arrays import distinct, places_of
from ..errors import FormatError
from .content import Content, Options
from .lines import Lines
from .stream import COMPRESSIONS, HEAD, Text, check_unpacked, opened, size_known

_DIRECTED = re.compile(rb"^[^\S\n]*graph\.\S+\.directed\s*[=:]\s*(true|false)\s*$", re.MULTILINE)

#: Bytes of NAME.properties that are read.
_PROPERTIES = 1 << 16


def read_graphalytics(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a graph of Graphalytics, given its file of edges or of vertices; the others lie beside it.

    Raises
    ------
    FormatError
        For an invalid line, a vertex twice, and an edge of a vertex that is not in the file of vertices.
    MissingFileError
        If there are vertices and no edges.
    """
    squeezed = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    name = path.with_suffix("") if squeezed else path

    def beside(suffix: str) -> Path:
        return Path(f"{name.with_suffix(suffix)}{squeezed}")

    if not isinstance(path, Path):  # a URL: nothing is looked for beside it
        return _content(path, stream, options, path, None)
    if name.suffix.lower() == ".v":
        ids = _vertices(path, stream)
        with opened(beside(".e")) as edges:
            return _content(beside(".e"), edges, options, name, ids)
    if not beside(".v").is_file():
        return _content(path, stream, options, name, None)
    with opened(beside(".v")) as vertices:
        ids = _vertices(beside(".v"), vertices)
    return _content(path, stream, options, name, ids)


def _content(path: Path, stream: BufferedReader, options: Options, name: Path, ids: np.ndarray | None) -> Content:
    """Return the edges of a file between the vertices of some ids, or between those in use."""
    check_unpacked(path, stream.peek(HEAD))
    text = Text(path, stream, b"#", inline=True)
    lines: Lines | None = None
    for first, block in text:
        if lines is None:
            _, line = next(text.content(block))
            lines = Lines(
                path,
                weights=(np.int64, np.float64) if options.weighted is not False and len(line.split()) > 2 else (),
                comments=b"#",
                cut=options.weighted is False,
                limit=2**63,
                wanted="an edge is 'source target' or 'source target weight', as the first one",
                expected=size_known(stream),
            )
            text.take = lines.take
            if lines.take(block) >= 0:
                continue
        lines.add(first, block)
    none = np.empty(0, np.int64)
    src, dst, weights = (none, none, None) if lines is None else lines.edges()
    used = distinct(np.concatenate([src, dst]))
    if ids is None:
        ids = used
    unknown = used[~np.isin(used, ids, assume_unique=True)]
    if len(unknown):
        raise FormatError(f"{path}: the vertex {unknown[0]} of an edge is not in {name.with_suffix('.v')}")
    return Content(
        places_of(src, ids).astype(np.int32),
        places_of(dst, ids).astype(np.int32),
        weights,
        len(ids),
        _directed(name),
        0,
        ids,
    )


def _vertices(path: Path, stream: BufferedReader) -> np.ndarray:
    """Return the ids of a file of vertices, ascending."""
    check_unpacked(path, stream.peek(HEAD))
    lines = Lines(path, ids=1, comments=b"#", cut=True, limit=2**63, wanted="a line has the id of a vertex")
    for first, block in Text(path, stream, b"#", inline=True):
        lines.add(first, block)
    if not len(lines):
        return np.empty(0, np.int64)
    ids = np.sort(lines.arrays()[0])
    twice = ids[1:][ids[1:] == ids[:-1]]
    if len(twice):
        raise FormatError(f"{path}: the vertex {twice[0]} is there twice")
    return ids


def _directed(name: Path) -> bool:
    """Return whether edges have a direction: unless the file of properties says that they have none."""
    file = name.with_suffix(".properties")
    if not (isinstance(name, Path) and file.is_file()):
        return True
    with file.open("rb") as properties:
        found = _DIRECTED.search(properties.read(_PROPERTIES))
    return found is None or found[1] == b"true"
