"""Compiling kernels ahead of the first call: small samples of the algorithms run in processes side by side."""

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

from . import limits
from .algorithms.apsp_batch.call import apsp_batch
from .algorithms.entry import Algorithm, Sample
from .algorithms.registry import ALGORITHMS
from .algorithms.samples import WEIGHTS, falling, with_weights
from .device import gpu_count
from .errors import InputError, MgraphError
from .generate import grid, rmat
from .graph import Graph, grouping
from .hierarchy import Hierarchy
from .hierarchy.routes import HIGH, WIDE
from .io import lines, write
from .reading import read

#: The side of a grid that batches solve by other kernels than small ones (`BLOCKED` of `mgraph.kernels.apsp_batch`).
LARGE = 20

_RUN = "import sys; from mgraph.warming import run_samples; run_samples(*sys.argv[1:])"


def warm_up(calls: Sequence[str] | None = None, *, progress: Callable[[int, int, str], None] | None = None) -> None:
    """Compile the kernels of algorithms ahead, in as many processes as there are cores.

    The compiled kernels are kept on disk, where later processes of this machine find them: Python's own, and Dask's
    workers. With a GPU, its kernels are compiled, too.

    Parameters
    ----------
    calls : sequence of str, optional
        The algorithms, by the names that `mgraph.plan` takes, and ``"apsp_batch"``, ``"hierarchy"``, ``"csgraph"``
        (of `mgraph.csgraph` and NetworkX's backend, what they have beside the algorithms) and ``"reading"`` (long texts
        and large graphs); by default all.
    progress : callable, optional
        Called with how many of how many parts are compiled, and the name of the algorithm whose last part it was, "" if
        it was not the last.

    Raises
    ------
    InputError
        If there is no such algorithm.
    MgraphError
        If a process fails.
    """
    # What "auto" takes comes first, as it has the most samples.
    known = {name: ("auto", *entry.methods) for name, entry in ALGORITHMS.items()}
    known |= {name: parts for name, (parts, _) in _OTHERS.items()}
    names = list(dict.fromkeys(known if calls is None else calls))
    for name in names:
        if name not in known:
            raise InputError(f"calls must be among {', '.join(known)}, got {name!r}")
    kinds = ["cpu", "cuda"] if gpu_count() else ["cpu"]
    jobs = [(name, part, kind) for name in names for part in known[name] for kind in kinds]
    left = Counter(name for name, *_ in jobs)
    with ThreadPoolExecutor(max(1, limits.cores())) as pool:
        begun = {pool.submit(_compile, *job): job[0] for job in jobs}
        for done, each in enumerate(as_completed(begun), 1):
            each.result()
            name = begun[each]
            left[name] -= 1
            if progress is not None:
                progress(done, len(jobs), "" if left[name] else name)


def _compile(*job: str) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, *job], env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        why = ran.stderr.strip()[-500:] or f"the process ended with {ran.returncode}"
        raise MgraphError(f"the kernels of {' '.join(job)} could not be compiled: {why}")


def run_samples(name: str, part: str, device: str) -> None:
    """Run the samples of a method, or of a part of a call without methods, on a device: this compiles their kernels."""
    if name in _OTHERS:
        _OTHERS[name][1](part, device)
    else:
        entry = ALGORITHMS[name]
        for sample in entry.samples(part):
            _run(entry, sample, part, device)
        for sample in entry.further() if part == "auto" else ():
            _run(entry, sample, part, device)
    if device == "cpu":
        # Most samples are small, and large inputs take the form for all cores.
        from .device.numba.small import compile_both_forms

        compile_both_forms()


def _run(entry: Algorithm, sample: Sample, method: str, device: str) -> None:
    """Run a sample; by "auto" also without predecessors, and verify what is found."""
    found = entry.run(sample, method, device)
    if method == "auto":
        found.verify(sample.given)
        if sample.options.get("predecessors"):
            options = {name: value for name, value in sample.options.items() if name != "predecessors"}
            entry.run(Sample(sample.given, options), method, device).verify(sample.given)


