"""Amounts in words: three digits and a unit."""

import math

#: Text for a missing amount.
NONE = "–"

_PREFIXES = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))
_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_SIZES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def digits(value: float) -> str:
    """Return a number with three digits, or with all digits before the point if these are more."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = int(f"{value:.2e}".partition("e")[2])  # of the rounded number: 9.996 has two digits before the point
    places = max(0, 2 - exponent)
    return f"{value:,.{places}f}"


def seconds(value: float | None) -> str:
    """Return a time, such as ``"1.25 ms"``."""
    return NONE if value is None else _scaled(value, _TIMES)


def rate(value: float | None, unit: str = "") -> str:
    """Return work in a second, such as ``"15.2 Tmin-plus/s"``."""
    if value is None:
        return NONE
    text = _scaled(value, (*_PREFIXES, ("", 1.0)))
    return f"{text}{unit}" if " " in text else f"{text} {unit}".strip()


def size(value: float | None) -> str:
    """Return a number of bytes, such as ``"1.50 GiB"``."""
    return NONE if value is None else _scaled(value, (*_SIZES, ("B", 1)))


def share(value: float | None) -> str:
    """Return a part of a whole, such as ``"87 %"``."""
    if value is None:
        return NONE
    return f"{100 * value:.1f} %" if abs(value) < 0.0995 and value else f"{100 * value:.0f} %"


def times(value: float | None) -> str:
    """Return a ratio, such as ``"2.50 ×"``."""
    return NONE if value is None else f"{digits(value)} ×"


def count(value: object) -> str:
    """Return a parameter: integers with commas, large powers of two as powers, anything else as it is."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, int):
        power = value.bit_length() - 1
        return "2" + str(power).translate(_RAISED) if power >= 17 and value == 1 << power else f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    # Half a unit of the third digit early, so that 999.9 ms is 1.00 s.
    unit, one = next(((unit, one) for unit, one in units if abs(value) >= 0.9995 * one), units[-1])
    return f"{digits(value / one)} {unit}".strip()
