"""A script as it stands, whose calls of SciPy's csgraph and of NetworkX mgraph runs.

It is run in this process, by the name ``__main__``. Neither SciPy nor NetworkX is imported before the script does it,
nor anything that takes longer to import than a script may take longer.
"""

import importlib
import io
import os
import sys
from importlib.machinery import SourceFileLoader

from .report import start

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType, TracebackType
    from typing import Any

#: The variable by which NetworkX knows backends to prefer.
PRIORITY = "NETWORKX_BACKEND_PRIORITY"


class _Loader:
    """A module's own loader, and what is done when it has loaded the module.

    It does not derive from `importlib.abc`, nor does the finder, as that imports more than all of this.
    """

    def __init__(self, own: "Any", then: "Callable[[], object]") -> None:
        self._own, self._then = own, then

    def create_module(self, spec: "ModuleSpec") -> "ModuleType | None":
        """Return what the module's own loader creates."""
        created: ModuleType | None = self._own.create_module(spec)
        return created

    def exec_module(self, module: "ModuleType") -> None:
        """Load the module."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        self._then()


class _Finder:
    """Finds modules as the other finders do, and adds to some what is done after their first import."""

    def __init__(self, after: "dict[str, Callable[[], object]]") -> None:
        self._after = after

    def find_spec(self, fullname: str, path: "Any", target: "Any" = None) -> "ModuleSpec | None":
        """Return how one of the modules is loaded; None for all others."""
        if fullname not in self._after:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                loader: Any = _Loader(spec.loader, self._after[fullname])
                spec.loader = loader
                return spec
        return None


def _enable() -> None:
    """Let mgraph run what is asked of SciPy's csgraph, which has just been imported."""
    importlib.import_module("mgraph.csgraph.substitution").enable_first()


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
    importlib.import_module("mgraph_networkx.watching").watch()


def run(script: str, arguments: list[str]) -> None:
    """Run a script, and print at the end of the process what mgraph ran of its calls.

    Parameters
    ----------
    script : str
        The path of a file.
    arguments : list of str
        What the script finds in `sys.argv`.

    Examples
    --------
    >>> from mgraph import unedited
    >>> unedited.run("analysis.py", ["--year", "2026"])  # doctest: +SKIP
    """
    sys.meta_path.insert(0, _Finder({"scipy.sparse.csgraph": _enable, "networkx": _prefer}))
    start(unedited=True)
    sys.argv[:] = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__file__, main.__loader__ = script, SourceFileLoader("__main__", script)
    main.__builtins__ = sys.modules["builtins"]  # type: ignore[attr-defined]
    try:
        with io.open_code(os.path.abspath(script)) as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
        exec(code, vars(main))
    except Exception as error:
        trace = _trace(error, script)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)
    except KeyboardInterrupt as error:  # by which the process is to end, so that a shell sees it
        trace, hook = _trace(error, script), sys.excepthook
        sys.excepthook = lambda kind, error, _: hook(kind, error.with_traceback(trace), trace)
        raise


def _trace(error: BaseException, script: str) -> "TracebackType | None":
    """Return the traceback of an error without the frames that called the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    return trace
