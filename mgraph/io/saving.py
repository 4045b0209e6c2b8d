"""Results into files, which appear whole or not at all.

A file is written in the folder of the one that it replaces, and is renamed when all of it is on disk. While it is
written it is locked, and its name contains the host: an unlocked file of this host was left by a dead process, and
the next save into the same folder removes it. The system ends a lock with its process, so that no process id has to be
trusted, which another container or a restart may use again.
"""

import contextlib
import gzip
import io
import math
import os
import platform
import re
import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import checked_flag, one_of
from ..arrays import Array
from ..errors import ArgumentValue, InputError, MgraphError, OutputExistsError, shown
from . import parts
from .files import absolute, is_url, path_of, system_of

#: The formats of results, by suffix, and the packages that write them.
RESULT_FORMATS: dict[str, tuple[str, ...]] = {
    ".npy": (),
    ".npz": (),
    ".zarr": ("zarr",),
    ".csv": ("pandas",),
    ".csv.gz": ("pandas",),
    ".parquet": ("pyarrow", "pandas"),
    ".graphml": ("networkx",),
    ".graphml.gz": ("networkx",),
    ".gexf": ("networkx",),
    ".gexf.gz": ("networkx",),
}

#: Those that hold a table.
TABLES = (".csv", ".csv.gz", ".parquet")

#: Bytes of an array that is not contiguous that are copied at a time.
BLOCK = 1 << 24


def check_output(
    path: str | os.PathLike[str], overwrite: bool = False, suffixes: tuple[str, ...] = (".npy", ".npz")
) -> None:
    """Raise if `save` could not write to `path`: worth a call before a long computation.

    Also of other files, with other `suffixes`, which `replacing` opens.

    Raises
    ------
    InputError
        If the suffix is none of these, if the path is a folder or leads to anything else that is not
        a regular file, or if it lies in a folder that is not there or not to be written to.
    OutputExistsError
        If there is such a file and `overwrite` is false.
    MissingPackageError
        If a package that writes the format, such as pandas, is not installed.
    """
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
        raise InputError(argument="path", value=path, expected="a path or a URL")
    path, overwrite = path_of(os.fspath(path)), checked_flag("overwrite", overwrite)
    suffix = suffix_of(path)
    if suffix not in suffixes:
        raise InputError(f"{path} has the suffix {shown(suffix)}, which must be {one_of(suffixes)}")
    for package in RESULT_FORMATS.get(suffix, ()):
        lazy.optional(package, f"writing {suffix}")
    if suffix == ".zarr":
        parts.is_zarr_to_replace(absolute(path), overwrite)
        return
    if is_url(str(path)):
        _check_url(str(path), overwrite)
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: give a file")
    target = _target(path)
    if os.path.lexists(target) and not stat.S_ISREG(target.lstat().st_mode):
        leads = f"{path} leads to {target}, which" if path.is_symlink() else f"{path}"
        raise InputError(f"{leads} is not a regular file: a result is not written to links in a circle or to devices")
    folder = target.parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: the folder {folder} is not writable")
    if target.exists() and not overwrite:
        raise OutputExistsError(f"{path} exists: ", ArgumentValue("overwrite", True), " replaces it")


def suffix_of(path: Path) -> str:
    """Return the suffix of a path, that of a compressed file with the one before it."""
    return "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix


def _check_url(url: str, overwrite: bool) -> None:
    system, inner = system_of(url)
    if not overwrite and system.exists(inner):
        raise OutputExistsError(f"{url} exists: ", ArgumentValue("overwrite", True), " replaces it")


