"""Launches of the kernels of ``kernels/list_rank.cu``: the operations of `mgraph.kernels.list_rank.host`."""

from typing import Any

import numpy as np

from ...arrays import Array
from ...device import cuda_attribute, cuda_function, launched_blocks

SOURCE = "list_rank.cu"
_INDICES = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
_OWNERS = {np.dtype(np.uint64): "unsigned long long", np.dtype(np.uint32): "unsigned"}
INSTANCES = (
    *(
        f"{kernel}<{index}, {owner}>"
        for kernel in ("walk", "aggregate")
        for index in _INDICES.values()
        for owner in _OWNERS.values()
    ),
    *(
        f"{kernel}<{index}>"
        for kernel in ("link", "sift", "number", "follow", "relink", "enter", "mark", "complete")
        for index in _INDICES.values()
    ),
    "jump",
)

#: Places of the kernels' counts in the control words.
TANGLED, WALKED, UNRANKED = 1, 2, 3
CONTROL_WORDS = 4

# As in the source; _RESIDENT is blocks per multiprocessor.
_THREADS, _RESIDENT = 256, 8
_JUMPERS = 1024

#: Walks that a multiprocessor runs at a time.
WALKERS = _THREADS * _RESIDENT


def marks(xp: Any, n: int) -> Array:
    return xp.zeros(-(-n // 32), np.uint32)


def walk(
    succ: Array, shift: int, first: int, last: int, owners: Array, steps: Array, chain: Array, control: Array
) -> None:
    if last == first:
        return
    kernel = cuda_function(SOURCE, f"walk<{_index(succ)}, {_OWNERS[owners.dtype]}>")
    blocks = min(_RESIDENT * cuda_attribute("MultiProcessorCount"), _blocks(last - first))
    arguments = succ, _length(succ), np.int32(shift), np.uint32(first), np.uint32(last), owners, steps, chain, control
    kernel((launched_blocks(blocks),), (_THREADS,), arguments)


def link(succ: Array, chain: Array) -> None:
    _for_each("link", succ, succ, _length(succ), chain)


def jump(chain: Array, first: int, last: int, step: int, rounds: int, open_words: Array) -> None:
    """Run `rounds` rounds of pointer jumping on words `first` to `last`, starting with round `step`.

    ``open_words[1 + k]`` becomes nonzero if round k left a word that does not point to an end; ``open_words[0]`` is the
    barrier of the blocks.
    """
    if last > first and rounds:
        resident = cuda_attribute("MaxThreadsPerMultiProcessor") // _JUMPERS * cuda_attribute("MultiProcessorCount")
        blocks = launched_blocks(min(resident, -(-(last - first) // _JUMPERS)))
        numbers = np.uint64(first), np.uint64(last), np.int32(step), np.int32(step + rounds)
        kernel = cuda_function(SOURCE, "jump", cooperative=True)
        kernel((blocks,), (_JUMPERS,), (chain, *numbers, open_words[1:], open_words[:1]))


def aggregate(owners: Array, steps: Array, chain: Array, ranks: Array) -> None:
    if len(ranks):
        kernel = cuda_function(SOURCE, f"aggregate<{_index(ranks)}, {_OWNERS[owners.dtype]}>")
        kernel((_blocks(len(ranks)),), (_THREADS,), (owners, steps, chain, _length(ranks), ranks))


def sift(succ: Array, ranks: Array, first: int, unranked: Array, control: Array) -> None:
    """Count the elements from `first` on without a rank, and list them, in any order, if there is room."""
    own = ranks, ranks.dtype.type(first), _length(ranks), unranked, np.uint64(len(unranked))
    _for_each("sift", ranks, succ, _length(succ), *own, control)


def number(elements: Array, ranks: Array) -> None:
    _for_each("number", elements, elements, _length(elements), ranks)


def follow(succ: Array, elements: Array, ranks: Array, beyond: Array) -> None:
    """Write what stands for the rank of the element behind each of `elements`, -1 behind a last one."""
    _for_each("follow", elements, succ, elements, _length(elements), ranks, beyond)


def relink(beyond: Array, chain: Array) -> None:
    _for_each("relink", beyond, beyond, _length(beyond), chain)


def enter(chain: Array, elements: Array, ranks: Array) -> None:
    _for_each("enter", elements, chain, elements, _length(elements), ranks)


def mark(succ: Array, ranks: Array, marked: Array) -> None:
    _for_each("mark", succ, succ, ranks, _length(succ), marked)


def complete(succ: Array, shift: int, marked: Array, ranks: Array, control: Array) -> None:
    _for_each("complete", succ, succ, _length(succ), np.int32(shift), marked, ranks, control)


def _for_each(kernel: str, array: Array, *arguments: Any) -> None:
    """Launch a kernel with one thread per element of an array."""
    if len(array):
        cuda_function(SOURCE, f"{kernel}<{_index(array)}>")((_blocks(len(array)),), (_THREADS,), arguments)


def _index(array: Array) -> str:
    return _INDICES[array.dtype]


def _length(array: Array) -> Any:
    return array.dtype.type(len(array))


def _blocks(threads: int) -> int:
    return -(-threads // _THREADS)
