"""Check whether a plan fits its devices and the host; if not, say what is needed, what is free and what would fit.

The message for memory that runs out during a call is made here too.
"""

import shutil
import tempfile
from collections.abc import Iterator

from .. import device as devices
from .. import limits
from ..arguments import size_in_words
from ..errors import ArgumentValue, MemoryLimitError, Words
from .devices import USABLE, host_memory, neighbours_in_words, usable
from .plan import Plan, peak_in_words

#: What a plan takes of what is free, in words.
SHARE = f"and plans take at most {USABLE:.0%} of it"

#: Bytes on the host below which its free memory is not looked up: that takes longer than a call that needs so few.
NOTHING = 1 << 20


def shortfall(plan: Plan, memory_limit: int | None) -> str:
    """Return in words why a plan does not fit; empty if it fits."""
    for spec, peak in zip(plan.devices, plan.peak_bytes, strict=True):
        most = usable(spec, memory_limit)
        if peak > most:
            what = (
                f"may take {size_in_words(most)} by the memory limit"
                if most == memory_limit
                else f"has {size_in_words(spec.memory)} free{neighbours_in_words(spec)}, {SHARE}"
            )
            return f"needs {peak_in_words(peak, spec)} on {spec.name}, which {what}"
    on_host = plan.host_bytes >= NOTHING
    available = host_memory(plan.devices[0]) if on_host or plan.disk_bytes else 0
    needs = list(_rows_that_leave(plan)) if len(plan.devices) > 1 else []
    if on_host:
        whose = "this machine's" if plan.devices[0].host is None else "the host's"
        needs.append((plan.host_bytes, available, f"of {whose} memory"))
    if plan.disk_bytes:
        needs.append((plan.disk_bytes, *_room_in_file(plan, available)))
    for needed, free, where in needs:
        if needed > USABLE * free:
            return f"needs {size_in_words(needed)} {where}, of which {size_in_words(free)} are free, {SHARE}"
    return ""


def _rows_that_leave(plan: Plan) -> Iterator[tuple[int, int, str]]:
    """Yield what each of several GPUs needs of its host's memory for its rows of the result, and what it has there."""
    if not plan.detail.rows_leave or plan.devices[0].kind == "cpu" or plan.result_bytes is None:
        return
    rows = max(1, plan.ranges[-1][1])
    for spec, (first, last) in zip(plan.devices, plan.ranges, strict=True):
        if spec.host is not None:
            yield plan.result_bytes * (last - first) // rows, spec.host, f"of the memory of the host of {spec.name}"


def _room_in_file(plan: Plan, available: int) -> tuple[int, str]:
    """Return the largest possible size of a plan's temporary file, and in words what limits it.

    The file is mapped, which takes address space, and its folder may be in memory. A plan for the CPU takes its peak
    from both, too.
    """
    folder = tempfile.gettempdir()
    beside = plan.peak_bytes[0] if plan.devices[0].kind == "cpu" else 0
    bounds = [
        (shutil.disk_usage(folder).free, f"in {folder} (set TMPDIR for another folder)"),
        (max(0, limits.address_space() - beside), "of address space, which RLIMIT_AS bounds"),
    ]
    if limits.is_memory(folder):
        bounds.append(
            (max(0, available - beside), f"in {folder}, which is in memory (set TMPDIR for a folder on disk)")
        )
    return min(bounds)


def fitted(plan: Plan, memory_limit: int | None) -> Plan:
    """Return a plan, or raise MemoryLimitError if it does not fit."""
    why = shortfall(plan, memory_limit)
    if why:
        raise MemoryLimitError(*refusal(plan, why, memory_limit))
    return plan


def refusal(plan: Plan, why: str, memory_limit: int | None) -> Words:
    """Return the message of a MemoryLimitError in parts: what is needed, what is free, what would fit."""
    advice: list[Words] = []
    pairs = list(zip(plan.devices, plan.peak_bytes, strict=True))
    limited = any(peak > usable(spec, memory_limit) == memory_limit for spec, peak in pairs)
    short = not limited or any(peak > usable(spec, None) for spec, peak in pairs)
    if limited:
        advice.append(("raise ", ArgumentValue("memory_limit")))
    full = next((spec for spec, _ in pairs if spec.memory == 0), None)
    if short and full is not None:
        advice.append((f"free memory on {full.name} or, if it is a Dask worker, raise its --memory-limit",))
    elif short and plan.detail.divided:
        most = max((usable(spec, None if limited else memory_limit) for spec in plan.devices), default=1)
        enough = max(-(-sum(plan.peak_bytes) // max(1, most)), len(plan.devices) + 1)
        spec = plan.devices[0]
        if spec.name == "cpu" and most == usable(spec, None):  # more workers here would share its memory
            advice.append((f"it takes the memory of about {enough} such machines",))
        else:
            advice.append((f"it takes about {enough} such devices (", ArgumentValue("client"), ")"))
    advice += plan.detail.advice(plan, short and full is None)
    words: Words = (f"{plan.algorithm} of {plan.n:,} {plan.detail.noun} {why}: ",)
    first, *others = advice or [("use less of it elsewhere",)]
    return sum(((", or ", *other) for other in others), (*words, *first))


def overrun(call: str, plan: Plan | None, error: MemoryError) -> str:
    """Return the message of the MemoryLimitError for an allocation that failed while `plan` ran, or before."""
    why = f" ({error})" if str(error) else ""
    left = f"{size_in_words(devices.find('cpu').available_memory())} of this process's memory are free now"
    if plan is None:
        return f"{call} ran out of memory while its input was prepared{why}: {left}, so use less of it elsewhere"
    spec, peak = max(zip(plan.devices, plan.peak_bytes, strict=True), key=lambda each: each[1])
    return (
        f"{call} of {plan.n:,} {plan.detail.noun} ran out of memory{why}: its plan needs {peak_in_words(peak, spec)} "
        f"of the {size_in_words(spec.memory)} that {spec.name} had free{neighbours_in_words(spec)}; {left}"
    )
