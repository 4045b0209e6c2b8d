"""What the docstrings of public calls and results have in common, written once.

A docstring names a part by a line such as ``{common arguments}``. `with_common_parts` puts the part in its place when
the module is imported, so that `help` and Sphinx show the whole text.
"""

import textwrap
from typing import TypeVar

Documented = TypeVar("Documented")

_PARTS = {
    "{common arguments}": """\
device : {"cpu", "cuda", "cuda:N"}, optional
    Where to run. By default the input's own device where that is a GPU, else a GPU where there is one. With
    `client`, what its workers use.
client : distributed.Client, optional
    Run on the client's workers, one shard each. Vectors are returned to the caller; matrices stay on the workers,
    as `mgraph.cluster.DistributedMatrix`.
worker_timeout : float or str, optional
    Seconds, 1 or more, or such as ``"2 minutes"``, that a worker of `client` may be silent before the call ends in
    `WorkerLostError`. By default ``mgraph.worker-timeout`` of Dask's configuration, or 60.
memory_limit : int, float or str, optional
    Bytes that the call may take of each device, such as 1e9 or ``"1GiB"``. By default what is free.
span : int, optional
    Supersteps between two progress reports, and with `client` between two barriers of Dask, where 1 makes each
    superstep a task. By default about a second's worth.
progress : callable, optional
    Called between spans with the number of supersteps done and with their total, which is None where only the graph
    can tell.
""",
    "{common errors}": """\
MemoryLimitError
    If no plan fits the free memory, or `memory_limit`; raised before anything is allocated.
DeviceError
    If the device is not there or cannot be used.
WorkerLostError, SchedulerError, VersionError
    With `client`: if a worker is lost during the call, the scheduler does not answer or has no workers, or a worker
    has another version of mgraph.
""",
    "{common attributes}": """\
plan : Plan
    How the call was run.
timings : dict of str to float
    Seconds spent in ``"load"``, ``"solve"`` and ``"collect"``, and apart from these in ``"compile"``: kernels are
    compiled, or loaded from a cache, at their first use.
""",
}


def with_common_parts(documented: Documented) -> Documented:
    """Return a function or class with the common parts in its docstring."""
    text = documented.__doc__
    if text is not None:  # as with python -OO
        documented.__doc__ = "".join(map(_filled, text.splitlines(keepends=True)))
    return documented


def _filled(line: str) -> str:
    """Return a line of a docstring, or the part that it names, as far indented."""
    part = _PARTS.get(line.strip())
    return line if part is None else textwrap.indent(part, line[: line.index("{")])
