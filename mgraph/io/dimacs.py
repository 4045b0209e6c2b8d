"""DIMACS and PACE .gr: 'p sp vertices edges' and arcs 'a u v weight', or 'p tw vertices edges' and edges 'u v'.

Lines that begin with a ``c`` are comments; vertices are numbered from 1. After ``p tw`` an edge has no direction.
"""

import re
from io import BufferedReader
from pathlib import Path

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError
from .content import Content, Options
from .lines import Lines
from .stream import Text, size_known


def read_gr(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a .gr file.

    Raises
    ------
    FormatError
        For an invalid line, or if the number of edges is not that of the first line.
    """
    text = Text(path, stream, b"c")
    lines: Lines | None = None
    start = kind = ""
    vertices = edges = 0
    for first, block in text:
        if lines is None:
            place, line = next(text.content(block))
            first += block.count(b"\n", 0, place)
            start = f"{path}, line {first}"
            problem = re.fullmatch(rb"p[ \t]+(sp|tw)[ \t]+([0-9]{1,18})[ \t]+([0-9]{1,18})", line)
            if problem is None:
                raise FormatError(
                    f"{start}: a .gr file begins with 'p sp vertices edges' or 'p tw vertices edges', "
                    f"not with {line[:60].decode('utf-8', 'replace')!r}"
                )
            kind, vertices, edges = problem[1].decode(), int(problem[2]), int(problem[3])
            if vertices > MAX_VERTICES:
                raise FormatError(f"{start}: {vertices} vertices are beyond int32: at most {MAX_VERTICES}")
            end = block.find(b"\n", place)
            block = block[end:] if end >= 0 else b""
            lines = Lines(
                path,
                weights=(np.int64, np.float64) if kind == "sp" else (),
                comments=b"c",
                inline=False,
                tagged=kind == "sp",
                base=1,
                expected=size_known(stream),
                limit=vertices,
                wanted="after 'p sp', an edge is 'a u v weight'" if kind == "sp" else "after 'p tw', an edge is 'u v'",
            )
            text.take = lines.take
        lines.add(first, block)
    if lines is None:
        raise FormatError(f"{path} has no line 'p sp vertices edges' or 'p tw vertices edges'")
    src, dst, weights = lines.edges()
    if len(src) < edges:
        raise FormatError(
            f"{path}, line {text.last}: the file ends here: {edges} edges are expected and {len(src)} found: "
            "is it complete?"
        )
    if len(src) > edges:
        raise FormatError(f"{start}: {edges} edges are expected and {len(src)} found")
    return Content(src, dst, weights, vertices, kind == "sp", 1)
