"""Numba's compiled code on disk, for kernels that several processes may compile at once.

Numba numbers the files of a function's compiled versions by the index that it has just read. Two processes that compile
the function for different types at the same time both take the next number, and the index may then name one's
version where the other's file lies: later calls run code for other types, and end in wrong results or a segmentation
fault. The same happens to who reads the index of a changed source while the old file still lies there. Here
every file gets a name of its own. The worst that is left is a version that the index has lost, which is compiled again.

Names that are never used again would fill the disk. So whoever saves a version removes the files of the function that
its index does not name, but for young ones: another process writes its index just before its file.

A cache that cannot be read or written, as on a full disk, costs only time: kernels are then compiled in each process.

The kernels of mgraph are decorated with the `njit` of this module. Other packages' functions stay as Numba has them.
"""

import contextlib
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from ... import limits

#: Seconds for which a file is left alone that the index does not name.
YOUNG = 600.0

#: Whether this process has been told that compiled code cannot be kept.
_told = False


class KernelFiles(IndexDataCacheFile):
    """The index of a function and the files of its compiled versions, each of a name of its own."""

    def _data_name(self, number: int) -> str:
        return f"{self._base()}.{uuid.uuid4().hex}.nbc"

    def _base(self) -> str:
        return str(self._index_name).removesuffix(".nbi")

    def save(self, key: Any, data: Any) -> None:
        """Keep a version, and remove the files that no index names any more."""
        super().save(key, data)
        # Named by this class or by Numba, or left by a process that ended while it wrote.
        own = re.compile(re.escape(self._base()) + r"\.(nbi|([0-9a-f]{32}|\d+)\.nbc)(\.tmp\.[0-9a-f]+)?")
        named = {*self._load_index().values(), self._index_name}
        now = time.time()
        with contextlib.suppress(OSError):  # a folder that cannot be listed
            for path in Path(self._cache_path).iterdir():
                if path.name not in named and own.fullmatch(path.name):
                    with contextlib.suppress(OSError):  # removed meanwhile
                        if now - path.stat().st_mtime > YOUNG:
                            path.unlink()


class KernelCache(FunctionCache):
    """Numba's cache of a function's compiled versions, in `KernelFiles`."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a version that is kept, None if there is none."""
        found = None
        with self._dispensable():
            found = super().load_overload(sig, target_context)
        if found is not None:
            limits.NUMBA_RAN.set()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a version that has just been compiled."""
        limits.NUMBA_RAN.set()
        with self._dispensable():
            super().save_overload(sig, data)

    @contextlib.contextmanager
    def _dispensable(self) -> Iterator[None]:
        """Go on after an error of the file system in the block; the first of a process is told as a warning."""
        global _told
        try:
            yield
        except OSError as error:
            if not _told:
                _told = True
                warnings.warn(
                    f"compiled kernels cannot be kept in {self.cache_path}: {error.strerror or error}; each process "
                    "compiles them again (NUMBA_CACHE_DIR names another folder)",
                    RuntimeWarning,
                    stacklevel=2,
                )


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return Numba's decorator of that name, with `KernelCache` where `cache` is true."""

    def compiled(function: Any) -> Any:
        kernel = numba.njit(**options)(function)
        if cache:
            kernel._cache = KernelCache(kernel.py_func)
        return kernel

    return compiled
