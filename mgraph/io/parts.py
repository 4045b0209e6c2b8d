"""Results as folders that several processes write side by side: parts in `.npy` or Parquet, or a Zarr array.

One process begins the folder, each writes what it holds, and one ends it. A folder is at a path on storage that all of
them share, or at any URL that fsspec knows. What is to replace another result is written to a folder beside it, which
takes its place at the end. After an error, what was written is discarded, and what was there before is there still.
"""

import os
import pickle
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from .. import lazy
from ..errors import ArgumentValue, InputError, OutputExistsError, shown
from .files import system_of

#: The forms in which a vector is written, by the suffix of the path: one file, or a folder of parts.
FORMS = {".npy": "one file", ".parquet": "Parquet", "": "parts"}

#: Rows of a Parquet file that are made at a time.
ROWS = 1 << 20

#: The names that `name_of` gives, and what is beside them.
_OURS = re.compile(r"\d+\.npy|info|part\.\d+\.parquet")


def form_of(path: str | os.PathLike[str]) -> str:
    """Return the form in which a vector is written to a path, or raise InputError."""
    suffix = PurePosixPath(os.fspath(path)).suffix
    if suffix not in FORMS:
        raise InputError(
            f"{os.fspath(path)} has the suffix {shown(suffix)}: a vector is written as one .npy file, as a folder of "
            "Parquet files with the suffix .parquet, or as a folder of .npy files without a suffix"
        )
    return FORMS[suffix]


def _is_there(path: str) -> bool:
    """Return whether something is at a path, or raise InputError for a link that leads nowhere."""
    system, inner = system_of(path)
    if system.exists(inner):
        return True
    if "file" in system.protocol and os.path.islink(inner):
        raise InputError(f"{path} is a symbolic link to {os.readlink(inner)}, which is not there")
    return False


def name_of(form: str, number: int) -> str:
    """Return the name of a part by its number."""
    return f"part.{number:05}.parquet" if form == "Parquet" else f"{number}.npy"


def begin(path: str, overwrite: bool, token: str) -> str:
    """Make an empty folder for parts, and return its path: another one if they are to replace what is there.

    Raises
    ------
    OutputExistsError
        If something is there, and not `overwrite`.
    InputError
        If something else than a folder of parts is there, or a link that leads nowhere.
    """
    system, inner = system_of(path)
    if _is_there(path):
        if not overwrite:
            raise OutputExistsError(f"{path} exists: ", ArgumentValue("overwrite", True), " replaces it")
        names = [PurePosixPath(name).name for name in system.ls(inner, detail=False)] if system.isdir(inner) else [""]
        strange = [name for name in names if not _OURS.fullmatch(name)]
        if strange:
            raise InputError(f"{path} is not a folder of parts" + (f": it has {strange[0]}" if strange[0] else ""))
        path, inner = beside(path, token), beside(inner, token)
    system.makedirs(inner, exist_ok=True)
    return path


def beside(path: str, token: str) -> str:
    """Return the path of a folder beside another."""
    folder, slash, name = path.rstrip("/").rpartition("/")
    return f"{folder}{slash}.{name}.{token}"


def replace(path: str, folder: str, token: str) -> None:
    """Put a folder in the place of another; if that fails, the other is there again."""
    system, inner = system_of(path)
    _, new = system_of(folder)
    old = beside(inner, f"{token}.old")
    system.invalidate_cache()
    system.mv(inner, old, recursive=True)
    try:
        system.mv(new, inner, recursive=True)
    except BaseException:
        system.mv(old, inner, recursive=True)
        raise
    system.rm(old, recursive=True)


def write(path: str, form: str, number: int, name: str, values: np.ndarray, first: int, missing: float | None) -> None:
    """Write a part of a vector, which begins at element `first`.

    In Parquet `name` is that of its column, in which integers that are `missing` are null.
    """
    system, inner = system_of(path)
    with system.open(f"{inner}/{name_of(form, number)}", "wb") as file:
        if form == "Parquet":
            _write_parquet(file, name, values, first, missing)
        else:
            np.lib.format.write_array(file, np.ascontiguousarray(values), allow_pickle=False)


