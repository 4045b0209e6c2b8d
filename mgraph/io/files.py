"""Files by their paths: opened for reading as they are, or as a section of their lines."""

import os
from io import BufferedReader
from pathlib import Path
from typing import IO

from ..errors import FormatError, MissingFileError
from .section import Section, SectionReader
from .stream import COMPRESSIONS, check_unpacked, opened

#: Bytes from which a file's compression is recognized.
_HEAD = 1 << 9


def open_file(path: str) -> IO[bytes]:
    """Open a file.

    Raises
    ------
    MissingFileError
        If it does not exist.
    """
    try:
        return open(path, "rb")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFileError(error.errno, "there is no such file", path) from error
    except IsADirectoryError as error:
        raise FormatError(f"{path} is a folder: give files, or a pattern such as {os.path.join(path, '*')}") from error


def size_of(path: str) -> int:
    """Return the bytes of a file."""
    with open_file(path) as file:
        return file.seek(0, os.SEEK_END)


def open_section(section: Section, hidden: int = -1) -> BufferedReader:
    """Open a section of a file, decompressed if it is compressed; a byte that is `hidden` is read as ``#``."""
    if section.stop >= 0:
        return BufferedReader(SectionReader(open_file(section.path), section, hidden))
    stream = opened(Path(section.path))
    check_unpacked(Path(section.path), stream.peek(_HEAD))
    return stream if hidden < 0 else BufferedReader(SectionReader(stream, section, hidden))


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its suffix or its first bytes."""
    if os.path.splitext(path)[1].lower() in COMPRESSIONS:
        return True
    with open_file(path) as file:
        head = file.read(_HEAD)
    return any(head.startswith(magic) for magic, _ in COMPRESSIONS.values())
