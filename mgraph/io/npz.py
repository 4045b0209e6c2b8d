"""Sparse matrices written by `scipy.sparse.save_npz`: a zip archive of arrays by name.

Declared sizes are checked against each other and against the free memory before an array is read, and the arrays
against each other before they are used. The entries are extracted here, as SciPy would use the arrays unchecked.
"""

import contextlib
import zipfile
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import cast

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError, MgraphError, shown
from ..graph import Compressed
from ..graph.compressed import rows_of
from .compressed_rows import starts_of, within
from .content import Content, Options, Rows
from .npy import Header, read_elements, read_header
from .stream import held, require

#: The most bytes to read of an archive's directory at a time; that of a sparse matrix has about 400.
_DIRECTORY = 1 << 17

#: The largest compression ratio of deflate, rounded up: 258 bytes take at least two bits.
_RATIO = 1040

#: The most bytes of the arrays `format` and `shape`.
_SMALL = 1 << 10

#: The most characters that are repeated of what `zipfile` says, which may quote names of 64 KiB.
_LONGEST = 200

#: Bytes per entry, in addition to the arrays of the file, until the graph is built.
_BYTES_AN_ENTRY = 24

#: What a file of a graph must hold.
_MATRIX = "a matrix that scipy.sparse.save_npz wrote"

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def read_npz(path: Path, stream: BufferedReader, options: Options) -> Content | Rows:
    """Return the stored entries of a sparse matrix as edges from row to column; truth values give no weights.

    Raises
    ------
    FormatError
        If the file is not such an archive, or its arrays do not form a square matrix.
    MemoryLimitError
        If they exceed the free memory.
    """
    with _checked(path, stream, _MATRIX) as archive:
        if "shape" not in archive:
            raise archive.invalid(f"it has the arrays {archive.listed()[:100]}, {_other(archive)} reads")
        n, form = _order(path, archive), _form(path, archive)
        if form == "csr":
            indptr, indices, data = _compressed(archive, n)
            return Rows(Compressed(indptr, indices, None if data.dtype.kind == "b" else data), n, True, 0)
        src, dst, data = _entries(path, archive, n, form)
    return Content(src, dst, None if data.dtype.kind == "b" else data, n, True, 0)


def _other(archive: "_Archive") -> str:
    """Return in words what an archive may be that is no matrix, and what reads it."""
    if "version" in archive and "order" in archive:
        return "as a hierarchy has, which mgraph.Hierarchy.load"
    return "perhaps of a result that was saved, which numpy.load"


def _invalid(path: Path, why: str, holds: str = _MATRIX) -> FormatError:
    why = why if len(why) <= _LONGEST else f"{why[: _LONGEST - 3]}..."
    return FormatError(f"{path} must hold {holds}: {why}")


def read_arrays(path: Path, stream: BufferedReader, holds: str, **wanted: tuple[str, int]) -> list[np.ndarray]:
    """Return arrays of an archive by name.

    Parameters
    ----------
    path : Path
        The file, for messages.
    stream : BufferedReader
        Its content.
    holds : str
        What the file must hold, for messages.
    **wanted : tuple of (str, int)
        The possible kinds of type of each array, and its number of dimensions.

    Raises
    ------
    FormatError
        If the file is not such an archive, or lacks an array of such a type.
    MemoryLimitError
        If the arrays exceed the free memory.
    """
    with _checked(path, stream, holds) as archive:
        return archive.arrays(**wanted)


@contextlib.contextmanager
def _checked(path: Path, stream: BufferedReader, holds: str) -> Iterator["_Archive"]:
    """Open an archive; raise FormatError for whatever is found to be wrong with it in the block."""
    if not stream.peek(2).startswith(b"PK"):
        raise _invalid(path, "it must be a zip archive", holds)
    source = stream if stream.seekable() else held(path, stream)
    try:
        with _Archive(path, source, holds) as archive:
            yield archive
    except MgraphError:
        raise
    except Exception as error:  # zipfile raises many types of errors for invalid files
        if isinstance(error, MemoryError):
            raise
        raise _invalid(path, str(error) or type(error).__name__, holds) from error


