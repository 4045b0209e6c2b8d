"""Edge lists, 'u v' or 'u v weight' a line, and lists with a number a line.

The first edge determines the layout of the others. A first line such as "4039 88234" may be an edge or a header
'vertices edges': if the numbers fit a header, the file is refused unless the caller resolves it with `n`.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError, Given, Words
from .content import Content, Options
from .ids import in_use
from .lines import Lines
from .stream import Text, size_known

#: Number of first edge lines that may be a header such as "4039 88234".
HEAD = 5

#: A number as a header has it.
_CANONICAL = re.compile(rb"0|[1-9][0-9]{0,17}")


class Header(NamedTuple):
    """A line that is a header 'vertices edges' if its number of edges is right, which is known at the end of the file.

    Attributes
    ----------
    place, number : int
        Its place among the edge lines, and its line.
    offset : int
        Where it begins in the text.
    edges : int
        The number of edges that it says.
    """

    place: int
    number: int
    offset: int
    edges: int

    def fits(self, count: int) -> bool:
        """Return whether the number of edges is that of all `count` other lines, or of those after this one."""
        return self.edges in (count, count - self.place)


class Pair(NamedTuple):
    """A line of two numbers among the first edges, which may be a header: the line, and the numbers."""

    line: int
    a: int
    b: int

    def may_count(self, count: int, place: int) -> bool:
        """Return whether the second number is that of the other lines, or of those that follow `place`."""
        return self.b in (count - 1, count - 1 - place)


class Opening(NamedTuple):
    """What the first edge lines of a text determine.

    Attributes
    ----------
    layout : mapping
        The layout of all edges: arguments of `Lines`.
    pairs : mapping
        The first lines of two numbers, by their places among the edge lines.
    header : Header or None
        The line that the caller's `n` says may be a header; it is the last of `pairs`.
    """

    layout: Mapping[str, Any]
    pairs: Mapping[int, Pair]
    header: Header | None


def read_edges(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of an edge list.

    Raises
    ------
    FormatError
        For a line that is not an edge, or that may be a header.
    """
    text = Text(path, stream, b"#%", inline=True)
    lines: Lines | None = None
    header: Header | None = None
    shown = b""
    for first, block in text:
        if lines is None:
            opening = opening_of(path, text, first, block, options)
            header = opening.header
            if header is not None:
                start = header.offset - text.offset
                shown = block[start:].split(b"\n", 1)[0]
                block = block[:start] + b"#" + block[start + 1 :]
            lines = Lines(path, **opening.layout, expected=size_known(stream))
            text.take = lines.take
            if lines.take(block) >= 0:
                continue
        lines.add(first, block)
    if lines is None:
        none = np.empty(0, np.int32)
        return Content(none, none, np.empty(0) if options.weighted else None, None, True, 0)
    if header is not None and not header.fits(len(lines)):
        lines.add(header.number, shown)
    src, dst, weights = lines.edges()
    if options.n is None:
        _refuse_header(path, opening.pairs, src, dst, options.relabel)
    return Content(src, dst, weights, None, True, 0)


def opening_of(path: Path, text: Text, first: int, block: bytes, options: Options) -> Opening:
    """Return what the first block of a text determines; `first` is the number of its first line.

    Raises
    ------
    FormatError
        If the first edge is none.
    """
    found = list(itertools.islice(text.content(block), HEAD))
    places = [first + block.count(b"\n", 0, start) for start, _ in found]
    pairs: dict[int, Pair] = {}
    header = None
    for place, (start, line) in enumerate(found):
        numbers = line.replace(b",", b" ").split()
        if len(numbers) != 2:
            continue
        if all(map(_CANONICAL.fullmatch, numbers)):
            pairs[place] = Pair(places[place], *map(int, numbers))
        if options.n is not None and numbers[0] == b"%d" % options.n:
            edges = int(numbers[1]) if _CANONICAL.fullmatch(numbers[1]) else -1
            header = Header(place, places[place], text.offset + start, edges)
            break
    edge = 1 if header is not None and header.place == 0 and len(found) > 1 else 0
    return Opening(_layout(path, places[edge], found[edge][1], options), pairs, header)


