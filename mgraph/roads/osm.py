"""Networks from files of OpenStreetMap, read by pyosmium in passes: ways, their nodes, restrictions."""

import bz2
import contextlib
import gzip
import os
import zlib
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from xml.parsers import expat

import numpy as np

from .. import device as devices
from .. import lazy
from ..arguments import checked_choice, checked_flag
from ..errors import FormatError, InputError, MissingFileError
from ..io.xml_files import DEEPEST, parsed
from .area import Area
from .modes import MODES, Mode, blocks, capacities, speeds, turn_rule
from .network import Network
from .pbf import check_pbf
from .sphere import metres_between
from .table import Progress
from .turns import Restriction, Rules, barred_turns

T = TypeVar("T")

#: The files that are read, by suffix.
SUFFIXES = (".osm.pbf", ".pbf", ".osm", ".osm.xml", ".osm.gz", ".osm.xml.gz", ".osm.bz2", ".osm.xml.bz2")

#: Osmium's set of ids takes a part of so many bytes for each range of 2 ** _IDS ids that has one.
_PART, _IDS = 1 << 22, 25

#: The greatest id that goes into that set; an editor's own objects have negative ids, which do not.
_MOST_ID = 1 << 40

#: Streets, and nodes, after which progress is told.
STEP = 1 << 12

#: Kilometres an hour in metres a second.
_PER_HOUR = 1 / 3.6


class Ways(NamedTuple):
    """The ways that a mode may use: nodes of all, how many each has, speeds along and against, ids, capacities."""

    nodes: np.ndarray
    counts: np.ndarray
    speeds: np.ndarray
    ids: np.ndarray
    capacities: np.ndarray | None = None


class Nodes(NamedTuple):
    """The nodes of the ways that are there and can be passed, by ascending ids, and where they lie."""

    ids: np.ndarray
    places: np.ndarray


