"""Arrays that a client and a worker of its host read from each other's memory, instead of by messages.

The client keeps a small buffer in shared memory for each worker, of some slots. One of the two asks for a part of an
array, threads of the other copy it into a free slot, and the first copies it out, or to its GPU, while other slots are
filled. If copying fails, the slot has the error, which is raised where the part was asked for. So large arrays need no
more memory than the buffer, and each byte is copied twice, at the speed of memory.

The buffer has no name: it is a `memfd` [1]_. A worker opens it, and the two pipes that carry requests and replies, by
the client's descriptors in ``/proc`` [2]_, for which the kernel asks that both processes are of one user. So nothing is
left when the client ends, however it ends, and its end closes the pipes, which ends the worker's wait. Whether a worker
can do all this is found out by asking: it says whether it reads a random `Token`. If it cannot, as on another
host, in another container, of another user, or on a system without `memfd`, arrays go by messages.

References
----------
.. [1] "memfd_create(2)", https://man7.org/linux/man-pages/man2/memfd_create.2.html.
.. [2] "proc_pid_fd(5)", https://man7.org/linux/man-pages/man5/proc_pid_fd.5.html.
"""

import contextlib
import io
import mmap
import os
import pickle
import secrets
import select
import struct
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from cloudpickle import CloudPickler

from ... import device as devices
from ... import limits
from ...arrays import Array
from ...graph import StoredMatrix
from .comm import Aborted

#: The slots of a buffer, the most and the least bytes of one, and how many of them what is lent fills: to allocate the
#: buffer takes time.
SLOTS, SLOT, LEAST_SLOT, FILLED = 8, 1 << 22, 1 << 16, 256

#: The part of the free memory that a client's buffers may take together.
MOST_OF_MEMORY = 1 / 8

#: The fewest bytes of arrays that are worth a buffer, and of an array that goes through it.
WORTH, LARGE = 1 << 22, 1 << 16

#: The most threads that copy into a worker's buffer, and out of it.
COPYING = 4

#: Seconds between two looks of a worker that waits at whether its session has ended.
LOOK = 1.0

#: Seconds without a request after which a worker serves a client no more, which may have been stopped.
PATIENCE = 10.0

#: A request: the number of an array, the first row and column and those after the last, and the slot to fill. A reply:
#: the slot that is full, or -1 less the slot that has an error.
_REQUEST, _REPLY = struct.Struct("=6q"), struct.Struct("=q")

#: The number of the array in a request that asks to stop.
_STOP = -1

_NAME = "mgraph"


