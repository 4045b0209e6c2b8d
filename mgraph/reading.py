"""`mgraph.read`: a graph from files, in this process or on the workers of a Dask client."""

import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, TypeGuard, overload

from . import io
from .arguments import as_written, check_without_client, checked_choice, checked_flag, checked_integer, warn_caller
from .errors import ArgumentValue, InputError
from .graph import Graph
from .io.content import Options
from .vocabulary import advised

if TYPE_CHECKING:
    from distributed import Client

    from .runtime.dask import DistributedGraph

Path = str | os.PathLike[str]
File = Path | IO[bytes]
#: Files of one graph: paths, and tuples of files with a column each.
Files = tuple[Path, ...] | list[Path | tuple[Path, ...]]


@overload
def read(
    path: File | Files,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    columns: Sequence[str] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    client: None = None,
    device: None = None,
    workers: None = None,
    worker_timeout: None = None,
    wait_for_workers: None = None,
) -> Graph: ...


@overload
def read(
    path: File | Files,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    columns: Sequence[str] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    client: "Client",
    device: str | None = None,
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> "DistributedGraph": ...


@advised
def read(
    path: File | Files,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    columns: Sequence[str] | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    client: Any = None,
    device: str | None = None,
    workers: Sequence[str | int] | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
) -> Any:
    r"""Return the graph in a file, or in several, plain or compressed with gzip, bzip2, xz or zstd.

    Vertices are numbered from 0; the ids of a format that numbers them from 1, such as DIMACS' ``.gr``, are lowered by
    one, which the graph's repr says. With `relabel` the graph keeps them as ids: ``mgraph.sssp(graph, 1, ids=True)``.

    Parameters
    ----------
    path : path, URL, pattern, list of these, tuple of .npy files, or binary file object
        A file, or a URL of any kind that fsspec knows, such as ``"s3://bucket/edges.txt"``. An open file, such as
        ``sys.stdin.buffer``, is read from its position on, and stays open. The edges of one graph may be in several
        files, one after the other: those of a list, and those that match a pattern such as ``"part-*.parquet"``, in
        alphabetical order. A tuple ``("src.npy", "dst.npy")``, or with the weights as its third file, names arrays that
        have an entry for each edge.
    format : str, optional
        ``"edges"``, an edge list (``u v`` or ``u v weight`` a line, separated by blanks, tabs or commas, with comments
        after ``#`` or ``%``); ``"gr"``, DIMACS ``p sp``, ``p edge``, ``p col`` and ``p max``, or PACE ``p tw``;
        ``"mtx"``, Matrix Market; ``"metis"``; ``"sg"`` and ``"wsg"``, GAP's serialized graphs; ``"webgraph"``,
        WebGraph's (through the package webgraph); ``"npz"``, a SciPy sparse matrix; ``"npy"``, a dense matrix (mapped,
        not loaded, unless it is compressed or comes through a pipe: the file must not change as long as the graph
        exists); ``"parquet"``; ``"graphml"`` and ``"gexf"``; ``"gml"`` (through NetworkX); ``"json"``, node-link JSON;
        ``"pajek"``; ``"graph6"``, or sparse6; ``"graphalytics"``. By default the suffix decides; a text that begins
        with Matrix Market's first line is read as ``"mtx"``. Several files, and those that workers read, are edge
        lists, Parquet, or tuples of ``.npy`` files.
    n : int, optional
        Number of vertices, for files that do not have it or have too few. A first line ``n edges``, ``n edges kind`` or
        ``n n edges`` of an edge list is then recognized as a header and skipped. With `relabel`, the number of distinct
        ids.
    directed : bool, optional
        By default False for ``p tw``, ``p edge``, ``p col``, METIS, graph6 and symmetric Matrix Market files, and for
        GAP's, KONECT's, Pajek's, Graphalytics' and those whose edges have attributes if they say so; True otherwise,
        and for a METIS file whose first line counts entries if these do not all stand at both ends.
    weighted : bool, optional
        True requires weights in the file; False ignores weights and, in an edge list, all columns beyond the second. By
        default the graph has weights if the file has them. Weights in a text are integers if all of them are, else
        float64; float32 weights of ``.npz`` and ``.npy`` stay float32.
    relabel : bool
        Whether to number the ids in use from 0, ascending, and keep the file's own ids as the graph's `ids`. With
        `client`, the workers number them, and the ids are a `mgraph.cluster.DistributedVector`.
    dense : {"adjacency", "distances"}, optional
        Whether zeros of a dense matrix mean no edge (`Graph.from_adjacency`) or edges of weight zero
        (`Graph.from_distances`). By default the matrix must be unambiguous, as for `Graph.from_dense`.

    columns : sequence of str, optional
        The names of the columns of sources, targets and, for a weighted graph, weights in Parquet. By default
        ``("src", "dst")``, and ``"weight"`` or ``"weights"`` if there is such a column; if not, a file with another
        column of numbers is refused unless `weighted` is False.
    source, target, weight : str or int, optional
        The columns of one table, in text such as CSV or in Parquet: names in its header, or in a text without one
        numbers from 0. Give at least the first two. A table with further columns of numbers is refused without
        `weight`, unless `weighted` is False. Columns of a text are separated by tabs, commas, semicolons, bars
        or blanks. Ids may be of any kind, such as strings. They are numbered ascending, and are the graph's `ids` if
        they are not 0 to n-1 already. `weight` alone names the attribute of edges in GraphML, GEXF, GML and JSON that
        is their weight, by default ``"weight"``; edges that lack it have its default in the file, or else the weight 1.
    client : distributed.Client, optional
        The client whose workers are to read the files and to hold the graph. Each worker reads its share: ranges of
        bytes of an uncompressed text, whole files of compressed ones, row groups of Parquet, ranges of arrays. All
        workers must find the files under these paths.
    device : {"cpu", "cuda"}, optional
        With `client`, the kind of device to hold the graph, as of `DistributedGraph.from_graph`.
    workers : sequence of str or int, optional
        With `client`, the workers to use, as of `DistributedGraph.from_graph`.
    worker_timeout : float or str, optional
        With `client`, seconds that a worker may be silent before the call ends.
    wait_for_workers : int, optional
        With `client`, the number of workers to wait for, as of calls with ``client=``.

    Returns
    -------
    Graph or DistributedGraph
        With `client`, the same graph on its workers.

    Raises
    ------
    MissingFileError
        If the file does not exist. If the system refuses to open or read it, its own `OSError` is raised, such as
        `PermissionError`.
    FormatError
        If a file is not valid in its format; the message names the line of a text.
    MemoryLimitError
        If the decompressed file or its graph exceeds the free memory.
    InputError
        For arguments that exclude each other.
    WorkerLostError
        With `client`: if workers are lost more often than ``mgraph.retries`` of Dask's configuration allows.
    MissingPackageError
        If the files need a package that is not installed: pyarrow for Parquet, NetworkX for GML, webgraph for
        WebGraph's graphs, fsspec's own packages for some URLs, before Python 3.14 backports.zstd for zstd.

    Warns
    -----
    SparseIdsWarning
        If most ids of an edge list are not in use, so that `relabel` would save memory, or if they begin at 1, so that
        vertex 0 has no edges.

    See Also
    --------
    mgraph.write : A graph into a file.
    mgraph.Graph.from_edges : A graph from arrays of edges.
    mgraph.Graph.from_scipy : A graph from a sparse matrix.

    Examples
    --------
    >>> import io
    >>> import mgraph
    >>> graph = mgraph.read(io.BytesIO(b"0 1 2.5\n1 2 4\n"), format="edges")
    >>> graph.n, graph.m, graph.weighted
    (3, 2, True)

    A table with a header:

    >>> table = io.BytesIO(b"from,to,km\nRome,Pisa,354\nPisa,Genoa,159\n")
    >>> graph = mgraph.read(table, source="from", target="to", weight="km")
    >>> graph.ids.tolist(), mgraph.distances(graph, ["Rome"], ids=True, device="cpu").distances.tolist()
    (['Genoa', 'Pisa', 'Rome'], [[513, 354, 0]])

    On workers, which find the file under the same path:

    >>> import tempfile
    >>> from distributed import Client
    >>> with tempfile.TemporaryDirectory() as folder, Client(processes=False, dashboard_address=":0") as client:
    ...     with open(f"{folder}/edges.txt", "w") as file:
    ...         print("0 1", "1 2", sep="\n", file=file)
    ...     mgraph.read(f"{folder}/edges.txt", client=client, device="cpu")
    DistributedGraph(n=3, m=2, directed, unweighted, on 1 worker)
    """
    if client is None:
        where = {"device": device, "workers": workers}
        check_without_client(**where, worker_timeout=worker_timeout, wait_for_workers=wait_for_workers)
        named = _checked_names(source, target, weight, weighted)
        if named is not None:
            table = _one_table(path, n=n, relabel=relabel or None, dense=dense, columns=columns)
            return io.read(table, format, directed=directed, named=named)
        if columns is None and not (isinstance(format, str) and format == "parquet") and _is_file(path):
            attribute = None if weight is None else str(weight)
            return io.read(path, format, n, directed, weighted, relabel, dense=dense, weight=attribute)
        if weight is not None:
            wanted = " goes with ", ArgumentValue("source"), ", or with one file whose edges have attributes"
            raise InputError(ArgumentValue("weight", weight), *wanted)
    elif (source, target, weight) != (None, None, None):
        advice = " is for files that this process reads: leave out ", ArgumentValue("client")
        raise InputError(ArgumentValue("source"), *advice)
    if dense is not None:
        raise InputError(ArgumentValue("dense", dense), " is for one file with a dense matrix")
    options = _checked_options(format, n, directed, weighted, relabel)
    request = io.Request(_paths(path), format, _checked_columns(columns), options)
    if client is None:
        return io.read_files(request)
    from .runtime import dask

    there = dask.Cluster(client, device, worker_timeout, workers, wait_for_workers=wait_for_workers)
    how = {"format": format, "n": n, "directed": directed, "weighted": weighted, "relabel": relabel or None}
    line = as_written("mgraph.read", path, **how, columns=columns, device=device)
    placement = dask.read(request, there, line)
    found = dask.DistributedGraph(placement)
    if n is None and not relabel:
        _warn_of_sparse_ids(request.paths[0][0], found, placement.least)
    return found


def _one_table(path: Any, **others: Any) -> File:
    """Return a path whose columns are named, or raise InputError if it is not of one file, or with other arguments."""
    for name, value in others.items():
        if value is not None:
            raise InputError(ArgumentValue(name, value), " does not go with ", ArgumentValue("source"))
    pattern = isinstance(path, (str, os.PathLike)) and io.is_pattern(os.fspath(path))
    if pattern or isinstance(path, (list, tuple)):
        raise InputError(ArgumentValue("source"), " names a column of one file: read the others by themselves")
    table: File = path
    return table


def _checked_options(format: Any, n: Any, directed: Any, weighted: Any, relabel: Any) -> Options:
    """Return how several files are read, or raise InputError, also if they cannot have a format."""
    if format is not None:
        checked_choice("format", format, ("edges", "parquet", "npy"))
    return Options(
        None if n is None else checked_integer("n", n, 0),
        None if directed is None else checked_flag("directed", directed),
        None if weighted is None else checked_flag("weighted", weighted),
        checked_flag("relabel", relabel),
    )


def _warn_of_sparse_ids(path: str, graph: "DistributedGraph", least: int | None) -> None:
    """Warn if most ids cannot be in use, as there are too few edges, or if they begin at 1.

    How many are in use is not known here; `least` is None if the file says how vertices are numbered.
    """
    if least is None:
        return
    used = 2 * graph.m
    if used < graph.n // 2 and graph.n - used >= io.WASTED_IDS:
        warn_caller(
            io.SparseIdsWarning(
                f"{path}: at most {used} of the ids 0 to {graph.n - 1} are in use: ",
                ArgumentValue("relabel", True),
                " numbers those in use from 0",
            )
        )
    elif least == 1:
        warn_caller(io.first_id_warning(path))


def _is_file(path: Any) -> TypeGuard[File]:
    """Return whether a path is that of one file which is not Parquet, or an open file."""
    if not isinstance(path, (str, os.PathLike)):
        return hasattr(path, "read")
    text = os.fspath(path)
    return not (isinstance(text, str) and (io.is_pattern(text) or text.lower().endswith((".parquet", ".pq"))))


def _paths(given: Any) -> tuple[tuple[str, ...], ...]:
    """Return the parts of a graph, each a tuple of files, or raise InputError."""
    parts = given if isinstance(given, list) else [given]
    found = []
    for part in parts:
        files = part if isinstance(part, tuple) else (part,)
        if not files or not all(isinstance(file, str) or isinstance(file, os.PathLike) for file in files):
            wanted = "a path, a list of them, or a tuple of .npy files"
            raise InputError(argument="path", value=given, expected=wanted)
        if len(files) > 3 or (len(files) == 1 and isinstance(part, tuple)):
            wanted = "tuples of two or three .npy files: sources, targets, weights"
            raise InputError(argument="path", value=part, expected=wanted)
        found.append(tuple(map(io.absolute, files)))
    if not found:
        raise InputError(argument="path", value=given, expected="one file or more")
    return tuple(found)


def _checked_names(source: Any, target: Any, weight: Any, weighted: Any) -> io.Named | None:
    """Return the columns that the caller names, or None; or raise InputError."""
    if source is None and target is None:
        if weight is not None and not isinstance(weight, str):
            raise InputError(argument="weight", value=weight, expected="a name")
        return None
    given = {"source": source, "target": target} | ({} if weight is None else {"weight": weight})
    kind = int if isinstance(source, int) else str
    for name, value in given.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            also = () if name == "source" else (": ", ArgumentValue("source", source), " is one")
            wanted = f"the {'number' if kind is int and name != 'source' else 'name'} of a column"
            raise InputError(*also, argument=name, value=value, expected=wanted)
    unweighted = weighted is not None and not checked_flag("weighted", weighted)
    if weighted and weight is None:
        raise InputError(
            ": ", ArgumentValue("weighted", True), argument="weight", value=None, expected="the name of a column"
        )
    return io.Named(source, target, None if unweighted else weight, unweighted)


def _checked_columns(columns: Any) -> tuple[str, ...] | None:
    """Return the names of columns, or raise InputError."""
    if columns is None:
        return None
    names = tuple(columns) if isinstance(columns, (list, tuple)) else ()
    if len(names) not in (2, 3) or not all(isinstance(name, str) for name in names):
        wanted = "two or three names: of sources, targets, weights"
        raise InputError(argument="columns", value=columns, expected=wanted)
    return names
