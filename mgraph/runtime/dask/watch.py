"""How a driver waits: twice a second it checks which workers are gone or silent, so that no wait is endless.

A `Watch` has three sources. The scheduler's list of workers shows which are gone. Before a call has a session, and
while it waits for its turn, the heartbeats that Dask's workers send the scheduler show which are silent. During a call
the beats of its session (`mgraph.runtime.dask.pulse`) show that, and what each shard does. What they compile is passed
on to the user. The verdicts are five:

- *A worker is gone*: the scheduler does not list it.
- *The scheduler is silent*: it does not answer a look.
- *A worker is silent*: the scheduler answers, and the worker's beats do not come. One on which Dask starts no tasks,
  as it is paused or retired, counts as silent while it has no task of the call.
- *The connection of two workers is broken*: one waits for a message that the other has sent.
- *A kernel takes long*: a shard that beats has computed in one superstep for many times the predicted time. On a
  CPU that only causes a warning, as the shard works. A GPU's beats do not distinguish a kernel from a wait for another
  GPU: if no shard has ended its superstep for so long, the call ends too.

Silence is counted in looks, and no look counts for more than a few seconds. So a driver that was itself stopped or
busy blames no worker when it continues.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

import dask
from distributed import CancelledError, Client, Scheduler
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError

from ...arguments import checked_integer, checked_seconds, size_in_words
from ...device.clock import COMPILING
from ...errors import InputError, MgraphError, SchedulerError, WorkerLostError
from .connection import options_of
from .loops import begun
from .pulse import ANSWERED, PLACE

T = TypeVar("T")

#: What makes a coroutine.
Work: TypeAlias = Callable[..., Coroutine[Any, Any, T]]

#: Seconds between two looks at the workers.
LOOK = 0.5

#: The most seconds of silence that one look counts.
MOST = 2.0

#: Seconds that the scheduler may take to notice a loss that a worker or the driver has noticed.
NOTICE = 3.0

#: Seconds of silence after which a worker is left out of a call that begins, and what lies there is made again, if that
#: can be done.
SILENT = 10.0

#: Why a worker is lost of which nothing else is known.
GONE = "its process or machine is gone"

#: Seconds after which what a nanny has told of a worker is that of an earlier one with its address.
RECENT = 60.0

#: The status of a worker that Dask retires: it runs no more tasks, and may stay.
RETIRED = "closing_gracefully"

#: How many times its predicted time a superstep may take.
FAR = 20

#: The scheduler of each client that was watched: a closed client does not know it any more.
_schedulers: weakref.WeakKeyDictionary[Client, str] = weakref.WeakKeyDictionary()

#: The workers of each client that a call has given up as silent, and a time since which they have been silent.
_given_up: weakref.WeakKeyDictionary[Client, dict[str, float]] = weakref.WeakKeyDictionary()

#: The process in which each client's event loop has answered.
_processes: weakref.WeakKeyDictionary[Client, int] = weakref.WeakKeyDictionary()

#: Seconds that it may take to answer for the first time.
FIRST = 30.0

#: Least bytes per second of the connection between two workers.
SLOWEST = 1e7


def checked_timeout(worker_timeout: Any, client: Client) -> float:
    """Return the seconds that a worker may be silent.

    They are those given, else those of the client's connection, else those of Dask's configuration, else 60.

    Raises
    ------
    InputError
        If it is not a duration of at least one second: within less, a beat need not arrive.
    """
    if worker_timeout is not None:
        return checked_seconds("worker_timeout", worker_timeout, 1)
    connected = options_of(client).worker_timeout
    if connected is not None:
        return connected
    given = dask.config.get("mgraph.worker-timeout", 60)
    return checked_seconds("mgraph.worker-timeout of Dask's configuration", given, 1)


def wait_timeout() -> float:
    """Return the seconds that a call waits for workers to join: those of Dask's configuration, else 600."""
    given = dask.config.get("mgraph.wait-timeout", 600)
    return checked_seconds("mgraph.wait-timeout of Dask's configuration", given, 0)


def recovery_wait() -> float:
    """Return the seconds that a call waits for as many workers as before a loss: as Dask's configuration says, else 6.

    A nanny starts a worker again in 2 to 4 s.
    """
    given = dask.config.get("mgraph.recovery-wait", 6)
    return checked_seconds("mgraph.recovery-wait of Dask's configuration", given, 0)


