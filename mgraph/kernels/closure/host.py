"""The kernels of transitive closure for the CPU, parallel over tiles of the matrix.

The three phases are those of ``kernels/closure.cu``, whose opening explains them. The product is the method of the four
Russians (Arlazarov, Dinic, Kronrod and Faradzhev 1970): for every 8 pivots there is a table of the 256 unions of their
rows, so that a row of the matrix receives a union of 8 rows by one look-up. Four tables, for a word of pivots, take
512 KiB of a core's second-level cache.

A row of the matrix is 32-bit words, column j being bit j % 32 of word j // 32, with zeros after the last column. M and
C have a set of pivots per row. R has the pivots' rows, closed over the block, in words.
"""

import numpy as np

from ...arrays import chunk_rows
from ...device.numba import prange
from ...device.numba.caching import njit
from ...device.numba.small import is_few, unless

#: Operations that run no kernel.
UNLOCKED = frozenset({"compile_ahead"})

#: Numbers of pivots that can be eliminated at a time, and the default.
BLOCKS = (256, 512)
DEFAULT_BLOCK = 256

#: Words and rows of a tile.
_WIDTH = 128
_HEIGHT = 1024


def panels(xp, dtype, rows, columns, block):
    words = block // 32
    return xp.empty((block, words), dtype), xp.empty((block, -(-columns // 32)), dtype), xp.empty((rows, words), dtype)


@njit(nogil=True, cache=True)
def factor(D, row, column, pivot, b, M, cycle):
    words = (b + 31) // 32
    for k in range(len(M)):
        for w in range(M.shape[1]):
            M[k, w] = D[row + k, (column >> 5) + w] if k < b and w < words else 0
    for k in range(b):
        M[k, k >> 5] |= np.uint32(1) << np.uint32(k & 31)
    for k in range(b):
        for i in range(b):
            if M[i, k >> 5] >> np.uint32(k & 31) & np.uint32(1):
                for w in range(words):
                    M[i, w] |= M[k, w]


def solve_rows(D, P, row, pivot, b, panels):
    """R = M D[pivots, :]: the pivots' rows, closed over the block; the first pivot's row is `row`."""
    panels.R[:b] = 0
    _unite(panels.R[:b], panels.M, D[row : row + b], b)


def solve_columns(D, column, b, panels):
    words = (b + 31) // 32
    panels.C[:, :words] = D[:, column // 32 : column // 32 + words]


def update(D, panels, b, rows, columns):
    """D = D | C R in some rows and columns: a vertex that reaches a pivot reaches all that the pivot does."""
    words = slice(columns[0] // 32, -(-columns[1] // 32))
    _unite(D[rows[0] : rows[1], words], panels.C[rows[0] : rows[1]], panels.R[:b, words], b)


def _unite(D, sets, rows, b):
    """Each row of D |= the union of the `rows` in its set."""
    height, words = D.shape
    if height <= _HEIGHT and words <= _WIDTH:  # a single tile needs no parallel kernel, which would be compiled
        _unite_tile(D, sets, rows, b, 0, height, 0, words)
    else:
        _unite_tiles(D, sets, rows, b)


@njit(parallel=True, nogil=True, cache=True)
def _unite_tiles(D, sets, rows, b):
    height, words = D.shape
    strips = (words + _WIDTH - 1) // _WIDTH
    for tile in prange(strips * ((height + _HEIGHT - 1) // _HEIGHT)):
        top, first = tile // strips * _HEIGHT, tile % strips * _WIDTH
        _unite_tile(D, sets, rows, b, top, min(height, top + _HEIGHT), first, min(words, first + _WIDTH))


@njit(nogil=True, cache=True)
def _unite_tile(D, sets, rows, b, top, bottom, first, last):
    """Do so for the rows `top` to `bottom` and the words `first` to `last` of D."""
    width = last - first
    table = np.empty((4, 256, _WIDTH), np.uint32)
    for part in range(4):
        for j in range(width):
            table[part, 0, j] = 0
    for word in range((b + 31) // 32):
        for part in range(4):
            for bit in range(8):
                k = min(32 * word + 8 * part + bit, b - 1)  # no set has a pivot from b on
                for j in range(width):
                    table[part, 1 << bit, j] = rows[k, first + j]
            for subset in range(1, 256):
                smaller = subset & (subset - 1)
                for j in range(width):
                    table[part, subset, j] = table[part, smaller, j] | table[part, subset ^ smaller, j]
        for i in range(top, bottom):
            held = sets[i, word]
            if held:
                e0, e1, e2, e3 = held & 255, held >> 8 & 255, held >> 16 & 255, held >> 24
                d = D[i, first:last]
                for j in range(width):
                    d[j] |= table[0, e0, j] | table[1, e1, j] | table[2, e2, j] | table[3, e3, j]


@unless(is_few)
def scatter(D, indptr, indices):
    for v in prange(D.shape[0]):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            D[v, w // 32] |= np.uint32(1) << np.uint32(w % 32)


def compile_ahead(block):
    """Do nothing: Numba compiles one kernel at a time, when it is called."""


def set_diagonal(D, row, column, length):
    rows, columns = row + np.arange(length), column + np.arange(length)
    D[rows, columns // 32] |= np.left_shift(np.uint32(1), (columns % 32).astype(np.uint32))


def pack(present, D):
    rows, columns = present.shape
    packed = np.zeros((rows, 4 * D.shape[1]), np.uint8)
    packed[:, : -(-columns // 8)] = np.packbits(present, axis=1, bitorder="little")
    D[:] = packed.view("<u4")


def unpack(D, present):
    columns = present.shape[1]
    rows = chunk_rows(columns)
    for first in range(0, len(D), rows):
        packed = np.ascontiguousarray(D[first : first + rows], "<u4").view(np.uint8)
        present[first : first + rows] = np.unpackbits(packed, axis=1, count=columns, bitorder="little")


def count(D, counts):
    np.sum(np.bitwise_count(D), axis=1, dtype=np.int64, out=counts)
