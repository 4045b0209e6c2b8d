"""Rows as a data frame, by which sections group and compare them."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ..rows import Row, device_name, is_peer

#: A frame's columns: the row itself, the fields that distinguish it, and its figures.
COLUMNS = (
    *("row", "suite", "algorithm", "method", "n", "device", "model", "count", "cpu", "peer"),
    *("seconds", "rate", "fraction", "why", "commit", "day"),
)


def frame_of(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a data frame with `COLUMNS`, a line each."""
    return pd.DataFrame(map(_line, rows), columns=COLUMNS, dtype=object)


def _line(row: Row) -> dict[str, Any]:
    on = row.get("device") or {}
    return {
        **{name: row.get(name) for name in COLUMNS},
        "row": row,
        "device": device_name(row),
        "model": device_name(row, False),
        "count": on.get("count"),
        "cpu": on.get("kind") == "cpu",
        "peer": "run" in row and is_peer(row),
        "day": row["date"][:10] if row.get("date") else None,
    }


def joined(values: Iterable[Any]) -> str | None:
    """Return different values, separated by commas; None where there are none."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None)) or None


def unstacked(lines: Sequence[dict[str, Any]], index: list[str], across: str, values: list[str]) -> pd.DataFrame:
    """Return records as a wide frame: a line for each of `index`, and for each of `across` the columns of `values`.

    Lines and columns are in order of appearance; of several records at a place the last counts.
    """
    found = pd.DataFrame(lines, dtype=object).drop_duplicates([*index, across], keep="last")
    wide = found.set_index([*index, across])[values].unstack(across, sort=False)
    order = [(value, name) for name in dict.fromkeys(record[across] for record in lines) for value in values]
    return wide[order].reset_index()
