"""Zarr arrays and groups, which appear whole or not at all: they are written beside their path, and moved there."""

import contextlib
import math
import os
import uuid
from collections.abc import Iterator, Mapping

from .. import lazy
from ..arguments import checked_flag
from ..arrays import Array
from ..errors import InputError, MgraphError
from . import parts
from .files import absolute, system_of
from .saving import blocks, nothing_written

#: The most numbers in a chunk, and the longest side of one but the first.
_CHUNK, _SIDE = 1 << 20, 1 << 10


def save_group(path: str | os.PathLike[str], arrays: Mapping[str, Array], overwrite: bool) -> None:
    """Write arrays to a Zarr group.

    Parameters
    ----------
    path : path or str
        The group, or a URL that fsspec knows.
    arrays : mapping of str to array
        Numbers or text; arrays as of `mgraph.io.save`, which need not fit into memory.
    overwrite : bool
        Replace a Zarr array or group that exists.

    Raises
    ------
    OutputExistsError
        If something is there, and not `overwrite`.
    InputError
        If something else than Zarr is there, or a link that leads nowhere.
    MissingPackageError
        If zarr is not installed.
    OSError
        If it cannot be written; what was there is there still.
    """
    zarr = lazy.optional("zarr", "writing Zarr")
    with replacing_zarr(path, checked_flag("overwrite", overwrite)) as folder:
        group = zarr.open_group(folder, mode="w")
        for name, array in arrays.items():
            text = array.dtype.kind == "U"
            shape, dtype = array.shape, str if text else array.dtype
            made = group.create_array(name, shape=shape, chunks=_chunk(shape), dtype=dtype)
            first = 0
            for block in blocks(array):
                made[first : first + len(block)] = block
                first += len(block)


@contextlib.contextmanager
def replacing_zarr(path: str | os.PathLike[str], overwrite: bool) -> Iterator[str]:
    """Yield where to write a Zarr array or group that is moved to `path` at the end; raises as `save_group` does."""
    if "\0" in os.fspath(path):
        raise InputError(argument="path", value=path, expected="a path or a URL")
    where, token = absolute(path), uuid.uuid4().hex
    there = parts.is_zarr_to_replace(where, overwrite)
    folder = parts.beside(where, token)
    system, inner = system_of(folder)
    try:
        yield folder
        if there:
            parts.replace(where, folder, token)
        else:
            system.mv(inner, system_of(where)[1], recursive=True)
    except BaseException as error:
        with contextlib.suppress(Exception):
            system.rm(inner, recursive=True)
        if isinstance(error, OSError) and not isinstance(error, MgraphError) and error.errno is not None:
            raise nothing_written(path, error) from error
        raise


def _chunk(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sides of a chunk: as many rows, or matrices of a batch, as it holds."""
    inner = [max(1, min(side, _SIDE)) for side in shape[1:]]
    return max(1, min(shape[0], _CHUNK // math.prod(inner))), *inner