class Opening(NamedTuple):
    """A file that another process of this host may open: a descriptor of a process, and the file's identity."""

    process: int
    descriptor: int
    device: int
    inode: int

    def opened(self, flags: int) -> int:
        """Return a descriptor of the file; raise OSError if it cannot be opened, or is not the same file any more."""
        # Without waiting, as the number might meanwhile be that of another process, or of another file.
        found = os.open(f"/proc/{self.process}/fd/{self.descriptor}", flags | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            there = os.fstat(found)
            if (there.st_dev, there.st_ino) != (self.device, self.inode):
                raise FileNotFoundError("the shared memory of the client is gone")
            os.set_blocking(found, True)
        except BaseException:
            os.close(found)
            raise
        return found


def opening(descriptor: int) -> Opening:
    """Return how another process opens a file of this one."""
    there = os.fstat(descriptor)
    return Opening(os.getpid(), descriptor, there.st_dev, there.st_ino)


#: How a client's token is opened, by the values of an `Opening`, and its random bytes.
Token = tuple[tuple[int, int, int, int], bytes]


def readable(token: Token) -> bool:
    """Return whether this process can read a token from the memory of another one."""
    place, content = Opening(*token[0]), token[1]
    if place.process == os.getpid():  # which has the client's arrays themselves
        return False
    with contextlib.suppress(OSError):
        file = place.opened(os.O_RDWR)
        try:
            return os.pread(file, len(content), 0) == content
        finally:
            os.close(file)
    return False


@contextlib.contextmanager
def offered() -> Iterator[Token | None]:
    """Yield a token that workers may try to read during the block; None on a system without such memory.

    It is of Python's own types, which a worker without mgraph can unpickle.
    """
    file = memory_file(0)
    if file is None:
        yield None
        return
    try:
        content = secrets.token_bytes(16)
        os.pwrite(file, content, 0)
        yield tuple(opening(file)), content  # type: ignore[misc]
    finally:
        os.close(file)


def memory_file(size: int) -> int | None:
    """Return a descriptor of shared memory of some bytes; None if there is none, or not so much."""
    if not hasattr(os, "memfd_create") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        file = os.memfd_create(_NAME, os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        os.fchmod(file, 0o600)
        if size:
            os.posix_fallocate(file, 0, size)  # else a write to it could end this process
    except OSError:
        os.close(file)
        return None
    return file


@dataclass(frozen=True)
class Buffer:
    """How a worker opens a client's buffer, and both ends of the pipes for requests and replies."""

    memory: Opening
    requests: tuple[Opening, Opening]
    replies: tuple[Opening, Opening]
    slot: int


def _slots(memory: int, size: int) -> np.ndarray:
    """Return the slots of a buffer as rows of bytes; the memory goes with the last array of it."""
    pages = mmap.mmap(memory, SLOTS * size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
    return np.frombuffer(pages, np.uint8).reshape(SLOTS, size)


def _no_slots() -> np.ndarray:
    return np.empty((0, 0), np.uint8)


def _part(slot: np.ndarray, dtype: np.dtype, rows: int, columns: int) -> np.ndarray:
    """Return the part of an array that a slot has."""
    return slot[: rows * columns * dtype.itemsize].view(dtype).reshape(rows, columns)


class Channel:
    """A buffer of this process, and its pipes, until `close`; another process may use them meanwhile.

    Parameters
    ----------
    size : int
        Bytes of a slot.

    Raises
    ------
    OSError
        If there is no shared memory left.
    """

    def __init__(self, size: int) -> None:
        memory = memory_file(SLOTS * size)
        if memory is None:
            raise OSError("there is no shared memory left")
        files = [memory]
        # As this object may be lost when a call is interrupted.
        self._closed = weakref.finalize(self, _close, files)
        self._closed.atexit = False
        self.slots = _slots(memory, size)
        # Both ends of each stay open, so that the other process finds them when it begins.
        self.requests = os.pipe()
        files += self.requests
        self.replies = os.pipe()
        files += self.replies
        requests, replies = ((opening(ends[0]), opening(ends[1])) for ends in (self.requests, self.replies))
        self.buffer = Buffer(opening(memory), requests, replies, size)

    def close(self) -> None:
        """Free the memory; what the other process still waits for has ended."""
        self._closed()
        self.slots = _no_slots()

    def stop(self) -> None:
        """Have the threads end that serve arrays by this channel."""
        _stop(self.requests[1])

    def read(self, target: np.ndarray, ended: Callable[[], bool]) -> bool:
        """Copy the array that another process serves, and return whether all of it has come.

        `ended` says whether nothing more will come. An error of the other process is raised.
        """
        with contextlib.closing(Reader(self.slots, self.requests[1], self.replies[0], ended)) as reader:
            try:
                reader.fill(target, 0)
            except Aborted:
                return False
            except Exception as error:
                raise error.with_traceback(None) from None  # whose frames refer to the memory
            finally:
                reader.stop()
        return True


def _stop(requests: int) -> None:
    """Have the threads end that serve arrays as a pipe requests them."""
    for _ in range(COPYING):
        os.write(requests, _REQUEST.pack(_STOP, 0, 0, 0, 0, 0))


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


@contextlib.contextmanager
def _attached(buffer: Buffer, device: devices.Device, reads: bool) -> Iterator[tuple[np.ndarray, int, int]]:
    """Yield the slots of another process's buffer, and the pipe's ends for requests and replies.

    `reads` says whether this process asks for arrays or serves them; `device` copies from slots that it knows.
    """
    with contextlib.ExitStack() as files:

        def opened(place: Opening, flags: int) -> int:
            file = place.opened(flags)
            files.callback(os.close, file)
            return file

        try:
            memory = opened(buffer.memory, os.O_RDWR)
            requests = opened(buffer.requests[reads], os.O_WRONLY if reads else os.O_RDONLY)
            replies = opened(buffer.replies[not reads], os.O_RDONLY if reads else os.O_WRONLY)
            if os.fstat(memory).st_size < SLOTS * buffer.slot:
                raise OSError("the buffer is too small")
            slots = _slots(memory, buffer.slot)
        except OSError as error:
            raise Aborted(f"the memory of the client cannot be read any more: {error}") from error
        with device.locked(slots):
            yield slots, requests, replies


class Server:
    """Threads that fill slots with parts of arrays as they are asked for.

    Parameters
    ----------
    arrays : sequence of array
        Arrays of one or two dimensions, of one device, which must not change meanwhile.
    slots : ndarray
        The slots.
    requests, replies : int
        The descriptors to read requests from, and to write replies to.
    patience : float, optional
        Seconds without a request after which they end.
    """

    def __init__(
        self,
        arrays: Sequence[Array],
        slots: np.ndarray,
        requests: int,
        replies: int,
        patience: float | None = None,
    ) -> None:
        self._arrays = [array.reshape(-1, 1) if array.ndim == 1 else array for array in arrays]
        self._device, self._slots, self._requests, self._replies = devices.of(arrays[0]), slots, requests, replies
        self._patience = None if patience is None else patience * 1e3
        os.set_blocking(requests, False)  # of several threads that are woken, one reads a request
        self._threads: list[threading.Thread] = []

    def start(self, count: int) -> None:
        """Start so many threads."""
        for _ in range(count):
            thread = threading.Thread(target=self._serve, name="mgraph-lend", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self) -> None:
        """Fill slots until there are no more requests."""
        device, waiting = self._device, select.poll()
        waiting.register(self._requests, select.POLLIN)
        with device.active():
            while waiting.poll(self._patience):
                try:
                    request = os.read(self._requests, _REQUEST.size)
                except BlockingIOError:
                    continue
                if len(request) < _REQUEST.size:  # the process that asks has ended
                    return
                number, top, left, bottom, right, slot = _REQUEST.unpack(request)
                if number == _STOP:
                    self._arrays = []  # which are freed before other workers have read theirs
                    return
                try:
                    part = self._arrays[number][top:bottom, left:right]
                    device.copy(_part(self._slots[slot], part.dtype, *part.shape), part)
                    device.synchronize()
                    reply = slot
                except Exception as error:
                    _write_error(self._slots[slot], error)
                    reply = -1 - slot
                part = None
                try:
                    os.write(self._replies, _REPLY.pack(reply))
                except BrokenPipeError:
                    return

    def join(self) -> None:
        """Wait for the threads to end."""
        for thread in self._threads:
            if thread.ident is not None:  # else its start was interrupted
                thread.join()
        self._slots = _no_slots()


def _write_error(slot: np.ndarray, error: Exception) -> None:
    """Write an error to a slot; one that cannot be pickled, or is too long, as a `RuntimeError` of its words."""
    error.__cause__ = error.__context__ = None  # some packages have these pickled
    error.with_traceback(None)
    content = b""
    with contextlib.suppress(Exception):
        pickled = pickle.dumps(error)
        pickle.loads(pickled)
        content = pickled
    if not 0 < len(content) <= len(slot):
        content = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"[: len(slot) // 8]))
    slot[: len(content)] = np.frombuffer(content, np.uint8)


class Lent:
    """Arrays of this process that a worker reads, until `close`.

    Parameters
    ----------
    arrays : sequence of ndarray
        Arrays of one or two dimensions, which must not change meanwhile.
    size : int
        Bytes of a slot.
    count : int
        Number of threads that copy.

    Raises
    ------
    OSError
        If there is no shared memory left.
    """

    def __init__(self, arrays: Sequence[np.ndarray], size: int, count: int) -> None:
        self.channel = channel = Channel(size)
        self.server = Server(arrays, channel.slots, channel.requests[0], channel.replies[1])
        #: Lends no more; a worker that still waits is woken, and finds that it was aborted.
        self.close = weakref.finalize(self, _end, channel, self.server)
        self.close.atexit = False
        self.server.start(count)


def _end(channel: Channel, server: Server) -> None:
    if channel.buffer.memory.process == os.getpid():  # a forked process has the pipes, but not the threads
        channel.stop()
        server.join()
    channel.close()


class Reader:
    """Reads arrays that another process serves.

    Parameters
    ----------
    slots : ndarray
        The slots.
    requests, replies : int
        The descriptors to write requests to, and to read replies from.
    ended : callable
        Returns whether nothing more will come.
    """

    def __init__(self, slots: np.ndarray, requests: int, replies: int, ended: Callable[[], bool]) -> None:
        self._slots, self._requests, self._replies, self._ended = slots, requests, replies, ended
        self._lock = threading.Lock()

    @property
    def slot(self) -> int:
        """Bytes of a slot."""
        return self._slots.shape[1]

    def stop(self) -> None:
        """Have the other process serve no more."""
        with contextlib.suppress(OSError):  # it has ended
            _stop(self._requests)

    def close(self) -> None:
        """Forget the slots."""
        self._slots = _no_slots()

    def parts(
        self, number: int, dtype: np.dtype, rows: range, columns: range
    ) -> Iterator[tuple[slice, slice, np.ndarray, Callable[[], None]]]:
        """Yield the parts of a rectangle of an array as they come, in any order.

        Yields
        ------
        tuple
            The rows and the columns of the rectangle that the part has, its elements, and a function to call once they
            have been copied: the slot is then filled again.
        """
        wide = max(1, min(len(columns), self.slot // dtype.itemsize))
        high = max(1, self.slot // (wide * dtype.itemsize))
        cuts = [
            (slice(top, min(top + high, len(rows))), slice(left, min(left + wide, len(columns))))
            for top in range(0, len(rows), high)
            for left in range(0, len(columns), wide)
        ]
        left_over, asked = iter(cuts), {}

        def ask(slot: int) -> None:
            with self._lock:
                cut = next(left_over, None)
                if cut is not None:
                    asked[slot] = cut
            if cut is not None:
                down, across = rows[cut[0]], columns[cut[1]]
                self._ask(number, down.start, across.start, down.stop, across.stop, slot)

        for slot in range(SLOTS):
            ask(slot)
        for _ in cuts:
            slot = self.filled_slot()
            down, across = asked[slot]
            elements = _part(self._slots[slot], dtype, down.stop - down.start, across.stop - across.start)
            yield down, across, elements, lambda slot=slot: ask(slot)  # type: ignore[misc]
            del elements  # to which an error's frames would refer

    def _ask(self, *request: int) -> None:
        try:
            os.write(self._requests, _REQUEST.pack(*request))
        except OSError as error:
            raise _gone() from error

    def filled_slot(self) -> int:
        """Wait for a slot to be filled, and return its number; raise the error that it has instead."""
        waiting = select.poll()
        waiting.register(self._replies, select.POLLIN)
        while not waiting.poll(LOOK * 1e3):
            if self._ended():
                raise _gone()
        reply = os.read(self._replies, _REPLY.size)
        if len(reply) < _REPLY.size:
            raise _gone()
        [slot] = _REPLY.unpack(reply)
        if slot < 0:
            raise pickle.loads(self._slots[-1 - slot])
        return int(slot)

    def fill(self, target: np.ndarray, number: int) -> None:
        """Copy a whole array to another, by several threads: most of the time goes to a new array's pages."""
        matrix = target.reshape(-1, 1) if target.ndim == 1 else target

        def take(place: tuple[slice, slice], elements: np.ndarray, taken: Callable[[], None]) -> None:
            try:
                np.copyto(matrix[place], elements)
            finally:
                taken()

        with ThreadPoolExecutor(threads(), "mgraph-borrow") as pool:
            every = range(matrix.shape[0]), range(matrix.shape[1])
            copies = [pool.submit(take, part[:2], *part[2:]) for part in self.parts(number, target.dtype, *every)]
        for copy in wait(copies).done:
            copy.result()


def _gone() -> Aborted:
    return Aborted("the client has stopped lending its arrays")


def threads(among: int = 1) -> int:
    """Return how many threads copy for each of some workers."""
    return max(1, min(COPYING, limits.cores() // among))


class LentArray(NamedTuple):
    """What is known of a lent array: its shape, its type, the order of its elements, and whether rows come as needed.

    The number of the array is its place in the parcel.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    order: str
    stored: bool


class Parcel(NamedTuple):
    """A shard's piece as a worker is told of it: pickled without its large arrays, and where these come from."""

    content: bytes
    arrays: tuple[LentArray, ...]
    buffer: Buffer


class _Packer(CloudPickler):
    """Pickles an object without its large arrays, which it lists."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.arrays: list[np.ndarray] = []

    def persistent_id(self, found: Any) -> int | None:
        """Return the number of a large array, in place of which it is pickled; None of anything else."""
        if not isinstance(found, np.ndarray) or not _is_large(found):
            return None
        number = next((i for i, array in enumerate(self.arrays) if array is found), len(self.arrays))
        self.arrays[number:] = self.arrays[number:] or [found]
        return number


def _is_large(array: np.ndarray) -> bool:
    plain = type(array) in (np.ndarray, np.memmap) and not array.dtype.hasobject
    return plain and array.ndim in (1, 2) and array.nbytes >= LARGE


class _Unpacker(pickle.Unpickler):
    """Returns what a `_Packer` has pickled, with the arrays that a client lends."""

    def __init__(self, parcel: Parcel, lender: Reader) -> None:
        super().__init__(io.BytesIO(parcel.content))
        self._arrays, self._lender = parcel.arrays, lender
        self._loaded: dict[int, Any] = {}

    def persistent_load(self, number: int) -> Any:
        """Return an array by its number."""
        if number not in self._loaded:
            self._loaded[number] = self._load(number)
        return self._loaded[number]

    def _load(self, number: int) -> Any:
        shape, dtype, order, stored = self._arrays[number]
        if stored:
            rows, columns = shape
            matrix = BorrowedMatrix(self._lender, number, (rows, columns), dtype)
            return StoredMatrix(matrix, slice(rows), slice(columns))
        found = np.empty(shape, dtype, order)  # type: ignore[call-overload]
        self._lender.fill(found, number)
        return found


def lent(piece: Any, among: int) -> tuple[Parcel, Lent] | None:
    """Lend a shard's piece to a worker, one of some; None if it has too few large arrays, or memory is short.

    Matrices among the fields of the piece itself are stored ones for the worker: it copies their rows when it needs
    them. It must do so before `Lent.close`.
    """
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(piece)
    size = _slot(sum(array.nbytes for array in packer.arrays), among)
    if not size:
        return None
    own = {id(part) for part in piece if getattr(part, "ndim", 0) == 2} if isinstance(piece, tuple) else set()
    arrays = tuple(
        LentArray(array.shape, array.dtype, "F" if array.flags.fnc else "C", id(array) in own)
        for array in packer.arrays
    )
    try:
        lending = Lent(packer.arrays, size, threads(among))
    except OSError:
        return None
    return Parcel(file.getvalue(), arrays, lending.channel.buffer), lending


def _slot(total: int, among: int) -> int:
    """Return the bytes of a slot for arrays of so many, of one of some buffers; 0 if no buffer is worth while."""
    if total < WORTH:
        return 0
    most = int(limits.available_memory() * MOST_OF_MEMORY) // (SLOTS * among)
    return min(max(LEAST_SLOT, total // FILLED), SLOT, most) // LEAST_SLOT * LEAST_SLOT


def channel(total: int, among: int) -> Channel | None:
    """Return a channel by which a worker, one of some, serves so many bytes; None if there is none worth while."""
    size = _slot(total, among)
    with contextlib.suppress(OSError):
        return Channel(size) if size else None
    return None


def serve(array: Array, buffer: Buffer) -> None:
    """Fill the slots of a client's channel with parts of an array, until the client stops it or is silent for long."""
    with _attached(buffer, devices.of(array), reads=False) as (slots, requests, replies):
        server = Server([array], slots, requests, replies, PATIENCE)
        del slots
        server.start(threads())
        server.join()


@contextlib.contextmanager
def unpacked(piece: Any, device: devices.Device, ended: Callable[[], bool]) -> Iterator[Any]:
    """Yield a piece of which this worker may have been sent a parcel; its matrices can be read during the block."""
    if not isinstance(piece, Parcel):
        yield piece
        return
    with _attached(piece.buffer, device, reads=True) as (slots, requests, replies):
        reader = Reader(slots, requests, replies, ended)
        del slots  # with the last reference to it, its memory is freed
        with contextlib.closing(reader):
            yield _Unpacker(piece, reader).load()
            reader.stop()


class BorrowedMatrix:
    """A matrix of the client, of which rows come when they are needed: the source of a `StoredMatrix`."""

    def __init__(self, lender: Reader, number: int, shape: tuple[int, int], dtype: np.dtype) -> None:
        self._lender, self._number = lender, number
        # Of a rectangle, as if it were the first rows and columns of a whole matrix.
        self.shape, self.dtype = (max(shape), max(shape)), dtype

    def __getitem__(self, key: tuple[slice, slice]) -> np.ndarray:
        rows, columns = (range(part.start, part.stop) for part in key)
        found = np.empty((len(rows), len(columns)), self.dtype)
        for down, across, elements, taken in self._lender.parts(self._number, self.dtype, rows, columns):
            np.copyto(found[down, across], elements)
            taken()
        return found

    def in_turn(self, rows: range, columns: range) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield rows in memory, some at a time and in any order; they are overwritten when the next are taken."""
        if len(columns) * self.dtype.itemsize > self._lender.slot:
            for i, row in enumerate(rows):
                yield slice(i, i + 1), self[slice(row, row + 1), slice(columns.start, columns.stop)]
            return
        for down, _, elements, taken in self._lender.parts(self._number, self.dtype, rows, columns):
            yield down, elements
            taken()
