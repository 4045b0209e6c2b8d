"""A demand between vertices, as a call is given it: pairs with amounts, or a matrix."""

from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from ..errors import ArgumentValue, InputError
from ..graph.checks import host_array
from ..graph.question import Question

#: Sums of integers are exact in float64 below this.
MOST = 2**53

_EXPECTED = "three sequences, (sources, targets, amounts), or a matrix of amounts"


class Demand(NamedTuple):
    """How much goes from which vertices to which others.

    Attributes
    ----------
    sources, targets : array of int32
        The ends of each pair, or of the rows and the columns of a table.
    amounts : array of int64 or float64
        How much each pair demands; of a table, row by row.
    table : bool
        Whether there is an amount from each source to each target.
    """

    sources: np.ndarray
    targets: np.ndarray
    amounts: np.ndarray
    table: bool


def checked_demand(question: Question, demand: Any, sources: Any, targets: Any) -> Demand:
    """Return the demand that a call is given, or raise InputError."""
    if isinstance(demand, tuple):
        if len(demand) != 3:
            raise InputError(argument="demand", value=demand, expected=_EXPECTED)
        for name, value in (("sources", sources), ("targets", targets)):
            if value is not None:
                raise InputError(ArgumentValue(name), " goes with a matrix: pairs have their own ends")
        starts, ends = question.vertices("sources", demand[0]), question.vertices("targets", demand[1])
        amounts = _checked_amounts(demand[2])
        for name, given in (("targets", ends.shape), ("amounts", amounts.shape)):
            if given != starts.shape:
                raise InputError(argument=name, value=given, expected=f"of shape {starts.shape}, one for each source")
        return Demand(starts, ends, amounts, table=False)
    rows, columns = (
        np.arange(question.n, dtype=np.int32) if values is None else question.vertices(name, values)
        for name, values in (("sources", sources), ("targets", targets))
    )
    sparse = hasattr(demand, "tocoo")
    found: Any = demand.tocoo() if sparse else host_array(demand, "demand")
    if found.shape != (len(rows), len(columns)):
        shape = f"of shape {len(rows), len(columns)}, an amount from each of sources to each of targets"
        raise InputError(argument="demand", value=found.shape, expected=shape)
    if sparse:
        starts, ends = (some[devices.to_host(number)] for some, number in ((rows, found.row), (columns, found.col)))
        return Demand(starts, ends, _checked_amounts(found.data), table=False)
    return Demand(rows, columns, _checked_amounts(found).ravel(), table=True)


def _checked_amounts(values: Any) -> np.ndarray:
    """Return amounts as int64 or float64, or raise InputError."""
    given = host_array(values, "amounts")
    if given.dtype.kind not in "iuf" and given.size:
        raise InputError(argument="amounts", value=given.ravel()[:1].tolist()[0], expected="numbers of 0 or more")
    amounts = given.astype(np.float64)
    wrong = ~(amounts >= 0) | np.isinf(amounts)
    if wrong.any():
        raise InputError(argument="amounts", value=given[wrong][0].item(), expected="numbers of 0 or more")
    if given.dtype.kind == "f":
        return amounts
    if amounts.sum() >= MOST:
        high, low = np.divmod(given.astype(np.uint64), 1 << 32)
        total = (int(high.sum()) << 32) + int(low.sum())  # which is not rounded
        wanted = f"integers that add up to less than {MOST}"
        raise InputError(": give floats", argument="amounts", value=total, expected=wanted)
    return given.astype(np.int64)
