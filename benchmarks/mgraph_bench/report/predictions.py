"""Predicted and measured times and memory: of all rows, and of all pairs on several devices.

Sweeps over the number of GPUs should be within `WITHIN_SEVERAL`. Workers on CPUs have a table of their own, and so have
spans that a call asks for.
"""

import contextlib
from typing import Any

import pandas as pd

from mgraph.errors import MgraphError
from mgraph.planner import plan
from mgraph.planning.devices import DeviceSpec

from .. import amounts
from ..rows import Row, Rows, case_name, device_name
from .document import Block, Column, Plot, Section, Table, Words, table
from .frames import frame_of
from .plots import over_predictions

#: The share within which a predicted time should be, on one device and on several.
WITHIN = 0.20
WITHIN_SEVERAL = 0.15

#: The algorithm to which the latter applies.
ON_SEVERAL = "apsp"


def within(row: Row, share: float, name: str = "seconds") -> bool:
    """Return whether the greater of prediction and measurement exceeds the other by at most a share."""
    measured, predicted = _pair(row, name)
    return predicted / (1 + share) <= measured <= predicted * (1 + share)


def section(rows: Rows) -> Section | None:
    """Return the section of predictions; None where no row has one."""
    timed = [row for row in rows.cases if row.get("predicted_seconds") and row.get("seconds")]
    sized = [row for row in rows.cases if row.get("predicted_bytes") and row.get("peak_bytes")]
    if not timed and not sized:
        return None
    blocks: list[Block] = []
    if timed:
        good = sum(within(row, WITHIN) for row in timed)
        blocks.append(
            Words(
                f"{good} of {len(timed)} times ({amounts.share(good / len(timed))}) are within"
                f" {amounts.share(WITHIN)} of what the planner predicted before the call"
                + (_memory_words(sized) if sized else ".")
            )
        )
        groups = [
            (f"{algorithm}, {model}", [(row["predicted_seconds"], row["seconds"]) for row in group["row"]])
            for (algorithm, model), group in frame_of(timed).groupby(["algorithm", "model"], sort=False)
        ]
        drawing = over_predictions("predictions", "Predicted times over measured times", groups, WITHIN)
        caption = (
            f"Predicted times of the solve over measured ones; the band is {amounts.share(WITHIN)} to either side."
        )
        blocks.append(Plot("predictions", drawing, caption))
    blocks.append(_table(timed, sized))
    several = sorted(_several(timed), key=lambda row: (device_name(row, False), row["n"], row["device"]["count"]))
    on_gpus = [row for row in several if row["device"]["kind"] == "cuda" and row["call"].get("span") is None]
    others = [row for row in several if row not in on_gpus]
    missing = [row for row in rows.skipped if _for_gpus(row)]
    if on_gpus or missing:
        blocks.append(_several_table(on_gpus, missing, "All pairs on several GPUs"))
    if others:
        blocks.append(
            _several_table(others, [], "All pairs on several CPU workers, and by spans that the call asks for")
        )
    return Section("predictions", "Prediction and measurement", tuple(blocks))


def _memory_words(sized: list[Row]) -> str:
    good = sum(within(row, WITHIN, "bytes") for row in sized)
    return f", and {good} of {len(sized)} peaks of memory ({amounts.share(good / len(sized))})."


def _pair(row: Row, name: str) -> tuple[float, float]:
    return (row["seconds"] if name == "seconds" else row["peak_bytes"]), row[f"predicted_{name}"]


