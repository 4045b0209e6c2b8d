"""Stopped workers and schedulers, broken connections: every call ends, says why, and leaves nothing behind."""

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.utils import _offload_executor

from mgraph import apsp
from mgraph.device.clock import COMPILING
from mgraph.errors import InputError, SchedulerError, WorkerLostError
from mgraph.planner import plan
from mgraph.runtime.dask import connect, pulse, sending, turns, visiting, watch, worker
from mgraph.runtime.dask.comm import OPERATION, Aborted, Mailbox
from mgraph.runtime.dask.driver import forget
from mgraph.runtime.dask.group import Group
from mgraph.runtime.dask.loops import begun
from mgraph.runtime.dask.turns import turns_on
from mgraph.runtime.dask.watch import Watch
from tests.support.cluster_calls import Probe, check_apsp, slow
from tests.support.clusters import CLUSTER_WARNINGS, QUIET, SILENCE, SOON, forked, present, wait_until
from tests.support.parameters import exhaustive

pytestmark = CLUSTER_WARNINGS

#: Seconds of silence that the tests wait for.
TIMEOUT = SILENCE


@pytest.fixture(scope="module")
def client():
    """Three worker processes, all of which run at the end."""
    with forked(), LocalCluster(n_workers=3, threads_per_worker=1, memory_limit=0, **QUIET) as made:
        with Client(made, set_as_default=False) as client:
            check_apsp(client, 70, np.float32, False)
            yield client


@pytest.fixture
def stopped(client):
    """Return a function that stops a worker, and wake all of them at the end."""
    pids = client.run(os.getpid)
    addresses = []
    ended = threading.Event()

    def stop():
        assert not ended.is_set()  # by a thread of a test that has failed
        addresses.append(max(pids))
        os.kill(pids[addresses[0]], signal.SIGSTOP)
        return addresses[0]

    try:
        yield stop
    finally:
        ended.set()
        woken = time.time()
        for address in addresses:
            os.kill(pids[address], signal.SIGCONT)
        for address in addresses:
            # It is notified that its session has ended. Until it is heard of, a call would leave it out.
            wait_until(lambda address=address: state(client)[address] == (0, 0))
            wait_until(lambda address=address: last_heard(client, address) > woken)
        check_apsp(client, 70, np.float32, False)


def state(client):
    """Return the sessions and the tasks of each worker."""
    return client.run(lambda dask_worker: (len(dask_worker.plugins["mgraph"].sessions), len(dask_worker.state.tasks)))


