"""Memory that GPUs share: mail and lists arrive, and no kernel waits for ever for another one.

Two launches on one GPU stand for two GPUs, each with half a chance to run first.
"""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from mgraph import device
from mgraph.device.peers import HEADER_WORDS, MOST_EXCHANGES, PeerMemory

pytestmark = pytest.mark.gpu

SOURCE = r"""
#include "peers.cuh"

// Send a word and a list to all others in each round, or data without numbers, and check theirs. Words differ from
// round to round and from launch to launch. A list is sent after its mail, so that the others look at its place before:
// there data, if it were taken for a list, would have the number of the next exchange but one. out = the rounds,
// whether a wait ended, and whether all was right.
extern "C" __global__ void rounds(const Peers* table, unsigned most, int length, bool numbered, unsigned* out) {
    __shared__ Peers peers;
    __shared__ unsigned mails[MOST_PEERS][1];
    unsigned number = open_peers(table, peers);
    auto part = [&](int of, int from) {
        return reinterpret_cast<uint2*>(peers.data(of, number, 2 * peers.size * length)) + from * length;
    };
    auto word_of = [&](int gpu, int i) { return gpu * 1000 + i + number; };
    const unsigned announced = numbered ? 0 : UNNUMBERED;
    bool lost = false, right = true;
    unsigned done = 0;
    for (; done < most && !lost && right; ++done) {
        ++number;
        const unsigned mail = announced | word_of(peers.rank, length);
        if (threadIdx.x == 0) mails[peers.rank][0] = mail;
        if (numbered && threadIdx.x < 32) send_mail(peers, number, mail);
        for (int gpu = 0; gpu < peers.size; ++gpu) {
            for (int i = threadIdx.x; gpu != peers.rank && i < length; i += blockDim.x) {
                const unsigned word = word_of(peers.rank, i);
                if (numbered) put_numbered(peers.list(gpu, peers.rank, number) + i, number, word);
                else part(gpu, peers.rank)[i] = make_uint2(word, number + 2);
            }
        }
        if (!numbered) __syncthreads();
        if (!numbered && threadIdx.x < 32) send_mail(peers, number, mail);
        bool failed = !get_mails(peers, number, done == 0, mails), wrong = false;
        for (int gpu = 0; gpu < peers.size && !failed; ++gpu) {
            if (gpu == peers.rank) continue;
            wrong |= mails[gpu][0] != (announced | word_of(gpu, length));
            // In another order than they were written in: a thread reads what other threads wrote.
            for (int i = length - 1 - threadIdx.x; i >= 0 && !failed; i -= blockDim.x) {
                unsigned word;
                const unsigned long long* const entry = peers.list(peers.rank, gpu, number) + i;
                if (numbered) failed = !get_numbered(peers, entry, number, peers.patience, word);
                else word = __ldcg(part(peers.rank, gpu) + i).x;
                wrong |= word != word_of(gpu, i);
            }
        }
        lost = __syncthreads_or(failed);
        right = !__syncthreads_or(wrong && !lost);
    }
    if (threadIdx.x == 0) {
        out[0] = done, out[1] = lost, out[2] = right;
        close_peers(peers, number);
    }
}
"""

LENGTH = 300


@pytest.fixture
def rounds():
    """The kernel."""
    folder = Path(__file__).parents[1] / "kernels"
    return device.find("cuda").xp.RawKernel(SOURCE, "rounds", options=("-std=c++17", f"-I{folder}"))


def spaces(count, **patience):
    """Spaces of one process, which needs no handles."""
    made = [PeerMemory(2 * count * LENGTH * 2, count, **patience) for _ in range(count)]
    for rank, space in enumerate(made):
        space.table = space.table_of([other.address for other in made], rank)
    return made


def begun(rounds, made, most, numbered=True, late=0.0):
    """Launch the kernel for each space, in a stream of its own and so many seconds after the one before.

    Return what they write, and the streams.
    """
    xp = device.find("cuda").xp
    outs = [xp.full(3, 77, np.uint32) for _ in made]
    streams = [xp.cuda.Stream(non_blocking=True) for _ in made]
    xp.cuda.Device().synchronize()  # which would wait for a launch
    for space, out, stream in zip(made, outs, streams, strict=True):
        with stream:
            rounds((1,), (256,), (space.table, np.uint32(most), np.int32(LENGTH), np.bool_(numbered), out))
        time.sleep(late)
    return outs, streams


def ended(launches):
    outs, streams = launches
    for stream in streams:
        stream.synchronize()
    return [out.get().tolist() for out in outs]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("count", [2, 3, 8])
def test_all_that_is_sent_arrives(rounds, numbered, count):
    made = spaces(count)
    for most in (1, 2000, 5):  # the numbers go on from launch to launch
        assert ended(begun(rounds, made, most, numbered)) == [[most, 0, 1]] * count


def test_data_without_numbers_is_not_taken_for_a_list(rounds):
    made = spaces(2)
    for most in (1, 2, 3, 300):
        for numbered in (False, True):
            assert ended(begun(rounds, made, most, numbered)) == [[most, 0, 1]] * 2


def test_spaces_are_used_up_before_the_numbers_come_round(rounds):
    made, xp = spaces(2), device.find("cuda").xp
    for space in made:
        memory = xp.cuda.MemoryPointer(xp.cuda.UnownedMemory(space.address, 4 * HEADER_WORDS, space), 0)
        xp.ndarray(HEADER_WORDS // 2, np.uint64, memory)[-16] = MOST_EXCHANGES - 5
    assert ended(begun(rounds, made, 4)) == [[4, 0, 1]] * 2
    assert not any(space.used_up for space in made)
    assert ended(begun(rounds, made, 1)) == [[1, 0, 1]] * 2
    assert all(space.used_up for space in made)


def test_the_first_wait_of_a_launch_may_be_long(rounds):
    made = spaces(2, patience=10**9)
    for most in (1, 3):
        assert ended(begun(rounds, made, most, late=2.5)) == [[most, 0, 1]] * 2


def test_a_wait_ends_by_the_clock(rounds):
    alone, _ = spaces(2, patience=60 * 10**9, first_patience=50 * 10**6)
    start = time.monotonic()
    assert ended(begun(rounds, [alone], 9)) == [[1, 1, 1]]
    assert 0.04 < time.monotonic() - start < 5


def test_a_wait_ends_by_the_host(rounds):
    alone, _ = spaces(2, patience=60 * 10**9)
    launches = begun(rounds, [alone], 9)
    threading.Timer(0.2, alone.stop).start()
    start = time.monotonic()
    assert ended(launches) == [[1, 1, 1]]
    assert time.monotonic() - start < 10
