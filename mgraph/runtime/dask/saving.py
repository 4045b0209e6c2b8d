"""Vectors as folders of parts: a worker begins the folder, each writes its own part, and a worker ends it.

After an error, everything that was written is removed.
"""

import contextlib
import errno
import os
import uuid
from collections.abc import Sequence

import numpy as np

from ... import device as devices
from ...arguments import checked_flag
from ...io import absolute, parts
from ...planning.cut import Ranges
from . import tasks
from .group import Group
from .residents import own
from .trouble import Trouble, attempted, refuse


def save_parts(
    group: Group,
    place: tuple[str, str],
    ranges: Ranges,
    dtype: np.dtype,
    path: str | os.PathLike[str],
    overwrite: bool,
    missing: float | None,
) -> None:
    """Write a vector of a group to a folder, each worker its part; in tables, `missing` integers are left out."""
    form, where, token = parts.form_of(path), absolute(path), uuid.uuid4().hex
    group.ready()
    kept = [rank for rank, (first, last) in enumerate(ranges) if last > first] or [0]
    numbers = {rank: number for number, rank in enumerate(kept)}
    names = [*(parts.name_of(form, number) for number in range(len(kept))), "info"]
    [folder] = refuse(group.one(0, begin_parts, where, checked_flag("overwrite", overwrite), token), where)
    try:
        own = [(numbers.get(rank), first) for rank, (first, _) in enumerate(ranges)]
        refuse(group.each(write_part, own, *place, folder, form, missing), where)
        lengths = [ranges[rank][1] - ranges[rank][0] for rank in kept]
        [lost] = refuse(group.one(0, end_parts, folder, form, lengths, dtype), where)
        refuse([Trouble(group.addresses[kept[i]], errno.ENOENT, f"{names[i]} is not there") for i in lost], where)
        if folder != where:
            refuse(group.one(0, replaced, where, folder, token), where)
    except BaseException:
        with contextlib.suppress(Exception):
            group.each(discard_parts, [()] * len(ranges), folder, names)
        with contextlib.suppress(Exception):
            parts.discard(folder, names)
        raise


@tasks.reported
def begin_parts(session: str, path: str, overwrite: bool, token: str) -> str | Trouble:
    """Task: make an empty folder for parts; return its path."""
    return attempted(parts.begin, path, overwrite, token)


@tasks.reported
def write_part(
    session: str, call: str, vector: str, path: str, form: str, missing: float | None, number: int | None, first: int
) -> Trouble | None:
    """Task: write this worker's part of a vector, if it has a number."""
    if number is None:
        return None
    s = own(session)
    with s.device.active():
        values = devices.to_host(s.kept[call][vector])
    return attempted(parts.write, path, form, number, vector, values, first, missing)


@tasks.reported
def end_parts(session: str, path: str, form: str, lengths: Sequence[int], dtype: np.dtype) -> list[int] | Trouble:
    """Task: end a folder of parts; return the numbers of those that are not there."""
    return attempted(parts.end, path, form, lengths, dtype)


@tasks.reported
def replaced(session: str, path: str, folder: str, token: str) -> Trouble | None:
    """Task: put a folder of parts in the place of another one."""
    return attempted(parts.replace, path, folder, token)


@tasks.reported
def discard_parts(session: str, path: str, names: Sequence[str]) -> Trouble | None:
    """Task: remove parts."""
    return attempted(parts.discard, path, names)
