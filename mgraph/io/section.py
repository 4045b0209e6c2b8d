"""Sections of a text: ranges of bytes, each with the lines that begin in it, so that a file can be cut anywhere."""

import io
from typing import IO, Any, NamedTuple

from ..errors import FormatError
from .stream import BLOCK


class Section(NamedTuple):
    """A part of a file: of a text a range of bytes; a compressed text is one section, of its decompressed bytes.

    Attributes
    ----------
    path : str
        The file's path.
    start, stop : int
        The range; `stop` is -1 for the end of the file.
    unit : str
        What is counted, for messages.
    beside : tuple of str
        The paths of files with the same range of other columns.
    """

    path: str
    start: int = 0
    stop: int = -1
    unit: str = "bytes"
    beside: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The part of the file, for a message; empty for all of it."""
        return "" if self.stop < 0 else f"{self.unit} {self.start} to {self.stop}"

    def __str__(self) -> str:
        return f"{self.path}, {self.where}" if self.where else self.path


class SectionReader(io.RawIOBase):
    """The lines of a file that begin in a section of it.

    Parameters
    ----------
    file : binary file
        The file, at its beginning; closed with this one. It can seek unless the section begins at 0.
    section : Section
        The section; reading raises FormatError if the file ends before it does.
    hidden : int
        The place of a byte to be read as ``#``, which makes its line a comment; -1 for none.
    below : binary file, optional
        Another file to close: the one that `file` decompresses.
    """

    def __init__(self, file: IO[bytes], section: Section, hidden: int = -1, below: IO[bytes] | None = None) -> None:
        self._section = section
        self._file, self._stop, self._hidden, self._below = file, section.stop, hidden, below
        self._at, self._open_line = section.start, False
        if section.start:
            # The line that the byte before the section belongs to is that of an earlier section.
            self._at = file.seek(section.start - 1)
            while self._at < section.stop and not self._required(self._line_to_its_end()).endswith(b"\n"):
                pass

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        if self._below is not None:
            self._below.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or a part of it; return the number of bytes, 0 at the end."""
        start = self._at
        if self._stop < 0 or self._at < self._stop:
            most = len(buffer) if self._stop < 0 else min(len(buffer), self._stop - self._at)
            data = self._file.read(most)
            if self._stop >= 0:
                self._required(data)
            self._at += len(data)
            self._open_line = not data.endswith(b"\n")
        elif self._open_line:
            data = self._line_to_its_end(len(buffer))
            self._open_line = bool(data) and not data.endswith(b"\n")
        else:
            return 0
        buffer[: len(data)] = data
        if start <= self._hidden < self._at:
            buffer[self._hidden - start] = ord("#")
        return len(data)

    def _line_to_its_end(self, most: int = BLOCK) -> bytes:
        data = self._file.readline(most)
        self._at += len(data)
        return data

    def _required(self, data: bytes) -> bytes:
        """Return what was read before the section's end, or raise FormatError if the file has ended there."""
        if not data:
            raise FormatError(f"{self._section}: the file has become shorter while it was read")
        return data


def first_line(file: IO[bytes], section: Section) -> int:
    """Return the number in its file of the first line that begins in a section."""
    found, left, last = 1, section.start, b"\n"
    while left > 0 and (piece := file.read(min(BLOCK, left))):
        found += piece.count(b"\n")
        left -= len(piece)
        last = piece[-1:]
    return found + (last != b"\n")
