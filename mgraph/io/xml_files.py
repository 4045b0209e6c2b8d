"""GraphML and GEXF: graphs with attributes, in XML.

NetworkX's readers leave out the default value of an edge's attribute, the edges of nested graphs, and the first of two
parallel edges that have one key, so files are read here, by the events of Expat: http://graphml.graphdrawing.org and
https://gexf.net. Graphs within a node are parts of the whole. An edge may name a node that has no element of its own.
"""

from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from ..errors import FormatError, MgraphError, shown
from .content import Content, Options
from .named_edges import AXES, NamedEdges

#: The types of attributes, of both formats, that are real numbers.
_REAL = ("float", "double")

#: Whether an edge of GEXF has both directions, by its type.
_TYPES = {"directed": False, "undirected": True, "mutual": True}

#: Whether an edge of GraphML has both directions, by its truth value ``directed``.
_DIRECTED = {"true": False, "1": False, "false": True, "0": True}


class _Key(NamedTuple):
    """The declaration of an attribute: its name, whether it holds real numbers, and whether edges have its default."""

    name: str
    real: bool
    of_edges: bool


class _Edge:
    """An edge whose element has not ended."""

    def __init__(self, source: str, target: str, both: bool, weight: int | float | None = None) -> None:
        self.source, self.target, self.both = source, target, both
        self.weight = weight
        self.attributed = False


#: The most elements within each other: the parser keeps each until it ends, and a small compressed file may have many.
DEEPEST = 1000


#: The bytes that are parsed at a time, and the most of a tag or a comment: Expat looks through it again at each time.
_PIECE, _LONGEST = 1 << 20, 1 << 25


def parsed(parser: expat.XMLParserType, stream: Any, path: Path) -> Iterator[None]:
    """Parse a stream of XML, and yield after each piece; raise FormatError for a tag that takes too long.

    Default values of attributes are refused, too: each element would get all of them.
    """

    def fail(what: str) -> NoReturn:
        raise FormatError(f"{path}, line {parser.CurrentLineNumber}: {what}")

    def declared(_element: str, attribute: str, _type: str, default: str | None, _required: bool) -> None:
        if default is not None:
            fail(f"a default value is declared for the attribute {shown(attribute)}")

    parser.AttlistDeclHandler = declared
    fed = 0
    while piece := stream.read(_PIECE):
        parser.Parse(piece)
        fed += len(piece)
        if fed - max(parser.CurrentByteIndex, 0) > _LONGEST:
            fail(f"a tag or a comment has more than {_LONGEST:,} bytes")
        yield


