"""Edges between named nodes, gathered one after the other from a file that also has other content."""

import contextlib
import math
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentValue, FormatError, shown
from ..graph.coordinates import number_of
from ..graph.ids import as_ids
from .content import Content, Options, are_amounts
from .stream import require
from .table import INTEGER

#: Bytes that an edge and a node take until the graph is made.
_AN_EDGE, _A_NODE = 100, 250

#: The attributes of nodes that are coordinates.
AXES = ("x", "y")

#: Edges and nodes between two looks at the free memory.
_SOME = 1 << 16

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(\.[0-9]*)?|(\.[0-9]+))([eE][+-]?[0-9]+)?")
_INFINITY = re.compile(r"\+?inf(inity)?", re.IGNORECASE)


def number(text: str, real: bool = False) -> int | float:
    """Return the number that a text is: of int64 if it is an integer and not `real`, else a float, perhaps infinity.

    Raises
    ------
    ValueError
        If it is not a number, NaN, -inf, or beyond its type.
    """
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    if found is None:
        if _INFINITY.fullmatch(text) and not are_amounts():
            return float("inf")
        raise ValueError("not a number")
    if not real and not any(found.groups()):
        integer = int(text)
        if not -(2**63) <= integer < 2**63:
            raise ValueError("beyond int64")
        return integer
    value = float(text)
    if abs(value) == float("inf"):
        raise ValueError("beyond float64")
    return value


class NamedEdges:
    """The nodes of a file by their names, in the order in which they are met, and the edges between them.

    Parameters
    ----------
    path : path
        The file, for messages.
    options : Options
        Those of `mgraph.read`. `weight` is the attribute of edges that is their weight.

    Attributes
    ----------
    weight : str or None
        The name of this attribute; None if weights are ignored.
    """

    def __init__(self, path: Path, options: Options) -> None:
        self.weight = None if options.weighted is False else options.weight or "weight"
        self._path, self._options = path, options
        self._numbers: dict[Any, int] = {}
        self._src, self._dst, self._both = array("i"), array("i"), bytearray()
        self._weights: list[int | float | None] = []
        #: The coordinates of nodes whose file has some, by axis; those of further nodes are not known.
        self._places = {axis: array("d") for axis in AXES}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: Any) -> bool:
        return _key(name) in self._numbers

    def node(self, name: Any) -> int:
        """Return the number of a node, which is a new one if its name is new."""
        found = self._numbers.setdefault(_key(name), len(self._numbers))
        if found % _SOME == _SOME - 1:
            self._require()
        return found

    def place(self, node: int, axis: str, value: Any) -> None:
        """Note a coordinate of a node, by its number; what is not a finite number is not known."""
        places = self._places[axis]
        if node >= len(places):
            places.extend([math.nan] * (len(self) - len(places)))
        places[node] = number_of(value)

    def edge(self, src: int, dst: int, weight: int | float | None, both: bool) -> None:
        """Add an edge between the nodes of two numbers; one without a direction, or with both, is `both`."""
        self._src.append(src)
        self._dst.append(dst)
        self._both.append(both)
        self._weights.append(weight)
        if len(self._src) % _SOME == 0:
            self._require()

    def weight_of(self, value: Any, where: str, real: bool = False) -> int | float:
        """Return a weight that is a number, perhaps as text, or raise FormatError, which names the place `where`."""
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                return number(value, real)
        if (type(value) is float and abs(value) < float("inf")) or (type(value) is int and -(2**63) <= value < 2**63):
            return value
        raise FormatError(
            f"{where}: the attribute {shown(self.weight)} of an edge must be a number, got {shown(value)[:60]}: name "
            "another by ",
            ArgumentValue("weight"),
            ", or leave weights out by ",
            ArgumentValue("weighted", False),
        )

    def content(self, directed: bool) -> Content:
        """Return all edges of a graph that is `directed`, as it also is if an edge has one direction.

        In such a graph, an edge without a direction is two, unless the caller wants none to have one. An edge without
        a weight weighs 1.

        Raises
        ------
        FormatError
            If no edge has the attribute that the caller names.
        """
        self._require()
        src, dst = (np.array(ends, np.int32) for ends in (self._src, self._dst))
        weights, both = self._all_weights(), np.frombuffer(self._both, bool)
        directed = directed or not both.all()
        if directed and self._options.directed is not False:
            back = np.flatnonzero(both & (src != dst))
            src, dst = np.concatenate([src, dst[back]]), np.concatenate([dst, src[back]])
            weights = weights if weights is None else np.concatenate([weights, weights[back]])
        return Content(
            src, dst, weights, len(self), directed, 0, ids_of(map(_name, self._numbers)), self._coordinates()
        )

    def _coordinates(self) -> np.ndarray | None:
        """Return the coordinates of all nodes; None if no node has both."""
        found = np.full((len(self), 2), np.nan)
        for axis, places in enumerate(self._places.values()):
            found[: len(places), axis] = places
        return found if (~np.isnan(found)).all(axis=1).any() else None

    def _all_weights(self) -> np.ndarray | None:
        """Return the weights of all edges; None if none has one."""
        values = self._weights
        if values.count(None) == len(values):
            if self.weight is not None and self._options.weight is not None:
                raise FormatError(f"{self._path}: no edge has the attribute {shown(self.weight)}")
            return None
        kind = np.float64 if any(type(value) is float for value in values) else np.int64
        return np.array([1 if value is None else value for value in values], kind)

    def _require(self) -> None:
        """Raise MemoryLimitError if the graph so far does not fit the free memory."""
        needed = _AN_EDGE * len(self._src) + _A_NODE * len(self._numbers)
        require(self._path, needed, f"a graph of at least {len(self):,} nodes and {len(self._src):,} edges")


@dataclass(frozen=True)
class _Large:
    """A name that is an integer of more than 64 bits. As integers, many could have one hash."""

    digits: str


def _key(name: Any) -> Any:
    """Return by what a node is looked up."""
    return _Large(str(name)) if type(name) is int and not -(2**63) <= name < 2**63 else name


def _name(key: Any) -> Any:
    return int(key.digits) if type(key) is _Large else key


def ids_of(names: Iterable[Any]) -> np.ndarray | None:
    """Return the names of nodes as ids, integers if all are, in text, too; None if they are 0 to n-1."""
    ids = as_ids(names)
    if ids.dtype.kind == "O" and all(type(name) is str and INTEGER.fullmatch(name) for name in ids):
        ids = as_ids(map(int, ids))
    return None if np.array_equal(ids, np.arange(len(ids))) else ids
