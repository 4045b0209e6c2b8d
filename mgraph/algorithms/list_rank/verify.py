"""Ranks of lists: 0 at the last element, elsewhere one more than at the successor."""

from typing import Any

from ... import device as devices
from ...arrays import Array
from ...errors import WrongResultError

#: Elements checked at a time.
AT_A_TIME = 1 << 26


def ranks(succ: Array, arrays: dict[str, Any], source: object) -> str:
    """Raise unless the last element of each list has rank 0, and any other one more than its successor."""
    place = devices.of(succ)
    with place.active():
        found = place.asarray(arrays["ranks"])
        for first in range(0, len(succ), AT_A_TIME):
            some, own = succ[first : first + AT_A_TIME], found[first : first + AT_A_TIME]
            last = some == place.xp.arange(first, first + len(some), dtype=succ.dtype)
            right = place.xp.where(last, own == 0, own == found[some] + 1)
            if not bool(right.all()):
                i = int((~right).argmax())
                raise WrongResultError(
                    f"element {first + i} has rank {int(own[i])}, its successor {int(found[int(some[i])])}"
                )
    return "one less at the successor"
