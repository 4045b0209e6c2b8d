"""The folder of a call's checkpoints: its files, and their format.

A checkpoint is a manifest and the files that it names. A file has the elements of a part of a piece, row by row, in
little-endian order, and nothing else. The manifest is JSON:

- ``format``: the number of the format, 1.
- ``crc32``: the CRC-32 of all other fields, as JSON in one line with sorted keys.
- ``call``: what was asked, by the arguments that change the result, and how it is computed.
- ``input``: the fingerprint of the input.
- ``step``: the number of the next superstep.
- ``written``: the time, in UTC.
- ``files``: of each file its name, the name of the whole, its part (the first and the end of each dimension), the type
  of its elements, the CRC-32 of its bytes, and whether later checkpoints have the same elements in the same file.

Checkpoints are numbered from 1. The number is in the names of the manifest and of the files that were written for it,
which also have some digits that are different in each run: what an earlier run still writes damages no later one.

Invariants: a manifest is written when all its files are on disk, under another name, and renamed; so a checkpoint with
a manifest is complete. Nothing is pickled. What is read is checked before it is used: the names and types in the
manifest, and the length and the checksum of each file.
"""

import contextlib
import json
import logging
import math
import os
import re
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ... import device as devices
from ... import limits
from ...errors import CheckpointError, MgraphError, printable, shown
from ...io.files import is_url, system_of
from .pieces import Bits, Box, NumberRange, Piece, overlap, within

_log = logging.getLogger(__name__)

#: The number of the format.
FORMAT = 1

#: The name of the file with the command that writes the checkpoints.
COMMAND = "checkpoint-command.json"

#: The name of the file by which a call keeps others from the folder. It stays there, empty.
LOCK = "checkpoint.lock"

#: Files that are read at a time: several reach a higher rate than one, as each computes a checksum.
READERS = min(8, limits.cores())

#: The most bytes of a manifest.
LONGEST = 1 << 26

_NUMBER = r"(\d{12}|[1-9]\d{12,})"
_MANIFEST = re.compile(rf"checkpoint-{_NUMBER}\.json")
_FILE = re.compile(rf"{_NUMBER}-[0-9a-f]{{8}}-[a-z]+(-\d+)+\.bin")
#: The types of elements: NumPy would evaluate a part of other text.
_TYPE = re.compile(r"\|[iu]1|<([iu][248]|f[248])")
#: What a file is called while it is written: nobody can guess the digits, and lay something else in its place.
_BEGUN = re.compile(rf"\.({_MANIFEST.pattern}|{_FILE.pattern}|{re.escape(COMMAND)})\.[0-9a-f]{{8}}\.tmp")


