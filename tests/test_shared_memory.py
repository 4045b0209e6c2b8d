"""Arrays that workers of this host read from the client's memory: results, bounds, and what is left when a call ends.

The tests let small arrays go that way, by small slots, so that every array comes in many parts.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from distributed import Client

import mgraph
from mgraph import device, limits
from mgraph.errors import InputError, WorkerLostError
from mgraph.graph import in_turn
from mgraph.runtime.dask import Cluster, sending, shared
from mgraph.runtime.dask.comm import Aborted
from mgraph.runtime.dask.driver import forget
from tests.support.clusters import CLUSTER_WARNINGS, clients, kill_a_worker, wait_until

pytestmark = CLUSTER_WARNINGS

client = clients(2, processes=True)

if not hasattr(os, "memfd_create"):
    pytest.skip("no system but Linux has such memory", allow_module_level=True)


def open_here():
    """Return what shows that arrays are lent or borrowed in this process: open memory, and threads."""
    files = []
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            files.append(os.readlink(f"/proc/self/fd/{each}"))
    maps = open("/proc/self/maps").read()
    threads = [
        each.name
        for each in threading.enumerate()
        if each.name.startswith(("mgraph-lend", "mgraph-borrow", "mgraph-read"))
    ]
    return [file for file in files if "memfd:mgraph" in file] + ["mapped"] * ("memfd:mgraph" in maps) + threads


def check_nothing_is_left(there):
    assert open_here() == []
    wait_until(lambda: not any(there.run(open_here, on_error="ignore").values()), 20)


@pytest.fixture
def lending(monkeypatch):
    """The piece of each array that was lent, by slots of a kilobyte."""
    pieces = []
    lent = shared.lent

    def noted(piece, among):
        found = lent(piece, among)
        if found is not None:
            pieces.append(piece)
        return found

    monkeypatch.setattr(shared, "lent", noted)
    for name, value in {"WORTH": 1, "LARGE": 64, "LEAST_SLOT": 1 << 10}.items():
        monkeypatch.setattr(shared, name, value)
    monkeypatch.setattr(sending, "SMALL", 0)
    return pieces


@pytest.fixture
def slowly(lending, monkeypatch):
    """An event that is set once a worker has asked for an array; it gets a part every tenth of a second."""
    asked, copy = threading.Event(), np.copyto

    def copyto(*given):
        if threading.current_thread().name == "mgraph-lend":
            asked.set()
            time.sleep(0.1)
        copy(*given)

    monkeypatch.setattr(shared.np, "copyto", copyto)
    return asked


def matrix(n=150, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    missing = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return np.where(rng.random((n, n)) < 0.1, rng.integers(1, 50, (n, n)), missing).astype(dtype)


GRAPH = mgraph.generate.weighted(mgraph.generate.rmat(11, 8, seed=3), (1, 99))


def test_workers_of_this_host_are_found_by_asking(client):
    there = Cluster(client, "cpu")
    assert there.readers == set(there.addresses) and open_here() == []
    with shared.offered() as token:
        place, content = token
        read = client.run(shared.readable, token)
        assert set(read.values()) == {True}
        others = [
            (place, bytes(16)),
            ((*place[:3], place[3] + 1), content),
            ((place[0], place[1] + 1000, *place[2:]), content),
            ((2**22 + 1, *place[1:]), content),
        ]
        for other in others:
            assert not any(client.run(shared.readable, other).values())
        assert not shared.readable(token)  # this process has the arrays themselves
    assert not any(client.run(shared.readable, token).values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("how", [np.ascontiguousarray, np.asfortranarray, lambda d: np.repeat(d, 2, 1)[:, ::2]])
def test_a_matrix_gives_the_same_bits(client, lending, dtype, how):
    d = how(matrix(dtype=dtype))
    expected = mgraph.apsp(d, predecessors=True, block=32, device="cpu")
    found = mgraph.apsp(d, predecessors=True, block=32, client=client, device="cpu")
    assert len(lending) == 2 and sum(piece.dense.size for piece in lending) == d.size
    for name, array in expected.arrays.items():
        np.testing.assert_array_equal(found.arrays[name].to_numpy(), array)
    closed = mgraph.transitive_closure(d, client=client, device="cpu")
    np.testing.assert_array_equal(closed.to_dense(), mgraph.transitive_closure(d, device="cpu").to_dense())
    assert len(lending) > 2
    check_nothing_is_left(client)


def test_graphs_and_vectors_give_the_same_bits(client, lending):
    calls = [
        lambda graph, **where: mgraph.bfs(graph, 1, **where).distances,
        lambda graph, **where: mgraph.sssp(graph, 1, **where).distances,
        lambda graph, **where: mgraph.connected_components(graph, **where).labels,
        lambda graph, **where: mgraph.distances(graph, [1, 2], **where),
    ]
    for number, call in enumerate(calls):
        np.testing.assert_array_equal(
            np.asarray(call(GRAPH, client=client, device="cpu")), np.asarray(call(GRAPH, device="cpu"))
        )
        assert len(lending) == 2 * (number + 1)
    with mgraph.DistributedGraph.from_graph(GRAPH, client, device="cpu") as there:
        assert len(lending) == 10
        _, _, weights = GRAPH.csc()
        longer = there.with_weights(weights * 3)
        assert len(lending) == 12
        for ours, theirs in zip(longer.to_graph().csr(), GRAPH.with_weights(weights * 3).csr(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    check_nothing_is_left(client)


def test_other_workers_get_messages(client, lending, monkeypatch):
    """Also where the memory is short, and where only some workers can read it."""
    d, expected = matrix(), mgraph.apsp(matrix(), device="cpu").distances

    def check(lent):
        lending.clear()
        np.testing.assert_array_equal(mgraph.apsp(d, client=client, device="cpu").distances.to_numpy(), expected)
        assert len(lending) == lent

    with monkeypatch.context() as patched:
        patched.delattr(os, "memfd_create")
        check(0)
    with monkeypatch.context() as patched:
        patched.setattr(shared.limits, "available_memory", lambda: 1000)
        check(0)
    with monkeypatch.context() as patched:
        patched.setattr(shared, "memory_file", lambda size, memory=shared.memory_file: None if size else memory(size))
        check(0)
    forget(client)
    found = Cluster.__init__

    def only_one(cluster, *given, **options):
        found(cluster, *given, **options)
        cluster.readers = frozenset(sorted(cluster.readers)[:1])

    with monkeypatch.context() as patched:
        patched.setattr(Cluster, "__init__", only_one)
        check(1)
    forget(client)
    check(2)
    check_nothing_is_left(client)


def test_a_buffer_has_a_bound(monkeypatch):
    piece = [np.ones(1 << 24, np.uint8)]
    most = shared.SLOTS * shared.SLOT
    assert most <= 1 << 25
    for free in (1 << 40, 1 << 27, 1 << 24):
        monkeypatch.setattr(limits, "available_memory", lambda free=free: free)
        for among in (1, 4):
            found = shared.lent(piece, among)
            if found is None:
                assert free * shared.MOST_OF_MEMORY < among * shared.SLOTS * shared.LEAST_SLOT
                continue
            parcel, lent = found
            with contextlib.closing(lent):
                size = os.stat(f"/proc/self/fd/{parcel.buffer.memory.descriptor}").st_size
                assert size == shared.SLOTS * parcel.buffer.slot <= min(most, free * shared.MOST_OF_MEMORY / among)
                assert os.stat(f"/proc/self/fd/{parcel.buffer.memory.descriptor}").st_mode & 0o777 == 0o600
    assert open_here() == []


@pytest.mark.parametrize("shape", [(40, 70), (3, 5000), (700, 1), (99,), (5000,)])
@pytest.mark.parametrize("dtype", [bool, np.int16, ">f4", np.complex128])
def test_every_part_arrives(shape, dtype, lending):
    """Of rows that are longer than a slot, too."""
    rng = np.random.default_rng(1)
    array = rng.integers(0, 2 if dtype is bool else 999, shape).astype(dtype)
    small, cpu = np.arange(3), device.find("cpu")
    parcel, lent = shared.lent((array, [array, small], {"larger": np.resize(array, 3 * array.size)}), 1)
    with contextlib.closing(lent), shared.unpacked(parcel, cpu, lambda: False) as (found, (again, few), more):
        assert again is found
        np.testing.assert_array_equal(few, small)
        np.testing.assert_array_equal(more["larger"], np.resize(array, 3 * array.size))
        if array.ndim == 2:
            whole = np.zeros(shape, dtype)
            for rows, part in in_turn(found):
                whole[rows] = part
            del part
            np.testing.assert_array_equal(whole, array)
            rectangle = np.asarray(found[1:, shape[1] // 2 :])
            np.testing.assert_array_equal(rectangle, array[1:, shape[1] // 2 :])
        else:
            assert found.flags.writeable and found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
    assert open_here() == []


def test_what_is_lent_no_more_cannot_be_read(lending):
    cpu, d = device.find("cpu"), matrix()
    parcel, lent = shared.lent((d,), 1)
    with shared.unpacked(parcel, cpu, lambda: True) as (found,):
        lent.close()
        with pytest.raises(Aborted):
            np.asarray(found)
    with pytest.raises(Aborted, match="cannot be read any more"), shared.unpacked(parcel, cpu, lambda: False):
        pass
    parcel, lent = shared.lent((d,), 1)
    with contextlib.closing(lent):
        # As of a client that is stopped, of which the call has been given up.
        lent.channel.stop()
        lent.server.join()
        with shared.unpacked(parcel, cpu, lambda: True) as (found,), pytest.raises(Aborted):
            np.asarray(found)
    assert open_here() == []


def test_nothing_is_left_of_a_call_that_fails(client, lending):
    d = matrix()
    d[3, 4] = np.nan
    with pytest.raises(InputError, match=r"entry \(3, 4\)"):
        mgraph.apsp(d, client=client, device="cpu")
    d = np.full((150, 150), 2.0**29)
    d[-1, 0] = 2.0**1000
    with pytest.raises(mgraph.DistanceOverflowError):
        mgraph.apsp(d, dtype="float32", client=client, device="cpu")
    assert len(lending) == 2
    check_nothing_is_left(client)


def test_nothing_is_left_when_a_worker_is_killed(mortals, slowly):
    d = matrix()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(mgraph.apsp, d, client=mortals, device="cpu", retries=0)
        assert slowly.wait(60)
        kill_a_worker(mortals)
        with pytest.raises(WorkerLostError):
            call.result()
    check_nothing_is_left(mortals)
    wait_until(lambda: len(mortals.run(os.getpid, on_error="ignore")) == 2)


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt: a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_nothing_is_left_of_an_interrupted_call(client, slowly, interruptible):
    def interrupt():
        if slowly.wait(60):  # else nothing was lent, and the call has ended
            # To the waiting thread: one that another thread receives does not wake it.
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    for call in (mgraph.apsp, mgraph.DistributedGraph.from_graph):
        slowly.clear()
        thread = threading.Thread(target=interrupt)
        thread.start()
        given = (matrix(), None) if call is mgraph.apsp else (GRAPH, client)
        with pytest.raises(KeyboardInterrupt):
            call(*given[:1], client=client, device="cpu")
        thread.join()
        check_nothing_is_left(client)


class Unpickled(Exception):
    def __init__(self, one, two):
        super().__init__("it cannot be pickled")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(5, "the disk is broken"), (OSError, "the disk is broken")),
        (ValueError("wrong"), (ValueError, "wrong")),
        (Unpickled(1, 2), (RuntimeError, "Unpickled: it cannot be pickled")),
        (ValueError("x" * 10_000), (RuntimeError, "ValueError: xxx")),
    ],
)
def test_an_error_of_a_thread_that_lends_is_raised(client, lending, monkeypatch, error, expected):
    found, copy = mgraph.apsp(matrix(), client=client, device="cpu").distances, np.copyto

    def fails(*given):
        if threading.current_thread().name == "mgraph-lend":
            raise type(error)(*error.args) if type(error) is not Unpickled else Unpickled(1, 2)
        copy(*given)

    with monkeypatch.context() as patched:
        patched.setattr(shared.np, "copyto", fails)
        with pytest.raises(expected[0], match=expected[1]):
            mgraph.apsp(matrix(), client=client, device="cpu")
        with pytest.raises(expected[0], match=expected[1]):
            mgraph.DistributedGraph.from_graph(GRAPH, client, device="cpu")
        # And of one that serves: this process is the worker.
        channel = shared.channel(1 << 16, 1)
        served = threading.Thread(target=shared.serve, args=(np.ones(1 << 10), channel.buffer))
        with contextlib.closing(channel):
            served.start()
            with pytest.raises(expected[0], match=expected[1]):
                channel.read(np.empty(1 << 10), lambda: not served.is_alive())
            served.join()
    check_nothing_is_left(client)
    np.testing.assert_array_equal(found.to_numpy(), mgraph.apsp(matrix(), device="cpu").distances)


def test_what_a_worker_has_read_is_freed_while_others_still_read(lending):
    d = matrix()
    parcel, lent = shared.lent((d,), 1)
    gone = weakref.ref(d)
    del d
    lending.clear()
    with contextlib.closing(lent):
        with shared.unpacked(parcel, device.find("cpu"), lambda: False) as (found,):
            np.testing.assert_array_equal(np.asarray(found), matrix())
            assert gone() is not None
        wait_until(lambda: gone() is None)
    assert open_here() == []


def test_two_clients_lend_at_once(client, lending, slowly):
    expected = mgraph.apsp(matrix(), device="cpu").distances
    with Client(client.scheduler.address) as other, ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(mgraph.apsp, matrix(), client=each, device="cpu") for each in (client, other, client, other)
        ]
        for call in calls:
            np.testing.assert_array_equal(call.result().distances.to_numpy(), expected)
        del calls, call
        assert len(lending) == 8
    check_nothing_is_left(client)


KILLED = """
import sys, time, threading
import numpy as np
from distributed import Client
import mgraph
from mgraph.runtime.dask import sending, shared
shared.WORTH, shared.LARGE, shared.LEAST_SLOT, sending.SMALL = 1, 64, 1 << 10, 0
copy = np.copyto
def copyto(*given):
    if threading.current_thread().name == "mgraph-lend":
        print("lending", flush=True)
        time.sleep(0.1)
    copy(*given)
