"""graph6 and sparse6: one graph without directions and weights, in printable characters of six bits.

The formats are those of B. McKay's nauty: https://users.cecs.anu.edu.au/~bdm/data/formats.txt. NetworkX reads them bit
by bit, and takes any byte and any number of vertices.
"""

from io import BufferedReader
from pathlib import Path

import numpy as np

from ..dtypes import MAX_VERTICES
from ..errors import FormatError
from .content import Content, Options
from .stream import held, require

#: Bytes for each character until the edges are known: of six bits, an edge each at most.
_A_CHARACTER = 256

_HEADERS = (b">>graph6<<", b">>sparse6<<")


def read_graph6(path: Path, stream: BufferedReader, options: Options) -> Content:
    """Return the edges of a graph in graph6 or, after a colon, in sparse6.

    Raises
    ------
    FormatError
        For several graphs, other characters, and characters that are too few or too many.
    """
    lines = held(path, stream).getvalue().split(b"\n")
    graphs = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if len(graphs) != 1:
        what = f"{len(graphs)} graphs: write each to a file of its own" if graphs else "no graph"
        raise FormatError(f"{path} holds {what}")
    number, text = graphs[0]
    where = f"{path}, line {number}"
    for header in _HEADERS:
        text = text.removeprefix(header)
    sparse = text.startswith(b":")
    data = np.frombuffer(text[sparse:], np.uint8)
    require(path, _A_CHARACTER * len(data), f"a graph from {len(data):,} characters")
    wrong = data[(data < 63) | (data > 126)]
    if len(wrong):
        raise FormatError(f"{where}: graph6 and sparse6 have the characters from '?' to '~', got {chr(wrong[0])!r}")
    data = data - np.uint8(63)
    long = int(data[:1].tolist() == [63]) + int(data[:2].tolist() == [63, 63])
    first, after = ((0, 1), (1, 4), (2, 8))[long]
    if len(data) < after:
        raise FormatError(f"{where}: the text ends within the number of vertices")
    n = 0
    for digit in data[first:after].tolist():
        n = n << 6 | digit
    if n > MAX_VERTICES:
        raise FormatError(f"{where}: {n} vertices are beyond int32: at most {MAX_VERTICES}")
    bits = np.unpackbits(data[after:, None], axis=1)[:, 2:].ravel()
    src, dst = _sparse(bits, n) if sparse else _dense(bits, n, where)
    return Content(src.astype(np.int32), dst.astype(np.int32), None, n, False, 0)


def _dense(bits: np.ndarray, n: int, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of graph6: a bit for each pair u < v, by v and then by u."""
    pairs = n * (n - 1) // 2
    if len(bits) != -(-pairs // 6) * 6:
        raise FormatError(f"{where}: {n} vertices have {-(-pairs // 6)} characters, and {len(bits) // 6} are there")
    places = np.flatnonzero(bits[:pairs])
    begins = np.arange(n, dtype=np.int64) * np.arange(-1, n - 1) // 2
    v = np.searchsorted(begins, places, side="right") - 1
    return places - begins[v], v


def _sparse(bits: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of sparse6: a bit and a number x of k bits after the other, which move v and name its edges."""
    k = max(1, (n - 1).bit_length())
    groups = bits[: len(bits) // (k + 1) * (k + 1)].reshape(-1, k + 1)
    numbers = groups[:, 1:] @ (1 << np.arange(k - 1, -1, -1, dtype=np.int64))
    src, dst, v = [], [], 0
    for step, x in zip(groups[:, 0].tolist(), numbers.tolist(), strict=True):
        v += step
        if x >= n or v >= n:  # what fills the last character
            break
        if x > v:
            v = x
        else:
            src.append(x)
            dst.append(v)
    return np.array(src, np.int32), np.array(dst, np.int32)
