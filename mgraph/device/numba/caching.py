"""Numba's compiled code on disk, for kernels that several processes may compile at once.

Numba numbers the files of a function's compiled versions by the index that it has just read. Two processes that compile
the function for different types at the same time both take the next number. The index of one may then name the file of
the other: later calls run code for other types, and end in wrong results or a segmentation fault. The same happens to a
process that reads the index of a changed source while the old file is still there. Here every file has a unique name.
The worst that can happen is that the index loses a version, which is then compiled again.

Files with unique names are never overwritten and would fill the disk. So a process that saves a version removes the
function's files that the index does not name. It keeps recent ones, as another process writes its index just before its
file.

Kernels lie in mgraph's cache folder, by module and by the content of its source: another installation of the same
sources finds them. NUMBA_CACHE_DIR names another folder.

Numba compiles a function again when its file has changed. Kernels contain what they call of this package, of each
other and of `mgraph.dtypes`, so a change of any of these files counts, too.

A file appears whole or not at all, as it is written under another name first. A disk may lose a part of it
nevertheless, as at a power cut. So a file begins with a hash of its content. What does not fit its hash, or cannot be
read, is compiled again and replaced.

If nothing can be written, as on a full disk or without a folder that can be written to, each process compiles its
kernels again.

The kernels of mgraph use the `njit` of this module. Functions of other packages keep Numba's own cache.
"""

import contextlib
import functools
import hashlib
import pickle
import re
import shutil
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

from ... import limits
from ...cache_folder import cache_folder
from ...errors import printable
from .nesting import Kernel

#: Age in seconds from which a file is removed if the index does not name it.
YOUNG = 600.0

#: How many other versions of a module's sources keep their kernels.
FORMER = 2

#: Bytes of the hash that a file begins with.
HASH = 32

#: What this process has warned of.
warned: set[str] = set()

_LIBRARY = Path(__file__).parents[2]

#: The files whose contents become part of kernels, and a hash of these.
_PARTS = *Path(__file__).parent.glob("*.py"), *(_LIBRARY / "kernels").rglob("*.py"), _LIBRARY / "dtypes.py"
_SHARED = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_PARTS))).hexdigest()

_PACKAGE = __name__.partition(".")[0]

#: Every kernel that `njit` has decorated in this process.
KERNELS: list[Any] = []


class KernelFiles(IndexDataCacheFile):
    """The index of a function and the files of its compiled versions, each with a unique name."""

    def _load_index(self) -> dict[Any, str]:
        version, pickled = self._load_data(self._index_name) or (None, b"")
        if version != self._version:  # whose keys may not be read
            return {}
        stamp, names = pickle.loads(pickled)
        return names if stamp == self._source_stamp else {}

    def _save_index(self, names: dict[Any, str]) -> None:
        self._save_data(self._index_name, (self._version, self._dump((self._source_stamp, names))))

    def _load_data(self, name: str) -> Any:
        """Return what a file holds; None if it is not there, or is damaged."""
        path = self._data_path(name)
        try:
            content = memoryview(Path(path).read_bytes())
            if _hash(content[HASH:]) != content[:HASH]:
                raise ValueError("it is incomplete or has changed")
            return pickle.loads(content[HASH:])
        except FileNotFoundError:  # another process may have removed it
            return None
        except MemoryError:
            raise
        except Exception as error:  # pickles raise errors of many types
            _warn("damage", f"a compiled kernel cannot be read from {path}, and is compiled again: {error}")
            return None

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_hash(content))
            file.write(content)

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


class SourcesLocator(UserWideCacheLocator):
    """Places the kernels of a module of this package in the user's cache folder, by the content of the sources.

    So they are found again by other environments and after another installation.
    """

    def __init__(self, function: Any, path: str) -> None:
        self._py_file, self._lineno = path, function.__code__.co_firstlineno
        self.module = function.__module__
        self._cache_path = str(kernels_folder() / f"{self.module}-{_hash_of(path)}")

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the locator of a function; None for those of other packages, and without a folder to write to."""
        if kernels_folder() is None or not py_func.__module__.startswith(f"{_PACKAGE}."):
            return None
        located = super().from_function(py_func, py_file)
        if located is not None:
            _remove_former(Path(located.get_cache_path()), located.module)
        return located


def kernels_folder() -> Any:
    """Return the folder of compiled kernels in the user's cache folder; None if there is none."""
    folder = cache_folder()
    return folder and folder / "kernels"


@functools.cache
def _hash_of(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes() + _SHARED.encode()).hexdigest()[:16]


@functools.cache
def _remove_former(folder: Path, module: str) -> None:
    """Remove the kernels of other sources of a module, but those of the few versions that were used last."""
    with contextlib.suppress(OSError):
        folder.touch()  # used now
        named = re.compile(re.escape(module) + "-[0-9a-f]{16}")
        others = [path for path in folder.parent.iterdir() if named.fullmatch(path.name) and path != folder]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[FORMER:]:
            shutil.rmtree(path, ignore_errors=True)


class _Implementation(CompileResultCacheImpl):
    """Numba's way to keep compiled functions, in the first of these folders that can be written to."""

    _locator_classes = [UserProvidedCacheLocator, SourcesLocator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Numba's cache of a function's compiled versions, in `KernelFiles`."""

    _impl_class = _Implementation

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), _SHARED
        # Numba's own files have no hash, so these have other names.
        self._cache_file = KernelFiles(self._cache_path, f"{self._impl.filename_base}.hashed", stamp)

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
            _warn_not_kept(f" in {self.cache_path}: {error.strerror or error}")


def _hash(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=HASH).digest()


def _warn_not_kept(why: str) -> None:
    text = f"compiled kernels cannot be kept{why}; each process compiles them again"
    _warn("not kept", f"{text} (NUMBA_CACHE_DIR names another folder)")


def _warn(what: str, message: str) -> None:
    """Give a warning, once in a process."""
    if what not in warned:
        warned.add(what)
        warnings.warn(printable(message), RuntimeWarning, stacklevel=3)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return Numba's decorator of that name, which also enters the kernel in `KERNELS`.

    With `cache`, compiled versions are kept on disk by `KernelCache`.

    A kernel with a parallel loop must not unpack a tuple of arrays, as in ``a, b = pair``. Numba does not see then that
    `a` is an argument's array: it removes a loop that only writes to `a` as dead code. It does see ``a = pair[0]``.
    """

    def compiled(function: Any) -> Any:
        kernel: Any = Kernel(function, targetoptions={"nopython": True, "boundscheck": None} | options)
        if cache:
            try:
                kernel._cache = KernelCache(kernel.py_func)
            except RuntimeError:  # of Numba, which has looked for a folder
                _warn_not_kept(": no folder can be written to")
        KERNELS.append(kernel)
        return kernel

    return compiled
