"""Parameters of tests that only ``python -m pytest -m exhaustive`` runs."""

import pytest


def exhaustive(*cases):
    """Return the cases, each a value or a tuple of values, marked as exhaustive."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.exhaustive) for case in cases
    ]