def _write_parquet(file: Any, name: str, values: np.ndarray, first: int, missing: float | None) -> None:
    arrow, parquet = lazy.optional("pyarrow", "writing Parquet"), lazy.optional("pyarrow.parquet", "writing Parquet")
    schema = arrow.schema([("vertex", arrow.int64()), (name, arrow.from_numpy_dtype(values.dtype))])
    with parquet.ParquetWriter(file, schema) as writer:
        for start in range(0, len(values), ROWS):
            part = values[start : start + ROWS]
            vertex = np.arange(first + start, first + start + len(part))
            null = part == missing if values.dtype.kind == "i" and missing is not None else None
            writer.write_table(arrow.table([vertex, arrow.array(part, mask=null)], schema=schema))


def end(path: str, form: str, lengths: Sequence[int], dtype: np.dtype) -> list[int]:
    """End a folder of parts of some lengths; return the numbers of those that are not there.

    Beside `.npy` parts stands what ``dask.array.from_npy_stack`` reads.
    """
    system, inner = system_of(path)
    system.invalidate_cache(inner)
    found = {PurePosixPath(name).name for name in system.ls(inner, detail=False)}
    missing = [number for number in range(len(lengths)) if name_of(form, number) not in found]
    if not missing and form == "parts":
        with system.open(f"{inner}/info", "wb") as file:
            pickle.dump({"chunks": (tuple(lengths),), "dtype": dtype, "axis": 0}, file)
    return missing


def discard(path: str, names: Sequence[str]) -> None:
    """Remove parts that are there, and their folder if it is empty then."""
    system, inner = system_of(path)
    for name in names:
        if system.exists(f"{inner}/{name}"):
            system.rm_file(f"{inner}/{name}")
    if system.isdir(inner) and not system.ls(inner, detail=False):
        system.rmdir(inner)


def is_zarr_to_replace(path: str, overwrite: bool) -> bool:
    """Return whether a Zarr array or group is there, which may be replaced; False if nothing is there.

    Raises
    ------
    OutputExistsError
        If something is there, and not `overwrite`.
    InputError
        If something else than Zarr is there, or a link that leads nowhere.
    """
    system, inner = system_of(path)
    if not _is_there(path):
        return False
    if not overwrite:
        raise OutputExistsError(f"{path} exists: ", ArgumentValue("overwrite", True), " replaces it")
    if not any(system.exists(f"{inner}/{name}") for name in ("zarr.json", ".zarray", ".zgroup")):
        raise InputError(f"{path} is not a Zarr array or group")
    return True


def begin_zarr(
    path: str, overwrite: bool, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype, token: str
) -> str:
    """Make a Zarr array, and return its path: another one if it is to replace what is there.

    By the `token` its writers know it.

    Raises
    ------
    OutputExistsError, InputError
        As `is_zarr_to_replace` does.
    """
    zarr = lazy.optional("zarr", "writing Zarr")
    if is_zarr_to_replace(path, overwrite):
        path = beside(path, token)
    zarr.create_array(path, shape=shape, chunks=chunks, dtype=dtype, overwrite=overwrite, attributes={"writer": token})
    return path


def write_zarr(path: str, token: str, blocks: Iterable[tuple[int, int, np.ndarray]]) -> None:
    """Write blocks to a Zarr array, each with its row and column."""
    array = lazy.optional("zarr", "writing Zarr").open_array(path, mode="r+")
    if array.attrs.get("writer") != token:
        raise FileNotFoundError(2, "another array is there", path)
    for row, column, block in blocks:
        array[row : row + block.shape[0], column : column + block.shape[1]] = block


def discard_zarr(path: str, token: str) -> None:
    """Remove a Zarr array if it is that of the token."""
    if lazy.optional("zarr", "writing Zarr").open_array(path, mode="r").attrs.get("writer") == token:
        system, inner = system_of(path)
        system.rm(inner, recursive=True)
