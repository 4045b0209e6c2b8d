"""Plans of small calls, remembered: a planner that is asked the same again returns the same plan.

Planning takes longer than solving a graph of a few vertices, and a program that makes one such call makes thousands.
Only plans that need less than `REMEMBERED_BYTES` on each device are remembered: larger ones depend on what the host and
its disks have free.
"""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from . import rates
from .plan import Plan

P = ParamSpec("P")
AnyPlan = TypeVar("AnyPlan", bound=Plan[Any])

#: The most plans of each planner that are remembered, and the bytes on each device that such a plan stays below.
REMEMBERED_PLANS, REMEMBERED_BYTES = 64, 1 << 20


def remembered(planner: Callable[P, AnyPlan]) -> Callable[P, AnyPlan]:
    """Return a planner that remembers small plans by its arguments, on which alone they must depend."""
    plans: dict[Any, AnyPlan] = {}

    @functools.wraps(planner)
    def planned(*args: P.args, **options: P.kwargs) -> AnyPlan:
        question = rates.changes, args, *options.items(), *map(type, args), *map(type, options.values())
        try:
            known = plans.get(question)
        except TypeError:  # where vertices' edges begin, or another array
            return planner(*args, **options)
        if known is not None:
            return known
        plan = planner(*args, **options)
        if REMEMBERED_PLANS and max(plan.peak_bytes) < REMEMBERED_BYTES and not plan.host_bytes and not plan.disk_bytes:
            if len(plans) >= REMEMBERED_PLANS:
                plans.clear()
            plans[question] = plan
        return plan

    return planned
