"""Figures kept for later processes, in files of the user's cache folder."""

import contextlib
import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of mgraph's figures; None if the user has no home directory and names no folder.

    The environment is read once: that takes as long as a plan. A path that is not absolute is ignored, as the XDG Base
    Directory Specification says.
    """
    named = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(named) if named and os.path.isabs(named) else Path.home() / ".cache") / "mgraph"
    except RuntimeError:  # no home directory
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a file atomically, even if other processes write it at the same time.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file, fresh = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(file, "w", encoding="utf-8") as opened:
            json.dump(content, opened, indent=1)
        os.replace(fresh, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise
