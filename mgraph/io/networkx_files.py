"""GraphML and GEXF: graphs with attributes in XML, read and written by NetworkX."""

import re
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .. import lazy
from ..errors import FormatError, InputError, MgraphError
from ..graph.conversion import networkx_edges
from ..graph.ids import as_ids
from .content import Content, Options
from .saving import replacing
from .stream import held, require
from .table import INTEGER

#: Bytes that the graph takes for each byte of XML while NetworkX reads it, as measured with NetworkX 3.6.
_A_BYTE = 20

#: How the definition of an entity begins, in ASCII and its extensions and in UTF-16.
_ENTITY = tuple("<!ENTITY".encode(code) for code in ("ascii", "utf-16-le", "utf-16-be"))

#: How the element of a graph begins, in ASCII and its extensions.
_GRAPH = re.compile(rb"<(?:[\w.-]+:)?graph[\s/>]")

#: A character that no text in XML has, by the production Char of XML 1.0.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a GraphML file."""
    return _content(path, stream, options, "graphml")


def read_gexf(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a GEXF file."""
    return _content(path, stream, options, "gexf")


def _content(path: Path, stream: BufferedReader, options: Options, kind: str) -> Content:
    """Return the edges of a file between its nodes in their order, and their ids unless these are 0 to n-1.

    Raises
    ------
    FormatError
        If NetworkX cannot read the file, if it holds several graphs, of which NetworkX would return the first, or if no
        edge has the attribute that the caller names.
    """
    networkx = lazy.optional("networkx", f"reading a .{kind} file")
    text = held(path, stream)
    size = len(text.getvalue())
    require(path, _A_BYTE * size, f"a graph from {size:,} bytes of XML")
    if any(word in text.getvalue() for word in _ENTITY):
        raise FormatError(f"{path} defines entities, which may expand without end: they are not read")
    try:
        graphs = _graphs_in(text)
        if graphs > 1:
            raise FormatError(f"{path} holds {graphs} graphs: write each to a file of its own")
        text.seek(0)
        graph = getattr(networkx, f"read_{kind}")(text, node_type=_node)
        edges, nodes = networkx_edges(graph, options.weight or "weight")
    except (MgraphError, MemoryError):
        raise
    except Exception as error:  # of the parser of XML, of NetworkX, and of types that do not fit their values
        raise FormatError(f"{path} is not a .{kind} file that NetworkX can read: {error}") from error
    if options.weight is not None and edges.weights is None:
        raise FormatError(f"{path}: no edge has the attribute {options.weight!r}")
    ids = nodes if nodes is None else _integers(nodes)
    return Content(*edges, len(graph), graph.is_directed(), 0, ids)


def _graphs_in(text: BytesIO) -> int:
    """Return the number of graphs in a file, which is parsed for that only if it may have more than one."""
    if len(_GRAPH.findall(text.getbuffer())) == 1:
        return 1
    depth = graphs = 0
    for event, element in ElementTree.iterparse(text, ("start", "end")):
        if event == "start":
            graphs += depth == 1 and element.tag.rpartition("}")[2] == "graph"
            depth += 1
        else:
            depth -= 1
            element.clear()
    return graphs


def _node(name: str | None) -> str:
    """Return the name of a node, or raise ValueError for one that is missing."""
    if name is None:
        raise ValueError("an edge lacks its source or target, or a node its id")
    return name


def _integers(nodes: np.ndarray) -> np.ndarray | None:
    """Return the ids of nodes, which XML has as strings, as integers if all are; None if they are 0 to n-1."""
    if not all(type(node) is str and INTEGER.fullmatch(node) for node in nodes):
        return nodes
    ids = as_ids(map(int, nodes))
    return None if np.array_equal(ids, np.arange(len(ids))) else ids


def save_networkx(path: Path, graph: Any, ids: list[Any] | None, overwrite: bool) -> None:
    """Write a NetworkX graph of nodes 0 to n-1 as GraphML or GEXF, by the suffix; the caller has called `check_output`.

    With `ids`, each node has its id as text in the attribute ``"label"``; it is the node's name, too, if no two are
    equal.
    """
    networkx = lazy.optional("networkx", f"writing a {path.suffix} file")
    wrong = next((name for name in map(str, ids or []) if _NO_XML.search(name)), None)
    if wrong is not None:
        raise InputError(f"{path}: XML cannot hold all characters of the id {wrong!r}")
    if ids is not None:
        for node, name in enumerate(map(str, ids)):
            del graph.nodes[node]["id"]
            graph.nodes[node]["label"] = name
        if len(set(map(str, ids))) == len(ids):
            networkx.relabel_nodes(graph, dict(enumerate(map(str, ids))), copy=False)
    with replacing(path, overwrite) as file:
        getattr(networkx, f"write_{path.suffix[1:]}")(graph, file)
