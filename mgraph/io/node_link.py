"""Graphs in JSON: an object with the lists "nodes" and "edges", or "links", as NetworkX and D3 have it.

NetworkX (`node_link_data`) also writes whether the graph is "directed". A node without an "id" is called by its place.
Parallel edges are edges, whatever the object says of them: NetworkX would keep the last one.
"""

import json
from io import BufferedReader
from pathlib import Path
from typing import Any

from ..errors import FormatError, shown
from .content import Content, Options
from .named_edges import NamedEdges
from .stream import held, require

#: Bytes that the objects of Python take for each byte of JSON, as measured with Python 3.11.
_A_BYTE = 24


def read_json(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a graph in node-link form.

    Raises
    ------
    FormatError
        For a text that is not JSON, another object, and an edge between nodes that are not there.
    """
    text = held(path, stream).getvalue()
    require(path, _A_BYTE * len(text), f"a graph from {len(text):,} bytes of JSON")
    try:
        found = json.loads(text, parse_constant=str)  # a weight may be Infinity; 1e400 is none
    except json.JSONDecodeError as error:
        raise FormatError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # of the encoding, of too many digits, of what is nested too deeply
        raise FormatError(f"{path}: not valid JSON: {error}") from error
    known = found if isinstance(found, dict) else {}
    nodes, links = known.get("nodes"), known.get("edges", known.get("links"))
    directed = known.get("directed", False)
    if not (isinstance(nodes, list) and isinstance(links, list) and isinstance(directed, bool)):
        raise FormatError(
            f"{path} holds other JSON than an object with the lists 'nodes' and 'edges' or 'links', and 'directed' as "
            "true or false: Graph.from_networkx() takes what networkx.readwrite.json_graph reads"
        )
    edges = NamedEdges(path, options)
    for place, node in enumerate(nodes):
        where = f"{path}: nodes[{place}]"
        name = _name(node.get("id", place) if isinstance(node, dict) else None, where)
        if name in edges:
            raise FormatError(f"{where}: the id {shown(name)} is that of another node")
        edges.node(name)
    for place, link in enumerate(links):
        where = f"{path}: edges[{place}]"
        ends = [link.get(end) if isinstance(link, dict) else None for end in ("source", "target")]
        source, target = (_name(end, where) for end in ends)
        if source not in edges or target not in edges:
            raise FormatError(f"{where}: there is no node {shown(target if source in edges else source)}")
        weight = edges.weight_of(link[edges.weight], where) if edges.weight in link else None
        edges.edge(edges.node(source), edges.node(target), weight, not directed)
    return edges.content(directed)


def _name(name: Any, where: str) -> Any:
    """Return the name of a node, or raise FormatError; a list is the tuple of Python that it stands for."""
    made = tuple(name) if isinstance(name, list) else name
    parts = made if isinstance(made, tuple) else (made,)
    if not all(isinstance(part, (str, int, float)) and not isinstance(part, bool) for part in parts):
        raise FormatError(f"{where}: a node is called by a string or a number, not {shown(name)}")
    return made