def read_osm(
    path: str | os.PathLike[str],
    mode: str = "drive",
    extract: Any = None,
    component: str | None = None,
    *,
    turns: bool = False,
    capacity: bool = False,
    geometry: bool = True,
    progress: Progress | None = None,
) -> Network:
    """Return the streets of a file of OpenStreetMap that a mode of travel may use.

    Its columns are ``"metres"``, on the sphere, and ``"seconds"``. Cars go by ``maxspeed``, or else by the class of the
    street; bicycles go at 15 km/h and pedestrians at 5 km/h. Delays at crossings are those of
    `Network.with_turn_costs`. One-way streets and access are honoured. A bollard, and where the file or the extract
    ends, cuts a street.

    Parameters
    ----------
    path : path
        A file ``.osm.pbf``, ``.osm`` or ``.osm.xml``, the latter two also with ``.gz`` or ``.bz2``.
    mode : {"drive", "bike", "walk"}
        Who travels.
    extract : tuple of four numbers, array_like of shape (k, 2), polygon, GeoSeries or GeoDataFrame, optional
        Keep what lies within (west, south, east, north), or within a polygon: of Shapely, points of its outline, or the
        union of GeoPandas' polygons.
    component : {"weak", "strong"}, optional
        Keep the largest component alone, as `Graph.largest_component` does. It does not heed `turns`.
    turns : bool
        Honour the restrictions of turns at nodes, such as ``no_left_turn`` and ``only_straight_on``, and turn back only
        where no other turn is left, as at the end of a street. Routes are then searched in a graph with a vertex for
        each link, which takes several times the memory. Restrictions whose ``via`` is a way are left out, as are those
        that hold at some hours alone. Pedestrians heed none but ``restriction:foot``, and turn back anywhere.
    capacity : bool
        Add a column ``"capacity"`` for `assignment`: how many vehicles an hour a street carries in its direction. It is
        the number of ``lanes``, times 2,000 on motorways and trunk roads, 1,500 on primary and 1,000 on secondary
        streets, 300 on living streets and 600 on others.
    geometry : bool
        Keep how streets bend between crossings. Without it they are straight lines there, of the same lengths and
        times, and the network takes less memory.
    progress : callable, optional
        Called with how many streets are read so far, and None; then with how many of how many of their nodes. An
        exception that it raises ends the call.

    Returns
    -------
    Network
        Its vertices are crossings and ends of streets, with the ids of OpenStreetMap's nodes, in ascending order; its
        links have the geometry of the streets.

    Raises
    ------
    MissingFileError
        If there is no such file.
    FormatError
        If the file is cut short, or is not one of OpenStreetMap. A file ``.osm.pbf`` that is cut exactly between two of
        its blocks looks complete. One that is compressed otherwise than by zlib is refused, since its strings are
        checked before osmium reads them.
    InputError
        For another suffix, mode or extract, and if there is no street for the mode.
    MemoryLimitError
        If the nodes of the streets, or the network, do not fit the free memory. The nodes take up to 1.6 GB by the
        ids that OpenStreetMap has given, and 64 bytes for each node of a street; the network takes up to 700 bytes for
        each.
    MissingPackageError
        If pyosmium is not installed: ``pip install 'dask-mgraph[osm]'``.

    Notes
    -----
    What a mode may use follows the tags ``highway``, ``access`` and those of the mode, ``oneway``, ``junction``,
    ``maxspeed``, ``barrier`` and ``restriction``, by the same rules in all countries. What is no ``highway``, such as a
    ferry, is left out. Cars do not take streets with ``oneway=reversible``, which change their direction a few times a
    day, and go at 0.4 of the speed with ``oneway=alternating``, where they wait for the other side. What was deleted
    in a file of JOSM is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import osmium
    >>> from mgraph import roads
    >>> nodes = '<node id="1" lat="60" lon="24.9"/><node id="2" lat="60" lon="24.91"/>'
    >>> way = '<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "city.osm")
    ...     _ = path.write_text(f'<osm version="0.6">{nodes}{way}</osm>')
    ...     roads.read_osm(path)
    Network(2 vertices, 2 links: metres, seconds)
    """
    rules = MODES[checked_choice("mode", mode, list(MODES))]
    if component is not None:
        checked_choice("component", component, ("weak", "strong"))
    file, area, wanted = Path(path), Area(extract), checked_flag("turns", turns)
    if checked_flag("capacity", capacity) and mode != "drive":
        raise InputError(argument="capacity", value=True, expected=f"False for mode={mode!r}: vehicles are counted")
    if not str(file).endswith(SUFFIXES):
        raise InputError(argument="path", value=str(path), expected=f"a file that ends with {', '.join(SUFFIXES)}")
    if not file.is_file():
        raise MissingFileError(2, "there is no such file", str(path))
    osmium = lazy.optional("osmium", "read_osm()")
    if file.suffix == ".pbf":
        check_pbf(file)
    ways = _ways(osmium, str(file), rules, capacity, progress)
    _check_memory(str(path), "the nodes of its streets", bytes_of_nodes(ways.nodes))
    nodes = _nodes(osmium, str(file), np.unique(ways.nodes), rules, progress)
    heeded = _rules(osmium, str(file), rules) if wanted else None
    bends = checked_flag("geometry", geometry)
    inside = area.has(nodes.places)
    nodes = Nodes(nodes.ids[inside], nodes.places[inside])
    kept = int(np.isin(ways.nodes, nodes.ids).sum())
    _check_memory(str(path), "its streets", bytes_of_network(len(ways.nodes), kept, wanted))
    found = network_of(ways, nodes, heeded, bends)
    if found is None:
        where = "" if extract is None else " within the extract"
        raise InputError(f"{path} has no street{where} for mode={mode!r}: give another mode or area")
    return found if component is None else found.largest_component(component)


def bytes_of_nodes(refs: np.ndarray) -> int:
    """Return how many bytes it takes to find the nodes of ways in a file."""
    return 64 * len(refs) + _PART * len(np.unique(refs >> _IDS))


def bytes_of_network(refs: int, kept: int, turns: bool) -> int:
    """Return how many bytes it takes at most to make a network of ways with so many nodes, so many of them kept."""
    return 64 * refs + (700 if turns else 550) * kept


def _check_memory(path: str, what: str, need: int) -> None:
    advice = "give an extract, or cut the file to the area that you need"
    devices.check_free_memory(f"reading {what} from {path}", need, devices.find("cpu"), advice)


