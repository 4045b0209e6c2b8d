"""Turns: calls that share a worker run one after the other, in the order in which they reached the scheduler.

The scheduler keeps the line, because it sees the calls of all clients. A call takes its turn on all of its workers at
once, so calls cannot wait for each other in a circle. It leaves the line when it ends. The scheduler removes the calls
of a client that is gone. It also removes those of a client that has been silent for long, as one that is stopped keeps
its connection, and ends its sessions and graphs on the workers. Matrices of earlier results stay. When such a client
wakes, its call has lost a worker.
"""

import asyncio
import contextlib
import time
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any, cast

from distributed import Client, Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.scheduler import heartbeat_interval

from ...errors import SchedulerError
from ...planning.plan import Plan
from .counters import count_on
from .events import Event, ended, failure, note, planned
from .pulse import BEAT, LEASE, PLACE
from .tasks import SPAN
from .watch import Watch, connection, scheduler_address

NAME = "mgraph-turns"

#: Seconds that a parting message may take, which need not arrive. After Ctrl-C a call sends two or three of them, after
#: a look at the workers: less than 3 s together.
PARTING = 0.7

#: Seconds between two looks at the clients that have calls, and of silence after which one is given up. Dask's clients
#: send a heartbeat every 5 s, and more rarely if there are many.
LISTEN, SILENT_CLIENT = 5.0, 45.0

#: Calls of this process that have ended, but perhaps not left the line, as their message was lost; by the address of
#: the scheduler.
_ended: dict[str, set[str]] = {}


class Turns(SchedulerPlugin):
    """The line of calls. Invariant: a call's turn has begun if no earlier call in the line has one of its workers."""

    name = NAME

    def __init__(self) -> None:
        #: By call, in the order of arrival: its client, its workers, and an event that is set when its turn begins.
        self._line: dict[str, tuple[str, frozenset[str], asyncio.Event]] = {}
        #: Of each client with a call its last heartbeat, and for how many seconds there was no other.
        self._heard: dict[str, tuple[float, float]] = {}
        self._listening = False

    def __len__(self) -> int:
        return len(self._line)

    def __contains__(self, call: str) -> bool:
        return call in self._line

    async def take(self, call: str, client: str, addresses: Collection[str]) -> bool:
        """Join the line and wait for the call's turn; return False if the call is removed from the line before."""
        begun = asyncio.Event()
        self._line[call] = client, frozenset(addresses), begun
        self._advance()
        await begun.wait()
        return call in self._line

    def leave(self, call: str) -> bool:
        """Remove a call from the line, whether its turn has begun or not; return whether it was there."""
        found = self._line.pop(call, None)
        if found is not None:
            found[2].set()
            self._advance()
        return found is not None

    def remove_client(self, scheduler: Scheduler, client: str, why: str = "its client is gone") -> None:
        """Remove the calls of a client that is gone, and their beats."""
        calls = {call: begun.is_set() for call, (owner, _, begun) in self._line.items() if owner == client}
        for call, has_begun in calls.items():  # of those at the beginning: to leave begins the turns of others
            if has_begun:
                note(scheduler, failure(SchedulerError(why)), call)
            self.leave(call)
            forget_call(client, call, scheduler)

    def listen(self, scheduler: Scheduler) -> None:
        """Look at the clients that have calls every `LISTEN` seconds, until there are none."""
        if not self._listening:
            self._listening = True
            scheduler.loop.call_later(LISTEN, self._listen, scheduler)

    def _listen(self, scheduler: Scheduler) -> None:
        most = max(SILENT_CLIENT, 30 * heartbeat_interval(len(scheduler.clients)))
        heard = {}
        for client in {owner for owner, _, _ in self._line.values()}.intersection(scheduler.clients):
            last = scheduler.clients[client].last_seen
            before, seconds = self._heard.get(client, (last, 0.0))
            # Counted, not timed: while this process was stopped, no heartbeat was missed.
            heard[client] = last, seconds + LISTEN if last == before else 0.0
        self._heard = heard
        for client, (_, seconds) in heard.items():
            if seconds > most:
                self.remove_client(scheduler, client, f"its client has been silent for {seconds:.0f} s")
                leases = [task.key for task in scheduler.clients[client].wants_what if str(task.key).startswith(LEASE)]
                scheduler.client_releases_keys(leases, client)
        self._listening = bool(self._line)
        if self._listening:
            scheduler.loop.call_later(LISTEN, self._listen, scheduler)

    def _advance(self) -> None:
        taken: set[str] = set()
        for _, addresses, begun in self._line.values():
            if taken.isdisjoint(addresses):
                begun.set()
            taken |= addresses


def turns_on(scheduler: Scheduler) -> Turns:
    """Return the line of a scheduler, which the first call creates."""
    if NAME not in scheduler.plugins:
        scheduler.add_plugin(Turns(), name=NAME)
    return cast(Turns, scheduler.plugins[NAME])


