"""The base of all results: arrays by name, the plan that ran, and the seconds of its parts.

The result of each algorithm derives from `Result`, or from `MatrixResult` if its arrays have a row per source. It names
its arrays, the main one first; conversions and representations here use these names.
"""

import html
import os
import reprlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import device as devices
from . import lazy, plotting
from .arguments import checked_choice, checked_flag, size_in_words
from .arrays import Array
from .docstrings import with_common_parts
from .dtypes import NO_PREDECESSOR, infinity
from .errors import ArgumentValue, InputError, VerificationError, shown
from .graph import Graph, PlacedGraph, as_any_graph
from .graph.ids import written
from .graph.question import Question, ids_of
from .graph.views import Views
from .io import RESULT_FORMATS, TABLES, check_output, path_of, save, save_group, save_networkx, save_table, suffix_of
from .paths import needed_for_paths
from .planning.plan import Plan, duration_in_words
from .runtime.walking import walked_back

#: The most bytes that are fetched from workers, or put into a DataFrame, by an implicit conversion.
MOST_BYTES = 1 << 30

#: The parts of a call in the order in which `timings` are shown.
PARTS = ("load", "compile", "solve", "collect")

#: The most distances that a representation looks through, to say how many are of no path: milliseconds of work.
MOST_COUNTED = 1 << 22

#: Pairs of a matrix that are converted to rows of a DataFrame at a time.
PAIRS_AT_A_TIME = 1 << 22

#: Why results that have no value for each vertex are not written as graphs.
OF_PAIRS, OF_ELEMENTS, OF_BINS = (
    dict.fromkeys((".graphml", ".graphml.gz", ".gexf", ".gexf.gz"), f"it has no value for each vertex, but {what}")
    for what in (
        "one for each pair; write a table",
        "one for each element of a list; write a table",
        "one for each bin; write a table",
    )
)

#: The types of vertices that `verify` reads.
INTEGERS = ("int32", "int8", "int16", "int64", "uint8", "uint16", "uint32")

#: Names of rules for each array and fact of a result.
Proofs = Mapping[str, tuple[str, ...]]


