"""Figures that are kept for later processes, in files of the user's cache folder."""

import contextlib
import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def cache_folder() -> Path | None:
    """Return the folder that mgraph keeps its figures in; None where the user has no home and names no folder."""
    return _folder(os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))


@functools.cache
def _folder(named: str | None, _home: str | None) -> Path | None:
    """Return the folder by what the environment says; kept, as to make a path takes a plan's time."""
    try:
        return (Path(named) if named else Path.home() / ".cache") / "mgraph"
    except RuntimeError:  # there is no home
        return None


def write_json(path: Path, content: Any) -> None:
    """Write a file that appears whole or not at all, whoever else writes it at the same time.

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