def _objects(osmium: Any, path: str, kind: Any, only: Any = None) -> Iterator[Any]:
    """Yield the objects of a kind in a file that pass a filter and are not deleted, or raise FormatError."""
    names = {osmium.osm.NODE: "node", osmium.osm.WAY: "way", osmium.osm.RELATION: "relation"}
    gone = _deleted_in_josm(path, names[kind])
    try:
        objects = osmium.FileProcessor(path, kind)
        found = objects if only is None else objects.with_filter(only)
        yield from (each for each in found if each.visible and each.id not in gone)
    except (RuntimeError, ValueError, osmium.InvalidLocationError) as error:
        raise FormatError(f"{path} is not a complete file of OpenStreetMap: {error}") from error


def _texts(path: str, read: Callable[[Any], T], given: Any) -> T:
    """Return what is read of tags or members, or raise FormatError if a text of them is not UTF-8."""
    try:
        return read(given)
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not a file of OpenStreetMap: a text of it cannot be decoded: {error}") from error


def _deleted_in_josm(path: str, kind: str) -> frozenset[int]:
    """Return the ids of a kind's objects that were deleted in JOSM, whose files keep them; osmium reads them."""
    if path.endswith(".pbf"):
        return frozenset()
    others: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
    opened, gone, by_josm, depth = others.get(Path(path).suffix, open), set[int](), False, 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal by_josm, depth
        depth += 1
        if depth > DEEPEST:
            raise ValueError("osmium does not read elements that lie so deep")
        if tag == "osm":
            by_josm = attributes.get("generator") == "JOSM"
        elif tag == kind and attributes.get("action") == "delete":
            gone.add(int(attributes.get("id", "")))

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    # Osmium says what is wrong with a file.
    with contextlib.suppress(OSError, EOFError, zlib.error, LookupError, ValueError, expat.ExpatError):
        with opened(path, "rb") as file:
            for _ in parsed(parser, file, Path(path)):
                if not by_josm:
                    break
    return frozenset(gone)


def _ways(osmium: Any, path: str, mode: Mode, capacity: bool, progress: Progress | None) -> Ways:
    """Return the ways that a mode may use."""
    refs, counts, ids = array("q"), array("q"), array("q")
    both, carried = array("d"), array("d")
    for way in _objects(osmium, path, osmium.osm.WAY, osmium.filter.KeyFilter("highway")):
        tags = _texts(path, dict, way.tags)
        rates = speeds(tags, mode)
        if rates[0] or rates[1]:
            nodes = [node.ref for node in way.nodes]
            refs.extend(nodes)
            counts.append(len(nodes))
            both.extend(rates)
            ids.append(way.id)
            if capacity:
                carried.extend(capacities(tags))
            if progress is not None and len(ids) % STEP == 0:
                progress(len(ids), None)
    along, most = (np.asarray(each).reshape(-1, 2) for each in (both, carried))
    return Ways(np.asarray(refs), np.asarray(counts), along, np.asarray(ids), most if capacity else None)


def _nodes(osmium: Any, path: str, wanted: np.ndarray, mode: Mode, progress: Progress | None) -> Nodes:
    """Return those of some nodes that are in the file, have a place and can be passed."""
    ids, places = array("q"), array("d")
    if len(wanted):
        for done, node in enumerate(_wanted_nodes(osmium, path, wanted), 1):
            if progress is not None and (done % STEP == 0 or done == len(wanted)):
                progress(done, len(wanted))
            location = node.location
            if location.valid() and not (len(node.tags) and blocks(_texts(path, dict, node.tags), mode)):
                ids.append(node.id)
                places.extend((location.lon, location.lat))
    found, first = np.unique(np.asarray(ids), return_index=True)
    return Nodes(found, np.asarray(places).reshape(-1, 2)[first])


def _wanted_nodes(osmium: Any, path: str, wanted: np.ndarray) -> Iterator[Any]:
    """Yield the nodes with some ids, which are ascending."""
    if 0 <= wanted[0] and wanted[-1] <= _MOST_ID:
        only = osmium.filter.IdFilter(wanted.tolist()).enable_for(osmium.osm.NODE)
        yield from _objects(osmium, path, osmium.osm.NODE, only)
    else:
        known = set(wanted.tolist())
        yield from (node for node in _objects(osmium, path, osmium.osm.NODE) if node.id in known)


