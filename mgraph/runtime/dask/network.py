"""Checks of the network among workers: which can reach which, and how fast each pair is, both ways.

First each worker connects to every other one. Where all can, a program measures each pair by the communicator that
calls use, NCCL between GPUs and Dask's messages between CPUs: one pair after the other, while the others wait.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from distributed import Client
from distributed import comm as comms
from distributed.worker import Worker

from ... import device as devices
from ...arguments import size_in_words
from ...arrays import Array
from ...planning.plan import Detail, Plan
from ..communicator import Communicator
from . import tasks
from .driver import on_workers
from .interfaces import Port, port_of
from .survey import Cluster
from .watch import NOTICE, Watch, lost, opened

#: Bytes of a long message, and how often a message is sent before and while it is timed.
LONG = {"cpu": 8 << 20, "cuda": 64 << 20}
WARM, TIMED = 2, 5

#: The most ways that are shown one by one, and the number of slowest ones that are shown of more.
SHOWN, SLOWEST = 56, 5

#: Seconds that a worker may take to answer another one.
ANSWER = 5.0


class Link(NamedTuple):
    """The way from one worker to another, as `mgraph.cluster.check_network` finds it.

    Attributes
    ----------
    source, target : str
        The addresses of the workers.
    latency : float or None
        Seconds of a short message, half of those to and fro; None if it was not measured.
    bandwidth : float or None
        Bytes a second of long messages; None if it was not measured.
    problem : str or None
        Why the source cannot reach the target.
    """

    source: str
    target: str
    latency: float | None
    bandwidth: float | None
    problem: str | None


@dataclass(frozen=True)
class Network:
    """The network among the workers of a client: the result of `mgraph.cluster.check_network`.

    Attributes
    ----------
    kind : {"cpu", "cuda"}
        The kind of the workers' devices: between GPUs, NCCL carries the data.
    ports : tuple of Port
        Each worker's address, ``host``, ``interface``, its ``speed`` in bytes a second, and what ``nccl`` is told to
        use.
    links : tuple of Link
        For each two workers, one each way: ``source``, ``target``, ``latency`` in seconds, ``bandwidth`` in bytes a
        second, and the ``problem`` if the source cannot reach the target. Nothing is measured then.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     network = mgraph.cluster.check_network(client, device="cpu")
    ...     len(network.ports), len(network.links), network.links[0].bandwidth > 0
    (2, 2, True)
    """

    kind: str
    ports: tuple[Port, ...]
    links: tuple[Link, ...]

    @property
    def broken(self) -> tuple[Link, ...]:
        """The links by which a worker cannot reach another.

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
        ...     mgraph.cluster.check_network(client, device="cpu").broken
        ()
        """
        return tuple(link for link in self.links if link.problem is not None)

    def explain(self) -> str:
        """Return the network in words: a line for each worker, and for each way from one to another.

        With more than `SHOWN` ways these are their ranges, the slowest ones, and those that cannot be used.

        Returns
        -------
        str

        Examples
        --------
        >>> from distributed import Client
        >>> import mgraph
        >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
        ...     print(mgraph.cluster.check_network(client, device="cpu").explain())  # doctest: +ELLIPSIS
        inproc://...: host ...
        inproc://...: host ...
        inproc://... to inproc://...: ... µs, .../s
        inproc://... to inproc://...: ... µs, .../s
        """
        return "\n".join([*map(self._port, self.ports), *self._link_lines()])

    def _link_lines(self) -> Iterator[str]:
        """Yield a line for each link, or for what matters of many."""
        measured = [link for link in self.links if link.latency is not None and link.bandwidth is not None]
        if len(self.links) <= SHOWN:
            yield from map(self._link, self.links)
        elif self.broken:
            yield from map(self._link, self.broken)
        else:
            for name, key, words in (
                ("latency", lambda link: -link.latency, lambda link: f"{link.latency * 1e6:.0f} µs"),
                ("bandwidth", lambda link: link.bandwidth, lambda link: f"{size_in_words(int(link.bandwidth))}/s"),
            ):
                ordered = sorted(measured, key=key)
                yield f"{name} of {len(measured):,} ways: {words(ordered[-1])} to {words(ordered[0])}; the slowest:"
                yield from map(self._link, ordered[:SLOWEST])

    def _port(self, port: Port) -> str:
        words = f"{port.address}: host {port.host}"
        if port.interface is not None:
            words += f", interface {port.interface}"
        if port.speed is not None:
            words += f" of {size_in_words(int(port.speed))}/s"
        if self.kind == "cuda":
            words += f", NCCL uses {port.nccl.lstrip('=') if port.nccl else 'an interface of its choice'}"
        return words

    def _link(self, link: Link) -> str:
        words = f"{link.source} to {link.target}: "
        if link.problem is not None:
            return f"{words}cannot be reached: {link.problem}"
        if link.latency is None or link.bandwidth is None:
            return f"{words}can be reached"
        return f"{words}{link.latency * 1e6:.0f} µs, {size_in_words(int(link.bandwidth))}/s"


def check_network(client: Client, device: str | None = None, worker_timeout: float | str | None = None) -> Network:
    """Return the interface of each worker, and how fast each of them sends to each other one.

    It takes some milliseconds for each two workers, as they are measured one after the other. Calls that run
    meanwhile wait.

    Parameters
    ----------
    client : distributed.Client
        The client of the workers.
    device : {"cpu", "cuda"}, optional
        The kind of device that calls will use. By default GPUs if all workers have one, else CPUs.

    worker_timeout : float or str, optional
        Seconds that a worker may be silent, as of calls with ``client=``.

    Returns
    -------
    Network
        ``print(network.explain())`` shows it. If a worker cannot reach another, `Network.broken` says which and why,
        and nothing is measured.

    Raises
    ------
    InputError
        For an asynchronous client, or another device.
    SchedulerError
        If the scheduler does not answer or has no workers.
    DeviceError
        If GPUs are asked for and a worker has none, or two workers share one.
    VersionError
        If a worker has no mgraph, or another version of it.
    WorkerLostError
        If a worker is lost meanwhile.

    See Also
    --------
    mgraph.cluster.connect : A client of a running scheduler.

    Examples
    --------
    >>> from distributed import Client
    >>> import mgraph
    >>> with Client(n_workers=3, processes=False, dashboard_address=":0") as client:
    ...     network = mgraph.cluster.check_network(client, device="cpu")
    ...     len(network.ports), len(network.links), network.broken
    (3, 6, ())
    """
    cluster = Cluster(client, device, worker_timeout)
    addresses, kind = cluster.addresses, cluster.specs[0].kind
    watch = Watch(client, addresses, cluster.timeout)
    with opened(client):
        answers = watch.wait(tasks.asked, client, addresses, reached, addresses)
        missing = [address for address in addresses if address not in answers]
        if missing:
            watch.check(NOTICE)  # raises if a worker is gone
            raise lost(missing, "it has not answered")
    ports = tuple(answers[address][0] for address in addresses)
    problems = {(here, there): answers[here][1].get(there) for here, there in _ways(addresses)}
    if any(problems.values()):
        links = (Link(*way, None, None, problem) for way, problem in problems.items())
        return Network(kind, ports, tuple(links))
    size = len(addresses)
    plan = _plan(cluster)
    arrays = on_workers(cluster, device).run(Measuring(LONG[kind]), lambda shard: None, plan, None).arrays
    latency, bandwidth = (arrays[name].reshape(size, size).tolist() for name in ("latency", "bandwidth"))
    found = (
        Link(addresses[i], addresses[j], latency[i][j], bandwidth[i][j], None)
        for i in range(size)
        for j in range(size)
        if i != j
    )
    return Network(kind, ports, tuple(found))


def _ways(addresses: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((here, there) for here in addresses for there in addresses if here != there)


async def reached(addresses: Sequence[str], dask_worker: Worker) -> tuple[Port, dict[str, str]]:
    """Return this worker's network, and why it cannot connect to some of the others; for `tasks.asked`."""
    others = [address for address in addresses if address != dask_worker.address]

    async def problem(address: str) -> str | None:
        try:
            options = dask_worker.security.get_connection_args("worker")
            opened = await comms.connect(address, timeout=ANSWER, **options)
        except OSError as error:
            return str(error) or type(error).__name__
        await opened.close()
        return None

    found = zip(others, await asyncio.gather(*map(problem, others)), strict=True)
    port = await asyncio.to_thread(port_of, dask_worker.address)  # looking up a name may take long
    return port, {address: why for address, why in found if why is not None}


