"""The kernels of ``kernels/strong.cu`` for the CPU: the same operations on the same arrays, on all cores.

That file's opening explains the algorithm and why cores may read and write marks and keys at the same time. A core may
overwrite a greater key here; then another pass follows, as a key has changed. `complete` is, on one core, the search
of D. J. Pearce, "An improved algorithm for finding the strongly connected components of a directed graph", 2005. In a
small graph, one core does all.
"""

import numpy as np

from ...device.numba import prange
from ...device.numba.caching import njit
from ...device.numba.small import VERTICES, is_small, unless

#: The methods of strong components that the CPU has.
METHODS = ("sequential", "multistep", "colouring")

CONTROL_WORDS = 6
ROUNDS = 5

_PUSHES, _PULLS = 64, 16  # the most rounds of the searches for the giant component
_PROBES = 1024  # edges whose targets `pivot` looks at
_GOLDEN = np.uint64(2654435769)  # 2^32 over the golden ratio: its multiples are spread evenly
_CHUNK = 1024  # vertices that a core takes at a time
_LABELLED = np.uint32(0xFFFFFFFF)


@njit(nogil=True, cache=True)
def _key_of(v):
    mixed = np.uint32(np.uint32(v) * np.uint32(0x85EBCA6B))  # Numba's products of 32 bits have 64
    return np.uint32((mixed ^ mixed >> np.uint32(16)) * np.uint32(0xC2B2AE35))


@njit(nogil=True, cache=True)
def _vertex_of(key):
    mixed = np.uint32(key * np.uint32(0x7ED1B41D))  # by the inverses modulo 2^32 of the multipliers above
    return np.uint32((mixed ^ mixed >> np.uint32(16)) * np.uint32(0xA5CB9243))


def pivot(indptr, indices, chosen):
    places = (np.arange(_PROBES, dtype=np.uint64) * _GOLDEN & np.uint64(0xFFFFFFFF)) >> np.uint64(8)
    targets, counts = np.unique(indices[places * np.uint64(len(indices)) >> np.uint64(24)], return_counts=True)
    degrees = (indptr[targets + 1] - indptr[targets]).astype(np.int64)
    chosen[0] = targets[(degrees * counts).argmax()]


def find_giant(indptr, indices, chosen, forward, backward, labels, control):
    first = int(chosen[0])
    for marks in forward, backward:
        marks.fill(0)
        marks[first : first + 1] = 1  # none for -1
    ends = any(not _changes(_push, indptr, indices, level, forward) for level in range(1, _PUSHES))
    if not ends or all(_changes(_pull, indptr, indices, forward, backward) for _ in range(_PULLS)):
        forward.fill(0)
        backward.fill(0)
    _divide(backward, backward.argmax(), labels)


def colour(indptr, indices, forward, labels, classes, reached, reaches, control):
    _start(forward, labels, classes, reached, reaches)
    left = True
    while left:
        while _changes(_spread, indptr, indices, classes, reached, reaches):
            _jump(classes, reached, reaches)
        left = _changes(_settle, classes, reached, reaches, labels)
        control[ROUNDS] += 1


def _changes(operation, *arguments):
    """Run an operation whose last argument is a flag; return whether it has set it."""
    active = np.zeros(1, np.int32)
    operation(*arguments, active)
    return bool(active[0])


