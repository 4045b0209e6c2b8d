"""Checks of a public call's arguments: vertices, words, truth values, integers, sizes of memory, arrays."""

import contextlib
import itertools
import math
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import lazy
from .arrays import Array
from .errors import Argument, ArgumentValue, InputError, shown

#: The measures of distances by their names, besides ``("within", radii)``.
MEASURES = ("eccentricity", "mean", "closeness", "harmonic", "out_closeness", "out_harmonic", "reached")

#: How measures begin that have another name where the distances from each source of a directed graph count.
OUT = "out_"

#: The measures that have a column for each of several radii, and of several bins.
WITHIN, HISTOGRAM = "within", "histogram"


def checked_vertices(name: str, values: Any, n: int, *advice: str | Argument | ArgumentValue) -> tuple[int, ...]:
    """Return the vertices that an argument names, or raise InputError, with `advice` for a single vertex."""
    if hasattr(values, "to_numpy"):  # a vector on workers, or a column of pandas
        values = values.to_numpy()
    scalar = isinstance(values, str) or (isinstance(values, np.ndarray) and not values.ndim)
    if scalar or not isinstance(values, (list, tuple, np.ndarray, Sequence)):  # the abstract type takes longest
        single = isinstance(values, (str, int, np.integer))
        advice = advice or ((f": for one vertex give [{shown(values)}]",) if single else ())
        raise InputError(*advice, argument=name, value=values, expected="a sequence of vertices")
    if not len(values):
        raise InputError(argument=name, value=values, expected="a sequence of one vertex or more")
    if not n:
        raise InputError(argument=name, value=values[0], expected="a vertex, and the graph has none")
    return tuple([checked_integer(name, value, 0, n - 1) for value in values])


def checked_seconds(name: str, value: Any, least: float) -> float:
    """Return an argument that is a duration as Dask writes them, a number or such as ``"2 minutes"``, in seconds.

    Raises
    ------
    InputError
        If it is not a duration of at least `least` seconds.
    """
    # Dask's parser raises errors of many types.
    with contextlib.suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        seconds = None if isinstance(value, bool) else float(lazy.dask().utils.parse_timedelta(value))
        if seconds is not None and least <= seconds < float("inf"):
            return seconds
    wanted = f"a number of seconds, {least:g} or more, or such as '2 minutes'"
    raise InputError(argument=name, value=value, expected=wanted)


_SIZE = re.compile(r"(\d{1,30}(?:\.\d{0,30})?(?:e\+?\d\d?)?) *(?:([kmgt])(i?))?b?", re.IGNORECASE)


def one_of(words: Sequence[str]) -> str:
    """Return words as a message lists them.

    Examples
    --------
    >>> from mgraph.arguments import one_of
    >>> one_of(["float32", "float64", "int32"])
    'float32, float64 or int32'
    """
    *rest, last = words
    return f"{', '.join(rest)} or {last}" if rest else last


def as_written(call: str, *arguments: Any, **options: Any) -> str:
    """Return a call with a client as it is written in Python; options that are None are left out.

    Examples
    --------
    >>> from mgraph.arguments import as_written
    >>> as_written("mgraph.generate.rmat", 20, seed=1, device=None)
    'mgraph.generate.rmat(20, seed=1, client=client)'
    """
    given = [f"{name}={shown(value)}" for name, value in options.items() if value is not None]
    return f"{call}({', '.join([*map(repr, arguments), *given])}, client=client)"


def check_without_client(**given: Any) -> None:
    """Raise InputError if an argument about the workers of a client is given where there is no client."""
    for name, value in given.items():
        if value is not None:
            raise InputError(Argument(name), " goes with ", ArgumentValue("client"), ": give both or neither")


def check_left_out(given: Mapping[str, Any], *reason: str | Argument | ArgumentValue) -> None:
    """Raise InputError if one of some arguments is given, which the reason ends with."""
    for name, value in given.items():
        if value is not None:
            raise InputError(*reason, ArgumentValue(name, value))


def checked_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return an argument that is one of some words, or raise InputError.

    Examples
    --------
    >>> from mgraph.arguments import checked_choice
    >>> checked_choice("connection", "weak", ("weak", "strong"))
    'weak'
    """
    if not isinstance(value, str) or value not in choices:
        raise InputError(argument=name, value=value, expected=one_of([repr(choice) for choice in choices]))
    return value


def checked_flag(name: str, value: Any) -> bool:
    """Return an argument that is True or False, or raise InputError."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(argument=name, value=value, expected="True or False")
    return bool(value)


