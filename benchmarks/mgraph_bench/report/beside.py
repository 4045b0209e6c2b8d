"""The report's opening: whole calls of mgraph beside those of other libraries, on the same graphs."""

from collections import defaultdict

from .. import amounts
from ..rows import Row, Rows, device_name, input_name, is_peer
from .document import Block, Plot, Section, Words
from .plots import Bar, bars

#: What calls find, in words.
_WORDS = {
    "apsp": "all pairs",
    "bfs": "search",
    "sssp": "shortest paths",
    "minimum_spanning_forest": "spanning forest",
}

#: The colours' places of mgraph's bars and of those of other libraries.
_OURS, _THEIRS = 0, 7


def section(rows: Rows) -> Section | None:
    """Return a section with the bars of each call that other libraries were measured beside; None if none was."""
    groups = [_fastest(task) for task in _tasks(rows.cases)]
    drawn = [_bar(row, group) for group in groups for row in sorted(group, key=lambda row: row["call_seconds"])]
    if not drawn:
        return None
    drawing = bars(
        *("beside", "mgraph beside other libraries", drawn, amounts.seconds, "time of the whole call"), log=True
    )
    caption = (
        "The fastest call of each library on each device, from its graph in memory to its result; shorter is faster."
    )
    blocks: list[Block] = [Plot("beside", drawing, caption)]
    if ratios := [words for group in groups if (words := _over_next(group))]:
        blocks.insert(
            0, Words(f"The time of the fastest other library over mgraph's, on the same CPU: {', '.join(ratios)}.")
        )
    return Section("beside", "mgraph beside other libraries", tuple(blocks))


def _tasks(cases: list[Row]) -> list[list[Row]]:
    """Return for each algorithm the rows of one input: of those that most libraries were measured on, the largest."""
    tasks: defaultdict[str, defaultdict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in cases:
        if row["device"]["count"] == 1 and "blocks" not in row["run"]:
            tasks[row["algorithm"]][input_name(row)].append(row)
    chosen = []
    for inputs in tasks.values():
        best = max(
            inputs.values(), key=lambda task: (len({row["method"] for row in filter(is_peer, task)}), task[0]["n"])
        )
        if any(map(is_peer, best)) and not all(map(is_peer, best)):
            chosen.append(best)
    return chosen


def _fastest(task: list[Row]) -> list[Row]:
    """Return the fastest call of each library on each device."""
    best: dict[tuple[str, str], Row] = {}
    for row in sorted(task, key=lambda row: row["call_seconds"]):
        best.setdefault((row["method"] if is_peer(row) else "", device_name(row)), row)
    return list(best.values())


def _bar(row: Row, group: list[Row]) -> Bar:
    library = str(row["method"]) if is_peer(row) else "mgraph"
    on = f", {device_name(row)}" if len({device_name(each) for each in group}) > 1 else ""
    part = ("", row["call_seconds"], _THEIRS if is_peer(row) else _OURS)
    return Bar(library + on, (part,), amounts.seconds(row["call_seconds"]), group=f"{_task(row)}: {input_name(row)}")


def _task(row: Row) -> str:
    """Return in words what a call finds."""
    return _WORDS.get(row["algorithm"], row["algorithm"].replace("_", " "))


def _over_next(group: list[Row]) -> str:
    """Return how many times as long as ours the fastest other library's call takes on a CPU; "" if one is missing."""
    cpu = [row for row in group if row["device"]["kind"] == "cpu"]
    theirs, ours = ([row["call_seconds"] for row in cpu if is_peer(row) is peer] for peer in (True, False))
    return f"{_task(group[0])} {amounts.times(min(theirs) / min(ours))}" if theirs and ours else ""
