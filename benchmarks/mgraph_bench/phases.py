"""Figures of a row that each operation of kernels has: its time, shares of it, and its bytes a second."""

from typing import Any

#: The names of such figures; the last two are of a device's ceilings.
PHASED = (
    *("phases", "phases_per_element", "phases_per_iteration", "phase_rates", "moved_rates"),
    *("aggregation", "copies"),
)


def by_phase(row: dict[str, Any], name: str) -> dict[str, float]:
    """Return a row's figure of a name of `PHASED` by operation."""
    seconds = row.get("phases") or {}
    if name == "phases":
        return seconds
    rounds = max(map(len, (row.get("rounds") or {}).values()), default=row.get("iterations"))  # those that were timed
    parts = {"phases_per_element": row.get("n"), "phases_per_iteration": rounds}
    if name in parts:
        count = parts[name]
        return {phase: taken / count for phase, taken in seconds.items()} if count else {}
    return row.get(name) or {}