def checked_predecessors(value: Any) -> bool | str:
    """Return an argument that is True, False or "any", or raise InputError.

    Examples
    --------
    >>> from mgraph.arguments import checked_predecessors
    >>> checked_predecessors("any")
    'any'
    """
    if isinstance(value, str) and value == "any":
        return "any"
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(argument="predecessors", value=value, expected="True, False or 'any'")
    return bool(value)


def checked_integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an argument that is an integer from `least` to `most`, both included, or raise InputError.

    Examples
    --------
    >>> from mgraph.arguments import checked_integer
    >>> checked_integer("source", 3, 0, 9)
    3
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    number = int(value) if whole else least  # compared as Python's own, as a subclass may compare otherwise
    if not whole or number < least or (most is not None and number > most):
        wanted = f"of {least} or more" if most is None else f"in [{least}, {most + 1})"
        raise InputError(argument=name, value=value, expected=f"an integer {wanted}")
    return number


def warn_caller(message: Warning) -> None:
    """Warn at the line that called mgraph, whatever decorators lie between."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "mgraph",
        "contextlib",
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def checked_limit(limit: Any, dtype: np.dtype) -> float:
    """Return the greatest distance of `dtype` that is at most an argument `limit`; infinite for None."""
    if limit is None:
        return float("inf")
    if isinstance(limit, bool) or not isinstance(limit, (int, float, np.integer, np.floating)) or not limit >= 0:
        raise InputError(argument="limit", value=limit, expected="a number of 0 or more")
    exact = limit.item() if isinstance(limit, np.generic) else limit  # a NumPy number compares in its own type
    if dtype.kind == "i":
        return float(exact) if exact == float("inf") else math.floor(exact)
    if exact > float(np.finfo(dtype).max):
        return float("inf")
    rounded = dtype.type(exact)
    return float(np.nextafter(rounded, dtype.type(0)) if float(rounded) > exact else rounded)


def checked_depth(limit: Any, n: int) -> int | None:
    """Return the greatest distance to search to in a graph of `n` vertices, or None."""
    return None if limit is None else min(checked_integer("limit", limit, 0), n)


def checked_number(name: str, value: Any, least: float) -> float:
    """Return an argument that is a number of at least `least`, which may be infinite, or raise InputError."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not value >= least:
        raise InputError(argument=name, value=value, expected=f"a number of {least:g} or more")
    exact: float = value.item() if isinstance(value, np.generic) else value  # a NumPy number compares in its own type
    return exact if exact <= sys.float_info.max else math.inf  # an integer may be greater than any float


class Reduced(NamedTuple):
    """What an argument `reduce` asks for: measures, the radii of `WITHIN`, and the edges of the bins of `HISTOGRAM`."""

    measures: tuple[str, ...] = ()
    radii: tuple[float, ...] = ()
    bins: tuple[float, ...] = ()


def checked_reduce(reduce: Any, direction: str = "", reversing: str = "") -> Reduced:
    """Return what an argument `reduce` asks for, each measure once, or raise InputError.

    `direction` says which distances of a directed graph are measured, ``"from"`` or ``"to"`` the sources; closeness by
    the others has another name. `reversing` is the call that takes ``reverse``, if it is another one.

    Examples
    --------
    >>> from mgraph.arguments import checked_reduce
    >>> checked_reduce(["mean", ("within", [2, 5])])
    Reduced(measures=('mean',), radii=(2, 5), bins=())
    """
    if reduce is None:
        return Reduced()
    words = ", ".join(map(repr, MEASURES))
    wanted = f"{words}, {WITHIN!r} with radii or {HISTOGRAM!r} with the edges of bins, or several of these"
    single = _is_pair(reduce, WITHIN) or _is_pair(reduce, HISTOGRAM)
    several = isinstance(reduce, Sequence) and not isinstance(reduce, str) and not single
    names: dict[str, None] = {}
    radii: tuple[float, ...] = ()
    bins: tuple[float, ...] = ()
    for each in reduce if several else [reduce]:
        if _is_pair(each, HISTOGRAM):
            if bins:
                raise InputError(argument="reduce", value=reduce, expected=f"{HISTOGRAM!r} once, with all edges")
            bins = checked_bins("reduce", each[1], f"{HISTOGRAM!r} with ")
        elif _is_pair(each, WITHIN):
            if not len(each[1]):
                raise InputError(argument="reduce", value=each, expected=f"{WITHIN!r} with one radius or more")
            radii += tuple(_checked_radius(radius) for radius in each[1])
        elif isinstance(each, str) and each in MEASURES:
            if direction == "from" and each in ("closeness", "harmonic"):
                other = ArgumentValue("reduce", OUT + each)
                sense = f" is of the distances to each source: give {reversing}"
                advice = sense, ArgumentValue("reverse", True), ", or ", other, " for those from it"
                raise InputError(ArgumentValue("reduce", each), *advice)
            if direction == "to" and each.startswith(OUT):
                sense = " is of the distances from each source: leave out "
                raise InputError(ArgumentValue("reduce", each), sense, ArgumentValue("reverse"))
            names[each] = None
        else:
            raise InputError(argument="reduce", value=each, expected=wanted)
    if not names and not radii and not bins:
        raise InputError(argument="reduce", value=reduce, expected=wanted)
    return Reduced(tuple(names), radii, bins)


