"""Edge lists, 'u v' or 'u v weight' a line, and lists with a number a line.

The first edge determines the layout of the others. A first line such as "4039 88234" may be an edge or a header
'vertices edges': if the numbers fit a header, the file is refused unless the caller resolves it with `n`.
"""

import itertools
from io import BufferedReader
from pathlib import Path

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError, Given, Words
from .content import Content, Options
from .ids import in_use
from .lines import Lines
from .stream import Text

#: Number of first edge lines that may be a header such as "4039 88234".
HEAD = 5


def read_edges(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of an edge list.

    Raises
    ------
    FormatError
        For a line that is not an edge, or that may be a header.
    """
    n = options.n
    text = Text(path, stream, b"#%", inline=True)
    lines: Lines | None = None
    head: dict[int, int] = {}  # the first edge lines of two numbers: their lines by their places
    header: tuple[int, int, bytes] | None = None  # its place among the edge lines, its line, its text
    for first, block in text:
        if lines is None:
            found = list(itertools.islice(text.content(block), HEAD))
            places = [first + block.count(b"\n", 0, start) for start, _ in found]
            for place, (start, line) in enumerate(found):
                numbers = line.replace(b",", b" ").split()
                if len(numbers) != 2:
                    continue
                head[place] = places[place]
                if n is not None and numbers[0] == b"%d" % n:
                    # A header, if the number of edges matches too, which is known at the end of the file.
                    header = place, places[place], line
                    block = block[:start] + b"#" + block[start + 1 :]
                    break
            edge = 1 if header is not None and header[0] == 0 and len(found) > 1 else 0
            lines = _layout(path, places[edge], found[edge][1], options)
        lines.add(first, block)
    if lines is None:
        none = np.empty(0, np.int32)
        return Content(none, none, np.empty(0) if options.weighted else None, None, True, 0)
    if header is not None:
        place, number, line = header
        edges = (b"%d" % len(lines), b"%d" % (len(lines) - place))
        if line.replace(b",", b" ").split()[1] not in edges:
            lines.add(number, line)
    src, dst, weights = lines.edges()
    if n is None:
        _refuse_header(path, head, src, dst, options.relabel)
    return Content(src, dst, weights, None, True, 0)


def read_numbers(path: Path, stream: BufferedReader) -> np.ndarray:
    """Return the numbers of a text with one per line, without blank lines and comments after ``#``.

    Raises
    ------
    FormatError
        For any other line, and for a number that is negative or beyond int64.
    """
    wanted = "give a saved array (.npy), or a text with a number a line"
    lines = Lines(path, ids=1, comments=b"#", limit=2**63, noun="successor", wanted=wanted)
    for first, block in Text(path, stream, b"#", inline=True):
        lines.add(first, block)
    return lines.arrays()[0] if len(lines) else np.empty(0, np.int64)


def _layout(path: Path, number: int, line: bytes, options: Options) -> Lines:
    """Return the layout of all edges, as determined by the first one."""
    delimiter = "," if b"," in line else None
    columns = len(line.split(b"," if delimiter else None))
    if options.weighted is False:
        columns = min(columns, 2)
    if columns not in (2, 3):
        raise FormatError(
            f"{path}, line {number}: {line.decode('utf-8', 'replace')[:60]!r} has {columns} "
            f"columns: an edge is 'u v' or 'u v weight'; put a '#' before the line if it is not an "
            f"edge, or ignore the rest with ",
            Given("weighted", False),
        )
    return Lines(
        path,
        weights=(np.int64, np.float64) if columns == 3 else (),
        delimiter=delimiter,
        cut=options.weighted is False,
        limit=2**63 if options.relabel else MAX_VERTICES if options.n is None else min(options.n, MAX_VERTICES),
        wanted=f"the first edge, on line {number}, has {columns} (if that is a header, put a '#' before it)",
    )


def _refuse_header(path: Path, head: dict[int, int], src: np.ndarray, dst: np.ndarray, relabel: bool) -> None:
    """Refuse a text if one of its first lines looks like a header "vertices edges" rather than an edge.

    The header of a tree, "4 3", may also be an edge, as in "4 3", "3 2", "2 1", "1 0": only the user knows, and
    resolves it with `n`.
    """
    for place, line in head.items():
        a, b = int(src[place]), int(dst[place])
        following = len(src) - 1 - place
        if b not in (len(src) - 1, following):
            continue
        others = np.delete(src, place), np.delete(dst, place)
        largest = max((int(ends.max()) for ends in others if len(ends)), default=-1)
        if largest < 0:
            continue
        used = len(in_use(*others))
        if (a > largest and b == following > 0) or (b > largest and a in (largest, largest + 1, used)):
            skips = a == used if relabel else a > largest
            skip: Words = ("pass ", Given("n", a), " to skip it, or ") if skips else ()
            n = len(in_use(src, dst)) if relabel else max(a, b) + 1
            keep: Words = ("pass ", Given("n", n)) if n != a else ("move it to the end of the file",)
            raise FormatError(
                f"{path}, line {line}: '{a} {b}' looks like a header 'vertices edges', as there are {b} edges: ",
                *skip,
                "put a '#' before it; if it is an edge, ",
                *keep,
            )
