"""DIMACS and PACE: a line 'p kind vertices edges', and an edge a line.

==========  =====================  ================================  ==========================================
kind        of                     an edge is                        and
==========  =====================  ================================  ==========================================
sp          .gr, shortest paths    ``a u v weight``, an arc
max         .max, maximum flow     ``a u v capacity``, an arc        ``n v s`` and ``n v t``, which are not kept
edge, col   .col, .clq, colouring  ``e u v``, without a direction    ``n v value``, which is not kept
tw          .gr of PACE            ``u v``, without a direction
==========  =====================  ================================  ==========================================

A file of shortest paths, ``NAME.gr``, may have the coordinates of its vertices beside it, in ``NAME.co``: a line
``p aux sp co vertices``, and a vertex a line, ``v id x y``.

Lines that begin with a ``c`` are comments; vertices are numbered from 1. The formats are those of DIMACS' challenges,
http://archive.dimacs.rutgers.edu/Challenges, and of PACE's, https://pacechallenge.org.
"""

import re
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError
from .content import Content, Options
from .files import open_file
from .lines import Lines
from .stream import COMPRESSIONS, Text, decompressing, opened, size_known


class _Kind(NamedTuple):
    """How the lines of a kind of problem are."""

    edge: str
    tag: bytes
    weighted: bool
    directed: bool
    comments: bytes


_PACE = _Kind("'u v'", b"", False, False, b"c")
_COLOURING = _Kind("'e u v'", b"e", False, False, b"cn")
_KINDS = {
    "sp": _Kind("'a u v weight'", b"a", True, True, b"c"),
    "tw": _PACE,
    "edge": _COLOURING,
    "col": _COLOURING,
    "max": _Kind("'a u v capacity'", b"a", True, True, b"cn"),
}

#: The first line of a file, for messages.
_FIRST = " or ".join(f"'p {name} vertices edges'" for name in _KINDS)

_PROBLEM = re.compile(rb"p[ \t]+(%s)[ \t]+([0-9]{1,18})[ \t]+([0-9]{1,18})" % "|".join(_KINDS).encode())

#: The first line of a file of coordinates, its lines of vertices and comments, and the comments.
_OF_COORDINATES = re.compile(rb"p[ \t]+aux[ \t]+sp[ \t]+co[ \t]+([0-9]{1,18})")
_NUMBER = rb"[ \t]++[+-]?[0-9]{1,18}+(?:\.[0-9]*+)?"  # Python 3.11.2 matches groups with ?+ wrongly
_PLACES = re.compile(rb"(?:[ \t]*+(?:v[ \t]++[0-9]{1,18}+%b%b[ \t\r]*+|c[^\n]*+|\r?)(?:\n|\Z))*+" % (_NUMBER, _NUMBER))
_COMMENT = re.compile(rb"^[ \t]*+c[^\n]*+", re.MULTILINE)


def read_gr(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a file of DIMACS or PACE.

    Raises
    ------
    FormatError
        For an invalid line, or if the number of edges is not that of the first line.
    """
    text = Text(path, stream, b"c")
    lines: Lines | None = None
    kind, start = _PACE, ""
    vertices = edges = 0
    for first, block in text:
        if lines is None:
            place, line = next(text.content(block))
            first += block.count(b"\n", 0, place)
            start = f"{path}, line {first}"
            problem = _PROBLEM.fullmatch(line)
            if problem is None:
                raise FormatError(
                    f"{start}: a file of DIMACS or PACE begins with {_FIRST}, "
                    f"not with {line[:60].decode('utf-8', 'replace')!r}"
                )
            name, vertices, edges = problem[1].decode(), int(problem[2]), int(problem[3])
            kind = _KINDS[name]
            if vertices > MAX_VERTICES:
                raise FormatError(f"{start}: {vertices} vertices are beyond int32: at most {MAX_VERTICES}")
            end = block.find(b"\n", place)
            block = block[end:] if end >= 0 else b""
            lines = Lines(
                path,
                weights=(np.int64, np.float64) if kind.weighted else (),
                comments=kind.comments,
                inline=False,
                tag=kind.tag,
                base=1,
                expected=size_known(stream),
                limit=vertices,
                wanted=f"after 'p {name}', an edge is {kind.edge}",
            )
            text.take = lines.take
        lines.add(first, block)
    if lines is None:
        raise FormatError(f"{path} has no line {_FIRST}")
    src, dst, weights = lines.edges()
    if len(src) < edges:
        raise FormatError(
            f"{path}, line {text.last}: the file ends here: {edges} edges are expected and {len(src)} found: "
            "is it complete?"
        )
    if len(src) > edges:
        raise FormatError(f"{start}: {edges} edges are expected and {len(src)} found")
    places = _coordinates(path, vertices) if kind.tag == b"a" else None
    return Content(src, dst, weights, vertices, kind.directed, 1, coordinates=places)


def _coordinates(path: Path, n: int) -> np.ndarray | None:
    """Return the coordinates in the file ``.co`` beside a graph of n vertices; None if there is none.

    Raises
    ------
    FormatError
        If the file is invalid, or is that of another graph.
    """
    stem = path.name.removesuffix(path.suffix) if path.suffix in COMPRESSIONS else path.name
    names = [f"{Path(stem).stem}.co{ending}" for ending in ("", *COMPRESSIONS)] if isinstance(path, Path) else []
    beside = next((path.with_name(name) for name in names if path.with_name(name).is_file()), None)
    if beside is None:
        return None
    found, started = np.full((n, 2), np.nan), False
    with decompressing(beside), open_file(str(beside)) as file, opened(beside, file) as stream:
        text = Text(beside, stream, b"c")
        for line, block in text:
            if not started:
                place, header = next(text.content(block))
                line += block.count(b"\n", 0, place)
                match = _OF_COORDINATES.fullmatch(header)
                if match is None or int(match[1]) != n:
                    raise FormatError(
                        f"{beside}, line {line}: the coordinates of {path}, of {n} vertices, begin with "
                        f"'p aux sp co {n}', not with {header[:60].decode('utf-8', 'replace')!r}"
                    )
                started, line = True, line + 1
                block = block[place:].partition(b"\n")[2]
            right = _PLACES.match(block)
            assert right is not None  # it matches nothing, too
            if right.end() < len(block):
                where = line + block.count(b"\n", 0, right.end())
                raise FormatError(f"{beside}, line {where}: after 'p aux sp co', a vertex is 'v id x y'")
            rows = np.array(_COMMENT.sub(b"", block).replace(b"v", b"").split(), np.float64).reshape(-1, 3)
            vertices = rows[:, 0]
            if not ((vertices >= 1) & (vertices <= n)).all():
                raise FormatError(f"{beside}: the number of a vertex must be in [1, {n}], got {int(vertices.max())}")
            found[vertices.astype(np.int64) - 1] = rows[:, 1:]
    return found