class CallInput:
    """What a call was asked: the graph, not kept alive, what bounded a search, and the form of the question.

    Parameters
    ----------
    graph : Graph or PlacedGraph, optional
        The graph.
    limit : float
        The greatest distance.
    target : int
        The vertex at which the search ended, or -1.
    by_ids : bool or None
        Whether integers of the call were ids, so that they are ids in methods of the result, too; None if the call did
        not say.
    ids : array, DistributedVector or None
        The id of each vertex. By default those of the graph.
    """

    def __init__(
        self,
        graph: Any = None,
        limit: float = float("inf"),
        target: int = -1,
        by_ids: bool | None = None,
        ids: Any = None,
    ) -> None:
        self._graph = None if graph is None else weakref.ref(graph)
        self.limit, self.target, self.by_ids = limit, target, by_ids
        #: The graph's ids, which are kept alive; None if it has none.
        self.ids: Any = getattr(graph, "ids", None) if ids is None else ids

    #: What is kept once the graph has gone.
    _kept: Views | None = None

    #: The workers whose loss made the call be made again, one text for each time.
    lost: tuple[str, ...] = ()

    def graph(self) -> Any:
        """Return the graph, or None if it has gone."""
        return None if self._graph is None else self._graph()

    def kept(self, name: str, device: devices.Device, make: Callable[[], Any]) -> Any:
        """Return what `make` makes of the ids: kept with the graph, or here if that has gone."""
        graph = self.graph()
        if graph is not None:
            return graph.kept(name, device, make)
        if self._kept is None:
            self._kept = Views()
        return self._kept.kept(name, device, make)

    def __reduce__(self) -> Any:
        return type(self), (None, self.limit, self.target, self.by_ids, self.ids), {"lost": self.lost}


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result:
    """The base of all results.

    ``numpy.asarray(result)`` returns the main array, the first of `arrays`, in this process's memory.

    Attributes
    ----------
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> import numpy as np
    >>> result = mgraph.bfs(mgraph.Graph.from_edges([0, 1], [1, 2]), 0, predecessors=True, device="cpu")
    >>> result
    <BfsResult: sources (0,), distances int32 (3,), predecessors int32 (3,), method 'hybrid' on cpu>
    >>> list(result.arrays)
    ['distances', 'predecessors']
    >>> np.asarray(result)
    array([0, 1, 2], dtype=int32)
    """

    #: The names of all possible arrays, the main one first.
    ARRAYS: ClassVar[tuple[str, ...]]

    #: The names of other attributes to show in representations.
    FACTS: ClassVar[tuple[str, ...]] = ()

    #: The name of a vector's index.
    INDEX: ClassVar[str] = "vertex"

    #: The names of the arrays whose values are vertices; a negative one is none.
    VERTICES: ClassVar[tuple[str, ...]] = ("predecessors",)

    #: The distance of no path; by default the infinity of its type.
    UNREACHED: ClassVar[int | None] = None

    #: The names of arrays that a call may return or not, as its plan does not say.
    OPTIONAL: ClassVar[tuple[str, ...]] = ()

    #: The kinds of pictures that `plot` draws, the default one first.
    PICTURES: ClassVar[tuple[str, ...]] = ("distribution",)

    #: Why a format cannot hold the result, by its suffix.
    NOT_IN: ClassVar[Mapping[str, str]] = {}

    #: Whether the values of the main array are names, not quantities.
    KINDS: ClassVar[bool] = False

    #: The rules by which `verify` proves each array and fact; of what is not proved, none.
    PROOFS: ClassVar[Proofs]

    plan: Plan
    timings: dict[str, float]
    _solved: CallInput = field(default_factory=CallInput)

    def __post_init__(self) -> None:
        """Refuse arrays of vertices of another shape or type, as kernels take vertices from them."""
        main, first = "", np.empty(0)
        for name in self.ARRAYS:
            array = getattr(self, name)
            if array is None:
                continue
            main, first = (main, first) if main else (name, array)
            if hasattr(array, "missing"):  # a vector on workers
                unreached = infinity(array.dtype) if self.UNREACHED is None else self.UNREACHED
                array.missing = NO_PREDECESSOR if name in self.VERTICES else unreached
            if name not in self.VERTICES:
                continue
            if array.shape != first.shape or array.dtype.kind not in "iu":
                found = f"{array.dtype} of shape {tuple(array.shape)}"
                raise InputError(argument=name, value=found, expected=f"integers of the shape of {main}, {first.shape}")

    @property
    def solved(self) -> CallInput:
        """The graph, to which the result refers weakly, and what bounded the call; for `verify`.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.generate.grid(2, 3)
        >>> result = mgraph.bfs(graph, 0, limit=2, device="cpu")
        >>> result.solved.graph() is graph, result.solved.limit
        (True, 2)
        """
        return self._solved

    def _shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape that an array has after the call."""
        return (self.plan.n,)

    def _types_of(self, name: str) -> tuple[str, ...]:
        """Return the names of the types that an array may have: the call's, and of vertices other integers."""
        return INTEGERS if name in self.VERTICES else (np.dtype(self.plan.dtype).name,)

    def _names_of_call(self) -> set[str]:
        """Return the names of the arrays that the call returned, but for those that are optional."""
        return {self.ARRAYS[0]} | ({"predecessors"} if self.plan.predecessors else set())

    @property
    def arrays(self) -> dict[str, Array]:
        """The computed arrays by name, the main one first.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.bfs(mgraph.generate.grid(2, 3), 0, predecessors=True, device="cpu")
        >>> {name: array.shape for name, array in result.arrays.items()}
        {'distances': (6,), 'predecessors': (6,)}
        """
        return {name: array for name in self.ARRAYS if (array := getattr(self, name)) is not None}

    def explain(self, verbose: bool = False) -> str:
        """Return the plan in words, and the seconds that the parts of the call took, that of compiling apart.

        Of a call that was made again after it had lost a worker, these are of the last time, and the lost workers are
        named.

        Parameters
        ----------
        verbose : bool
            Whether to return all that the plan says, as of `mgraph.Plan.explain`.

        Returns
        -------
        str

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.bfs(mgraph.generate.grid(2, 3), 0, device="cpu")
        >>> print(result.explain())  # doctest: +ELLIPSIS
        bfs, method 'hybrid': 6 vertices, 14 directed edges
        ...
        took: load ..., compile ..., solve ..., collect ...
        """
        parts = (f"{part} {duration_in_words(self.timings[part])}" for part in PARTS if part in self.timings)
        lost, times = self.solved.lost, len(self.solved.lost)
        again = f"\nmade again {'once' if times == 1 else f'{times} times'}: lost {'; '.join(lost)}" if lost else ""
        return f"{self.plan.explain(verbose)}\ntook: {', '.join(parts)}{again}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        name, array = self._main()
        if isinstance(array, np.ndarray):
            return np.array(array, dtype, copy=copy)
        if on_workers(array) and array.nbytes > MOST_BYTES:
            raise InputError(
                f"{name} has {size_in_words(array.nbytes)} on workers, too much for an implicit copy: take some of "
                f"its rows, {name}[first:last], write it to a file by {name}.save(path), or call {name}.to_numpy()"
            )
        if copy is False:
            raise ValueError(f"{name} is not in this process's memory: as a NumPy array it is a copy")
        return np.asarray(on_host(array), dtype)

    def _main(self) -> tuple[str, Array]:
        """Return the name of the main array, and the array."""
        for name, array in self.arrays.items():
            return name, array
        raise InputError("the result has no array: what was computed is in the file that the call has written")

    def to_pandas(self) -> Any:
        """Return the arrays as a pandas DataFrame, a row per vertex and a column per array.

        Vertices are called by the graph's `ids`, if it has any.

        Returns
        -------
        pandas.DataFrame
            The index is named ``"vertex"``, ``"element"`` or ``"edge"``, by what the arrays' entries belong to. Integer
            distances of no path, and vertices that are none, are missing: such a column has pandas' type ``Int32``.
            Distances in floats are ``inf`` there.

        Raises
        ------
        InputError
            If an id is a string that has no encoding.
        MissingPackageError
            If pandas is not installed.
        MemoryLimitError
            If the DataFrame does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6])
        >>> frame = mgraph.sssp(graph, 0, predecessors=True, device="cpu").to_pandas()
        >>> frame.loc[2].to_dict(), frame.index.name
        ({'distances': 11, 'predecessors': 1}, 'vertex')
        >>> mgraph.sssp(graph, 1, device="cpu").to_pandas()["distances"].tolist()
        [<NA>, 0, 6]
        >>> named = mgraph.Graph.from_edges([0, 1], [1, 2], ids=["Rome", "Pisa", "Genoa"])
        >>> mgraph.bfs(named, 0, predecessors=True, device="cpu").to_pandas().loc["Genoa"].to_dict()
        {'distances': 2, 'predecessors': 'Pisa'}
        """
        pandas = lazy.optional("pandas", "to_pandas()")
        # pandas may copy each, and group them by type; a byte more says what is missing.
        needed = 2 * sum(array.nbytes + array.size for array in self.arrays.values())
        with devices.allocating("to_pandas()", needed, devices.find("cpu")):
            columns = {name: devices.to_host(array) for name, array in self.arrays.items()}
            length, ids = len(next(iter(columns.values()))), as_text(self._ids(), "to_pandas()")
            index = pandas.RangeIndex(length, name=self.INDEX)
            main = next(iter(columns))
            columns[main] = column(columns[main], self._reached(columns[main]))
            columns |= {name: named(columns[name], ids) for name in self.VERTICES if name in columns}
            if self.INDEX == "edge":  # its ends first
                columns = {name: columns.pop(name) for name in self.VERTICES} | columns
            if ids is not None and self.INDEX == "vertex":
                index = pandas.Index(ids, name=self.INDEX, tupleize_cols=False)
            return pandas.DataFrame(columns, index=index)

    def to_networkx(self, graph: Any = None) -> Any:
        """Return the graph as a NetworkX graph whose nodes have the arrays as attributes.

        Its nodes are 0 to n-1, with the attribute `id` if the graph has ids. A node that was not reached has no
        attribute of the main array's name, and one without a predecessor no such attribute.

        Parameters
        ----------
        graph : Graph, optional
            The graph that was solved. By default the call's, if it still exists: the result does not keep it.

        Returns
        -------
        networkx.Graph, DiGraph, MultiGraph or MultiDiGraph

        Raises
        ------
        InputError
            If the result has no value for each vertex, or the graph has gone, lies on workers, or is another one.
        MissingPackageError
            If NetworkX is not installed.
        MemoryLimitError
            If the NetworkX graph does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 1], [1, 2], n=4, ids=["Rome", "Pisa", "Genoa", "Bari"])
        >>> made = mgraph.bfs(graph, 0, device="cpu").to_networkx()
        >>> made.nodes[2], made.nodes[3]
        ({'id': 'Genoa', 'distances': 2}, {'id': 'Bari'})
        """
        why = self._not_in().get(".graphml")
        if why:
            raise InputError(f"a {type(self).__name__} is not a graph's attribute: {why}")
        solved = graph_for_networkx(self, graph)
        made = solved.to_networkx()
        needed = 250 * solved.n * len(self.arrays)  # a number, and its place in the node's dictionary
        with devices.allocating(f"to_networkx() of {solved.n:,} vertices", needed, devices.find("cpu")):
            for name, vertices, values in self._attributes():
                for vertex, value in zip(vertices.tolist(), values.tolist(), strict=True):
                    made.nodes[vertex][name] = value
        return made

    def _attributes(self) -> Iterator[tuple[str, np.ndarray, Any]]:
        """Yield the attributes of the graph's vertices: the name of each, the vertices that have it, and the values."""
        ids = self._ids()
        for number, (name, array) in enumerate(self.arrays.items()):
            values = on_host(array)
            present = values >= 0 if name in self.VERTICES else np.full(len(values), True)
            present &= self._reached(values) if not number else True
            there = np.flatnonzero(present)
            yield name, there, named(values[there], ids) if name in self.VERTICES else values[there]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False, *, graph: Any = None) -> None:
        """Write the result to a file, which appears whole or not at all.

        Parameters
        ----------
        path : path or str
            A path, or a URL that fsspec knows. The suffix says what is written: ``.npy`` the main array; ``.npz`` all
            arrays by name, and the graph's ids; ``.zarr`` these as a Zarr group; ``.csv`` and ``.parquet`` the table of
            `to_pandas`, of pairs some rows at a time; ``.graphml`` and ``.gexf`` the graph that `to_networkx` makes,
            with vertices called by the graph's ids. Text is compressed if ``.gz`` follows: ``.csv.gz``.
        overwrite : bool
            Replace a file that exists.
        graph : Graph, optional
            For ``.graphml`` and ``.gexf``: the graph that was solved, as of `to_networkx`.

        Raises
        ------
        InputError
            For another suffix, a path that cannot be written, and what the format cannot hold.
        OutputExistsError
            If the file exists, and `overwrite` is false.
        MissingPackageError
            If zarr, pandas and PyArrow, or NetworkX, are not installed and needed.
        OSError
            If the file cannot be written; it is then as it was before.

        Examples
        --------
        >>> import pathlib
        >>> import tempfile
        >>> import mgraph
        >>> graph = mgraph.generate.grid(2, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "levels.graphml")
        ...     mgraph.bfs(graph, 0, device="cpu").save(path)
        ...     mgraph.read(path)
        Graph(n=6, m=14, undirected, int64)
        """
        check_output(path, overwrite, tuple(RESULT_FORMATS))
        where, ids = path_of(os.fspath(path)), self._ids()
        suffix, why = suffix_of(where), self._not_in()
        if suffix in why:
            raise InputError(f"{where} cannot hold a {type(self).__name__}: {why[suffix]}")
        if suffix == ".npy":
            save(path, self._main()[1], overwrite)
        elif suffix in (".npz", ".zarr"):
            self._main()
            ids = ids if suffix == ".npz" else as_text(ids, "Zarr")
            arrays = self.arrays | ({} if ids is None else {"ids": written(ids)})
            (save if suffix == ".npz" else save_group)(path, arrays, overwrite)
        elif suffix in TABLES:
            save_table(where, self._frames(as_text(ids, f"a {suffix} file")), overwrite)
        else:
            made = self.to_networkx(graph)
            for attributes in made.nodes.values():  # of which a file has one type
                attributes |= {name: str(attributes[name]) for name in self.VERTICES if name in attributes}
            save_networkx(where, made, None if ids is None else ids.tolist(), overwrite)

    def _not_in(self) -> Mapping[str, str]:
        """Return why a format cannot hold this result, by its suffix."""
        return self.NOT_IN

    def _frames(self, ids: np.ndarray | None) -> Iterator[Any]:
        """Yield the parts of the table that a file holds, in which vertices are called by `ids`, if there are any."""
        frame = self.to_pandas()
        yield frame if frame.index.name is None else frame.reset_index()

    def _ids(self) -> np.ndarray | None:
        """Return the graph's ids, also if they lie on workers; None if it has none."""
        return None if self.solved.ids is None else ids_of(self.solved)

    def _question(self, ids: bool | None) -> Question:
        """Return a question about the result; by default integers are what they were in the call."""
        return Question(self.solved, self.plan.n, self.solved.by_ids if ids is None else ids)

    def plot(self, kind: str | None = None, *, graph: Any = None, ax: Any = None, routes: Any = None) -> Any:
        """Draw the result as a picture by Matplotlib, which ``pip install 'dask-mgraph[plot]'`` installs.

        Parameters
        ----------
        kind : str, optional
            One of those in Notes; by default the first that the result has.
        graph : Graph, optional
            For ``"graph"`` and ``"map"``: the graph that was solved. By default the call's, if it still exists: the
            result does not keep it.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default on a new figure of `matplotlib.pyplot`.
        routes : sequence of vertices, or several, optional
            For ``"map"``: paths as `path` returns them, drawn above all edges.

        Returns
        -------
        matplotlib.axes.Axes
            Its ``figure.savefig(path)`` saves the picture.

        Raises
        ------
        InputError
            If the result has no such picture or is empty, if the graph has more than 500 vertices, no coordinates for
            a map, or no longer exists, or `ax` is no axes.
        MissingPackageError
            If Matplotlib is not installed.

        Notes
        -----
        Which kinds a result has, and the first of them, depends on the call:

        - ``"levels"``, of `mgraph.bfs`: the number of vertices at each distance.
        - ``"sizes"``, of `mgraph.connected_components`: the components' numbers of vertices, the largest first.
        - ``"distribution"``: how often the values of the main array occur, without those of unreached vertices.
        - ``"matrix"``: the main array as a picture, if it has a row for each source.
        - ``"hops"``, of distances: the share of all pairs of a source and a vertex at each distance or less.
        - ``"graph"``: the graph itself if it is small. Vertices are coloured by the main array, and up to 50 have their
          names, the graph's ids; the edges of a search tree or of a spanning forest are black.
        - ``"map"``: the edges of a graph of any size that has `Graph.coordinates`, coloured by distance, component,
          level or measure; the edges of a spanning forest are black, and a star marks a source. A degree of longitude
          is drawn as long as it is at the mean latitude.

        A matrix is shown by up to 1,000 evenly spaced rows and columns, and a distribution of its values is made of
        evenly spaced rows.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("Agg")  # draws into files, without a screen
        >>> import mgraph
        >>> result = mgraph.bfs(mgraph.generate.grid(3, 4), 0, device="cpu")
        >>> axes = result.plot()
        >>> [int(bar.get_height()) for bar in axes.patches]
        [1, 2, 3, 3, 2, 1]
        """
        kinds = self._pictures()
        kind = kinds[0] if kind is None else checked_choice("kind", kind, kinds)
        if 0 in self._main()[1].shape:
            raise InputError("the result is empty: there is nothing to draw")
        if routes is not None and kind != "map":
            raise InputError(ArgumentValue("routes"), " are drawn on a map: give ", ArgumentValue("kind", "map"))
        drawn = self._drawing(kind, graph) if kind != "map" else self._drawing_of_map(graph, routes)
        axes = plotting.axes_of(ax)
        drawn(axes)
        return axes

    def _pictures(self) -> tuple[str, ...]:
        """Return the kinds of pictures that this result has."""
        return self.PICTURES

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        """Return what draws a picture of a kind on axes."""
        if kind == "graph":
            return self._drawing_of_graph(given)
        values = np.asarray(self)
        if kind == "hops":
            return partial(
                plotting.draw_hops, values=values[self._reached(values)], pairs=values.size, across=self._unit()
            )
        return partial(plotting.draw_distribution, values=values[self._reached(values)], across=self._picture_name())

    def _unit(self) -> str:
        """Return what the distances of a picture are."""
        return "distance in edges" if self.UNREACHED is not None else "distance"

    def _picture_name(self) -> str:
        """Return what the values of a picture are."""
        return next(iter(self.arrays))

    def _graph_to_draw(self, given: Any) -> Graph:
        """Return the graph that a picture shows."""
        graph = solved_graph(self, given)
        if not isinstance(graph, Graph):
            raise InputError("a graph that lies on workers is not drawn: use another kind of picture")
        return graph

    def _drawing_of_map(self, given: Any, routes: Any) -> Callable[[Any], None]:
        """Return what draws the graph's edges at its coordinates, coloured by the main array."""
        graph = self._graph_to_draw(given)
        if graph.coordinates is None or np.isnan(graph.coordinates).any(axis=1).all():
            raise InputError(
                "a map needs coordinates, and the graph has none: give them by Graph.with_coordinates, or read a file "
                "that has them"
            )
        paths = [] if routes is None else [routes] if len(routes) and np.ndim(routes[0]) == 0 else list(routes)
        question = self._question(None)
        src, dst, _ = graph.listed()
        values, label = self._by_vertex()
        return partial(
            plotting.draw_map,
            places=graph.coordinates,
            edges=(devices.to_host(src), devices.to_host(dst)),
            tree=self._forest(),
            values=values,
            label=label,
            kinds=self.KINDS,
            starts=np.asarray(getattr(self, "_starts", ()), np.int64) if self.INDEX == "vertex" else np.empty(0, int),
            routes=[question.vertices("routes", path) for path in paths if len(path)],
        )

    def _by_vertex(self) -> "tuple[np.ma.MaskedArray, str]":
        """Return the value of each vertex that a map shows, masked where there is none, and what they mean."""
        values, label = self._colours()
        return np.ma.masked_array(values, ~self._reached(values)), label

    def _forest(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the edges that stand out in a map."""
        return np.empty(0, np.int32), np.empty(0, np.int32)

    def _drawing_of_graph(self, given: Any) -> Callable[[Any], None]:
        """Return what draws the graph, coloured by the main array."""
        graph = self._graph_to_draw(given)
        if graph.n > plotting.MOST_VERTICES:
            raise InputError(
                argument="graph", value=graph, expected=f"a graph of at most {plotting.MOST_VERTICES} vertices to draw"
            )
        src, dst, _ = graph.listed()
        values, label = self._colours()
        return partial(
            plotting.draw_graph,
            n=graph.n,
            edges=(devices.to_host(src), devices.to_host(dst)),
            tree=self._tree(),
            values=np.ma.masked_array(values, ~self._reached(values)),
            label=label,
            names=np.arange(graph.n) if graph.ids is None else graph.ids,
        )

    def _colours(self) -> tuple[np.ndarray, str]:
        """Return the values by which vertices are coloured, and what they mean."""
        return np.asarray(self), self._picture_name()

    def _tree(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the edges that stand out in a picture of the graph."""
        found = self.arrays.get("predecessors")
        if found is None:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        before = on_host(found)
        vertices = np.flatnonzero(before >= 0)
        return before[vertices], vertices

    def _reached(self, values: Any) -> Any:
        """Return which values of the main array tables and pictures show: those of vertices that were reached."""
        return np.ones(values.shape, bool)

    def _facts(self) -> list[str]:
        """Return what representations say besides the arrays."""
        return [f"{name} {reprlib.repr(getattr(self, name))}" for name in self.FACTS]

    def __repr__(self) -> str:
        arrays = [f"{name} {array.dtype} {array.shape}" for name, array in self.arrays.items()]
        return f"<{type(self).__name__}: {', '.join([*self._facts(), *arrays])}, {self._run()}>"

    def _repr_html_(self) -> str:
        line = ", ".join([*self._facts(), self._run(), f"solved in {self.timings.get('solve', 0):.3g} s"])
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in self._table()
        )
        head = "".join(f"<th>{name}</th>" for name in ("array", "type", "shape", "size", "where"))
        return (
            f"<div><b>{type(self).__name__}</b>: {html.escape(line)}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _run(self) -> str:
        """Return the method and the devices in words."""
        names = [spec.name for spec in self.plan.devices]
        return f"method {self.plan.method!r} on {names[0] if len(names) == 1 else f'{len(names)} devices'}"

    def _table(self) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each array: its name, type, shape, size and location."""
        for name, array in self.arrays.items():
            where = "workers" if on_workers(array) else devices.of(array).name
            yield name, array.dtype, array.shape, size_in_words(array.nbytes), where


class OfDistances(Result):
    """The base of results whose main array has distances."""

    @property
    def is_reached(self) -> Any:
        """Which entries of the main array are distances of paths, as truth values of its shape.

        They lie where the array does: they are a NumPy or CuPy array, for a `mgraph.DistributedVector` another one, and
        for a `mgraph.DistributedMatrix` a Dask array, which is computed when its values are asked for.

        Raises
        ------
        InputError
            If the result has measures, or wrote its distances to a table.
        MemoryLimitError
            If they do not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.sssp(mgraph.Graph.from_edges([0, 1], [1, 2], [5, 6], n=4), 1, device="cpu")
        >>> result.distances.tolist(), result.is_reached.tolist()
        ([2147483647, 0, 6, 2147483647], [False, True, True, False])
        >>> result
        <SsspResult: sources (1,), 2 of 4 not reached, distances int32 (4,), method 'nearfar' on cpu>
        """
        name, array = self._main()
        if name not in ("distances", "data"):
            raise InputError(
                "the result has measures, not distances: ask for the measure ", ArgumentValue("reduce", "reached")
            )
        if on_workers(array):
            return self._reached(array if array.ndim == 1 else array.to_dask_array())
        device = devices.of(array)
        with device.active(), devices.allocating("is_reached", int(np.prod(array.shape)), device):
            return self._reached(device.asarray(array))

    def _by_vertex(self) -> "tuple[np.ma.MaskedArray, str]":
        return super()._by_vertex()[0], self._unit()

    def _reached(self, values: Any) -> Any:
        return values != (infinity(np.dtype(values.dtype)) if self.UNREACHED is None else self.UNREACHED)

    def _number(self, found: Any) -> float:
        """Return an element of the main array as Python's number, ``inf`` if it stands for no path."""
        found = found.item() if hasattr(found, "item") else found  # an array on workers returns Python's number
        _, distances = self._main()
        unreached = infinity(np.dtype(distances.dtype)) if self.UNREACHED is None else self.UNREACHED
        return float("inf") if found == unreached else found

    def _entries(self) -> int:
        """Return the number of distances that there are, without those that only fill an array."""
        return int(np.prod(self._main()[1].shape))

    def _facts(self) -> list[str]:
        facts, array = super()._facts(), self.arrays.get("distances")
        if array is None or on_workers(array) or isinstance(array, np.memmap) or array.size > MOST_COUNTED:
            return facts
        count, entries = int(np.count_nonzero(self._reached(devices.to_host(array)))), self._entries()
        return facts if count == entries else [*facts, f"{entries - count:,} of {entries:,} not reached"]


class FromSources(OfDistances):
    """The base of results with a distance for each vertex."""

    _starts: tuple[int, ...]

    @with_common_parts
    def distance(self, vertex: Any, *, ids: bool | None = None) -> float:
        """Return the distance of one vertex.

        Parameters
        ----------
        vertex : int or id
            The vertex, in [0, n), or its id in the graph.
        {ids of a method}

        Returns
        -------
        float or int
            ``inf`` if it was not reached.

        Raises
        ------
        InputError
            If `vertex` is not in [0, n) and no id of the graph.

        Examples
        --------
        >>> import mgraph
        >>> roads = mgraph.Graph.from_edges([0, 1], [1, 2], [354, 159], ids=["Rome", "Pisa", "Genoa"])
        >>> result = mgraph.sssp(roads, "Pisa", device="cpu")
        >>> result.distance("Genoa"), result.distance("Rome")
        (159, inf)
        """
        _, distances = self._main()
        return self._number(distances[self._question(ids).vertex("vertex", vertex)])

    @with_common_parts
    def path(self, vertex: Any, *, ids: bool | None = None) -> list[Any]:
        """Return the vertices of the shortest path to `vertex` from a nearest source, both ends included.

        Takes time linear in its length; on a GPU, plus copying the predecessors. Empty where there is no path.

        Parameters
        ----------
        vertex : int or id
            The last vertex, in [0, n), or its id in the graph.
        {ids of a method}

        Returns
        -------
        list of int, or of ids
            The vertices, as ids if `vertex` is one; empty where there is no path.

        Raises
        ------
        InputError
            If predecessors were not requested, or `vertex` is not in [0, n) or no id of the graph.

        Examples
        --------
        >>> import mgraph
        >>> graph = mgraph.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
        >>> mgraph.sssp(graph, 0, predecessors=True, device="cpu").path(2)
        [0, 1, 2]
        """
        predecessors = needed_for_paths(self.arrays.get("predecessors"), self.plan.algorithm)
        question = self._question(ids)
        vertex = question.vertex("vertex", vertex)
        _, distances = self._main()
        vertices = [] if self._number(distances[vertex]) == float("inf") else walked_back(predecessors, vertex)
        # None where a cycle of weight zero leads back to no source, as rounding made it negative.
        return question.listed(vertices) if vertices and vertices[0] in self._starts else []


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MatrixResult(Result):
    """The base of results whose arrays have a row per source; with `client`, the arrays stay on the workers."""

    PICTURES: ClassVar[tuple[str, ...]] = ("matrix", "distribution", "hops")

    NOT_IN = OF_PAIRS

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return len(self._row_sources()), self._width()

    def to_pandas(self, wide: bool = False) -> Any:
        """Return the connected pairs of vertices as a pandas DataFrame, a row for each pair.

        Its columns are ``source``, ``target`` and the arrays. Pairs without a path are left out. Vertices are called by
        the graph's `ids`, if it has any.

        Parameters
        ----------
        wide : bool
            Whether to return the matrix instead: a row for each source, a column for each target, and the main array.

        Returns
        -------
        pandas.DataFrame
            `source` and `target` are int32 or the graph's ids, the arrays' columns as in the result. Vertices that are
            none, such as a source's predecessor, are missing; so are integer distances of no path if it is `wide`.

        Raises
        ------
        InputError
            If a row for every pair might take more than a GiB: with two arrays of 4-byte elements, from 8,192
            vertices on. If an id is a string that has no encoding.
        MissingPackageError
            If pandas is not installed.
        MemoryLimitError
            If twice as much, for the rows and their pieces, does not fit the free memory.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.bfs_many(mgraph.Graph.from_edges([0, 1], [1, 2]), [0, 1], device="cpu").to_pandas()
           source  target  distances
        0       0       0          0
        1       0       1          1
        2       0       2          2
        3       1       1          0
        4       1       2          1
        >>> wide = mgraph.bfs_many(mgraph.Graph.from_edges([0, 1], [1, 2]), [0, 1], device="cpu").to_pandas(wide=True)
        >>> wide.index.tolist(), wide.columns.tolist(), wide[1].tolist()
        ([0, 1], [0, 1, 2], [1, 0])
        """
        pandas, wide = lazy.optional("pandas", "to_pandas()"), checked_flag("wide", wide)
        sources, n = self._row_sources(), self._width()
        needed = len(sources) * n * (8 + sum(array.dtype.itemsize for array in self._by_pair().values()))
        if needed > MOST_BYTES:
            raise InputError(
                f"a DataFrame of {len(sources):,} x {n:,} pairs may take {size_in_words(needed)}, and the most is "
                f"{size_in_words(MOST_BYTES)}: use the arrays, some rows at a time"
            )
        rows = max(1, PAIRS_AT_A_TIME // max(n, 1))
        # Once in pieces and once together; and the temporary arrays of a piece, of 40 bytes a pair.
        most = 2 * needed + 40 * min(len(sources), rows) * n
        with devices.allocating(f"to_pandas() of {len(sources):,} x {n:,} pairs", most, devices.find("cpu")):
            ids = as_text(self._ids(), "to_pandas()")
            return self._wide(ids) if wide else pandas.concat(self._frames(ids), ignore_index=True)

    def _frames(self, ids: np.ndarray | None) -> Iterator[Any]:
        pandas = lazy.optional("pandas", "to_pandas()")
        sources = self._row_sources()
        rows = max(1, PAIRS_AT_A_TIME // max(self._width(), 1))
        for first in range(0, max(len(sources), 1), rows):
            last = min(first + rows, len(sources))
            row, column = np.nonzero(self._connected(first, last))
            columns = {"source": sources[first:last][row], "target": self._targets(first, row, column)}
            for name, array in self._by_pair().items():
                columns[name] = devices.to_host(array[first:last])[row, column]
            ends = [name for name in ("source", "target", *self.VERTICES) if name in columns]
            yield pandas.DataFrame(columns | {name: named(columns[name], ids) for name in ends})

    def _wide(self, ids: np.ndarray | None) -> Any:
        """Return the main array as a DataFrame, of which sources are the rows and targets the columns."""
        pandas = lazy.optional("pandas", "to_pandas()")
        rows, columns = self._row_sources(), self._targets(0, np.zeros(self._width(), int), np.arange(self._width()))
        values = there = self._connected(0, len(rows))
        if self._by_pair():
            values = on_host(self._main()[1])
        sources, targets = (
            pandas.Index(named(vertices, ids), name=name, tupleize_cols=False)
            for vertices, name in ((rows, "source"), (columns, "target"))
        )
        if values.dtype.kind == "i" and not there.all():
            found = {i: column(values[:, i], there[:, i]) for i in range(len(columns))}
            return pandas.DataFrame(found, sources).set_axis(targets, axis=1)
        return pandas.DataFrame(values, sources, targets)

    def _drawing(self, kind: str, given: Any) -> Callable[[Any], None]:
        if "matrix" not in self._pictures():
            return super()._drawing(kind, given)
        name, rows = self._picture_name(), len(self._row_sources())
        if kind == "matrix":
            step = max(1, -(-max(rows, self._width()) // plotting.MOST_ROWS))
            shown = self._some_rows(step)[:, ::step]
            masked = np.ma.masked_array(shown, ~self._reached(shown))
            return partial(plotting.draw_matrix, matrix=masked, step=step, label=name)
        values = self._some_rows(max(1, -(-rows * self._width() // plotting.MOST_VALUES)))
        if kind == "hops":
            reached = values[self._reached(values)]
            return partial(plotting.draw_hops, values=reached, pairs=values.size, across=self._unit())
        return partial(plotting.draw_distribution, values=values[self._reached(values)], across=name)

    def _some_rows(self, step: int) -> np.ndarray:
        """Return every `step`-th row of the main array."""
        array = next(iter(self.arrays.values()))
        if not on_workers(array):
            return devices.to_host(array[::step])
        return np.stack([devices.to_host(array[i]) for i in range(0, len(self._row_sources()), step)])

    def _row_sources(self) -> np.ndarray:
        """Return the source that each row belongs to."""
        return np.arange(self.plan.n, dtype=np.int32)

    def _width(self) -> int:
        """Return the number of targets of each source."""
        return self.plan.n

    def _targets(self, first: int, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return the targets of some pairs by their columns, and their rows from row `first` on."""
        return column.astype(np.int32)

    def _by_pair(self) -> dict[str, Array]:
        """Return the arrays that have an element per pair of vertices."""
        return self.arrays

    def _connected(self, first: int, last: int) -> np.ndarray:
        """Return for each pair of some rows whether there is a path."""
        found: np.ndarray = self._reached(devices.to_host(self._main()[1][first:last]))
        return found


class FromRows(OfDistances, MatrixResult):
    """The base of results with distances from each of several sources, a row for each."""

    @with_common_parts
    def distance(self, source: Any, target: Any, *, ids: bool | None = None) -> float:
        """Return the distance of one pair of vertices.

        Parameters
        ----------
        source, target : int or id
            The two vertices, in [0, n), or their ids in the graph. The result must have a row for `source`, and a
            distance for `target`.
        {ids of a method}

        Returns
        -------
        float or int
            ``inf`` if there is no path.

        Raises
        ------
        InputError
            If the result lacks the pair, if it has measures or has written its distances to a table, or if a vertex is
            not in [0, n) and no id of the graph.

        Examples
        --------
        >>> import mgraph
        >>> roads = mgraph.Graph.from_edges([0, 1], [1, 2], [354, 159], ids=["Rome", "Pisa", "Genoa"])
        >>> result = mgraph.apsp(roads, device="cpu")
        >>> result.distance("Rome", "Genoa"), result.distance("Genoa", "Rome")
        (513, inf)
        """
        if self._main()[0] not in ("distances", "data"):
            raise InputError("the result has no matrix of distances: call without ", ArgumentValue("reduce"))
        question = self._question(ids)
        start, end = question.vertex("source", source), question.vertex("target", target)
        row = self._place("source", source, start, self._row_sources(), "sources")
        return self._distance_in(row, end, target)

    def _distance_in(self, row: int, end: int, target: Any) -> float:
        """Return the distance of the vertex `end`, which the user calls `target`, in a row."""
        width = np.arange(self._width())
        ends = self._targets(row, np.zeros(len(width), int), width)
        _, distances = self._main()
        return self._number(distances[row, self._place("target", target, end, ends, "targets")])

    @staticmethod
    def _place(name: str, value: Any, vertex: int, among: np.ndarray, noun: str) -> int:
        """Return the first place of a vertex among others, or raise InputError."""
        places = np.flatnonzero(among == vertex)
        if not len(places):
            raise InputError(ArgumentValue(name, value), f" is not among the {len(among)} {noun} of the result")
        return int(places[0])


class FromSearches(FromRows):
    """The base of results of searches from several sources."""

    _starts: Any

    @with_common_parts
    def path(self, source: Any, vertex: Any, *, ids: bool | None = None) -> list[Any]:
        """Return the vertices of the shortest path from one of the sources to `vertex`, both included.

        Takes time linear in its length; on a GPU, plus copying a row. Empty where there is no path.

        Parameters
        ----------
        source : int or id
            One of the sources.
        vertex : int or id
            The last vertex, in [0, n), or its id in the graph.
        {ids of a method}

        Returns
        -------
        list of int, or of ids
            The vertices, as ids if one of the two is an id; empty where there is no path.

        Raises
        ------
        InputError
            If predecessors of all vertices were not requested, `source` is not among the sources, or `vertex` is not
            in [0, n) and no id of the graph.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.bfs_many(mgraph.generate.grid(1, 4), [0, 2], predecessors=True, device="cpu").path(2, 0)
        [2, 1, 0]
        """
        predecessors, question = self._predecessors_of_all(), self._question(ids)
        start, end = question.vertex("source", source), question.vertex("vertex", vertex)
        rows = np.flatnonzero(np.equal(self._starts, start))
        if not len(rows):
            raise InputError(
                ArgumentValue("source", source), f" is not among the {len(self._starts)} sources of the searches"
            )
        _, distances = self._main()
        if self._number(distances[int(rows[0]), end]) == float("inf"):
            return []
        vertices = walked_back(predecessors[int(rows[0])], end)
        return question.listed(vertices) if vertices[0] == start else []

    def _predecessors_of_all(self) -> Any:
        """Return the predecessors, or raise InputError where there are none of all vertices."""
        return needed_for_paths(self.arrays.get("predecessors"), self.plan.algorithm)


def check_arrays(result: Result) -> None:
    """Raise VerificationError unless a result has the arrays of its call, in their shapes and types."""
    arrays, names = result.arrays, result._names_of_call()
    for name in result.ARRAYS:
        if (name in arrays) != (name in names) and name not in result.OPTIONAL:
            there = "there" if name in arrays else "not there"
            raise _of_another_shape(
                f"{name} is {there}, and the call's result {'has' if name in names else 'lacks'} it"
            )
    for name, array in arrays.items():
        shape, dtype = tuple(array.shape), np.dtype(array.dtype)
        expected, types = result._shape_of(name), result._types_of(name)
        if shape != expected or dtype not in map(np.dtype, types):
            wanted = f"{' or '.join(types)} of shape {expected}"
            raise _of_another_shape(f"{name} is {dtype.str} of shape {shape}, and the call returns {wanted}")


def _of_another_shape(says: str) -> VerificationError:
    return VerificationError(f"the rule 'shape' is broken: {says}", rule="shape")


def solved_graph(result: Result, given: Any) -> Graph | PlacedGraph:
    """Return the graph that a result is of, the given one or the one that it refers to; check the result's arrays."""
    check_arrays(result)
    graph = result.solved.graph() if given is None else as_any_graph(given)
    if graph is None:
        raise InputError(
            "the graph of the result no longer exists, as a result does not keep it: pass it as ",
            ArgumentValue("graph"),
            ". Make a Graph of a matrix first, e.g. by Graph.from_scipy",
        )
    if graph.n != result.plan.n:
        raise InputError(
            argument="graph", value=graph, expected=f"the graph of the result, of {result.plan.n} vertices"
        )
    return graph


def graph_for_networkx(result: Result, given: Any) -> Graph:
    """Return the graph that a result is of, as `solved_graph` does, in this process."""
    solved = solved_graph(result, given)
    if not isinstance(solved, Graph):
        raise InputError("the graph lies on workers: give its to_graph() as ", ArgumentValue("graph"))
    return solved


def check_named(result: Result, name: str, numbers: Sequence[int] | np.ndarray, rule: str) -> None:
    """Raise VerificationError unless a fact of a result names some vertices, by their numbers or by the graph's ids."""
    given, numbers, solved = getattr(result, name), np.asarray(numbers).tolist(), result.solved
    listed = given.tolist() if isinstance(given, np.ndarray) else given  # not NumPy's numbers: an id may be a tuple
    named = list(listed) if isinstance(listed, (list, tuple, range)) else [listed]
    ids = None if solved.ids is None else ids_of(solved)
    texts = ids is not None and ids.dtype.kind not in "iu"  # which no number is taken for
    expected = ids[numbers].tolist() if ids is not None and (texts or solved.by_ids) else numbers
    if named != expected and not (texts and named == numbers):
        pairs = zip(named, expected, strict=False)
        place = next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(named), len(expected)))
        vertex = numbers[place] if place < len(numbers) else None
        raise VerificationError(
            f"the rule {rule!r} is broken: {name} are {shown(named)}, and the call's were {shown(expected)}",
            rule=rule,
            vertex=vertex,
        )


def column(values: np.ndarray, there: np.ndarray) -> Any:
    """Return values as a column for pandas, in which integers that are not there are missing."""
    if values.dtype.kind != "i" or there.all():
        return values
    return lazy.optional("pandas", "to_pandas()").arrays.IntegerArray(values, ~there)


def named(vertices: np.ndarray, ids: np.ndarray | None) -> Any:
    """Return vertices as a column for pandas, by their ids if there are any; a negative vertex is none, and missing.

    Raises
    ------
    InputError
        If one is not a vertex, because the result was changed.
    """
    if ids is None:
        return column(vertices, vertices >= 0)
    most = vertices.max(initial=-1)
    if most >= len(ids):
        raise InputError(f"a vertex must be less than {len(ids)}, got {most}: the result was changed, so call again")
    missing = vertices < 0
    if not missing.any():
        return ids[vertices]
    found = ids[np.maximum(vertices, 0)]
    if ids.dtype.kind == "i":
        return column(found, ~missing)
    found[missing] = None
    return found


def as_text(ids: np.ndarray | None, what: str) -> np.ndarray | None:
    """Return ids, or raise InputError if one is a string with a lone surrogate: it has no encoding, which `what` needs.

    File names that are not in UTF-8 are such strings in Python.
    """
    if ids is None or ids.dtype.kind == "i":
        return ids
    try:
        "".join(map(str, ids)).encode()
        return ids
    except UnicodeEncodeError:  # then the first one is named
        pass
    for name in ids:
        try:
            str(name).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{what} cannot hold the id {shown(name)}: the string has a lone surrogate") from error
    return ids


def on_host(array: Array) -> np.ndarray:
    """Return an array in this process's memory; without a copy if it is there."""
    found: np.ndarray = array.to_numpy() if on_workers(array) else devices.to_host(array)
    return found


def on_workers(array: Array) -> bool:
    """Return whether an array is a DistributedMatrix or a DistributedVector, without importing Dask."""
    return hasattr(array, "to_dask_array")