def last_heard(client, address):
    """Return when the scheduler heard from a worker."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.workers[address].last_seen)


def left_on_scheduler(client):
    def look(dask_scheduler):
        return pulse.PLACE in dask_scheduler.task_metadata, len(turns_on(dask_scheduler))

    return client.run_on_scheduler(look)


def tasks_on_scheduler(client):
    return client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


def run(client, act=slow, steps=100_000, span=1, progress=None, seconds=None, timeout=TIMEOUT):
    runner = visiting(client, "cpu", timeout)
    made = replace(plan("apsp", 320, devices=runner.specs, block=32), span=span)
    if seconds is not None:
        made = replace(made, seconds=seconds)
    return runner.run(Probe(made, act, steps), lambda shard: None, made, progress)


def in_a_superstep(client):
    """Whether every worker has reported in a beat that it is in a superstep."""

    def look(dask_scheduler):
        beats = [
            beat["superstep"]
            for sessions in dask_scheduler.task_metadata.get("mgraph", {}).values()
            for session in sessions.values()
            for address, beat in session.items()
            if address in dask_scheduler.workers
        ]
        return len(beats) == len(dask_scheduler.workers) and None not in beats

    return client.run_on_scheduler(look)


def then(client, act):
    """Call `act` in a thread once all workers are in supersteps."""

    def wait():
        wait_until(lambda: in_a_superstep(client))
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_worker_that_is_stopped_in_a_call(client, stopped):
    found = []
    then(client, lambda: found.append((stopped(), time.monotonic())))
    with pytest.raises(WorkerLostError, match=r"silent for [0-9]+ s, last heard from in superstep [0-9]+") as caught:
        run(client, span=100_000)
    [(address, when)] = found
    assert address in str(caught.value)
    assert time.monotonic() - when < TIMEOUT + SOON
    # It has been silent for long enough to be left out at once.
    with pytest.warns(RuntimeWarning, match=f"leaves out the worker {address}"):
        check_apsp_within(client)
    wait_until(lambda: left_on_scheduler(client) == (False, 0))


def check_apsp_within(client):
    d = np.random.default_rng(0).integers(1, 50, (70, 70)).astype(np.float32)
    found = apsp(d, client=client, device="cpu", worker_timeout=TIMEOUT)
    np.testing.assert_array_equal(found.distances.to_numpy(), apsp(d, device="cpu").distances)


def test_a_worker_that_is_stopped_before_a_call(client, stopped):
    address = stopped()
    with pytest.warns(RuntimeWarning, match=f"leaves out the worker {address}"):
        check_apsp_within(client)


@pytest.fixture
def refusing(client):
    """Return a function that gives a worker a status in which Dask starts no tasks there; it runs at the end."""
    address = max(client.run(os.getpid))

    def refuse(status):
        client.run_on_scheduler(_give_status, address, status)
        return address

    yield refuse
    refuse("running")


def _give_status(address, status, dask_scheduler):
    dask_scheduler.handle_worker_status_change(status, address, stimulus_id="test")


@pytest.mark.parametrize("status", ["paused", *exhaustive("closing_gracefully")])
def test_a_call_goes_on_on_a_worker_on_which_dask_starts_no_tasks(client, refusing, status):
    """Its spans are messages, which a worker takes that is paused or retired."""
    refused = []

    def progress(k, of):
        if k == 10:
            refused.append(refusing(status))

    assert len(run(client, lambda *_: np.ones(1), steps=40, span=10, progress=progress).arrays["seen"]) == 120
    assert refused
    wait_until(lambda: left_on_scheduler(client) == (False, 0))


@pytest.mark.parametrize("status", ["paused", "closing_gracefully"])
@pytest.mark.filterwarnings("ignore:the call leaves out the worker")
def test_a_worker_on_which_dask_starts_no_tasks_before_a_call(client, refusing, status):
    refusing(status)
    check_apsp_within(client)


@pytest.mark.exhaustive
def test_a_worker_that_is_stopped_while_its_piece_is_sent(client, stopped, monkeypatch):
    """The scheduler sends on when the call has ended, and the worker takes the piece when it goes on."""
    pids, asked, addresses = client.run(os.getpid), client.run_on_scheduler, []

    def late(function, *given, **options):
        if function.__name__ == "_ready" and given == (max(pids),):  # the piece is next
            addresses.append(stopped())
        return asked(function, *given, **options)

    monkeypatch.setattr(client, "run_on_scheduler", late)
    monkeypatch.setattr(sending, "SMALL", 0)
    with pytest.raises(WorkerLostError, match="silent for"):
        apsp(np.ones((320, 320), np.float32), client=client, device="cpu", worker_timeout=TIMEOUT, retries=0)
    [address] = addresses
    os.kill(pids[address], signal.SIGCONT)
    wait_until(lambda: set(state(client).values()) == {(0, 0)} and not tasks_on_scheduler(client))


@pytest.mark.exhaustive
def test_a_matrix_of_a_stopped_worker(client, stopped):
    d = np.random.default_rng(0).integers(1, 50, (320, 320)).astype(np.float32)
    found = apsp(d, client=client, device="cpu", worker_timeout=TIMEOUT, block=32).distances
    address = stopped()
    with pytest.raises(WorkerLostError, match=f"{address}.* silent for"):
        found.to_numpy()


def test_ctrl_c_ends_a_call_that_waits_for_a_stopped_worker(client, stopped, monkeypatch):
    monkeypatch.setattr(turns, "PARTING", SOON)  # the scheduler answers, perhaps late
    pressed = []

    def press():
        stopped()
        time.sleep(1)
        pressed.append(time.monotonic())
        # To the waiting thread, as the terminal's signal; one that another thread receives does not wake it.
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # A process that was started in the background ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        pressing = then(client, press)
        with pytest.raises(KeyboardInterrupt):
            run(client, span=100_000, timeout=10 * SOON)  # the worker's silence does not end it
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - pressed[0] < SOON
    pressing.join()
    assert left_on_scheduler(client)[1] == 0


def test_ctrl_c_ends_a_call_when_no_worker_answers(client, monkeypatch):
    """Each of the messages that follow it hangs, and so do the tasks."""

    async def hang(*_, **__):
        await asyncio.sleep(4 * SOON)

    def interrupt(k, of):
        pressed.append(time.monotonic())
        monkeypatch.setattr(Client, "_cancel", hang)
        monkeypatch.setattr(Client, "_run", hang)
        monkeypatch.setattr(Client, "_run_on_scheduler", hang)
        raise KeyboardInterrupt

    def act(state, k, comm):
        time.sleep(0.6 if comm.rank else 8 * k)
        return np.zeros(0)

    pressed = []
    with pytest.raises(KeyboardInterrupt):
        run(client, act, steps=2, progress=interrupt)
    assert time.monotonic() - pressed[0] < SOON
    monkeypatch.undo()
    check_apsp(client, 70, np.float32, False)  # frees what the interrupted call could not free


@pytest.fixture
def deaf(client):
    """A worker that discards what it receives; the others believe that it was delivered."""
    deaf, *_ = sorted(client.run(os.getpid))

    async def swallow(session, source, number, payload):
        pass

    def turn(deaf, dask_worker):
        heard = dask_worker.plugins["mgraph"].receive
        dask_worker.handlers[OPERATION] = swallow if deaf else heard

    client.run(turn, True, workers=[deaf])
    yield deaf
    client.run(turn, False, workers=[deaf])
    check_apsp(client, 70, np.float32, False)


BROKEN = r"the connection between it and the worker tcp.* is broken.*check_network"


@pytest.mark.exhaustive
def test_a_broken_connection_between_two_workers(client, deaf):
    with pytest.raises(WorkerLostError, match=BROKEN) as caught:
        run(client, span=100_000)
    assert deaf in str(caught.value)


class Collected(Probe):
    """A program whose shards send each other something at its end."""

    def collect(self, state, comm):
        if comm.rank < 2:
            comm.broadcast(np.zeros(1, np.int32), 1, (0, 1))
        return super().collect(state, comm)


@pytest.mark.exhaustive
def test_a_broken_connection_to_a_worker_that_has_ended(client, deaf):
    """It ends before its first beat, so that nothing says what it has sent."""
    runner = visiting(client, "cpu", TIMEOUT)
    made = plan("apsp", 320, devices=runner.specs, block=32)
    program = Collected(made, lambda *_: np.zeros(0), steps=1)
    with pytest.raises(WorkerLostError, match=BROKEN) as caught:
        runner.run(program, lambda shard: None, made, None)
    assert deaf in str(caught.value)


def test_the_client_hears_what_a_worker_compiles(client):
    heard, address = [], min(client.scheduler_info()["workers"])
    beat = worker.Session().where() | {"number": 1, "compiling": "bfs, number 1"}
    watched = Watch(client, [address], TIMEOUT, (client.id, "a call"))

    def look():
        client.set_metadata([pulse.PLACE, client.id, "a call"], {address: beat})  # which calls that have ended remove
        watched.look()
        return heard

    with COMPILING.listening(heard.append):
        wait_until(look)
        watched.wait(asyncio.sleep, 0)
    assert (heard[0], heard[-1]) == ("bfs, number 1, on a worker", "")


def test_an_interrupt_before_the_event_loop_has_a_request(client):
    def interrupted(*_):
        raise KeyboardInterrupt

    loop = SimpleNamespace(asyncio_loop=SimpleNamespace(call_soon_threadsafe=interrupted))
    watched = Watch(client)
    watched.client = SimpleNamespace(run_on_scheduler=client.run_on_scheduler, loop=loop)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            watched.on_scheduler(print)
        gc.collect()
    assert not [warning for warning in shown if "never awaited" in str(warning.message)]


def test_work_that_a_loop_which_has_stopped_never_begins():
    """A worker's loop stops before its tasks do, when the client's process is told to end."""
    loop = asyncio.new_event_loop()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        working = begun(loop, asyncio.sleep, 0)
        assert working.cancel()
        loop.close()
        del working
        gc.collect()
    assert not [warning for warning in shown if "never awaited" in str(warning.message)]


def test_a_broken_connection_to_a_resident_worker_that_has_answered(client):
    """The scheduler says that it has answered, where no beat of it says what it has sent."""
    here, there = sorted(client.scheduler_info()["workers"])[:2]
    state = {"rank": 0, "device": "cpu", "superstep": 3, "compiling": "", "sent": [0, 0], "since": 0.0, "bytes": 4}
    waiting = state | {"doing": "receiving", "peers": [1], "message": 1}
    name, watched = client.id, Watch(client, [here, there], TIMEOUT, (client.id, "a call"))

    def beat(dask_scheduler):
        beats = {here: waiting | {"number": time.monotonic_ns()}, pulse.ANSWERED: [there]}
        dask_scheduler.task_metadata[pulse.PLACE] = {name: {"a call": beats}}

    def look():
        client.run_on_scheduler(beat)
        watched.look()

    with pytest.raises(WorkerLostError, match=BROKEN) as caught:
        wait_until(look)
    assert caught.value.workers == (here,)
    client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.task_metadata.pop(pulse.PLACE))


def test_a_worker_that_has_waited_long_gets_time_to_take_the_message(client):
    """The one that it waits for computes for longer than the timeout, then sends its message and ends at once."""
    here, there = sorted(client.scheduler_info()["workers"])[:2]
    state = {"rank": 0, "device": "cpu", "superstep": 0, "compiling": "", "sent": [0, 0], "since": 0.0, "bytes": 4}
    waiting = state | {"doing": "receiving", "peers": [1], "message": 1}
    computing = state | {"rank": 1, "doing": "computing", "peers": [], "message": 0}
    name, watched = client.id, Watch(client, [here, there], 2, (client.id, "a call"))

    def beat(answered, dask_scheduler):
        number = time.monotonic_ns()
        beats = {here: waiting | {"number": number}, there: computing | {"number": number}, pulse.ANSWERED: answered}
        dask_scheduler.task_metadata[pulse.PLACE] = {name: {"a call": beats}}

    def look(answered):
        client.run_on_scheduler(beat, answered)
        watched.look()

    begun = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the superstep takes longer than predicted
        wait_until(lambda: look([]) or time.monotonic() > begun + 4)
        look([there])
        with pytest.raises(WorkerLostError, match=BROKEN):
            wait_until(lambda: look([there]))
    client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.task_metadata.pop(pulse.PLACE))


def test_a_scheduler_that_is_slow_to_register_tasks(client, monkeypatch):
    """As while it registers another user's large graph, in the one thread that registers all graphs."""
    opened = Group.open_session

    def open_late(self):
        _offload_executor.submit(time.sleep, 3)  # the scheduler is in this process
        opened(self)

    forget(client)
    monkeypatch.setattr(Group, "open_session", open_late)
    found = run(client, lambda *_: np.ones(1), steps=1)
    assert found.arrays["seen"].tolist() == [1, 1, 1]


