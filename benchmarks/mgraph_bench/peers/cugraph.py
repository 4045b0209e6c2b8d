"""cuGraph: a graph and results on the GPU, by pylibcugraph, as its documentation shows. No test runs it."""

from functools import partial
from typing import Any

import numpy as np

from mgraph import device as devices
from mgraph.dtypes import NO_PREDECESSOR
from mgraph.graph import Edges, Graph

from .conversion import refuse_negative, smallest, symmetric
from .solver import Array, Library, Peer, Solver


def _graph(pylibcugraph: Library, graph: Graph, weighted: bool = False) -> tuple[Any, Any, devices.Device]:
    """Return a handle, the graph on its GPU or else the first one, and that GPU."""
    device = devices.find("cuda" if graph.device == "cpu" else graph.device)
    with device.active():
        xp = device.xp
        src, dst, weights = Edges(*(None if part is None else device.asarray(part) for part in graph.coo()))
        if weighted:
            weights = xp.ones(len(src), np.float32) if weights is None else weights
            weights = weights if weights.dtype == np.float32 else weights.astype(np.float64)
        handle = pylibcugraph.ResourceHandle()
        made = pylibcugraph.SGGraph(
            resource_handle=handle,
            graph_properties=pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=True),
            src_or_offset_array=src,
            dst_or_index_array=dst,
            vertices_array=xp.arange(graph.n, dtype=np.int32),
            weight_array=weights if weighted else None,
            store_transposed=False,
            renumber=True,  # sorted by degree, as its kernels expect
            do_expensive_check=False,
        )
    return handle, made, device


def _placed(device: devices.Device, vertices: Array, values: Array, missing: Any, filler: Any) -> Array:
    """Return the values by vertex; cuGraph returns them in its own order, with another number for none."""
    with device.active():
        placed = device.xp.empty_like(values)
        placed[vertices] = device.xp.where(values == missing, values.dtype.type(filler), values)
    return placed


def bfs(pylibcugraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    """Return the call for a breadth-first search."""
    handle, made, device = _graph(pylibcugraph, graph)
    with device.active():
        sources = device.asarray(np.array([source], np.int32))

    def solve() -> Any:
        return pylibcugraph.bfs(
            handle,
            made,
            sources,
            direction_optimizing=not graph.directed,
            depth_limit=-1,
            compute_predecessors=predecessors,
            do_expensive_check=False,
        )

    def arrays(raw: tuple[Array, Array, Array]) -> dict[str, Array]:
        distances, before, vertices = raw
        found = {"distances": _placed(device, vertices, distances, np.iinfo(np.int32).max, -1)}
        if predecessors:
            found["predecessors"] = _placed(device, vertices, before, -1, NO_PREDECESSOR)
        return found

    return Solver(solve, arrays, "pylibcugraph.bfs")


def sssp(pylibcugraph: Library, graph: Graph, source: int, predecessors: bool = False) -> Solver:
    """Return the call for the shortest paths from a vertex."""
    refuse_negative(graph, "pylibcugraph.sssp")
    handle, made, device = _graph(pylibcugraph, graph, weighted=True)
    most = np.finfo(np.float32 if graph.weights_dtype in (None, np.float32) else np.float64).max

    def solve() -> Any:
        return pylibcugraph.sssp(
            handle, made, source, cutoff=float(most), compute_predecessors=True, do_expensive_check=False
        )

    def arrays(raw: tuple[Array, Array, Array]) -> dict[str, Array]:
        vertices, distances, before = raw
        return {
            "distances": _placed(device, vertices, distances, most, np.inf),
            "predecessors": _placed(device, vertices, before, -1, NO_PREDECESSOR),
        }

    return Solver(solve, arrays, "pylibcugraph.sssp")


def components(pylibcugraph: Library, graph: Graph) -> Solver:
    """Return the call for connected components."""
    handle, made, _ = _graph(pylibcugraph, symmetric(graph))

    def arrays(raw: tuple[Array, Array]) -> dict[str, Array]:
        vertices, labels = map(devices.to_host, raw)
        return {"labels": smallest(labels[vertices.argsort()])}

    # After the graph come what it could be given as instead, and a place for the labels.
    solve = partial(pylibcugraph.weakly_connected_components, handle, made, None, None, None, None, False)
    return Solver(solve, arrays, "pylibcugraph.weakly_connected_components")


PEER = Peer(
    "pylibcugraph",
    "pylibcugraph-cu13 (or -cu12) from NVIDIA's package index (see RAPIDS' installation page)",
    {"bfs": bfs, "sssp": sssp, "components": components},
    kind="cuda",
)
