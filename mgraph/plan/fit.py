"""Whether a plan fits its devices and the host; where not, what was needed, what there is and what would fit."""

import shutil
import tempfile

from .. import device as devices
from .devices import USABLE, usable
from .plans import Plan, size_in_words


def hindrance(made: Plan, memory_limit: int | None) -> str:
    """Return in words what keeps a plan from fitting; nothing if it fits."""
    for spec, peak in zip(made.devices, made.peak_bytes, strict=True):
        most = usable(spec, memory_limit)
        if peak > most:
            what = (
                f"may take {size_in_words(most)} (memory_limit=)"
                if most == memory_limit
                else f"has {size_in_words(spec.memory)} free"
            )
            return f"needs {size_in_words(peak)} on {spec.name}, which {what}"
    if not made.host_bytes:
        return ""
    if made.on_disk:
        folder = tempfile.gettempdir()
        free, where = shutil.disk_usage(folder).free, f"in {folder} (set TMPDIR for another folder)"
    else:
        free, where = devices.find("cpu").available_memory(), "of the host's memory"
    if made.host_bytes > USABLE * free:
        return f"needs {size_in_words(made.host_bytes)} {where}, of which {size_in_words(free)} are free"
    return ""


def refusal(made: Plan, why: str, memory_limit: int | None) -> str:
    """Return the message of a MemoryLimitError: what was needed, what there is, what would fit."""
    advice = []
    if made.algorithm == "list_rank":
        advice.append("method='splitter48' takes least (each device has the whole list)")
    elif not made.by_source:  # then too every device has the whole graph
        most = max((usable(spec, memory_limit) for spec in made.devices), default=1)
        enough = max(-(-sum(made.peak_bytes) // max(1, most)), len(made.devices) + 1)
        advice.append(f"it takes about {enough} such devices (client=)")
    if made.algorithm == "apsp" and made.dtype != "int16":
        advice.append("a smaller type needs less (dtype=)")
    noun = "elements" if made.algorithm == "list_rank" else "vertices"
    return f"{made.algorithm} of {made.n:,} {noun} {why}: {', or '.join(advice) or 'use less of it elsewhere'}"