def _batches(weights: str, device: str) -> None:
    for side in (6, LARGE):
        graphs = [with_weights(grid(side, side, weights=None), None if weights == "none" else weights)] * 3
        for predecessors in (False, True):
            apsp_batch(graphs, predecessors=predecessors, device=device).verify(graphs)


def _hierarchies(weights: str, device: str) -> None:
    squares = with_weights(grid(6, 6, weights=None), None if weights == "none" else weights)
    for graph in (squares, *(each for each in falling(30) if each.weights_dtype == weights)):
        hierarchy = Hierarchy(graph, order=np.arange(graph.n), device=device)
        for limit in (None, 3):
            hierarchy.distances([0, 1], limit=limit)
            hierarchy.distances([0, 1], [2, 3], limit=limit)
            hierarchy.distances([0, 1], reduce="mean", limit=limit)
        hierarchy.distances([0, 1], predecessors=True)
        hierarchy.distance(0, 8)
        hierarchy.labelled().distance(0, 8)
        hierarchy.path(0, 8)
        hierarchy.pairs([0, 1], [8, 9])
        hierarchy.pairs([0, 1], [8, 9], paths=True, along=[np.ones(graph.m)])
        hierarchy.flows(([0, 1], [8, 9], [1, 2])).verify()
        hierarchy.distances(np.arange(HIGH), np.zeros(WIDE, int), along=[np.ones(graph.m)])
        for other in (1, 2):  # directions alike, and not
            stack = np.ones((8, graph.m), graph.weights_dtype)
            stack[:, ::2] = other
            list(hierarchy.customize(stack))
    # A vertex of many climbs alone.
    line = with_weights(grid(1, 300, weights=None), None if weights == "none" else weights)
    alone = Hierarchy(line, order=np.arange(line.n), device=device)
    alone.pairs([0], [0])
    alone.pairs([0], [0], paths=True)


def _searches(part: str, device: str) -> None:
    """Run what only the interfaces of SciPy and NetworkX have, which run on the CPU."""
    from . import csgraph

    graph = rmat(6)
    for directed in (False, True):
        csgraph.breadth_first_order(graph.to_scipy(), 0, directed=directed)
    if importlib.util.find_spec("networkx") is not None:
        from . import networkx

        converted = networkx.convert_from_nx(graph.to_networkx(), edge_attrs={"weight": 1})
        dict(networkx.single_source_dijkstra_path_length(converted, 0))
        list(networkx.strongly_connected_components(converted))


def _readings(part: str, device: str) -> None:
    """Read texts, and make graphs, as if they were large."""
    with _all_is_large(), tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        for dtype in WEIGHTS:
            for directed in (True, False):
                graph = with_weights(rmat(6, directed=directed), dtype)
                graph.compressed("csc")
                Graph.from_scipy(graph.to_scipy(), directed=directed)
            columns = [each for each in graph.listed() if each is not None]
            np.savetxt(path / "edges.txt", np.column_stack(columns), fmt="%g")
            read(path / "edges.txt")
        write(rmat(6), path / "edges.graph")
        read(path / "edges.graph")


@contextlib.contextmanager
def _all_is_large() -> Iterator[None]:
    """In the block, count every text and list of edges as long enough for kernels."""
    before = grouping.MANY, lines.PLAIN
    grouping.MANY = lines.PLAIN = 1
    try:
        yield
    finally:
        grouping.MANY, lines.PLAIN = before


#: The types of weights as names of parts.
_TYPES = tuple(dtype or "none" for dtype in WEIGHTS)

#: What is not in the registry, by names: its parts, and what runs the samples of a part on a device.
_OTHERS: dict[str, tuple[tuple[str, ...], Callable[[str, str], None]]] = {
    "apsp_batch": (_TYPES, _batches),
    "hierarchy": (_TYPES, _hierarchies),
    "csgraph": (("auto",), _searches),
    "reading": (("auto",), _readings),
}
