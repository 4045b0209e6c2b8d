"""Edges in files, as a source whose chunks are read wherever they are asked for: here, or on workers.

`Request.survey` lists the files, looks at how the first edges are written, and cuts files into sections. All sections
are then read once, by anybody (`EdgeFiles.scan`): that checks every line, and counts edges. From what was found
(`EdgeFiles.settled`) follow the number of vertices, the type of the weights, and whether a first line is a header. The
source then yields the edges of a section as often as they are asked for, so that no more than that is held.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from .. import device as devices
from ..dtypes import weight_dtype
from ..errors import FormatError, Given, InputError, MgraphError, parts_of
from ..graph.compressed import Edges
from ..graph.source import checked_edges
from .content import Options
from .edge_list import Opening, check_header, opening_of
from .files import is_compressed, open_file, open_section, size_of
from .lines import Lines
from .section import Section, first_line
from .stream import BYTE_ORDER_MARK, Text, skip_byte_order_mark

#: The fewest and the most bytes of a section of text, and how many sections a file is cut into between them.
SECTION = 1 << 20, 1 << 24
SECTIONS = 64

#: The largest ids of a section that are kept: those of an edge that may be a header, and one more.
LARGEST = 3


class Found(NamedTuple):
    """What reading a section has found.

    Attributes
    ----------
    edges : int
        The number of edges.
    largest : tuple of int
        The largest ids of the section, in descending order, as often as they occur.
    weights : dtype or None
        The type of the weights.
    error : MgraphError or None
        What is wrong with the section; the rest is empty then.
    """

    edges: int = 0
    largest: tuple[int, ...] = ()
    weights: np.dtype | None = None
    error: MgraphError | None = None


@dataclass(frozen=True)
class Texts:
    """Edge lists of one layout.

    Attributes
    ----------
    first : str
        The path of the file whose first edges determine the layout.
    opening : Opening or None
        What they determine; None if there are no edges.
    hides : bool
        Whether the line that may be a header is left out.
    """

    first: str
    opening: Opening | None
    options: Options
    hides: bool

    def edges(self, section: Section) -> Edges:
        """Return the edges of a section, as they are written.

        Raises
        ------
        FormatError
            For a line that is not an edge.
        """
        try:
            return self._parsed(section, 1)
        except FormatError:
            if not section.start:
                raise
            with open_file(section.path) as file:
                line = first_line(file, section)
            self._parsed(section, line)  # whose message has the right number
            raise

    def _parsed(self, section: Section, line: int) -> Edges:
        path, opening = Path(section.path), self.opening
        hidden = -1
        if opening is not None and opening.header is not None and self.hides and section.path == self.first:
            hidden = opening.header.offset
        with open_section(section, hidden) as stream:
            if not section.start:
                skip_byte_order_mark(stream)
            text = Text(path, stream, b"#%", inline=True, line=line)
            lines: Lines | None = None
            for first, block in text:
                if lines is None:
                    assert opening is not None  # the survey has found an edge, if there is one
                    lines = Lines(path, **opening.layout)
                lines.add(first, block)
        if lines is None:
            none = np.empty(0, np.int32)
            weighted = opening is not None and opening.layout["weights"]
            return Edges(none, none, np.empty(0, np.int64) if weighted else None)
        return Edges(*lines.edges())


@dataclass(frozen=True)
class EdgeFiles:
    """The edges of some files, in sections.

    Attributes
    ----------
    files : Texts
        How the files are read.
    sections : tuple of Section
        All sections; each is a chunk.
    found : tuple of int
        The number of edges of each section, once the source is settled.
    """

    files: Texts
    sections: tuple[Section, ...]
    directed: bool
    n: int | None = None
    weights_dtype: np.dtype | None = None
    found: tuple[int, ...] = ()
    unique: ClassVar[bool] = False

    @property
    def chunks(self) -> int:
        """The number of sections."""
        return len(self.sections)

    def chunk(self, number: int, device: devices.Device) -> Edges:
        """Return the edges of a section on a device.

        Raises
        ------
        FormatError
            If the file is not as it was when it was scanned.
        """
        section = self.sections[number]
        try:
            src, dst, weights = self.files.edges(section)
            same = len(src) == self.found[number]
            if weights is None and self.weights_dtype is not None:
                weights = np.empty(0)  # of a text without edges
            edges = checked_edges(src, dst, weights, self.weights_dtype, self.n, str(section))
        except OSError as error:
            raise FormatError(f"{section}: the file has been read once, and cannot be read again: {error}") from error
        except InputError as error:
            raise FormatError(f"{section}: ", *parts_of(error)) from error
        if not same:
            raise FormatError(f"{section}: the file has changed while it was read")
        return Edges(*(None if array is None else device.asarray(array) for array in edges))

    def sizes(self) -> dict[str, int]:
        """Return nothing: the edges are in files."""
        return {}

    def scan(self, numbers: Iterable[int]) -> list[Found]:
        """Read some sections; return what they hold, or what is wrong with the first one that cannot be read."""
        found: list[Found] = []
        for number in numbers:
            section = self.sections[number]
            try:
                found.append(_found(*self.files.edges(section)))
            except FormatError as error:
                words = parts_of(error)
                where = () if section.stop < 0 else (f" (in bytes {section.start} to {section.stop})",)
                found.append(Found(error=FormatError(*words, *where)))
        return found

    def settled(self, found: Sequence[Found]) -> "EdgeFiles":
        """Return the source, given what was found in each section.

        Raises
        ------
        FormatError
            For the first section with an error, and for a line that may be a header.
        """
        for each in found:
            if each.error is not None:
                raise each.error
        count = sum(each.edges for each in found)
        largest = sorted((vertex for each in found for vertex in each.largest), reverse=True)
        files, options = self.files, self.files.options
        counts = [each.edges for each in found]
        opening = files.opening
        if opening is not None and opening.header is not None and not opening.header.fits(count):
            files = replace(files, hides=False)
            place = next(i for i, section in enumerate(self.sections) if _holds(section, files))
            counts[place] += 1
        if opening is not None and options.n is None:
            check_header(Path(files.first), opening, count, largest)
        types = [each.weights for each in found if each.weights is not None]
        if options.weighted and opening is not None and not types:
            raise FormatError(f"{files.first} holds no weights: leave out ", Given("weighted", True))
        dtype = None
        if types and options.weighted is not False:
            dtype = weight_dtype(np.result_type(*types))
        elif options.weighted:
            dtype = np.dtype(np.float64)
        n = options.n if options.n is not None else largest[0] + 1 if largest else 0
        return replace(self, files=files, n=n, weights_dtype=dtype, found=tuple(counts))


def _holds(section: Section, files: Texts) -> bool:
    """Return whether a section holds the line that may be a header."""
    assert files.opening is not None and files.opening.header is not None
    place = files.opening.header.offset
    return section.path == files.first and section.start <= place and (section.stop < 0 or place < section.stop)


@dataclass(frozen=True)
class Request:
    """Files to be read, and how."""

    paths: tuple[str, ...]
    options: Options

    def survey(self) -> EdgeFiles:
        """Return the source of the edges; only the files' beginnings are read.

        Raises
        ------
        MissingFileError
            If a file does not exist.
        FormatError
            If the first line with content is no edge.
        """
        sizes = {path: size_of(path) for path in self.paths}
        first, opening = self.paths[0], None
        for path in self.paths:
            opening = self._opening(path)
            if opening is not None:
                first = path
                break
        least, most = SECTION
        length = max(least, min(most, sum(sizes.values()) // SECTIONS))
        sections: list[Section] = []
        for path, size in sizes.items():
            if size <= length or is_compressed(path):
                sections.append(Section(path))
                continue
            sections += [Section(path, start, min(size, start + length)) for start in range(0, size, length)]
        directed = True if self.options.directed is None else self.options.directed
        hides = opening is not None and opening.header is not None
        return EdgeFiles(Texts(first, opening, self.options, hides), tuple(sections), directed)

    def _opening(self, path: str) -> Opening | None:
        with open_section(Section(path)) as stream:
            mark = len(BYTE_ORDER_MARK) if stream.peek(3).startswith(BYTE_ORDER_MARK) else 0
            skip_byte_order_mark(stream)
            text = Text(Path(path), stream, b"#%", inline=True)
            for first, block in text:
                found = opening_of(Path(path), text, first, block, self.options)
                header = found.header
                return found._replace(header=header and header._replace(offset=mark + header.offset))
        return None


def _found(src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> Found:
    largest: list[int] = []
    for ends in (src, dst):
        some = ends if len(ends) <= LARGEST else np.partition(ends, len(ends) - LARGEST)[-LARGEST:]
        largest += some.tolist()
    top = tuple(sorted(largest, reverse=True)[:LARGEST])
    return Found(len(src), top, None if weights is None else weights.dtype)