def _target(path: Path) -> Path:
    """Return the file that is written for `path`: if that is a symbolic link, the one it leads to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def save(path: str | os.PathLike[str], arrays: Array | Mapping[str, Array], overwrite: bool = False) -> None:
    """Write arrays to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path or str
        Ends with ``.npy`` for one array, ``.npz`` for several by name. A symbolic link stays one: the file
        that it leads to is written, if it is a regular file or none. Or a URL that fsspec knows.
    arrays : mapping of str to array, or array
        Arrays, or objects with `shape`, `dtype` and a method `chunks` that yields consecutive blocks of
        rows: such a matrix need not fit into memory. A single array needs no name in a ``.npy`` file.
    overwrite : bool
        Replace a file that exists; the new one gets its permissions.

    Raises
    ------
    InputError, OutputExistsError
        As `check_output` does, and for arrays that the format cannot hold.
    OSError
        If the file cannot be written, e.g. because the disk is full; the path is then as it was before.
    """
    check_output(path, overwrite)
    path = path_of(os.fspath(path))
    if not isinstance(arrays, Mapping):
        if path.suffix == ".npz":
            raise InputError(f"{path}: a .npz file holds arrays by name, give a mapping; or use .npy")
        arrays = {"array": arrays}
    if path.suffix == ".npy" and len(arrays) != 1:
        raise InputError(f"{path}: a .npy file holds one array, not {len(arrays)} ({', '.join(arrays)}): use .npz")
    with _at_url(str(path)) if is_url(str(path)) else replacing(path, overwrite) as file:
        if path.suffix == ".npy":
            for array in arrays.values():
                _write_npy(file, array)
        else:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                for name, array in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        _write_npy(member, array)


def save_table(path: Path, frames: Iterable[Any], overwrite: bool) -> None:
    """Write dataframes, one or more, as one table; the caller has called `check_output`.

    Raises
    ------
    InputError
        For ids that the format cannot hold, such as those of several kinds in Parquet.
    OSError
        As of `save`.
    """
    frames = iter(frames)
    frame = next(frames)
    with writing(path, overwrite) as file:
        if path.suffix != ".parquet":
            text = io.TextIOWrapper(file, "utf-8", newline="")
            frame.to_csv(text, index=False)
            for frame in frames:
                frame.to_csv(text, index=False, header=False)
            text.detach()
            return
        arrow, parquet = (lazy.optional(name, "writing .parquet") for name in ("pyarrow", "pyarrow.parquet"))
        try:
            table = arrow.Table.from_pandas(frame, preserve_index=False)
            for place, field in enumerate(table.schema):  # an empty column of text has no type
                if arrow.types.is_null(field.type):
                    table = table.set_column(place, field.with_type(arrow.string()), table[place].cast(arrow.string()))
            with parquet.ParquetWriter(file, table.schema) as writer:
                writer.write_table(table)
                for frame in frames:
                    writer.write_table(arrow.Table.from_pandas(frame, schema=table.schema, preserve_index=False))
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: Parquet cannot hold these ids: {error}") from error


@contextlib.contextmanager
def writing(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    """Open a file, at a path or a URL, that appears there when the block ends; one that ends with .gz is compressed.

    The caller has called `check_output`.
    """
    with _at_url(str(path)) if is_url(str(path)) else replacing(path, overwrite) as file:
        if path.suffix != ".gz":
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]


@contextlib.contextmanager
def _at_url(url: str) -> Iterator[IO[bytes]]:
    """Open a file at a URL that appears there when the block ends, and not at all after an error."""
    system, inner = system_of(url, skip_instance_cache=True)  # as others may use the shared one meanwhile
    with system.transaction, system.open(inner, "wb") as file:
        yield file


@contextlib.contextmanager
def replacing(path: Path, overwrite: bool) -> Iterator[IO[bytes]]:
    """Open a file in the folder of `path`, or of its link's target, that replaces it when it is all on disk.

    The caller has called `check_output`.
    """
    target = _target(path)
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        _sweep(target.parent)
    try:
        temporary, file, lock = _opened_beside(target)
    except OSError as error:
        raise nothing_written(path, error) from error
    try:
        with file:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(target, temporary)
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path, overwrite, (suffix_of(path),))  # it may have been a long time
        if overwrite:
            os.replace(temporary, target)
        else:
            _take_free_place(temporary, target, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, MgraphError) and error.errno is not None:
            raise nothing_written(path, error) from error
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _take_free_place(temporary: Path, target: Path, path: Path) -> None:
    """Give a file its name, or raise OutputExistsError if another process has made one of that name by now."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        check_output(path, False, (suffix_of(path),))
        raise
    except OSError:  # a disk that knows no links: there is nothing but to look once more
        check_output(path, False, (suffix_of(path),))
        os.replace(temporary, target)
    else:
        with contextlib.suppress(OSError):  # a later save sweeps it
            temporary.unlink()


def nothing_written(path: object, error: OSError) -> OSError:
    """Return a system's error with the path that was to be written."""
    return OSError(error.errno, f"{error.strerror}; nothing was written", str(path))


def _opened_beside(target: Path) -> tuple[Path, IO[bytes], int | None]:
    """Return the path of a new temporary file, the file, and what keeps it locked."""
    while True:
        path = target.with_name(f".{target.name[:40]}.mgraph-{_host()}-{os.urandom(4).hex()}.tmp")
        file = path.open("xb")
        lock = _locked(file.fileno(), wait=True)
        if os.fstat(file.fileno()).st_nlink:
            return path, file, lock
        file.close()  # another process has swept it before it was locked
        if lock is not None:
            os.close(lock)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", platform.node())[:32]


def _locked(file: int, wait: bool) -> int | None:
    """Lock an open file, and return what keeps it locked until it is closed; None where that cannot be."""
    lock = os.dup(file)
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # a system, or a network's disk, that knows no locks; or another has the lock
        os.close(lock)
        return None
    return lock


def _sweep(folder: Path) -> None:
    """Remove the temporary files of dead processes of this host from a folder."""
    left = re.compile(rf"\..*\.mgraph-{re.escape(_host())}-[0-9a-f]{{8}}\.tmp")
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)]
    for path in found:
        with contextlib.suppress(OSError):  # another's, or removed meanwhile
            file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            lock = _locked(file, wait=False)
            os.close(file)
            if lock is not None:
                os.unlink(path)
                os.close(lock)


def _write_npy(file: IO[bytes], array: Array) -> None:
    if not callable(getattr(array, "chunks", None)):
        array = devices.to_host(array)
    dtype = np.dtype(array.dtype)
    if dtype.hasobject:
        raise InputError("an array of Python objects cannot be saved: convert it to numbers")
    shape = tuple(int(length) for length in array.shape)
    np.lib.format.write_array_header_1_0(
        file, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    )
    written = 0
    for block in blocks(array):
        file.write(block.reshape(-1).view(np.uint8).data)
        written += block.size
    if written != math.prod(shape):
        raise InputError(f"the chunks of an array of shape {shape} hold {written} elements")


def blocks(array: Array) -> Iterator[np.ndarray]:
    """Yield consecutive blocks of the rows of an array in this process's memory, each of them contiguous.

    An array that has `chunks` is read by them; one that must be copied to be contiguous is copied in parts.
    """
    if callable(getattr(array, "chunks", None)):
        for chunk in array.chunks():
            yield np.ascontiguousarray(devices.to_host(chunk), array.dtype)
        return
    array = devices.to_host(array)
    if array.flags.c_contiguous:
        yield array
        return
    rows = max(1, BLOCK // max(1, array[:1].nbytes))
    for first in range(0, len(array), rows):
        yield np.ascontiguousarray(array[first : first + rows])