@dataclass(frozen=True)
class Stored:
    """A file of a checkpoint.

    Attributes
    ----------
    file : str
        Its name.
    name : str
        The name of the whole.
    box : tuple of (int, int)
        The part of the whole.
    dtype : str
        The type of the elements, such as ``"<f4"``.
    checksum : int
        The CRC-32 of its bytes.
    final : bool
        Whether later checkpoints have the same elements, and name the same file.
    """

    file: str
    name: str
    box: Box
    dtype: str
    checksum: int
    final: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        return tuple(last - first for first, last in self.box)

    @property
    def nbytes(self) -> int:
        """The bytes of the part."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Manifest:
    """A checkpoint. The module describes the fields."""

    number: int
    call: Mapping[str, Any]
    input: int
    step: int
    written: str
    files: tuple[Stored, ...]


class Store:
    """A folder of checkpoints, local or at a URL that fsspec knows.

    Parameters
    ----------
    place : str
        The folder.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self._remote = is_url(place)

    def __repr__(self) -> str:
        return printable(self.place)

    def numbers(self) -> list[int]:
        """Return the numbers of the complete checkpoints, the last one first."""
        return sorted((int(found[1]) for found in map(_MANIFEST.fullmatch, self._names()) if found), reverse=True)

    def manifest(self, number: int) -> Manifest:
        """Return a checkpoint's manifest, or raise CheckpointError if it is damaged."""
        name = f"checkpoint-{number:012d}.json"
        raw = self._read(name, LONGEST)
        try:
            return _manifest(json.loads(raw), number)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"{self.place}: {name} is damaged: {error}") from error

    def complete(self, manifest: Manifest) -> None:
        """Write the manifest of a checkpoint, all files of which are there.

        Raises
        ------
        CheckpointError
            If it would be too long to be read again.
        """
        described = {
            "format": FORMAT,
            "call": dict(manifest.call),
            "input": manifest.input,
            "step": manifest.step,
            "written": manifest.written,
            "files": [
                {"file": s.file, "name": s.name, "part": s.box, "dtype": s.dtype, "crc32": s.checksum, "final": s.final}
                for s in manifest.files
            ],
        }
        sealed = json.dumps(described | {"crc32": _checksum(described)}).encode()
        if len(sealed) > LONGEST:
            raise CheckpointError(
                f"its manifest takes {len(sealed):,} bytes, and at most {LONGEST:,} can be read again"
            )
        self._settle()
        self._write(f"checkpoint-{manifest.number:012d}.json", [sealed])
        self._settle()  # before older checkpoints are removed

    def make(self) -> None:
        """Make the folder, for all that is written there. What is written later does not bring it back."""
        if self._remote:
            system, inner = system_of(self.place)
            system.makedirs(inner, exist_ok=True)
        else:
            Path(self.place).mkdir(parents=True, exist_ok=True)

    def missing(self, files: Iterable[Stored]) -> list[str]:
        """Return the names of those files that this process does not find."""
        listed = set(self._names())
        # A network's disk may list what was there some seconds ago.
        return [stored.file for stored in files if stored.file not in listed and not self._is_there(stored.file)]

    def _is_there(self, name: str) -> bool:
        if not self._remote:
            return os.path.exists(os.path.join(self.place, name))
        system, inner = system_of(self.place)
        return bool(system.exists(f"{inner}/{name}"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other calls from writing to the folder; the system ends the lock with the process. At a URL, do nothing.

        Raises
        ------
        CheckpointError
            If another call writes to it.
        """
        lock = None if self._remote else self._lock()
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)

    def _lock(self) -> int | None:
        """Return what keeps the folder locked; None where it cannot be, as it is not to be written to.

        Raises
        ------
        CheckpointError
            If another call has locked it, or if the file of the lock is none that can be opened.
        """
        try:
            import fcntl

            Path(self.place).mkdir(parents=True, exist_ok=True)
        except (ImportError, OSError):
            return None
        file, ways = Path(self.place, LOCK), os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            # A file that is open for writing: by NFS such a lock holds on all hosts, and that of a folder on one.
            lock = os.open(file, os.O_RDWR | os.O_CREAT | ways, 0o666)
        except OSError as error:
            if not os.path.lexists(file):
                return None
            try:
                lock = os.open(file, os.O_RDONLY | ways)  # another user's
            except OSError:
                raise CheckpointError(f"{file} cannot be locked: {error.strerror}: give another folder") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(lock)
            raise CheckpointError(f"another call writes checkpoints to {self.place}: give another folder") from error
        except OSError:  # a network's disk that knows no locks
            os.close(lock)
            return None
        return lock

    def write(self, number: int, run: str, piece: Piece, elements: Iterable[np.ndarray]) -> Stored:
        """Write the elements of a piece, part by part in their order, for a checkpoint of a run; return what to list.

        A part is used before the next one is asked for.
        """
        there = "-".join(map(str, piece.origin))
        file, dtype = f"{number:012d}-{run}-{piece.name}-{there}.bin", np.dtype(piece.array.dtype).newbyteorder("<")
        checksum = 0

        def content() -> Iterator[memoryview]:
            nonlocal checksum
            for part in elements:
                raw = np.ascontiguousarray(part, dtype).reshape(-1).view(np.uint8).data
                checksum = zlib.crc32(raw, checksum)
                yield raw

        self._write(file, content())
        return Stored(file, piece.name, piece.box, dtype.str, checksum, piece.final)

    def read(self, stored: Stored) -> np.ndarray:
        """Return the elements of a file, or raise CheckpointError if it is missing or damaged."""
        raw = self._read(stored.file, stored.nbytes)
        if len(raw) != stored.nbytes or zlib.crc32(raw) != stored.checksum:
            raise CheckpointError(
                f"{self.place}: {stored.file} is damaged: its length or its checksum is not as written"
            )
        return np.frombuffer(raw, stored.dtype).reshape(stored.shape)

    def write_command(self, command: Sequence[str]) -> None:
        """Write the words of the command that writes the checkpoints, and the folder in which it runs."""
        self.make()
        self._write(COMMAND, [json.dumps({"command": list(command), "folder": os.getcwd()}, indent=1).encode()])

    def command(self) -> tuple[list[str], str]:
        """Return the words of the command that has written the checkpoints, and the folder in which it ran.

        Raises
        ------
        CheckpointError
            If no command has written them, the file is damaged, or another user owns it.
        """
        if COMMAND not in self._names():
            again = "give the call itself again, with --resume"  # only the command line asks
            raise CheckpointError(f"no command has written checkpoints to {self.place}: {again}")
        raw = self._read(COMMAND, LONGEST, own=True)
        try:
            found = json.loads(raw)
            words, folder = found["command"], found["folder"]
            # No half of a character; the bytes of a name that is not UTF-8 are.
            json.dumps([words, folder], ensure_ascii=False).encode(errors="surrogateescape")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CheckpointError(f"{self.place}: {COMMAND} is damaged: {error}") from error
        whole = isinstance(words, list) and words and all(isinstance(each, str) for each in (*words, folder))
        if not whole or any("\0" in each for each in (*words, folder)):
            raise CheckpointError(f"{self.place}: {COMMAND} is damaged: it holds no command")
        return words, folder

    def besides(self, kept: Iterable[Manifest]) -> list[str]:
        """Return the names of all checkpoints and files but those that some manifests name."""
        kept = list(kept)
        wanted = {stored.file for manifest in kept for stored in manifest.files}
        wanted |= {f"checkpoint-{manifest.number:012d}.json" for manifest in kept}
        ours = (name for name in self._names() if _MANIFEST.fullmatch(name) or _FILE.fullmatch(name))
        return [name for name in ours if name not in wanted]

    def remove(self, names: Sequence[str]) -> None:
        """Remove checkpoints and files; several at a time, as the memory of large files takes its time to be freed."""
        failures: list[str] = []

        def removed(name: str) -> None:
            try:
                self._remove(name)
            except Exception as error:  # of any library by which fsspec knows URLs
                failures.append(f"{name} ({_why(error)})")

        with ThreadPoolExecutor(READERS, "mgraph-checkpoint") as threads:
            for pattern in (_MANIFEST, _FILE):  # no manifest is left without its files
                list(threads.map(removed, filter(pattern.fullmatch, names)))
        if failures:
            _log.warning("%s: %d old files could not be removed, such as %s", self.place, len(failures), failures[0])

    def tidy(self) -> None:
        """Remove the files that were being written when a worker or a client was killed."""
        for name in self._names():
            if _BEGUN.fullmatch(name):
                with contextlib.suppress(Exception):  # of a folder that can only be read
                    self._remove(name)

    def _names(self) -> list[str]:
        try:
            if not self._remote:
                return os.listdir(self.place)
            system, inner = system_of(self.place)
            system.invalidate_cache(inner)
            return [str(path).rpartition("/")[2] for path in system.ls(inner, detail=False)]
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise CheckpointError(f"{self.place} is a file: give a folder for checkpoints") from error
        except MgraphError:
            raise
        except Exception as error:  # of any library by which fsspec knows URLs
            raise CheckpointError(f"{self.place} cannot be listed: {_why(error)}") from error

    def _settle(self) -> None:
        """Wait until the names of the files are on disk, where it is local or its network says so."""
        if self._remote or os.name == "nt":
            return
        with contextlib.suppress(OSError):  # of a disk that has no such wait
            folder = os.open(self.place, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _write(self, name: str, content: Iterable[bytes | memoryview]) -> None:
        """Write a file, part by part; it appears whole."""
        if self._remote:
            system, inner = system_of(self.place)
            whole = bytearray()
            for part in content:  # not by join, which would ask for all parts first
                whole += part
            system.pipe_file(f"{inner}/{name}", bytes(whole))
            return
        folder = Path(self.place)
        path, beside = folder / name, folder / f".{name}.{secrets.token_hex(4)}.tmp"
        opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            with open(opened, "wb") as file:
                for part in content:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def _read(self, name: str, most: int, own: bool = False) -> bytes:
        """Return a file, or raise CheckpointError if it has more than so many bytes, before they take memory.

        With `own` it must be this user's, where the system says whose it is.
        """
        try:
            if not self._remote:
                opened = os.open(os.path.join(self.place, name), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
                try:
                    there = os.fstat(opened)
                    if not stat.S_ISREG(there.st_mode) or there.st_size > most:
                        self._refuse(name)
                    if own and there.st_uid != getattr(os, "geteuid", lambda: there.st_uid)():
                        raise CheckpointError(f"{self.place}: {name} is another user's: give its command yourself")
                    with open(opened, "rb", closefd=False) as file:
                        return file.read(there.st_size)
                finally:
                    os.close(opened)
            system, inner = system_of(self.place)
            path = f"{inner}/{name}"
            system.invalidate_cache(inner)
            return bytes(system.cat_file(path)) if system.size(path) <= most else self._refuse(name)
        except MgraphError:
            raise
        except FileNotFoundError as error:
            raise CheckpointError(f"{self.place}: {name} is missing; can this machine read the folder?") from error
        except Exception as error:  # of any library by which fsspec knows URLs
            raise CheckpointError(f"{self.place}: {name} cannot be read: {_why(error)}") from error

    def _refuse(self, name: str) -> NoReturn:
        raise CheckpointError(f"{self.place}: {name} is damaged: it is no file, or longer than it can be")

    def _remove(self, name: str) -> None:
        if self._remote:
            system, inner = system_of(self.place)
            system.rm_file(f"{inner}/{name}")
        else:
            Path(self.place, name).unlink(missing_ok=True)


class Saved:
    """A checkpoint to go on from.

    Parameters
    ----------
    store : Store
        The folder.
    manifest : Manifest
        The checkpoint.
    allowed : mapping
        The elements that each whole may have: see `Resumable.allowed`.
    """

    def __init__(self, store: Store, manifest: Manifest, allowed: Mapping[str, NumberRange | Bits]) -> None:
        self.store, self.manifest, self._allowed = store, manifest, allowed

    def fill(self, piece: Piece) -> None:
        """Write what the checkpoint has of a piece's part to its array, all of it, or raise CheckpointError."""
        missing, device = piece.array.size, devices.of(piece.array)
        needed = []
        for stored in self.manifest.files:
            alike = stored.name == piece.name and len(stored.box) == len(piece.box)
            shared = overlap(stored.box, piece.box) if alike else None
            if shared is None:
                continue
            if np.dtype(stored.dtype) != np.dtype(piece.array.dtype):
                raise CheckpointError(f"{self.store}: {stored.file} holds {stored.dtype}, not {piece.array.dtype}")
            needed.append((stored, shared))
        if _overlapping([shared for _, shared in needed]):
            raise CheckpointError(f"{self.store}: two files of the checkpoint hold the same elements of {piece.name}")
        with ThreadPoolExecutor(READERS, "mgraph-checkpoint") as readers:
            for start in range(0, len(needed), READERS):
                some = needed[start : start + READERS]
                reads = [readers.submit(self._read, stored) for stored, _ in some]
                for (stored, shared), read in zip(some, reads, strict=True):
                    elements = read.result()[within(shared, [first for first, _ in stored.box])]
                    piece.array[within(shared, piece.origin)] = device.asarray(np.ascontiguousarray(elements))
                    missing -= elements.size
        if missing:
            raise CheckpointError(f"{self.store}: the checkpoint lacks {missing:,} elements of {piece.name}")

    def values(self, name: str, shape: tuple[int, ...], dtype: Any) -> list[np.ndarray]:
        """Return what each shard has written of a whole, one file each, or raise CheckpointError if it is not so."""
        found = [stored for stored in self.manifest.files if stored.name == name]
        if not found:
            raise CheckpointError(f"{self.store}: the checkpoint lacks {name}")
        if any(stored.shape != shape or np.dtype(stored.dtype) != np.dtype(dtype) for stored in found):
            raise CheckpointError(f"{self.store}: of {name} the checkpoint has files of another shape or type")
        return [self._read(stored) for stored in found]

    def _read(self, stored: Stored) -> np.ndarray:
        """Return the elements of a file, or raise CheckpointError if its whole must not have some of them."""
        elements, allowed = self.store.read(stored), self._allowed.get(stored.name)
        wrong = elements[:0] if allowed is None else allowed.disallowed(elements, stored.box)
        if wrong.size:
            there = f"{self.store}: {stored.file} is damaged: it holds {shown(wrong.flat[0].item())}"
            raise CheckpointError(f"{there}, and the elements of {stored.name} are {allowed}")
        return elements

    def rows(self, name: str, n: int) -> list[tuple[int, int]]:
        """Return which rows of a matrix of `n` rows the files have, or raise CheckpointError if it is none."""
        boxes = [stored.box for stored in self.manifest.files if stored.name == name]
        if any(len(box) != 2 or box[0][1] > n for box in boxes):
            raise CheckpointError(f"{self.store}: of {name} the checkpoint has files that are no rows of {n:,}")
        return [box[0] for box in boxes]


def _overlapping(boxes: Iterable[Box]) -> bool:
    """Return whether two of some boxes share elements."""
    beside: list[Box] = []  # those that reach as far as the next one's first row
    for box in sorted(boxes):
        beside = [other for other in beside if other[0][1] > box[0][0]]
        if any(overlap(box, other) for other in beside):
            return True
        beside.append(box)
    return False


def _why(error: Exception) -> str:
    """Return in words why a file or a folder could not be read or written."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _checksum(fields: Mapping[str, Any]) -> int:
    """Return the checksum of a manifest's fields."""
    return zlib.crc32(json.dumps(fields, sort_keys=True).encode())


def _manifest(found: Any, number: int) -> Manifest:
    """Return a manifest from its JSON, or raise ValueError and the like where it is none."""
    if not isinstance(found, dict) or found.pop("crc32") != _checksum(found):
        raise ValueError("its checksum is not as written")
    if found["format"] != FORMAT:
        raise ValueError(f"its format is {shown(found['format'])}, and this version of mgraph reads {FORMAT}")
    if not isinstance(found["files"], list):
        raise ValueError("its files are no list")
    files = tuple(_stored(each) for each in found["files"])
    step, fingerprint, call = found["step"], found["input"], found["call"]
    if type(step) is not int or not 0 <= step < 1 << 31 or type(fingerprint) is not int or not isinstance(call, dict):
        raise ValueError("its superstep, fingerprint or call is none")
    return Manifest(number, call, fingerprint, step, str(found["written"]), files)


def _stored(found: Any) -> Stored:
    box = tuple((first, last) for first, last in found["part"])
    if not all(type(end) is int for ends in box for end in ends) or not all(0 <= a <= b < 1 << 48 for a, b in box):
        raise ValueError(f"a part of a whole cannot be {shown(found['part'])}")
    stored = Stored(found["file"], found["name"], box, found["dtype"], found["crc32"], found["final"] is True)
    if not isinstance(stored.name, str):
        raise ValueError(f"a whole cannot be called {shown(stored.name)}")
    if not (isinstance(stored.file, str) and _FILE.fullmatch(stored.file)):
        raise ValueError(f"a file cannot be called {shown(stored.file)}")
    known = isinstance(stored.dtype, str) and _TYPE.fullmatch(stored.dtype)
    if not known or type(stored.checksum) is not int:
        raise ValueError(f"{stored.file} cannot hold {shown(stored.dtype)}")
    return stored
