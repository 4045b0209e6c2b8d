"""Graphs with names, which outlive the clients that made them.

A published graph has a session of its own on each of its workers. The leases of these sessions belong to the scheduler
in place of a client. They keep the very parts that the client's group has, not copies: publishing moves nothing. A
client that asks for the name gets the same parts into the sessions of its own group. A part is freed when the last
session that keeps it has forgotten it. The scheduler has the names, the workers and the ranges.

The scheduler also has the recipe of a graph that was read or generated. If a worker is lost, the first client that uses
the graph makes it again by that, on the workers there are, and publishes it in place of the lost one; meanwhile the
others wait. Their handles then refer to the new one.
"""

import logging
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from distributed import Client, Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.pickle import dumps, loads

from ...errors import InputError, WorkerLostError, shown
from ...planning.cut import Placed
from ..losses import retry_after_loss
from . import residents, tasks
from .events import again as made_again
from .events import tell
from .group import Group, RemotePin, group_of, leased, lying
from .placement import Facts, Placement
from .remade import Origin, Recipe, first_made
from .survey import Cluster, checked_client
from .turns import alone
from .vector import DistributedVector
from .watch import Watch, opened, retries_of

_log = logging.getLogger(__name__)

#: The name of the scheduler's plugin, and of the client by which it keeps the leases.
NAME = "mgraph-published"

#: The most characters of a name.
LONGEST = 200


@dataclass(frozen=True)
class Published:
    """What is known of a published graph where its name is known.

    Attributes
    ----------
    session : str
        The name of its session on each worker.
    addresses : tuple of str
        The workers, in the order of the ranges.
    kind : str
        The kind of their devices.
    cut : Placed
        The ranges of vertices.
    facts : Facts
        What is known of it, but for the ids of its vertices.
    words : str
        The graph in words.
    made : str
        The line of Python that makes it again; may be empty.
    recipe : Recipe or None
        How any client makes it again.
    graph : str
        Says which graph it is: the same once it has been made again.
    """

    session: str
    addresses: tuple[str, ...]
    kind: str
    cut: Placed
    facts: Facts
    words: str
    made: str
    recipe: Recipe[Placement] | None
    graph: str


class Names(SchedulerPlugin):
    """The published graphs, as a scheduler knows them."""

    name = NAME

    def __init__(self) -> None:
        #: By name, the keys of the leases, and a pickled `Published`.
        self.graphs: dict[str, tuple[list[str], bytes]] = {}


def names_on(scheduler: Scheduler) -> dict[str, tuple[list[str], bytes]]:
    """Return the graphs that a scheduler knows by name."""
    if NAME not in scheduler.plugins:
        scheduler.add_plugin(Names(), name=NAME)
    return cast(Names, scheduler.plugins[NAME]).graphs


def publish(placement: Placement, name: str) -> None:
    """Keep a graph under a name, whatever becomes of its client."""
    name = checked_name(name)
    recipe = None if placement.origin is None else placement.origin.recipe
    about = _published(placement, name, recipe, uuid.uuid4().hex, None)
    if about is None:
        advice = f": give another one, or free it by mgraph.cluster.unpublish({shown(name)}, client)"
        raise InputError(advice, argument="name", value=name, expected="a name that no published graph has")
    placement.origin = _origin(name, about, placement.group) or placement.origin


def _published(
    placement: Placement, name: str, recipe: Recipe[Placement] | None, graph: str, old: bytes | None
) -> Published | None:
    """Keep a graph under a name that is free, or has an `old` graph; return None if the name is another graph's."""
    placement.check()
    group = placement.group
    client = group.client
    group.ready()
    session = uuid.uuid4().hex
    leases = leased(client, group.addresses, session)
    group.wait_for(lambda watch: tasks.settle(watch, leases))
    ids, facts = placement.ids, placement.facts
    place = residents.RemoteVector(*ids.place) if isinstance(ids, DistributedVector) else None
    sent = dumps(replace(facts, ids=ids if place is None else None))
    given = [
        (session, f"the published graph {shown(name)}", sent if rank == 0 else None)
        for rank in range(len(group.addresses))
    ]
    group.each(residents.publish_part, given, placement.name, place)
    about = Published(
        session,
        group.addresses,
        group.kind,
        placement.cut,
        replace(facts, ids=None),
        repr(placement),
        placement.made,
        recipe,
        graph,
    )
    keys = [lease.key for lease in leases.values()]
    put = group.wait_for(lambda watch: watch.on_scheduler(_put, name, keys, dumps(about), old))
    return about if put else None


