"""Kernels of hierarchies for many pairs: climbs that are kept, their meetings, paths, flows and sums along paths."""

from ..family import Family
from .ops import Climbs, Operations, Parts

__all__ = ["Climbs", "Operations", "Parts", "of_kind", "on"]

_FAMILY: Family[Operations] = Family(__name__)

on, of_kind = _FAMILY.on, _FAMILY.of_kind
