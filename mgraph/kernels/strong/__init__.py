"""Operations of strong components; ``kernels/strong.cu`` has the algorithms."""

from typing import Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"complete", "trim"})


class Operations(Protocol):
    """The operations of both twins.

    ``indptr`` (int32 or int64, shape (n + 1,)) and ``indices`` (int32) are the edges, by source or by target; n is not
    0. `forward` and `backward` are uint8, `labels` is int32, and `classes`, `reached` and `reaches` are uint32, all of
    shape (n,). `chosen` is int32 of shape (1,). `control` is uint32 of shape (``CONTROL_WORDS``,), zeros before.
    """

    #: The methods that this device has.
    METHODS: tuple[str, ...]

    #: The words of `control`, and the place of the number of rounds.
    CONTROL_WORDS: int
    ROUNDS: int

    def pivot(self, indptr: Array, indices: Array, chosen: Array) -> None:
        """Write a vertex that is likely to be in the giant component; there are edges."""

    def find_giant(
        self,
        indptr: Array,
        indices: Array,
        chosen: Array,
        forward: Array,
        backward: Array,
        labels: Array,
        control: Array,
    ) -> None:
        """Label the component of the vertex `chosen` with its least vertex, the other vertices with -1.

        All with -1 if `chosen` is, or if there are long paths. `forward` marks what the vertex reaches.
        """

    def colour(
        self,
        indptr: Array,
        indices: Array,
        forward: Array,
        labels: Array,
        classes: Array,
        reached: Array,
        reaches: Array,
        control: Array,
    ) -> None:
        """Label the vertices without a label, each with a vertex of its component; write the number of rounds.

        No component has vertices with a mark in `forward` and others without.
        """

    def trim(self, indptr: Array, indices: Array, labels: Array) -> None:
        """Label vertices without a label, whose edges all lead to labelled ones, with themselves."""

    def complete(
        self,
        indptr: Array,
        indices: Array,
        labels: Array,
        numbers: Array,
        stack: Array,
        cursors: Array,
        lowered: Array,
    ) -> None:
        """Label the vertices without a label, on one core, each with the least vertex of its component.

        Their `numbers` descend from 2^32 - 2 in the order in which a search completes the components.
        `numbers` is uint32, `stack` int32, `cursors` of the type of `indptr`, `lowered` uint8, all of shape (n,).
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
