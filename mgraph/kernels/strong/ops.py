"""Operations of strong components; ``kernels/strong.cu`` has the algorithms."""

from typing import Protocol

from ...arrays import Array

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"complete", "reach_within", "peel"})


class Operations(Protocol):
    """The operations of both twins.

    ``indptr`` (int32 or int64, shape (n + 1,)) and ``indices`` (int32) are the edges, by source or by target.
    `forward` and `backward` are uint8, `labels` is int32, and `classes`, `reached` and `reaches` are uint32, all of
    shape (n,); `chosen` and `active` are int32 of shape (1,).
    """

    #: The methods that this device has.
    METHODS: tuple[str, ...]

    def pivot(self, indptr: Array, indices: Array, chosen: Array) -> None:
        """Write a vertex that is likely to be in the giant component; there are edges."""
        ...

    def push(self, indptr: Array, indices: Array, level: int, forward: Array, active: Array) -> None:
        """Mark what the vertices of a level have edges to with the next level; set `active` if there is any."""
        ...

    def pull(self, indptr: Array, indices: Array, forward: Array, backward: Array, active: Array) -> None:
        """Mark vertices that are marked in `forward` and have an edge to a marked one; set `active` if there is any."""
        ...

    def divide(self, forward: Array, backward: Array, giant: int, labels: Array) -> None:
        """Label the vertices with both marks with `giant`, the others with -1."""
        ...

    def start(self, forward: Array, labels: Array, classes: Array, reached: Array, reaches: Array) -> None:
        """Give every vertex its own key, and a class: 0 if it is labelled, else by its mark."""
        ...

    def spread(
        self, indptr: Array, indices: Array, classes: Array, reached: Array, reaches: Array, active: Array
    ) -> None:
        """Pass keys on along the edges within a class, in both directions; set `active` if a key changed."""
        ...

    def jump(self, classes: Array, reached: Array, reaches: Array) -> None:
        """Follow the vertices that the keys name to the greatest key."""
        ...

    def settle(self, classes: Array, reached: Array, reaches: Array, labels: Array, active: Array) -> None:
        """Label the vertices whose keys are the same; start again with the others, and set `active` if there are any.

        The others get a class by both keys.
        """
        ...

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
        ...

    def reach_within(self, indptr: Array, indices: Array, labels: Array, found: Array) -> None:
        """Mark in `found`, uint8 of shape (n,), what each label's vertex reaches by edges within the label."""
        ...

    def peel(self, indptr: Array, indices: Array, labels: Array, members: Array, starts: Array, found: Array) -> None:
        """Mark in `found` the labels that no cycle of labels reaches, each at its own vertex.

        `members`, int32 of shape (n,), are the vertices in the order of their labels; those of the label l stand
        between `starts[l]` and `starts[l + 1]`. `starts` is int64 of shape (n + 1,).
        """
        ...
