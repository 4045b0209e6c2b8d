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

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import as_array, checked_integer
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import InputError
from ...results import Result
from ...runtime.checkpoints import checked_checkpoints, plan_with_copies
from ...runtime.program import Progress, memory_errors
from ...runtime.recovery import recovering
from ...runtime.select import checked_memory_limit, checked_span, placed_vector, runner_of_vector
from . import plan as ranking
from .program import Checked, Jumping, OneByOne, Walking, check_range, gathered, one_by_one


@recovering
@memory_errors("list_rank")
@with_common_parts
def list_rank(
    succ: Any,
    *,
    method: str = "auto",
    splitters: int | None = None,
    device: str | None = None,
    client: Any = None,
    memory_limit: int | float | str | None = None,
    span: int | None = None,
    progress: Progress | None = None,
    worker_timeout: float | str | None = None,
    wait_for_workers: int | None = None,
    retries: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float | str | None = None,
    resume: bool = False,
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
        splitter is picked among every ``len(succ) // splitters`` elements, rounded down to a power of two and to at
        most 1024, so a long list may have more splitters. With `splitters`, ``"auto"`` is ``"splitter64"``.
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
        on it. If `splitters` is not an integer of 1 or more, or is given with a method that has no splitters.
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
    succ = _elements(succ)
    wanted = checked_checkpoints(checkpoint, checkpoint_every, resume)
    if wanted is not None and splitters is None:
        method = wanted.method("list_rank", method, ranking.METHODS)
    runner = runner_of_vector("succ", succ, device, client, worker_timeout, wait_for_workers)
    span = checked_span(span, progress)
    splitters = None if splitters is None else checked_integer("splitters", splitters, 1)
    most_memory = checked_memory_limit(memory_limit, runner)
    plan = ranking.planned(
        len(succ),
        None,
        runner.specs,
        method=method,
        splitters=splitters,
        memory_limit=most_memory,
        span=span,
    )
    programs: dict[str, type[OneByOne | Jumping | Walking]] = {"sequential": OneByOne, "wyllie": Jumping}
    program = programs.get(plan.method, Walking)(plan)
    if wanted is not None:
        plan = plan_with_copies(plan, program, most_memory)
    if placed_vector(succ):
        whole = partial(gathered, succ.ranges, np.dtype(plan.dtype))
        outcome = runner.run(program, lambda shard: whole, plan, progress, wanted)
        if outcome.arrays["failed"].any():
            alone = ranking.on_the_first(plan)
            outcome = runner.run(Checked(alone), lambda shard: whole, alone, None)
        ranks = outcome.arrays["ranks"]
    else:
        home = devices.of(succ)
        with home.active():
            if not np.can_cast(succ.dtype, plan.dtype):
                check_range(succ)  # narrowing could turn an invalid successor into a valid one
            succ = home.xp.ascontiguousarray(succ, dtype=plan.dtype)
        outcome = runner.run(program, lambda shard: succ, plan, progress, wanted)
        # A failure nearly always means that the input is not a list.
        failed = outcome.arrays["failed"].any()
        ranks = home.asarray(one_by_one(succ) if failed else outcome.arrays["ranks"])
    return ListRankResult(ranks=ranks, plan=plan, timings=outcome.timings)


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

    ranks: Array

    def __len__(self) -> int:
        return len(self.ranks)

    def __getitem__(self, key: Any) -> Any:
        return self.ranks[key]


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