np.copyto = copyto
with Client(sys.argv[1]) as client:
    mgraph.apsp(np.ones((150, 150), np.float32), client=client, device="cpu")
"""


def test_results_come_from_workers_of_this_host(client, lending, monkeypatch):
    """By messages if a worker does not share memory, or stops to serve."""
    d, read = matrix(), shared.Channel.read
    expected = mgraph.apsp(d, predecessors=True, device="cpu")
    found = mgraph.apsp(d, predecessors=True, client=client, device="cpu")
    reads = []

    def noted(channel, target, ended):
        found = read(channel, target, ended)
        reads.extend([target.nbytes] * found)
        return found

    def check(count):
        reads.clear()
        for name, array in expected.arrays.items():
            np.testing.assert_array_equal(found.arrays[name].to_numpy(), array)
        assert len(reads) == count
        check_nothing_is_left(client)

    monkeypatch.setattr(shared.Channel, "read", noted)
    check(4)
    with monkeypatch.context() as patched:
        patched.setattr(shared, "WORTH", 1 << 30)
        check(0)
    with monkeypatch.context() as patched:
        opened = shared.opening
        patched.setattr(shared, "opening", lambda file: opened(file)._replace(inode=0))
        check(0)
    with monkeypatch.context() as patched:
        patched.setattr(
            shared.Reader, "filled_slot", lambda reader: time.sleep(0.2) or (_ for _ in ()).throw(Aborted())
        )
        check(0)
    check(4)


def test_a_worker_that_serves_is_killed(mortals, lending, monkeypatch):
    found = mgraph.apsp(matrix(), client=mortals, device="cpu").distances
    filled, begun = shared.Reader.filled_slot, threading.Event()

    def slow(reader):
        begun.set()
        time.sleep(0.1)
        return filled(reader)

    monkeypatch.setattr(shared.Reader, "filled_slot", slow)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(found.to_numpy)
        assert begun.wait(60)
        kill_a_worker(mortals)
        with pytest.raises(WorkerLostError):
            reading.result()
    check_nothing_is_left(mortals)
    wait_until(lambda: len(mortals.run(os.getpid, on_error="ignore")) == 2)


def test_a_worker_does_not_wait_for_a_client_that_is_stopped(monkeypatch):
    monkeypatch.setattr(shared, "PATIENCE", 0.1)
    channel = shared.channel(1 << 23, 1)
    with contextlib.closing(channel):
        shared.serve(np.ones(1 << 20), channel.buffer)  # returns
    assert open_here() == []


def test_nothing_is_left_of_a_client_that_is_killed(client):
    address = client.scheduler.address
    killed = subprocess.Popen([sys.executable, "-c", KILLED, address], stdout=subprocess.PIPE, text=True)
    try:
        assert killed.stdout.readline() == "lending\n"
        assert any(client.run(open_here).values())
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
    finally:
        killed.kill()
        killed.stdout.close()
    check_nothing_is_left(client)
    np.testing.assert_array_equal(
        mgraph.apsp(matrix(), client=client, device="cpu").distances.to_numpy(),
        mgraph.apsp(matrix(), device="cpu").distances,
    )
