"""Networks and trips in the format TNTP, that of the collection Transportation Networks for Research [1]_.

A file begins with lines ``<NAME> value`` up to ``<END OF METADATA>``; a line that begins with ``~`` is a comment. A
network then has a line of ten numbers for each link, trips have ``Origin 1`` and, for each destination, ``2 : 100.0;``.
All numbers are checked here, before any of them is an index.

References
----------
.. [1] Transportation Networks for Research Core Team, "Transportation networks for research",
   https://github.com/bstabler/TransportationNetworks
"""

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import device as devices
from ..dtypes import MAX_VERTICES
from ..errors import FormatError, shown
from ..io.stream import Text, opened
from .performance import Links

#: How far the sum of all trips may be from the one that the file names, relatively: the latter is often rounded.
_ROUNDED = 1e-3

_FIELDS = "init_node term_node capacity length free_flow_time b power speed toll link_type"
_COLUMNS = len(_FIELDS.split())
_NUMBER = rb"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?"
_LINK = re.compile(rb"(?:%b[ \t]+){%d}%b[ \t]*;?" % (_NUMBER, _COLUMNS - 1, _NUMBER))
_TRIPS = re.compile(rb"(?:[0-9]{1,9}[ \t]*:[ \t]*%b[ \t]*;[ \t]*)+" % _NUMBER)
_ORIGIN = re.compile(rb"[Oo]rigin[ \t]+([0-9]{1,9})")
_TAG = re.compile(rb"<([^<>]{1,80})>(.*)")
_SEPARATORS = bytes.maketrans(b":;", b"  ")

#: Links whose numbers are kept as Python's at a time.
_AT_A_TIME = 1 << 14


class TntpNetwork(NamedTuple):
    """What a file of a network holds.

    Attributes
    ----------
    nodes, zones : int
        The number of nodes, which the file numbers from 1, and of zones, which are the first of them.
    first_through : int
        The first node, numbered from 0, that routes may pass; those before it are only begun and ended at.
    links : Links
        The links in the order of the file, with nodes numbered from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mgraph import roads
    >>> columns = np.array([[4, 4], [0.15, 0.15], [4, 4], [10, 20], [5, 7], [0, 0]])
    >>> links = roads.Links(np.array([0, 0]), np.array([1, 1]), *columns)
    >>> network = roads.TntpNetwork(nodes=2, zones=2, first_through=0, links=links)
    >>> network.nodes, network.zones
    (2, 2)
    """

    nodes: int
    zones: int
    first_through: int
    links: Links


