"""The bytes of a file: decompressed within the free memory, and text in blocks of whole lines.

A small compressed file can expand a thousandfold. Its decompressed bytes are counted as they are read, and reading
ends with `MemoryLimitError` when they exceed the memory that was free at the start.
"""

import bz2
import contextlib
import errno
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from .. import device as devices
from .. import lazy
from ..errors import FormatError, InputError, MemoryLimitError, MissingFileError, shown

#: Bytes of text that are parsed at a time; a longer line is an error.
BLOCK = 1 << 22

#: Bytes that are requested at a time.
PIECE = 1 << 20

#: Bytes at the beginning of a text that are kept.
HEAD = 1 << 10

#: Bytes of a compressed file that are read at a time.
_INPUT = 1 << 16

#: Bytes of consecutive blank lines and comments beyond which a file is refused.
BARREN = 1 << 26

#: The bytes of a text: all but control characters other than tabs and line ends.
_TEXT = b"\t\n\r" + bytes(range(32, 127)) + bytes(range(128, 256))

#: A UTF-8 text may begin with this.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: The supported compressions, by suffix: a file's first bytes, and a decompressor within a memory limit.
COMPRESSIONS: dict[str, tuple[bytes, Callable[[int], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda free: zlib.decompressobj(wbits=31)),
    ".bz2": (b"BZh", lambda free: bz2.BZ2Decompressor()),
    ".xz": (b"\xfd7zXZ\x00", lambda free: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=max(1, free))),
    ".zst": (b"\x28\xb5\x2f\xfd", lambda free: lazy.zstd().ZstdDecompressor()),
}

#: Other compressions: a file's first bytes, the name, and a command that decompresses it.
_UNREAD = (
    (b"\x04\x22\x4d\x18", "lz4", "lz4cat FILE"),
    (b"\x5d\x00\x00", "lzma", "xzcat --format=lzma FILE"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x -so FILE"),
    (b"\x1f\x9d", "compress", "zcat FILE"),
    (b"PK\x03\x04", "zip", "unzip -p FILE"),
)


class Corrupt(Exception):
    """The data of a bzip2 or zstd file is corrupt; the module bz2 has no error of its own, that of zstd is optional."""


#: Errors of decompression for a truncated or corrupt file.
BROKEN = (EOFError, lzma.LZMAError, zlib.error, Corrupt)


def require(path: Path, needed: int, what: str) -> None:
    """Raise MemoryLimitError unless `needed` bytes can be allocated; `what` is the subject of the message."""
    free = devices.find("cpu").available_memory()
    if needed > free:
        raise MemoryLimitError(
            f"{path}: {what} needs {needed / 2**30:.2f} GiB of memory, and {free / 2**30:.2f} GiB is free"
        )


@contextlib.contextmanager
def decompressing(path: object) -> Iterator[None]:
    """Raise FormatError if compressed data that the block reads is broken."""
    try:
        yield
    except BROKEN as error:
        raise FormatError(f"{path}: the file is cut off or corrupt: {error}") from error


class Decompressed(io.RawIOBase):
    """The content of a gzip, bzip2, xz or zstd file, which may consist of several members.

    Parameters
    ----------
    path : path
        The file, for messages.
    file : file
        The same, open for reading bytes.
    begin : callable
        Returns a decompressor for the next member, given the free memory.

    Raises
    ------
    EOFError, zlib.error, lzma.LZMAError, Corrupt
        On reading, if the file is cut off or corrupt.
    MemoryLimitError
        On reading, when the content exceeds the memory that was free at the start.
    """

    def __init__(self, path: Path, file: BufferedReader, begin: Callable[[int], Any]) -> None:
        self._path = path
        self._file = file
        self._begin = begin
        self._free = devices.find("cpu").available_memory()
        self._given = 0
        self._member: Any = None
        self._input = b""
        self._started = False

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or a part of it; return the number of bytes, 0 at the end."""
        data = self._some(len(buffer)) if len(buffer) else b""
        self._given += len(data)
        if self._given > self._free:
            raise MemoryLimitError(
                f"{self._path}: the decompressed content is larger than the {self._free / 2**30:.2f} GiB of memory "
                "that is free"
            )
        buffer[: len(data)] = data
        return len(data)

    def _some(self, most: int) -> bytes:
        """Return the next bytes, at least one unless this is the end."""
        while True:
            if self._member is None and not self._next_member():
                return b""
            try:
                data: bytes = self._member.decompress(self._input, most)
            except lzma.LZMAError as error:
                if "Memory usage limit" not in str(error):
                    raise
                raise MemoryLimitError(
                    f"{self._path}: to decompress it needs more than the {self._free / 2**30:.2f} GiB of memory that "
                    "is free"
                ) from error
            except OSError as error:  # bz2's: nothing is read here
                raise Corrupt(str(error)) from error
            except Exception as error:
                if type(error).__name__ != "ZstdError":
                    raise
                raise Corrupt(str(error)) from error
            # zlib returns the input that it has not used; bz2 and lzma keep it.
            self._input = getattr(self._member, "unconsumed_tail", b"")
            if self._member.eof:
                self._input, self._member = self._member.unused_data, None
            if data:
                return data
            if self._member is not None and not self._input:
                self._input = self._file.read(_INPUT)
                if not self._input:
                    raise EOFError("it ends in the middle of the compressed data")

    def _next_member(self) -> bool:
        """Begin the next member, after padding with zeros; return whether there is one."""
        if self._started:
            self._input = self._input.lstrip(b"\0")
        while not self._input:
            self._input = self._file.read(_INPUT)
            if not self._input:
                return False
            if self._started:
                self._input = self._input.lstrip(b"\0")
        self._started = True
        self._member = self._begin(self._free)
        return True


class Borrowed(io.RawIOBase):
    """A caller's file object, which stays open when this is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to as many bytes as the buffer holds, and return their number."""
        data = self.file.read(len(buffer))
        if not isinstance(data, bytes):
            raise InputError(f"{shown(self.file)} does not give bytes: open the file in binary mode")
        buffer[: len(data)] = data
        return len(data)


def named(given: str | os.PathLike[str] | IO[bytes]) -> tuple[Path, IO[bytes] | None]:
    """Return the path of a file, for messages, and the file object if it is open already."""
    if isinstance(given, (str, os.PathLike)):
        return Path(given), None
    if not hasattr(given, "read"):
        raise InputError(f"expected a path or a file object opened in binary mode, got {shown(given)}")
    name = getattr(given, "name", None)
    return Path(name if isinstance(name, str) else "<file>"), given


def opened(path: Path, file: IO[bytes] | None = None) -> BufferedReader:
    """Open a file for reading, decompressed if it is compressed.

    Parameters
    ----------
    path : path
        The file.
    file : binary file object, optional
        The same, if the caller has opened it; it stays open.

    Raises
    ------
    MissingFileError
        If the file does not exist.
    FormatError
        If it is a folder, or if it is empty and its suffix is that of a compressed file.
    InputError
        If the name is not valid for a file.
    OSError
        If the system refuses to open it.
    """
    stream: BufferedReader
    try:
        stream = path.open("rb") if file is None else BufferedReader(Borrowed(file))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingFileError(error.errno, "there is no such file", os.fspath(path)) from error
    except IsADirectoryError as error:
        raise FormatError(f"{path} is a folder: give a file") from error
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG:
            raise
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"path must be the name of a file, got {shown(os.fspath(path))}: {why}") from error
    try:
        head, suffix = stream.peek(6), path.suffix.lower()
        if not head and suffix in COMPRESSIONS:
            raise FormatError(f"{path} is empty, so it is not a compressed file")
    except BaseException:
        stream.close()
        raise
    for ending, (magic, begin) in COMPRESSIONS.items():
        if suffix == ending or head.startswith(magic):
            return BufferedReader(Decompressed(path, stream, begin))
    return stream


