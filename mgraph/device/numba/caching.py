"""Numba's compiled code on disk, for kernels that several processes may compile at once.

Numba numbers the files of a function's compiled versions by the index that it has just read. Two processes that compile
the function for different types at the same time both take the next number. The index of one may then name the file of
the other: later calls run code for other types, and end in wrong results or a segmentation fault. The same happens to a
process that reads the index of a changed source while the old file is still there. Here every file has a unique name.
The worst that can happen is that the index loses a version, which is then compiled again.

Files with unique names are never overwritten and would fill the disk. So a process that saves a version removes the
function's files that the index does not name. It keeps recent ones, as another process writes its index just before its
file.

Numba compiles a function again when its file has changed. Kernels contain what they call of this package, so a change
of any of its files counts, too.

If the cache cannot be read or written, as on a full disk or without a folder that can be written to, each process
compiles its kernels again.

The kernels of mgraph use the `njit` of this module. Functions of other packages keep Numba's own cache.
"""

import contextlib
import hashlib
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

#: Age in seconds from which a file is removed if the index does not name it.
YOUNG = 600.0

#: Whether this process has warned that compiled code cannot be cached.
_warned = False

#: The contents of this package, which become part of kernels.
_SHARED = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()

#: Every kernel that `njit` has decorated in this process.
KERNELS: list[Any] = []


class KernelFiles(IndexDataCacheFile):
    """The index of a function and the files of its compiled versions, each with a unique name."""

    def _data_name(self, number: int) -> str:
        return f"{self._base()}.{uuid.uuid4().hex}.nbc"

    def _base(self) -> str:
        return str(self._index_name).removesuffix(".nbi")

    def save(self, key: Any, data: Any) -> None:
        """Save a version, and remove the files that no index names any more."""
        super().save(key, data)
        # Files that this class or Numba names, and those that a process left when it ended while writing.
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
        stamp = self._impl.locator.get_source_stamp(), _SHARED
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached version for a signature, or None."""
        found = None
        with self._dispensable():
            found = super().load_overload(sig, target_context)
        if found is not None:
            limits.NUMBA_RAN.set()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a version that has just been compiled."""
        limits.NUMBA_RAN.set()
        with self._dispensable():
            super().save_overload(sig, data)

    @contextlib.contextmanager
    def _dispensable(self) -> Iterator[None]:
        """Suppress errors of the file system in the block; warn of the first one in a process."""
        try:
            yield
        except OSError as error:
            _warn(f" in {self.cache_path}: {error.strerror or error}")


def _warn(why: str) -> None:
    """Warn that compiled kernels cannot be kept, once in a process."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels cannot be kept{why}; each process compiles them again (NUMBA_CACHE_DIR names another "
            "folder)",
            RuntimeWarning,
            stacklevel=3,
        )


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return Numba's decorator of that name, which also enters the kernel in `KERNELS`.

    With `cache`, compiled versions are kept on disk by `KernelCache`.

    A kernel with a parallel loop must not unpack a tuple of arrays, as in ``a, b = pair``. Numba does not see then that
    `a` is an argument's array: it removes a loop that only writes to `a` as dead code. It does see ``a = pair[0]``.
    """

    def compiled(function: Any) -> Any:
        kernel = numba.njit(**options)(function)
        if cache:
            try:
                kernel._cache = KernelCache(kernel.py_func)
            except RuntimeError:  # of Numba, which has looked for a folder
                _warn(": no folder can be written to")
        KERNELS.append(kernel)
        return kernel

    return compiled
