"""Lines of two ids, and a weight if there are weights, in the plain form in which programs write them.

Each core reads a part of the text, byte by byte. A line that is not plain ends its part: a sign before an id, more than
18 digits, ``inf``, a control character. It may be right or wrong; whoever asked then reads the text in another way. So
nothing is accepted here that would be refused there.

A decimal fraction is the integer of its digits times a power of ten. The product with a table of powers of five, of 128
bits, is rounded to the nearest float64 if its bits determine that, as they nearly always do [1]_; otherwise the line is
not plain.

References
----------
.. [1] D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51(8), 2021.
"""

import numpy as np

from ...device.numba import numba, prange
from ...device.numba.caching import njit

TAB, NEWLINE, RETURN, BLANK, COMMA, MINUS, POINT, ZERO, NINE, DELETE = b"\t\n\r ,-.09\x7f"

_DIGITS = 18  # of an integer that fits 64 bits
_LEAST, _MOST = -342, 308  # the exponents of ten in the table


def _powers_of_five():
    """Return the first 128 bits of the powers of five: the first 64, and the next."""
    high, low = [], []
    for q in range(_LEAST, _MOST + 1):
        power = 5 ** abs(q)
        if q < 0:
            z = (power - 1).bit_length()
            power = (1 << (z + 127 if q >= -27 else 2 * z + 128)) // power + 1
        power = power << 128 >> power.bit_length()
        high.append(power >> 64)
        low.append(power & (1 << 64) - 1)
    return np.array(high, np.uint64), np.array(low, np.uint64)


_HIGH, _LOW = _powers_of_five()


def threads():
    return int(numba.get_num_threads())


@njit(parallel=True, nogil=True, cache=True)
def parse(text, cuts, places, grammar, to, lines):
    src = to.src
    dst = to.dst
    whole = to.whole
    real = to.real
    bits = to.bits
    for part in prange(len(places)):
        begin, end = cuts[part], cuts[part + 1]
        count, floats, ends = _parse(text, begin, end, places[part], grammar, src, dst, whole, real, bits)
        lines[part, 0] = count
        lines[part, 1] = floats
        lines[part, 2] = ends


@njit(nogil=True, cache=True)
def _parse(text, begin, end, place, grammar, src, dst, whole, real, bits):
    """Read the lines from `begin` to `end`; return what `parse` writes of them."""
    at, place, first, floats, ends = np.uint64(begin), np.uint64(place), np.uint64(place), False, 0
    end, one = np.uint64(end), np.uint64(1)
    while at < end:
        at = _blanks(text, at, end)
        if at == end:
            break
        c = text[at]
        if c != NEWLINE and c != RETURN and c != grammar.comment and c != grammar.other:
            if grammar.tag:
                after = _blanks(text, at + one, end)
                if c != grammar.tag or after == at + one:
                    return np.int64(-1), floats, ends
                at = after
            at, u = _integer(text, at, end)
            at, v = _integer(text, _separated(text, at, end, grammar.comma), end)
            u, v = u - grammar.base, v - grammar.base
            if u < 0 or v < 0 or u >= grammar.limit or v >= grammar.limit:
                return np.int64(-1), floats, ends
            src[place] = u
            dst[place] = v
            if grammar.weighted:
                start = _separated(text, at, end, grammar.comma)
                negative = start < end and text[start] == MINUS
                if negative:
                    start += one
                at, w = _integer(text, start, end)
                if at < end and (text[at] == POINT or text[at] | 32 == 101):
                    w = np.int64(0)
                    floats = True
                    at, value = _fraction(text, start, end)
                    if at == np.uint64(0):
                        return np.int64(-1), floats, ends
                    bits[place] = value | np.uint64(negative) << np.uint64(63)
                elif w < 0:
                    return np.int64(-1), floats, ends
                else:
                    real[place] = -np.float64(w) if negative else np.float64(w)
                    whole[place] = -w if negative else w
            place += one
            at, complete = _complete(text, at, end, grammar)
            if not complete:
                return np.int64(-1), floats, ends
        at, plain = _line_end(text, at, end)
        if not plain:
            return np.int64(-1), floats, ends
        ends += at < end
        at += one
    return np.int64(place - first), floats, ends


@njit(nogil=True, cache=True, inline="always")
def _complete(text, at, end, grammar):
    """Return where the blanks behind the columns end, and whether only what is ignored follows."""
    c = text[at] if at < end else np.uint8(NEWLINE)
    blank = c == BLANK or c == TAB
    if blank:
        at = _blanks(text, at, end)
        c = text[at] if at < end else np.uint8(NEWLINE)
    comment = grammar.inline and (c == grammar.comment or c == grammar.other)
    beyond = grammar.cut and (c == COMMA if grammar.comma else blank)  # another column, which is ignored
    return at, c == NEWLINE or c == RETURN or comment or beyond


