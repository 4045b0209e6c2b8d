"""Published rates of betweenness on other cards, not measured by this project, beside the best rates here.

``benchmarks/published/betweenness.toml`` has the runs.
"""

import tomllib
from pathlib import Path
from typing import Any

from .. import CHECKOUT, amounts
from ..rows import Rows, device_name, is_peer
from .document import Column, Section, Words, table

#: Where published runs are: beside the modules in a wheel, at the top of a checkout.
PUBLISHED = tuple(
    folder / "betweenness.toml"
    for folder in (Path(__file__).parents[1] / "published", CHECKOUT / "benchmarks" / "published")
)


def published() -> list[dict[str, Any]]:
    """Return the published runs, or [] if their file is not installed."""
    path = next((path for path in PUBLISHED if path.is_file()), None)
    return [] if path is None else list(tomllib.loads(path.read_text(encoding="utf-8"))["run"])


def teps(run: dict[str, Any]) -> float:
    """Return the traversed edges a second of a published run."""
    return float(run["teps"] if "teps" in run else run["sources"] * run["edges"] / run["seconds"])


def best_here(rows: Rows) -> dict[str, float]:
    """Return the most traversed edges a second of each device here, in any suite."""
    found: dict[str, float] = {}
    for row in rows.cases:
        if row["algorithm"] == "betweenness" and not is_peer(row) and row.get("work"):
            name = device_name(row)
            found[name] = max(found.get(name, 0.0), row["work"] / row["seconds"])
    return found


def section(rows: Rows) -> Section | None:
    """Return the section of the published runs; None where there are none."""
    runs = published()
    if not runs:
        return None
    lines = [
        (run["library"], run["measured"], run["graph"], run.get("sources"), run["card"], run.get("seconds"), teps(run))
        for run in runs
    ]
    lines += [("mgraph", "vertices or edges", "the best of all", None, *line) for line in _ours(rows)]
    found = table(
        lines,
        *(Column("Library"), Column("Measured"), Column("Graph"), Column("Sources", amounts.count), Column("Card")),
        *(Column("Time", amounts.seconds), Column("Traversed edges/s", amounts.rate)),
    )
    words = Words(
        "Betweenness as others published it, and the best rate of each device here; graphs and cards differ. Of the"
        " published figures nothing was measured by this project."
    )
    sources = [Words(f"{run['library']}, {run['measured']}: {run['source']}") for run in runs]
    return Section("published-betweenness", "Published runs of betweenness", (words, found, *sources))


def _ours(rows: Rows) -> list[tuple[str, None, float]]:
    """Return the cells of this project's lines: the device, no time, and the rate."""
    return [(name, None, rate) for name, rate in best_here(rows).items()]
