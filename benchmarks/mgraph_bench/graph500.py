"""The Graph500 benchmark: searches, and shortest paths, from 64 keys of a Kronecker graph, each validated.

    mgraph bench graph500 --scale S [--workers N] [--sssp]

The graph is made where it is searched: on one device, or on Dask workers, which keep it. Each search returns its tree.
It is timed as a call, from the key to the result on the devices, and then validated by Graph500's rules
(`mgraph.algorithms.certificates`). They ask for any tree of shortest paths, so breadth-first searches write theirs as
they go (``predecessors="any"``). One search of each kind comes before those that count, to compile the kernels.

TEPS are traversed edges a second: the number of edges that the generator drew within the component of the key, with
repeated edges and self-loops, by the time of the call. Their mean is the harmonic one.

Two things differ from the specification. Edges are drawn while the graph is built, so the time of construction includes
that of generation. A repeated edge is kept once, so its weight is drawn for the pair of vertices and not for each of
the repetitions.

Sources: Graph500 benchmark specification, version 2.0, graph500.org. The standard deviation of a harmonic mean:
N. Norris, "The standard errors of the geometric and harmonic means and their application to index numbers", 1940.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import mgraph
from mgraph import device as devices
from mgraph.algorithms.certificates.run import Needs, among_all, facts_of
from mgraph.arguments import checked_integer
from mgraph.arrays import Array
from mgraph.errors import InputError
from mgraph.generate import EDGES_AT_A_TIME, rmat_edges
from mgraph.generate.weights import Hashed, weighed_by
from mgraph.graph import as_any_graph
from mgraph.graph.vertex_range import PartWithVectors
from mgraph.planning.plan import Plan
from mgraph.runtime.communicator import Communicator

#: Edges drawn for each vertex, and search keys, as the specification has them.
EDGE_FACTOR, KEYS = 16, 64

#: Bytes for each vertex to draw edges some at a time, and to compare the labels of their ends.
A_VERTEX = 128

#: The bits of a weight's fraction: as many as float32 has.
BITS = 24

#: The name of each statistic in the output, and of those of a rate.
STATISTICS = ("min", "firstquartile", "median", "thirdquartile", "max", "mean", "stddev")


@dataclass
class Kernel:
    """The measurements of searches, or of shortest paths: one for each key.

    Attributes
    ----------
    seconds, devices, distances, validate : list of float
        Seconds of each call; of it, those of the devices, without the messages to workers; of these, those of the
        distances, without a tree that is found afterwards; and the seconds of the validation.
    """

    seconds: list[float] = field(default_factory=list)
    devices: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    validate: list[float] = field(default_factory=list)


@dataclass
class Measured:
    """A run of the benchmark.

    Attributes
    ----------
    scale, shards : int
        The graph has ``2**scale`` vertices, and lies on so many devices.
    construction : float
        Seconds to generate and build the graph, without weights.
    keys, edges : list of int
        The search keys, and the number of edges that count as traversed from each.
    kernels : dict of str to Kernel
        By ``"bfs"`` and ``"sssp"``.
    """

    scale: int
    shards: int
    construction: float
    keys: list[int]
    edges: list[int]
    kernels: dict[str, Kernel]


def measured(
    scale: int,
    client: Any = None,
    device: str | None = None,
    *,
    sssp: bool = False,
    keys: int = KEYS,
    seed: int = 0,
    done: Callable[[], object] = lambda: None,
) -> Measured:
    """Run the benchmark.

    Parameters
    ----------
    scale : int
        The graph has ``2**scale`` vertices, at most ``2**30``.
    client : distributed.Client, optional
        The client whose workers make and keep the graph; by default one device does.
    device : str, optional
        The device, or the kind of the workers' devices; by default a GPU where there is one.
    sssp : bool
        Whether to measure shortest paths, too.
    keys : int
        Number of searches. If fewer vertices have neighbours, each is searched from once.
    seed : int
        The seed of the graph and of the keys.
    done : callable
        Called after each search that was validated.

    Raises
    ------
    VerificationError
        If a result breaks a rule.
    InputError
        If an argument is invalid, or the graph has no edges.
    """
    keys = checked_integer("keys", keys, 1)
    name = devices.find(device).name if client is None else device
    began = time.perf_counter()
    graph: Any = mgraph.generate.rmat(scale, EDGE_FACTOR, seed=seed, device=name, client=client)
    if client is None:
        devices.find(name).synchronize()
    construction = time.perf_counter() - began
    # A graph that lies on workers is searched there.
    on: dict[str, Any] = {} if client is not None else {"device": name}
    chosen = search_keys(graph, keys, seed, on)
    if not chosen:
        raise InputError(argument="scale", value=scale, expected="such that the graph has an edge")
    edges = edges_within(graph, chosen, scale, seed, on)
    kernels = {"bfs": timed(lambda key: mgraph.bfs(graph, key, predecessors="any", **on), graph, chosen, done)}
    if sssp:
        lengths = weighed_by(graph, Uniform(), nonnegative=True)
        call = lambda key: mgraph.sssp(lengths, key, predecessors=True, **on)  # noqa: E731
        kernels["sssp"] = timed(call, lengths, chosen, done)
    shards = len(graph.ranges) if client is not None else 1
    return Measured(scale, shards, construction, chosen, edges, kernels)


def search_keys(graph: Any, count: int, seed: int, on: dict[str, Any]) -> list[int]:
    """Return different random vertices that have neighbours; fewer than `count` if there are no more."""
    found: list[int] = []
    for vertex in random_vertices(graph.n, seed):
        if len(found) == count:
            break
        if mgraph.bfs(graph, vertex, limit=1, **on).distances.max() > 0:
            found.append(vertex)
    return found


def random_vertices(n: int, seed: int) -> Iterator[int]:
    """Yield all vertices in random order, without a list of them: of a large graph few are needed."""
    random = np.random.default_rng(seed)
    seen: set[int] = set()
    while len(seen) < n:
        vertex = int(random.integers(n))
        if vertex not in seen:
            seen.add(vertex)
            yield vertex


def edges_within(graph: Any, keys: Sequence[int], scale: int, seed: int, on: dict[str, Any]) -> list[int]:
    """Return for each key the number of edges that the generator drew within the key's component."""
    labels = mgraph.connected_components(graph, **on).labels
    wanted = [int(labels[key]) for key in keys]
    distinct = sorted(set(wanted))
    needs = Needs(A_VERTEX, False)
    facts = facts_of(
        as_any_graph(graph), lambda plan: Drawn(plan, scale, seed, tuple(distinct)), {"labels": labels}, needs
    )
    counts = dict(zip(distinct, facts["drawn"].tolist(), strict=False))
    return [counts[label] for label in wanted]


