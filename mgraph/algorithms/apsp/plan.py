"""Plans of all pairs of shortest paths: the choice among the candidates that fit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arguments import checked_choice
from ...dtypes import distance_dtype
from ...errors import ArgumentValue, InputError, MemoryLimitError
from ...kernels import minplus as minplus_kernels
from ...planning.devices import DeviceSpec, unheld
from ...planning.fit import refusal, shortfall
from ...planning.kernels import check_block
from ...planning.plan import CHOSEN, Alternative, Plan
from ...planning.remembered import remembered
from . import candidates
from .detail import COMPONENTS_FIRST
from .request import Request

#: The name of the blocked method that derives predecessors from its distances, among the alternatives.
DERIVED = "blocked, predecessors derived"

#: "auto" prefers Floyd and Warshall's algorithm on the whole matrix, whose result is the same however it is computed.
#: Another candidate must be predicted faster by this factor and by this number of seconds.
ADVANTAGE = {"sssp": 2.0, "johnson": 2.0, COMPONENTS_FIRST: 1.1, DERIVED: 1.1}
WORTH = 0.01

#: What is added to the name of searches whose rows go to a temporary file.
TO_FILE = ", to a file"

#: The methods of `mgraph.apsp`.
METHODS = ("blocked", "naive", "squaring", "sssp", "johnson")

#: The methods that are there to compare: they are used only if the caller names them.
ONLY_IF_NAMED = ("naive", "squaring")

#: The methods that search from every source; they do not compute in int16.
SEARCHES = ("sssp", "johnson")


@remembered
def planned(
    n: int,
    m: int,
    specs: tuple[DeviceSpec, ...],
    *,
    method: str = "auto",
    dtype: Any = None,
    predecessors: bool = False,
    intermediate: bool = False,
    block: int | None = None,
    span: int | None = None,
    memory_limit: int | None = None,
    nonnegative: bool = True,
    exact: bool = False,
    components: tuple[int, ...] = (),
    network: float | None = None,
    gpus_per_node: int = 8,
    weighted: bool = True,
    directed: bool = True,
    gathered: bool = False,
    weight_bytes: int = 0,
    derived: bool = False,
    by_component: bool = False,
) -> Plan:
    """Compare the candidates for all pairs, and return the best that fits.

    With method ``"blocked"``, `derived` asks for predecessors that are derived from the finished distances. With method
    ``"auto"``, `apart` asks for a solve of the components one by one, if there are several.
    """
    request = Request(
        n=n,
        m=m,
        specs=specs,
        dtype=distance_dtype(None, dtype),
        predecessors=predecessors,
        intermediate=intermediate,
        block=block,
        span=span,
        memory_limit=memory_limit,
        nonnegative=nonnegative,
        exact=exact,
        components=components,
        network=network,
        gpus_per_node=gpus_per_node,
        weighted=weighted,
        directed=directed,
        gathered=gathered,
        weight_bytes=weight_bytes,
    )
    _check(request, method)
    return _best(request, method, derived, by_component)


def _best(request: Request, method: str, derived: bool, by_component: bool) -> Plan:
    """Return the best candidate that fits, beside which its plan names the others; or raise MemoryLimitError."""
    ways = _ways(request, method)
    shortfalls = {name: shortfall(way, request.memory_limit) for name, way in ways.items()}
    considered = _considered(ways, method, derived, by_component)
    chosen = next((name for name in considered if not shortfalls[name]), None)
    if chosen is None:
        raise MemoryLimitError(*_refused(ways, shortfalls, considered, request.memory_limit))

    alternatives = tuple(
        Alternative(
            name, way.seconds, max(way.peak_bytes), _verdict(name, ways, shortfalls, chosen, method, by_component)
        )
        for name, way in sorted(ways.items(), key=lambda item: item[1].seconds)
    )
    return replace(ways[chosen], alternatives=alternatives)


def _verdict(
    name: str, ways: dict[str, Plan], shortfalls: dict[str, str], chosen: str, method: str, by_component: bool
) -> str:
    """Return whether a candidate was chosen, else why not."""
    if name == chosen:
        return "chosen"
    if shortfalls[name] or ways[name].seconds >= ways[chosen].seconds:
        return shortfalls[name] or "fits"
    if method != "auto":
        return f"fits; method={method!r} was requested"
    if by_component and chosen == COMPONENTS_FIRST:
        return "fits; components first was requested"
    if name in ONLY_IF_NAMED:
        return f"fits; only used if method={name!r} is given"
    factor = ADVANTAGE.get(name.removesuffix(TO_FILE), 1)
    return f"fits; chosen only if at least {factor:g} times as fast and {WORTH * 1e3:g} ms shorter"


def _check(request: Request, method: str) -> None:
    """Raise unless the method exists and has what is asked of it."""
    if request.predecessors and request.intermediate:
        raise InputError(
            ArgumentValue("predecessors", True),
            " and ",
            ArgumentValue("intermediate", True),
            " exclude each other: ask for one of them",
        )
    checked_choice("method", method, ("auto", *METHODS))
    if request.intermediate and method in ("squaring", *SEARCHES):
        raise InputError(
            ArgumentValue("intermediate", True),
            " needs method 'blocked' or 'naive', got ",
            ArgumentValue("method", method),
            ": use one of these, or ",
            ArgumentValue("predecessors", True),
        )
    check_block(request.block, minplus_kernels.of_kind(request.kind).BLOCKS)


def _considered(ways: dict[str, Plan], method: str, derived: bool, by_component: bool) -> list[str]:
    """Return the candidates that the method allows, the best first."""
    if method == "auto" and by_component and COMPONENTS_FIRST in ways:
        return [COMPONENTS_FIRST]
    if method == "auto":
        open_to_choice = [name for name in ways if name not in ONLY_IF_NAMED]
        return sorted(open_to_choice, key=lambda name: _penalized_seconds(name, ways[name].seconds))
    if method == "blocked" and derived and DERIVED in ways:
        return [DERIVED]
    names = ("blocked", "blocked, out of core") if method == "blocked" else (method, f"{method}{TO_FILE}")
    return [name for name in names if name in ways]


def _refused(
    ways: dict[str, Plan], shortfalls: dict[str, str], considered: list[str], memory_limit: int | None
) -> tuple[Any, ...]:
    """Return the words of the error if none of the candidates fits: of the usual one, and of what comes nearest."""
    first = "blocked" if "blocked" in considered else considered[0]
    words = refusal(ways[first], shortfalls[first], memory_limit)
    if first != "blocked":
        return words
    if shortfalls.get("blocked, out of core"):
        return *words, f"; out of core it {shortfalls['blocked, out of core']}"
    others = [name for name in considered if name in SEARCHES]
    return (*words, f"; by method {others[0]!r} it {shortfalls[others[0]]}") if others else words


def _ways(request: Request, method: str) -> dict[str, Plan]:
    """Return a plan of each way that applies, whether it fits or not, by its name among the alternatives."""
    sources = "sssp" if request.nonnegative else "johnson"
    # Potentials cost floats some of their digits, so with negative weights the caller must name the method.
    searchable = request.m and not request.intermediate and (request.nonnegative or request.dtype.kind == "i")
    # A matrix is filled from copies of the edges; searches take those that the graph keeps on the device.
    on_matrix = request if request.gathered else replace(request, specs=unheld(request.specs))
    ways = {"blocked": candidates.blocked(on_matrix, derived=False)}
    if request.predecessors and request.exact and request.nonnegative and request.m and request.dtype != np.int16:
        ways[DERIVED] = candidates.blocked(on_matrix, derived=True)
    if len(request.components) > 1 and len(request.specs) == 1:
        ways[COMPONENTS_FIRST] = candidates.by_component(on_matrix)
    if len(request.specs) == 1 and request.n > request.pivots and shortfall(ways["blocked"], request.memory_limit):
        ways["blocked, out of core"] = candidates.out_of_core(on_matrix)
    if searchable and request.dtype != np.int16:
        ways |= _searches(request, sources)
    # A small matrix takes less time to solve than these to plan.
    compared = not ways["blocked"].detail.at_once or method in ONLY_IF_NAMED
    if compared and not request.intermediate:
        ways["squaring"] = candidates.squaring(on_matrix)
    if compared:
        ways["naive"] = candidates.naive(on_matrix)
    if method in SEARCHES:
        if request.dtype == np.int16:
            raise InputError(
                ArgumentValue("method", method),
                " does not compute in int16: use ",
                ArgumentValue("dtype", "int32"),
                " or 'auto'",
            )
        ways |= _searches(request, method)
    return ways


def _searches(request: Request, method: str) -> dict[str, Plan]:
    """Return the searches from every vertex; where their rows do not fit, also those whose rows go to a file."""
    ways = {method: candidates.by_source(request, method)}
    if len(request.specs) == 1 and shortfall(ways[method], request.memory_limit):
        ways[f"{method}{TO_FILE}"] = candidates.by_source(request, method, to_file=True)
    return ways


def _penalized_seconds(way: str, seconds: float) -> float:
    """Return the seconds to compare a way by: the predicted ones, with the advantage that it must have."""
    name = way.removesuffix(TO_FILE)
    return seconds * ADVANTAGE.get(name, 1) + WORTH * (name in ADVANTAGE)


def quickest(plans: Sequence[Plan]) -> int:
    """Return the index of the best of several plans, by the rule that chose the way of each."""

    def handicapped(number: int) -> float:
        way = next(way for way in plans[number].alternatives if way.verdict == CHOSEN)
        return _penalized_seconds(way.name, way.seconds)

    return min(range(len(plans)), key=handicapped)
