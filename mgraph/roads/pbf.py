"""What osmium does not check of a file .pbf, and what it would crash of: that strings have no NUL, and where it ends.

A file is a sequence of blocks: four bytes of length, a header of that length, and the block that it describes. A block
of data is compressed, and has a table of the strings of its tags: https://wiki.openstreetmap.org/wiki/PBF_Format.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import FormatError

#: The most bytes of a header and of a block, by the format.
_HEADER, _BLOCK = 1 << 16, 1 << 25

#: Fields by number: of a header, of a compressed block, of a block, and of its table of strings.
_KIND, _SIZE = 1, 3
_RAW, _RAW_SIZE, _ZLIB = 1, 2, 3
_STRINGS = 1
_STRING = 1

#: Bytes of a block that are decompressed at first: the table is at its beginning.
_FIRST = 1 << 16


def check_pbf(path: Path) -> None:
    """Raise FormatError if a file ends within a block's four first bytes, or has strings that osmium cannot read."""
    try:
        with open(path, "rb") as file:
            while word := file.read(4):
                if len(word) < 4:
                    raise ValueError("it ends where a block begins")
                header = dict(_fields(file.read(min(int.from_bytes(word, "big"), _HEADER))))
                size = header.get(_SIZE)
                if not isinstance(size, int) or size > _BLOCK:
                    raise ValueError("a block has no size, or more than 32 MiB")
                if header.get(_KIND) == b"OSMData":
                    _check_block(file.read(size))
                else:
                    file.seek(size, os.SEEK_CUR)
    except (ValueError, zlib.error) as error:
        raise FormatError(f"{path} is not a complete file of OpenStreetMap: {error}") from error


def _check_block(packed: bytes) -> None:
    """Raise ValueError if a string of a compressed block has a NUL."""
    fields = [(number, value) for number, value in _fields(packed) if number != _RAW_SIZE]
    if len(fields) != 1 or fields[0][0] not in (_RAW, _ZLIB):
        raise ValueError("a block is compressed otherwise than by zlib; osmium cat writes it again")
    number, data = fields[0]
    if not isinstance(data, bytes):
        raise ValueError("a block is a number")
    unpack = zlib.decompressobj()
    begin = data if number == _RAW else unpack.decompress(data, _FIRST)
    key, at = _number(begin, 0)
    size, at = _number(begin, at)
    if key == _STRINGS << 3 | 2 and 0 < size <= _BLOCK:
        missing = at + size - len(begin)
        if missing > 0 and number == _ZLIB:
            begin += unpack.decompress(unpack.unconsumed_tail, missing)
        if len(begin) < at + size:
            raise ValueError("a table of strings is cut short")
        _check_strings(begin[at : at + size])  # osmium refuses a second table
        return
    whole = data if number == _RAW else zlib.decompressobj().decompress(data, _BLOCK)
    for number, value in _fields(whole):
        if number == _STRINGS:
            _check_strings(value)


def _check_strings(table: Any) -> None:
    """Raise ValueError if a string of a table has a NUL, where C's strings end."""
    if not isinstance(table, bytes):
        raise ValueError("a table of strings is a number")
    if table[:2] == b"\n\0" and b"\0" not in table[2:]:  # of the first one, which is empty, and no other
        return
    for number, string in _fields(table):
        if number != _STRING or not isinstance(string, bytes) or b"\0" in string:
            raise ValueError("a string has a NUL")


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message of Protocol Buffers: their numbers, and integers or bytes."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _number(message, at)
            yield key >> 3, value
            continue
        size, at = _number(message, at) if kind == 2 else ({1: 8, 5: 4}.get(kind, len(message)), at)
        if at + size > len(message):
            raise ValueError("a field is cut short")
        yield key >> 3, message[at : at + size]
        at += size


def _number(message: bytes, at: int) -> tuple[int, int]:
    """Return the integer of variable length at a place, and where it ends."""
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("a number is cut short")