def from_tntp(path: str | os.PathLike[str]) -> TntpNetwork:
    r"""Return the network in a file of TNTP, which may be compressed.

    Parameters
    ----------
    path : path
        The file, such as ``SiouxFalls_net.tntp``.

    Returns
    -------
    TntpNetwork

    Raises
    ------
    FormatError
        If the file is not such a network, is cut short, or has a number that cannot be; the message names the line.
    MissingFileError
        If it does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mgraph import roads
    >>> head = "<NUMBER OF ZONES> 2\n<NUMBER OF NODES> 2\n<NUMBER OF LINKS> 2\n<END OF METADATA>\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "town_net.tntp")
    ...     _ = path.write_text(head + "1 2 10 5 4 0.15 4 0 0 1 ;\n1 2 20 7 4 0.15 4 0 0 1 ;\n")
    ...     network = roads.from_tntp(path)
    >>> network.nodes, network.zones, network.links.capacity.tolist()
    (2, 2, [10.0, 20.0])
    """
    lines = _Lines(path)
    head = lines.header()
    nodes, zones, count = (
        lines.count(head, name) for name in ("NUMBER OF NODES", "NUMBER OF ZONES", "NUMBER OF LINKS")
    )
    first = lines.count(head, "FIRST THRU NODE", 1)
    for name, value, most in (("NUMBER OF ZONES", zones, nodes), ("FIRST THRU NODE", first, nodes + 1)):
        if value > most:
            raise FormatError(f"{lines.path}: <{name}> is {value}, but there are {nodes} nodes")
    parts: list[np.ndarray] = []
    numbers: list[int] = []
    rows: list[list[bytes]] = []
    for number, line in lines:
        if not _LINK.fullmatch(line):
            raise lines.error(number, f"a link is ten numbers, {_FIELDS}, not {_text(line)}")
        if len(numbers) == count:
            raise lines.error(number, f"<NUMBER OF LINKS> is {count}, but there are more")
        numbers.append(number)
        rows.append(line.rstrip(b"; \t").split())
        if len(rows) == _AT_A_TIME:
            parts.append(np.array(rows, dtype=np.float64))
            rows.clear()
    parts.append(np.array(rows, dtype=np.float64).reshape(-1, _COLUMNS))
    table = np.concatenate(parts)
    if len(table) != count:
        wrong = f"<NUMBER OF LINKS> is {count}, but there are {len(table)} links: is the file complete?"
        raise FormatError(f"{lines.path}: {wrong}")
    _check_table(table, numbers, nodes, lines)
    tail, head_ = (table[:, k].astype(np.int32) - 1 for k in (0, 1))
    capacity, length, time, b, power, _, toll = (np.ascontiguousarray(table[:, k]) for k in range(2, 9))
    return TntpNetwork(nodes, zones, max(first, 1) - 1, Links(tail, head_, time, b, power, capacity, length, toll))


def read_trips(path: str | os.PathLike[str]) -> np.ndarray:
    r"""Return the demand in a file of trips of TNTP, which may be compressed.

    Parameters
    ----------
    path : path
        The file, such as ``SiouxFalls_trips.tntp``.

    Returns
    -------
    array of float64, shape (zones, zones)
        The trips from each zone to each other, in the order of their numbers; 0 where the file names none.

    Raises
    ------
    FormatError
        If the file has no such trips; if a zone is not in the range that it names; if a pair of zones occurs twice; if
        a number is negative or infinite; and if the trips do not add up to its ``<TOTAL OD FLOW>``, within 0.1%, which
        often is rounded: then a part may be missing.
    MissingFileError
        If it does not exist.
    MemoryLimitError
        If a matrix of so many zones does not fit the free memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mgraph import roads
    >>> text = "<NUMBER OF ZONES> 2\n<END OF METADATA>\nOrigin 1\n 1 : 0.0; 2 : 30.5;\nOrigin 2\n 1 : 7.0;\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "town_trips.tntp")
    ...     _ = path.write_text(text)
    ...     roads.read_trips(path).tolist()
    [[0.0, 30.5], [7.0, 0.0]]
    """
    lines = _Lines(path)
    head = lines.header()
    zones = lines.count(head, "NUMBER OF ZONES")
    devices.check_free_memory(f"trips between {zones:,} zones", 9 * zones * zones, devices.find("cpu"))
    demand, known = np.zeros((zones, zones)), np.zeros((zones, zones), bool)
    origin = -1
    for number, line in lines:
        begins = _ORIGIN.fullmatch(line)
        if begins is not None:
            origin = int(begins[1]) - 1
            if not 0 <= origin < zones:
                raise lines.error(number, f"origin {origin + 1} is not a zone: there are {zones}")
            continue
        if origin < 0 or not _TRIPS.fullmatch(line):
            wanted = "'Origin 1'" if origin < 0 else "'Origin 1', or trips such as '2 : 100.0;'"
            raise lines.error(number, f"expected {wanted}, not {_text(line)}")
        fields = line.translate(_SEPARATORS).split()
        to = [int(field) - 1 for field in fields[::2]]
        amounts = [float(field) for field in fields[1::2]]
        for zone, amount in zip(to, amounts, strict=True):
            if not 0 <= zone < zones:
                raise lines.error(number, f"destination {zone + 1} is not a zone: there are {zones}")
            if not 0 <= amount < math.inf:
                raise lines.error(number, f"{amount} trips to {zone + 1}: a number of 0 or more expected")
            if known[origin, zone]:
                raise lines.error(number, f"trips from {origin + 1} to {zone + 1} are given a second time")
            known[origin, zone], demand[origin, zone] = True, amount
    total, asked = float(demand.sum()), lines.number(head, "TOTAL OD FLOW")
    if asked is not None and abs(total - asked) > _ROUNDED * max(total, asked):
        raise FormatError(
            f"{lines.path}: <TOTAL OD FLOW> is {asked:g}, but the trips add up to {total:g}: is the file complete?"
        )
    return demand


