"""Parts of docstrings that public calls and results share, written once.

A docstring names a part by a line such as ``{common arguments}``. `with_common_parts` inserts the part when the module
is imported, so that `help` and Sphinx show the whole text.
"""

import textwrap
from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import TypeVar

Documented = TypeVar("Documented")

_PARTS = {
    "{common arguments}": """\
device : {"cpu", "cuda", "cuda:N"}, optional
    Where to run. By default the input's own device if that is a GPU, else a GPU if there is one. With `client`, the
    kind of device that its workers use. What lies on workers, such as a `DistributedGraph`, is solved there: then
    `device`, `client`, `worker_timeout` and `wait_for_workers` are left out, and vectors stay on the workers, too.
client : distributed.Client, optional
    Run on the client's workers, one shard each. Vectors are returned to the caller; matrices stay on the workers,
    as `mgraph.cluster.DistributedMatrix`.
worker_timeout : float or str, optional
    Seconds that a worker of `client` may be silent before the call raises `WorkerLostError`: 1 or more, or a string
    such as ``"2 minutes"``. By default that of `mgraph.cluster.connect`, ``mgraph.worker-timeout`` of Dask's
    configuration, or 60.
wait_for_workers : int, optional
    Begin once `client` has that many workers, and run on all that are there by then; by default the number given at
    `mgraph.cluster.connect`, if any. The call raises `SchedulerError` if they have not joined within
    ``mgraph.wait-timeout`` of Dask's configuration, or 10 minutes.
retries : int, optional
    How many times the call may be made again, on the workers that are left or come back, after it has lost a worker of
    `client`, or with a part of a `DistributedGraph`, which is made again too. By default that of
    `mgraph.cluster.connect`, ``mgraph.retries`` of Dask's configuration, or 2.
memory_limit : int, float or str, optional
    The most bytes that the call may allocate on each device, such as 1e9 or ``"1GiB"``. By default the free memory,
    and on workers at most ``mgraph.memory-limit`` of Dask's configuration.
span : int, optional
    Number of supersteps between two progress reports. With `client`, a superstep of a span of 1 is a message to each
    worker, and a barrier. By default as many as take about a second.
progress : callable or True, optional
    Called between spans with the number of supersteps done and their total, which is None if it depends on the graph.
    True shows them as a bar of tqdm on standard error, or in the notebook.
""",
    "{ids argument}": """\
ids : bool, optional
    Whether integers are ids of the graph, not numbers of vertices, as they are by default. Text always is an id. If a
    vertex is asked for by an id, the result has ids, too, but for its arrays; methods of the result then take integers
    as the call did. Without this argument a number that is also the id of another vertex is warned of, once for a
    graph.
""",
    "{ids of vertices}": """\
ids : bool, optional
    Whether integers are ids of the graph, not numbers of vertices, as they are by default. Text always is an id.
""",
    "{ids of a method}": """\
ids : bool, optional
    Whether integers are ids of the graph. By default as in the call.
""",
    "{checkpoint arguments}": """\
checkpoint : str or path, optional
    A folder, or a URL that fsspec knows, to which what has been computed is written now and then, by the devices and
    workers themselves, behind the computation. The last two complete checkpoints are kept. All workers, and the caller,
    must be able to write to it and read from it.
checkpoint_every : float or str, optional
    Seconds between two checkpoints, or such as ``"2 minutes"``. By default ``mgraph.checkpoint-every`` of Dask's
    configuration, or 10, or more where the call has to pause for them.
resume : bool
    Go on from the last complete checkpoint in the folder, on the same devices or others; begin anew if there is none.
    The call and its input must be those that wrote it. A call that is made again after a loss does so by itself.
""",
    "{checkpoint errors}": """\
CheckpointError
    With `resume`: if no checkpoint can be used, or they are of another call or another input.
OutputExistsError
    If the folder holds checkpoints, and `resume` is false.
""",
    "{common errors}": """\
MemoryLimitError
    If no plan fits the free memory, or `memory_limit`; raised before anything is allocated.
DeviceError
    If the device does not exist or cannot be used.
WorkerLostError, SchedulerError, VersionError
    On workers: if they are lost more often than `retries` allows, the scheduler does not answer or has no or too few
    workers, or a worker has another version of mgraph.
""",
    "{common attributes}": """\
plan : Plan
    How the call was run.
timings : dict of str to float
    Seconds spent in ``"load"``, ``"solve"`` and ``"collect"``, and separately in ``"compile"``: kernels are compiled,
    or loaded from a cache, at their first use.
""",
    "{a graph on workers}": """\
>>> from distributed import Client
>>> import mgraph
>>> with Client(processes=False, dashboard_address=":0") as client:
...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(2, 3), client, device="cpu")
""",
    "{a larger graph on workers}": """\
>>> from distributed import Client
>>> import mgraph
>>> with Client(processes=False, dashboard_address=":0") as client:
...     graph = mgraph.DistributedGraph.from_graph(mgraph.generate.grid(3, 4), client, device="cpu")
""",
    "{distances on workers}": """\
>>> from distributed import Client
>>> import mgraph
>>> with Client(processes=False, dashboard_address=":0") as client:
...     distances = mgraph.apsp([[0, 3, 8], [2, 0, 5], [1, 4, 0]], client=client, device="cpu").distances
""",
    "{a client}": """\
>>> from distributed import Client
>>> import mgraph
>>> with Client(processes=False, dashboard_address=":0") as client:
""",
    "{a network of three places}": """\
>>> from mgraph.roads import Network
>>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
>>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
""",
    "{two links}": """\
>>> import numpy as np
>>> from mgraph import roads
>>> columns = np.array([[4, 4], [0.15, 0.15], [4, 4], [10, 20], [5, 7], [0, 0]])
>>> links = roads.Links(np.array([0, 0]), np.array([1, 1]), *columns)
""",
}


def with_common_parts(documented: Documented, more: Mapping[str, str] = MappingProxyType({})) -> Documented:
    """Return a function or class with the common parts in its docstring, and with `more` parts of its own.

    A class has them in the docstrings of its members, too.
    """
    parts = {**_PARTS, **more}
    members = vars(documented).values() if isinstance(documented, type) else ()
    for each in (documented, *(getattr(member, "__func__", member) for member in members)):
        text = each.__doc__ if each is documented or isinstance(each, (FunctionType, property)) else None
        if text is not None:  # as with python -OO
            each.__doc__ = "".join(_filled(line, parts) for line in text.splitlines(keepends=True))
    return documented


def _filled(line: str, parts: Mapping[str, str]) -> str:
    """Return a line of a docstring, or the part that it names, equally indented."""
    part = parts.get(line.strip())
    return line if part is None else textwrap.indent(part, line[: line.index("{")])