def test_a_scheduler_that_is_slow_to_answer_the_first_request(client, monkeypatch):
    monkeypatch.setattr(watch, "LOOK", 0.05)
    ask, asked = Watch.ask, []

    async def ask_late(self):
        asked.append(self)
        await asyncio.sleep(0.5)
        return await ask(self)

    monkeypatch.setattr(Watch, "ask", ask_late)
    addresses = client.run(os.getpid)
    looking = Watch(client, addresses)
    looking.check()
    assert asked == [looking] and looking.there == set(addresses)
    with pytest.raises(WorkerLostError, match="tcp://nowhere:1"):
        Watch(client, [*addresses, "tcp://nowhere:1"]).check()


def test_a_pulse_that_fails_ends_its_session(client, monkeypatch, caplog):
    """With any error, also after the first beats."""
    monkeypatch.setattr(pulse, "BEAT", 2.0)
    lease = client.submit(int)
    lease.result()
    here = SimpleNamespace(
        address="here", scheduler=SimpleNamespace(address=client.scheduler.address), connection_args={}
    )
    failed, ended = [], threading.Event()

    def where():
        failed.append(True)
        return {}[None]

    with caplog.at_level(logging.ERROR, pulse.__name__):
        pulse.Pulse(here, ("client", "session"), lease.key, 6, where, ended.set)
        assert ended.wait(SOON)
    assert 1 <= len(failed) <= 2  # each counts for 3.5 s; the scheduler may be late to answer one
    assert caplog.text.count("a beat of a session failed") == 1


