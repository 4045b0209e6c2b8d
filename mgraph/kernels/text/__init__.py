"""Operations that read numbers from text, for CPUs only."""

from typing import NamedTuple, Protocol

from ...arrays import Array
from ..family import Family

#: Operations that only a CPU has.
HOST_ONLY = frozenset({"threads", "parse"})


class Grammar(NamedTuple):
    """How a line of numbers is written.

    Attributes
    ----------
    comma : bool
        Whether a comma separates columns; else blanks do.
    weighted : bool
        Whether a third column holds weights.
    cut : bool
        Whether the rest of a line is ignored.
    inline : bool
        Whether a comment may follow the numbers.
    tag, comment, other : int
        The byte that every line begins with, or 0; the bytes that begin a comment.
    base, limit : int
        The first id, and the number of possible ids.
    """

    comma: bool
    weighted: bool
    cut: bool
    inline: bool
    tag: int
    comment: int
    other: int
    base: int
    limit: int


class Columns(NamedTuple):
    """Where the numbers of a text go; each part of the text has its own range of places.

    Attributes
    ----------
    src, dst : array of int32 or int64, shape (places,)
        The ids.
    whole : array of int64, shape (places,)
        Weights without a point or an exponent. Empty without weights, as the next two.
    real : array of float64, shape (places,)
        All weights.
    bits : array of uint64, shape (places,)
        The bits of `real`.
    """

    src: Array
    dst: Array
    whole: Array
    real: Array
    bits: Array


class Operations(Protocol):
    """What `mgraph.kernels.text.host` implements."""

    def threads(self) -> int:
        """Return the number of threads that the operations run on."""

    def parse(self, text: Array, cuts: Array, places: Array, grammar: Grammar, to: Columns, lines: Array) -> None:
        """Read the lines of each part of a text.

        Parameters
        ----------
        text : array of uint8
            The text.
        cuts, places : array of int64, shape (parts + 1,) and (parts,)
            Where parts begin, at the beginnings of lines, and where their numbers go.
        lines : array of int64, shape (parts, 3)
            Receives for each part its number of edges, whether a weight has a point or an exponent, and how many lines
            end in it. The first is -1 if a line is not plain; it may be right or wrong.
        """


_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
