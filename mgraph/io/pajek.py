"""Pajek's networks, .net: '*Vertices n', and edges 'u v weight' after '*Arcs', which have a direction, or '*Edges'.

The sections '*Arcslist' and '*Edgeslist' have the neighbours of a vertex a line, '*Matrix' its row; lines that begin
with '%' are comments. Vertices are numbered from 1, and are called by their labels if each has one of its own. The
format is that of V. Batagelj and A. Mrvar: http://mrvar.fdv.uni-lj.si/pajek. NetworkX reads edges after arcs as arcs.
"""

import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

from ..dtypes import MAX_VERTICES
from ..errors import FormatError
from .content import Content, Options
from .named_edges import NamedEdges, ids_of, number
from .stream import Text
from .table import INTEGER

#: The sections with edges, and whether these have both directions.
_EDGES = {"arcs": False, "edges": True, "arcslist": False, "edgeslist": True, "matrix": False}

_SECTION = re.compile(r"\*([a-z]+)(?![a-z0-9])\s*(.*)", re.IGNORECASE)
_SIZES = re.compile(r"([0-9]{1,18})(?:\s+([0-9]{1,18}))?")
#: What begins like the name of something else than a weight, such as the 'l' before a label.
_NAME = re.compile(r"(?!(?:inf|infinity|nan)$)[^\W\d_]", re.IGNORECASE)

_VERTEX = re.compile(r'([0-9]{1,18})(?:\s+(?:"([^"]*)"|(\S+)))?(?:\s.*)?')


def read_pajek(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a network of Pajek.

    Raises
    ------
    FormatError
        For a line that is not one of its section, and for a second network.
    """
    network, section = _Network(path, options), ""
    for line, content in _lines(Text(path, stream, b"%")):
        network.where = f"{path}, line {line}"
        if "\r" in content:
            network.fail("it holds a carriage return: end lines with a newline")
        begun = _SECTION.fullmatch(content)
        if begun is None:
            network.add(section, content)
        else:
            section = begun[1].lower()
            network.begin(section, begun[2])
    return network.content()


class _Network:
    """What the lines so far say of a network; `where` is the place of this one, for messages."""

    def __init__(self, path: Path, options: Options) -> None:
        self.where = str(path)
        self._path = path
        self._edges = NamedEdges(path, options)
        self._n = -1
        #: Of a network of two kinds of vertices, how many are of the first.
        self._first = 0
        self._labels: dict[int, str] = {}
        self._directed = False
        self._row = 0

    def begin(self, section: str, rest: str) -> None:
        """Begin a section; `rest` is what follows its name."""
        if section == "vertices":
            sizes = _SIZES.fullmatch(rest)
            if sizes is None or int(sizes[1]) > MAX_VERTICES or int(sizes[2] or 0) > int(sizes[1]):
                self.fail(f"expected '*Vertices n' with n of at most {MAX_VERTICES}, got {rest[:60]!r}")
            if self._n >= 0:
                self.fail("a second network begins: write each to a file of its own")
            self._n, self._first = int(sizes[1]), int(sizes[2] or 0)
        elif section in _EDGES:
            if self._n < 0:
                self.fail("'*Vertices n' must come before the edges")
            self._directed |= not _EDGES[section]
        elif section != "network":
            self.fail(f"the section {section[:60]!r} is not one of a network's: {', '.join(('vertices', *_EDGES))}")

    def add(self, section: str, line: str) -> None:
        """Add what a line of a section holds."""
        fields = line.split()
        if section == "vertices":
            vertex = _VERTEX.fullmatch(line)
            if vertex is None:
                self.fail(f"expected a vertex, its number and a label, got {line[:60]!r}")
            label = vertex[3] if vertex[2] is None else vertex[2]
            if label is not None:
                self._labels[self._vertex(vertex[1])] = label
        elif section == "matrix":
            self._add_row(fields)
        elif section in ("arcs", "edges"):
            if len(fields) < 2:
                self.fail(f"expected an edge, 'u v' or 'u v weight', got {line[:60]!r}")
            weighted = self._edges.weight is not None and len(fields) > 2 and not _NAME.match(fields[2])
            weight = self._weight(fields[2]) if weighted else None
            self._edges.edge(self._vertex(fields[0]), self._vertex(fields[1]), weight, _EDGES[section])
        elif section in _EDGES:
            u, *others = map(self._vertex, fields)
            for v in others:
                self._edges.edge(u, v, None, _EDGES[section])
        else:
            self.fail(f"a network of Pajek begins with '*Vertices n', not with {line[:60]!r}")

    def content(self) -> Content:
        """Return all edges."""
        if self._n < 0:
            raise FormatError(f"{self._path} has no line '*Vertices n'")
        named = len(self._labels) == self._n == len(set(self._labels.values()))
        ids = ids_of(self._labels[v] for v in range(self._n)) if named else None
        return self._edges.content(self._directed)._replace(n=self._n, base=1, ids=ids)

    def _vertex(self, text: str) -> int:
        """Return the vertex of a number that counts from 1."""
        if not INTEGER.fullmatch(text) or not 0 < int(text) <= self._n:
            self.fail(f"expected a vertex from 1 to {self._n}, got {text[:60]!r}")
        return int(text) - 1

    def _weight(self, text: str) -> int | float:
        """Return the weight that a field is."""
        try:
            return number(text)
        except ValueError:
            self.fail(f"expected a number as weight, got {text[:60]!r}")

    def _add_row(self, fields: list[str]) -> None:
        """Add the edges of a row of the matrix: between the two kinds of vertices, if there are two."""
        rows, columns = self._first or self._n, self._n - self._first
        if self._row == rows or len(fields) != columns:
            self.fail(f"expected {rows} rows of {columns} numbers, got {len(fields)} in row {self._row + 1}")
        for column, field in enumerate(fields):
            value = self._weight(field)
            if value != 0:
                weight = None if self._edges.weight is None else value
                self._edges.edge(self._row, self._first + column, weight, both=False)
        self._row += 1

    def fail(self, what: str) -> NoReturn:
        """Raise FormatError for this line."""
        raise FormatError(f"{self.where}: {what}")


def _lines(text: Text) -> Iterator[tuple[int, str]]:
    """Yield each line that has content, with its number."""
    for first, block in text:
        at, place = first, 0
        for start, line in text.content(block):
            at, place = at + block.count(b"\n", place, start), start
            try:
                yield at, line.decode()
            except UnicodeDecodeError:
                yield at, line.decode("latin-1")
