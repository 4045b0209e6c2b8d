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
from ..errors import ArgumentValue, FormatError, Words
from ..graph.ids import in_use
from .content import Content, Options
from .konect import Konect, konect_of
from .lines import Lines
from .stream import Text, size_known

#: Number of first edge lines that may be a header such as "4039 88234".
HEAD = 5

#: Where a dictionary of attributes begins.
_DICTIONARY = re.compile(rb"(?<=[ \t,])\{")

#: The number of possible ids at a side if they are relabelled: with those of the other one, they are in int64.
_MOST_IDS = 1 << 62

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
    edges : tuple of int
        The numbers of edges that it may say.
    """

    place: int
    number: int
    offset: int
    edges: tuple[int, ...]

    def fits(self, count: int) -> bool:
        """Return whether the number of edges is that of all `count` other lines, or of those after this one."""
        return any(edges in (count, count - self.place) for edges in self.edges)


class Candidate(NamedTuple):
    """A line among the first edges that may be a header, as it has two or three numbers.

    Attributes
    ----------
    line : int
        The number of the line.
    values : tuple of int
        The numbers.
    """

    line: int
    values: tuple[int, ...]

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The vertices and edges that a header may mean: 'vertices edges', more behind, or 'rows columns entries'."""
        a, b, *more = self.values
        return [(a, b), *((a, entries) for entries in more if a == b)]


class Opening(NamedTuple):
    """What the first lines of a text determine.

    Attributes
    ----------
    layout : mapping
        The layout of all edges: arguments of `Lines`.
    candidates : mapping
        The first lines that may be headers, by their places among the edge lines.
    header : Header or None
        The line that the caller's `n` says may be a header; it is the last of `candidates`.
    """

    layout: Mapping[str, Any]
    candidates: Mapping[int, Candidate]
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
    konect: Konect | None = None
    shown = b""
    for first, block in text:
        if lines is None:
            konect = konect_of(path, text.head)
            opening = opening_of(path, text, first, block, options, konect)
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
        konect = konect_of(path, text.head)
        none = np.empty(0, np.int32)
        src, dst, weights = none, none, np.empty(0) if options.weighted else None
    else:
        if header is not None and not header.fits(len(lines)):
            lines.add(header.number, shown)
        src, dst, weights = lines.edges()
    if konect is not None:
        left, right = konect.sizes or (int(src.max(initial=-1)) + 1, int(dst.max(initial=-1)) + 1)
        src, dst = konect.ends(src, dst, left, options.relabel)
        return Content(src, dst, weights, konect.vertices(left, right), konect.directed, 0)
    if lines is not None and options.n is None:
        _refuse_header(path, opening.candidates, src, dst, options.relabel)
    return Content(src, dst, weights, None, True, 0)


def opening_of(path: Path, text: Text, first: int, block: bytes, options: Options, konect: Konect | None) -> Opening:
    """Return what the first block of a text determines; `first` is the number of its first line.

    Raises
    ------
    FormatError
        If the first edge is none.
    """
    found = list(itertools.islice(text.content(block), HEAD))
    places = [first + block.count(b"\n", 0, start) for start, _ in found]
    if konect is not None:
        return Opening(_layout_of_konect(places[0], found[0][1], options, konect), {}, None)
    candidates: dict[int, Candidate] = {}
    header = None
    for place, (start, line) in enumerate(found):
        words = list(map(bytes.strip, line.split(b","))) if b"," in line else line.split()
        if len(words) not in (2, 3) or not all(map(_CANONICAL.fullmatch, words)):
            continue
        candidates[place] = Candidate(places[place], tuple(map(int, words)))
        edges = tuple(edges for vertices, edges in candidates[place].sizes if vertices == options.n)
        if edges:
            header = Header(place, places[place], text.offset + start, edges)
            break
    edge = 1 if header is not None and header.place == 0 and len(found) > 1 else 0
    return Opening(_layout(path, places[edge], found[edge][1], options), candidates, header)


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
    ends = _DICTIONARY.split(line)[0]
    attributes = ends != line and options.weighted is not False
    delimiter = "," if b"," in ends else None
    columns = 3 if attributes else len(line.split(b"," if delimiter else None))
    if options.weighted is False:
        columns = min(columns, 2)
    if columns not in (2, 3):
        words = f"{path}, line {number}: {line.decode('utf-8', 'replace')[:60]!r} has {columns} columns: "
        if columns > 3 and not re.match(rb"\s*[+-]?[0-9]", line):  # a table
            named = ArgumentValue("source"), ", ", ArgumentValue("target"), " and ", ArgumentValue("weight")
            raise FormatError(words, "name those of an edge by ", *named, ", as in the header or by number from 0")
        rest = (
            "an edge is 'u v' or 'u v weight'; put a '#' before the line if it is not an edge, or ignore the rest with "
        )
        raise FormatError(words, rest, ArgumentValue("weighted", False))
    return {
        "weights": (np.int64, np.float64) if columns == 3 else (),
        "delimiter": delimiter,
        "cut": options.weighted is False,
        "attributes": attributes,
        "limit": 2**63 if options.relabel else MAX_VERTICES if options.n is None else min(options.n, MAX_VERTICES),
        "wanted": f"the first edge, on line {number}, has {columns} (if that is a header, put a '#' before it)",
    }


