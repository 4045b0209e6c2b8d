"""Lengths and nearest places on a sphere of the Earth's mean radius."""

import numpy as np

#: The Earth's mean radius in metres, that of the International Union of Geodesy and Geophysics.
RADIUS = 6_371_008.8


def vectors(points: np.ndarray) -> np.ndarray:
    """Return points of longitude and latitude in degrees as unit vectors, shape (k, 3)."""
    longitude, latitude = np.radians(points).T
    across = np.cos(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors scaled to length 1."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def metres_between(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the length of the great circle from each point to the other one, by the haversine formula."""
    (west, south), (east, north) = np.radians(starts).T, np.radians(ends).T
    half = np.sin((north - south) / 2) ** 2 + np.cos(south) * np.cos(north) * np.sin((east - west) / 2) ** 2
    return 2 * RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1)))


def metres_of_chords(chords: np.ndarray) -> np.ndarray:
    """Return lengths along the sphere from those of chords between unit vectors."""
    return 2 * RADIUS * np.arcsin(np.minimum(chords / 2, 1))


def within_half_a_turn(points: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return points with longitudes by up to 180 degrees from that of an origin, across the date line or not."""
    turns = np.round((origin[0] - points[:, 0]) / 360)
    return points + 360 * np.stack([turns, np.zeros(len(points))], axis=1)


def flat(points: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return points in metres east and north of an origin: a plane that holds for a city and its surroundings."""
    scale = np.radians(1) * RADIUS * np.array([np.cos(np.radians(origin[1])), 1])
    return (points - origin) * scale


def unflat(metres: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the longitudes and latitudes that `flat` had of points."""
    scale = np.radians(1) * RADIUS * np.array([np.cos(np.radians(origin[1])), 1])
    return metres / scale + origin
