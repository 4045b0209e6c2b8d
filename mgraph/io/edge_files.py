"""Edges in one file or several, as a source whose chunks are read wherever they are asked for: here, or on workers.

`Request.survey` lists the files, looks at how the first edges are written, and cuts files into sections. All sections
are then read once, by anybody (`EdgeFiles.scan`): that checks every line, and counts edges. From what was found
(`EdgeFiles.settled`) follow the number of vertices, the type of the weights, and whether a first line is a header. The
source then yields the edges of a section as often as they are asked for, so that no more than that is held.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from .. import device as devices
from ..dtypes import weight_dtype
from ..errors import ArgumentValue, FormatError, InputError, MgraphError, parts_of
from ..graph.checks import vertex_count
from ..graph.compressed import Edges
from ..graph.source import checked_edges
from .columns import Arrays, Tables
from .content import Content, Options
from .edge_list import Opening, check_header, opening_of
from .files import is_compressed, listed, open_file, open_section, path_of, size_of
from .formats import check_suffix, format_by_suffix
from .konect import Konect, konect_of
from .lines import Lines
from .section import Section, first_line
from .stream import BYTE_ORDER_MARK, Text, decompressing, skip_byte_order_mark

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
    least : int or None
        The least id.
    sides : tuple of int
        One more than the largest source, and than the largest target.
    weights : dtype or None
        The type of the weights.
    error : MgraphError or None
        What is wrong with the section; the rest is empty then.
    """

    edges: int = 0
    largest: tuple[int, ...] = ()
    least: int | None = None
    sides: tuple[int, int] = (0, 0)
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
    size : int
        The bytes of all files.
    konect : Konect or None
        What the first file says of itself if it is of KONECT; the others are parts of the same text then.
    left : int
        The number of vertices at the left of KONECT's texts, as far as it is known.
    relabel : bool
        Whether KONECT's ids stay as they are.
    """

    first: str
    opening: Opening | None
    hides: bool
    size: int
    konect: Konect | None = None
    left: int = 0
    relabel: bool = False

    @classmethod
    def survey(cls, paths: Sequence[str], options: Options) -> "Texts":
        """Return how files are read, by the first line that holds an edge."""
        size = sum(map(size_of, paths))
        konect: Konect | None = None
        for path in paths:
            with open_section(Section(path)) as stream:
                with decompressing(path):
                    mark = len(BYTE_ORDER_MARK) if stream.peek(3).startswith(BYTE_ORDER_MARK) else 0
                    skip_byte_order_mark(stream)
                text = Text(path_of(path), stream, b"#%", inline=True)
                blocks = iter(text)
                begun = next(blocks, None)
                if path == paths[0]:
                    konect = konect_of(path_of(path), text.head)
                if begun is not None:
                    found = opening_of(path_of(path), text, *begun, options, konect)
                    header = found.header and found.header._replace(offset=mark + found.header.offset)
                    opening = found._replace(header=header)
                    return cls(path, opening, header is not None, size, konect, _left(konect), options.relabel)
        return cls(paths[0], None, False, size, konect, _left(konect), options.relabel)

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self.konect is None or self.konect.directed

    @property
    def weighted(self) -> bool:
        """Whether there are weights."""
        return self.opening is not None and bool(self.opening.layout["weights"])

    def sections(self, path: str, beside: tuple[str, ...] = ()) -> Iterator[Section]:
        """Yield ranges of the bytes of a file, or all of one that is short or compressed."""
        size, (least, most) = size_of(path), SECTION
        length = max(least, min(most, size // SECTIONS))
        if size <= length or is_compressed(path):
            yield Section(path)
            return
        for start in range(0, size, length):
            yield Section(path, start, min(size, start + length))

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

    def begins(self, section: Section, offset: int) -> bool:
        """Return whether the line at an offset in the first file begins in a section."""
        return section.path == self.first and section.start <= offset and (section.stop < 0 or offset < section.stop)

    def _parsed(self, section: Section, line: int) -> Edges:
        path, opening = path_of(section.path), self.opening
        hidden = -1
        if opening is not None and opening.header is not None and self.hides and section.path == self.first:
            hidden = opening.header.offset
        with open_section(section, hidden) as stream:
            if not section.start:
                with decompressing(path):
                    skip_byte_order_mark(stream)
            text = Text(path, stream, b"#%", inline=True, line=line)
            lines: Lines | None = None
            for first, block in text:
                if lines is None:
                    assert opening is not None  # the survey has found an edge, if there is one
                    lines = Lines(path, **opening.layout, expected=self.size)
                    text.take = lines.take
                    if lines.take(block) >= 0:
                        continue
                lines.add(first, block)
        if not section.start:
            mark = konect_of(path, text.head)
            if mark not in (None, self.konect):
                raise FormatError(f"{path}, line 1: this file of KONECT is not a part of the first file: read it alone")
        none = np.empty(0, np.int32)
        edges = none, none, np.empty(0, np.int64) if self.weighted else None
        src, dst, weights = edges if lines is None else lines.edges()
        if self.konect is not None:
            src, dst = self.konect.ends(src, dst, self.left, self.relabel)
        return Edges(src, dst, weights)


def _left(konect: Konect | None) -> int:
    """Return the number of vertices at the left, 0 if it is not known yet."""
    return 0 if konect is None or konect.sizes is None else konect.sizes[0]


@dataclass(frozen=True)
class EdgeFiles:
    """The edges of some files, in sections.

    Attributes
    ----------
    files : Texts, Tables or Arrays
        How the files are read.
    options : Options
        What the caller says of them.
    sections : tuple of Section
        All sections; each is a chunk.
    found : tuple of int
        The number of edges of each section, once the source is settled.
    least : int or None
        The least id in use then, unless it is known how vertices are numbered.
    """

    files: Texts | Tables | Arrays
    options: Options
    sections: tuple[Section, ...]
    directed: bool
    n: int | None = None
    weights_dtype: np.dtype | None = None
    found: tuple[int, ...] = ()
    least: int | None = None
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
        where = str(self.sections[number])
        try:
            edges = checked_edges(*self.raw(number), self.weights_dtype, self.n, where)
        except FormatError:
            raise
        except InputError as error:
            raise FormatError(f"{where}: ", *parts_of(error)) from error
        return Edges(*(None if array is None else device.asarray(array) for array in edges))

    def raw(self, number: int) -> Edges:
        """Return the edges of a section with ids as they are; weights are of the source's type, none infinite.

        Raises
        ------
        FormatError
            If the file is not as it was when it was scanned.
        """
        section = self.sections[number]
        try:
            src, dst, weights = self.files.edges(section)
        except OSError as error:
            raise FormatError(f"{section}: the file has been read once, and cannot be read again: {error}") from error
        if len(src) != self.found[number]:
            raise FormatError(f"{section}: the file has changed while it was read")
        if self.weights_dtype is None:
            return Edges(src, dst, None)
        # There are none in a text without edges, and a missing attribute is 1.
        weights = np.ones(len(src)) if weights is None else weights
        weights = weights.astype(self.weights_dtype, copy=False)
        if weights.dtype.kind == "f" and np.isinf(weights).any():
            there = ~np.isinf(weights)
            return Edges(src[there], dst[there], weights[there])
        return Edges(src, dst, weights)

    def sizes(self) -> dict[str, int]:
        """Return nothing: the edges are in files."""
        return {}

    def scan(self, numbers: Iterable[int], keep: Callable[[Edges], None] = lambda edges: None) -> list[Found]:
        """Read some sections; return what each holds, or what is wrong with it; `keep` is given their edges."""
        found: list[Found] = []
        for number in numbers:
            section = self.sections[number]
            try:
                edges = self.files.edges(section)
                keep(edges)
                found.append(_found(*edges))
            except FormatError as error:
                words = parts_of(error)
                where = f" (in {section.where})" if section.where and section.where not in str(error) else ""
                found.append(Found(error=FormatError(*words, where)))
        return found

    def settled(self, found: Sequence[Found]) -> "EdgeFiles":
        """Return the source, given what was found in each section.

        Raises
        ------
        FormatError
            For the first section with an error, and for a line that may be a header.
        """
        files, options, counts = self.files, self.options, [each.edges for each in found]
        known: int | None = None
        if isinstance(files, Texts) and files.konect is not None:
            ends = (max(0, *(each.sides[side] for each in found)) for side in (0, 1))
            left, right = files.konect.sizes or (max(0, end - files.relabel) for end in ends)
            known, files = files.konect.vertices(left, right), replace(files, left=left)
        for section, each in zip(self.sections, found, strict=True):
            if each.error is not None:
                raise each.error
            if known is not None and options.n is not None and options.n < known and not options.relabel:
                what = f"{section.path} says that it has {known} vertices, more than "
                raise FormatError(what, ArgumentValue("n", options.n))
            if not options.relabel:
                try:
                    vertex_count(options.n, each.largest[0] if each.largest else -1)
                except InputError as error:
                    raise FormatError(f"{section}: ", *parts_of(error)) from error
        count = sum(counts)
        largest = sorted((vertex for each in found for vertex in each.largest), reverse=True)
        if isinstance(files, Texts) and files.opening is not None:
            opening, header = files.opening, files.opening.header
            if header is not None and not header.fits(count):
                files = replace(files, hides=False)
                counts[next(i for i, section in enumerate(self.sections) if files.begins(section, header.offset))] += 1
            if options.n is None:
                check_header(path_of(files.first), opening, count, largest, options.relabel)
        types = [each.weights for each in found if each.weights is not None]
        if options.weighted and count and not types:
            raise FormatError(f"{self.sections[0].path} holds no weights: leave out ", ArgumentValue("weighted", True))
        dtype = None
        if types:
            dtype = weight_dtype(np.result_type(*types))
        elif not count and (options.weighted or files.weighted):
            dtype = np.dtype(np.float64)
        n = None
        if not options.relabel:
            n = next((n for n in (options.n, known) if n is not None), largest[0] + 1 if largest else 0)
        least = min((each.least for each in found if each.least is not None), default=None) if known is None else None
        return replace(self, files=files, n=n, weights_dtype=dtype, found=tuple(counts), least=least)


@dataclass(frozen=True)
class Request:
    """Files to be read, and how.

    Attributes
    ----------
    paths : tuple of tuple of str
        A file or a pattern of names each, or files of columns that belong together.
    format : {"edges", "parquet", "npy"} or None
        The files' format; None to look at the first one.
    columns : tuple of str or None
        The names of the columns of Parquet files.
    """

    paths: tuple[tuple[str, ...], ...]
    format: str | None
    columns: tuple[str, ...] | None
    options: Options

    def survey(self) -> EdgeFiles:
        """Return the source of the edges; only the files' beginnings are read.

        Raises
        ------
        MissingFileError
            If a file does not exist.
        FormatError
            If the first line with content is no edge, and for a format that is not one of edges.
        """
        given = [row for paths in self.paths for row in self._rows(paths)]
        format = self.format or _format(given[0])
        if self.format is None:
            _check_alike(given, format)
        files: Texts | Tables | Arrays
        if format == "npy":
            files = Arrays(len(given[0]) > 2 and self.options.weighted is not False)
        elif format == "parquet":
            files = Tables.survey(given[0][0], self.columns, self.options)
        else:
            files = Texts.survey([row[0] for row in given], self.options)
        sections: list[Section] = []
        for path, *beside in given:
            if format == "npy" and (len(beside) != len(given[0]) - 1 or not beside):
                raise InputError(
                    f"{path} is an array: give as many files for each part, as (sources, targets, weights)"
                )
            sections += files.sections(path, tuple(beside if self.options.weighted is not False else beside[:1]))
        directed = files.directed if self.options.directed is None else self.options.directed
        return EdgeFiles(files, self.options, tuple(sections), directed)

    def _rows(self, paths: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the files of some patterns, those of a part together."""
        found = [listed(path) for path in paths]
        if len({len(names) for names in found}) > 1:
            counts = ", ".join(f"{path} of {len(names)} files" for path, names in zip(paths, found, strict=True))
            raise InputError(f"the parts do not match: {counts}")
        return list(zip(*found, strict=True))