def check_unpacked(path: Path, head: bytes) -> None:
    """Raise FormatError for a file of an unsupported compression, or an archive.

    A zip archive may be a ``.npz`` file: by its suffix, or by its first array.
    """
    if head[257:262] == b"ustar" and b"\0" in head[:257]:
        raise FormatError(
            f"{path} is a tar archive: extract the graph's file, e.g. 'tar -xOf FILE NAME | mgraph COMMAND -'"
        )
    for magic, kind, command in _UNREAD:
        if not head.startswith(magic):
            continue
        name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
        if kind == "zip" and (name.endswith(b".npy") or ".npz" in path.suffixes):
            return
        raise FormatError(f"{path} is compressed with {kind}: decompress it first, e.g. '{command} | mgraph COMMAND -'")


def size_known(stream: BufferedReader) -> int:
    """Return the bytes of a regular file that is not compressed, 0 for any other stream."""
    plain = isinstance(stream.raw, io.FileIO) and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return os.fstat(stream.fileno()).st_size if plain else 0


def take_pieces(stream: BufferedReader, size: int, threads: int, take: Callable[[int, memoryview], object]) -> int:
    """Read the next bytes of a stream, and return how many there are: `size`, or fewer at its end.

    Parameters
    ----------
    stream : file
        The stream, which is after these bytes then.
    size : int
        The number of bytes.
    threads : int
        The number of threads that read, if `size_known` of the stream: each its own pieces, into its own buffer.
    take : callable
        Is given where each piece of `PIECE` bytes begins, and the piece, whose memory is used again afterwards.
    """
    threads, start = (threads, stream.tell()) if size_known(stream) else (1, 0)
    ends = [size]

    def read(part: memoryview, place: int) -> int:
        return os.preadv(stream.fileno(), [part], start + place) if threads > 1 else stream.readinto(part)

    def share(first: int) -> None:
        buffer = memoryview(bytearray(min(PIECE, size)))
        for begin in range(first * PIECE, size, threads * PIECE):
            piece, filled = buffer[: size - begin], 0
            while filled < len(piece) and (more := read(piece[filled:], begin + filled)):
                filled += more
            if filled < len(piece):
                ends.append(begin + filled)
                break
            take(begin, piece)

    if threads > 1:
        from ..device.numba.sharing import on_all_cores

        on_all_cores(share, range(threads), threads)
        stream.seek(start + size)
    else:
        share(0)
    return min(ends)


