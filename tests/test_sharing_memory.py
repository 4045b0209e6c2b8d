"""When GPUs share memory, and what they remember of it; arrays of NumPy and a communicator of one stand for them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mgraph import device as devices
from mgraph.runtime.communicator import Nccl, sharing_host

RANGES = ((0, 32), (32, 50))


class CudaError(Exception):
    def __init__(self, status):
        self.status = status


class Both(Nccl):
    """The communicator of two shards that do the same."""

    def allgather(self, whole, parts):
        whole[:] = np.tile(whole[slice(*parts[0])], len(parts))

    def allreduce(self, array, op):
        pass


@pytest.fixture
def shared(monkeypatch):
    """What the GPUs have shared: its words, in order. `limit` are too many words, and `status` that error's."""
    given = SimpleNamespace(words=[], closed=0, limit=1000, status=2, reached=True)

    class Space:
        handle, used_up, table = b"h" * devices.HANDLE_BYTES, False, None

        def __init__(self, words, shards):
            if words >= given.limit:
                raise CudaError(given.status)
            self.words = words
            given.words.append(words)

        def open(self, handles, rank):
            self.table = [*handles]
            return given.reached

        def close(self):
            given.closed += 1

    cuda = SimpleNamespace(runtime=SimpleNamespace(CUDARuntimeError=CudaError))
    xp = SimpleNamespace(zeros=np.zeros, asarray=np.asarray, full=np.full, cuda=cuda)
    monkeypatch.setattr(devices, "PeerMemory", Space)
    monkeypatch.setattr(devices, "find", lambda kind: SimpleNamespace(xp=xp, asarray=np.asarray))
    nccl = SimpleNamespace(NcclCommunicator=lambda *_: None)
    monkeypatch.setattr(devices, "nccl", lambda: nccl)
    monkeypatch.delenv("NCCL_P2P_DISABLE", raising=False)
    return given


def test_memory_is_shared_once_and_grows(shared):
    comm = Both(b"", 0, 2)
    assert [comm.meeting(words, RANGES).bounds.tolist() for words in (10, 10, 500, 20)] == [[0, 32, 50]] * 4
    assert shared.words == [10, 500] and shared.closed == 1
    assert comm.meeting_way == f"within the launch, by {comm.shared:,} bytes that each of the 2 GPUs shares"
    assert comm.shared == devices.shared_bytes(500, 2) and not comm.is_apart


def test_too_many_words_are_remembered_and_fewer_are_shared(shared):
    comm = Both(b"", 0, 2)
    assert comm.meeting(10, RANGES) is not None
    for _ in range(2):
        assert comm.meeting(2000, RANGES) is None
        assert comm.meeting_way == "by NCCL, as not all GPUs have memory to share"
        assert comm.meeting(20, RANGES) is not None
        assert comm.meeting_way.startswith("within the launch")
    shared.limit = 1 << 20
    assert comm.meeting(2000, RANGES) is None  # a search must not begin to share memory midway
    assert shared.words == [10, 20] and not comm.is_apart


@pytest.mark.parametrize("why", ["not reached", "no handles", "disabled", "other hosts"])
def test_gpus_that_cannot_share_memory_do_not_ask_again(shared, monkeypatch, why):
    if why == "not reached":
        shared.reached = False
    elif why == "no handles":
        shared.limit, shared.status = 0, 801  # cudaErrorNotSupported
    elif why == "disabled":
        monkeypatch.setenv("NCCL_P2P_DISABLE", "1")
        assert sharing_host() == ""
    else:  # which are not known without this file
        monkeypatch.setattr(Path, "exists", lambda _: False)
    comm = Both(b"", 0, 2)
    assert comm.meeting(10, RANGES) is None and comm.meeting(5, RANGES) is None
    said = "NCCL_P2P_DISABLE is 1" if why == "disabled" else "not all GPUs reach the memory of the others"
    assert comm.meeting_way == f"by NCCL, as {said}"
    assert len(shared.words) <= 1 and comm.is_apart and comm.shared == 0


def test_more_gpus_than_a_table_has_room_for(shared):
    comm = Both(b"", 0, devices.MOST_PEERS + 1)
    assert comm.meeting(1, RANGES) is None and not comm.is_apart and not shared.words