def _table(timed: list[Row], sized: list[Row]) -> Table:
    """Return how many predictions are within `WITHIN`, by suite and device."""
    pairs = [(row, of, *_pair(row, of)) for rows, of in ((timed, "seconds"), (sized, "bytes")) for row in rows]
    ratios = pd.DataFrame(
        {
            "suite": [row["suite"] for row, *_ in pairs],
            "model": [device_name(row, False) for row, *_ in pairs],
            "of": [of for _, of, *_ in pairs],
            "ratio": [predicted / measured for *_, measured, predicted in pairs],
            "good": [within(row, WITHIN, of) for row, of, *_ in pairs],
        }
    ).groupby(["suite", "model", "of"], sort=False)
    figures = ratios.agg(
        **{"good": ("good", "sum"), "number": ("good", "size")},
        **{"least": ("ratio", "min"), "median": ("ratio", "median"), "most": ("ratio", "max")},
    )
    shown = pd.DataFrame(
        {
            "within": figures["good"].astype(str) + " of " + figures["number"].astype(str),
            "median": figures["median"],
            "range": figures["least"].map(amounts.digits) + " to " + figures["most"].map(amounts.digits),
        },
        dtype=object,
    )
    order = [(value, of) for of in ("seconds", "bytes") for value in shown.columns]
    share = amounts.share(WITHIN)
    columns = (
        *(Column("Suite"), Column("Device")),
        *(Column(f"Times within {share}", str), Column("median", amounts.digits), Column("range", str, brief=False)),
        *(Column(f"Peaks within {share}", str), Column("median", amounts.digits), Column("range", str, brief=False)),
    )
    caption = "Predicted over measured, of times and of peaks of memory: above 1 the plan expected more."
    wide = pd.DataFrame(shown.unstack("of", sort=False), columns=pd.MultiIndex.from_tuples(order))
    return Table(wide.reset_index(), columns, caption)


def _several(timed: list[Row]) -> list[Row]:
    """Return the rows of all pairs whose suite and method ran on several devices, with those on one device."""
    found = [row for row in timed if row["algorithm"] == ON_SEVERAL]
    families: dict[tuple[str, str, str], set[int]] = {}
    for row in found:
        families.setdefault(_family(row), set()).add(row["device"]["count"])
    return [row for row in found if max(families[_family(row)]) > 1]


def _family(row: Row) -> tuple[str, str, str]:
    return row["suite"], str(row.get("method")), device_name(row, False)


def _for_gpus(row: Row) -> bool:
    """Return whether a skipped row is of all pairs on more GPUs than the machine has."""
    on_workers = isinstance(row["run"].get("workers"), int) and row["call"].get("span") is None
    return row["algorithm"] == ON_SEVERAL and row["device"]["kind"] == "cuda" and on_workers and "n" in row["graph"]


def _predicted(row: Row) -> float | None:
    """Return the predicted time of a skipped row, on as many GPUs of its device's model as it asks for."""
    n, workers = row["graph"]["n"], row["run"]["workers"]
    gpu = DeviceSpec("cuda", "cuda", 16 * n * n, model=row["device"]["model"])  # so that the matrix surely fits
    with contextlib.suppress(MgraphError):
        return plan(ON_SEVERAL, n, devices=[gpu] * workers, **row["call"]).seconds
    return None


def _several_table(rows: list[Row], missing: list[Row], title: str) -> Table:
    lines: list[tuple[Any, ...]] = [
        (
            *(device_name(row, False), row["device"]["count"], case_name(row)),
            *(row["predicted_seconds"], amounts.seconds(row["seconds"]), row["predicted_seconds"] / row["seconds"]),
            "yes" if within(row, WITHIN_SEVERAL) else "no",
        )
        for row in rows
    ]
    lines += [
        (
            *(device_name(row, False), row["run"]["workers"], case_name(row)),
            *(_predicted(row), "not measured", None, None),
        )
        for row in missing
    ]
    good = sum(within(row, WITHIN_SEVERAL) for row in rows)
    caption = f"{title}: {good} of {len(rows)} within {amounts.share(WITHIN_SEVERAL)}"
    caption += (
        f"; {len(missing)} not measured: {'; '.join(dict.fromkeys(row['why'] for row in missing))}." if missing else "."
    )
    return table(
        lines,
        *(Column("Device"), Column("Devices", str), Column("Case"), Column("Predicted", amounts.seconds)),
        *(Column("Measured", str), Column("Predicted over measured", amounts.digits)),
        Column(f"Within {amounts.share(WITHIN_SEVERAL)}"),
        caption=caption,
    )
