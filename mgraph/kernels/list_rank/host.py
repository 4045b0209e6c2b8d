"""The list ranking kernels of ``kernels/list_rank.cu`` for the CPU, and a sequential method.

The operations and arrays are the same; that file's opening explains the algorithm and the encoding. A core runs several
walks at a time, one hop of each in turn. It loads all their next elements before it uses them, so that memory serves
many requests at once; a single walk would wait for each.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.atomics import fetch_and_add, fetch_and_or
from ...device.numba.caching import njit

#: Places of the kernels' counts in the control words.
TANGLED, WALKED, UNRANKED = 1, 2, 3
CONTROL_WORDS = 4

#: Walks that a core runs at a time.
WALKERS = 32

_STRATA = 1024  # that a core takes at a time
_ALONE = 1 << 16  # words that one core handles before a second one would have woken up

# As in kernels/list_rank.cu.
_PATIENCE = 64
_END = 0xFFFFFFFF
_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@njit(nogil=True, cache=True)
def sequential(succ, ranks, way):
    """Rank by walking along each list; return -1, or an element that leads to no end, on a cycle if there is one.

    `way` has room for the elements of a list. Ranks are -1 until an element is met, -2 until the end is known.
    """
    n = len(succ)
    ranks[:] = -1
    for start in range(n):
        at, length = start, 0
        while ranks[at] == -1:
            ranks[at] = -2
            way[length] = at
            length += 1
            following = succ[at]
            if not 0 <= following < n:
                return at
            at = following
        if length == 0:
            continue
        rank = ranks[at]
        if rank == -2:
            if way[length - 1] != at:
                return at
            rank = -1  # the last points to itself
        for back in range(length - 1, -1, -1):
            rank += 1
            ranks[way[back]] = rank
    return -1


def marks(xp, n):
    """Return a byte for each of `n` elements, with none marked; cores can write bytes at the same time."""
    return xp.zeros(n, np.uint8)


@njit(inline="always")
def _word(number, distance):
    return np.uint64(number) << _HALF | np.uint64(distance)


@njit(inline="always")
def splitter(stratum, shift, n):
    """Return the element of a stratum that is its splitter."""
    x = np.uint64(stratum)
    x = (x ^ x >> np.uint64(16)) * np.uint64(0x85EBCA6B) & _WORD
    x = (x ^ x >> np.uint64(13)) * np.uint64(0xC2B2AE35) & _WORD
    x ^= x >> np.uint64(16)
    base = np.int64(stratum) << shift
    picked = base + np.int64(x & np.uint64((1 << shift) - 1))
    return picked if picked < n else base


@njit(parallel=True, nogil=True, cache=True)
def walk(succ, shift, first, last, owners, steps, chain, control):
    for part in prange((last - first + _STRATA - 1) // _STRATA):
        begin = first + part * _STRATA
        hops, lost = _walk_together(succ, shift, begin, min(last, begin + _STRATA), owners, steps, chain)
        fetch_and_add(control, WALKED, hops)
        if lost:
            fetch_and_or(control, TANGLED, 1)


@njit(nogil=True, cache=True)
def _walk_together(succ, shift, first, last, owners, steps, chain):
    """Walk from some splitters, several at a time; return the steps of all, and the number of abandoned walks."""
    n = len(succ)
    longest = _PATIENCE << shift
    packed = len(steps) == 0
    own = np.empty(WALKERS, np.int64)
    at = np.empty(WALKERS, np.int64)
    distance = np.empty(WALKERS, np.int64)
    following = np.empty(WALKERS, np.int64)
    active = min(WALKERS, last - first)
    for k in range(active):
        own[k], at[k], distance[k] = first + k, splitter(first + k, shift, n), 0
    coming = first + active
    walked, lost = 0, 0
    while active > 0:
        for k in range(active):  # unsigned, so that Numba does not check for negative indices
            following[k] = succ[np.uint64(at[k])]
        if packed:
            for k in range(active):
                owners[np.uint64(at[k])] = _word(own[k], distance[k])
        else:
            for k in range(active):
                owners[np.uint64(at[k])] = own[k]
                steps[np.uint64(at[k])] = distance[k]
        for k in range(active - 1, -1, -1):
            coming_to = following[k]
            distance[k] += 1
            ends = coming_to == at[k]
            out = not 0 <= coming_to < n
            arrives = not out and coming_to == splitter(coming_to >> shift, shift, n)
            if not (ends or arrives or out or distance[k] == longest):
                at[k] = coming_to
                continue
            if ends:
                chain[own[k]] = _word(_END, distance[k] - 1)
            elif arrives:
                chain[own[k]] = _word(coming_to >> shift, distance[k])
            else:
                lost += 1
            walked += distance[k]
            if coming < last:
                own[k], at[k], distance[k] = coming, splitter(coming, shift, n), 0
                coming += 1
            else:  # the last of the active ones, which has made its hop, moves up
                active -= 1
                own[k], at[k], distance[k] = own[active], at[active], distance[active]
        if lost:
            break
    return walked, lost


@njit(parallel=True, nogil=True, cache=True)
def link(succ, chain):
    for i in prange(len(succ)):
        following = succ[i] if 0 <= succ[i] < len(succ) else i
        chain[i] = _word(_END, 0) if succ[i] == i else _word(following, 1)


def jump(chain, first, last, step, rounds, open_words):
    """Run `rounds` rounds of pointer jumping on words `first` to `last`, starting with round `step`.

    ``open_words[1 + k]`` is nonzero if round k left a word that does not point to an end.
    """
    jump_them = _jump_some if last - first <= _ALONE else _jump_together
    for number in range(step, step + rounds):
        if number > 0 and not open_words[number]:
            return
        open_words[1 + number] = jump_them(chain, first, last)


@njit(nogil=True, cache=True)
def _jump_some(chain, first, last):
    still = False
    for i in range(first, last):
        mine = chain[i]
        following = mine >> _HALF
        if following != _WORD:
            there = chain[following]
            chain[i] = there >> _HALF << _HALF | (mine + there) & _WORD
            still |= there >> _HALF != _WORD
    return still


@njit(parallel=True, nogil=True, cache=True)
def _jump_together(chain, first, last):
    parts = (last - first + _ALONE - 1) // _ALONE
    still = np.zeros(parts, np.bool_)
    for part in prange(parts):
        begin = first + part * _ALONE
        still[part] = _jump_some(chain, begin, min(last, begin + _ALONE))
    return still.any()


@njit(parallel=True, nogil=True, cache=True)
def aggregate(owners, steps, chain, ranks):
    packed = len(steps) == 0
    for i in prange(len(ranks)):
        if packed:
            owner, distance = np.uint64(owners[i]) >> _HALF, np.int64(np.uint64(owners[i]) & _WORD)
        else:
            owner, distance = np.uint64(owners[i]), np.int64(steps[i])
        ranks[i] = -1 if owner == _WORD else np.int64(chain[owner] & _WORD) - distance


@njit(parallel=True, nogil=True, cache=True)
def sift(succ, ranks, first, unranked, control):
    """Count the elements from `first` on without a rank, and list them if there is room."""
    parts = (len(ranks) + _ALONE - 1) // _ALONE
    counts = np.zeros(parts, np.int64)
    for part in prange(parts):
        out = False
        for i in range(part * _ALONE, min(len(ranks), (part + 1) * _ALONE)):
            if ranks[i] < 0:
                counts[part] += 1
                out |= not 0 <= succ[first + i] < len(succ)
        if out:
            fetch_and_or(control, TANGLED, 1)
    ends = np.cumsum(counts)
    total = counts.sum()
    control[UNRANKED] += np.uint64(total)
    if total <= len(unranked):
        for part in prange(parts):
            if counts[part]:
                found = np.flatnonzero(ranks[part * _ALONE : (part + 1) * _ALONE] < 0)
                unranked[ends[part] - counts[part] : ends[part]] = first + part * _ALONE + found


@njit(nogil=True, cache=True)
def number(elements, ranks):
    for k in range(len(elements)):
        ranks[elements[k]] = -2 - k


@njit(nogil=True, cache=True)
def follow(succ, elements, ranks, beyond):
    """Write what stands for the rank of the element behind each of `elements`, -1 behind a last one."""
    for k in range(len(elements)):
        following = succ[elements[k]]
        beyond[k] = -1 if following == elements[k] else ranks[following]


@njit(nogil=True, cache=True)
def relink(beyond, chain):
    for k in range(len(beyond)):
        chain[k] = _word(-2 - beyond[k], 1) if beyond[k] < -1 else _word(_END, beyond[k] + 1)


@njit(nogil=True, cache=True)
def enter(chain, elements, ranks):
    for k in range(len(elements)):
        ranks[elements[k]] = np.int64(chain[k] & _WORD)


@njit(parallel=True, nogil=True, cache=True)
def mark(succ, ranks, marked):
    for i in prange(len(succ)):
        if ranks[i] < 0 and succ[i] != i:
            marked[succ[i]] = 1


@njit(parallel=True, nogil=True, cache=True)
def complete(succ, shift, marked, ranks, control):
    longest = _PATIENCE << shift
    for head in prange(len(succ)):
        if ranks[head] < 0 and not marked[head] and not control[TANGLED]:
            if not _complete_from(succ, np.int64(head), longest, ranks):
                control[TANGLED] = 1


@njit(nogil=True, cache=True)
def _complete_from(succ, head, longest, ranks):
    """Rank the elements from `head` on; False if the way to a known rank is too long."""
    at, distance = head, 0
    rank = ranks[at]
    while rank < 0:
        following = succ[at]
        if following == at:
            rank = 0
            break
        distance += 1
        if distance > longest:
            return False
        at = following
        rank = ranks[at]
    rank += distance
    at = head
    for rank_there in range(rank, rank - distance - 1, -1):
        ranks[at] = rank_there
        at = succ[at]
    return True