def found(name: str, client: Client, worker_timeout: float | str | None) -> Placement:
    """Return the graph that was published under a name, for calls of a client; made again if a part of it is lost.

    Raises
    ------
    InputError
        If there is none, or if what it is made of has changed.
    WorkerLostError
        If one of its workers is gone, or has been started again, and it cannot be made again.
    """
    name, client, known = checked_name(name), checked_client(client), b""

    def attempt() -> Placement:
        nonlocal known
        data = _known(name, client, worker_timeout)
        if data is None:
            raise unknown(name, client)
        known = data
        return _borrowed(name, loads(data), client, worker_timeout)

    return retry_after_loss(
        attempt,
        lambda loss: _make_again(name, known, client, worker_timeout),
        lambda: retries_of(client),
        lambda: loads(known).recipe is not None,
    )


def _known(name: str, client: Client, worker_timeout: float | str | None) -> bytes | None:
    """Return what the scheduler knows of a published graph, a pickled `Published`; None if there is none."""
    watch = Watch(client, timeout=worker_timeout)
    with opened(client):
        data: bytes | None = watch.on_scheduler(_get, name)
    return data


def _borrowed(name: str, about: Published, client: Client, worker_timeout: float | str | None) -> Placement:
    """Return a published graph for calls of a client, or raise WorkerLostError if a part of it is lost."""
    watch = Watch(client, timeout=worker_timeout)
    with opened(client):
        watch.check()
    if not watch.there.issuperset(about.addresses):
        raise _lost(name, about, watch.there.symmetric_difference(about.addresses))
    silent = watch.left_out(about.addresses)
    if silent is not None and about.recipe is not None:  # else it is waited for, as it may wake
        raise silent
    group = group_of(Cluster(client, about.kind, worker_timeout, about.addresses))
    group.ready()
    own, vectors = uuid.uuid4().hex, uuid.uuid4().hex
    with group.making(own), group.making(vectors):
        cuts = [((about.facts.n, *ends),) for ends in about.cut.ranges]
        borrowed = group.each(residents.attach_part, cuts, own, vectors, about.session)
        empty = [address for address, part in zip(group.addresses, borrowed, strict=True) if part is None]
        if empty:
            if name not in published(client):
                raise unknown(name, client)
            raise _lost(name, about, empty)
        faults = [part.fault for part in borrowed if part.fault]
        if faults:
            raise InputError(f"the published graph {shown(name)} is damaged, {faults[0]}: {_advice(about)}")
        facts: Facts = loads(next(part.facts for part in borrowed if part.facts is not None))
        if borrowed[0].ids is not None:
            lengths, (_, dtype) = [part.ids[0] for part in borrowed], borrowed[0].ids
            ids = DistributedVector(group, vectors, residents.IDS, lengths, dtype)
            ids.owner = RemotePin(group, vectors)
            facts = replace(facts, ids=ids)
        graph = Placement(group, facts, about.cut, own, [part.sizes for part in borrowed])
        graph.made, graph.origin = about.made, _origin(name, about, group)
        return graph


def _origin(name: str, about: Published, group: Group) -> Origin[Placement] | None:
    """Return how the parts of a published graph that lie in a group's sessions are made again."""
    if about.recipe is None:
        return None
    return Origin(partial(_again, name, about, group.client, group.timeout), {}, about.recipe)


def _again(name: str, about: Published, client: Client, worker_timeout: float) -> Placement:
    """Return a published graph after a loss; apart from the published one if the name is not that of the graph now."""
    data = _known(name, client, worker_timeout)
    if data is not None and loads(data).session == about.session:
        _make_again(name, data, client, worker_timeout)
        data = _known(name, client, worker_timeout)
    if data is not None and loads(data).graph == about.graph:
        return found(name, client, worker_timeout)
    return _made(about, client, worker_timeout)