def _format(paths: tuple[str, ...]) -> str:
    """Return the format of a part's files."""
    found = _format_by_name(paths)
    if found is not None:
        return found
    with open_file(paths[0]) as file:
        return "parquet" if file.read(4) == b"PAR1" else "edges"


def _format_by_name(paths: tuple[str, ...]) -> str | None:
    """Return the format that the suffix of a part's files means; None if it means none, or edges."""
    path = path_of(paths[0])
    if len(paths) > 1:
        return "npy"
    if path.suffix.lower() in (".parquet", ".pq"):
        return "parquet"
    check_suffix(path)
    if format_by_suffix(path) not in (None, "edges"):
        raise FormatError(
            f"{path}: graphs from several files, or on workers, are read from edge lists, Parquet, and pairs of .npy "
            "files: read this one by itself"
        )
    return None


def _check_alike(given: Sequence[tuple[str, ...]], format: str) -> None:
    """Raise FormatError for the first file whose suffix says that it is of another format than the first one."""
    for paths in given[1:]:
        own = _format_by_name(paths)
        if own not in (None, format):
            raise FormatError(
                f"{paths[0]} is of the format {own!r}, and {given[0][0]} of {format!r}: read files of one format at a "
                "time, or name it by ",
                ArgumentValue("format"),
            )


