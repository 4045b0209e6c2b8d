"""WebGraph's compressed graphs, NAME.graph with NAME.properties and NAME.ef, read by the package ``webgraph``.

The format is that of P. Boldi and S. Vigna, "The WebGraph framework I: compression techniques" (2004). Successors are
taken from the package's graph vertex by vertex, and checked. NAME.ef says where those of each vertex begin; WebGraph's
own program makes it: ``webgraph build ef NAME``. The package maps NAME.ef into memory as it is: read files that you
trust only.
"""

import io
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path

import numpy as np

from .. import lazy
from ..dtypes import MAX_VERTICES, offset_type
from ..errors import FormatError, InputError, MgraphError
from ..graph import Compressed
from .compressed_rows import within
from .content import Options, Rows
from .stream import require

#: Bytes for each edge until the graph is built.
_BYTES_AN_EDGE = 48

#: What to do if there is no file of offsets.
_NO_OFFSETS = ". {0}.ef is missing: 'webgraph build ef {0}' makes it"


def is_part(path: Path) -> bool:
    """Return whether a file is the first one of a WebGraph graph: METIS's have the same suffix."""
    return isinstance(path, Path) and path.suffix == ".graph" and path.with_suffix(".properties").is_file()


def read_webgraph(path: Path, stream: BufferedReader, options: Options) -> Rows:
    """Return the edges of a graph that WebGraph has compressed, given its .graph or .properties file.

    Raises
    ------
    MissingPackageError
        If the package webgraph is not installed.
    InputError
        If `stream` is not the file at `path` itself, since the package opens the files.
    FormatError
        If the package cannot read the files, or they have more or fewer edges than they say.
    MemoryLimitError
        If the edges do not fit the free memory.
    """
    if not isinstance(stream.raw, io.FileIO):
        raise InputError(
            f"{path}: a graph of WebGraph is several files: give the path of one on a disk, not compressed"
        )
    webgraph = lazy.optional("webgraph", "reading WebGraph")
    try:
        graph = webgraph.BvGraph(str(path.with_suffix("")))
        n, m = graph.num_nodes(), graph.num_arcs()
        if n > MAX_VERTICES:
            raise FormatError(f"{path}: {n} vertices are beyond int32: at most {MAX_VERTICES}")
        require(path, 8 * n + _BYTES_AN_EDGE * m, f"a graph of {m:,} edges")
        degrees = graph.outdegrees().astype(np.int64)
        successors = chain.from_iterable(map(graph.successors, range(n)))
        dst = within(np.fromiter(islice(successors, m + 1), np.int64), n)
    except (MgraphError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of Rust
            raise
        reason = str(error).partition("\n")[0][:300]  # a backtrace follows
        missing = "" if path.with_suffix(".ef").is_file() else _NO_OFFSETS.format(path.with_suffix(""))
        raise FormatError(f"{path} is not a graph that webgraph can read: {reason}{missing}") from error
    if not len(degrees) == n or not degrees.sum() == len(dst) == m:
        raise FormatError(f"{path}: {m} edges are expected, and the successors of {len(degrees)} vertices are others")
    indptr = np.zeros(n + 1, offset_type(m))
    np.cumsum(degrees, out=indptr[1:])
    return Rows(Compressed(indptr, dst, None), n, True, 0)
