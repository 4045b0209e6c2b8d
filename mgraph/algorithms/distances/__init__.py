"""Distances from many sources to many targets, and what is computed from them."""

from . import entry as _entry  # noqa: F401 - declares what the registry knows of it
from .call import DistancesResult, distance_blocks, distances
from .histogram import DistanceHistogram, distance_histogram
from .measures import average_distance, center, closeness, diameter, eccentricity, harmonic_closeness, periphery, radius

__all__ = [
    "DistanceHistogram",
    "DistancesResult",
    "average_distance",
    "center",
    "closeness",
    "diameter",
    "distance_blocks",
    "distance_histogram",
    "distances",
    "eccentricity",
    "harmonic_closeness",
    "periphery",
    "radius",
]