def turn(watch: Watch, call: str, plan: Plan) -> contextlib.AbstractContextManager[None]:
    """Return a context that holds the workers of the watch, which runs a plan; it waits for those of earlier calls."""
    return alone(watch, call, watch.addresses, planned(plan))


@contextlib.contextmanager
def alone(watch: Watch, call: str, things: Collection[str], event: Event | None = None) -> Iterator[None]:
    """Hold some things by their names for the block; wait while an earlier call has one of them.

    With an event, which says what begins, another one says how it has ended.

    Raises
    ------
    SchedulerError
        If the scheduler removes the call from the line before its turn.
    """
    client, last = watch.client, None
    try:
        with telling_ended(client) as before:
            given = call, client.id, things, before, event
            if not watch.on_scheduler(_taken, *given):
                raise dropped(client)
        began = time.monotonic()
        yield
        last = ended(time.monotonic() - began)
    except BaseException as error:
        last = failure(error)
        raise
    finally:
        leave(watch, call, None if event is None else last)


def leave(watch: Watch, call: str, event: Event | None) -> None:
    """Have a call leave the line; if the message is lost, the next call of this process says so."""
    client = watch.client
    if client.status == "running":  # a scheduler that is gone has no line
        leaving = partial(client.run_on_scheduler, left, call, client.id, event, asynchronous=True)
        if not watch.attempt(PARTING, leaving):
            _ended.setdefault(scheduler_address(client), set()).add(call)


@contextlib.contextmanager
def telling_ended(client: Client) -> Iterator[frozenset[str]]:
    """Yield the calls that may not have left the line; the block tells the scheduler."""
    calls = _ended.setdefault(scheduler_address(client), set())
    before = frozenset(calls)
    yield before
    calls.difference_update(before)


def dropped(client: Client) -> SchedulerError:
    """Return the error of a call that the scheduler has removed from the line."""
    return SchedulerError(f"{connection(client)}: it has dropped this client's calls, as after a connection that broke")


async def _taken(
    call: str,
    client: str,
    things: Collection[str],
    before: Collection[str],
    event: Event | None,
    dask_scheduler: Scheduler,
) -> bool:
    """Take a turn, and log its event if there is one; runs on the scheduler. Return whether the call is in the line."""
    count_on(dask_scheduler)
    line = line_after(dask_scheduler, before)
    taken = await line.take(call, client, things)
    if taken and event is not None:
        note(dask_scheduler, event, call)
    return taken


def line_after(dask_scheduler: Scheduler, before: Collection[str]) -> Turns:
    """Return the line, once some calls have left it; on the scheduler."""
    line = turns_on(dask_scheduler)
    for lost in before:
        line.leave(lost)
    line.listen(dask_scheduler)
    return line


def left(call: str, client: str, event: Event | None, dask_scheduler: Scheduler) -> None:
    """Leave the line, and log an event if there is one, unless the call was removed before; runs on the scheduler."""
    if turns_on(dask_scheduler).leave(call) and event is not None:
        note(dask_scheduler, event, call)
    forget_call(client, call, dask_scheduler)


def forget_call(client: str, call: str, dask_scheduler: Scheduler) -> None:
    """Forget the beats of a call, of those that are not in the line, and of clients that are gone; on the scheduler.

    A worker that was stopped sends the beat of a call that has ended when it wakes. What Dask has recorded of tasks is
    forgotten, too.
    """

    def forget() -> None:
        beats: dict[str, Any] = dask_scheduler.task_metadata.get(PLACE, {})
        beats.get(client, {}).pop(call, None)
        for name, calls in list(beats.items()):
            for other in [other for other in calls if other not in turns_on(dask_scheduler)]:
                del calls[other]
            if not calls or name not in dask_scheduler.clients:
                del beats[name]
        if not beats:
            dask_scheduler.task_metadata.pop(PLACE, None)
        forget_records(dask_scheduler)

    forget()
    # Again later, as a beat may be under way, and the scheduler may not have forgotten the tasks.
    dask_scheduler.loop.call_later(3 * BEAT, forget)


def forget_records(dask_scheduler: Scheduler) -> None:
    """Let mgraph's span forget tasks that the scheduler has forgotten; runs on the scheduler.

    Dask's span keeps each group of tasks for ever, though tasks of later calls are in new groups of the same names; and
    an entry for each submission.
    """
    spans: Any = dask_scheduler.extensions.get("spans")
    span = None if spans is None else spans.spans.get(SPAN["ids"][0])
    if span is None:
        return
    last = sorted(span.groups, key=lambda group: group.stop)[-1:]  # `Span.stop` needs one
    span.groups.intersection_update([*dask_scheduler.task_groups.values(), *last])
    if span.metadata is not None:
        span.metadata["collections"].clear()
