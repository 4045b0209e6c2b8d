"""Which streets of OpenStreetMap a mode may use, in which directions, and how fast.

The rules are those of OpenStreetMap's wiki, pages "Key:highway", "Key:access", "Key:oneway", "Key:maxspeed" and
"Relation:restriction", without those that differ by country. A tag that names the mode more closely wins.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

#: Kilometres an hour where no limit is tagged; cars have these classes of streets.
_CARS = {
    "motorway": 100,
    "motorway_link": 60,
    "trunk": 80,
    "trunk_link": 50,
    "primary": 60,
    "primary_link": 45,
    "secondary": 50,
    "secondary_link": 40,
    "tertiary": 40,
    "tertiary_link": 35,
    "unclassified": 35,
    "residential": 30,
    "road": 30,
    "living_street": 10,
    "service": 15,
}
#: Lanes in a direction, and vehicles an hour on each, where no tag says how many: those of MATSim's OsmNetworkReader.
_LANES = {
    "motorway": (2, 2000),
    "trunk": (1, 2000),
    "primary": (1, 1500),
    "secondary": (1, 1000),
    "living_street": (1, 300),
}
_LINKS = {"motorway_link": (1, 1500), "trunk_link": (1, 1500), "primary_link": (1, 1500), "secondary_link": (1, 1000)}
_OTHER_LANES = 1, 600

_SLOW = ("cycleway", "footway", "path", "track", "pedestrian", "bridleway", "steps", "corridor")
_STREETS = frozenset(_CARS) - {"motorway", "motorway_link"}

#: Values of an access tag that close a street, and those that open one to a mode that its class is not meant for.
_CLOSED = frozenset(("no", "private", "agricultural", "forestry", "emergency", "military", "delivery", "use_sidepath"))
_OPEN = frozenset(("yes", "designated", "permissive", "official", "destination", "customers"))
_YES, _REVERSE = frozenset(("yes", "true", "1")), frozenset(("-1", "reverse"))
_SIDES = "forward", "backward"

#: Of streets that change their direction, those that do so a few times a day are closed to cars, as hours are not
#: read; where a signal does it every few minutes, the wait is a part of the speed. OSRM's profile of cars has the same.
_REVERSIBLE, _ALTERNATING, _WAITING = "reversible", "alternating", 0.4

#: Tags by which a restriction of turns held at some hours before ``restriction:conditional``.
_HOURS = {"day_on", "day_off", "hour_on", "hour_off"}
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) ?(mph|km/h|kmh|knots)?")
_UNITS = {"mph": 1.609344, "knots": 1.852}


class Mode(NamedTuple):
    """A mode of travel: its tags of access, from the closest to the widest, and the classes that it may use.

    `speed` in kilometres an hour is that of all streets, or None if limits and classes say it. `barriers` stop it
    unless a tag of access lets it pass.
    """

    access: tuple[str, ...]
    classes: frozenset[str]
    speed: float | None
    oneway: tuple[str, ...]
    barriers: frozenset[str]


_BLOCKS = frozenset(
    ("block", "bollard", "jersey_barrier", "debris", "cycle_barrier", "stile", "turnstile", "kissing_gate")
)

#: The modes by name.
MODES = {
    "drive": Mode(("motorcar", "motor_vehicle", "vehicle", "access"), frozenset(_CARS), None, ("oneway",), _BLOCKS),
    "bike": Mode(
        ("bicycle", "vehicle", "access"),
        _STREETS | {"cycleway", "path", "track"},
        15.0,
        ("oneway:bicycle", "oneway"),
        frozenset(("stile", "turnstile", "kissing_gate")),
    ),
    "walk": Mode(("foot", "access"), _STREETS | frozenset(_SLOW), 5.0, ("oneway:foot",), frozenset()),
}


def speeds(tags: Mapping[str, str], mode: Mode) -> tuple[float, float]:
    """Return the speeds along a way and against it, in kilometres an hour; 0 where the mode may not go."""
    kind = tags.get("highway", "")
    known = kind in mode.classes
    if tags.get("area") == "yes" or not (known or kind in _CARS or kind in _SLOW):
        return 0.0, 0.0
    allowed = access(tags, mode)
    if allowed is False or not (known or (allowed and _parts(tags.get(mode.access[0], "")) & _OPEN)):
        return 0.0, 0.0
    ahead, back = _directions(tags, mode)
    if mode.speed is not None:
        return ahead * mode.speed, back * mode.speed
    usual = _CARS.get(kind, 15)
    limit = _limit(tags.get("maxspeed"), usual)
    forward, backward = (_limit(tags.get(f"maxspeed:{way}"), limit) for way in _SIDES)
    share = _WAITING if tags.get("oneway") == _ALTERNATING else 1.0
    return ahead * forward * share, back * backward * share


def capacities(tags: Mapping[str, str]) -> tuple[float, float]:
    """Return how many vehicles an hour a way carries along it, and against it: lanes by what one of its class carries.

    A tag ``lanes`` counts both directions of a two-way street, which have half each, but at least one.
    """
    usual, each = (_LANES | _LINKS).get(tags.get("highway", ""), _OTHER_LANES)
    total = _count(tags.get("lanes"))
    both = all(_directions(tags, MODES["drive"]))
    ahead, back = (
        _count(tags.get(f"lanes:{way}")) or (max(total / (1 + both), 1) if total else usual) for way in _SIDES
    )
    return ahead * each, back * each


def _count(value: str | None) -> int:
    """Return a number of lanes; 0 if the tag has none that can be read."""
    return int(value) if value is not None and value.isascii() and value.isdecimal() and len(value) < 3 else 0


def access(tags: Mapping[str, str], mode: Mode) -> bool | None:
    """Return whether tags of access let a mode pass; None if there are none."""
    for key in mode.access:
        value = tags.get(key)
        if value is not None:
            return not _parts(value) <= _CLOSED
    return None


def _parts(value: str) -> set[str]:
    """Return the values of a tag that may have several, as ``agricultural;forestry`` has."""
    return {part.strip() for part in value.split(";")}


def blocks(tags: Mapping[str, str], mode: Mode) -> bool:
    """Return whether a node, such as a bollard, stops a mode."""
    passes = access(tags, mode)
    return tags.get("barrier") in mode.barriers if passes is None else not passes


def turn_rule(tags: Mapping[str, str], mode: Mode) -> str | None:
    """Return whether a relation bars turns for a mode (``"no"``), or allows its own alone (``"only"``); else None.

    Those that hold at some hours alone are left out. A restriction without a mode is for vehicles.
    """
    if tags.get("type") != "restriction" or _HOURS & tags.keys():
        return None
    value = next((tags[key] for each in mode.access if (key := f"restriction:{each}") in tags), None)
    if value is None and "vehicle" in mode.access and not _parts(tags.get("except", "")) & set(mode.access):
        value = tags.get("restriction")
    kind = (value or "").partition("_")[0]
    return kind if kind in ("no", "only") else None


def _directions(tags: Mapping[str, str], mode: Mode) -> tuple[bool, bool]:
    """Return whether a mode may go along a way, and against it: a tag of access for a side wins."""
    allowed = [
        access({key: tags[f"{key}:{side}"] for key in mode.access if f"{key}:{side}" in tags}, mode) for side in _SIDES
    ]
    ahead, back = (usual if own is None else own for usual, own in zip(_oneway(tags, mode), allowed, strict=True))
    return ahead, back


def _oneway(tags: Mapping[str, str], mode: Mode) -> tuple[bool, bool]:
    """Return in which directions a street is open by whether it is one-way."""
    for key in mode.oneway:
        value = tags.get(key)
        if value in ("no", _ALTERNATING):
            return True, True
        if value == _REVERSIBLE:
            return (mode.speed is not None,) * 2
        if value in _YES or value in _REVERSE:
            against = mode.oneway[0] == "oneway:bicycle" and _contraflow(tags)
            return (value in _YES or against), (value in _REVERSE or against)
    circular = tags.get("junction") in ("roundabout", "circular") or tags.get("highway") in (
        "motorway",
        "motorway_link",
    )
    return True, not (circular and "oneway" in mode.oneway)


def _contraflow(tags: Mapping[str, str]) -> bool:
    """Return whether bicycles may go against a one-way street."""
    keys = ("cycleway", "cycleway:left", "cycleway:right", "cycleway:both")
    return any(tags.get(key, "").startswith("opposite") for key in keys)


def _limit(value: str | None, otherwise: float) -> float:
    """Return a limit of speed in kilometres an hour; another one if the tag has none that can be read."""
    if value is None:
        return otherwise
    if value == "walk":
        return 5.0
    found = _SPEED.fullmatch(value.partition(";")[0].strip())
    speed = 0.0 if found is None else float(found[1]) * _UNITS.get(found[2] or "", 1)
    return speed if speed > 0 else otherwise
