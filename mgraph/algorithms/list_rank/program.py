"""List ranking: the programs for one core, for Wyllie's pointer jumping, and for splitters.

`OneByOne` runs on one core, `Jumping` over ranges of the elements, `Walking` over strata: ranges of the splitters. The
algorithms and their sources are described in ``kernels/list_rank.cu``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...errors import InputError
from ...kernels import list_rank as list_rank_kernels
from ...planning.cut import Ranges, even_ranges
from ...planning.plan import Plan
from ...runtime.checkpoints import NumberRange, Piece, Resumable, Saved, fingerprint_of
from ...runtime.communicator import Communicator
from .rounds import rounds

#: At most one unranked element in `FEW` counts as few: listing and ranking them apart takes little time and memory.
FEW = 256

#: The number that stands for no element in a word of a chain.
END = 2**32 - 1

#: More steps than the walks of all shards take together.
STEPS = 2**48

#: Bytes of ranks that are exchanged while the next ones are computed.
AT_A_TIME = 1 << 28


@dataclass
class Lists:
    """The state of a shard that follows the lists element by element."""

    device: devices.Device
    kernels: list_rank_kernels.Operations
    succ: Array
    ranks: Array
    failed: bool = False


class OneByOne(Resumable):
    """Sequential ranking, element by element: the first shard has all lists. No checkpoint holds a part of it."""

    facts: ClassVar[tuple[str, ...]] = ("failed",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Array, device: devices.Device) -> Lists:
        """Return the shard with the lists and a buffer for the ranks of its range."""
        first, last = self.plan.ranges[shard]
        return Lists(device, list_rank_kernels.on(device), piece, device.xp.empty(last - first, self.plan.dtype))

    def step(self, state: Lists, first: int, limit: int, comm: Communicator) -> int:
        """Rank everything."""
        if first == 0 and len(state.ranks):
            way = state.device.xp.empty_like(state.ranks)
            state.failed = state.kernels.sequential(state.succ, state.ranks, way) >= 0
        return int(first == 0)

    def collect(self, state: Lists, comm: Communicator) -> dict[str, Array]:
        """Return the ranks, and whether the ranking failed."""
        return {"ranks": state.ranks, "failed": np.array([state.failed])}

    def fingerprint(self, state: Lists, shard: int) -> int:
        """Return the fingerprint of the shard's range of the list."""
        return _fingerprint(state.succ, self.plan.ranges[shard])

    def pieces(self, state: Lists, shard: int) -> list[Piece]:
        """Return no piece: there is one superstep."""
        return []

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return nothing, as there is no piece."""
        return {}

    def settled(self, step: int) -> bool:
        """Return False: nothing is kept."""
        return False

    def bytes_kept(self, shard: int) -> int:
        """Return 0: nothing is kept."""
        return 0


class Checked(OneByOne):
    """The same on the host of the first shard, whatever its device; raises InputError if the input is not a list."""

    def load(self, shard: int, piece: Array, device: devices.Device) -> Lists:
        """Return the shard with the lists, without ranks on shards after the first."""
        return Lists(device, list_rank_kernels.on(devices.find("cpu")), piece, device.xp.empty(0, self.plan.dtype))

    def step(self, state: Lists, first: int, limit: int, comm: Communicator) -> int:
        """Rank everything, or refuse it."""
        if first == 0 and comm.rank == 0:
            state.ranks = state.device.asarray(one_by_one(state.succ))
        return int(first == 0)


@dataclass
class Links:
    """The state of a shard whose elements jump; ``kernels/list_rank.cu`` describes the arrays."""

    device: devices.Device
    kernels: list_rank_kernels.Operations
    chain: Array
    open_words: Array


class Jumping(Resumable):
    """Wyllie's algorithm over ranges of the elements: a superstep is a round."""

    facts: ClassVar[tuple[str, ...]] = ("failed",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def load(self, shard: int, piece: Array, device: devices.Device) -> Links:
        """Return the shard with every element's word pointing to its successor."""
        xp, kernels = device.xp, list_rank_kernels.on(device)
        state = Links(
            device=device,
            kernels=kernels,
            chain=xp.empty(self.plan.n, np.uint64),
            open_words=xp.zeros(1 + rounds(self.plan.n), np.uint32),
        )
        kernels.link(device.asarray(piece), state.chain)
        return state

    def step(self, state: Links, first: int, limit: int, comm: Communicator) -> int:
        """Run some rounds of jumps for the shard's elements, then exchange their words with the other shards."""
        left = rounds(self.plan.n) - first
        if left <= 0:
            return 0
        number = min(comm.horizon(limit), left)
        state.kernels.jump(state.chain, *self.plan.ranges[comm.rank], first, number, state.open_words)
        comm.allgather(*_halves(state.chain, self.plan.ranges))
        return number

    def collect(self, state: Links, comm: Communicator) -> dict[str, Array]:
        """Return the ranks of the shard's range, and whether the ranking failed."""
        first, last = self.plan.ranges[comm.rank]
        ranks = state.chain[first:last].view(np.uint32)[::2].astype(self.plan.dtype)  # the words' lower halves
        return {"ranks": ranks, "failed": devices.to_host(state.open_words[-1:]) != 0}

    def fingerprint(self, state: Links, shard: int) -> int:
        """Return the fingerprint of the links of the shard's range."""
        return _fingerprint(state.chain, self.plan.ranges[shard])

    def pieces(self, state: Links, shard: int) -> list[Piece]:
        """Return the words of the shard's range."""
        first, last = self.plan.ranges[shard]
        return [Piece("links", state.chain[first:last], (first,))]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return words that point to an element, or to none."""
        return {"links": NumberRange(0, self.plan.n - 1, END, shift=32)}

    def settled(self, step: int) -> bool:
        """Return whether a round is left, which finds whether a word is still open."""
        return step < rounds(self.plan.n)

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the words of the shard's range."""
        first, last = self.plan.ranges[shard]
        return 8 * (last - first)

    def resumed(self, state: Links, shard: int, saved: Saved) -> int:
        """Fill the words of all elements, any of which may still be open."""
        saved.fill(Piece("links", state.chain, (0,)))
        state.open_words[1 : 1 + saved.manifest.step] = 1
        return saved.manifest.step


@dataclass
class Strata:
    """The state of a shard that walks; ``kernels/list_rank.cu`` describes the arrays.

    Attributes
    ----------
    controls : array of uint64, shape (shards, words)
        Each shard's control words, followed by its `open_words`: both are exchanged and read together.
    control : array of uint64
        The shard's own control words, a view of `controls`.
    open_words : array of uint32
        A view of `controls`: a word that `jump` needs, then one for each round of jumps, which says whether a splitter
        was still open after it.
    """

    device: devices.Device
    kernels: list_rank_kernels.Operations
    succ: Array
    owners: Array
    steps: Array
    chain: Array
    controls: Array
    control: Array
    open_words: Array
    ranks: Array = None
    failed: bool = False


class Walking(Resumable):
    """Ranking by random splitters; each shard walks from its range of them. Four supersteps.

    A checkpoint holds the ranks after the third one. Before, each shard has a part of what is known of every element.
    """

    facts: ClassVar[tuple[str, ...]] = ("failed",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.shift = plan.detail.spacing.bit_length() - 1
        self.splitters = -(-plan.n // plan.detail.spacing)
        self.strata = even_ranges(self.splitters, len(plan.ranges), 1)

    def load(self, shard: int, piece: Array, device: devices.Device) -> Strata:
        """Return the shard with all of the lists and the buffers for its walks."""
        xp, n, kernels = device.xp, self.plan.n, list_rank_kernels.on(device)
        packed = self.plan.method == "splitter64"
        number = 1 + rounds(self.splitters)
        controls = xp.zeros((len(self.plan.ranges), kernels.CONTROL_WORDS + -(-number // 2)), np.uint64)
        return Strata(
            device=device,
            kernels=kernels,
            succ=device.asarray(piece),
            owners=xp.empty(n, np.uint64 if packed else np.uint32),
            steps=xp.empty(0 if packed else n, np.uint16),
            chain=xp.empty(self.splitters, np.uint64),
            controls=controls,
            control=controls[shard, : kernels.CONTROL_WORDS],
            open_words=controls[shard, kernels.CONTROL_WORDS :].view(np.uint32)[-number:],
        )

    def step(self, state: Strata, first: int, limit: int, comm: Communicator) -> int:
        """Run one of the four supersteps: walk, rank the splitters, rank the walked elements, rank the rest."""
        supersteps = self._walk, self._rank_splitters, self._aggregate, self._complete
        if first >= len(supersteps):
            return 0
        supersteps[first](state, comm)
        return 1

    def collect(self, state: Strata, comm: Communicator) -> dict[str, Array]:
        """Return the ranks of the shard's range, and whether the ranking failed."""
        first, last = self.plan.ranges[comm.rank]
        return {"ranks": state.ranks[first:last], "failed": np.array([state.failed])}

    def fingerprint(self, state: Strata, shard: int) -> int:
        """Return the fingerprint of the shard's range of the list."""
        return _fingerprint(state.succ, self.plan.ranges[shard])

    def settled(self, step: int) -> bool:
        """Return whether the walked elements have been ranked, and the others are left."""
        return step == 3

    def pieces(self, state: Strata, shard: int) -> list[Piece]:
        """Return the ranks of the shard's range, and what its walks have found, in three numbers."""
        first, last = self.plan.ranges[shard]
        kernels, control = state.kernels, devices.to_host(state.control)
        still_open = int(devices.to_host(state.open_words[-1:])[0])
        found = np.array([control[kernels.TANGLED], control[kernels.WALKED], still_open], np.int64)
        return [Piece("ranks", state.ranks[first:last], (first,)), Piece("walks", found[None], (shard, 0))]

    def allowed(self) -> Mapping[str, NumberRange]:
        """Return the ranks that there can be, or -1, and counts of fewer steps than walks can take together."""
        return {"ranks": NumberRange(0, self.plan.n - 1, -1), "walks": NumberRange(0, STEPS)}

    def bytes_kept(self, shard: int) -> int:
        """Return the bytes of the ranks of the shard's range."""
        first, last = self.plan.ranges[shard]
        return (last - first) * np.dtype(self.plan.dtype).itemsize

    def resumed(self, state: Strata, shard: int, saved: Saved) -> int:
        """Fill the ranks of the shard's range, -1 elsewhere; the first shard gets what all walks have found.

        If these show that the ranking has failed, there are no ranks.
        """
        first, last = self.plan.ranges[shard]
        state.owners = state.steps = None
        state.ranks = state.device.xp.full(self.plan.n, -1, self.plan.dtype)
        found = np.concatenate(saved.values("walks", (1, 3), np.int64)).sum(axis=0)
        if not (found[0] or found[2]):
            saved.fill(Piece("ranks", state.ranks[first:last], (first,)))
        if shard == 0:
            state.control[state.kernels.TANGLED], state.control[state.kernels.WALKED] = found[:2].tolist()
            state.open_words[-1] = int(found[2] > 0)
        return saved.manifest.step

    def _walk(self, state: Strata, comm: Communicator) -> None:
        """Walk from the shard's splitters, then exchange with the other shards where the walks ended."""
        strata = self.strata[comm.rank]
        # All bits set mean: no walk has passed the element; in `chain`, the walk was given up before it ended.
        for words in (state.owners, state.chain):
            words.view(f"i{words.itemsize}").fill(-1)
        state.kernels.walk(state.succ, self.shift, *strata, state.owners, state.steps, state.chain, state.control)
        comm.allgather(*_halves(state.chain, self.strata))

    def _rank_splitters(self, state: Strata, comm: Communicator) -> None:
        """Rank all splitters on every shard: they are too few for an exchange in each round to pay."""
        _jump(state, state.chain, state.open_words)

    def _aggregate(self, state: Strata, comm: Communicator) -> None:
        """Rank the elements that the shard's walks passed, -1 for the others, and reduce each range to its owner.

        It works in parts: while the ranks of one part are exchanged, those of the next are computed.
        """
        device = state.device
        state.ranks = device.xp.empty(self.plan.n, self.plan.dtype)
        parts = max(1, state.ranks.nbytes // comm.size * (comm.size - 1) // AT_A_TIME)
        beside = device.stream() if parts > 1 else device.current_stream()
        cut = [[(low + a, low + b) for a, b in even_ranges(high - low, parts, 1)] for low, high in self.plan.ranges]
        computed = []
        for pieces in zip(*cut, strict=True):
            for first, last in pieces:
                own = slice(first, last)
                state.kernels.aggregate(state.owners[own], state.steps[own], state.chain, state.ranks[own])
            computed.append((pieces, device.current_stream().record()))
        state.owners = state.steps = None
        for pieces, ready in computed:
            beside.wait_event(ready)
            with beside:
                comm.reduce_scatter(state.ranks, pieces, "max")
        device.current_stream().wait_event(beside.record())

    def _complete(self, state: Strata, comm: Communicator) -> None:
        """Rank the elements before the first splitter of each list, and check whether the ranking failed."""
        kernels, xp, few = state.kernels, state.device.xp, self.plan.n // FEW
        first, last = self.plan.ranges[comm.rank]
        unranked = xp.empty(few, self.plan.dtype)
        kernels.sift(state.succ, state.ranks[first:last], first, unranked, state.control)
        comm.allgather(state.controls, tuple((shard, shard + 1) for shard in range(comm.size)))
        controls = devices.to_host(state.controls).astype(np.int64)
        tangled, walked = controls[:, kernels.TANGLED].any(), controls[:, kernels.WALKED].sum()
        still_open = controls.view(np.uint32)[:, -1].any()
        counts = controls[:, kernels.UNRANKED]
        overlap = walked != self.plan.n - counts.sum() and self.plan.method == "splitter48"
        state.failed = bool(tangled or still_open or overlap)
        if state.failed or not counts.any():
            return
        if counts.sum() <= few:
            self._complete_few(state, comm, unranked, counts)
        else:
            self._complete_many(state, comm)

    def _complete_few(self, state: Strata, comm: Communicator, unranked: Array, counts: np.ndarray) -> None:
        """Gather the unranked elements, ``counts[r]`` of them from shard ``r``, and rank them on every shard."""
        xp, ends = state.device.xp, np.cumsum(counts)
        parts = tuple(zip((ends - counts).tolist(), ends.tolist(), strict=True))
        first, last = parts[comm.rank]
        elements = xp.empty(parts[-1][1], self.plan.dtype)
        elements[first:last] = unranked[: last - first]
        comm.allgather(elements, parts)
        kernels, beyond = state.kernels, xp.empty_like(elements)
        kernels.number(elements, state.ranks)
        kernels.follow(state.succ, elements, state.ranks, beyond)
        comm.allreduce(beyond, "max")
        chain = xp.empty(len(elements), np.uint64)
        kernels.relink(beyond, chain)
        open_words = xp.zeros(1 + rounds(len(chain)), np.uint32)
        _jump(state, chain, open_words)
        kernels.enter(chain, elements, state.ranks)
        state.failed = bool(devices.to_host(open_words[-1:])[0])

    def _complete_many(self, state: Strata, comm: Communicator) -> None:
        """Gather all ranks, then rank the unranked elements on every shard by following them to a ranked one."""
        kernels, ranks = state.kernels, state.ranks
        comm.allgather(ranks, self.plan.ranges)
        marks = kernels.marks(state.device.xp, self.plan.n)
        kernels.mark(state.succ, ranks, marks)
        kernels.complete(state.succ, self.shift, marks, ranks, state.control)
        state.control[kernels.UNRANKED] = 0
        first, last = self.plan.ranges[comm.rank]
        kernels.sift(state.succ, ranks[first:last], first, ranks[:0], state.control)
        state.failed = bool(state.control[kernels.UNRANKED])


def _jump(state: Strata, chain: Array, open_words: Array) -> None:
    """Let all words of a chain jump to its ends; the last of `open_words` is not 0 if one reaches no end."""
    state.kernels.jump(chain, 0, len(chain), 0, rounds(len(chain)), open_words)


def _fingerprint(array: Array, own: tuple[int, int]) -> int:
    """Return the fingerprint of a range of an array that every shard has."""
    first, last = own
    return fingerprint_of([Piece("list", array[first:last], (first,))])


def _halves(chain: Array, ranges: tuple[tuple[int, int], ...]) -> tuple[Array, tuple[tuple[int, int], ...]]:
    """Return a chain as 32-bit words, which every communicator can send, and the ranges in these words."""
    return chain.view(np.uint32), tuple((2 * first, 2 * last) for first, last in ranges)


def gathered(
    ranges: Ranges, dtype: np.dtype, part: Mapping[str, Array], device: devices.Device, comm: Communicator
) -> Array:
    """Return all of a list of which each shard has a range, on every shard, in a type of integers."""
    own, n, (first, last) = part["succ"], ranges[-1][1], ranges[comm.rank]
    if not np.can_cast(own.dtype, dtype):
        check_range(own, n, first)
    if comm.size == 1:
        return own.astype(dtype, copy=False)
    with devices.allocating(f"gathering {n:,} successors", n * dtype.itemsize, device):
        whole = device.xp.empty(n, dtype)
    whole[first:last] = own
    comm.allgather(whole, ranges)
    return whole


def check_range(succ: Array, n: int | None = None, first: int = 0) -> None:
    """Raise InputError if a successor is not in [0, n); `first` is the number of the first element."""
    n = len(succ) if n is None else n
    # As an unsigned integer a negative number is large, so one maximum finds both kinds.
    if len(succ) and int(succ.view(succ.dtype.str.replace("i", "u")).max()) >= n:
        where = int(((succ < 0) | (succ >= n)).argmax())
        place = f" at element {first + where}"
        raise InputError(place, argument="succ", value=int(succ[where]), expected=f"integers in [0, {n})")


def one_by_one(succ: Array) -> np.ndarray:
    """Return the ranks, computed by one core of the host; raise InputError if `succ` is not a list."""
    succ = devices.to_host(succ)
    check_range(succ)
    ranks, way = np.empty_like(succ), np.empty_like(succ)
    cycle = list_rank_kernels.on(devices.find("cpu")).sequential(succ, ranks, way)
    if cycle >= 0:
        raise InputError(f"element {cycle} of succ is on a cycle without an end: let the last of a list name itself")
    return ranks