@njit(nogil=True, cache=True, inline="always")
def _line_end(text, at, end):
    """Return where a line ends, and whether the rest of it, which is ignored, holds no control characters."""
    one, plain = np.uint64(1), True
    while plain and at < end and text[at] != NEWLINE:
        c = text[at]
        if (c < BLANK and c != TAB and c != RETURN) or c == DELETE:
            plain = False
        elif c == RETURN and at + one < end and text[at + one] != NEWLINE:
            plain = False
        else:
            at += one
    return at, plain


@njit(nogil=True, cache=True, inline="always")
def _blanks(text, at, end):
    """Return where the blanks at `at` end."""
    while at < end and (text[at] == BLANK or text[at] == TAB):
        at += np.uint64(1)
    return at


@njit(nogil=True, cache=True, inline="always")
def _separated(text, at, end, comma):
    """Return where the next column begins, `end` if nothing separates it."""
    if comma:
        return at + np.uint64(1) if at < end and text[at] == COMMA else end
    after = _blanks(text, at, end)
    return after if after > at else end


@njit(nogil=True, cache=True, inline="always")
def _integer(text, at, end):
    """Return where the digits at `at` end, and their integer; a negative one if there are none or too many."""
    value, start = np.int64(0), at
    while at < end and ZERO <= text[at] <= NINE:
        value = value * 10 + np.int64(text[at] - ZERO)
        at += np.uint64(1)
    return at, value if np.uint64(1) <= at - start <= np.uint64(_DIGITS) else np.int64(-(1 << 62))


@njit(nogil=True, cache=True)
def _fraction(text, at, end):
    """Return where a decimal fraction ends, and the bits of the float64 next to it; 0 if they are not determined."""
    at, value, exponent = _decimal(text, at, end)
    if at == np.uint64(0) or value == np.uint64(0):
        return at, value
    bits = _nearest_float(value, exponent)
    return (at, bits) if bits else (bits, bits)


@njit(nogil=True, cache=True)
def _decimal(text, at, end):
    """Return where a decimal fraction ends, 0 if it has too many digits or none; its digits and the power of ten."""
    none = np.uint64(0), np.uint64(0), 0
    one, ten = np.uint64(1), np.uint64(10)
    digits, some, exponent, point, value = 0, False, 0, False, np.uint64(0)
    while at < end:
        c = text[at]
        if c == POINT and not point:
            point = True
        elif ZERO <= c <= NINE:
            some = True
            value = value * ten + np.uint64(c - ZERO)
            digits += value != np.uint64(0)
            exponent -= point
        else:
            break
        at += one
    if not some or digits > 19:
        return none
    if at < end and text[at] | 32 == 101:  # e
        at += one
        negative = at < end and text[at] == MINUS
        if at < end and (text[at] == MINUS or text[at] == 43):
            at += one
        at, power = _integer(text, at, end)
        if power < 0 or power > 1000:
            return none
        exponent += -power if negative else power
    return at, value, exponent


@njit(nogil=True, cache=True)
def _nearest_float(value, exponent):
    """Return the bits of the float64 next to ``value * 10**exponent``; 0 if they are not determined.

    It is Eisel and Lemire's algorithm, by the names of its variables.
    """
    none, one = np.uint64(0), np.uint64(1)
    if exponent < _LEAST or exponent > _MOST:
        return none
    w, shift = value, np.uint64(0)
    while not w >> np.uint64(63):
        w <<= one
        shift += one
    high, low = _product(w, _HIGH[exponent - _LEAST])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(w, _LOW[exponent - _LEAST])
        low += more
        if low < more:
            high += one
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and not -27 <= exponent <= 55:
        return none
    upper = high >> np.uint64(63)
    mantissa = high >> (upper + np.uint64(9))
    power2 = (217706 * exponent >> 16) + 63 + np.int64(upper) - np.int64(shift) + 1023
    if power2 <= 0 or power2 >= 1023 + 62:  # subnormal, or beyond int64
        return none
    if low <= one and -4 <= exponent <= 23 and mantissa & np.uint64(3) == one:
        if mantissa << (upper + np.uint64(9)) == high:
            mantissa &= ~one
    mantissa = (mantissa + (mantissa & one)) >> one
    if mantissa >= np.uint64(1) << np.uint64(53):
        mantissa = np.uint64(1) << np.uint64(52)
        power2 += 1
    return (mantissa & np.uint64((1 << 52) - 1)) | np.uint64(power2) << np.uint64(52)


@njit(nogil=True, cache=True, inline="always")
def _product(a, b):
    """Return the product of two integers of 64 bits: the high 64 bits, and the low."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half), a * b
