"""`mgraph.csgraph` on a GPU: a matrix of NumPy or SciPy is taken there, and what is found is brought back.

A matrix stays where it is if CuPy has none of its kind: masked arrays, objects, and formats such as LIL; and if the
function is SciPy's own.
"""

import functools
from collections import Counter

import numpy as np
from scipy import sparse

from mgraph import csgraph

#: The calls on a GPU, by function.
CALLS: Counter[str] = Counter()


def taken(matrix):
    """Return a matrix on the GPU, or as it is."""
    import cupy
    from cupyx.scipy import sparse as cupy_sparse

    if type(matrix) is np.ndarray and matrix.dtype.kind in "biuf" and matrix.dtype.isnative:
        return cupy.asarray(matrix)
    if sparse.issparse(matrix) and matrix.format in ("csr", "csc", "coo"):
        make = getattr(cupy_sparse, f"{matrix.format}_matrix")
        return make(matrix if matrix.dtype.kind in "bf" else matrix.astype(np.float64))
    return matrix


def brought(found):
    """Return what a call returned with arrays of NumPy and SciPy."""
    if isinstance(found, tuple):
        return tuple(map(brought, found))
    return found.get() if hasattr(found, "get") else found


def on_gpu(name, function):
    """Return a function of `mgraph.csgraph` that takes its matrix to the GPU."""

    @functools.wraps(function)
    def call(*arguments, **options):
        if arguments:
            matrix, *others = arguments
        else:
            matrix, others = options.pop("csgraph", None), []
        there = taken(matrix)
        CALLS[name] += there is not matrix
        return brought(function(there, *others, **options))

    return call


for _name in csgraph.__all__:
    _value = getattr(csgraph, _name)
    _own = not isinstance(_value, type) and _value.__module__.startswith("mgraph.")
    globals()[_name] = on_gpu(_name, _value) if _own else _value
