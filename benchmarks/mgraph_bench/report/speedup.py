"""Speed-up and efficiency on several devices, and ratios to the times of other libraries.

Strong scaling has the same problem on more devices, weak scaling as much work on each. Both are of rates: the speed-up
on p devices is the rate there over that on the fewest, times their number, and the efficiency is the speed-up over p.
"""

from .. import amounts
from ..rows import Row, device_name, file_name, input_name, is_peer
from .document import Block, Column, Plot, table
from .plots import Bar, Curve, bars, curves

#: How far the work of a device may be from that of one, to count as the same in weak scaling.
SAME_WORK = 0.1


def families(rows: list[Row]) -> list[tuple[str, str, list[Row]]]:
    """Return strong and weak scalings as (device, name, rows in order of the number of devices)."""
    own = [row for row in rows if not is_peer(row) and row.get("rate")]
    strong: dict[tuple[str, str, int], list[Row]] = {}
    for row in own:
        strong.setdefault((*_kind(row), row["n"]), []).append(row)
    found = []
    for (model, name, n), members in strong.items():
        if len(chain := _chain(members)) > 1:
            first = chain[0]["device"]["count"]
            since = f" from {first} devices" if first > 1 else ""
            found.append((model, f"{name}, n {amounts.count(n)}, strong{since}", chain))
    for kind in dict.fromkeys(map(_kind, own)):
        of_kind = [row for row in own if _kind(row) == kind]
        for first in [row for row in of_kind if row["device"]["count"] == 1]:
            several = [row for row in of_kind if row["device"]["count"] > 1 and row["n"] != first["n"]]
            chain = _chain([row for row in several if abs(_work_each(row) / _work_each(first) - 1) < SAME_WORK])
            if chain:
                model, name = kind
                found.append((model, f"{name}, from n {amounts.count(first['n'])}, weak", [first, *chain]))
    return found


def speedup(row: Row, first: Row) -> float:
    """Return a row's speed-up over one device; that of the first row counts as its number of devices."""
    return float(row["rate"] / first["rate"] * first["device"]["count"])


def of_devices(suite: str, rows: list[Row]) -> list[Block]:
    """Return the plots and the table of a suite's speed-ups on several devices, if there are any."""
    found = families(rows)
    if not found:
        return []
    blocks: list[Block] = []
    for model in dict.fromkeys(model for model, *_ in found):
        series = [
            Curve(name, tuple((row["device"]["count"], speedup(row, chain[0])) for row in chain), place)
            for place, (name, chain) in enumerate((name, chain) for on, name, chain in found if on == model)
        ]
        name = f"{suite}-speedup-{file_name(model)}"
        axes = ("devices", "speed-up", ("x", "y"), "speed-up over one device")
        drawing = curves(name, f"Speed-up of {suite} on several devices, {model}", series, *axes, ideal=float)
        caption = f"Speed-up by the number of devices, {model}; dotted: as many times as there are devices."
        blocks.append(Plot(name, drawing, caption))
    lines = [
        (
            *(model, name, row["device"]["count"], row["n"], row["seconds"], amounts.rate(row["rate"], row["unit"])),
            *(speedup(row, chain[0]), speedup(row, chain[0]) / row["device"]["count"]),
        )
        for model, name, chain in found
        for row in chain
    ]
    scalings = table(
        lines,
        *(Column("Device"), Column("Scaling"), Column("Devices", str), Column("n", amounts.count)),
        *(Column("Median", amounts.seconds), Column("Rate", str), Column("Speed-up", amounts.times)),
        Column("Efficiency", amounts.share),
        caption="Strong scaling: the same problem; weak scaling: as much work on each device.",
    )
    return [*blocks, scalings]


def of_peers(suite: str, rows: list[Row]) -> list[Block]:
    """Return the plot of other libraries' times over ours for the same task, if any were measured.

    Times are those of the whole call, as only these are known of both.
    """
    found = []
    for peer in filter(is_peer, rows):
        for ours in _ours(peer, rows):
            found.append((peer, ours, peer["call_seconds"] / ours["call_seconds"]))
    if not found:
        return []
    models = list(dict.fromkeys(device_name(ours) for _, ours, _ in found))
    libraries = list(dict.fromkeys(peer["method"] for peer, _, _ in found))
    tasks = list(dict.fromkeys(_task(peer) for peer, _, _ in found))
    drawn = []
    order = {name: i for i, name in enumerate((*tasks, *models))}
    found.sort(key=lambda each: (order[_task(each[0])], order[device_name(each[1])], -each[2]))
    for peer, ours, ratio in found:
        theirs, own = (amounts.seconds(row["call_seconds"]) for row in (peer, ours))
        beside = f"{amounts.times(ratio)}  ({theirs} / {own})"
        group = f"{peer['algorithm']}, n {amounts.count(peer['n'])}, beside ours on {device_name(ours)}"
        part = ("", ratio, libraries.index(peer["method"]))
        drawn.append(Bar(str(peer["method"]), (part,), beside, group=group))
    drawing = bars(
        f"{suite}-peers",
        f"Other libraries' times over ours, {suite}",
        drawn,
        amounts.times,
        "the time of their call over that of ours, by the fastest method",
        log=True,
        start=1.0,
    )
    on = ", ".join(dict.fromkeys(device_name(peer) for peer, *_ in found))
    on_ours = ", ".join(models)
    caption = f"Time of another library's call (on {on}) over ours (on {on_ours}); right of the line we are faster."
    return [Plot(f"{suite}-peers", drawing, caption)]


def _ours(peer: Row, rows: list[Row]) -> list[Row]:
    """Return our fastest row of a peer's task on each device that has one."""
    best: dict[str, Row] = {}
    for row in rows:
        if not is_peer(row) and _task(row) == _task(peer) and row["call_seconds"]:
            name = device_name(row)
            if name not in best or row["call_seconds"] < best[name]["call_seconds"]:
                best[name] = row
    return list(best.values())


def _task(row: Row) -> tuple[str, str, bool]:
    return row["algorithm"], input_name(row), bool(row.get("quick"))


def _kind(row: Row) -> tuple[str, str]:
    """Return the model of a row's device, and its algorithm, method and kind of graph in words."""
    of = row["graph"].get("file", row["graph"]["make"])
    return device_name(row, False), f"{row['algorithm']} {row['method']}, {of}"


def _work_each(row: Row) -> float:
    return float(row["work"] / row["device"]["count"])


def _chain(rows: list[Row]) -> list[Row]:
    """Return the fastest row of each number of devices, in order of the number."""
    best: dict[int, Row] = {}
    for row in rows:
        known = best.get(row["device"]["count"])
        if known is None or row["rate"] > known["rate"]:
            best[row["device"]["count"]] = row
    return [best[number] for number in sorted(best)]
