"""Rows of a folder: the newest of each case on each device.

A folder holds one run or several, such as one of a GPU and one of a CPU; all its ``*.jsonl`` are read, whatever folders
they are in. `mgraph_bench` documents the fields of a row.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mgraph.errors import InputError

from .amounts import count, digits
from .phases import PHASED, by_phase
from .suite import value

Row = dict[str, Any]

#: Kinds of rows.
KINDS = ("case", "skipped", "wrong", "ceilings")

#: Types of the fields of every row, of rows of a case, and of each kind of row.
_EVERY: dict[str, type] = {"device": dict}
_OF_A_CASE: dict[str, type] = {"suite": str, "algorithm": str, "graph": dict, "call": dict, "run": dict}
_OF_KIND: dict[str, dict[str, type]] = {
    "case": _OF_A_CASE | {"n": int, "seconds": float, "call_seconds": float},
    "skipped": _OF_A_CASE | {"why": str},
    "wrong": _OF_A_CASE | {"why": str},
    "ceilings": {},
}
#: The name of a suite, which becomes that of files and, in a page, of sections.
_SUITE = re.compile(r"\w[\w .+-]*")
_OF_A_DEVICE: dict[str, type] = {"kind": str, "model": str, "count": int}


@dataclass(frozen=True)
class Rows:
    """The content of a folder.

    Attributes
    ----------
    cases, skipped, wrong, ceilings : list of dict
        The rows of each kind, those of GPUs first, else in order of appearance. Cases that one machine skipped and
        another measured do not count as skipped. Quick ceilings are left out if the device has others.
    others : int
        Number of lines that are not rows of these kinds.
    """

    cases: list[Row]
    skipped: list[Row]
    wrong: list[Row]
    ceilings: list[Row]
    others: int = 0

    @property
    def suites(self) -> list[str]:
        """The names of the suites, in order of appearance."""
        return list(dict.fromkeys(row["suite"] for row in (*self.cases, *self.skipped, *self.wrong)))

    def of(self, suite: str) -> list[Row]:
        """Return the cases of a suite."""
        return [row for row in self.cases if row["suite"] == suite]


def read(folder: Path) -> Rows:
    """Return the rows under a folder: of each case on a device, and of each device's ceilings, the newest.

    Raises
    ------
    InputError
        If the folder does not exist or has no rows, or a line cannot be read.
    """
    if not folder.is_dir():
        raise InputError(f"expected a folder that `mgraph bench` has written rows to, got {str(folder)!r}")
    newest: dict[str, Row] = {}
    others = 0
    for path in sorted(folder.rglob("*.jsonl")):
        for row in rows_of(path):
            if row.get("kind") not in KINDS:
                others += 1
            elif (known := newest.get(key(row))) is None:
                newest[key(row)] = row
            elif row.get("date", "") >= known.get("date", ""):
                newest[key(row)] = row
    if not newest:
        raise InputError(f"{str(folder)!r} holds no rows (*.jsonl): measure first, with `mgraph bench`")
    kinds: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    for row in sorted(newest.values(), key=_on_a_cpu):
        kinds[row["kind"]].append(row)
    measured = set(map(_case, kinds["case"]))
    since = {(_case(row), device_name(row, False)): row.get("date", "") for row in kinds["case"]}
    skipped = [
        row
        for row in kinds["skipped"]
        if (_is_there(row) or _case(row) not in measured)
        # A skipped row names one device; the case may have been measured later on several.
        and since.get((_case(row), device_name(row, False)), "") <= row.get("date", "")
    ]
    ceilings = [row for row in kinds["ceilings"] if not row.get("quick") or key(row | {"quick": False}) not in newest]
    return Rows(kinds["case"], skipped, kinds["wrong"], ceilings, others)


def rows_of(path: Path, own: bool = False) -> Iterator[Row]:
    """Yield the rows of a file; an incomplete last line is left out.

    Parameters
    ----------
    path : path
        A file of JSON objects, one a line.
    own : bool
        Only `mgraph bench` writes to the file: an object of an unknown kind is an error.

    Raises
    ------
    InputError
        If another line is not a row.
    """
    text = path.read_bytes()
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode(), parse_constant=_no_number)
        except ValueError as error:
            if number == len(lines) and not text.endswith(b"\n"):
                return  # a run that was cut off while it wrote
            raise _no_row(path, number, f": {error}") from error
        if not isinstance(row, dict):
            raise _no_row(path, number, f", got {line.decode()[:40]!r}")
        lack = _lack(row)
        if lack and (own or row.get("kind") in KINDS):
            raise _no_row(path, number, f": {lack}")
        yield row


def _no_row(path: Path, number: int, why: str) -> InputError:
    return InputError(f"{path}, line {number} must be a row{why}; remove the line, or measure again")


def _no_number(word: str) -> None:
    raise ValueError(f"a number must be one of JSON, got {word}")


def _lack(row: Row) -> str:
    """Return the first field that is missing or wrong for the row's kind, in words; "" if all are right."""
    kind = row.get("kind")
    if kind not in KINDS:
        return f"kind {kind!r} is none of {', '.join(KINDS)}"
    for table, fields, of in ((row, _EVERY | _OF_KIND[kind], ""), (row.get("device"), _OF_A_DEVICE, "device's ")):
        for name, wanted in fields.items():
            found: Any = table.get(name) if isinstance(table, dict) else None
            right = isinstance(found, (int, float) if wanted is float else wanted) and not isinstance(found, bool)
            if not right or (wanted is float and not 0 < found < 1e300) or (wanted is int and abs(found) >= 2**63):
                return f"its {of}{name} is {json.dumps(found)[:40]}"
    if "suite" in _OF_KIND[kind] and not _SUITE.fullmatch(row["suite"]):
        return f"its suite is {json.dumps(row['suite'])[:40]}"
    return ""


