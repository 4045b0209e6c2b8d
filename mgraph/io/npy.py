"""Arrays saved by NumPy: the header is checked before anything is allocated, and pickles are never read.

The format is that of NumPy Enhancement Proposal 1: a magic string, a version, the length of the header, the header as
the text of a Python dictionary, and the elements. Headers are matched, not evaluated.
"""

import io
import math
import os
import re
import stat
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import FormatError
from .stream import PIECE, Borrowed, require

MAGIC = b"\x93NUMPY"

#: The most bytes of a header, as in NumPy; an array of numbers needs about a hundred, and padding.
_LONGEST = 10_000

#: One length of a shape; a longer number is beyond any memory. Python 2 wrote 3L.
_LENGTH = re.compile(r"(0|[1-9][0-9]{0,17})L?")

#: The most dimensions of an array, as in NumPy.
_DIMENSIONS = 64

_FIELD = re.compile(
    r"""\s*(['"])(descr|fortran_order|shape)\1\s*:\s*('[^']*'|"[^"]*"|True|False|\([\d\s,L]*\))\s*(?:,|$)""", re.ASCII
)


class Readable(Protocol):
    """A binary file or stream."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes; none at the end."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Read up to as many bytes as the buffer holds, and return their number; 0 at the end."""


class Header(NamedTuple):
    """The header of a saved array.

    Attributes
    ----------
    dtype : dtype
        The elements' type: truth values, integers, floats, or text of one length.
    fortran : bool
        Whether the first index varies fastest.
    shape : tuple of int
        The array's shape.
    size : int
        Bytes of the header itself.
    """

    dtype: np.dtype
    fortran: bool
    shape: tuple[int, ...]
    size: int

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(path: Path, stream: Readable, name: str = "") -> Header:
    """Read the header of an array.

    Parameters
    ----------
    path : path
        The file, for messages.
    stream : file
        Its content; read to the end of the header.
    name : str
        The array's name, if the file holds several.

    Raises
    ------
    FormatError
        If there is no valid header, or the array does not hold numbers or text.
    """
    where = f"{path}: {name!r}" if name else f"{path}"
    start = _exactly(stream, 8)
    if not start.startswith(MAGIC) or start[6:] not in (b"\x01\x00", b"\x02\x00"):
        raise FormatError(f"{where} must be an array that numpy.save wrote")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(_exactly(stream, width), "little")
    if length > _LONGEST:
        raise FormatError(f"{where} has a header of {length} bytes, more than the {_LONGEST} of any array of numbers")
    text = _exactly(stream, length)
    if len(text) < length:
        raise FormatError(f"{where}: the file ends in the header of the array")
    found = _fields(text.decode("latin-1"))
    if found is None:
        raise FormatError(f"{where} has a header that numpy.save does not write: {text[:60].decode('latin-1')!r}")
    descr, fortran, lengths = found
    if not re.fullmatch(r"[<>|=]?([biufSU][1-9][0-9]{0,3}|[?bBhHiIlLqQefd])", descr, re.ASCII):
        raise FormatError(f"{where} is an array of the type {descr[:60]!r}, not of numbers")
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{where} is an array of an unknown type, {descr!r}") from error
    header = Header(dtype, fortran, lengths, 8 + width + length)
    if header.nbytes >= 2**63:
        raise FormatError(f"{where} declares the shape {lengths}, which is larger than any memory")
    return header


def _fields(text: str) -> tuple[str, bool, tuple[int, ...]] | None:
    """Return type, order and shape from the text of a header; None if it is not well formed."""
    text = text.strip(" \t\r\n")
    if not (text.startswith("{") and text.endswith("}")):
        return None
    text, place = text[1:-1].rstrip(" \t\r\n"), 0  # only ASCII blanks, as in Python
    fields: dict[str, str] = {}
    while place < len(text):
        field = _FIELD.match(text, place)
        if field is None or field[2] in fields:
            return None
        fields[field[2]] = field[3]
        place = field.end()
    if len(fields) != 3 or fields["descr"][0] not in "'\"" or fields["fortran_order"] not in ("True", "False"):
        return None
    lengths = _lengths(fields["shape"])
    if lengths is None:
        return None
    return fields["descr"][1:-1], fields["fortran_order"] == "True", lengths


def _lengths(text: str) -> tuple[int, ...] | None:
    """Parse the text of a tuple of integers; None if it is not well formed."""
    parts = text[1:-1].split(",")
    if not parts[-1].strip():
        parts.pop()
    elif len(parts) == 1:
        return None  # (3) is a number
    found = [_LENGTH.fullmatch(part.strip()) for part in parts]
    if not text.startswith("(") or len(found) > _DIMENSIONS:
        return None
    lengths = tuple(int(length[1]) for length in found if length is not None)
    return lengths if len(lengths) == len(found) else None


def read_elements(path: Path, stream: Readable, header: Header, name: str = "", *, last: bool = True) -> np.ndarray:
    """Read the elements after a header, in the machine's byte order; with `last`, nothing may follow them.

    Raises
    ------
    FormatError
        If there are fewer or more bytes than the header says.
    MemoryLimitError
        If they exceed the free memory.
    """
    where = f"{path}: {name!r}" if name else f"{path}"
    require(path, header.nbytes, f"an array of shape {header.shape}")
    content = np.empty(header.nbytes, np.uint8)
    view, filled = memoryview(content), 0
    while filled < len(view) and (more := stream.readinto(view[filled : filled + PIECE])):
        filled += more
    if filled < len(view):
        raise FormatError(f"{where}: it ends after {filled} of {len(view)} bytes of the array: is it complete?")
    if last and stream.read(1):
        raise FormatError(f"{where}: it goes on after the {len(view)} bytes of the array")
    return _native(content.view(header.dtype).reshape(header.shape, order="F" if header.fortran else "C"))


def read_array(path: Path, stream: BufferedReader) -> np.ndarray:
    """Return the array of numbers in a file, as a memory map if possible.

    Raises
    ------
    FormatError
        If the file does not hold such an array.
    MemoryLimitError
        If the array has to be read and exceeds the free memory.
    """
    header = read_header(path, stream)
    if header.dtype.kind not in "biuf":
        raise FormatError(f"{path} is an array of the type {header.dtype.str!r}, not of numbers")
    plain = isinstance(stream.raw, io.FileIO) and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    there = os.fstat(stream.fileno()).st_size - header.size if plain else header.nbytes
    if there != header.nbytes:
        raise FormatError(
            f"{path}: {there} bytes follow the header, and an array of shape {header.shape} has {header.nbytes}: "
            "is the file complete?"
        )
    if plain and there and header.dtype.isnative and header.size % header.dtype.itemsize == 0:
        return np.memmap(stream, header.dtype, "r", header.size, header.shape, "F" if header.fortran else "C")
    return read_elements(path, stream, header, last=not isinstance(stream.raw, Borrowed))


def _exactly(stream: Readable, size: int) -> bytes:
    """Return `size` bytes, fewer only at the end: a pipe may deliver them in parts."""
    parts = b""
    while len(parts) < size and (part := stream.read(size - len(parts))):
        parts += part
    return parts


def _native(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder("="), copy=False)
