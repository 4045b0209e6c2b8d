"""Predictions compared with published runs of all pairs on thousands of GPUs of Summit, not measured by this project.

``benchmarks/published/summit.toml`` has the runs. If the number of vertices of a run is not given, it is planned
for a matrix of float32 that fills half of the GPUs' memory: predicted rates hardly depend on n if GPUs are so full.
"""

import math
import tomllib
from pathlib import Path
from typing import Any

from mgraph.planner import plan
from mgraph.planning.devices import DeviceSpec

from .. import CHECKOUT, amounts
from .document import Column, Section, Words, table

#: Where published runs are: beside the modules in a wheel, at the top of a checkout.
PUBLISHED = tuple(
    folder / "summit.toml"
    for folder in (Path(__file__).parents[1] / "published", CHECKOUT / "benchmarks" / "published")
)

#: A GPU of Summit.
V100 = DeviceSpec("cuda", "cuda", 16 * 10**9, model="Tesla V100-SXM2-16GB")


def published() -> list[dict[str, Any]]:
    """Return the published runs, or [] if their file is not installed."""
    path = next((path for path in PUBLISHED if path.is_file()), None)
    return [] if path is None else list(tomllib.loads(path.read_text(encoding="utf-8"))["run"])


def predicted(run: dict[str, Any]) -> tuple[int, float]:
    """Return the vertices of the plan of a published run, and the predicted sums and minima a second."""
    n = run.get("n") or math.isqrt(run["gpus"] * V100.memory // 2 // 4)
    made = plan(
        "apsp",
        n,
        devices=[V100] * run["gpus"],
        method="blocked",
        network=run["network"],
        gpus_per_node=run["gpus"] // run["nodes"],
    )
    return n, n**3 / made.seconds


def section() -> Section | None:
    """Return the section of the published runs; None where there are none."""
    lines, sources = [], []
    for run in published():
        n, rate = predicted(run)
        stated = run.get("minplus_per_second") or run["n"] ** 3 / run["seconds"]
        vertices = f"{n:,}" if run.get("n") else f"{n:,} (assumed)"
        lines.append((run["gpus"], run["nodes"], vertices, stated, rate, rate / stated))
        sources.append(Words(f"{run['gpus']:,} GPUs: {run['source']}"))
    if not lines:
        return None
    words = Words(
        "What the planner predicts for a machine that is not here, beside what others measured on it: all pairs by the"
        " blocked algorithm on Summit, with six V100s a node. Nothing in this table was measured by this project."
    )
    found = table(
        lines,
        *(Column("V100s", "{:,}".format), Column("Nodes", "{:,}".format), Column("Vertices", str)),
        *(Column("Published, min-plus/s", amounts.rate), Column("Predicted, min-plus/s", amounts.rate)),
        Column("Predicted over published", amounts.times),
    )
    return Section("summit", "Published runs on Summit", (words, found, *sources))