def read_numbers(path: Path, stream: BufferedReader) -> np.ndarray:
    """Return the numbers of a text with one per line, without blank lines and comments after ``#``.

    Raises
    ------
    FormatError
        For any other line, and for a number that is negative or beyond int64.
    """
    wanted = "give a saved array (.npy), or a text with a number a line"
    lines = Lines(path, ids=1, comments=b"#", limit=2**63, wanted=wanted)
    for first, block in Text(path, stream, b"#", inline=True):
        lines.add(first, block)
    return lines.arrays()[0] if len(lines) else np.empty(0, np.int64)


def _layout(path: Path, number: int, line: bytes, options: Options) -> dict[str, Any]:
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
    return {
        "weights": (np.int64, np.float64) if columns == 3 else (),
        "delimiter": delimiter,
        "cut": options.weighted is False,
        "limit": 2**63 if options.relabel else MAX_VERTICES if options.n is None else min(options.n, MAX_VERTICES),
        "wanted": f"the first edge, on line {number}, has {columns} (if that is a header, put a '#' before it)",
    }


def _refuse_header(path: Path, pairs: Mapping[int, Pair], src: np.ndarray, dst: np.ndarray, relabel: bool) -> None:
    """Refuse a text if one of its first lines looks like a header, given all edges."""
    for place, pair in pairs.items():
        if not pair.may_count(len(src), place):
            continue
        others = np.delete(src, place), np.delete(dst, place)
        largest = max((int(ends.max()) for ends in others if len(ends)), default=-1)
        used = len(in_use(*others))
        n = len(in_use(src, dst)) if relabel else max(pair.a, pair.b) + 1
        skips = pair.a == used if relabel else pair.a > largest
        _refuse_pair(path, place, pair, len(src), largest, used, skips=skips, n=n)


def check_header(path: Path, opening: Opening, count: int, largest: Sequence[int], relabel: bool) -> None:
    """Refuse a text if one of its first lines looks like a header, given the largest ids of all lines, descending.

    How many ids are in use is not known here: with sparse ids, a header may pass for an edge.
    """
    for place, pair in opening.pairs.items():
        if pair.may_count(count, place):
            others = list(largest)
            for end in (pair.a, pair.b):
                if end in others:
                    others.remove(end)
            greatest = others[0] if others else -1
            n = None if relabel else max(pair.a, pair.b) + 1
            skips = pair.a > greatest and not relabel
            _refuse_pair(path, place, pair, count, greatest, greatest, skips=skips, n=n)


def _refuse_pair(
    path: Path, place: int, pair: Pair, count: int, largest: int, used: int, *, skips: bool, n: int | None
) -> None:
    """Refuse a line of two numbers if it looks like a header "vertices edges" rather than an edge.

    The header of a tree, "4 3", may also be an edge, as in "4 3", "3 2", "2 1", "1 0": only the user knows, and
    resolves it with `n`. Here `largest` and `used` are the largest id of the other lines and how many ids they use.
    Given `n` vertices, the line is an edge; given as many as it says, it is a header if it `skips`.
    """
    a, b, following = pair.a, pair.b, count - 1 - place
    if largest < 0 or not ((a > largest and b == following > 0) or (b > largest and a in (largest, largest + 1, used))):
        return
    skip: Words = ("pass ", Given("n", a), " to skip it, or ") if skips else ()
    keep: Words = ("pass ", Given("n", n)) if n not in (a, None) else ("move it to the end of the file",)
    raise FormatError(
        f"{path}, line {pair.line}: '{a} {b}' looks like a header 'vertices edges', as there are {b} edges: ",
        *skip,
        "put a '#' before it; if it is an edge, ",
        *keep,
    )
