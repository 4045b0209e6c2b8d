"""The formats of files with graphs: their names, what a file of each holds, and the suffixes that mean it."""

import re
from pathlib import Path

from ..errors import ArgumentValue, FormatError, shown
from .stream import COMPRESSIONS

#: What a file of each format holds.
FORMATS = {
    "edges": "an edge list, 'u v' or 'u v weight' a line",
    "gr": "DIMACS .gr, .col and .max, or PACE .gr",
    "mtx": "Matrix Market",
    "metis": "METIS .graph",
    "sg": "a serialized graph of GAP",
    "wsg": "a serialized graph of GAP with weights",
    "webgraph": "WebGraph's compressed graphs",
    "npz": "a SciPy sparse matrix",
    "npy": "a dense matrix",
    "graphml": "GraphML",
    "gexf": "GEXF",
    "gml": "GML",
    "json": "node-link JSON",
    "pajek": "Pajek .net",
    "graph6": "graph6 or sparse6",
    "graphalytics": "LDBC Graphalytics .v and .e",
}

#: The formats whose edges have attributes by name.
ATTRIBUTED = ("graphml", "gexf", "gml", "json")

#: The formats of tables with named columns.
TABLES = {"edges": "a table in text, such as CSV", "parquet": "a table of edges"}

_SUFFIXES = {
    **dict.fromkeys((".txt", ".el", ".wel", ".edges", ".edgelist", ".csv", ".tsv"), "edges"),
    **{f".{name}": name for name in FORMATS if name not in ("edges", "webgraph")},
    **dict.fromkeys((".col", ".clq", ".max"), "gr"),
    **dict.fromkeys((".g6", ".s6", ".sparse6"), "graph6"),
    **dict.fromkeys((".v", ".e"), "graphalytics"),
    ".graph": "metis",
    ".net": "pajek",
    ".properties": "webgraph",
}

#: What the suffixes of other programs mean, and what makes a graph of such a file.
_OTHERS = {
    **dict.fromkeys((".dot", ".gv"), ("DOT of Graphviz", "Graph.from_networkx(networkx.nx_pydot.read_dot(path))")),
    ".adjlist": ("an adjacency list", "Graph.from_networkx(networkx.read_adjlist(path))"),
    ".multiline_adjlist": ("an adjacency list", "Graph.from_networkx(networkx.read_multiline_adjlist(path))"),
    **dict.fromkeys((".lgr", ".leda", ".gw"), ("LEDA", "Graph.from_networkx(networkx.read_leda(path))")),
    ".lgl": ("LGL", "Graph.from_igraph(igraph.Graph.Read_Lgl(path))"),
    ".dl": ("DL of UCINET", "Graph.from_igraph(igraph.Graph.Read_DL(path))"),
    ".graphdb": ("GraphDB", "Graph.from_igraph(igraph.Graph.Read_GraphDB(path))"),
    ".graphmlz": ("compressed GraphML", "Graph.from_igraph(igraph.Graph.Read_GraphMLz(path))"),
    **dict.fromkeys(
        (".gpickle", ".pickle", ".pkl"), ("a pickle", "if you trust it, Graph.from_networkx(pickle.load(file))")
    ),
    ".mat": ("MATLAB", "Graph.from_scipy(scipy.io.loadmat(path)[name])"),
    **dict.fromkeys((".hb", ".rb", ".rua", ".rsa"), ("Harwell-Boeing", "Graph.from_scipy(scipy.io.hb_read(path))")),
    **dict.fromkeys(
        (".xlsx", ".xls", ".ods"), ("a spreadsheet", "Graph.from_pandas(pandas.read_excel(path), source, target)")
    ),
    **dict.fromkeys(
        (".arrow", ".feather"), ("Arrow", "Graph.from_arrow(pyarrow.feather.read_table(path), source, target)")
    ),
}

#: What an edge begins with, after comments and blank lines.
_EDGE = re.compile(rb"[+-]?[0-9]+[\s,]")


def format_by_suffix(path: Path) -> str | None:
    """Return the format of `FORMATS` that a path's suffix means, before that of a compression; None if it means none.

    A URL (`mgraph.io.files.Url`) will do in the place of a path.
    """
    return _SUFFIXES.get(_suffix(path))


def check_suffix(path: Path) -> None:
    """Raise FormatError for a file whose suffix means a format of another program."""
    if _suffix(path) in _OTHERS:
        meaning, remedy = _OTHERS[_suffix(path)]
        raise FormatError(f"{path}: {_suffix(path)} is {meaning}, which mgraph does not read: {remedy}")


def check_edge_list(path: Path, head: bytes) -> None:
    """Raise FormatError for a file whose suffix is not that of a format, unless its `head` begins with an edge."""
    lines = enumerate(map(bytes.strip, head.splitlines()), 1)
    number, line = next(((number, line) for number, line in lines if line and line[:1] not in b"#%"), (0, b"0"))
    if _suffix(path) and not _EDGE.match(line + b" "):
        raise FormatError(
            f"{path}, line {number}: expected an edge, got {line[:60].decode('utf-8', 'replace')!r}, as the suffix "
            f"{shown(_suffix(path))} is not that of a format: name the format by ",
            ArgumentValue("format"),
            f" ({', '.join(FORMATS)}), or the columns of a table by ",
            ArgumentValue("source"),
            " and ",
            ArgumentValue("target"),
            "; Graph.from_networkx(networkx.read_...(path)) takes other formats that NetworkX reads",
        )


def _suffix(path: Path) -> str:
    """Return a path's suffix, before that of a compression, in lower case."""
    inner = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return inner.suffix.lower()