def checked_bins(name: str, edges: Any, prefix: str = "") -> tuple[float, ...]:
    """Return the edges of bins, two or more, each greater than the one before; only the last may be infinite.

    Examples
    --------
    >>> from mgraph.arguments import checked_bins
    >>> checked_bins("bins", [0, 1.5, float("inf")])
    (0, 1.5, inf)
    """
    wanted = f"{prefix}two edges or more, numbers of which each is greater than the one before"
    several = isinstance(edges, Sequence | np.ndarray) and not isinstance(edges, str) and np.ndim(edges) == 1
    if not several or len(edges) < 2:
        raise InputError(argument=name, value=edges, expected=wanted)
    try:
        found = tuple(checked_number(name, edge, -sys.float_info.max) for edge in edges)
        found = tuple(edge if edge <= sys.float_info.max else float("inf") for edge in found)
    except InputError:
        raise InputError(argument=name, value=edges, expected=wanted) from None
    if any(low >= high for low, high in itertools.pairwise(found)):
        raise InputError(argument=name, value=edges, expected=wanted)
    return found


def _checked_radius(radius: Any) -> float:
    """Return a radius; infinity for an integer that no float holds."""
    try:
        found = checked_number("reduce", radius, 0)
    except InputError:
        expected = f"{WITHIN!r} with radii that are numbers of 0 or more"
        raise InputError(argument="reduce", value=radius, expected=expected) from None
    return found if found <= sys.float_info.max else float("inf")


def _is_pair(value: Any, wanted: str) -> bool:
    """Return whether a value is a measure's name and some numbers."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        return False
    name, numbers = value
    there = isinstance(numbers, Sequence | np.ndarray) and not isinstance(numbers, str)
    return isinstance(name, str) and name == wanted and there


def checked_bytes(name: str, value: Any, least: int = 1) -> int:
    """Return an argument that is a size of memory, in bytes.

    Parameters
    ----------
    name : str
        The argument's name.
    value : int, float or str
        A whole number of bytes, or a string such as ``"1.5e9"``, ``"800MB"`` or ``"1GiB"``, which is rounded down to
        whole bytes.
    least : int
        The least number of bytes.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> from mgraph.arguments import checked_bytes
    >>> checked_bytes("memory_limit", "1.5GiB")
    1610612736
    """
    size = value
    if isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
        unit = (1024 if match[3] else 1000) ** (" kmgt".index((match[2] or " ").lower()))
        size = int(match[1]) * unit if match[1].isdecimal() else int(float(match[1]) * unit)
    if isinstance(size, (float, np.floating)) and math.isfinite(size) and size == int(size):
        size = int(size)
    try:
        return checked_integer(name, size, least)
    except InputError:
        wanted = f"a number of bytes, {least} or more, such as 150000000000, '150GB' or '140GiB'"
        raise InputError(argument=name, value=value, expected=wanted) from None


def size_in_words(size: float) -> str:
    """Return a number of bytes in words."""
    if size < 1024:
        return f"{int(size)} B"
    for unit in ("KiB", "MiB"):
        size /= 1024
        if size < 999.5:  # with more than three digits, use the next unit
            return f"{size:.3g} {unit}"
    for unit in ("GiB", "TiB"):
        size /= 1024
        if size < 999.995:
            return f"{size:.2f} {unit}"
    return f"{size / 1024:,.2f} PiB"


def as_array(values: Any, name: str, xp: Any = np) -> Array:
    """Return an argument as an array, or raise InputError for masked elements and for rows of unequal lengths."""
    if np.ma.is_masked(values):
        advice = ": fill masked elements, or leave out what they belong to"
        raise InputError(advice, argument=name, value=np.ma.masked, expected="an array without masked elements")
    try:
        return xp.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f": {error}", argument=name, value=values, expected="convertible to an array") from error
