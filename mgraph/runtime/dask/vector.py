"""A vector that stays on the workers of a Dask cluster: only the requested parts are sent."""

import itertools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import device as devices
from ... import io
from ...arrays import Array, position
from ...dtypes import NO_PREDECESSOR
from ...errors import InputError
from ...paths import endless
from ...planning.cut import Ranges
from . import residents, tasks
from .group import Group


class DistributedVector:
    """A vector of which each worker of a group holds a part, such as the distances of a search.

    Results of calls on a `mgraph.DistributedGraph` have such vectors.

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
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
    ...     distances = mgraph.bfs(graph, 0).distances
    ...     print(distances, distances[5], distances[1:4])
    <DistributedVector of 6 int32 on 1 worker> 3 [1 2 1]
    """

    ndim = 1

    def __init__(self, group: Group, call: str, name: str, lengths: Sequence[int], dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.ranges = tuple(itertools.pairwise(itertools.accumulate(lengths, initial=0)))
        self.shape = (self.ranges[-1][1],)
        self._group, self._call, self._name = group, call, name
        #: Keeps the vector on the workers.
        self.owner: Any = None

    @property
    def size(self) -> int:
        """The number of elements.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
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
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
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
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     mgraph.bfs(graph, 0).distances.place[1]
        'distances'
        """
        return self._call, self._name

    def _lies_on(self, group: Group, ranges: Ranges) -> bool:
        """Return whether the vector lies on a group's workers in these ranges."""
        return self._group is group and self.ranges == ranges

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

    def __getitem__(self, key: Any) -> Any:
        """Return an element as a Python number, or a slice as a NumPy array."""
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
            raise IndexError(f"{key!r} is not an index of a DistributedVector: use integers and slices") from None
        return self._read(range(index, index + 1)).item()

    def to_numpy(self) -> np.ndarray:
        """Return the whole vector as one NumPy array in this process.

        Returns
        -------
        array of `dtype`, shape (size,)

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
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
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     int(distances.to_dask_array().sum().compute(scheduler=client))
        9
        """
        import dask.array as da

        group = self._group
        group.check()
        chunks = []
        for address, (first, last) in zip(group.addresses, self.ranges, strict=True):
            if last > first:
                given = group.session, self._call, self._name, slice(None)
                chunk = tasks.submit(group.client, address, residents.read, *given)
                chunks.append(da.from_delayed(chunk, (last - first,), self.dtype))
        return da.concatenate(chunks) if chunks else da.zeros(self.shape, self.dtype)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the vector to a ``.npy`` file.

        Parameters
        ----------
        path : path
            Ends with ``.npy``.
        overwrite : bool
            Whether to replace an existing file.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     with tempfile.TemporaryDirectory() as folder:
        ...         distances.save(f"{folder}/distances.npy")
        ...         np.load(f"{folder}/distances.npy").tolist()
        [0, 1, 2, 1, 2, 3]
        """
        io.save(path, self.to_numpy(), overwrite)

    def max(self) -> Any:
        """Return the greatest element.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.max()
        3
        """
        return max(self._reduced(_greatest)).item()

    def bincount(self) -> np.ndarray:
        """Return how often each value from 0 to the greatest occurs; negative elements are not counted.

        Returns
        -------
        array of int64, shape (greatest + 1,)

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     distances.bincount().tolist()
        [1, 2, 2, 1]
        """
        parts = self._reduced(_counts)
        counts = np.zeros(max(len(part) for part in parts), np.int64)
        for part in parts:
            counts[: len(part)] += part
        return counts

    def walked_back(self, vertex: int) -> list[int]:
        """Return the path to `vertex` if the elements are predecessors; each worker walks as far as it can.

        Raises
        ------
        RoundingError
            If the predecessors form a cycle.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(processes=False, dashboard_address=":0") as client:
        ...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
        ...     distances = mgraph.bfs(graph, 0, predecessors=True).distances
        ...     mgraph.bfs(graph, 0, predecessors=True).predecessors.walked_back(5)
        [0, 1, 2, 5]
        """
        path: list[int] = []
        while vertex != NO_PREDECESSOR:
            shard = next(i for i, (first, last) in enumerate(self.ranges) if first <= vertex < last)
            walked = self._one(shard, residents.walked, self.ranges[shard][0], vertex)
            path += walked[:-1]
            vertex = walked[-1]
            if len(path) > self.size:
                raise endless()
        return path[::-1]

    def _read(self, wanted: range) -> np.ndarray:
        """Return the elements at ascending indices."""
        tasked, group = {}, self._group
        group.ready()
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
        self._group.ready()
        own: list[tuple[Any, ...]] = [(function,)] * len(self.ranges)
        found = self._group.each(residents.reduced, own, self._call, self._name)
        return [part for part in found if part is not None]

    def _one(self, shard: int, function: Any, *arguments: Any) -> Any:
        """Return what a task on one worker returns."""
        self._group.ready()
        return self._group.one(shard, function, self._call, self._name, *arguments)[0]


def _greatest(part: Array) -> Any:
    return devices.to_host(part.max()) if len(part) else None


def _counts(part: Array) -> np.ndarray:
    xp = devices.of(part).xp
    return devices.to_host(xp.bincount(part[part >= 0]))
