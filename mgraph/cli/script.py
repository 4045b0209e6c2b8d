"""The command ``mgraph run``: a script as it stands, whose calls of SciPy's csgraph and of NetworkX mgraph runs.

It is run in this process, by the name ``__main__``. Neither SciPy nor NetworkX is imported before the script does it.
"""

import importlib.machinery
import importlib.util
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import click

from ..report import start, watch_networkx
from .commands import WithExample, main

#: The variable by which NetworkX knows backends to prefer.
PRIORITY = "NETWORKX_BACKEND_PRIORITY"


class _Loader:
    """A module's own loader, and what is done when it has loaded the module.

    It does not derive from `importlib.abc`, nor does the finder, as that imports more than all of this command.
    """

    def __init__(self, own: Any, then: Callable[[], object]) -> None:
        self._own, self._then = own, then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Return what the module's own loader creates."""
        return cast(ModuleType | None, self._own.create_module(spec))

    def exec_module(self, module: ModuleType) -> None:
        """Load the module."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        self._then()


class _Finder:
    """Finds modules as usual, and adds to some what is done after their first import."""

    def __init__(self, after: dict[str, Callable[[], object]]) -> None:
        self._after = after

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return how one of the modules is loaded; None for all others."""
        then = self._after.pop(fullname, None)  # so that the search below does not come here
        spec = None if then is None else importlib.util.find_spec(fullname)
        if spec is None or then is None or spec.loader is None:
            return None
        spec.loader = cast(Any, _Loader(spec.loader, then))
        return spec


def _enable() -> None:
    """Let mgraph run what is asked of SciPy's csgraph."""
    from ..csgraph import enable

    enable()


def _prefer() -> None:
    """Have NetworkX, which has just been imported, ask mgraph first, if it knows it; count its calls."""
    networkx = sys.modules["networkx"]
    if "mgraph" in networkx.utils.backends.backends:
        priority = networkx.config.backend_priority
        first = list(dict.fromkeys(["mgraph", *getattr(priority, "algos", priority)]))
        os.environ[PRIORITY] = ",".join(first)  # for the script's processes
        if hasattr(priority, "algos"):
            priority.algos = first
        else:  # NetworkX 3.3
            networkx.config.backend_priority = first
    watch_networkx()


@main.command(
    "run",
    cls=WithExample,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: mgraph run analysis.py --year 2026",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(script: Path, arguments: tuple[str, ...]) -> None:
    """Run a Python script as it stands, and let mgraph run its calls of SciPy's csgraph and of NetworkX.

    Calls that would not gain time stay SciPy's and NetworkX's; the first one must be worth loading kernels. At the end
    a table on standard error says what ran where, and why. MGRAPH_REPORT=1 in the environment prints it without this
    command.
    """
    sys.meta_path.insert(0, _Finder({"scipy.sparse.csgraph": _enable, "networkx": _prefer}))
    start(unedited=True)
    sys.argv[:] = [str(script), *arguments]
    sys.path[0] = str(script.resolve().parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:
        # Without the frames of this command and of runpy.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != str(script):
            trace = trace.tb_next
        traceback.print_exception(error.with_traceback(trace or error.__traceback__))
        sys.exit(1)