@dataclass
class Times:
    """A shard's state: what it sends, and what it has measured to each other shard."""

    device: devices.Device
    short: Array
    long: Array
    latency: np.ndarray
    bandwidth: np.ndarray
    done: bool = False


@dataclass(frozen=True)
class Measuring:
    """Measures each pair of shards: a message there and a short one back, of the time of which half is the latency."""

    length: int

    def load(self, shard: int, piece: Any, device: devices.Device) -> Times:
        """Return the shard with what it sends."""
        xp = device.xp
        return Times(device, xp.zeros(1, np.int32), xp.zeros(self.length // 4, np.int32), np.zeros(0), np.zeros(0))

    def step(self, state: Times, first: int, limit: int, comm: Communicator) -> int:
        """Measure all pairs, one after the other."""
        if state.done:
            return 0
        state.latency, state.bandwidth = np.zeros((2, comm.size))
        for one, other in combinations(range(comm.size), 2):
            comm.allreduce(state.short, "max")  # all others wait
            state.device.synchronize()
            if comm.rank in (one, other):
                self._measure(state, comm, one, other)
                self._measure(state, comm, other, one)
        state.done = True
        return 1

    def collect(self, state: Times, comm: Communicator) -> dict[str, Array]:
        """Return the seconds of a short message to each shard, and the bytes a second of long ones."""
        return {"latency": state.latency, "bandwidth": state.bandwidth}

    def _measure(self, state: Times, comm: Communicator, source: int, target: int) -> None:
        """Send messages from one shard to another, and measure them on the first."""
        short = self._seconds(state, comm, source, target, state.short)
        long = self._seconds(state, comm, source, target, state.long)
        if comm.rank == source:
            state.latency[target] = short / 2
            state.bandwidth[target] = bandwidth_of(state.long.nbytes, long, short)

    def _seconds(self, state: Times, comm: Communicator, source: int, target: int, message: Array) -> float:
        """Return the seconds of a message there and a short one back: the least, as other work only adds to it."""
        times, pair = [], (source, target)
        for _ in range(WARM + TIMED):
            began = time.perf_counter()
            comm.broadcast(message, source, pair)
            comm.broadcast(state.short, target, pair)
            state.device.synchronize()
            times.append(time.perf_counter() - began)
        return min(times[WARM:])


def bandwidth_of(count: int, long: float, short: float) -> float:
    """Return the bytes a second of a message of some bytes that took `long` seconds with a short answer.

    A short message and its answer took `short` seconds, half of which is the answer's. On a busy machine that may be
    more than it took this time: at most half of the time counts as the answer's.
    """
    return count / (long - min(short, long) / 2)


def _plan(cluster: Cluster) -> Plan[Detail]:
    """Return a plan of measuring; how long it takes is what it finds."""
    shards = len(cluster.specs)
    return Plan(
        algorithm="check_network",
        method="pairs",
        n=0,
        dtype="int32",
        ranges=((0, 0),) * shards,
        devices=cluster.specs,
        steps=1,
        span=1,
        peak_bytes=(LONG[cluster.specs[0].kind],) * shards,
        seconds=0.05 * shards**2,
        detail=Detail(),
    )