def _found(src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None) -> Found:
    largest: list[int] = []
    for ends in (src, dst):
        some = ends if len(ends) <= LARGEST else np.partition(ends, len(ends) - LARGEST)[-LARGEST:]
        largest += some.tolist()
    top = tuple(sorted(largest, reverse=True)[:LARGEST])
    least = int(min(src.min(), dst.min())) if len(src) else None
    sides = (int(src.max(initial=-1)) + 1, int(dst.max(initial=-1)) + 1)
    return Found(len(src), top, least, sides, None if weights is None else weights.dtype)


def edges_of_files(request: Request) -> Content:
    """Read files in this process; return their edges, one file after the other."""
    source = request.survey()
    found: list[Found] = []
    edges: list[Edges] = []
    for number in range(source.chunks):
        [one] = source.scan([number], keep=edges.append)
        found.append(one)
        if one.error is not None:
            raise one.error
    settled = source.settled(found)
    if settled.files != source.files:  # a line that was taken for a header is an edge
        edges = [settled.files.edges(section) for section in settled.sections]
    none = np.empty(0, np.int32)
    src, dst = (np.concatenate([none, *(each[end] for each in edges)]) for end in (0, 1))
    weights = None
    if settled.weights_dtype is not None:
        columns = (
            np.ones(len(each.src), settled.weights_dtype) if each.weights is None else each.weights for each in edges
        )
        weights = np.concatenate([np.empty(0, settled.weights_dtype), *columns])
    known = settled.n if isinstance(settled.files, Texts) and settled.files.konect is not None else None
    return Content(src, dst, weights, known, settled.directed, 0)
