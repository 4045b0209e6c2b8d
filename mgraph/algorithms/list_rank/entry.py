"""The registry entry of list ranking."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import device as devices
from ...arrays import Array
from ...generate import linked_list
from ...planning.plan import Plan
from ...results import OF_ELEMENTS
from ..command import Command, Option, Summary
from ..entry import Algorithm, Sample, declare, named
from ..work import SECTOR, Work
from . import verify
from .call import ListRankResult, list_rank
from .plan import METHODS, planned


def work(succ: Array, made: Plan | None, arrays: dict[str, Any]) -> Work:
    """Return the work of list ranking: the elements, each with its successor, what the walk writes, and its rank."""
    return Work(len(succ), "elements/s", 3 * SECTOR * len(succ))


def rounds(result: Any) -> int | None:
    """Return the rounds of jumping; other methods have none."""
    made = result.plan
    return max(1, math.ceil(math.log2(max(2, made.n)))) if made.method == "wyllie" else None


def samples(method: str) -> Iterator[Sample]:
    """Yield a long list, many short ones, and a tree."""
    yield Sample(linked_list(20_000), {})
    yield Sample(np.arange(5000) // 2 * 2, {})
    shares = np.random.default_rng(2).random(4000)
    yield Sample(np.minimum((shares * np.arange(4000)).astype(int), np.arange(4000)), {})


def further() -> Iterator[Sample]:
    """Yield a list in the type that calls compute in, and one whose jumps all cores share."""
    yield Sample(linked_list(20_000).astype(np.int32), {})
    yield Sample(linked_list(100_000), {"method": "wyllie"})


def summary(succ: Any, result: ListRankResult, options: dict[str, Any]) -> Summary:
    """Sum up the ranks."""
    ranks = devices.to_host(result.ranks)
    count, largest = int((ranks == 0).sum()), int(ranks.max(initial=0))
    words = f"ranked: {count:,} lists, the largest rank is {largest:,}"
    return Summary({"lists": count, "largest_rank": largest}, words)


LIST_RANK = Algorithm(
    name="list_rank",
    call=list_rank,
    planner=planned,
    needs_edges=False,
    methods=METHODS,
    cpu_only=("sequential",),
    takes=("list",),
    checks={"ranks": verify.ranks},
    arrays=named("ranks"),
    work=work,
    rounds=rounds,
    samples=samples,
    further=further,
    command=Command(
        name="rank",
        help="""Find every element's distance to the last of its list.

        FILE holds the successor of each element, the last of a list names itself: an array (.npy), or text, a number a
        line. Elements are numbered from 0.""",
        example="mgraph rank successors.npy --out ranks.npy",
        summary=summary,
        not_in=OF_ELEMENTS,
        options=(
            Option(
                "splitters",
                int,
                "About how many splitters to walk from; by default enough to keep the device busy.",
                metavar="N",
            ),
        ),
    ),
)

declare(LIST_RANK)
