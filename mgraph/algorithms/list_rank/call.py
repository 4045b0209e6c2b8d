"""List ranking: the public call and its result.

The algorithms are described in ``kernels/list_rank.cu``.

- Splitters: every shard has all of the list, as a walk may lead anywhere, and walks from its own range of the
  splitters. The shards exchange where the walks ended, rank the list of splitters, and send each rank to the shard
  whose range the element is in. The few elements that no walk passed are gathered and ranked on every shard; if they
  are many, all ranks are gathered first.
- Jumping: a shard has a range of the elements and exchanges its words after each round.

The kernels stop in bounded time on invalid input, such as a cycle or a successor out of range, and report a failure.
Then one core goes through the input element by element, and the error names what is wrong.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from ... import device as devices
from ...arguments import as_array, checked_integer
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import ArgumentValue, InputError, VerificationError
from ...kernels import certificates as certificate_kernels
from ...results import OF_ELEMENTS, CallInput, Proofs, Result, check_arrays
from ...runtime.call import call
from ...runtime.run import ResumableRun
from ...runtime.select import placed_vector, runner_of_vector
from ...runtime.solving import Call
from . import plan as ranking
from .program import Checked, Jumping, OneByOne, Walking, check_range, gathered, one_by_one


@call
def list_rank(
    succ: Any,
    *,
    method: str = "auto",
    splitters: int | None = None,
    **run: Unpack[ResumableRun],
) -> "ListRankResult":
    """Return the distance from every element of linked lists to the last element of its list.

    Parameters
    ----------
    succ : array_like of int, or DistributedVector, shape (n,)
        The successor of each element, 0 to n-1. The last element of a list is its own successor. The array may hold
        several lists. A `mgraph.cluster.DistributedVector` is ranked on its workers, which each gather all of it.
    method : {"auto", "sequential", "wyllie", "splitter64", "splitter48"}
        ``"sequential"`` follows the lists on one core. ``"wyllie"`` lets every element jump to its successor's
        successor, in rounds [1]_. ``"splitter64"`` walks from many splitters at once and ranks the splitters first
        [2]_. ``"splitter48"`` does the same with two arrays for an element's splitter and its distance from it, 6
        bytes instead of 8 [3]_.
    splitters : int, optional
        The approximate number of splitters for the last two methods; by default enough to keep the device busy. One
        splitter is picked among every ``len(succ) // splitters`` elements, rounded down to a power of two. That may be
        at most 1024 for ``"splitter48"``, whose 16 bits hold the steps between two splitters, and 262,144 for
        ``"splitter64"``. With `splitters`, ``"auto"`` is ``"splitter64"``.
    {common arguments}
    {checkpoint arguments}

    Returns
    -------
    ListRankResult
        Can be indexed and iterated like the array of ranks.

    Raises
    ------
    InputError
        If `succ` is not a vector of integers in [0, n), or has a cycle that does not end; the error names an element
        on it. If `splitters` is not an integer of 1 or more, is too few for the list, or is given with a method that
        has no splitters.
    {common errors}
    {checkpoint errors}

    See Also
    --------
    mgraph.generate.linked_list : A random list, to try this on.

    Notes
    -----
    Elements may share a successor: then `succ` describes trees, ranks are distances to the root, and it takes longer.

    References
    ----------
    .. [1] Wyllie, "The complexity of parallel computations", 1979.
    .. [2] Helman and JáJá, "Designing practical efficient algorithms for symmetric multiprocessors", 1999.
    .. [3] Yogaratnam, a study of list ranking and connected components on GPUs, 2010.

    Examples
    --------
    >>> import mgraph
    >>> mgraph.list_rank([1, 2, 2], device="cpu").ranks.tolist()
    [2, 1, 0]
    """
    given = succ = _elements(succ)
    asked = Call(run, runner_of_vector("succ", succ, run))
    if splitters is None:
        method = asked.method("list_rank", method, ranking.METHODS)
    plan = ranking.planned(
        len(succ),
        None,
        asked.runner.specs,
        method=method,
        splitters=None if splitters is None else checked_integer("splitters", splitters, 1),
        memory_limit=asked.memory_limit,
        span=asked.span,
    )
    programs: dict[str, type[OneByOne | Jumping | Walking]] = {"sequential": OneByOne, "wyllie": Jumping}
    program = programs.get(plan.method, Walking)(plan)
    if placed_vector(succ):
        whole = partial(gathered, succ.ranges, np.dtype(plan.dtype))
        plan, outcome = asked.run(program, lambda shard: whole, plan)
        if outcome.arrays["failed"].any():
            alone = ranking.on_the_first(plan)
            outcome = asked.runner.run(Checked(alone), lambda shard: whole, alone, None)
        ranks = outcome.arrays["ranks"]
    else:
        home = devices.of(succ)
        with home.active():
            if not np.can_cast(succ.dtype, plan.dtype):
                check_range(succ)  # narrowing could turn an invalid successor into a valid one
            succ = home.xp.ascontiguousarray(succ, dtype=plan.dtype)
        plan, outcome = asked.run(program, lambda shard: succ, plan)
        # A failure nearly always means that the input is not a list.
        failed = outcome.arrays["failed"].any()
        ranks = home.asarray(one_by_one(succ) if failed else outcome.arrays["ranks"])
    return ListRankResult(ranks=ranks, plan=plan, timings=outcome.timings, _solved=CallInput(given))


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ListRankResult(Result):
    """The result of `list_rank`, which can be indexed and iterated like its `ranks`.

    Attributes
    ----------
    ranks : array or DistributedVector of int32, shape (n,)
        Number of steps from each element to the last of its list, which has rank 0; int64 from 2**31 elements on.
    {common attributes}

    Examples
    --------
    >>> import mgraph
    >>> result = mgraph.list_rank([2, 1, 1], device="cpu")
    >>> result.ranks.tolist(), len(result), int(result[0])
    ([2, 0, 1], 3, 2)
    """

    ARRAYS = ("ranks",)
    INDEX = "element"
    NOT_IN = OF_ELEMENTS
    PROOFS: ClassVar[Proofs] = {"ranks": ("rank",)}

    ranks: Array

    def __len__(self) -> int:
        return len(self.ranks)

    def __getitem__(self, key: Any) -> Any:
        return self.ranks[key]

    def verify(self, succ: Any = None) -> None:
        """Raise unless the ranks are right: 0 at the last element of a list, elsewhere one more than at the successor.

        Verified in one pass over the elements where `succ` is, by a kernel that shares nothing with those that rank.
        What lies on workers is copied to this process first.

        Parameters
        ----------
        succ : array_like of int, or DistributedVector, shape (n,), optional
            The successors that were ranked. By default the call's, if they still exist: the result does not keep them.

        Raises
        ------
        VerificationError
            If the rule ``"rank"`` is broken; `vertex` is the first element that breaks it.
        InputError
            If the successors have gone, are another number, or are no vector of integers.
        MemoryLimitError
            If what the check needs does not fit.

        Examples
        --------
        >>> import mgraph
        >>> result = mgraph.list_rank([1, 2, 2], device="cpu")
        >>> result.verify([1, 2, 2])
        >>> result.verify([1, 1, 2])
        Traceback (most recent call last):
            ...
        mgraph.errors.VerificationError: element 1 breaks the rule 'rank': it has rank 1
        """
        given = self.solved.graph() if succ is None else _elements(succ)
        if given is None:
            raise InputError(
                "the list no longer exists, as a result does not keep it: pass it as ", ArgumentValue("succ")
            )
        check_arrays(self)
        if len(given) != self.plan.n:
            expected = f"the {self.plan.n} successors that were ranked"
            raise InputError(argument="succ", value=f"{len(given)} elements", expected=expected)
        given, ranks = (part.to_numpy() if placed_vector(part) else part for part in (given, self.ranks))
        home, copied = (
            devices.of(given),
            0 if given.dtype in (np.dtype(np.int32), np.dtype(np.int64)) else 8 * len(given),
        )
        with home.active(), devices.allocating("verify()", copied + ranks.nbytes, home):
            successors = given.astype(np.int64) if copied else home.xp.ascontiguousarray(given)
            least = home.xp.full(1, len(ranks), np.int64)
            certificate_kernels.on(home).check_ranks(successors, 0, home.asarray(ranks), least)
            element = int(least[0])
        if element < len(ranks):
            message = f"element {element} breaks the rule 'rank': it has rank {int(ranks[element])}"
            raise VerificationError(message, rule="rank", vertex=element)


def _elements(succ: Any) -> Array:
    """Return `succ` as an array, or raise InputError if its shape or type is not that of a list."""
    if devices.of(succ).kind == "cpu" and not placed_vector(succ):
        succ = as_array(succ, "succ")
    if succ.ndim != 1:
        raise InputError(argument="succ", value=succ.shape, expected="of shape (n,), one successor per element")
    if not succ.size and not placed_vector(succ):
        return succ.astype(np.int32)
    if succ.dtype.kind not in "iu":
        raise InputError(argument="succ", value=succ.dtype.name, expected="integers, the numbers of elements from 0")
    return succ
