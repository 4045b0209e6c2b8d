"""Parameters of a test that every change need not run: ``python -m pytest -m exhaustive`` does."""

import pytest


def exhaustive(*cases):
    """Return the cases, each a value or a tuple of values, marked as exhaustive."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.exhaustive) for case in cases
    ]
