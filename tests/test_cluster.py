"""Calls on a cluster give the bits of direct calls, and leave nothing behind, however they end."""

import asyncio
import gc
import operator
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, Event, LocalCluster, default_client
from distributed.client import ClosedClientError
from distributed.comm import CommClosedError
from distributed.scheduler import WorkerStatusPlugin

from mgraph import DistributedGraph, apsp, bfs, device, generate
from mgraph.errors import (
    DeviceError,
    InputError,
    MemoryLimitError,
    MgraphError,
    NegativeCycleError,
    OutputExistsError,
    SchedulerError,
    WorkerLostError,
)
from mgraph.planner import plan
from mgraph.planning.cut import even_ranges
from mgraph.runtime.dask import connect, driver, local_client, sending, tasks, visiting, watch
from mgraph.runtime.dask.comm import Aborted
from mgraph.runtime.dask.driver import Visiting, forget
from mgraph.runtime.dask.pulse import LEASE
from mgraph.runtime.dask.watch import Watch
from tests.support.cluster_calls import Probe, check_apsp, matrix, run, slow
from tests.support.clusters import (
    CLUSTER_WARNINGS,
    QUIET,
    SOON,
    clients,
    cluster,
    forked,
    keys_on_workers,
    kill_a_worker,
    present,
    sessions,
    wait_for_workers,
    wait_until,
)
from tests.support.parameters import exhaustive
from tests.support.ports import free_port

pytestmark = CLUSTER_WARNINGS

client = clients(2, processes=True)
threads = clients(2, *exhaustive(1, 3, 5))


