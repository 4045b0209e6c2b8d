"""The memory and CPU cores that this process may use, within the limits of its machine, containers and resource limits.

A container is a control group of Linux. Groups are nested, and each limits what all processes in it use together. So
the memory available to a process is the least of

- the machine's free memory: ``MemAvailable`` of ``/proc/meminfo``;
- for its group and every visible group above it: the limit less the usage, where inactive file pages count as free, as
  the kernel drops them first [1]_ [2]_;
- its own resource limits: ``RLIMIT_AS`` less its address space, ``RLIMIT_DATA`` less its private pages;
- of a Dask worker, what its nanny lets it have, less what it has.

``/proc/self/cgroup`` names the process's groups, ``/proc/self/mountinfo`` says where they can be read: a container
sees its own group as the top of the mounted tree. Both versions of control groups may be mounted at once. On other
systems than Linux only the machine's free memory is known. Every function reads below `root`, which tests replace.

References
----------
.. [1] "Control Group v2", https://docs.kernel.org/admin-guide/cgroup-v2.html.
.. [2] "Memory Resource Controller", https://docs.kernel.org/admin-guide/cgroup-v1/memory.html.
"""

import contextlib
import functools
import math
import os
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from . import lazy

#: The prefix of all paths that are read.
ROOT = ""

#: Bytes from which a limit counts as none: a control group of version 1 has a huge number instead of no limit.
NO_LIMIT = 1 << 60

#: Bytes that Numba takes to be imported and to compile or load a first kernel, in pages and in address space; and the
#: address space for the stack and heap of each of its threads but the first. Measured on Linux with Python 3.11 and
#: Numba 0.68.
NUMBA_PAGES, NUMBA_ADDRESSES, THREAD_ADDRESSES = 160 << 20, 320 << 20, 72 << 20

#: The bytes that this process may have before another one ends it, such as the nanny of a Dask worker.
_ceiling = NO_LIMIT

#: Set once Numba has run a kernel of `mgraph.kernels`.
NUMBA_RAN = threading.Event()


def available_memory(root: str = ROOT) -> int:
    """Return the bytes that this process can still allocate, less what Numba will take before it runs a kernel."""
    below = NO_LIMIT if _ceiling == NO_LIMIT else _ceiling - bytes_used("VmRSS:", root) - numba_pages()
    return max(0, min(shared_memory(root) - numba_pages(), own_memory(root), below))


def keep_below(most: int) -> None:
    """Count no more memory as available than leaves this process below `most` bytes."""
    global _ceiling
    _ceiling = most


def shared_memory(root: str = ROOT) -> int:
    """Return the bytes that this process and others can still allocate together, within machine and containers."""
    free = _field(f"{root}/proc/meminfo", "MemAvailable:")
    left = [int(lazy.psutil().virtual_memory().available) if free is None else free << 10]
    left += (left_by(group) for group in groups("memory", root))
    return max(0, min(left))


def own_memory(root: str = ROOT) -> int:
    """Return the bytes that the resource limits of this process leave, less what Numba will take."""
    least = NO_LIMIT
    if limit := _resource_limit("Max data size", root):
        least = limit - bytes_used("VmData:", root) - numba_pages()
    if _resource_limit("Max address space", root):
        least = min(least, address_space(root) - _numba_addresses(root))
    return max(0, least)


def address_space(root: str = ROOT) -> int:
    """Return the bytes that this process can still map, files included."""
    limit = _resource_limit("Max address space", root)
    return max(0, limit - bytes_used("VmSize:", root)) if limit else NO_LIMIT


def numba_pages() -> int:
    """Return the bytes that Numba will take before it runs a first kernel; 0 once it has."""
    return 0 if NUMBA_RAN.is_set() else NUMBA_PAGES


def _numba_addresses(root: str) -> int:
    """Return the address space that Numba will take to run a first kernel, and to start its threads."""
    more = 0 if NUMBA_RAN.is_set() else NUMBA_ADDRESSES
    try:
        sys.modules["numba"].threading_layer()
    except (KeyError, AttributeError, ValueError):  # not imported, partly imported, or threads not started
        more += THREAD_ADDRESSES * (cores(root) - 1)
    return more


def cores(root: str = ROOT) -> int:
    """Return the number of CPU cores that this process may keep busy: those it may run on, within its CPU quota.

    The quota is rounded up: one and a half cores count as two.
    """
    return max(1, math.ceil(min([cores_allowed(), *(_quota(group) for group in groups("cpu", root))])))


