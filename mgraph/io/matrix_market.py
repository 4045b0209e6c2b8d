"""Matrix Market coordinate files: a banner, comments after ``%``, a line 'rows columns entries', and the entries.

The banner begins with ``%%MatrixMarket``; files of the Network Repository have one ``%`` there.

An entry is 'row column value' or, of a pattern, 'row column'; rows and columns are numbered from 1. The format is that
of R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats: initial design" (1996). SciPy's reader is
not used: it takes entries that are followed by anything, and a NUL byte ends its process.
"""

import re
from io import BufferedReader
from pathlib import Path

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError
from .content import Content, Options
from .lines import Lines
from .stream import Text, check_text, require, size_known

#: How a banner begins.
BANNER = re.compile(rb"[ \t]*%%?MatrixMarket\b", re.IGNORECASE)

#: The types that the values of each field are read as; none of a pattern, which has no values.
_FIELDS: dict[str, tuple[type, ...]] = {
    "real": (np.float64,),
    "double": (np.float64,),
    "integer": (np.int64,),
    "unsigned-integer": (np.int64,),
    "pattern": (),
}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read_mtx(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the entries of a Matrix Market file as edges from row to column.

    An entry of a symmetric file is an edge without direction, unless the caller wants both.

    Raises
    ------
    FormatError
        For a line that is not as above, for a dense or complex matrix or one that is not square, and if the file has
        more or fewer entries than it says.
    """
    banner = stream.readline(1 << 10)
    kinds, symmetry = _checked_banner(path, banner)
    text = Text(path, stream, b"%", line=2)
    lines: Lines | None = None
    n = entries = start = 0
    for first, block in text:
        if lines is None:
            place, line = next(text.content(block))
            first = start = first + block.count(b"\n", 0, place)
            n, entries = _checked_size(f"{path}, line {start}", line)
            end = block.find(b"\n", place)
            block = block[end:] if end >= 0 else b""
            lines = Lines(
                path,
                weights=kinds,
                comments=b"%",
                inline=False,
                base=1,
                expected=size_known(stream),
                limit=n,
                noun="index",
                wanted="an entry is 'row column value'" if kinds else "an entry of a pattern is 'row column'",
            )
            text.take = lines.take
        lines.add(first, block)
    if lines is None:
        raise FormatError(f"{path}, line {text.last + 1}: a line 'rows columns entries' is missing")
    if len(lines) < entries:
        raise FormatError(
            f"{path}, line {text.last}: the file ends here, too early for the entries that line {start} declares "
            f"({entries}, {len(lines)} found): is it complete?"
        )
    if len(lines) > entries:
        raise FormatError(f"{path}, line {start}: {entries} entries are expected and {len(lines)} found")
    src, dst, weights = lines.edges()
    directed = symmetry in ("general", "skew-symmetric")
    if symmetry == "skew-symmetric" or (not directed and options.directed):
        require(path, 40 * len(src), "to mirror its entries")
        src, dst, weights = _mirrored(path, src, dst, weights, -1 if directed else 1)
    return Content(src, dst, weights, n, directed, 1)


def _checked_banner(path: Path, line: bytes) -> tuple[tuple[type, ...], str]:
    """Return how values are read, and the symmetry."""
    check_text(path, 1, line)
    shown = line.decode("ascii", "replace").strip()
    words = re.split("[ \t]+", shown.lower())
    if not BANNER.match(line):
        raise FormatError(f"{path}, line 1: a Matrix Market file begins with the banner '%%MatrixMarket matrix ...'")
    if words[1:3] == ["matrix", "array"]:
        raise FormatError(f"{path} is a dense matrix: save it with numpy.save as a .npy file of distances")
    if words[1:3] != ["matrix", "coordinate"] or len(words) != 5 or not line.endswith(b"\n"):
        raise FormatError(
            f"{path}, line 1: the banner is {shown[:60]!r}, not '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
        )
    field, symmetry = words[3:]
    if field not in _FIELDS:
        hint = "weights are real" if field == "complex" else f"use one of {', '.join(_FIELDS)}"
        raise FormatError(f"{path}, line 1: values of the field {field[:60]!r} are not read: {hint}")
    if symmetry not in _SYMMETRIES or (field == "pattern" and symmetry in ("skew-symmetric", "hermitian")):
        raise FormatError(f"{path}, line 1: expected a symmetry that goes with {field!r}, got {symmetry[:60]!r}")
    return _FIELDS[field], symmetry


def _checked_size(start: str, line: bytes) -> tuple[int, int]:
    """Return the number of rows and of entries."""
    size = re.fullmatch(rb"([0-9]+)[ \t]+([0-9]+)[ \t]+([0-9]+)", line)
    if size is None:
        shown = line[:60].decode("utf-8", "replace")
        raise FormatError(f"{start}: the line 'rows columns entries' is expected, not {shown!r}")
    if any(len(number.lstrip(b"0")) > 18 for number in size.groups()):
        raise FormatError(f"{start}: integer out of range in {line[:60].decode()!r}")
    rows, columns, entries = map(int, size.groups())
    if rows != columns:
        raise FormatError(
            f"{start}: the matrix has {rows} rows and {columns} columns: it must be square, one of each per vertex"
        )
    if rows > MAX_VERTICES:
        raise FormatError(f"{start}: {rows} vertices are beyond int32: at most {MAX_VERTICES}")
    return rows, entries


def _mirrored(
    path: Path, src: np.ndarray, dst: np.ndarray, weights: np.ndarray | None, sign: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the entries and those on the other side of the diagonal, these with a sign."""
    other = src != dst
    if weights is not None:
        least = weights.min() if len(weights) and weights.dtype.kind == "i" else 0
        if sign < 0 and least == np.iinfo(np.int64).min:
            raise FormatError(f"{path}: the value {least} has no negative in int64")
        weights = np.concatenate([weights, sign * weights[other]])
    return np.concatenate([src, dst[other]]), np.concatenate([dst, src[other]]), weights