class _Archive(contextlib.AbstractContextManager["_Archive"]):
    """The arrays of an archive, by name, with their headers checked."""

    def __init__(self, path: Path, source: BufferedReader | BytesIO, holds: str = _MATRIX) -> None:
        self._path = path
        self._holds = holds
        self._zip = zipfile.ZipFile(directory := _Directory(source))
        directory.limit = None
        members = self._zip.infolist()
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise self.invalid("it has two arrays of one name")

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def invalid(self, why: str) -> FormatError:
        """Return the error for an archive that does not hold what it should."""
        return _invalid(self._path, why, self._holds)

    def listed(self) -> str:
        """Return the names of all arrays, for a message."""
        return ", ".join(map(shown, self._members))

    def header(self, name: str, kinds: str, *dimensions: int) -> Header:
        """Return the header of an array, which must be of one of these kinds and numbers of dimensions."""
        with self._open(name) as file:
            header = read_header(self._path, file, name)
        if header.size + header.nbytes != self._members[name].file_size:
            raise self.invalid(f"{name!r} is not as large as its header says")
        if header.dtype.kind not in kinds or len(header.shape) not in dimensions:
            raise self.invalid(f"{name!r} is of type {header.dtype} and shape {header.shape}")
        return header

    def array(self, name: str) -> np.ndarray:
        """Return an array whose header was checked."""
        with self._open(name) as file:
            return read_elements(self._path, file, read_header(self._path, file, name), name)

    def small(self, name: str, kinds: str, *dimensions: int) -> np.ndarray:
        """Return an array of a few bytes."""
        if self.header(name, kinds, *dimensions).nbytes > _SMALL:
            raise self.invalid(f"{name!r} is too large")
        return self.array(name)

    def arrays(self, **wanted: tuple[str, int]) -> list[np.ndarray]:
        """Return arrays of given kinds and numbers of dimensions, if they and their entries fit into memory."""
        headers = [self.header(name, *kind) for name, kind in wanted.items()]
        entries = max(header.nbytes // header.dtype.itemsize for header in headers)
        needed = sum(header.nbytes for header in headers) + _BYTES_AN_ENTRY * entries
        require(self._path, needed, f"a matrix of {entries:,} entries")
        return [self.array(name) for name in wanted]

    def _open(self, name: str) -> zipfile.ZipExtFile:
        member = self._members.get(name)
        if member is None:
            raise self.invalid(f"{name!r} is missing")
        packed, size = member.compress_size, member.file_size
        if member.compress_type == zipfile.ZIP_STORED:
            possible = packed == size
        else:
            possible = member.compress_type == zipfile.ZIP_DEFLATED and size <= _RATIO * packed
        if not possible or member.flag_bits & 1:
            raise self.invalid(f"{name!r} is encrypted, or its size or compression is not one of save_npz")
        return cast(zipfile.ZipExtFile, self._zip.open(member))


class _Directory:
    """A file as zipfile sees it, which reads no more than `limit` bytes at a time."""

    def __init__(self, file: BufferedReader | BytesIO) -> None:
        self.limit: int | None = _DIRECTORY
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes."""
        if self.limit is None or 0 <= size <= self.limit:
            return self._file.read(size)
        data = self._file.read(self.limit + 1)
        if len(data) > self.limit:
            raise zipfile.BadZipFile(f"its directory has more than {self.limit} bytes")
        return data


def _order(path: Path, archive: _Archive) -> int:
    """Return the number of rows and columns."""
    shape = tuple(int(length) for length in archive.small("shape", "iu", 1))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise FormatError(f"{path} holds a matrix of shape {shape}: it must be square, a row and column per vertex")
    if not 0 <= shape[0] <= MAX_VERTICES:
        raise FormatError(f"{path} holds a matrix of {shape[0]} rows: there may be {MAX_VERTICES} vertices")
    return shape[0]


def _form(path: Path, archive: _Archive) -> str:
    """Return the name of the matrix's format."""
    if "_is_array" in archive:
        archive.small("_is_array", "b", 0)  # ignore SciPy's array/matrix flag
    name = archive.small("format", "SU", 0)
    form = str(name.item() if name.dtype.kind == "U" else name.item().decode("ascii"))
    if form not in ("csr", "csc", "bsr", "coo", "dia"):
        raise _invalid(path, f"the format {form[:60]!r} is not one of csr, csc, bsr, coo, dia")
    return form


def _entries(path: Path, archive: _Archive, n: int, form: str) -> Entries:
    """Return rows, columns and values of a matrix in a format other than CSR."""
    if form == "csc":
        columns, rows, values = _compressed(archive, n)
        return rows, rows_of(columns, len(rows), np), values
    if form == "bsr":
        entries = _blocks(n, *archive.arrays(indptr=("iu", 1), indices=("iu", 1), data=("biuf", 3)))
    elif form == "dia":
        entries = _diagonals(n, *archive.arrays(offsets=("iu", 1), data=("biuf", 2)))
    elif "coords" in archive:
        coords, data = archive.arrays(coords=("iu", 2), data=("biuf", 1))
        if len(coords) != 2:
            raise _invalid(path, f"'coords' has the shape {coords.shape}")
        entries = coords[0], coords[1], data
    else:
        row, col, data = archive.arrays(row=("iu", 1), col=("iu", 1), data=("biuf", 1))
        entries = row, col, data
    rows, columns, values = entries
    if not len(rows) == len(columns) == len(values):
        raise _invalid(path, f"it has {len(rows)} rows, {len(columns)} columns and {len(values)} values")
    return within(rows, n), within(columns, n), values


def _compressed(archive: _Archive, n: int) -> Entries:
    """Return where rows begin, and the columns and values in them; of compressed columns, those of the transposed."""
    indptr, indices, data = archive.arrays(indptr=("iu", 1), indices=("iu", 1), data=("biuf", 1))
    return _starts(indptr, indices, data, n), within(indices, n), data


def _starts(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, n: int) -> np.ndarray:
    """Return where rows begin, or raise ValueError if there are more or fewer values than indices."""
    if len(indices) != len(data):
        raise ValueError(f"there are {len(indices)} indices and {len(data)} values")
    return starts_of(indptr, len(indices), n, "'indptr'")


def _blocks(n: int, indptr: np.ndarray, indices: np.ndarray, data: np.ndarray) -> Entries:
    """Return the nonzero entries of compressed rows of dense blocks; zeros may only be fill."""
    _, high, wide = data.shape
    if not high or not wide or n % high or n % wide:
        raise ValueError(f"blocks of {high} x {wide} do not divide a matrix of {n} x {n}")
    top = rows_of(_starts(indptr, indices, data, n // high), len(indices), np) * np.int32(high)
    left = within(indices, n // wide) * np.int32(wide)
    rows = top[:, None, None] + np.arange(high, dtype=np.int32)[:, None]
    columns = left[:, None, None] + np.arange(wide, dtype=np.int32)
    stored = data != 0
    return np.broadcast_to(rows, data.shape)[stored], np.broadcast_to(columns, data.shape)[stored], data[stored]


def _diagonals(n: int, offsets: np.ndarray, data: np.ndarray) -> Entries:
    """Return the nonzero entries of diagonals that lie in the matrix, as SciPy does."""
    if len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
        raise ValueError(f"there are {len(data)} diagonals, and {len(offsets)} offsets, which must differ")
    data = data[:, :n]
    below = np.clip(offsets, -n, n).astype(np.int64)  # diagonals farther away have no entry in the matrix
    rows = np.arange(data.shape[1]) - below[:, None]
    place, columns = np.nonzero((rows >= 0) & (rows < n) & (data != 0))
    return rows[place, columns], columns, data[place, columns]