class _Reader:
    """Reads nodes and edges from the elements of one format's namespace."""

    root = ""
    #: The element whose children are edges.
    host = ""

    def __init__(self, path: Path, options: Options) -> None:
        self.path = path
        self.edges = NamedEdges(path, options)
        self.keys: dict[str, _Key] = {}
        self.default: int | float | None = None
        #: Whether edges have both directions by default, of each graph that has begun.
        self.both: list[bool] = []
        self.graphs = 0
        self.directed = False
        #: The elements that have begun, without those of other namespaces, which are "".
        self.within: list[str] = []
        self.begun: list[_Edge] = []
        #: The text so far of an element that holds a weight, and the key of this attribute.
        self.text: list[str] | None = None
        self.key = ""
        #: The node that has begun last, and the axis whose coordinate the text is, if it is one.
        self.node, self.axis = 0, ""
        self.expat = expat.ParserCreate(namespace_separator=" ")
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self._characters
        self.expat.EntityDeclHandler = self._entity
        self._space = ""

    def read(self, stream: BufferedReader) -> Content:
        """Return the edges of a file."""
        try:
            for _ in parsed(self.expat, stream, self.path):
                pass
            self.expat.Parse(b"", True)
        except MgraphError:
            raise
        except expat.ExpatError as error:
            raise FormatError(f"{self.path}, line {error.lineno}: not well-formed XML: {error}") from error
        except (LookupError, ValueError) as error:  # of the text's encoding
            raise FormatError(f"{self.where()}: the text cannot be decoded: {error}") from error
        if self.graphs != 1:
            what = f"{self.graphs} graphs: write each to a file of its own" if self.graphs else "no graph"
            raise FormatError(f"{self.path} holds {what}")
        return self.edges.content(self.directed)

    def where(self) -> str:
        """Return the file and this line, for messages."""
        return f"{self.path}, line {self.expat.CurrentLineNumber}"

    def fail(self, what: str) -> NoReturn:
        """Raise FormatError for this line."""
        raise FormatError(f"{self.where()}: {what}")

    def start(self, tag: str, parent: str, attributes: dict[str, str]) -> None:
        """Read the start of an element."""
        raise NotImplementedError

    def begin_graph(self, default: str) -> None:
        """Begin a graph whose edges have this direction by default; it counts unless it is nested."""
        if default not in _TYPES:
            self.fail(f"the edges of a graph are directed or undirected, not {shown(default)}")
        if self.within == [self.root]:
            self.graphs += 1
            self.directed = default == "directed"
        self.both.append(_TYPES[default])

    def required(self, attributes: dict[str, str], name: str, what: str) -> str:
        """Return an attribute of an element, or raise FormatError that says `what` is wrong."""
        if name not in attributes:
            self.fail(what)
        return attributes[name]

    def ends(self, attributes: dict[str, str]) -> tuple[str, str]:
        """Return the ends of an edge."""
        lacks = "an edge lacks its source or target"
        return self.required(attributes, "source", lacks), self.required(attributes, "target", lacks)

    def attribute(self, key: str, value: str) -> None:
        """Set the weight of the edge that has begun last."""
        edge, weight = self.begun[-1], self.weight(key, value)
        if edge.attributed:
            self.fail(f"the attribute {shown(self.edges.weight)} of the edge has two values: a weight is one")
        edge.attributed = True
        edge.weight = weight if edge.weight is None else edge.weight

    def weight(self, key: str, value: str) -> int | float:
        """Return the value of an attribute as a weight."""
        return self.edges.weight_of(value, self.where(), key in self.keys and self.keys[key].real)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, tag = name.rpartition(" ")
        if len(self.within) == DEEPEST:
            self.fail(f"more than {DEEPEST:,} elements are nested")
        if not self.within:
            self._space = space
            if tag != self.root:
                self.fail(f"a .{self.root} file begins with the element '{self.root}', not with {shown(tag)}")
        if self.text is not None:
            if not self.axis:
                self.fail(f"the attribute {shown(self.edges.weight)} of an edge holds an element, not a number")
            self.text, self.axis = None, ""
        tag = tag if space == self._space else ""
        self.start(tag, self.within[-1] if self.within else "", attributes)
        self.within.append(tag)

    def _end(self, name: str) -> None:
        tag = self.within.pop()
        if self.text is not None:
            text, self.text = "".join(self.text), None
            if self.axis:
                self.edges.place(self.node, self.axis, text)
                self.axis = ""
            elif tag == "default":
                self.default = self.weight(self.key, text)
            else:
                self.attribute(self.key, text)
        if tag == "graph":
            self.both.pop()
        elif tag == "edge" and self.within[-1] == self.host:
            edge = self.begun.pop()
            ends = self.edges.node(edge.source), self.edges.node(edge.target)
            self.edges.edge(*ends, self.default if edge.weight is None else edge.weight, edge.both)

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _entity(self, name: str, *_: object) -> None:
        raise FormatError(f"{self.where()}: the file defines entities, which may expand without end: they are not read")


