"""Operations of list ranking; ``kernels/list_rank.cu`` has the algorithms and the encoding."""

from typing import Any, Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"sequential"})


class Operations(Protocol):
    """The operations of both twins.

    `succ` and `ranks` have shape (n,) and the same type, int32 or int64; a rank of -1 is not known yet. `chain` is
    uint64, a word for each splitter or element: the next one and the distance to it. `owners` and `steps` have each
    element's splitter and the steps from it: either `owners` is uint64 of shape (n,) with both and `steps` is empty, or
    `owners` is uint32 and `steps` uint16, each of shape (n,).
    `control` is uint64 of shape (`CONTROL_WORDS`,), zero before the first operation.
    """

    #: Places in the control words: abandoned walks, elements walked, elements without a rank.
    TANGLED: int
    WALKED: int
    UNRANKED: int
    CONTROL_WORDS: int
    #: Walks that a multiprocessor, or a core, runs at a time.
    WALKERS: int

    def sequential(self, succ: Array, ranks: Array, way: Array) -> int:
        """Rank by walking along each list; return -1, or an element that leads to no end, on a cycle if there is one.

        `way` is a buffer of the type and shape of `succ`.
        """

    def marks(self, xp: Any, n: int) -> Array:
        """Return an array in which `mark` can mark each of `n` elements, with none marked."""

    def walk(
        self,
        succ: Array,
        shift: int,
        first: int,
        last: int,
        owners: Array,
        steps: Array,
        chain: Array,
        control: Array,
    ) -> None:
        """Walk from the splitters of the strata `first` to `last`, and write their part of the chain.

        A stratum is 2^`shift` elements.
        """

    def link(self, succ: Array, chain: Array) -> None:
        """Write the chain of all elements: each one's successor at distance 1."""

    def jump(self, chain: Array, first: int, last: int, step: int, rounds: int, open_words: Array) -> None:
        """Add to each of the words `first` to `last` of a chain the word it points to, in `rounds` rounds.

        The first of them has number `step`. `open_words` is uint32: ``open_words[1 + k]`` becomes nonzero if a word
        does not point to an end after round k. On a GPU, ``open_words[0]`` is the barrier of the blocks.
        """

    def aggregate(self, owners: Array, steps: Array, chain: Array, ranks: Array) -> None:
        """Write the ranks of the elements that a walk has passed, and -1 for the others."""

    def sift(self, succ: Array, ranks: Array, first: int, unranked: Array, control: Array) -> None:
        """Count the elements from `first` on that have no rank; list them in `unranked`, in any order, if they fit.

        `ranks` has only the ranks of these elements.
        """

    def number(self, elements: Array, ranks: Array) -> None:
        """Write -2 - k for the rank of each ``elements[k]``."""

    def follow(self, succ: Array, elements: Array, ranks: Array, beyond: Array) -> None:
        """Write the rank of each element's successor, or its code by `number`, to `beyond`; -1 for a last one."""

    def relink(self, beyond: Array, chain: Array) -> None:
        """Write the chain of elements for which `follow` wrote `beyond`."""

    def enter(self, chain: Array, elements: Array, ranks: Array) -> None:
        """Write the distances of a chain as the ranks of its `elements`."""

    def mark(self, succ: Array, ranks: Array, marked: Array) -> None:
        """Mark the successors of elements without a rank, in an array of `marks`."""

    def complete(self, succ: Array, shift: int, marked: Array, ranks: Array, control: Array) -> None:
        """From each unmarked element without a rank, rank the elements up to the first known rank."""


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