def timed(call: Callable[[int], Any], graph: Any, keys: Sequence[int], done: Callable[[], object]) -> Kernel:
    """Return the measurements of a call from each key, after one that does not count."""
    found = Kernel()
    call(keys[0])
    for key in keys:
        began = time.perf_counter()
        result = call(key)
        found.seconds.append(time.perf_counter() - began)
        parts = result.timings
        found.devices.append(parts["load"] + parts["solve"] + parts["collect"])  # which may find the tree
        found.distances.append(parts["solve"])
        began = time.perf_counter()
        result.verify(graph)
        found.validate.append(time.perf_counter() - began)
        done()
    return found


@dataclass(frozen=True)
class Uniform:
    """Weights of edges from [0, 1), in steps of ``2**-24``: a hash of each pair of vertices."""

    dtype: ClassVar[np.dtype] = np.dtype(np.float32)

    def __call__(self, src: Array, dst: Array) -> Array:
        """Return the weights of some edges."""
        return Hashed(0, 2**BITS - 1, self.dtype)(src, dst) * np.float32(2.0**-BITS)


@dataclass
class Drawing:
    """A shard's state: the component of every vertex, of which it has its own part at first, and the counts."""

    device: devices.Device
    labels: Array
    counts: Array
    done: bool = False


@dataclass(frozen=True)
class Drawn:
    """Counts the edges that the generator draws within some components; the shards share the drawing.

    Parameters
    ----------
    plan : Plan
        The vertices of each shard.
    scale, seed : int
        Those of the graph.
    components : tuple of int
        The labels of the components, ascending.
    """

    plan: Plan
    scale: int
    seed: int
    components: tuple[int, ...]
    facts: ClassVar[tuple[str, ...]] = ("drawn",)

    def load(self, shard: int, piece: PartWithVectors, device: devices.Device) -> Drawing:
        """Return the shard with its own part of the labels."""
        labels = among_all(piece.vectors["labels"], self.plan.ranges[shard][0], self.plan.n)
        return Drawing(device, labels, device.xp.zeros(len(self.components), np.int64))

    def step(self, state: Drawing, first: int, limit: int, comm: Communicator) -> int:
        """Count the edges of every so many chunks, and add up the shards' counts."""
        if state.done:
            return 0
        comm.allgather(state.labels, self.plan.ranges)
        xp, chunk, edges = state.device.xp, EDGES_AT_A_TIME[state.device.kind], EDGE_FACTOR << self.scale
        components = state.device.asarray(np.array(self.components, state.labels.dtype))
        for start in range(comm.rank * chunk, edges, comm.size * chunk):
            src, _ = rmat_edges(xp, self.scale, start, min(chunk, edges - start), self.seed)
            found = state.labels[src.astype(np.int64)]
            for i in range(len(components)):
                state.counts[i] += (found == components[i]).sum()
        comm.allreduce(state.counts, "sum")
        state.done = True
        return 1

    def collect(self, state: Drawing, comm: Communicator) -> dict[str, Array]:
        """Return the number of edges within each component; the same on every shard."""
        return {"drawn": devices.to_host(state.counts)}