def skip_byte_order_mark(stream: BufferedReader) -> None:
    """Go to the first character of a text."""
    if stream.peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK):
        stream.read(len(BYTE_ORDER_MARK))


def held(path: Path, stream: BufferedReader) -> io.BytesIO:
    """Return the content of a stream as a seekable file, if it takes at most half of the free memory."""
    content = io.BytesIO()
    checked = 0
    while piece := stream.read1(PIECE):
        size = content.tell() + content.write(piece)
        if size - checked >= BLOCK:
            checked = size
            require(path, size, "to copy the arrays of its content")  # at least as many bytes as have been read
    content.seek(0)
    return content


def check_text(path: Path, line: int, block: bytes) -> None:
    """Raise FormatError if a block, whose first line has the number `line`, holds control characters."""
    control = block.translate(None, _TEXT)
    if control:
        line += block.count(b"\n", 0, block.find(control[:1]))
        raise FormatError(f"{path}, line {line}: a text file expected, got the byte 0x{control[0]:02x}")


class Text:
    """A text in blocks of whole lines, without blocks of blank lines and comments only.

    Parameters
    ----------
    path : path
        The file, for messages.
    stream : file
        Its content.
    comments : bytes
        The characters that begin a comment.
    inline : bool
        Whether a comment may follow content on its line.
    line : int
        The number of the first line.

    Attributes
    ----------
    head : bytes
        The beginning of the stream, once a block of it has been read.
    last : int
        The number of the last line read.
    offset : int
        Where the block that was yielded last begins in the stream.
    take : callable or None
        Is given each further block. If it returns a number of lines rather than -1, it has read the block, which is
        not yielded then. It accepts no control characters, and no block without content.
    """

    def __init__(
        self, path: Path, stream: BufferedReader, comments: bytes, *, inline: bool = False, line: int = 1
    ) -> None:
        self._path = path
        self._stream = stream
        self._barren = re.compile(rb"(?:[ \t\r\n]++|[%b][^\n]*+)*+" % comments)
        self._comment = re.compile(rb"[%b]" % comments) if inline else None
        self._line = line
        self.head = b""
        self.last = line
        self.offset = 0
        self.take: Callable[[bytes], int] | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield each block with the number of its first line."""
        barren = 0
        for block in self._blocks():
            self.head = self.head or block[:HEAD]
            line, taken = self._line, -1 if self.take is None else self.take(block)
            self._line += block.count(b"\n") if taken < 0 else taken
            self.last = self._line - (block[-1:] in (b"", b"\n"))
            if taken >= 0:
                barren = 0
                continue
            check_text(self._path, line, block)
            if self._start(block, 0) < len(block):
                barren = 0
                yield line, block
                continue
            barren += len(block)
            if barren > BARREN:
                raise FormatError(
                    f"{self._path}, line {self.last}: the {barren / 2**20:.0f} MiB up to here are blank lines and "
                    "comments only: is this the right file?"
                )

    def content(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of a block that are neither blank nor comments: the offset of each, and its content."""
        start = self._start(block, 0)
        while start < len(block):
            end = block.find(b"\n", start)
            end = len(block) if end < 0 else end
            line = block[start:end]
            yield start, (line if self._comment is None else self._comment.split(line, maxsplit=1)[0]).strip()
            start = self._start(block, end)

    def _start(self, block: bytes, place: int) -> int:
        """Return the offset of the first line with content, at or after `place`, which is between lines."""
        found = self._barren.match(block, place)
        assert found is not None  # it matches nothing, too
        return found.end()

    def _blocks(self) -> Iterator[bytes]:
        rest, more = b"", True
        while more:
            pieces = [rest]
            size = len(rest)
            try:
                while more and size < BLOCK:
                    pieces.append(self._stream.read1(PIECE))
                    size += len(pieces[-1])
                    more = bool(pieces[-1])
            except BROKEN as error:
                reached = self._line - 1 + sum(piece.count(b"\n") for piece in pieces)
                raise FormatError(
                    f"{self._path}: the compressed data is cut off or corrupt after line {reached}: {error}"
                ) from error
            rest = b""
            if more:
                while pieces and b"\n" not in pieces[-1]:
                    rest = pieces.pop() + rest
                if not pieces:
                    raise FormatError(
                        f"{self._path}, line {self._line}: a text file expected, got {size} bytes without the end of a "
                        "line"
                    )
                end = pieces[-1].rfind(b"\n") + 1
                pieces[-1], rest = pieces[-1][:end], pieces[-1][end:] + rest
            block = b"".join(pieces)
            yield block
            self.offset += len(block)
