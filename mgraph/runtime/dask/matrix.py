"""A matrix that stays on the workers of a Dask cluster: only the requested parts are sent.

Each worker holds at most one block of a grid, as a Dask future pinned to it. A part is converted to NumPy before it
leaves a worker: Dask never moves an array of a GPU.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from distributed import Client, Future

from ... import device as devices
from ... import io
from ...arrays import position
from ...docstrings import with_common_parts
from ...errors import InputError, SchedulerError, WorkerLostError, shown
from . import shared, tasks
from .blocks import Held, array_of, tiles_of, without
from .watch import Watch, connection
from .zarr import save_zarr

#: The most bytes that are sent to the client at a time.
CHUNK = 1 << 26


def _part(block: Any, rows: slice, columns: slice) -> np.ndarray:
    """Task: return a copy of a part of a block."""
    array = array_of(block)
    device = devices.of(array)
    with device.active():
        part = array[rows, columns]
        # On a worker in this process, the result would be a view of the block.
        return np.array(part) if device.kind == "cpu" else devices.to_host(part)


@tasks.reported
def _served(block: Any, buffer: shared.Buffer) -> None:
    """Task: serve a block to a client of this host."""
    shared.serve(array_of(block), buffer)


async def _all(futures: "Sequence[concurrent.futures.Future[bool]]") -> list[bool]:
    """Wait for what threads do, and return it."""
    return await asyncio.gather(*map(asyncio.wrap_future, futures))


@with_common_parts
class DistributedMatrix:
    """A matrix in a grid of blocks on Dask workers, such as the distances of `mgraph.apsp` with a client.

    Parameters
    ----------
    client : Client
        The client whose workers hold the blocks.
    blocks : sequence of (str, Future or None)
        For each block, row by row of the grid, its worker and its future; None if the block is empty.
    ranges : sequence of (int, int)
        The rows of each row of blocks: consecutive, from 0 to the number of rows.
    columns : sequence of (int, int)
        The columns of each column of blocks, likewise.
    dtype : dtype
        The type of the elements.
    timeout : float, optional
        Seconds that a worker may be silent while a part is read; by default that of the configuration.
    readers : collection of str, optional
        The addresses of the workers that share memory with this process.

    Attributes
    ----------
    shape : tuple of (int, int)
        Numbers of rows and columns.
    dtype : dtype
        The type of the elements.
    ranges, columns : tuple of (int, int)
        The rows of each row of blocks, and the columns of each column of blocks.
    blocks : tuple of (str, Future or None)
        Each block's worker and future, row by row of the grid; None if the block is empty.

    Examples
    --------
    {distances on workers}
    ...     print(distances.shape, distances.ranges, distances[0, 2], distances[1:, 0])
    (3, 3) ((0, 3),) 8 [2 1]
    """

    ndim = 2
    __hash__ = None  # type: ignore[assignment]  # as of an array, which compares element by element

    def __init__(
        self,
        client: Client,
        blocks: Sequence[tuple[str, Future | None]],
        ranges: Sequence[tuple[int, int]],
        columns: Sequence[tuple[int, int]],
        dtype: Any,
        timeout: float | None = None,
        readers: Collection[str] = (),
    ) -> None:
        self.shape = (ranges[-1][1], columns[-1][1])
        self.dtype = np.dtype(dtype)
        self.ranges = tuple(ranges)
        self.columns = tuple(columns)
        self._client = client
        self.blocks = tuple(blocks)
        self._timeout = timeout
        self._readers = frozenset(readers)

    @property
    def client(self) -> Client:
        """The client whose workers hold the blocks.

        Examples
        --------
        {a client}
        ...     mgraph.apsp([[0, 3], [2, 0]], client=client, device="cpu").distances.client is client
        True
        """
        return self._client

    @property
    def nbytes(self) -> int:
        """The bytes of all blocks.

        Examples
        --------
        {distances on workers}
        ...     print(distances.nbytes)
        36
        """
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        workers = sum(block is not None for _, block in self.blocks)
        return f"<DistributedMatrix of shape {self.shape}, {self.dtype}, on {workers} workers>"

    def __reduce__(self) -> Any:
        raise InputError(f"{self!r} stays there and cannot be pickled: take its .to_numpy(), or .save() it to a file")

    def __eq__(self, other: object) -> Any:
        raise TypeError(f"{self!r} is not compared where it lies: use its .to_dask_array() or .to_numpy()")

    __ne__ = __eq__

    def __getitem__(self, key: Any) -> Any:
        """Return an element as a Python number, a row or a rectangle as a NumPy array."""
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        down, across = _indices(rows, self.shape[0], 0), _indices(columns, self.shape[1], 1)
        found = self._asked(*(wanted if wanted.step > 0 else wanted[::-1] for wanted in (down, across)))()
        found = found[:: 1 if down.step > 0 else -1, :: 1 if across.step > 0 else -1]
        if not isinstance(columns, slice):
            found = found[:, 0]
        if not isinstance(rows, slice):
            found = found[0]
        return found if isinstance(rows, slice) or isinstance(columns, slice) else found.item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the matrix is distributed: converting it to a NumPy array needs a copy")
        return self.to_numpy().astype(self.dtype if dtype is None else dtype, copy=False)

    def row(self, i: int) -> np.ndarray:
        """Return row `i`, of shape (columns,).

        Parameters
        ----------
        i : int
            The row's number.

        Returns
        -------
        ndarray of dtype `dtype`, shape (columns,)

        Examples
        --------
        {distances on workers}
        ...     print(distances.row(1))
        [2 0 5]
        """
        return self[i, :]

    def to_numpy(self) -> np.ndarray:
        """Return the whole matrix as one NumPy array in this process.

        Returns
        -------
        ndarray of dtype `dtype`, shape `shape`

        Examples
        --------
        {distances on workers}
        ...     print(distances.to_numpy().tolist())
        [[0, 3, 8], [2, 0, 5], [1, 4, 0]]
        """
        whole = np.empty(self.shape, self.dtype)
        if not self._read(whole):
            first = 0
            for chunk in self.chunks():
                whole[first : first + len(chunk)] = chunk
                first += len(chunk)
        return whole

    def to_dask_array(self) -> Any:
        """Return the matrix as a ``dask.array`` of NumPy arrays, a chunk for each worker that has rows.

        The blocks of CPU workers become its chunks as they are; those of GPUs are copied to the memory of
        their workers' hosts.

        Computing with it needs the matrix's client. Either it is Dask's current client, as those of
        ``mgraph.cluster.connect`` and ``local_client`` are until they are closed or a later client is created; or pass
        it: ``array.sum().compute(scheduler=client)``.

        Returns
        -------
        dask.array.Array of dtype `dtype`, shape `shape`

        Examples
        --------
        {distances on workers}
        ...     print(distances.to_dask_array().sum().compute())
        23
        """
        import dask.array as da

        rows, blocks = [], self._found()
        for row, (top, bottom) in enumerate(self.ranges):
            parts = []
            for column, (left, right) in enumerate(self.columns):
                address, block = blocks[row * len(self.columns) + column]
                if block is not None:
                    chunk = tasks.submit(self._client, address, _host_block, block)
                    parts.append(da.from_delayed(chunk, (bottom - top, right - left), self.dtype))
            if parts:
                rows.append(da.concatenate(parts, axis=1))
        return da.concatenate(rows) if rows else da.zeros(self.shape, self.dtype)

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield consecutive blocks of rows, each of at most 64 MiB unless one row is larger.

        Yields
        ------
        ndarray of dtype `dtype`, shape (rows, columns)
            The next rows.

        Examples
        --------
        {distances on workers}
        ...     print([chunk.shape for chunk in distances.chunks()])
        [(3, 3)]
        """
        step = max(1, CHUNK // max(1, self.shape[1] * self.dtype.itemsize))
        # The next chunk is fetched while the caller uses this one.
        ahead: list[Callable[[], np.ndarray]] = []
        for first, last in self.ranges:
            for top in range(first, last, step):
                ahead.append(self._asked(range(top, min(top + step, last)), range(self.shape[1])))
                if len(ahead) == 2:
                    yield ahead.pop(0)()
        for receive in ahead:
            yield receive()

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the matrix to a ``.npy`` file, or to a Zarr array.

        The file is written from here, chunk by chunk: it need not fit into this machine's memory. The Zarr array is
        written by the workers, each its block, and needs zarr there. Its path must be on storage that all of them
        share.

        Parameters
        ----------
        path : path or str
            Ends with ``.npy`` or ``.zarr``; or a URL that fsspec knows, such as ``"s3://bucket/distances.zarr"``.
        overwrite : bool
            Whether to replace what is there.

        Raises
        ------
        OutputExistsError
            If something is there, and not `overwrite`.
        InputError
            For another suffix, and if what is there is not a file or a Zarr array.
        OSError
            If it cannot be written; nothing is left of it then.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> with Client(processes=False, dashboard_address=":0") as client, tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "distances.npy")
        ...     mgraph.apsp([[0, 3], [2, 0]], client=client, device="cpu").distances.save(path)
        ...     print(np.load(path).tolist())
        [[0, 3], [2, 0]]
        """
        if not os.fspath(path).endswith(".zarr"):
            io.save(path, self, overwrite)
            return
        save_zarr(self._held(), self.shape, self.ranges, self.columns, self.dtype, path, overwrite)

    def _read(self, whole: np.ndarray) -> bool:
        """Fill an array with the blocks if they are in the memory of this host; return whether they were read."""
        if not self._readers:
            return False
        held = self._held()
        holders = held.holders()
        if not self._readers.issuperset(holders):
            return False
        given_up = threading.Event()

        def ended(task: Future) -> bool:
            return given_up.is_set() or task.done()

        with contextlib.ExitStack() as reading:
            reads: list[tuple[np.ndarray, shared.Channel, Future]] = []
            for tile, address in zip(held.tiles, holders, strict=True):
                block = whole[slice(*tile.rows), slice(*tile.columns)]
                channel = shared.channel(block.nbytes, len(holders))
                if channel is None:
                    return False
                reading.callback(channel.close)
                reads.append(
                    (block, channel, tasks.submit(self._client, address, _served, tile.future, channel.buffer))
                )
            pool = reading.enter_context(ThreadPoolExecutor(max(1, len(reads)), "mgraph-read"))
            reading.callback(given_up.set)
            begun = [pool.submit(channel.read, block, partial(ended, task)) for block, channel, task in reads]
            return all(Watch(self._client, holders, self._timeout).wait(_all, begun))

    def _asked(self, rows: range, columns: range) -> Callable[[], np.ndarray]:
        """Request a rectangle, one piece from each block; return a function that waits for it.

        Rows and columns ascend.
        """
        bands, blocks = [], self._found()
        for row, own in enumerate(self.ranges):
            down = _local(rows, own)
            if down is not None:
                pieces = ((column, _local(columns, other)) for column, other in enumerate(self.columns))
                first = row * len(self.columns)
                bands.append(
                    [self._ask(*blocks[first + c], down, across) for c, across in pieces if across is not None]
                )

        def receive() -> np.ndarray:
            if not len(rows) or not len(columns):
                return np.empty((len(rows), len(columns)), self.dtype)
            return np.concatenate([np.concatenate([wait() for wait in band], axis=1) for band in bands])

        return receive

    def _found(self) -> list[tuple[str, Future | None]]:
        """Return the blocks, each with a worker that has it."""
        holders = iter(self._held().holders())
        return [(address if block is None else next(holders), block) for address, block in self.blocks]

    def _held(self) -> Held:
        """Return the blocks that are not empty."""
        if self._client.status != "running":
            raise SchedulerError(f"{connection(self._client)}: the blocks of {self!r} are gone")
        return Held(self._client, self._timeout, tiles_of(self.blocks, self.ranges, self.columns))

    def _ask(self, address: str, block: Future | None, rows: slice, columns: slice) -> Callable[[], np.ndarray]:
        """Request a part of a block from a worker; return a function that waits for it."""
        task = tasks.submit(self._client, address, _part, block, rows, columns)

        def wait() -> np.ndarray:
            try:
                return tasks.results(Watch(self._client, [address], self._timeout), {address: task})[0]
            except WorkerLostError as error:
                raise without(error.workers, str(error)) from error

        return wait


def _host_block(block: Any) -> np.ndarray:
    """Task: return a block as a NumPy array."""
    return devices.to_host(array_of(block))


def _indices(key: Any, length: int, axis: int) -> range:
    """Return the indices that a subscript means, or raise IndexError as NumPy does."""
    if isinstance(key, slice):
        return range(*key.indices(length))
    with contextlib.suppress(TypeError, ValueError):
        if isinstance(key, bool):
            raise TypeError  # for Python they are 0 and 1, for NumPy a mask
        index = range(length)[key] if -length <= key < length else None
        if index is None:
            raise IndexError(f"index {key} is out of bounds for axis {axis} with size {length}")
        return range(index, index + 1)
    raise IndexError(f"{shown(key)} is not an index of a DistributedMatrix: use integers and slices, or to_numpy()")


def _local(wanted: range, own: tuple[int, int]) -> slice | None:
    """Return the part of a block's rows (or columns) that is among the ascending `wanted`; None if empty."""
    first, last = own
    part = wanted[position(wanted, first) : position(wanted, last)]
    return slice(part[0] - first, part[-1] - first + 1, part.step) if len(part) else None