def _rules(osmium: Any, path: str, mode: Mode) -> Rules:
    """Return the rules of turns that a mode heeds."""
    found = []
    only = osmium.filter.TagFilter(("type", "restriction"))
    for relation in _objects(osmium, path, osmium.osm.RELATION, only):
        rule = turn_rule(_texts(path, dict, relation.tags), mode)
        members = _texts(path, _members, relation)
        via = [ref for role, kind, ref in members if role == "via" and kind == "n"]
        if rule is not None and len(via) == sum(role == "via" for role, _, _ in members) == 1:
            sources, targets = (
                frozenset(ref for role, kind, ref in members if role == side and kind == "w") for side in ("from", "to")
            )
            found.append(Restriction(sources, via[0], targets, rule == "only"))
    return Rules(found, back="vehicle" not in mode.access)


def _members(relation: Any) -> list[tuple[str, str, int]]:
    return [(member.role, member.type, member.ref) for member in relation.members]


def network_of(ways: Ways, nodes: Nodes, turns: Rules | None, geometry: bool = True) -> Network | None:
    """Return the network of ways, cut where a node is not known; None if nothing is left."""
    way = np.repeat(np.arange(len(ways.counts)), ways.counts)
    place = np.searchsorted(nodes.ids, ways.nodes)
    known = place < len(nodes.ids)
    known[known] = nodes.ids[place[known]] == ways.nodes[known]
    # A step leads from one position to the next of the same way; a repeated node is no step.
    step = (way[1:] == way[:-1]) & known[1:] & known[:-1] & (place[1:] != place[:-1])
    if not step.any():
        return None
    before, after = np.append(False, step), np.append(step, False)
    used = np.bincount(place[before | after], minlength=len(nodes.ids))
    ends = (before ^ after) | ((before & after) & (used[np.where(known, place, 0)] > 1))
    starts = np.flatnonzero(ends & after)
    stops = np.flatnonzero(ends & before)
    lengths = np.zeros(len(place))
    moved = np.flatnonzero(step)
    lengths[moved + 1] = metres_between(nodes.places[place[moved]], nodes.places[place[moved + 1]])
    # Sums of each link alone: a difference of sums over all streets would round more.
    slots = np.add.reduceat(np.append(lengths, 0), np.stack([starts + 1, stops + 1], axis=1).ravel())[::2]
    return _links(ways, way[starts], place, starts, stops, slots, nodes, turns, geometry)


def _links(
    ways: Ways,
    way: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    metres: np.ndarray,
    nodes: Nodes,
    turns: Rules | None,
    geometry: bool,
) -> Network:
    """Return the network of streets between positions, with a link for each direction that can be gone."""
    rates = ways.speeds[way]
    along, against = (np.flatnonzero(rates[:, side] > 0) for side in (0, 1))
    streets = np.concatenate([along, against])
    sides = np.repeat([0, 1], [len(along), len(against)])
    order = np.lexsort([sides, streets])
    streets, sides = streets[order], sides[order]
    first, last = starts[streets], stops[streets]
    tail, head = (place[np.where(sides == side, first, last)] for side in (0, 1))
    vertices, numbers = np.unique(np.concatenate([tail, head]), return_inverse=True)
    long = metres[streets]
    tail, head = numbers[: len(tail)], numbers[len(tail) :]
    barred = None
    if turns is not None:
        two = np.append(streets[1:] == streets[:-1], False)  # the two directions of a street are neighbours
        backward = np.where(two, np.arange(len(tail)) + 1, np.where(np.roll(two, 1), np.arange(len(tail)) - 1, -1))
        barred = barred_turns(tail, head, nodes.ids[vertices], ways.ids[way[streets]], backward, turns)
    columns = {"metres": long, "seconds": long / (rates[streets, sides] * _PER_HOUR)}
    if ways.capacities is not None:
        columns["capacity"] = ways.capacities[way[streets], sides]
    return Network(
        tail,
        head,
        columns,
        nodes.places[vertices],
        nodes.ids[vertices],
        _shapes(first, last, sides, nodes.places, place) if geometry else None,
        barred,
    )


def _shapes(
    first: np.ndarray, last: np.ndarray, sides: np.ndarray, places: np.ndarray, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of links from the first to the last position of ways, or back on side 1, and their begins."""
    sizes = last - first + 1
    begins = np.concatenate([[0], np.cumsum(sizes)])
    steps = np.arange(begins[-1]) - np.repeat(begins[:-1], sizes)
    back = np.repeat(sides == 1, sizes)
    points = np.where(back, np.repeat(last, sizes) - steps, np.repeat(first, sizes) + steps)
    return places[place[points]], begins