def cores_allowed() -> int:
    """Return the number of CPU cores that this process may run on, whether or not other processes use them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_memory(folder: str | os.PathLike[str], root: str = ROOT) -> bool:
    """Return whether the files of a folder are kept in memory (``tmpfs`` or ``ramfs``)."""
    device = os.stat(folder).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    return any(mount.kind in ("tmpfs", "ramfs") and mount.device == number for mount in _mounts(root))


class Mount(NamedTuple):
    """A line of ``/proc/self/mountinfo``: a part of a file system, and its mount point."""

    device: str
    part: PurePosixPath
    point: PurePosixPath
    kind: str
    options: list[str]


def _mounts(root: str) -> Iterator[Mount]:
    # Split only at the kernel's separators: a name may contain other characters that Python counts as blanks.
    for line in _text(f"{root}/proc/self/mountinfo").split("\n"):
        where, _, what = line.partition(" - ")
        here, there = where.split(" "), what.split(" ")
        if len(here) >= 5 and len(there) >= 3:
            part, point = (PurePosixPath(_unescaped(path)) for path in here[3:5])
            yield Mount(here[2], part, point, there[0], there[2].split(","))


def _unescaped(path: str) -> str:
    """Return a path of mountinfo with its octal escapes, such as those of blanks, replaced."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), path)


class Group(NamedTuple):
    """A control group: its folder, and its version, 1 or 2, which determines the names of its files."""

    folder: str
    version: int


#: The file of a limit, by controller and version; a group without the file has no limit.
FILES = {
    ("memory", 1): "memory.limit_in_bytes",
    ("memory", 2): "memory.max",
    ("cpu", 1): "cpu.cfs_quota_us",
    ("cpu", 2): "cpu.max",
}


def groups(controller: str, root: str) -> tuple[Group, ...]:
    """Return the control groups that limit this process: its own, and all visible ones above it."""
    found = groups_of(_text(f"{root}/proc/self/cgroup"), controller, root)
    # Looked up each time, as a controller may be enabled for a group later.
    return tuple(group for group in found if os.path.exists(f"{group.folder}/{FILES[controller, group.version]}"))


@functools.lru_cache(64)
def groups_of(memberships: str, controller: str, root: str) -> tuple[Group, ...]:
    """Return the groups of a process by its memberships, with limits or not.

    The result is cached, as mounts are not expected to change.
    """
    mounts = list(_mounts(root))
    found: dict[Group, None] = {}  # an ordered set
    for line in memberships.split("\n"):
        _, _, rest = line.partition(":")
        controllers, _, name = rest.partition(":")
        version, kind = (1, "cgroup") if controllers else (2, "cgroup2")
        own = PurePosixPath(name)
        if not name.startswith("/") or ".." in own.parts:
            continue
        if version == 1 and controller not in controllers.split(","):
            continue
        for mount in mounts:
            if mount.kind != kind or (version == 1 and controller not in mount.options):
                continue
            # If the mount shows another part of the tree, the name is the host's and the mount the container's: its
            # top is then the nearest visible group.
            within = own.relative_to(mount.part) if own.is_relative_to(mount.part) else PurePosixPath()
            for group in (within, *within.parents):
                found[Group(f"{root}{mount.point / group}", version)] = None
    return tuple(found)


def left_by(group: Group) -> int:
    """Return the bytes that a control group leaves to its processes; `NO_LIMIT` if it has no limit."""
    folder, version = group
    limit = _number(f"{folder}/{FILES['memory', version]}")
    if version == 2:
        limit = min(limit, _number(f"{folder}/memory.high"))  # above it, the kernel throttles the group's processes
    if limit >= NO_LIMIT:
        return NO_LIMIT
    usage, idle = (
        ("memory.current", "inactive_file") if version == 2 else ("memory.usage_in_bytes", "total_inactive_file")
    )
    used = _number(f"{folder}/{usage}")
    return limit - max(0, used - (_field(f"{folder}/memory.stat", idle) or 0)) if used < NO_LIMIT else NO_LIMIT


def _quota(group: Group) -> float:
    """Return the CPU quota of a control group, in cores; infinite if it has no limit."""
    folder, version = group
    names = ("cpu.max",) if version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    words = " ".join(_text(f"{folder}/{name}") for name in names).split()
    with contextlib.suppress(ValueError):  # "max" is not a number
        quota, period = (int(word) for word in words)
        if quota > 0 and period > 0:
            return quota / period
    return math.inf


def _resource_limit(name: str, root: str) -> int:
    """Return a soft resource limit of this process; 0 if it has none."""
    line = re.search(rf"^{name} +(\d+)", _text(f"{root}/proc/self/limits"), re.MULTILINE)
    return 0 if line is None else int(line[1])


def bytes_used(what: str, root: str) -> int:
    """Return the bytes that ``/proc/self/status`` says this process uses."""
    return (_field(f"{root}/proc/self/status", what) or 0) << 10


def _field(path: str, name: str) -> int | None:
    """Return the number after a name at the beginning of a line of a file; None if the file has no such line."""
    line = re.search(rf"^{name}\s+(\d+)", _text(path), re.MULTILINE)
    return None if line is None else int(line[1])


def _number(path: str) -> int:
    """Return the number in a file; `NO_LIMIT` if the file says ``max`` or cannot be read."""
    text = _text(path).strip()
    return int(text) if text.isdigit() else NO_LIMIT


def _text(path: str) -> str:
    """Return the content of a file of the kernel; empty if it cannot be read, as groups and their files come and go.

    It is decoded like file names, as names in it may contain any bytes.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return os.fsdecode(file.readall())
    except OSError:
        return ""
