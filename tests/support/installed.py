"""An environment in which this checkout's entry points are installed, for processes of their own."""

import os
import tomllib
from pathlib import Path

from mgraph import __version__

ROOT = Path(__file__).parents[2]


def environment(folder):
    """Return the variables of a process in which NetworkX knows the backend; `folder` is to hold the entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = {group: names for group, names in project["entry-points"].items() if group.startswith("networkx.")}
    assert set(points) == {"networkx.backends", "networkx.backend_info"}
    text = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
        for group, names in points.items()
    )
    # Of the name of the distribution, so that it hides one that is installed.
    information = folder / f"{project['name'].replace('-', '_')}-{__version__}.dist-info"
    information.mkdir()
    (information / "entry_points.txt").write_text(text)
    path = os.pathsep.join([str(folder), str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path}
