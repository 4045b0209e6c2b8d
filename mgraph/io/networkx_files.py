"""GML read, and GraphML and GEXF written, by NetworkX.

GML is that of M. Himsolt, "GML: a portable graph file format" (1997).
"""

import re
from io import BufferedReader
from pathlib import Path
from typing import Any

from .. import lazy
from ..errors import FormatError, InputError, shown
from ..graph.coordinates import coordinates_of
from .content import Content, Options
from .named_edges import NamedEdges
from .saving import suffix_of, writing
from .stream import held, require

#: Bytes that the graph takes for each byte of GML while NetworkX reads it, as measured with NetworkX 3.6.
_A_BYTE = 20

#: How a graph begins, and the same with the word without which NetworkX refuses parallel edges.
_GRAPH, _PARALLEL = re.compile(r"\bgraph\s*\["), "graph [ multigraph 1"

#: Strings, comments, and the digits of a number such as 1e-09, of which NetworkX takes the 1 alone without a point.
_DIGITS = re.compile(r'"[^"]*"|#[^\r\n]*|(?<![\w.])[0-9]+(?=[eE][+-]?[0-9]+(?![\w.]))')

#: What ends a line, among all that Python takes for an end.
_LINE_END = re.compile(r"\r\n?|\n")

#: A character that no text in XML has, by the production Char of XML 1.0.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_gml(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a GML file; the ids are the labels of its nodes if each has one of its own.

    Raises
    ------
    FormatError
        If NetworkX cannot read the file, if a graph lies within a node, or if a weight is not a number.
    """
    networkx = lazy.optional("networkx", "reading a .gml file")
    content = held(path, stream).getvalue()
    require(path, _A_BYTE * len(content), f"a graph from {len(content):,} bytes of GML")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    text = _DIGITS.sub(lambda found: found[0] if found[0][0] in '"#' else f"{found[0]}.", text)
    try:
        graph = networkx.parse_gml(_LINE_END.split(_GRAPH.sub(_PARALLEL, text, count=1)), label="id")
    except MemoryError:
        raise
    except Exception as error:  # of NetworkX, of other values than nodes, and of too many levels
        raise FormatError(f"{path} is not a .gml file that NetworkX can read: {str(error)[:300]}") from error
    if any("graph" in data for data in (graph.graph, *graph.nodes.values())):
        raise FormatError(f"{path} has a graph within a graph, which is not read")
    odd = next((node for node in graph if isinstance(node, float)), None)
    if odd is not None:
        raise FormatError(f"{path}: the id of a node must be an integer, got {odd}")
    labels = [data.get("label") for data in graph.nodes.values()]
    named = all(type(label) in (str, int) for label in labels) and len(set(labels)) == len(labels)
    edges = NamedEdges(path, options)
    numbers = {node: edges.node(name) for node, name in zip(graph, labels if named else graph, strict=True)}
    for source, target, data in graph.edges(data=True):
        weight = None
        if edges.weight in data:
            weight = edges.weight_of(
                str(data[edges.weight]), f"{path}: the edge from {shown(source)} to {shown(target)}"
            )
        edges.edge(numbers[source], numbers[target], weight, not graph.is_directed())
    places = coordinates_of((data for _, data in graph.nodes(data=True)), len(graph))
    return edges.content(graph.is_directed())._replace(coordinates=places)


def save_networkx(path: Path, graph: Any, ids: list[Any] | None, overwrite: bool) -> None:
    """Write a NetworkX graph of nodes 0 to n-1 as GraphML or GEXF, by the suffix; the caller has called `check_output`.

    With `ids`, each node has its id as text in the attribute ``"label"``; it is the node's name, too, if no two are
    equal.
    """
    suffix = suffix_of(path)
    networkx = lazy.optional("networkx", f"writing {suffix}")
    wrong = next((name for name in map(str, ids or []) if _NO_XML.search(name)), None)
    if wrong is not None:
        raise InputError(f"{path}: XML cannot hold all characters of the id {shown(wrong)}")
    if ids is not None:
        for node, name in enumerate(map(str, ids)):
            del graph.nodes[node]["id"]
            graph.nodes[node]["label"] = name
        if len(set(map(str, ids))) == len(ids):
            networkx.relabel_nodes(graph, dict(enumerate(map(str, ids))), copy=False)
    with writing(path, overwrite) as file:
        getattr(networkx, f"write_{suffix.removesuffix('.gz')[1:]}")(graph, file)
