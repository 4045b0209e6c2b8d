"""The formats of files with graphs: their names, what a file of each holds, and the suffixes that mean it."""

from pathlib import Path

from .stream import COMPRESSIONS

#: What a file of each format holds.
FORMATS = {
    "edges": "an edge list, 'u v' or 'u v weight' a line",
    "gr": "DIMACS or PACE .gr",
    "mtx": "Matrix Market",
    "metis": "METIS .graph",
    "sg": "a serialized graph of GAP",
    "wsg": "a serialized graph of GAP with weights",
    "webgraph": "WebGraph's compressed graphs",
    "npz": "a SciPy sparse matrix",
    "npy": "a dense matrix",
    "graphml": "GraphML",
    "gexf": "GEXF",
}

#: The formats of tables with named columns.
TABLES = {"edges": "a table in text, such as CSV", "parquet": "a table of edges"}

_SUFFIXES = {
    **dict.fromkeys((".txt", ".el", ".wel", ".edges", ".edgelist", ".csv", ".tsv"), "edges"),
    **{f".{name}": name for name in FORMATS if name not in ("edges", "webgraph")},
    ".graph": "metis",
    ".properties": "webgraph",
}


def format_by_suffix(path: Path) -> str | None:
    """Return the format of `FORMATS` that a path's suffix means, before that of a compression; None if it means none.

    A URL (`mgraph.io.files.Url`) will do in the place of a path.
    """
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return _SUFFIXES.get(inner.suffix.lower())
