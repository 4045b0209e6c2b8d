"""Files by their paths, or by URLs that fsspec knows: found, and opened as they are or as a section of their lines."""

import glob
import os
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast
from urllib.parse import urlsplit

from .. import lazy
from ..errors import FormatError, InputError, MgraphError, MissingFileError
from .section import Section, SectionReader
from .stream import COMPRESSIONS, check_unpacked, decompressing, opened

#: Bytes from which a file's compression is recognized.
_HEAD = 1 << 9


class Url:
    """A URL, as far as it is used like a path.

    Raises
    ------
    InputError
        If it is not a URL.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        try:
            self._path = PurePosixPath(urlsplit(url).path)
        except ValueError as error:
            raise InputError(f": {error}", argument="path", value=url, expected="a valid URL") from error

    @property
    def suffix(self) -> str:
        """What follows the last dot of the name, with the dot."""
        return self._path.suffix

    @property
    def suffixes(self) -> list[str]:
        """All suffixes of the name."""
        return self._path.suffixes

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """Return the path of the URL with another suffix."""
        return self._path.with_suffix(suffix)

    def open(self, mode: str) -> IO[bytes]:
        """Open the file for reading bytes."""
        return open_file(self._url)

    def __fspath__(self) -> str:
        return self._url

    def __str__(self) -> str:
        return self._url


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return "://" in path


def path_of(path: str) -> Path:
    """Return a file's path, or its URL in the place of a path."""
    return cast(Path, Url(path)) if is_url(path) else Path(path)


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as other processes know it, or a valid URL."""
    text = os.fspath(path)
    return os.fspath(path_of(text)) if is_url(text) else os.path.abspath(text)


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern of paths, such as ``part-*.txt``, rather than that of a file."""
    return glob.has_magic(path) and (is_url(path) or not os.path.lexists(path))


def listed(path: str) -> list[str]:
    """Return the files that a path or a pattern names, in alphabetical order.

    Raises
    ------
    MissingFileError
        If no file has a name of the pattern.
    """
    if not is_pattern(path):
        return [path]
    if is_url(path):
        system, inner = system_of(path)
        found = [system.unstrip_protocol(name) for name in system.glob(inner)]
    else:
        found = glob.glob(path, recursive=True)
    if not found:
        raise MissingFileError(2, "no file has a name of this pattern", path)
    return sorted(found)


def open_file(path: str) -> BufferedReader:
    """Open a file.

    Raises
    ------
    MissingFileError
        If it does not exist.
    FormatError
        If it is a folder.
    OSError
        If it cannot be read; `filename` is set.
    """
    try:
        if not is_url(path):
            return open(path, "rb")
        system, inner = system_of(path)
        return BufferedReader(system.open(inner, "rb"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFileError(error.errno or 2, "there is no such file", path) from error
    except IsADirectoryError as error:
        raise FormatError(f"{path} is a folder: give files, or a pattern such as {os.path.join(path, '*')}") from error
    except OSError as error:
        if error.errno is None:  # with a file name such an error would lose its text
            raise OSError(f"{path}: {error}") from error
        error.filename = path
        raise
    except MgraphError:
        raise
    except Exception as error:  # a NUL in a path, and whatever else an fsspec library may raise
        raise InputError(f"{path} cannot be opened: {str(error) or type(error).__name__}") from error


def size_of(path: str) -> int:
    """Return the bytes of a file."""
    with open_file(path) as file:
        return file.seek(0, os.SEEK_END)


def open_section(section: Section, hidden: int = -1) -> BufferedReader:
    """Open a section of a file, decompressed if it is compressed; a byte that is `hidden` is read as ``#``."""
    file = open_file(section.path)
    try:
        if section.stop >= 0:
            return BufferedReader(SectionReader(file, section, hidden))
        stream = opened(path_of(section.path), file)
        with decompressing(section.path):
            check_unpacked(path_of(section.path), stream.peek(_HEAD))
    except BaseException:
        file.close()
        raise
    return BufferedReader(SectionReader(stream, section, hidden, file))


def is_compressed(path: str) -> bool:
    """Return whether a file is compressed, by its suffix or its first bytes."""
    if path_of(path).suffix.lower() in COMPRESSIONS:
        return True
    with open_file(path) as file:
        head = file.read(_HEAD)
    return any(head.startswith(magic) for magic, _ in COMPRESSIONS.values())


def system_of(url: str, **options: Any) -> tuple[Any, str]:
    """Return the file system of a URL, or of a path, made with fsspec's `options`; and the path in it."""
    fsspec = lazy.optional("fsspec", "a URL")
    try:
        system, inner = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        raise lazy.missing(url, error) from error
    except ValueError as error:
        raise InputError(f"{url} is a URL of an unknown kind: {error}") from error
    except (OSError, MgraphError):
        raise
    except Exception as error:  # of any library by which fsspec knows URLs
        raise InputError(f"{url} is not a URL that fsspec can open: {error}") from error
    return system, inner
