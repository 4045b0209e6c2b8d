"""Operations of list ranking; ``kernels/list_rank.cu`` has the algorithms and the encoding."""

from typing import Any, Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"sequential"})


class Operations(Protocol):
    """What both twins do.

    `succ` and `ranks` are int32 or int64, both the same, of shape (n,); a rank of -1 is not known yet. `chain` is
    uint64, a word for each splitter or element: the next and the distance to it. `owners` is uint64 of shape (n,), the
    splitter and the steps from it, with `steps` empty; or `owners` is uint32 and `steps` uint16, each of shape (n,).
    `control` is uint64 of shape (`CONTROL_WORDS`,), zero before the first operation.
    """

    #: Places in the control words: walks that gave up, elements walked, elements without a rank.
    TANGLED: int
    WALKED: int
    UNRANKED: int
    CONTROL_WORDS: int
    #: Walks of a multiprocessor, or of a core, at a time.
    WALKERS: int

    def sequential(self, succ: Array, ranks: Array, way: Array) -> int:
        """Rank by going along each list; return an element that leads to no end, on a cycle if there is one, or -1.

        `way` is a buffer of the type and shape of `succ`.
        """
        ...

    def marks(self, xp: Any, n: int) -> Array:
        """Return an array that `mark` marks each of `n` elements in, with none marked."""
        ...

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
        ...

    def link(self, succ: Array, chain: Array) -> None:
        """Write the chain of the elements themselves."""
        ...

    def jump(self, chain: Array, first: int, last: int, step: int, rounds: int, open_words: Array) -> None:
        """Let the words `first` to `last` of a chain add those they point to, in rounds from number `step` on.

        `open_words` is uint32: ``open_words[1 + k]`` becomes nonzero if round k left one open. Blocks of a GPU wait by
        ``open_words[0]``.
        """
        ...

    def aggregate(self, owners: Array, steps: Array, chain: Array, ranks: Array) -> None:
        """Write the ranks of the elements that a walk has passed, and -1 elsewhere."""
        ...

    def sift(self, succ: Array, ranks: Array, first: int, unranked: Array, control: Array) -> None:
        """Count the elements from `first` on without a rank, and list them in `unranked`, in any order, if they fit.

        `ranks` are those of these elements only.
        """
        ...

    def number(self, elements: Array, ranks: Array) -> None:
        """Write -2 - k for the rank of each ``elements[k]``."""
        ...

    def follow(self, succ: Array, elements: Array, ranks: Array, beyond: Array) -> None:
        """Write what stands for the rank of each element's successor to `beyond`; -1 behind a last one."""
        ...

    def relink(self, beyond: Array, chain: Array) -> None:
        """Write the chain of elements for which `follow` wrote `beyond`."""
        ...

    def enter(self, chain: Array, elements: Array, ranks: Array) -> None:
        """Write the distances of a chain as the ranks of its `elements`."""
        ...

    def mark(self, succ: Array, ranks: Array, marked: Array) -> None:
        """Mark the elements that those without a rank point to, in an array of `marks`."""
        ...

    def complete(self, succ: Array, shift: int, marked: Array, ranks: Array, control: Array) -> None:
        """Rank what lies between an element that is not marked and the first rank on its way."""
        ...
