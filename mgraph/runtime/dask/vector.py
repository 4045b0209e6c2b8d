"""A vector that stays on the workers of a Dask cluster: only the requested parts are sent."""

import itertools
import operator
import os
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ... import io
from ...arguments import as_array
from ...arrays import Array, position
from ...docstrings import with_common_parts
from ...errors import InputError, shown
from ...planning.cut import Ranges
from . import residents, tasks
from .group import Group, RemotePin, lying
from .remade import Handle, Origin
from .saving import save_parts

#: The most bytes that are sent to the client at a time, and those of the elements that a loop goes through.
CHUNK = 1 << 26
LOOPED = 1 << 20


@with_common_parts
class DistributedVector(Handle):
    """A vector of which each worker of a group holds a part, such as the distances of a search.

    Results of calls on a `mgraph.DistributedGraph` have such vectors. Comparisons with a number, an array (or a list,
    or a column of a dataframe) or another vector are made where the parts lie, and give a vector of truth values:
    ``labels == 3``. Those combine by ``&``, ``|``, ``^`` and ``~``, and select elements: ``distances[labels == 3]``.
    Where a NumPy array is expected, a vector is converted to one.

    Attributes
    ----------
    shape : tuple of int
        The number of elements.
    dtype : dtype
        The type of the elements.
    ranges : tuple of (int, int)
        The elements of each worker.

    Examples
    --------
    {a graph on workers}
    ...     distances = mgraph.bfs(graph, 0).distances
    ...     print(distances, distances[5], distances[1:4])
    ...     near = distances <= 1
    ...     print(near, near.sum(), distances[~near])
    <DistributedVector of 6 int32 on 1 worker> 3 [1 2 1]
    <DistributedVector of 6 bool on 1 worker> 3 [2 2 3]
    """

    ndim = 1
    __hash__ = None  # type: ignore[assignment]  # as of an array, which compares element by element

    def __init__(self, group: Group, call: str, name: str, lengths: Sequence[int], dtype: Any) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)
        self.ranges = tuple(itertools.pairwise(itertools.accumulate(lengths, initial=0)))
        self.shape = (self.ranges[-1][1],)
        self._group, self._call, self._name = group, call, name
        #: The element that stands for none, such as a distance of no path; a table lacks it if it is an integer.
        self.missing: Any = None
        #: Keeps the vector on the workers.
        self.owner: Any = None
        #: How it was made, if it can be made again.
        self.origin: Origin[Any] | None = None

    @property
    def size(self) -> int:
        """The number of elements.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.size
        6
        """
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """The bytes of all parts.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.nbytes
        24
        """
        return self.size * self.dtype.itemsize

    @property
    def place(self) -> tuple[str, str]:
        """The call that computed the vector, and its name among the call's results, as the workers know them.

        Examples
        --------
        {a graph on workers}
        ...     mgraph.bfs(graph, 0).distances.place[1]
        'distances'
        """
        return self._call, self._name

    @property
    def _lies(self) -> tuple[Group, Origin[Any] | None]:
        return self._group, self.origin

    def _take(self, made: "DistributedVector") -> None:
        self.ranges, self.owner, self.origin = made.ranges, made.owner, made.origin
        self._group, self._call, self._name = made._group, made._call, made._name

    def _lies_on(self, group: Group, ranges: Ranges) -> bool:
        """Return whether the vector lies on a group's workers in these ranges."""
        return self._group is group and self.ranges == ranges

    def _loss(self, workers: Collection[str]) -> str:
        """Return in words what of the vector was lost with some workers."""
        own = zip(self._group.addresses, self.ranges, strict=True)
        return f"{lying('the elements', workers, own)} of {self!r} were lost"

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        count = len(self.ranges)
        return f"<DistributedVector of {self.size:,} {self.dtype} on {count} worker{'s' * (count > 1)}>"

    def __reduce__(self) -> Any:
        raise InputError(f"{self!r} stays there and cannot be pickled: take its .to_numpy(), or .save() it to a file")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the vector is distributed: converting it to a NumPy array needs a copy")
        return self.to_numpy().astype(self.dtype if dtype is None else dtype, copy=False)

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self[0])
        raise ValueError(f"the truth value of {self!r} is ambiguous: use .any() or .all()")

    def __eq__(self, other: object) -> Any:
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._with(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._with(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(operator.ge, other)

    def __and__(self, other: Any) -> Any:
        return self._with(operator.and_, other, of_truth=True)

    def __or__(self, other: Any) -> Any:
        return self._with(operator.or_, other, of_truth=True)

    def __xor__(self, other: Any) -> Any:
        return self._with(operator.xor, other, of_truth=True)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> "DistributedVector":
        if self.dtype != bool:
            raise TypeError(f"~ is for truth values, and {self!r} has none")
        return self._made(operator.invert, [])

    def __iter__(self) -> Iterator[Any]:
        """Yield the elements as Python numbers; a part of them is here at a time."""
        for part in self._parts(LOOPED):
            yield from part.tolist()

    def __getitem__(self, key: Any) -> Any:
        """Return an element as a Python number, or as a NumPy array a slice, or the elements where a mask is true."""
        if isinstance(key, DistributedVector | np.ndarray) and key.ndim == 1 and key.dtype == bool:
            mask = self._operand("the mask", key)
            if self.nbytes > CHUNK:
                _check_room("the elements", 2 * self.dtype.itemsize * int(key.sum()))
            parts = self._applied(None, _selected, [mask], self.dtype.itemsize)
            return np.concatenate([np.empty(0, self.dtype), *parts])
        if isinstance(key, bool | np.bool_):
            raise IndexError(f"{shown(key)} is not an index of a DistributedVector: use integers, slices and masks")
        if isinstance(key, slice):
            wanted = range(self.size)[key]
            ascending = wanted if wanted.step > 0 else wanted[::-1]
            found = self._read(ascending)
            return found if wanted.step > 0 else found[::-1]
        try:
            index = range(self.size)[key]
        except IndexError:
            raise IndexError(f"index {key} is out of bounds for a vector of {self.size} elements") from None
        except TypeError:
            raise IndexError(
                f"{shown(key)} is not an index of a DistributedVector: use integers, slices and masks"
            ) from None
        return self._read(range(index, index + 1)).item()

    def to_numpy(self) -> np.ndarray:
        """Return the whole vector as one NumPy array in this process.

        Returns
        -------
        array of `dtype`, shape (size,)

        Raises
        ------
        MemoryLimitError
            If they do not fit the memory of this process, or of a worker.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.to_numpy().tolist()
        [0, 1, 2, 1, 2, 3]
        """
        return self._read(range(self.size))

    def to_dask_array(self) -> Any:
        """Return the vector as a ``dask.array`` of NumPy arrays, a chunk for each worker that has elements.

        Computing with it needs the vector's client: ``array.sum().compute(scheduler=client)``.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     int(distances.to_dask_array().sum().compute(scheduler=client))
        9
        """
        import dask.array as da

        group = self._group
        group.check(self._loss)
        chunks = []
        for address, (first, last) in zip(group.addresses, self.ranges, strict=True):
            if last > first:
                given = group.session, self._call, self._name
                chunk = tasks.submit(group.client, address, residents.whole, *given)
                # Until it has been read the vector stays, even if nothing else refers to it.
                chunk.add_done_callback(lambda _, owner=self.owner: owner)
                chunks.append(da.from_delayed(chunk, (last - first,), self.dtype))
        return da.concatenate(chunks) if chunks else da.zeros(self.shape, self.dtype)

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield consecutive parts of the vector, each of at most 64 MiB.

        Yields
        ------
        array of `dtype`
            The next elements.

        Examples
        --------
        {a graph on workers}
        ...     [chunk.tolist() for chunk in mgraph.bfs(graph, 0).distances.chunks()]
        [[0, 1, 2, 1, 2, 3]]
        """
        yield from self._parts(CHUNK)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the vector to a ``.npy`` file, or to a folder to which each worker writes its part.

        Parameters
        ----------
        path : path or str
            With the suffix ``.npy``, one file, written from here a part at a time. With ``.parquet``, a folder of
            Parquet files with the columns ``vertex`` and the vector's name, such as ``distances``, in which integers
            that stand for no path or no vertex are null; it needs pyarrow on the workers. Without a suffix, a folder of
            ``.npy`` files that ``dask.array.from_npy_stack`` reads. Or a URL of one of these that fsspec knows. A
            folder must be on storage that all workers share.
        overwrite : bool
            Whether to replace an existing file, or the parts in an existing folder.

        Raises
        ------
        OutputExistsError
            If something is there, and not `overwrite`.
        InputError
            For another suffix, and if what is there is not a file, or a folder of parts.
        OSError
            If it cannot be written; nothing is left of it then.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     with tempfile.TemporaryDirectory() as folder:
        ...         distances.save(f"{folder}/distances.npy")
        ...         np.load(f"{folder}/distances.npy").tolist()
        [0, 1, 2, 1, 2, 3]
        """
        if io.parts.form_of(path) == "one file":
            io.save(path, self, overwrite)
        else:
            save_parts(self._group, self.place, self.ranges, self.dtype, path, overwrite, self.missing)

    def max(self, axis: None = None, out: None = None) -> Any:
        """Return the greatest element.

        Parameters
        ----------
        axis, out : None
            As NumPy's functions pass them: ``numpy.max(vector)``.

        Raises
        ------
        ValueError
            If there are no elements, as of an array.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     distances.max()
        3
        """
        _check_whole(axis, out)
        return np.max(self._reduced(_greatest)).item()

    def min(self, axis: None = None, out: None = None) -> Any:
        """Return the least element.

        Parameters
        ----------
        axis, out : None
            As NumPy's functions pass them: ``numpy.min(vector)``.

        Raises
        ------
        ValueError
            If there are no elements, as of an array.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     distances.min()
        0
        """
        _check_whole(axis, out)
        return np.min(self._reduced(_least)).item()

    def sum(self, axis: None = None, out: None = None) -> Any:
        """Return the sum of the elements; of truth values, how many are true.

        Parameters
        ----------
        axis, out : None
            As NumPy's functions pass them: ``numpy.sum(vector)``.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     distances.sum(), (distances == 2).sum()
        (9, 2)
        """
        _check_whole(axis, out)
        return sum(part.item() for part in self._reduced(_sum))

    def any(self, axis: None = None, out: None = None) -> bool:
        """Return whether any element is true, or is not zero.

        Parameters
        ----------
        axis, out : None
            As NumPy's functions pass them: ``numpy.any(vector)``.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     (distances == 3).any()
        True
        """
        _check_whole(axis, out)
        return any(self._reduced(_any))

    def all(self, axis: None = None, out: None = None) -> bool:
        """Return whether all elements are true, or not zero.

        Parameters
        ----------
        axis, out : None
            As NumPy's functions pass them: ``numpy.all(vector)``.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     (distances >= 1).all()
        False
        """
        _check_whole(axis, out)
        return all(self._reduced(_all))

    def nonzero(self) -> tuple[np.ndarray]:
        """Return the indices of the elements that are true, or not zero, in this process's memory.

        Returns
        -------
        tuple of one array of int64
            As of ``numpy.nonzero``.

        Raises
        ------
        MemoryLimitError
            If they do not fit the memory of this process, or of a worker.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0).distances
        ...     (distances == 2).nonzero()
        (array([2, 4]),)
        """
        if 8 * self.size > CHUNK:
            _check_room("the indices", 2 * 8 * sum(self._reduced(_how_many)))
        firsts = [first for first, _ in self.ranges]
        return (np.concatenate(self._applied(None, _places, [firsts], 2 * 8)),)

    def bincount(self) -> np.ndarray:
        """Return how often each value from 0 to the greatest occurs; negative elements are not counted.

        Returns
        -------
        array of int64, shape (greatest + 1,)

        Raises
        ------
        MemoryLimitError
            If they do not fit the memory of this process, or of a worker.

        Examples
        --------
        {a graph on workers}
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.bincount().tolist()
        [1, 2, 2, 1]
        """
        if self.dtype.kind == "f":
            raise TypeError(f"bincount() is for integers, and {self!r} has none")
        greatest = max((part.item() for part in self._reduced(_greatest)), default=-1)
        _check_room("the counts", (len(self.ranges) + 1) * 8 * (greatest + 1))
        parts = self._reduced(_counts)
        counts = np.zeros(max(len(part) for part in parts), np.int64)
        for part in parts:
            counts[: len(part)] += part
        return counts

    def _parts(self, most: int) -> Iterator[np.ndarray]:
        """Yield consecutive elements, at most so many bytes at a time."""
        step = max(1, most // self.dtype.itemsize)
        for first in range(0, self.size, step):
            yield self._read(range(first, min(first + step, self.size)))

    def _read(self, wanted: range) -> np.ndarray:
        """Return the elements at ascending indices."""
        _check_room("the elements", 2 * self.dtype.itemsize * len(wanted))
        tasked, group = {}, self._group
        group.ready(self._loss)
        for address, (first, last) in zip(group.addresses, self.ranges, strict=True):
            own = [position(wanted, first), position(wanted, last)]
            there = wanted[own[0] : own[1]]
            if len(there):
                local = slice(there[0] - first, there[-1] - first + 1, wanted.step)
                given = group.session, self._call, self._name, local
                tasked[address] = tasks.submit(group.client, address, residents.read, *given)
        parts: list[np.ndarray] = group.wait_for(lambda watch: tasks.results(watch, tasked)) if tasked else []
        return np.concatenate([np.empty(0, self.dtype), *parts])

    def _reduced(self, function: Any) -> list[Any]:
        self._group.ready(self._loss)
        own: list[tuple[Any, ...]] = [(function,)] * len(self.ranges)
        found = self._group.each(residents.reduced, own, self._call, self._name)
        return [part for part in found if part is not None]

    def _compared(self, function: Callable[..., Any], other: Any) -> Any:
        """Return which elements are equal, or unequal; never whether the objects are the same, as Python would."""
        found = self._with(function, other)
        if found is NotImplemented and not hasattr(other, "__dask_graph__"):
            kind = type(other).__name__
            raise TypeError(f"{self!r} is compared with numbers, arrays and lists of numbers, and vectors, not {kind}")
        return found

    def _with(self, function: Callable[..., Any], other: Any, of_truth: bool = False) -> Any:
        """Return what an operator makes of each element and the other's, or NotImplemented if that is no operand."""
        if hasattr(other, "__dask_graph__"):
            return NotImplemented  # Dask's operators compare lazily
        shape = getattr(other, "shape", ())
        if shape and shape != self.shape:
            raise InputError(argument="the other operand", value=shape, expected=f"of shape {self.shape}, as {self!r}")
        converted = hasattr(other, "__array__") and not isinstance(other, DistributedVector)
        if converted or isinstance(other, list | tuple):
            other = devices.to_host(as_array(other, "the other operand", devices.of(other).xp))
        array = isinstance(other, DistributedVector | np.ndarray)
        if not array and not isinstance(other, int | float):
            return NotImplemented
        if array and other.dtype.kind not in "biuf":
            return NotImplemented
        true_or_false = other.dtype == bool if array else isinstance(other, bool)
        if of_truth and not (self.dtype == bool and true_or_false):
            return NotImplemented
        return self._made(function, [self._operand("the other operand", other)])

    def _operand(self, name: str, other: Any) -> list[Any]:
        """Return for each worker its part of another vector or of an array, or a number."""
        if isinstance(other, np.ndarray) and not other.ndim:
            other = other[()]  # CuPy takes NumPy's scalars, but not its arrays
        if not isinstance(other, DistributedVector | np.ndarray):
            if isinstance(other, int) and not isinstance(other, bool) and -(2**63) <= other < 2**63:
                other = np.int64(other)  # CuPy refuses Python integers beyond the vector's type
            return [other] * len(self.ranges)
        if other.shape != self.shape:
            raise InputError(argument=name, value=other.shape, expected=f"of shape {self.shape}, as {self!r}")
        if isinstance(other, DistributedVector) and other._lies_on(self._group, self.ranges):
            other._group.check()
            return [residents.RemoteVector(*other.place)] * len(self.ranges)
        group = self._group
        group.ready(self._loss)
        return [group.sent(rank, other[first:last]) for rank, (first, last) in enumerate(self.ranges)]

    def _made(self, function: Callable[..., Any], operands: Sequence[Sequence[Any]]) -> "DistributedVector":
        """Return the vector that a function makes of the parts and of some operands, where they lie."""
        call = uuid.uuid4().hex
        owner = RemotePin(self._group, call)
        try:
            made = self._applied(call, function, operands)
        except BaseException:
            owner.close()
            raise
        vector = DistributedVector(self._group, call, residents.VALUES, [length for length, _ in made], made[0][1])
        vector.owner = owner
        return vector

    def _applied(
        self, call: str | None, function: Callable[..., Any], operands: Sequence[Sequence[Any]], size: int = 1
    ) -> list[Any]:
        """Return what a function makes of each part and the worker's operands; with `call` it is kept there.

        The function takes at most `size` bytes an element.
        """
        self._group.ready(self._loss)
        own = [tuple(each[rank] for each in operands) for rank in range(len(self.ranges))]
        return self._group.each(residents.applied, own, call, function, size, residents.RemoteVector(*self.place))


def _check_room(what: str, needed: int) -> None:
    """Raise MemoryLimitError if what comes to this process does not fit its memory; a chunk always may."""
    if needed > 2 * CHUNK:
        devices.check_free_memory(f"{what} of a vector on workers", needed, devices.find("cpu"))


def _check_whole(axis: Any, out: Any) -> None:
    """Raise InputError for what NumPy's functions pass if only a part is to be reduced, or an array to be filled."""
    if axis is not None:
        raise InputError(argument="axis", value=axis, expected="None: a vector is reduced as a whole")
    if out is not None:
        raise InputError(argument="out", value=type(out).__name__, expected="None")


def _greatest(part: Array) -> Any:
    return devices.to_host(part.max()) if len(part) else None


def _least(part: Array) -> Any:
    return devices.to_host(part.min()) if len(part) else None


def _sum(part: Array) -> Any:
    return devices.to_host(part.sum())


def _any(part: Array) -> bool:
    return bool(part.any())


def _all(part: Array) -> bool:
    return bool(part.all())


def _how_many(part: Array) -> int:
    return int(devices.of(part).xp.count_nonzero(part))


def _places(part: Array, first: int) -> Array:
    places = part.nonzero()[0]
    places += first
    return places


def _selected(part: Array, mask: Array) -> Array:
    return part[mask]


def _counts(part: Array) -> np.ndarray:
    device = devices.of(part)
    counts = 8 * (int(part.max()) + 1) if len(part) else 0
    # A mask, the elements that it leaves, these as int64, and the counts.
    with devices.allocating("counting elements", (1 + part.dtype.itemsize + 8) * len(part) + counts, device):
        return devices.to_host(device.xp.bincount(part[part >= 0]))