def retries_of(client: Client) -> int:
    """Return how often a call that lost a worker is made again, as the client's connection says, else as by default."""
    connected = options_of(client).retries
    return configured_retries() if connected is None else connected


def configured_retries() -> int:
    """Return how often a call that lost a worker is made again: as Dask's configuration says, else 2."""
    return checked_integer("mgraph.retries of Dask's configuration", dask.config.get("mgraph.retries", 2), 0)


class Watch:
    """The state of the scheduler and the workers, as a waiting driver sees it.

    Parameters
    ----------
    client : Client
        The client of the scheduler that is asked.
    addresses : collection of str
        The workers of the call.
    timeout : float
        Seconds of silence after which the wait ends in an error.
    session : tuple of str, optional
        The place of the session's beats; without one, Dask's own heartbeats count.
    expected : float
        The predicted seconds of the call.

    Attributes
    ----------
    patience : float
        Seconds that a worker may be silent; `timeout` at first.
    beats : mapping
        The last beat of each worker of the session.
    there : set of str
        The workers that the scheduler knows.
    answered : bool
        Whether the scheduler has answered the last look.
    ended : set of str
        The workers whose tasks of the present barrier have ended, or that have answered the present request.
    """

    def __init__(
        self,
        client: Client,
        addresses: Collection[str] = (),
        timeout: float | str | None = None,
        session: tuple[str, ...] | None = None,
        expected: float = 0.0,
    ) -> None:
        self.client = client
        check_own(client)
        scheduler_address(client)
        self.addresses = tuple(addresses)
        self.timeout = checked_timeout(timeout, client)
        self.patience = self.timeout
        self.beats: Mapping[str, Any] = {}
        self.there: set[str] = set()
        self.answered = True
        self.ended: set[str] = set()
        self._session = session
        self._expected = expected
        self._looked = time.monotonic()
        self._pending: concurrent.futures.Future[Any] | None = None
        self._unanswered = 0.0
        self._silence: dict[str, float] = {}
        self._signs: dict[str, Any] = {}
        self._stays: dict[str, tuple[tuple[Any, ...], float]] = {}
        self._idle: set[str] = set()  # workers without a task of the call, on which Dask starts none
        self._warned = False

    def wait(self, work: Work[T], *given: Any, meanwhile: Callable[[], None] = lambda: None) -> T:
        """Run the coroutine that `work` returns on the client's event loop and return its result.

        Meanwhile look at the workers, and call `meanwhile`; either may raise. A request that breaks off is a lost
        worker or scheduler.

        Not by a timeout of Dask's: its exception is in a cycle with frames that know the futures, so that what
        the tasks returned would stay on the workers until Python next collects garbage.
        """
        working = self._start(work, *given)
        try:
            while not concurrent.futures.wait([working], LOOK).done:
                self.look()
                meanwhile()
            try:
                with opened(self.client):
                    return working.result()
            except CommClosedError as error:  # a request may end before the client notices that its scheduler is gone
                self.check(NOTICE)
                why = f"a request to the scheduler at {scheduler_address(self.client)} broke off: {error}"
                raise SchedulerError(why) from error
        finally:
            working.cancel()
            del working  # its error refers to this frame
            COMPILING.hear("")

    def on_scheduler(
        self, function: Callable[..., Any], *given: Any, meanwhile: Callable[[], None] = lambda: None
    ) -> Any:
        """Run a function on the scheduler and return its result; waits as `wait` does."""
        asked = partial(self.client.run_on_scheduler, function, *given, asynchronous=True)
        return self.wait(asked, meanwhile=meanwhile)

    def attempt(self, seconds: float, work: Work[Any], *given: Any) -> bool:
        """Run a coroutine as `wait` does, for at most `seconds`; return whether it succeeded."""
        working = self._start(work, *given)
        try:
            concurrent.futures.wait([working], max(0.0, seconds))
            return working.done() and not working.cancelled() and working.exception() is None
        finally:
            working.cancel()

    def look(self) -> None:
        """Ask the scheduler which workers there are; returns after `LOOK` seconds even if it has not answered.

        Raises
        ------
        WorkerLostError
            If a worker is gone, silent, or cut off from another.
        SchedulerError
            If the scheduler is gone, or is silent before there is a session.
        """
        if self._look():
            self._judge()

    def check(self, patience: float = 0) -> None:
        """Look until the scheduler has answered, and on for `patience` seconds; raises as `look`."""
        end = time.monotonic() + patience
        while True:
            if self._look():
                self._judge()
                if time.monotonic() >= end:
                    return
            time.sleep(0.1)

    @property
    def beginning(self) -> float:
        """Seconds of silence after which a worker is left out of a call that begins.

        Workers of large clusters send heartbeats more rarely.
        """
        return min(self.timeout, max(SILENT, len(self.there) / 50))

    def silent(self, seconds: float) -> list[str]:
        """Return the workers that have been silent for at least `seconds`, of all that the scheduler knows."""
        return sorted(address for address, silence in self._silence.items() if silence >= seconds)

    def unheard(self) -> list[str]:
        """Return the workers that a call which begins leaves out, of all that the scheduler knows.

        They have been silent for long, or since an earlier call gave them up.
        """
        now, given_up = time.monotonic(), _given_up.get(self.client, {})
        for address, since in list(given_up.items()):
            if self._silence.get(address, 0.0) < now - since:
                given_up.pop(address, None)
        return sorted({*self.silent(self.beginning), *given_up})

    def left_out(self, addresses: Collection[str]) -> WorkerLostError | None:
        """Return the error of those of some workers that a call which begins leaves out; None if there are none."""
        silent = [address for address in self.unheard() if address in addresses]
        if not silent:
            return None
        return lost(silent, f"silent for {min(self._silence[address] for address in silent):.0f} s as the call began")

    def _start(self, work: Work[T], *given: Any) -> "concurrent.futures.Future[T]":
        """Run the coroutine that `work` returns on the client's event loop."""
        loop: Any = self.client.loop
        try:
            return begun(loop.asyncio_loop, work, *given)
        except RuntimeError as error:  # the loop has ended with the client
            raise SchedulerError(f"{connection(self.client)}, in the middle of the call") from error

    def _look(self) -> bool:
        """Record the scheduler's answer; return whether it has answered."""
        if self.client.status != "running":
            advice = "is it running, and is the call in the 'with' block of its client?"
            raise SchedulerError(f"{connection(self.client)}: {advice}")
        scheduler = scheduler_address(self.client)
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, MOST), now
        asked = self._pending or self._start(self.ask)
        self._pending = asked
        self.answered = bool(concurrent.futures.wait([asked], LOOK).done)
        if not self.answered:
            self._unanswered += passed
            if self._unanswered >= self.timeout:
                why = f"the scheduler at {scheduler} has been silent for {self._unanswered:.0f} s: is it stopped?"
                raise SchedulerError(why) if self._session is None else lost(self.addresses, why)
            return False
        self._pending, self._unanswered = None, 0.0
        try:
            with opened(self.client):
                signs, beats = asked.result()
        except (OSError, CancelledError, concurrent.futures.CancelledError) as error:
            raise SchedulerError(f"the scheduler at {scheduler} does not answer any more: {error}") from error
        if ANSWERED in beats:
            self.ended = set(beats[ANSWERED])
        self.beats = {address: beat for address, beat in beats.items() if address != ANSWERED}
        compiled = next((what for beat in self.beats.values() if (what := beat["compiling"])), "")
        COMPILING.hear(f"{compiled}, on a worker" if compiled else "")
        self._note(signs, passed)
        return True

    async def ask(self) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Return the last, ever different sign of life of each worker, and the beats with what is beside them."""
        scheduler: Any = self.client.scheduler
        if self._session is None:
            known = (await scheduler.identity(n_workers=-1))["workers"]
            signs = {a: worker["last_seen"] for a, worker in known.items() if worker["status"] != RETIRED}
            return self._without_idle(signs, {a for a in signs if known[a]["status"] != "running"}), {}
        addresses = list(self.addresses)
        there, running, beats = await asyncio.gather(
            scheduler.ncores(workers=addresses),
            scheduler.ncores_running(workers=addresses),
            scheduler.get_metadata(keys=[PLACE, *self._session], default={}),
        )
        signs = {address: beats.get(address, {}).get("number") for address in there}
        done = beats.get(ANSWERED, self.ended)
        stopped = there.keys() - running.keys()
        idle = {a for a in stopped if beats.get(a, {}).get("doing") == "idle" and a not in done}
        if None in signs.values():  # the call waits for its turn, and Dask's own heartbeats count
            known = (await scheduler.identity(n_workers=-1))["workers"]
            unheard = {address: known.get(address, {}) for address, sign in signs.items() if sign is None}
            signs |= {address: worker.get("last_seen") for address, worker in unheard.items()}
            idle |= {address for address, worker in unheard.items() if worker.get("status") == RETIRED}
        return self._without_idle(signs, idle), beats

    def _without_idle(self, signs: dict[str, Any], idle: set[str]) -> dict[str, Any]:
        """Return signs of life, of idle workers the last one."""
        self._idle = idle
        return signs | {address: self._signs.get(address, signs[address]) for address in idle}

    def _note(self, signs: Mapping[str, Any], passed: float) -> None:
        before, silence = self._signs, self._silence
        # A worker first met has been silent for as long as its last heartbeat is older than the newest one.
        newest = max((sign for sign in signs.values() if sign is not None), default=0)
        for address, sign in signs.items():
            if address not in before:
                silence[address] = newest - sign if self._session is None else 0.0
            elif before[address] == sign:
                silence[address] += passed
            else:
                silence[address] = 0.0
        self.there = set(signs)
        self._silence = {address: silence[address] for address in signs}
        self._signs = dict(signs)
        stays = {address: self._stay(beat) for address, beat in self.beats.items()}
        before_it = self._stays
        self._stays = {
            address: (stay, before_it[address][1] + passed if before_it.get(address, (None,))[0] == stay else 0.0)
            for address, stay in stays.items()
        }

    def _stay(self, beat: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what a shard does, as a tuple that stays the same while it does nothing else."""
        return beat["doing"], beat["superstep"], beat["peers"], beat["message"], self._overdue(beat)

    def _overdue(self, beat: Mapping[str, Any]) -> bool:
        """Whether a shard waits for a message that was sent, or for shards that have ended, and so have sent all."""
        if beat["doing"] not in ("receiving", "sending"):
            return False
        # One that has ended its task has no beat if that was soon.
        if self.ended.issuperset(self.addresses[peer] for peer in beat["peers"]):
            return True
        if beat["doing"] == "sending":
            return False
        sent = self.beats.get(self.addresses[beat["peers"][0]], {}).get("sent")
        return bool(sent) and sent[beat["rank"]] >= beat["message"]

    def _judge(self) -> None:
        gone = [address for address in self.addresses if address not in self.there]
        if gone:
            raise lost(gone, self._end_of(gone))
        silent = [address for address in self.addresses if self._silence[address] >= self.patience]
        if silent:
            # Those that fell silent with it missed its last beats too.
            since = max(self.patience - MOST, self.patience / 2)
            fellows = [address for address in self.silent(since) if address in self.addresses]
            # Half of the silence, as the scheduler's heartbeats and those of the session differ.
            given_up = dict.fromkeys(fellows, time.monotonic() - self.patience / 2)
            _given_up.setdefault(self.client, {}).update(given_up)
            raise lost(fellows, self._story(fellows))
        self._judge_ways()
        self._judge_kernels()

    def _end_of(self, gone: Sequence[str]) -> str:
        """Return in words how workers have ended that are gone: by their nannies, or in a way that is not known."""
        asked = self._start(partial(self.client.run_on_scheduler, _full, gone, asynchronous=True))
        concurrent.futures.wait([asked], LOOK)
        taken = asked.result() if asked.done() and asked.exception() is None else {}
        if not taken:
            return GONE
        each = ", ".join(f"{address} ({size_in_words(size)})" for address, size in taken.items())
        return (
            f"its nanny has ended it, as it had more memory than its limit allows: {each}; raise the worker's "
            "--memory-limit, or use more workers"
        )

    def _story(self, silent: Sequence[str]) -> str:
        seconds = min(self._silence[address] for address in silent)
        if self._idle.intersection(silent):
            return f"Dask has started no task there for {seconds:.0f} s: it is paused (its memory is full) or retired"
        step = self.beats.get(silent[0], {}).get("superstep")
        last = f", last heard from in superstep {step}" if len(silent) == 1 and step is not None else ""
        return f"silent for {seconds:.0f} s{last}; its process or machine is stopped, or cannot be reached"

    def _judge_ways(self) -> None:
        waiting = {
            address: seconds
            for address, (stay, seconds) in self._stays.items()
            if stay[0] in ("receiving", "sending") and seconds >= self.timeout + self.beats[address]["bytes"] / SLOWEST
        }
        everyone = len(waiting) == len(self.addresses)
        for address, seconds in waiting.items():
            beat = self.beats[address]
            awaited = [self.addresses[peer] for peer in beat["peers"]]
            if everyone or self._overdue(beat):
                peers = ", ".join(awaited)
                what = "a message that was sent" if beat["doing"] == "receiving" else "an answer"
                raise lost(
                    [address],
                    f"the connection between it and the worker {peers} is broken: it has been waiting {seconds:.0f} s "
                    f"for {what}, and neither computes; mgraph.cluster.check_network says which workers reach which",
                )

    def _judge_kernels(self) -> None:
        far = self.timeout + FAR * self._expected
        long = {
            address: (stay[1], seconds)
            for address, (stay, seconds) in self._stays.items()
            if stay[0] == "computing" and stay[1] is not None and seconds >= far
        }
        if not long:
            return
        address, (superstep, seconds) = next(iter(long.items()))
        story = (
            f"superstep {superstep} has taken {seconds:.0f} s, of {self._expected:.2g} s predicted for the whole call"
        )
        if len(long) == len(self.addresses) > 1 and all(beat["device"] == "cuda" for beat in self.beats.values()):
            raise lost(
                self.addresses,
                f"no GPU gets on: {story}; a kernel hangs, or the connection between two of them is broken",
            )
        if not self._warned:
            self._warned = True
            warnings.warn(f"on the worker {address}, {story}; the call goes on", RuntimeWarning, stacklevel=2)