class _Lines:
    """The lines of a file that are neither blank nor comments, with their numbers; the header is read first."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lines = self._read()

    def _read(self) -> Iterator[tuple[int, bytes]]:
        with opened(self.path) as stream:
            text = Text(self.path, stream, b"~")
            for first, block in text:
                number, counted = first, 0
                for place, line in text.content(block):
                    number += block.count(b"\n", counted, place)
                    counted = place
                    yield number, line

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self._lines

    def error(self, number: int, what: str) -> FormatError:
        """Return an error about a line."""
        return FormatError(f"{self.path}, line {number}: {what}")

    def header(self) -> dict[str, tuple[int, bytes]]:
        """Return the values of the header by name, with the numbers of their lines."""
        found: dict[str, tuple[int, bytes]] = {}
        for number, line in self._lines:
            tag = _TAG.fullmatch(line)
            if tag is None:
                raise self.error(number, f"expected <NAME> and a value before <END OF METADATA>, not {_text(line)}")
            name = tag[1].decode("utf-8", "replace").strip().upper()
            if name == "END OF METADATA":
                return found
            found[name] = number, tag[2].strip()
        raise FormatError(f"{self.path} has no line <END OF METADATA>: is it a complete file of TNTP?")

    def count(self, head: dict[str, tuple[int, bytes]], name: str, default: int | None = None) -> int:
        """Return a count that the header names, which is at least 1."""
        if name not in head:
            if default is None:
                raise FormatError(f"{self.path} has no line <{name}>")
            return default
        number, value = head[name]
        if not re.fullmatch(rb"[0-9]{1,10}", value) or not 1 <= int(value) <= MAX_VERTICES:
            raise self.error(number, f"<{name}> must be an integer in [1, {MAX_VERTICES + 1}), got {_text(value)}")
        return int(value)

    def number(self, head: dict[str, tuple[int, bytes]], name: str) -> float | None:
        """Return a number that the header names, None if it names none."""
        number, value = head.get(name, (0, b""))
        if not value:
            return None
        if not re.fullmatch(_NUMBER, value) or not 0 <= float(value) < math.inf:
            raise self.error(number, f"<{name}> must be a number of 0 or more, got {_text(value)}")
        return float(value)


def _check_table(table: np.ndarray, numbers: list[int], nodes: int, lines: _Lines) -> None:
    """Raise FormatError for the first link with a number that cannot be."""
    names = _FIELDS.split()
    for k, name in enumerate(names):
        column = table[:, k]
        if k < 2:
            wrong, wanted = (
                ~((column >= 1) & (column <= nodes) & (column == np.floor(column))),
                f"a node in 1 to {nodes}",
            )
        elif name in ("speed", "toll", "link_type"):
            wrong, wanted = ~np.isfinite(column), "a finite number"
        else:
            wrong, wanted = ~((column >= 0) & np.isfinite(column)), "a number of 0 or more"
        if wrong.any():
            row = int(np.argmax(wrong))
            raise lines.error(numbers[row], f"{name} must be {wanted}, got {column[row]:g}")


def _text(line: bytes) -> str:
    return shown(line[:60].decode("utf-8", "replace"))
