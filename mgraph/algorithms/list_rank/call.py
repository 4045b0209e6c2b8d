"""List ranking: the public call, its result, and its program over strata of the elements.

The algorithms are told in ``kernels/list_rank.cu``. By splitters, every shard has all of the list, as a walk leads
anywhere, and walks from its own part of the splitters; then all shards learn the list of splitters, and each rank
comes from the one shard whose walk passed the element to the one that has it in its range. The few elements that no
walk passes are a list of their own, which all shards learn and rank; if they are many, all learn all ranks. By
jumping, a shard has a range of the elements. The kernels notice what is no list, a successor that is no element too,
and leave it in bounded time; then one core looks at the input, element by element, and names what is wrong.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import device as devices
from ...arguments import as_array, checked_integer
from ...arrays import Array
from ...docstrings import with_common_parts
from ...errors import InputError
from ...kernels import list_rank as list_rank_kernels
from ...results import Result
from ...runtime.program import Program, Progress, memory_errors
from ...runtime.select import checked_memory_limit, checked_span, executor
from . import plan as ranking
from .program import Jumping, OneByOne, Walking


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
) -> "ListRankResult":
    """Return the distance from every element of linked lists to the last of its list.

    Parameters
    ----------
    succ : array_like of int, shape (n,)
        Element ``i`` is followed by ``succ[i]``; the last of a list by itself. Several lists may lie in one array.
    method : {"auto", "sequential", "wyllie", "splitter64", "splitter48"}
        ``"sequential"`` goes along the lists on one core, ``"wyllie"`` lets every element jump to where its successor
        points, round by round [1]_, ``"splitter64"`` walks from many splitters at a time and ranks these first [2]_,
        ``"splitter48"`` does so with an element's splitter and its steps from there in arrays apart, 6 bytes
        instead of 8 [3]_.
    splitters : int, optional
        About how many splitters the latter two walk from; by default what keeps the device busy. One is picked among
        ``len(succ) // splitters`` elements, rounded down to a power of two, at least 1 and at most 1024: of a list that
        is longer than 1024 times as many, there are more. With it, ``"auto"`` is ``"splitter64"``.
    {common arguments}

    Returns
    -------
    ListRankResult
        Can be indexed and gone through as the array of the ranks.

    Raises
    ------
    InputError
        If `succ` is not a vector of elements, or has a cycle without an end; the error names an element on it. If
        `splitters` is not an integer of 1 or more, or goes with a method that has none.
    {common errors}

    See Also
    --------
    mgraph.generate.linked_list : A random list, to try this on.

    Notes
    -----
    Elements may share a successor: what is ranked are then trees, by the distance to the root, in more time.

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
    home = devices.of(succ)
    runner = executor(device, client, home.name, worker_timeout)
    span = checked_span(span, progress)
    splitters = None if splitters is None else checked_integer("splitters", splitters, 1)
    plan = ranking.planned(
        len(succ),
        None,
        runner.specs,
        method=method,
        splitters=splitters,
        memory_limit=checked_memory_limit(memory_limit),
        span=span,
    )
    with home.active():
        if not np.can_cast(succ.dtype, plan.dtype):
            _check_range(succ)  # what is no element might be cut to one
        succ = home.xp.ascontiguousarray(succ, dtype=plan.dtype)
    programs: dict[str, type[OneByOne | Jumping | Walking]] = {"sequential": OneByOne, "wyllie": Jumping}
    program: Program = programs.get(plan.method, Walking)(plan)
    outcome = runner.run(program, lambda shard: succ, plan, progress)
    # What the kernels cannot trust is no list, or hardly ever one.
    ranks = _one_by_one(succ) if outcome.arrays["failed"].any() else outcome.arrays["ranks"]
    return ListRankResult(ranks=home.asarray(ranks), plan=plan, timings=outcome.timings)


@with_common_parts
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ListRankResult(Result):
    """The result of `list_rank`, which can be indexed and gone through as its `ranks` can.

    Attributes
    ----------
    ranks : array of int32, shape (n,)
        Elements between each element and the last of its list, which has rank 0; int64 from 2**31 elements on.
    {common attributes}
    """

    ARRAYS = ("ranks",)
    INDEX = "element"

    ranks: Array

    def __len__(self) -> int:
        return len(self.ranks)

    def __getitem__(self, key: Any) -> Any:
        return self.ranks[key]


def _elements(succ: Any) -> Array:
    """Return `succ` as an array, or raise InputError if it can be no list."""
    if devices.of(succ).kind == "cpu":
        succ = as_array(succ, "succ")
    if succ.ndim != 1:
        raise InputError(f"succ has shape {succ.shape}: give one successor per element")
    if not succ.size:
        return succ.astype(np.int32)
    if succ.dtype.kind not in "iu":
        raise InputError(f"succ is of type {succ.dtype}: successors are integers, the numbers of elements from 0")
    return succ


def _check_range(succ: Array) -> None:
    """Raise InputError if a successor is no element; `succ` is of a type that holds more numbers than there are."""
    n = len(succ)
    # A negative number is a great one without a sign: one look is enough.
    if n and int(succ.view(succ.dtype.str.replace("i", "u")).max()) >= n:
        where = int(((succ < 0) | (succ >= n)).argmax())
        raise InputError(f"succ[{where}] is {int(succ[where])}, and the elements are 0 to {n - 1}")


def _one_by_one(succ: Array) -> np.ndarray:
    """Return the ranks as one core of the host finds them; raises InputError for what is no list."""
    succ = devices.to_host(succ)
    _check_range(succ)
    ranks, way = np.empty_like(succ), np.empty_like(succ)
    cycle = list_rank_kernels.on(devices.find("cpu")).sequential(succ, ranks, way)
    if cycle >= 0:
        raise InputError(f"element {cycle} of succ is on a cycle without an end: let the last of a list name itself")
    return ranks