def _full(addresses: Sequence[str], dask_scheduler: Scheduler) -> dict[str, int]:
    """Return the bytes of those workers that their nannies have just ended for memory; runs on the scheduler."""
    events = dask_scheduler.get_events("worker-restart-memory")
    recent = [event for when, event in events if time.time() - when < RECENT]
    return {event["worker"]: event["rss"] for event in recent if event["worker"] in addresses}


def gave_up(client: Client, addresses: Collection[str]) -> bool:
    """Return whether a call has given up one of some workers, and no later call has heard from it."""
    return not _given_up.get(client, {}).keys().isdisjoint(addresses)


def scheduler_address(client: Client) -> str:
    """Return the address of a client's scheduler, also once the client is closed if it has been watched."""
    scheduler = client.scheduler  # read once, as another thread may close the client
    if scheduler is not None:
        _schedulers[client] = scheduler.address
    return _schedulers.get(client, "?")


def connection(client: Client) -> str:
    """Return in words that a client has no connection to its scheduler."""
    state = "lost" if client.status == "connecting" else client.status
    return f"the connection to the scheduler at {scheduler_address(client)} is {state}"


def check_own(client: Client) -> None:
    """Raise InputError if a client is that of a parent process.

    A fork copies one thread only: nothing runs the client's event loop, and each wait for it would be endless.
    """
    here, known = os.getpid(), _processes.get(client)
    if known == here or client.status != "running":
        return
    answered, loop = threading.Event(), cast(Any, client.loop)
    if known is None:
        loop.add_callback(answered.set)
    if not answered.wait(FIRST if known is None else 0):
        raise InputError(
            f"the client of the scheduler at {scheduler_address(client)} does not run in this process, as after a "
            "fork: clients, and graphs and results on workers, cannot be used by children of the process that has "
            "made them; make a client here, by mgraph.cluster.connect, or start the child by 'spawn'"
        )
    _processes[client] = here


@contextlib.contextmanager
def opened(client: Client) -> Iterator[None]:
    """Raise SchedulerError where another thread closes the client in the block, which Dask shows in many ways."""
    check_own(client)
    try:
        yield
    except (AttributeError, CancelledError, ClosedClientError, NameError, OSError, RuntimeError) as error:
        if client.status == "running" or isinstance(error, MgraphError):
            raise
        raise SchedulerError(f"{connection(client)}, in the middle of the call") from error


def lost(addresses: Iterable[str], why: str = GONE) -> WorkerLostError:
    """Return the error that names the workers at `addresses`."""
    workers = tuple(addresses)
    return WorkerLostError(
        f"lost the worker {', '.join(workers)} in the middle of the call: {why} (see its log); "
        "the client can be used again, on the workers that are left or come back",
        workers=workers,
    )