@unless(is_small)
def _push(indptr, indices, level, forward, active):
    """Mark what the vertices of a level have edges to with the next level; set `active` if there is any."""
    for part in prange((len(forward) + _CHUNK - 1) // _CHUNK):
        found = 0
        for v in range(part * _CHUNK, min(len(forward), (part + 1) * _CHUNK)):
            if forward[v] == level:
                for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
                    u = np.uint32(indices[e])
                    if forward[u] == 0:
                        forward[u] = level + 1
                        found = 1
        if found:
            active[0] = 1


@unless(is_small)
def _pull(indptr, indices, forward, backward, active):
    """Mark vertices that are marked in `forward` and have an edge to a marked one; set `active` if there is any."""
    for part in prange((len(forward) + _CHUNK - 1) // _CHUNK):
        found = 0
        for v in range(part * _CHUNK, min(len(forward), (part + 1) * _CHUNK)):
            if forward[v] != 0 and backward[v] == 0:
                for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
                    if backward[np.uint32(indices[e])] != 0:
                        backward[v] = 1
                        found = 1
                        break
        if found:
            active[0] = 1


@unless(lambda backward, *_: len(backward) <= VERTICES)
def _divide(backward, giant, labels):
    """Label the vertices with a mark with `giant`, the others with -1."""
    for v in prange(len(labels)):
        labels[v] = giant if backward[v] != 0 else -1


@unless(is_small)
def trim(indptr, indices, labels):
    for part in prange((len(labels) + _CHUNK - 1) // _CHUNK):
        for v in range(part * _CHUNK, min(len(labels), (part + 1) * _CHUNK)):
            if labels[v] < 0:
                alone = True
                for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
                    u = np.uint32(indices[e])
                    if labels[u] < 0 and u != v:
                        alone = False
                        break
                if alone:
                    labels[v] = v


@unless(lambda forward, *_: len(forward) <= VERTICES)
def _start(forward, labels, classes, reached, reaches):
    """Give every vertex its own key, and a class: 0 if it is labelled, else by its mark."""
    for v in prange(len(labels)):
        classes[v] = 0 if labels[v] >= 0 else (1 if forward[v] != 0 else 2)
        reached[v] = reaches[v] = _key_of(v)


@unless(is_small)
def _spread(indptr, indices, classes, reached, reaches, active):
    """Pass keys on along the edges within a class, in both directions; set `active` if a key changed."""
    for part in prange((len(classes) + _CHUNK - 1) // _CHUNK):
        found = 0
        for v in range(part * _CHUNK, min(len(classes), (part + 1) * _CHUNK)):
            if classes[v] != 0:
                for e in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
                    u = np.uint32(indices[e])
                    if classes[u] == classes[v]:
                        if reached[v] > reached[u]:
                            reached[u] = reached[v]
                            found = 1
                        if reaches[u] > reaches[v]:
                            reaches[v] = reaches[u]
                            found = 1
        if found:
            active[0] = 1


@njit(nogil=True, cache=True)
def _last_key(keys, key):
    """Follow the vertices that keys name to the greatest key."""
    while True:
        after = keys[_vertex_of(key)]
        if after <= key:
            return key
        key = after


@unless(lambda classes, *_: len(classes) <= VERTICES)
def _jump(classes, reached, reaches):
    """Follow the vertices that the keys name to the greatest key."""
    for v in prange(len(classes)):
        if classes[v] != 0:
            before = _last_key(reached, reached[v])
            after = _last_key(reaches, reaches[v])
            reached[v], reaches[v] = before, after
            first, last = _vertex_of(before), _vertex_of(after)  # one reaches v, which reaches the other
            reached[last] = max(reached[last], before)
            reaches[first] = max(reaches[first], after)


@unless(lambda classes, *_: len(classes) <= VERTICES)
def _settle(classes, reached, reaches, labels, active):
    """Label the vertices whose keys are the same; start again with the others, and set `active` if there are any."""
    for part in prange((len(classes) + _CHUNK - 1) // _CHUNK):
        left = 0
        for v in range(part * _CHUNK, min(len(classes), (part + 1) * _CHUNK)):
            if classes[v] != 0:
                if reached[v] == reaches[v]:
                    labels[v] = _vertex_of(reached[v])
                    classes[v] = 0
                else:
                    both = _key_of(reached[v] ^ _key_of(reaches[v]))
                    classes[v] = max(np.uint32(1), _key_of(classes[v] ^ both))
                    reached[v] = reaches[v] = _key_of(v)
                    left = 1
        if left:
            active[0] = 1


@njit(nogil=True, cache=True)
def _write_component(path, top, v, low, labels, numbers, component):
    """Label v and the vertices from place `top` on with numbers of `low` or more; return the place behind them."""
    least, begin = v, top
    while top < len(labels) and numbers[path[top]] >= low:
        least = min(least, path[top])
        top += np.uint32(1)
    for at in range(begin, top):
        labels[path[at]] = least
        numbers[path[at]] = component
    labels[v] = least
    numbers[v] = component
    return top


@njit(nogil=True, cache=True)
def complete(indptr, indices, labels, numbers, stack, cursors, lowered):
    """Label the vertices without a label, on one core, each with the least vertex of its component.

    At the end `numbers` is 2^32 - 2 for the vertices of the first component that is complete, one less for the next,
    and so on, and 2^32 - 1 for vertices with a label before. Vertices are taken in ascending order, and the edges of
    each from the last to the first.

    The path of the search stands at the beginning of `stack`, with the place behind the next edge of each of its
    vertices in `cursors`, and in `lowered` whether it reaches an earlier vertex. Vertices that the search has left and
    whose component is not complete yet stand at the end.
    """
    n, one, next_row = np.uint32(len(labels)), np.uint32(1), np.uint64(1)
    path = stack.view(np.uint32)
    for v in range(n):
        numbers[v] = np.uint32(0) if labels[v] < 0 else _LABELLED
    index, top, component = one, n, np.uint32(_LABELLED - one)
    for root in range(n):
        if numbers[root] != 0:
            continue
        numbers[root] = index
        index += one
        path[0] = root
        cursors[0] = indptr[root + next_row]
        lowered[0] = 0
        depth = one
        while depth > 0:
            place = np.uint32(depth - one)
            v = np.uint64(path[place])
            first, low, lower = np.uint64(indptr[v]), numbers[v], lowered[place]
            e = np.uint64(cursors[place])
            deeper = False
            while e > first:
                u = np.uint64(np.uint32(indices[e - next_row]))
                number = numbers[u]
                if number == 0:
                    cursors[place] = e  # this edge is read again behind u
                    numbers[u] = index
                    index += one
                    path[depth] = u
                    cursors[depth] = indptr[u + next_row]
                    lowered[depth] = 0
                    depth += one
                    deeper = True
                    break
                if number < low:
                    low = number
                    lower = 1
                e -= next_row
            numbers[v] = low
            if deeper:
                lowered[place] = lower
                continue
            depth = place
            if lower:
                top -= one
                path[top] = v
                continue
            begin, top = top, _write_component(path, top, np.uint32(v), low, labels, numbers, component)
            component -= one
            index -= np.uint32(top - begin) + one