def _is_there(row: Row) -> bool:
    """Return whether a case was skipped on the kind of device that it names."""
    wanted, _, _ = (row["run"].get("device") or "").partition(":")
    return wanted in ("", (row.get("device") or {}).get("kind"))


def _on_a_cpu(row: Row) -> bool:
    return (row.get("device") or {}).get("kind") == "cpu"


def key(row: Row) -> str:
    """Return a key of the row's case and model of device."""
    on = row.get("device") or {}
    device = [on.get("kind"), on.get("model"), on.get("count")]
    if row["kind"] == "ceilings":
        return json.dumps(["ceilings", device, bool(row.get("quick"))])
    return json.dumps([_case(row), device], sort_keys=True)


def _case(row: Row) -> str:
    """Return a key of the row's case, whatever the device."""
    parts = [row[name] for name in ("suite", "algorithm", "graph", "call", "run")]
    return json.dumps([*parts, bool(row.get("quick"))], sort_keys=True)


def device_name(row: Row, counted: bool = True) -> str:
    """Return the model of a row's device, with the number of devices if `counted`."""
    on = row.get("device") or {}
    model = re.sub(
        r"^NVIDIA |^Intel|^AMD |\((R|TM)\)|Tesla | CPU| Processor| \d+-Core|@.*",
        "",
        on.get("model") or on.get("kind") or "no device",
    )
    model = " ".join(model.split())
    number = on.get("count", 1)
    return f"{number} × {model}" if counted and number != 1 else model


def input_name(row: Row) -> str:
    """Return what a row's input is, without the call and its conditions."""
    return case_name({"graph": row["graph"], "call": {}, "run": {}})


def file_name(words: str) -> str:
    """Return words in a form that suits the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def is_peer(row: Row) -> bool:
    """Return whether a row is of another library."""
    return bool(row["run"].get("peer"))


def figures(row: Row, name: str) -> list[tuple[str, float]]:
    """Return a row's figures of a name as (phase, value); the phase is "" unless the field has phases."""
    if name in PHASED:
        return list(by_phase(row, name).items())
    found = value(row, name)
    return [] if found is None else [("", found)]


def parameters(rows: list[Row]) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters that all rows share, and the names of those that differ, of graph, call and run.

    The method, ``n`` and the device are left out: tables show them anyway.
    """
    said = [{**row["graph"], **row["call"], **row["run"]} for row in rows]
    names = dict.fromkeys(name for table in said for name in table if name not in ("method", "n", "device", "peer"))
    common, varying = {}, []
    for name in names:
        values = [table.get(name) for table in said]
        if any(other != values[0] for other in values):
            varying.append(name)
        elif values[0] is not None:
            common[name] = values[0]
    return common, varying


def in_words(name: str, what: Any) -> str:
    """Return a parameter in words, with its name if needed."""
    if isinstance(what, list):
        what = " to ".join(map(count, what))
    elif isinstance(what, str) and name != "where":
        return what
    return f"{name.replace('_', ' ')} {count(what)}"


def case_name(row: Row) -> str:
    """Return a case's parameters in words."""
    said = {**row["graph"], **row["call"], **row["run"]}
    method = row.get("method")
    words = [] if method is None or said.get("method") == method or is_peer(row) else [method]
    return ", ".join(
        words + [in_words(name, what) for name, what in said.items() if what is not None and name != "device"]
    )


def label(row: Row, names: tuple[str, ...], models: int = 1, counts: int = 1) -> str:
    """Return the name of a row's series: its values of `names`, and its device if several are shown.

    Parameters
    ----------
    row : dict
        The row.
    names : tuple of str
        The fields that distinguish series.
    models, counts : int
        How many models of devices, and how many numbers of them, are shown together.
    """
    found = [(name, value(row, name)) for name in names if name not in ("model", "devices")]
    words = [in_words(name, what) for name, what in found if what is not None]
    if models > 1 or "model" in names:
        words.append(device_name(row, counts > 1 or "devices" in names))
    elif counts > 1 or "devices" in names:
        words.append(f"{count(row['device']['count'])} devices")
    return ", ".join(words) or device_name(row)


def ratio_words(ratio: float) -> str:
    """Return a ratio of times as a change in words."""
    return f"{digits(ratio)} times" if ratio >= 2 or ratio <= 0.5 else f"{100 * (ratio - 1):+.0f} %".replace("-", "−")