def _layout_of_konect(number: int, line: bytes, options: Options, konect: Konect) -> dict[str, Any]:
    """Return the layout of all edges of a text of KONECT, in which a time and more may follow."""
    weighted = konect.weighted or (konect.counted and options.weighted is True)
    delimiter = "," if b"," in line else None
    weighted = weighted and options.weighted is not False and len(line.split(b"," if delimiter else None)) > 2
    left, right = konect.sizes or (_MOST_IDS if options.relabel else MAX_VERTICES,) * 2
    return {
        "weights": (np.int64, np.float64) if weighted else (),
        "delimiter": delimiter,
        "cut": True,
        "base": 1,
        "limit": left,
        "right": right,
        "wanted": f"the first edge, on line {number}, has {'a weight' if weighted else 'two ends'}",
    }


def _refuse_header(
    path: Path, candidates: Mapping[int, Candidate], src: np.ndarray, dst: np.ndarray, relabel: bool
) -> None:
    """Refuse a text if one of its first lines looks like a header, given all edges."""
    for place, candidate in candidates.items():
        if not any(edges in (len(src) - 1, len(src) - 1 - place) for _, edges in candidate.sizes):
            continue
        others = np.delete(src, place), np.delete(dst, place)
        largest = max((int(ends.max()) for ends in others if len(ends)), default=-1)
        used = len(in_use(*others))
        n = len(in_use(src, dst)) if relabel else max(candidate.values[:2]) + 1
        _refuse_candidate(path, place, candidate, len(src), largest, used, n, relabel)


def check_header(path: Path, opening: Opening, count: int, largest: Sequence[int], relabel: bool) -> None:
    """Refuse a text if one of its first lines looks like a header, given the largest ids of all lines, descending.

    How many ids are in use is not known here: with sparse ids, a header may pass for an edge.
    """
    for place, candidate in opening.candidates.items():
        others = list(largest)
        for end in candidate.values[:2]:
            if end in others:
                others.remove(end)
        greatest = others[0] if others else -1
        n = None if relabel else max(candidate.values[:2]) + 1
        _refuse_candidate(path, place, candidate, count, greatest, None, n, relabel)


def _refuse_candidate(
    path: Path,
    place: int,
    candidate: Candidate,
    count: int,
    largest: int,
    used: int | None,
    n: int | None,
    relabel: bool,
) -> None:
    """Refuse a line if it looks like a header "vertices edges" rather than an edge.

    The header of a tree, "4 3", may also be an edge, as in "4 3", "3 2", "2 1", "1 0": only the user knows, and
    resolves it with `n`. Here `largest` and `used` are the largest id of the other lines and how many ids they use, if
    that is known. Given `n` vertices, the line is an edge; given as many as it says, a header, unless that is what
    there are with relabelled ids.
    """
    following = count - 1 - place
    for a, b in candidate.sizes:
        if b not in (count - 1, following) or largest < 0:
            continue
        if (a > largest and b == following > 0) or (b > largest and a in (largest, largest + 1, used)):
            skips = a == used if relabel else a > largest
            skip: Words = ("pass ", ArgumentValue("n", a), " to skip it, or ") if skips else ()
            keep: Words = (
                ("pass ", ArgumentValue("n", n)) if n not in (a, None) else ("move it to the end of the file",)
            )
            raise FormatError(
                f"{path}, line {candidate.line}: '{' '.join(map(str, candidate.values))}' looks like a header "
                f"'vertices edges', as there are {b} edges: ",
                *skip,
                "put a '#' before it; if it is an edge, ",
                *keep,
            )