def long_kernel(state, k, comm):
    if comm.rank == 0:
        time.sleep(TIMEOUT + 4)
    comm.allreduce(np.zeros(1, np.int32), "sum")
    return np.ones(1)


def test_a_slow_shard_is_warned_about_and_not_aborted(client):
    with pytest.warns(RuntimeWarning, match=r"superstep 0 has taken [0-9]+ s, of 0.01 s predicted"):
        found = run(client, long_kernel, steps=1, seconds=0.01)
    assert found.arrays["seen"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("given", [0, 0.5, -1, "no", "", "500 ms", [60], 10**400, True, float("inf"), float("nan")])
def test_invalid_timeouts(client, given):
    with pytest.raises(InputError, match="worker_timeout must be a number of seconds, 1 or more"):
        apsp(np.ones((2, 2)), client=client, worker_timeout=given)


def test_a_timeout_needs_a_client():
    with pytest.raises(InputError, match="worker_timeout goes with client=: give both or neither"):
        apsp(np.ones((2, 2)), device="cpu", worker_timeout=5)


def test_the_timeout_of_the_configuration(client):
    import dask

    assert watch.checked_timeout(None, client) == 60
    with dask.config.set({"mgraph.worker-timeout": "2 minutes"}):
        assert watch.checked_timeout(None, client) == 120
        assert watch.checked_timeout(7, client) == 7
        assert watch.checked_timeout("1.5 minutes", client) == 90
    with dask.config.set({"mgraph.worker-timeout": "x"}), pytest.raises(InputError, match="Dask's configuration"):
        watch.checked_timeout(None, client)


@pytest.mark.exhaustive
def test_a_scheduler_that_is_stopped_in_a_call(tmp_path):
    """The call ends, and so do the sessions, by themselves; the next call says that the scheduler does not answer."""
    file = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(file), "--dashboard-address", ":0"]
    commands = [["dask_scheduler", "--port", "0", *common], ["dask_worker", "--no-nanny", "--nthreads", "1", *common]]
    path = os.pathsep.join([os.path.dirname(__file__), os.getcwd()])
    started = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command[0]}", *command[1:]],
            env=os.environ | {"PYTHONPATH": path},
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]
    scheduler = started[0]
    try:
        wait_until(lambda: file.exists() and file.stat().st_size > 0)  # it is written a moment after it is made
        with connect(scheduler_file=file, timeout=SOON) as client:
            wait_until(lambda: present(client))
            stopping = then(client, lambda: scheduler.send_signal(signal.SIGSTOP))
            begun = time.monotonic()
            with pytest.raises(WorkerLostError, match=r"the scheduler at tcp.* has been silent for"):
                run(client, span=100_000, timeout=2 * TIMEOUT)
            assert time.monotonic() - begun < SOON
            stopping.join()
            with pytest.raises(SchedulerError, match="has been silent for"):
                run(client)
            scheduler.send_signal(signal.SIGCONT)
            wait_until(lambda: list(state(client).values()) == [(0, 0)])
            found = run(client, lambda *_: np.ones(1), steps=1, timeout=SOON)
            assert found.arrays["seen"] == [1]
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


