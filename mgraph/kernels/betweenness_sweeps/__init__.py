"""Kernels of betweenness down a hierarchy."""

from ..family import Family
from .ops import Operations

__all__ = ["Operations", "of_kind", "on"]

_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