class _GraphML(_Reader):
    root, host = "graphml", "graph"

    def start(self, tag: str, parent: str, attributes: dict[str, str]) -> None:
        if tag == "key" and parent == "graphml":
            self.key = self.required(attributes, "id", "a key lacks its id")
            of_edges = attributes.get("for", "all") in ("edge", "all")
            kind = attributes.get("attr.type", "string")
            self.keys[self.key] = _Key(attributes.get("attr.name", self.key), kind in _REAL, of_edges)
        elif tag == "default" and parent == "key":
            key = self.keys[self.key]
            self.text = [] if key.of_edges and key.name == self.edges.weight else None
        elif tag == "graph":
            self.begin_graph(attributes.get("edgedefault", "undirected"))
        elif tag == "node" and parent == "graph":
            self.node = self.edges.node(self.required(attributes, "id", "a node lacks its id"))
        elif tag == "data" and parent == "node":
            declared = self.keys.get(attributes.get("key", ""))
            self.axis = declared.name if declared is not None and declared.name in AXES else ""
            self.text = [] if self.axis else None
        elif tag == "edge" and parent == "graph":
            directed = attributes.get("directed")
            if directed is not None and directed.strip().lower() not in _DIRECTED:
                self.fail(f"directed must be true or false, not {shown(directed)}")
            both = self.both[-1] if directed is None else _DIRECTED[directed.strip().lower()]
            self.begun.append(_Edge(*self.ends(attributes), both))
        elif tag == "data" and parent == "edge":
            self.key = self.required(attributes, "key", "the data of an edge lack their key")
            if self.key not in self.keys:
                self.fail(f"no key {shown(self.key)} is declared before")
            self.text = [] if self.keys[self.key].name == self.edges.weight else None
        elif tag in ("hyperedge", "locator"):
            what = "edges of more than two ends" if tag == "hyperedge" else "parts of the graph in other files"
            self.fail(f"the element '{tag}' stands for {what}, which are not read")


class _GEXF(_Reader):
    root, host = "gexf", "edges"

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        self._type = ""
        self._of_edges = False

    def start(self, tag: str, parent: str, attributes: dict[str, str]) -> None:
        if tag == "graph":
            self._type = attributes.get("defaultedgetype", "undirected")
            self.begin_graph(self._type)
        elif tag == "attributes" and parent == "graph":
            self._of_edges = attributes.get("class") == "edge"
        elif tag == "attribute" and parent == "attributes" and self._of_edges:
            self.key = self.required(attributes, "id", "an attribute lacks its id")
            kind = attributes.get("type", "string")
            self.keys[self.key] = _Key(attributes.get("title", self.key), kind in _REAL, True)
        elif tag == "default" and parent == "attribute" and self._of_edges:
            self.text = [] if self.keys[self.key].name == self.edges.weight else None
        elif tag == "node" and parent == "nodes":
            self.edges.node(self.required(attributes, "id", "a node lacks its id"))
        elif tag == "edge" and parent == "edges":
            kind = attributes.get("type", self._type)
            if kind not in _TYPES:
                self.fail(f"the type of an edge must be one of {', '.join(_TYPES)}, not {shown(kind)}")
            self.directed |= kind == "mutual" and self._type == "directed"
            edge = _Edge(*self.ends(attributes), _TYPES[kind])
            if self.edges.weight == "weight" and "weight" in attributes:
                edge.weight = self.edges.weight_of(attributes["weight"], self.where(), real=True)
            self.begun.append(edge)
        elif tag == "attvalue" and parent == "attvalues" and self.within[-2] == "edge":
            key = self.required(attributes, "for", "a value lacks the attribute that it is for")
            if key not in self.keys and key != "weight":  # Gephi does not declare it
                self.fail(f"no attribute {shown(key)} of edges is declared before")
            name = self.keys[key].name if key in self.keys else key
            if name == self.edges.weight:
                self.attribute(key, self.required(attributes, "value", f"the attribute {shown(name)} lacks its value"))


def read_graphml(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a GraphML file."""
    return _GraphML(path, options).read(stream)


def read_gexf(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a GEXF file."""
    return _GEXF(path, options).read(stream)