def statistics_of(values: Sequence[float]) -> dict[str, float]:
    """Return the quartiles, the mean and the standard deviation, each as Graph500's reference code has them."""
    ordered, n = sorted(values), len(values)
    low, high = (n - 1) // 4, n // 4
    mean = sum(ordered) / n
    spread = math.sqrt(sum((value - mean) ** 2 for value in ordered) / max(n - 1, 1))
    quartiles = (
        (ordered[low] + ordered[high]) / 2,
        (ordered[(n - 1) // 2] + ordered[n // 2]) / 2,
        (ordered[n - 1 - low] + ordered[n - 1 - high]) / 2,
    )
    return dict(zip(STATISTICS, (ordered[0], *quartiles, ordered[-1], mean, spread), strict=True))


def rates_of(seconds: Sequence[float], edges: Sequence[int]) -> dict[str, float]:
    """Return the statistics of the edges a second: quartiles, and the harmonic mean with its standard deviation."""
    by_edge = statistics_of([each / count for each, count in zip(seconds, edges, strict=True)])
    mirrored = ("max", "thirdquartile", "median", "firstquartile", "min")
    found = {name: 1 / by_edge[other] for name, other in zip(STATISTICS, mirrored, strict=False)}
    found["harmonic_mean"] = 1 / by_edge["mean"]
    found["harmonic_stddev"] = by_edge["stddev"] / (by_edge["mean"] ** 2 * math.sqrt(max(len(edges) - 1, 1)))
    return found


def output(run: Measured) -> dict[str, float | None]:
    """Return the values of Graph500's output block by name, and those of parts of the calls."""
    found: dict[str, float | None] = {
        "SCALE": run.scale,
        "edgefactor": EDGE_FACTOR,
        "NBFS": len(run.keys),
        "graph_generation": None,
        "num_mpi_processes": run.shards,
        "construction_time": run.construction,
    }

    def add(kernel: str, what: str, values: dict[str, float]) -> None:
        found.update({f"{kernel:4} {name}_{what}": value for name, value in values.items()})

    for name, kernel in run.kernels.items():
        add(name, "time", statistics_of(kernel.seconds))
    found.update({f"{name}_nedge": value for name, value in statistics_of(run.edges).items()})
    for name, kernel in run.kernels.items():
        add(name, "TEPS", rates_of(kernel.seconds, run.edges))
    for name, kernel in run.kernels.items():
        add(name, "validate", statistics_of(kernel.validate))
    for name, kernel in run.kernels.items():
        for part, seconds in (("devices", kernel.devices), ("distances", kernel.distances)):
            found[f"{name:4} {part}_median_time"] = statistics_of(seconds)["median"]
            found[f"{name:4} {part}_harmonic_mean_TEPS"] = rates_of(seconds, run.edges)["harmonic_mean"]
    return found


def block(run: Measured) -> str:
    """Return the output block as text, in the layout of Graph500's reference code."""
    lines = []
    for name, value in output(run).items():
        ranked = "!  " if name.endswith(" harmonic_mean_TEPS") else ""
        lines.append(f"{name + ': ':{32 - len(ranked)}}{ranked}{_words(value)}")
    return "\n".join(lines)


def _words(value: float | None) -> str:
    """Return a whole number in full, and another with six digits."""
    if value is None:
        return "(in construction_time)"
    return str(int(value)) if value == int(value) else f"{value:.6g}"