def killed(address):
    """Process: a client that is killed in a call when its workers have beaten."""

    def kill(k, of):
        if in_a_superstep(client):
            os.kill(os.getpid(), signal.SIGKILL)

    with Client(address, set_as_default=False) as client:
        run(client, progress=kill)


def test_a_client_that_is_killed_in_a_call_leaves_nothing(client):
    time.sleep(4 * pulse.BEAT)  # calls that have ended forget what others have left, again after some seconds
    ended = multiprocessing.get_context("forkserver").Process(target=killed, args=(client.scheduler.address,))
    ended.start()
    ended.join(2 * SOON)
    assert ended.exitcode == -signal.SIGKILL
    wait_until(lambda: left_on_scheduler(client) == (False, 0) and set(state(client).values()) == {(0, 0)})


def test_a_start_that_hangs_is_abandoned_when_a_session_is_aborted():
    """As NCCL's start does while another worker is stopped."""
    mailbox, begun, go_on, discarded = Mailbox(), threading.Event(), threading.Event(), []
    assert worker.unless_aborted(mailbox, lambda: 3, discarded.append) == 3
    with pytest.raises(ZeroDivisionError):
        worker.unless_aborted(mailbox, lambda: 1 / 0, discarded.append)

    def make():
        begun.set()
        go_on.wait()
        return 7

    with ThreadPoolExecutor(1) as task:
        waiting = task.submit(worker.unless_aborted, mailbox, make, discarded.append)
        begun.wait()
        mailbox.abort()
        with pytest.raises(Aborted):
            waiting.result(SOON)
    go_on.set()
    wait_until(lambda: discarded == [7])
