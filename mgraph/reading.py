"""`mgraph.read`: a graph from files, in this process or on the workers of a Dask client."""

import os
from typing import IO, TYPE_CHECKING, Any, overload

from . import io
from .arguments import checked_choice, checked_flag, checked_integer
from .errors import Argument, Given, InputError
from .graph import Graph
from .io.content import Options

if TYPE_CHECKING:
    from distributed import Client

    from .runtime.dask import DistributedGraph

File = str | os.PathLike[str] | IO[bytes]


@overload
def read(
    path: File,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    client: None = None,
    device: None = None,
    worker_timeout: None = None,
) -> Graph: ...


@overload
def read(
    path: File,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    client: "Client",
    device: str | None = None,
    worker_timeout: float | str | None = None,
) -> "DistributedGraph": ...


def read(
    path: File,
    format: str | None = None,
    n: int | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    relabel: bool = False,
    *,
    dense: str | None = None,
    client: Any = None,
    device: str | None = None,
    worker_timeout: float | str | None = None,
) -> "Graph | DistributedGraph":
    r"""Return the graph that a file holds, plain or compressed with gzip, bzip2 or xz.

    Vertices are numbered from 0; the ids of a format that numbers them from 1 are lowered by one.

    Parameters
    ----------
    path : path or binary file object
        The file. An open file, such as ``sys.stdin.buffer``, is read from its position on, and stays open.
    format : {"edges", "gr", "mtx", "npz", "npy"}, optional
        An edge list (``u v`` or ``u v weight`` a line, separated by blanks, tabs or commas, with comments
        after ``#`` or ``%``), DIMACS ``p sp`` or PACE ``p tw``, Matrix Market, a SciPy sparse matrix, a
        dense matrix (mapped, not loaded, unless it is compressed or comes through a pipe). By
        default the suffix decides; a text that begins with Matrix Market's first line is read as ``"mtx"``.
    n : int, optional
        Number of vertices, for files that do not have it or have too few. A first line ``n edges`` of an edge list is
        then recognized as a header and skipped. With `relabel`, the number of distinct ids.
    directed : bool, optional
        By default False for ``p tw`` and symmetric Matrix Market files, True otherwise.
    weighted : bool, optional
        True requires weights in the file; False ignores weights and, in an edge list, all columns beyond the second. By
        default the graph has weights if the file has them. Weights in a text are integers if all of them are, else
        float64; float32 weights of ``.npz`` and ``.npy`` stay float32.
    relabel : bool
        Whether to number the ids in use from 0, ascending, and keep the file's own ids as the graph's `ids`.
    dense : {"adjacency", "distances"}, optional
        Whether zeros of a dense matrix mean no edge (`Graph.from_adjacency`) or edges of weight zero
        (`Graph.from_distances`). By default the matrix must be unambiguous, as for `Graph.from_dense`.

    client : distributed.Client, optional
        The client whose workers are to read the file, which must be an edge list, and to hold the graph. All workers
        read an uncompressed file, each its ranges of bytes; every worker must find it under this path.
    device : {"cpu", "cuda"}, optional
        With `client`, the kind of device to hold the graph, as of `DistributedGraph.from_graph`.
    worker_timeout : float or str, optional
        With `client`, seconds that a worker may be silent before the call ends.

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
        If the file is not valid in its format; the message names the line of a text.
    MemoryLimitError
        If the decompressed file or its graph exceeds the free memory.
    InputError
        For arguments that exclude each other.

    Warns
    -----
    SparseIdsWarning
        If most ids of an edge list are not in use, so that `relabel` would save memory.

    See Also
    --------
    mgraph.Graph.from_edges : A graph from arrays of edges.
    mgraph.Graph.from_scipy : A graph from a sparse matrix.

    Examples
    --------
    >>> import io
    >>> import mgraph
    >>> graph = mgraph.read(io.BytesIO(b"0 1 2.5\n1 2 4\n"), format="edges")
    >>> graph.n, graph.m, graph.weighted
    (3, 2, True)

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
        for name, value in (("device", device), ("worker_timeout", worker_timeout)):
            if value is not None:
                raise InputError(Argument(name), " is for workers: give ", Given("client"), " too, or leave it out")
        return io.read(path, format, n, directed, weighted, relabel, dense=dense)
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(argument="path", value=path, expected="a path that the workers can read")
    n = None if n is None else checked_integer("n", n, 0)
    if format is not None:
        checked_choice("format", format, ("edges",))
    for name, value in (("directed", directed), ("weighted", weighted)):
        if value is not None:
            checked_flag(name, value)
    if checked_flag("relabel", relabel):
        raise InputError(Given("relabel", True), " does not go with ", Given("client"), ": leave one out")
    request = io.Request((os.path.abspath(path),), Options(n, directed, weighted, relabel))
    from .runtime import dask

    return dask.DistributedGraph(dask.read(request, dask.Cluster(client, device, worker_timeout)))
