"""DIMACS and PACE: a line 'p kind vertices edges', and an edge a line.

==========  =====================  ================================  ==========================================
kind        of                     an edge is                        and
==========  =====================  ================================  ==========================================
sp          .gr, shortest paths    ``a u v weight``, an arc
max         .max, maximum flow     ``a u v capacity``, an arc        ``n v s`` and ``n v t``, which are not kept
edge, col   .col, .clq, colouring  ``e u v``, without a direction    ``n v value``, which is not kept
tw          .gr of PACE            ``u v``, without a direction
==========  =====================  ================================  ==========================================

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
from .lines import Lines
from .stream import Text, size_known


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
    return Content(src, dst, weights, vertices, kind.directed, 1)
