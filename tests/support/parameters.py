"""Parameters of tests: devices, types, and cases that only ``python -m pytest -m exhaustive`` runs."""

import pytest

#: The types in which shortest paths are computed.
DTYPES = ["float32", "float64", "int32"]

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def exhaustive(*cases):
    """Return the cases, each a value or a tuple of values, marked as exhaustive."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.exhaustive) for case in cases
    ]