def _make_again(name: str, old: bytes, client: Client, worker_timeout: float | str | None) -> None:
    """Make a published graph again in place of one that is lost, unless that has been done or the name is gone."""
    about: Published = loads(old)
    assert about.recipe is not None
    watch = Watch(client, timeout=worker_timeout)
    with opened(client), alone(watch, uuid.uuid4().hex, [f"the published graph {name}"]):
        if watch.on_scheduler(_free, name, old):
            began = time.monotonic()
            made = _made(about, client, worker_timeout)
            if not made.facts.alike(about.facts):
                raise InputError(
                    f"the published graph {shown(name)}, {about.words}, was made again, as a worker was lost, and is "
                    f"another one now, {made!r}: unpublish it, and publish it again"
                )
            _published(made, name, about.recipe, about.graph, old)
            tell(client, made_again(f"the published graph {shown(name)}", len(made.group.addresses)))
            seconds, after = time.monotonic() - began, repr(made)  # a record of the log must not keep the graph
            _log.warning("lost a part of the published graph %r: made again in %.1f s, %s", name, seconds, after)


def _made(about: Published, client: Client, worker_timeout: float | str | None) -> Placement:
    """Return a graph that is made again by its recipe, on the workers that there are."""
    assert about.recipe is not None
    cluster = Cluster(client, about.kind, worker_timeout)
    return first_made(about.recipe.build, cluster.left(about.recipe.names, len(about.addresses)))


def unpublish(name: str, client: Client, worker_timeout: float | str | None) -> None:
    """Forget a name; its graph is freed when no client has it any more."""
    name, watch = checked_name(name), Watch(checked_client(client), timeout=worker_timeout)
    with opened(client):
        if not watch.on_scheduler(_remove, name):
            raise unknown(name, client)


def published(client: Client, worker_timeout: float | str | None = None) -> list[str]:
    """Return the names of the graphs that are published."""
    watch = Watch(checked_client(client), timeout=worker_timeout)
    with opened(client):
        return watch.on_scheduler(_list)


def checked_name(name: Any) -> str:
    """Return the name of a published graph, or raise InputError."""
    if not isinstance(name, str) or not name or not name.isprintable() or len(name) > LONGEST:
        expected = f"a name of 1 to {LONGEST} printable characters"
        raise InputError(argument="name", value=name, expected=expected)
    return name


def unknown(name: str, client: Client) -> InputError:
    """Return the error that no graph has a name."""
    names = ", ".join(map(repr, published(client)))
    there = f" ({names})" if names else ", and there is none"
    expected = f"the name of a published graph{there}"
    return InputError(argument="name", value=name, expected=expected)


def _advice(about: Published) -> str:
    return f"unpublish it, and make it again{f' by {about.made}' if about.made else ''}"


def _lost(name: str, about: Published, gone: Collection[str]) -> WorkerLostError:
    ranges = list(zip(about.addresses, about.cut.ranges, strict=True))
    workers = [address for address in about.addresses if address in gone]
    return WorkerLostError(
        f"the worker {', '.join(workers)} is gone, or was started again, and with it the edges into "
        f"{lying('the vertices', workers, ranges)} of the published graph {shown(name)}, {about.words}: "
        f"{_advice(about)}",
        workers=workers,
    )


def _put(name: str, leases: list[str], about: bytes, old: bytes | None, dask_scheduler: Scheduler) -> bool:
    """Keep a graph's leases under a name, unless that has another graph than the `old` one; runs on the scheduler."""
    graphs = names_on(dask_scheduler)
    if graphs.get(name, ([], None))[1] != old:
        return False
    graphs[name] = leases, about
    dask_scheduler.client_desires_keys(leases, NAME)
    return True


def _free(name: str, about: bytes, dask_scheduler: Scheduler) -> bool:
    """Release the leases of a graph that is lost, if a name is still its own; runs on the scheduler."""
    graphs = names_on(dask_scheduler)
    leases, there = graphs.get(name, ([], None))
    if there != about:
        return False
    graphs[name] = [], about
    dask_scheduler.client_releases_keys(leases, NAME)
    return True


def _get(name: str, dask_scheduler: Scheduler) -> bytes | None:
    """Return what is known of a graph; runs on the scheduler."""
    _, about = names_on(dask_scheduler).get(name, ([], None))
    return about


def _remove(name: str, dask_scheduler: Scheduler) -> bool:
    """Forget a name and release its leases, or return False if it is unknown; runs on the scheduler."""
    graphs = names_on(dask_scheduler)
    if name not in graphs:
        return False
    leases, _ = graphs.pop(name)
    dask_scheduler.client_releases_keys(leases, NAME)
    return True


def _list(dask_scheduler: Scheduler) -> list[str]:
    """Return all names; runs on the scheduler."""
    return sorted(names_on(dask_scheduler))
