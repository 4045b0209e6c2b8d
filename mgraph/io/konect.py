"""What a text of KONECT says of itself in its first lines: '% FORMAT WEIGHTS', then '% edges vertices vertices'.

FORMAT is ``sym`` (edges without direction), ``asym`` (with one) or ``bip`` (between left and right vertices, without
direction). Ids begin at 1, those of right vertices too; a weight and a time may follow them. The second line may be
missing. The format is that of J. Kunegis' Koblenz Network Collection, http://konect.cc.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError

#: What WEIGHTS may be, and whether the third column is a weight then. Of "positive" it says how often there is an edge.
_WEIGHTS = {
    "unweighted": False,
    "positive": False,
    "posweighted": True,
    "signed": True,
    "multisigned": True,
    "weighted": True,
    "multiweighted": True,
    "multiposweighted": True,
    "dynamic": False,
}

_FORMAT = re.compile(rb"[ \t]*%%[ \t]*(sym|asym|bip)(?:[ \t]+(%b))?[ \t]*\r?(?:\n|$)" % "|".join(_WEIGHTS).encode())
_SIZES = re.compile(rb"[ \t]*%[ \t]*[0-9]{1,18}[ \t]+([0-9]{1,18})(?:[ \t]+([0-9]{1,18}))?[ \t]*\r?(?:\n|$)")


class Konect(NamedTuple):
    """What the first lines say.

    Attributes
    ----------
    format : str
        ``"sym"``, ``"asym"`` or ``"bip"``.
    weighted : bool
        Whether a third column holds weights, if there is one.
    counted : bool
        Whether it holds how often there is an edge.
    sizes : tuple of int or None
        The numbers of vertices that may be at the left and at the right.
    """

    format: str
    weighted: bool
    counted: bool
    sizes: tuple[int, int] | None

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self.format == "asym"

    def vertices(self, left: int, right: int) -> int:
        """Return the number of vertices, given how many there are at the left and at the right."""
        return left + right if self.format == "bip" else max(left, right)

    def ends(self, src: np.ndarray, dst: np.ndarray, left: int, relabel: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return ends that were numbered from 0 as vertices, or as ids from 1; those at the left come first."""
        right = dst + np.int64(left) if self.format == "bip" else dst
        return (src + 1, right + 1) if relabel else (src, right)


def konect_of(path: Path, head: bytes) -> Konect | None:
    """Return what the first lines of a text say, None if they do not say that it is of KONECT.

    Raises
    ------
    FormatError
        If edges come and go, and for too many vertices.
    """
    found = _FORMAT.match(head)
    if found is None:
        return None
    format, weights = found[1].decode(), (found[2] or b"").decode()
    if weights == "dynamic":
        raise FormatError(f"{path}, line 1: edges of a 'dynamic' network come and go, which no graph holds")
    numbers = _SIZES.match(head, found.end())
    sizes = None if numbers is None else (int(numbers[1]), int(numbers[2] or numbers[1]))
    konect = Konect(format, _WEIGHTS.get(weights, True), weights == "positive", sizes)
    if sizes is not None and konect.vertices(*sizes) > MAX_VERTICES:
        raise FormatError(
            f"{path}, line 2: {konect.vertices(*sizes)} vertices are beyond int32: at most {MAX_VERTICES}"
        )
    return konect