@pytest.mark.parametrize("n", [0, 1, 5, 70, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("predecessors", [False, True])
def test_the_same_bits_as_direct(client, n, dtype, predecessors):
    check_apsp(client, n, dtype, predecessors)


@pytest.mark.parametrize("n", [0, 1, 70, 200])
def test_workers_in_this_process(threads, n):
    """With five of them, more than there are block rows."""
    check_apsp(threads, n, np.float32, True)


@pytest.mark.parametrize("span", [1, 2, 7, 1000])
def test_every_span_gives_the_same(client, span):
    found = check_apsp(client, 200, np.float32, True, span)
    assert found.plan.span == span
    seen = []
    apsp(matrix(200), client=client, device="cpu", block=32, span=span, progress=lambda k, _: seen.append(k))
    assert len(seen) == 21 // span + 1


def test_progress_comes_between_spans(client):
    seen = []
    apsp(matrix(100), client=client, device="cpu", block=32, span=5, progress=lambda k, of: seen.append((k, of)))
    assert seen == [(5, 12), (10, 12), (12, 12)]


def test_the_plan_names_the_workers(client):
    found = apsp(matrix(70), client=client, device="cpu", block=32)
    assert [spec.name for spec in found.plan.devices] == [f"cpu of {a}" for a in sorted(present(client))]
    assert all(spec.memory > 0 for spec in found.plan.devices)


def test_path_fetches_a_row(client):
    d = matrix(100)
    direct, found = (apsp(d, predecessors=True, device="cpu"), apsp(d, predecessors=True, device="cpu", client=client))
    for j in range(0, 100, 9):
        assert found.path(3, j) == direct.path(3, j)


def test_no_state_stays_on_the_workers(client):
    found = apsp(matrix(100), client=client, device="cpu", block=32)
    forget(client)
    held = {future.key for _, future in found.distances.blocks if future is not None}
    wait_until(lambda: keys_on_workers(client) == held and not any(sessions(client)))


def test_no_result_waits_for_a_garbage_collection(client, monkeypatch):
    """Nor does one of tasks that take longer than the interval between two checks of the workers."""
    monkeypatch.setattr(watch, "LOOK", 0.01)
    gc.collect()
    gc.disable()
    try:
        before = keys_on_workers(client)
        run(client, lambda state, first, comm: [time.sleep(0.1)])
        wait_until(lambda: keys_on_workers(client) <= before)
    finally:
        gc.enable()


def leases(client):
    """The keys of sessions that are open."""
    return {key for key in keys_on_workers(client) if str(key).startswith(LEASE + "-")}


def test_the_next_call_finds_the_sessions_open(client):
    check_apsp(client, 70, np.float32, False)
    before = leases(client)
    check_apsp(client, 70, np.float32, True)
    assert leases(client) == before and len(before) == 2


def test_sessions_end_if_no_call_follows(client, monkeypatch):
    monkeypatch.setattr(driver, "IDLE", 0.1)
    check_apsp(client, 70, np.float32, False)
    wait_until(lambda: not leases(client))


def test_a_call_that_fails_ends_its_sessions(client):
    check_apsp(client, 70, np.float32, False)
    with pytest.raises(RuntimeError, match="shard 1 gave up"):
        run(client, failing)
    wait_until(lambda: not leases(client))


def test_long_vectors_are_read_from_the_workers_and_freed(client, monkeypatch):
    monkeypatch.setattr(Visiting, "carried_bytes", 0)
    graph = generate.grid(9, 9, device="cpu")
    found = bfs(graph, 0, predecessors=True, client=client, device="cpu")
    for name, array in bfs(graph, 0, predecessors=True, device="cpu").arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    wait_until(lambda: not any(sessions(client)))


@pytest.mark.parametrize(("span", "small", "requests"), [(100, True, 1), (1, True, 4), (100, False, 1)])
def test_a_superstep_of_a_span_of_one_is_a_request(client, monkeypatch, span, small, requests):
    """All supersteps are one, also where a task loads the input, until the program says that it has ended."""
    asked, ask = [], Visiting.ask

    def noted(*given, **options):
        asked.append(given)
        return ask(*given, **options)

    monkeypatch.setattr(Visiting, "ask", noted)
    monkeypatch.setattr(sending, "SMALL", 1 << 20 if small else 0)
    found = run(client, lambda state, k, comm: np.full(1, k), steps=3, span=span)
    assert found.arrays["seen"].tolist() == [0, 1, 2] * 2 and len(asked) == requests


@pytest.fixture(scope="module")
def pair(client):
    """A matrix on the workers, and the same matrix in NumPy."""
    found = apsp(matrix(200), client=client, device="cpu", block=32).distances
    return found, found.to_numpy()


class TestMatrix:
    def test_attributes(self, pair):
        found, whole = pair
        assert (found.shape, found.dtype, found.ndim) == (whole.shape, whole.dtype, 2)
        assert (found.nbytes, len(found)) == (whole.nbytes, len(whole))
        assert found.ranges == ((0, 96), (96, 200))
        assert "(200, 200), float32, on 2 workers" in repr(found)

    @pytest.mark.parametrize("key", [(0, 0), (99, 150), (-1, -200), (np.int64(96), 3)])
    def test_element(self, pair, key):
        found, whole = pair
        assert type(found[key]) is float
        assert found[key] == whole[key]

    @pytest.mark.parametrize(
        "key",
        [
            5,
            -3,
            slice(90, 100),
            slice(None, None, 7),
            slice(None, None, -3),
            slice(150, 20, -1),
            slice(7, 7),
            (slice(95, 97), 4),
            (3, slice(10, 2, -2)),
            (slice(-20, None), slice(None, None, 50)),
        ],
    )
    def test_part(self, pair, key):
        found, whole = pair
        np.testing.assert_array_equal(found[key], whole[key])
        assert found[key].shape == whole[key].shape

    @pytest.mark.parametrize("key", [(200, 0), (0, -201), 300])
    def test_out_of_range(self, pair, key):
        with pytest.raises(IndexError, match=r"is out of bounds for axis . with size 200"):
            pair[0][key]

    @pytest.mark.parametrize("key", ["a", [1, 2], (0, None), (1, 2, 3), (True, False), np.True_])
    def test_invalid_indices(self, pair, key):
        with pytest.raises(IndexError, match="use integers and slices"):
            pair[0][key]

    def test_is_not_compared(self, pair):
        for compare in (operator.eq, operator.ne):
            for other in (1, pair[0], pair[1].tolist()):
                with pytest.raises(TypeError, match="to_numpy"):
                    compare(pair[0], other)

    def test_row(self, pair):
        np.testing.assert_array_equal(pair[0].row(150), pair[1][150])

    def test_asarray(self, pair):
        np.testing.assert_array_equal(np.asarray(pair[0]), pair[1])
        assert np.asarray(pair[0], np.float64).dtype == np.float64

    def test_chunks(self, pair, monkeypatch):
        found, whole = pair
        monkeypatch.setattr("mgraph.runtime.dask.matrix.CHUNK", 50 * 800)
        chunks = list(found.chunks())
        assert [len(chunk) for chunk in chunks] == [50, 46, 50, 50, 4]
        np.testing.assert_array_equal(np.concatenate(chunks), whole)

    def test_save(self, pair, tmp_path):
        found, whole = pair
        found.save(tmp_path / "d.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), whole)
        with pytest.raises(OutputExistsError):
            found.save(tmp_path / "d.npy")
        found.save(tmp_path / "d.npy", overwrite=True)

    def test_to_dask_array(self, pair, client):
        found, whole = pair
        array = found.to_dask_array()
        assert (array.shape, array.dtype, array.chunks) == (whole.shape, whole.dtype, ((96, 104), (200,)))
        np.testing.assert_array_equal(client.compute(array).result(), whole)
        assert client.compute(array.min(axis=1).sum()).result() == whole.min(axis=1).sum()

    @pytest.mark.parametrize("n", [0, 5])
    def test_empty_shards(self, client, n, tmp_path):
        d = matrix(n)
        found = apsp(d, client=client, device="cpu", block=32).distances
        whole = apsp(d, device="cpu", block=32).distances
        assert found.shape == (n, n)
        np.testing.assert_array_equal(found[:, :], whole)
        np.testing.assert_array_equal(client.compute(found.to_dask_array()).result(), whole)
        found.save(tmp_path / "d.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), whole)

    def test_a_copy_even_of_a_worker_in_this_process(self, threads):
        found = apsp(matrix(70), client=threads, device="cpu", block=32).distances
        row = found.row(0)
        row[:] = -1
        assert found[0, 0] == 0


def test_vectors_are_joined_in_order(threads):
    found = run(threads, lambda state, k, comm: np.full(state["shard"] % 2, comm.rank * 10 + k), steps=2)
    expected = [rank * 10 + k for rank in range(len(present(threads))) if rank % 2 for k in range(2)]
    np.testing.assert_array_equal(found.arrays["seen"], expected)


def test_a_shard_gets_its_piece(client):
    sent = np.random.default_rng(1).random((2, 1_000_000))
    found = run(client, lambda state, k, comm: state["piece"][0][:5], 1, piece=lambda shard: (sent[shard], None))
    np.testing.assert_array_equal(found.arrays["seen"], sent[:, :5].ravel())


def collectives(state, k, comm):
    """Run every collective, on short and on long arrays; raise if one is wrong."""
    assert comm.horizon(9) == (9 if comm.size == 1 else 1)
    for length in (0, 1, 1000, 100_003):
        for dtype in (np.int32, np.uint32, np.float32, np.float64):
            for root in range(comm.size):
                array = np.arange(length, dtype=dtype) * (comm.rank == root)
                comm.broadcast(array, root, range(comm.size))
                assert (array == np.arange(length, dtype=dtype)).all()
                array[...] = 77  # may be changed at once
            # Pairs of shards, each with its own number of messages.
            pair = comm.rank // 2 * 2
            among = range(pair, min(pair + 2, comm.size))
            for number in range(pair + 1):
                array = np.full(length, number if comm.rank == among[-1] else 55, dtype)
                comm.broadcast(array, among[-1], among)
                assert (array == number).all()
            # Uneven parts, of which the second is empty.
            cuts = [0, length // 3, length // 3, *[length] * comm.size][: comm.size]
            parts = tuple(pairwise([*cuts, length]))
            expected = np.arange(2 * length, dtype=dtype).reshape(length, 2)
            whole = np.zeros_like(expected)
            first, last = parts[comm.rank]
            whole[first:last] = expected[first:last]
            comm.allgather(whole, parts)
            assert (whole == expected).all()
            ranks = np.arange(comm.size)
            for op in ("sum", "min", "max"):
                array = np.full(length, 1 + comm.rank, dtype)
                comm.allreduce(array, op)
                assert (array == getattr(1 + ranks, op)()).all()
                for cut in (parts, even_ranges(length // comm.size * comm.size, comm.size, 1)):
                    array = np.full((cut[-1][1], 2), 1 + comm.rank, dtype)
                    expected = array.copy()
                    expected[slice(*cut[comm.rank])] = getattr(1 + ranks, op)()
                    comm.reduce_scatter(array, cut, op)
                    assert (array == expected).all()
                    array[...] = 77  # may be changed at once
    return np.ones(1)


def test_collectives(client):
    run(client, collectives)


def test_collectives_in_one_process(threads):
    run(threads, collectives, steps=2)


def test_a_negative_cycle_is_found_on_the_workers(client):
    d = matrix(100)
    d[90, 95], d[95, 90] = -3, 1
    with pytest.raises(NegativeCycleError) as direct:
        apsp(d, device="cpu", block=32)
    with pytest.raises(NegativeCycleError) as caught:
        apsp(d, device="cpu", client=client, block=32)
    assert caught.value.vertex == direct.value.vertex
    check_apsp(client, 70, np.float32, False)


def failing(state, k, comm):
    if comm.rank == 1 and k == 1:
        raise RuntimeError("shard 1 gave up")
    comm.allreduce(np.zeros(1, np.int32), "sum")
    return np.zeros(0)


@pytest.mark.parametrize("span", [1, 100])
def test_one_shard_fails(client, span):
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="shard 1 gave up"):
        run(client, failing, span=span)
    assert time.monotonic() - started < SOON
    check_apsp(client, 70, np.float32, False)


def hungry(state, k, comm):
    """Every shard waits for the second, which asks for more memory than any machine has."""
    if comm.rank == 1:
        np.empty(1 << 60, np.uint8)
    comm.allreduce(np.zeros(1, np.int32), "sum")


def test_one_shard_runs_out_of_memory(client):
    words = (
        r"apsp of 320 vertices ran out of memory \(Unable to allocate .* EiB .*\): its plan needs .* KiB of the .* GiB"
    )
    with pytest.raises(MemoryLimitError, match=words) as caught:
        run(client, hungry)
    assert isinstance(caught.value.__cause__, MemoryError)
    check_apsp(client, 70, np.float32, False)


def test_one_shard_fails_to_load(client):
    def piece(shard):
        return np.zeros((3, 3)) if shard else None

    class Picky(Probe):
        def load(self, shard, piece, device):
            if shard:
                raise InputError("shard 1 likes nothing")
            return super().load(shard, piece, device)

    runner = visiting(client, "cpu")
    made = plan("apsp", 320, devices=runner.specs, block=32)
    with pytest.raises(InputError, match="likes nothing"):
        runner.run(Picky(made, failing), piece, made, None)
    check_apsp(client, 70, np.float32, False)


def test_the_callers_own_errors_surface(client):
    def stop(k, of):
        raise ZeroDivisionError("stop")

    with pytest.raises(ZeroDivisionError, match="stop"):
        run(client, collectives, progress=stop)
    check_apsp(client, 70, np.float32, False)


def test_an_interrupt_leaves_nothing(client):
    def interrupt(k, of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(client, collectives, progress=interrupt)
    check_apsp(client, 70, np.float32, False)
    wait_until(lambda: not any(sessions(client)))


@pytest.mark.parametrize("span", [100_000, *exhaustive(1)])
def test_a_killed_worker_is_named(mortals, span, caplog):
    check_apsp(mortals, 70, np.float32, False)
    killed = []

    def kill():
        wait_until(lambda: all(sessions(mortals)))
        time.sleep(1)
        killed.append((kill_a_worker(mortals), time.monotonic()))

    killing = threading.Thread(target=kill)
    killing.start()
    with pytest.raises(WorkerLostError) as caught:
        run(mortals, slow, steps=100_000, span=span)
    killing.join()
    [(address, when)] = killed
    assert time.monotonic() - when < SOON
    assert address in str(caught.value)
    warned = [record.getMessage() for record in caplog.records if record.name == "mgraph.runtime.dask.resident"]
    assert warned == [str(caught.value)]
    wait_for_workers(mortals, 2)
    assert address not in present(mortals)
    check_apsp(mortals, 200, np.float32, True)


def test_a_worker_lost_between_calls_does_not_matter(mortals):
    check_apsp(mortals, 70, np.float32, False)
    kill_a_worker(mortals)
    check_apsp(mortals, 70, np.float32, False)


def test_a_worker_lost_between_calls_does_not_break_the_cluster(monkeypatch):
    told, notices = WorkerStatusPlugin.remove_worker, []

    def notice(self, scheduler, worker):
        told(self, scheduler, worker)
        notices.append(worker)

    def late(self, scheduler, worker, **kwargs):
        scheduler.loop.call_later(1, notice, self, scheduler, worker)

    monkeypatch.setattr(WorkerStatusPlugin, "remove_worker", late)
    with cluster(2, processes=True) as client:
        address = kill_a_worker(client)
        while address in present(client):
            time.sleep(0.01)
        check_apsp(client, 70, np.float32, False)
        wait_until(lambda: address in notices)  # closing the cluster would raise the error of a later one


def test_a_lost_block_is_reported(mortals):
    found = apsp(matrix(100), client=mortals, device="cpu", block=32).distances
    address = kill_a_worker(mortals)
    with pytest.raises(WorkerLostError, match=address):
        found.to_numpy()


def test_a_result_lost_while_others_are_awaited(mortals, monkeypatch):
    """Between two checks of the workers, the last task ends, but the first one's result is gone."""
    monkeypatch.setattr(watch, "LOOK", 5)
    first, second = sorted(present(mortals))
    ended = tasks.submit(mortals, first, int)
    other = tasks.submit(mortals, second, lambda: Event("lost").wait())
    wait_until(ended.done)
    with ThreadPoolExecutor(1) as thread:
        settled = thread.submit(tasks.settle, Watch(mortals, [first, second]), {first: ended, second: other})
        os.kill(mortals.run(os.getpid)[first], signal.SIGKILL)
        wait_until(lambda: not ended.done())
        Event("lost", client=mortals).set()
        with pytest.raises(WorkerLostError, match=first):
            settled.result()


#: Held in the process of a worker by a superstep.
busy = threading.Lock()


def guarded(state, k, comm):
    """Fails if another call's superstep runs at the same time on this worker."""
    assert busy.acquire(blocking=False)
    time.sleep(0.05)
    comm.allreduce(np.zeros(1, np.int32), "sum")
    busy.release()
    return np.ones(1)


def test_two_callers_take_turns():
    with forked():
        made = LocalCluster(n_workers=2, threads_per_worker=4, processes=True, memory_limit=0, **QUIET)
    with made, Client(made, set_as_default=False) as one, Client(made, set_as_default=False) as two:
        problems = []

        def call(client):
            try:
                for _ in range(2):
                    run(client, guarded, steps=8)
            except BaseException as error:
                problems.append(error)

        callers = [threading.Thread(target=call, args=(client,)) for client in (one, two)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert not problems


def test_a_dead_caller_holds_nothing(client, tmp_path):
    """Another process dies in the middle of a call; the next call gets its workers."""
    script = tmp_path / "caller.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "import test_cluster\n"
        f"caller = test_cluster.connect({client.scheduler.address!r})\n"
        "test_cluster.run(caller, test_cluster.slow, 10_000, 10, lambda k, of: print(k, flush=True))\n"
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as caller:
        caller.stdout.readline()
        caller.kill()
    started = time.monotonic()
    check_apsp(client, 70, np.float32, True)
    assert time.monotonic() - started < SOON


def test_a_scheduler_that_does_not_answer(capfd):
    started = time.monotonic()
    before = threading.active_count()
    with pytest.raises(SchedulerError, match="no scheduler answers at tcp"):
        connect(f"tcp://127.0.0.1:{free_port()}", timeout=2)
    assert time.monotonic() - started < SOON
    wait_until(lambda: threading.active_count() <= before)
    assert capfd.readouterr() == ("", "")


@contextmanager
def port_that_says(data):
    """A listening port that sends `data` to whoever connects, and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        peers = []

        def serve():
            while True:
                try:
                    peers.append(server.accept()[0])
                except OSError:
                    return
                peers[-1].sendall(data)

        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            serving.join()
            for peer in peers:
                peer.close()


def test_a_port_that_never_answers(capfd):
    with port_that_says(b"") as port:
        started = time.monotonic()
        before = threading.active_count()
        with pytest.raises(SchedulerError, match=r"no scheduler answers at tcp.* within 2 s"):
            connect(f"tcp://127.0.0.1:{port}", timeout=2)
        assert time.monotonic() - started < SOON
        wait_until(lambda: threading.active_count() <= before)
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_that_falls_silent(monkeypatch, capfd):
    """It accepts the connection and then sends nothing: its client is closed, and never becomes the default."""

    async def check_reachable(*_):
        pass

    monkeypatch.setattr(sys.modules["mgraph.runtime.dask.connect"], "check_reachable", check_reachable)
    with port_that_says(b"") as port:
        started = time.monotonic()
        with pytest.raises(SchedulerError, match="within 2 s"):
            connect(f"tcp://127.0.0.1:{port}", timeout=2)
        assert time.monotonic() - started < SOON
        with pytest.raises(ValueError, match="No clients found"):
            default_client()
    time.sleep(1)  # the port is closed, and its client notices
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("data", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(8)])
def test_a_port_of_another_program(data, capfd):
    with port_that_says(data) as port, pytest.raises(SchedulerError, match="is not a Dask scheduler that can be used"):
        connect(f"tcp://127.0.0.1:{port}", timeout=30)
    assert capfd.readouterr() == ("", "")


def test_connected_and_local_clients_are_the_default(client):
    d = matrix(100)
    expected = apsp(d, device="cpu").distances.min(axis=1).sum()
    with local_client(2, "cpu") as outer:
        assert default_client() is outer
        found = apsp(d, client=outer, device="cpu").distances
        assert found.to_dask_array().min(axis=1).sum().compute() == expected
        inner = connect(client.scheduler.address)
        assert Client.current() is outer  # inside its `with`
        with inner:
            assert default_client() is inner
            other = apsp(d, client=inner, device="cpu").distances
            assert other.to_dask_array().min(axis=1).sum().compute() == expected
            # State of a client that is not the current one.
            check_apsp(outer, 70, np.float32, True)
            np.testing.assert_array_equal(found[:, :], other[:, :])
            assert found.to_dask_array().min(axis=1).sum().compute(scheduler=outer) == expected
        assert default_client() is outer
    with pytest.raises(ValueError, match="No clients found"):
        default_client()
    inner = connect(client.scheduler.address)
    found = apsp(d, client=inner, device="cpu").distances
    assert found.to_dask_array().min(axis=1).sum().compute() == expected
    inner.close()
    with pytest.raises(ValueError, match="No clients found"):
        default_client()


def test_connect(client, tmp_path):
    with connect(client.scheduler.address) as other:
        assert present(other) == present(client)
    file = tmp_path / "scheduler.json"
    file.write_text(f'{{"address": "{client.scheduler.address}"}}')
    with connect(scheduler_file=file) as other:
        assert present(other) == present(client)
    file.write_text("{}")
    with pytest.raises(InputError, match=r"scheduler\.json must be a file"):
        connect(scheduler_file=file)
    with pytest.raises(InputError, match="cannot be read"):
        connect(scheduler_file=tmp_path / "none")
    with pytest.raises(InputError, match="needs the scheduler"):
        connect()


def test_a_scheduler_that_goes_away():
    made = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **QUIET)
    with made:
        with connect(made.scheduler_address) as client:
            stopper = threading.Thread(target=made.close)

            def stop(k, of):
                if k == 1:
                    stopper.start()

            with pytest.raises(MgraphError):
                run(client, slow, steps=10_000, progress=stop)
            stopper.join()


@pytest.mark.exhaustive
def test_a_client_that_another_thread_closes():
    with cluster(2, processes=False) as client:
        for _ in range(3):
            with connect(client.scheduler.address) as other:
                address = other.scheduler.address

                def close(k, of, other=other):
                    if k == 1:
                        threading.Thread(target=other.close).start()

                with pytest.raises((SchedulerError, WorkerLostError)):
                    run(other, slow, steps=1000, progress=close)
                with pytest.raises(SchedulerError, match=f"{address} is clos"):
                    apsp(matrix(5), client=other)


def _vector(client):
    return bfs(DistributedGraph.from_graph(generate.grid(3, 3), client, device="cpu"), 0).distances


@pytest.mark.parametrize(
    ("what", "use"),
    [
        (_vector, lambda vector: vector.sum()),
        (_vector, lambda vector: vector[1:5]),
        (_vector, lambda vector: vector.to_dask_array()),
        (lambda client: apsp(matrix(5), client=client).distances, lambda found: found[1, 2]),
        (lambda client: apsp(matrix(5), client=client).distances, lambda found: found.to_dask_array()),
        (lambda client: client, lambda client: DistributedGraph.from_graph(generate.grid(3, 3), client, device="cpu")),
        (
            lambda client: client,
            lambda client: DistributedGraph.from_dask(da.ones(3, dtype=int), da.ones(3, dtype=int)),
        ),
    ],
)
def test_a_client_that_is_closed_before_it_sends_a_task(monkeypatch, what, use):
    with (
        cluster(2, processes=False) as client,
        connect(client.scheduler.address) as other,
        monkeypatch.context() as patch,
    ):
        given, sends = what(other), Client._graph_to_futures

        def close(*args, **options):
            closing = threading.Thread(target=other.close)
            closing.start()
            closing.join()
            return sends(*args, **options)

        patch.setattr(Client, "_graph_to_futures", close)
        with pytest.raises(SchedulerError, match=f"{client.scheduler.address} is closed"):
            use(given)


def test_an_error_is_not_asked_of_a_loop_that_has_stopped(monkeypatch):
    with cluster(1, processes=False) as client, connect(client.scheduler.address) as other:
        watch, task = Watch(other), other.submit(time.sleep, 0.1)
        other.close()
        stopped = asyncio.new_event_loop()
        with monkeypatch.context() as patch:
            patch.setattr(Client, "loop", SimpleNamespace(asyncio_loop=stopped, add_callback=lambda *_: None))
            found = tasks.error_of(watch, task)
        stopped.close()
    assert isinstance(found, Aborted)


@pytest.mark.parametrize(
    "raised", [RuntimeError("IOLoop is closed"), AttributeError("None"), ClosedClientError("closed")]
)
def test_what_dask_raises_for_a_closed_client(monkeypatch, raised):
    with cluster(1, processes=False) as client, monkeypatch.context() as patch:

        def fail(*_):
            patch.setattr(client, "status", "closed")
            raise raised

        patch.setattr(tasks, "results", fail)
        with pytest.raises(SchedulerError, match=f"{client.scheduler.address} is closed, in the middle of the call"):
            apsp(matrix(5), client=client)


def test_a_request_that_breaks_off_before_the_client_knows(monkeypatch):
    """The connection of one request ends first; the client's own still counts as running."""
    with cluster(1, processes=False) as client:
        address = client.scheduler.address

        async def broken(*_, **__):
            raise CommClosedError("Stream is closed")

        with monkeypatch.context() as patch:
            patch.setattr(client, "run_on_scheduler", broken)
            with pytest.raises(SchedulerError, match=f"a request to the scheduler at {address} broke off: Stream is"):
                apsp(matrix(5), client=client, device="cpu")
        check_apsp(client, 70, np.float32, True)


def test_a_matrix_whose_scheduler_is_gone(monkeypatch):
    with cluster(1, processes=False) as client:
        found = apsp(matrix(5), client=client, device="cpu").distances
        address = client.scheduler.address
        with monkeypatch.context() as patch:
            patch.setattr(client, "status", "connecting")
            with pytest.raises(SchedulerError, match=f"{address} is lost: the blocks of <DistributedMatrix"):
                found.to_numpy()


def test_a_matrix_cannot_be_pickled():
    with cluster(1, processes=False) as client:
        result = apsp(matrix(5), client=client, device="cpu")
        with pytest.raises(InputError, match=r"cannot be pickled: take its \.to_numpy\(\), or \.save\(\) it"):
            pickle.dumps(result)


def test_a_worker_without_numba_is_named(monkeypatch):
    with cluster(1, processes=False) as client:
        monkeypatch.setitem(sys.modules, "numba", None)
        [address] = present(client)
        with pytest.raises(DeviceError, match=rf"the worker {address} cannot run kernels, .*numba"):
            apsp(matrix(5), client=client, device="cpu")


def test_a_scheduler_without_workers(monkeypatch):
    monkeypatch.setattr("mgraph.runtime.dask.survey.NO_WORKERS", 0.5)
    with cluster(0, processes=False) as client:
        with pytest.raises(SchedulerError, match=r"has no workers: start some.*adapt\(minimum=1\)"):
            apsp(matrix(5), client=client)
        assert not client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.tasks)


def test_an_adaptive_cluster_starts_its_first_worker_for_a_call():
    with cluster(0, processes=False) as client:
        client.cluster.adapt(minimum=0, maximum=2, interval="100ms", wait_count=10_000)  # stops none
        check_apsp(client, 20, np.float32, False)


def test_calls_wait_for_workers():
    with cluster(1, processes=False) as client:
        with pytest.raises(InputError, match="wait_for_workers must be an integer"):
            apsp(matrix(5), client=client, wait_for_workers=0)
        address = re.escape(client.scheduler.address)
        too_few = rf"^the scheduler at {address} has 1 worker after 0\.2 s, not wait_for_workers=2: start more"
        with dask.config.set({"mgraph.wait-timeout": "200 ms"}):
            with pytest.raises(SchedulerError, match=too_few):
                apsp(matrix(5), client=client, wait_for_workers=2)
            with pytest.raises(SchedulerError, match=too_few):
                DistributedGraph.from_graph(generate.grid(2, 2), client, wait_for_workers=2)
        joining = threading.Timer(0.3, client.cluster.scale, [2])
        joining.start()
        result = apsp(matrix(20), client=client, device="cpu", wait_for_workers=2)
        assert len(result.plan.devices) == 2
        joining.join()
    with pytest.raises(InputError, match="wait_for_workers goes with client=: give both or neither"):
        apsp(matrix(5), device="cpu", wait_for_workers=2)
    with dask.config.set({"mgraph.wait-timeout": "x"}), pytest.raises(InputError, match="Dask's configuration"):
        watch.wait_timeout()


@pytest.mark.parametrize("given", ["a", "", -1, 0, None, True, [1], float("nan"), float("inf"), 1e-9])
def test_invalid_timeouts_of_connect(given):
    with pytest.raises(InputError, match=r"^timeout must be a number of seconds, 0\.01 or more, .*, got ") as caught:
        connect("tcp://127.0.0.1:1", timeout=given)
    assert str(caught.value).endswith(f"got {given!r}")


def test_a_timeout_of_connect_in_words(client):
    with connect(client.scheduler.address, timeout="1 minute") as other:
        assert present(other) == present(client)
    with connect(client.scheduler.address, timeout=1e300) as other:
        assert present(other) == present(client)


def test_a_worker_that_has_ended_by_itself_hides_no_error(monkeypatch):
    """The user's own error leaves the context, although a process that should be killed has already ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass

    class Ended:
        def __init__(self, **_):
            self.workers = {0: SimpleNamespace(pid=ended.pid), 1: SimpleNamespace(pid=None)}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    module = sys.modules["mgraph.runtime.dask.connect"]
    monkeypatch.setattr(module, "LocalCluster", Ended)
    monkeypatch.setattr(module, "Client", lambda *_, **__: nullcontext(Ended()))
    with pytest.raises(ZeroDivisionError), local_client(1, "cpu"):
        raise ZeroDivisionError


def test_local_workers_that_are_not_closed_are_not_waited_for():
    """Dask would close them again as Python ends, which takes 10 s if Ctrl-C has cut the closing short."""
    with pytest.raises(KeyboardInterrupt), local_client(1, "cpu") as client:
        cluster = client.cluster
        raise KeyboardInterrupt
    assert not cluster.shutdown_on_close


def test_invalid_clients(client):
    with pytest.raises(InputError, match=r"client must be a distributed\.Client"):
        apsp(matrix(5), client=client.cluster)
    with pytest.raises(InputError, match=r"use mgraph\.cluster\.connect\('tcp://127\.0\.0\.1:8786'\), or"):
        apsp(matrix(5), client="tcp://127.0.0.1:8786")
    with pytest.raises(InputError, match="each worker uses the GPU that it sees"):
        apsp(matrix(5), client=client, device="cuda:1")


def test_an_asynchronous_client_is_refused(client):
    import asyncio

    async def call():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            apsp(matrix(5), client=other)

    with pytest.raises(InputError, match="asynchronous"):
        asyncio.run(call())


@pytest.mark.skipif(device.gpu_count() > 0, reason="the workers have GPUs")
def test_workers_without_gpus(client):
    with pytest.raises(DeviceError, match=r"the worker tcp://.* has no usable GPU"):
        apsp(matrix(5), client=client, device="cuda")


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_gpus_give_the_same_bits(gpus):
    for n in (0, 5, 200, 1001):
        for dtype in (np.float32, np.float64, np.int32):
            for span in (None, 1):
                d = matrix(n, dtype)
                direct = apsp(d, predecessors=True, device="cuda")
                found = apsp(d, predecessors=True, client=gpus, span=span)
                assert found.plan.devices[0].kind == "cuda"
                np.testing.assert_array_equal(found.distances.to_numpy(), direct.distances)
                np.testing.assert_array_equal(found.predecessors.to_numpy(), direct.predecessors)
    np.testing.assert_array_equal(gpus.compute(found.distances.to_dask_array()).result(), direct.distances)
    np.testing.assert_array_equal(found.distances[::-7, 3:9], direct.distances[::-7, 3:9])


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")
def test_a_killed_gpu_worker_is_named(gpus):
    d = matrix(500)
    apsp(d, client=gpus)
    workers = len(present(gpus))
    killed = []

    def kill_once(k, of):
        if k > 5 and not killed:
            killed.append(kill_a_worker(gpus))

    started = time.monotonic()
    with pytest.raises(WorkerLostError) as caught:
        apsp(matrix(2000), client=gpus, span=1, progress=kill_once, retries=0)
    assert killed[0] in str(caught.value)
    assert time.monotonic() - started < SOON
    wait_for_workers(gpus, workers)
    np.testing.assert_array_equal(apsp(d, client=gpus).distances.to_numpy(), apsp(d, device="cuda").distances)


def test_a_script_that_starts_workers_as_it_is_imported_is_told_the_remedy(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from mgraph.cluster import local_client\nwith local_client(1, 'cpu'):\n    pass\n")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    says = r"^mgraph\.errors\.WorkerLostError: .*Nanny failed to start.*: a script must call local_client below if"
    assert ended.returncode == 1
    assert re.search(says, ended.stderr, re.M), ended.stderr


def test_a_local_client_that_was_not_entered():
    with pytest.raises(InputError, match=r"with mgraph.cluster.local_client\(2\) as client:"):
        apsp(matrix(5), client=local_client(2, "cpu"))


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_invalid_numbers_of_workers(workers):
    with pytest.raises(InputError, match=f"workers must be an integer of 1 or more, got {workers!r}"):
        local_client(workers)
