"""Ceilings of the devices, and how near each suite comes to them."""

from collections.abc import Iterator

from .. import amounts
from ..rows import Rows, device_name, file_name, is_peer
from .document import Block, Plot, Section, Words
from .plots import roofline


def sections(rows: Rows) -> Iterator[Section]:
    """Yield the section of the rooflines, where ceilings were measured."""
    blocks: list[Block] = []
    for ceilings in rows.ceilings:
        model = device_name(ceilings, False)
        points, faster = [], []
        for suite in rows.suites:
            own = [
                row
                for row in rows.of(suite)
                if device_name(row, False) == model
                and row["device"]["count"] == ceilings["device"]["count"]
                and row.get("rate")
                and not is_peer(row)
            ]
            for unit in dict.fromkeys(row["unit"] for row in own):
                by_rate = sorted((row for row in own if row["unit"] == unit), key=lambda row: -row["rate"])
                best = next((row for row in by_rate if row.get("bytes")), None)
                if best is not None:
                    points.append((f"{suite}: {best['method']}", best["work"] / best["bytes"], best["rate"]))
                if best is not by_rate[0]:
                    faster.append(f"{suite}: {by_rate[0]['method']}, {amounts.rate(by_rate[0]['rate'], unit)}")
        if not (points or ceilings.get("minplus") or ceilings.get("reads")):
            continue
        name = f"roofline-{file_name(device_name(ceilings))}"
        caption = (
            f"{device_name(ceilings)}: of each suite the row of the highest rate among those whose traffic to memory is"
            " known, and what the device can do at best, measured."
        )
        blocks.append(Plot(name, roofline(name, f"Roofline of {device_name(ceilings)}", ceilings, points), caption))
        if faster:
            blocks.append(
                Words(
                    "Of higher rate, but not drawn, as they leave out edges or vertices and no least traffic is known"
                    f" of them: {'; '.join(faster)}."
                )
            )
    if blocks:
        yield Section("roofline", "Rooflines", tuple(blocks))
