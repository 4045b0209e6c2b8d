"""Isochrones: the streets that are reached within a weight, and the areas around them.

The areas are what lies within `buffer` metres of a reached street: contours of the distance on a grid.
"""

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import device as devices
from .. import lazy
from ..docstrings import with_common_parts
from ..io import check_output, path_of, replacing
from .maps import explored
from .places import Places
from .search import Spots
from .sphere import flat, unflat, within_half_a_turn

#: Cells of a buffer's width, and the most cells of a grid.
_CELLS, _MOST_CELLS = 4, 1 << 22

Rings = list[np.ndarray]


class Reached(NamedTuple):
    """The streets that are reached from a place within a limit.

    Attributes
    ----------
    links : array of int64, shape (k,)
        The links of the network that are reached at least in part. One may occur twice: from the place that lies on
        it, and from its tail.
    shares : array of float64, shape (k,)
        Up to which share each link is reached, from its tail.
    begins : array of float64, shape (k,)
        From which share on: 0 but where the place lies on the link.

    Examples
    --------
    >>> from mgraph.roads import Network
    >>> where = [[24.94, 60.17], [24.95, 60.17], [24.96, 60.17]]
    >>> network = Network([0, 1], [1, 2], {"seconds": [7, 8], "metres": [70, 90]}, where)
    >>> network.isochrones([where[0]], [11]).reached[0][0].shares.tolist()
    [1.0, 0.5]
    """

    links: np.ndarray
    shares: np.ndarray
    begins: np.ndarray


@with_common_parts
class Isochrones:
    """What `Network.isochrones` finds: for each place and each limit the streets and the area that are reached.

    Attributes
    ----------
    places : Places
        Where the isochrones begin.
    limits : list of float
        The limits, ascending.
    reached : list of list of Reached
        The streets, for each place a list with one element for each limit.
    polygons : list of list of list of list of array
        The areas likewise: polygons, each a list of rings, the outer one first, of longitudes and latitudes.

    Examples
    --------
    {a network of three places}
    >>> network.isochrones([where[0]], [5, 11])
    <Isochrones: 1 places, limits 5, 11>
    """

    def __init__(
        self,
        places: Places,
        limits: list[float],
        reached: list[list[Reached]],
        polygons: list[list[list[Rings]]],
        shape: Callable[[int], np.ndarray],
    ) -> None:
        self.places, self.limits, self.reached, self.polygons = places, limits, reached, polygons
        self._shape = shape

    def __repr__(self) -> str:
        return f"<Isochrones: {len(self.places.ids):,} places, limits {', '.join(f'{each:g}' for each in self.limits)}>"

    def to_geojson(self, streets: bool = False) -> dict[str, Any]:
        """Return a FeatureCollection of GeoJSON: the area of each place and limit, the largest limits first.

        An area is a MultiPolygon. With `streets` a feature has the streets that are reached, a MultiLineString.

        Examples
        --------
        {a network of three places}
        >>> found = network.isochrones([where[0]], [5, 11]).to_geojson()
        >>> [float(feature["properties"]["limit"]) for feature in found["features"]]
        [11.0, 5.0]
        >>> network.isochrones([where[0]], [7]).to_geojson(streets=True)["features"][0]["geometry"]["coordinates"]
        [[[24.94, 60.17], [24.95, 60.17]]]
        """
        features = []
        for row, ident in enumerate(self.places.ids.tolist()):
            for step, limit in reversed(list(enumerate(self.limits))):
                if streets:
                    lines = [line.tolist() for line in pieces(self.reached[row][step], self._shape)]
                    shape = {"type": "MultiLineString", "coordinates": lines}
                else:
                    areas = [[ring.tolist() for ring in each] for each in self.polygons[row][step]]
                    shape = {"type": "MultiPolygon", "coordinates": areas}
                features.append({"type": "Feature", "properties": {"id": ident, "limit": limit}, "geometry": shape})
        return {"type": "FeatureCollection", "features": features}

    def to_geopandas(self, streets: bool = False) -> Any:
        """Return a GeoDataFrame with a row for each place and limit, in degrees (EPSG:4326): areas, or `streets`.

        Raises
        ------
        MissingPackageError
            If GeoPandas is not installed.

        Examples
        --------
        {a network of three places}
        >>> network.isochrones([where[0]], [5, 11]).to_geopandas()["limit"].tolist()      # doctest: +SKIP
        [11.0, 5.0]
        """
        geopandas = lazy.optional("geopandas", "Isochrones.to_geopandas")
        return geopandas.GeoDataFrame.from_features(self.to_geojson(streets)["features"], crs="EPSG:4326")

    def save(self, path: str | os.PathLike[str], *, streets: bool = False, overwrite: bool = False) -> None:
        """Write the areas, or the streets, to ``.geojson``, or as GeoParquet to ``.parquet``.

        The file appears whole or not at all.

        Raises
        ------
        InputError
            For another suffix, or a path that cannot be written.
        OutputExistsError
            If the file exists, and `overwrite` is False.
        MissingPackageError
            If GeoPandas is not installed, for ``.parquet``.

        Examples
        --------
        >>> import json, pathlib, tempfile
        {a network of three places}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "reached.geojson")
        ...     network.isochrones([where[0]], [5]).save(path)
        ...     len(json.loads(path.read_text())["features"])
        1
        """
        check_output(path, overwrite, (".geojson", ".parquet"))
        target = path_of(os.fspath(path))
        frame = self.to_geopandas(streets) if target.suffix == ".parquet" else None
        with replacing(target, overwrite) as file:
            if frame is not None:
                frame.to_parquet(file)
            else:
                file.write(json.dumps(self.to_geojson(streets)).encode())

    def plot(self, ax: Any = None) -> Any:
        """Draw the areas by Matplotlib, the lower limits in stronger colours, and return the axes.

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        {a network of three places}
        >>> axes = network.isochrones([where[0]], [5]).plot()
        >>> axes.get_xlabel()
        'longitude'
        """
        axes = lazy.optional("matplotlib.pyplot", "plot()").subplots()[1] if ax is None else ax
        patches, paths = (lazy.optional(f"matplotlib.{name}", "plot()") for name in ("patches", "path"))
        colours = lazy.optional("matplotlib", "plot()").colormaps["viridis"]
        for areas in self.polygons:
            for place, area in reversed(list(enumerate(areas))):
                outlines = [paths.Path(ring, closed=True) for polygon in area for ring in polygon]
                if outlines:
                    outline = paths.Path.make_compound_path(*outlines)
                    axes.add_patch(patches.PathPatch(outline, facecolor=colours(place / len(areas)), alpha=0.5))
        axes.autoscale_view()
        middle = np.mean(axes.get_ylim())
        axes.set(xlabel="longitude", ylabel="latitude", aspect=1 / max(np.cos(np.radians(middle)), 0.01))
        return axes

    def explore(self, streets: bool = False) -> Any:
        """Return a map of folium with the areas, or the streets, which a notebook shows and ``.save`` writes as HTML.

        Raises
        ------
        MissingPackageError
            If folium is not installed.

        Examples
        --------
        {a network of three places}
        >>> network.isochrones([where[0]], [5, 11]).explore().save("areas.html")      # doctest: +SKIP
        """
        return explored(self.to_geojson(streets)["features"], "limit")


def pieces(reached: Reached, shape: Callable[[int], np.ndarray]) -> Rings:
    """Return the lines of the streets that are reached."""
    return [
        piece(shape(link), begin, end)
        for link, begin, end in zip(reached.links.tolist(), reached.begins, reached.shares, strict=True)
    ]


def reached_links(weights: np.ndarray, starts: np.ndarray, spots: Spots, limit: float) -> Reached:
    """Return the links that are reached within a limit if they are entered at these distances, and those of a place."""
    links = np.concatenate([np.arange(len(weights)), spots.links])
    begins = np.concatenate([np.zeros(len(weights)), spots.shares])
    left, whole = limit - np.concatenate([starts, np.zeros(len(spots.links))]), weights[links]
    there = (left >= 0) & np.isfinite(whole)
    links, begins, left, whole = (each[there] for each in (links, begins, left, whole))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(whole * (1 - begins) <= left, 1.0, begins + left / whole)
    kept = shares > begins
    return Reached(links[kept], shares[kept], begins[kept])


def piece(shape: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Return a line between two shares of it, by the lengths of its parts in degrees at their latitude."""
    if begin <= 0 and end >= 1:
        return shape
    shape = within_half_a_turn(shape, shape[0])
    steps = np.hypot(*(np.diff(shape, axis=0) * [np.cos(np.radians(shape[0, 1])), 1]).T)
    along = np.concatenate([[0], np.cumsum(steps)])
    first, last = begin * along[-1], end * along[-1]
    ends = [[np.interp(each, along, column) for column in shape.T] for each in (first, last)]
    return np.concatenate([ends[:1], shape[(along > first) & (along < last)], ends[1:]])


def area_around(lines: Rings, buffer: float) -> list[Rings]:
    """Return the polygons of what lies within `buffer` metres of lines."""
    if not lines:
        return []
    contours = lazy.optional("contourpy", "isochrones()")
    transform = lazy.optional("scipy.ndimage", "isochrones()").distance_transform_edt
    lines = [within_half_a_turn(line, lines[0][0]) for line in lines]
    origin = np.concatenate(lines).mean(axis=0)
    lines = [flat(line, origin) for line in lines]
    every = np.concatenate(lines)
    low, high = every.min(axis=0) - 2 * buffer, every.max(axis=0) + 2 * buffer
    cell = max(buffer / _CELLS, float(np.sqrt(np.prod(high - low) / _MOST_CELLS)))
    buffer = max(buffer, 2 * cell)
    columns, rows = (np.ceil((high - low) / cell).astype(int) + 1).tolist()
    devices.check_free_memory("the grid of an area", bytes_of_area(lines, rows * columns, cell), devices.find("cpu"))
    free = np.ones((rows, columns), bool)
    across, up = ((_dense(lines, cell / 2) - low) / cell).round().astype(int).T
    free[up, across] = False
    away = transform(free) * cell
    generator = contours.contour_generator(
        low[0] + cell * np.arange(columns), low[1] + cell * np.arange(rows), -away, fill_type="OuterOffset"
    )
    points, offsets = generator.filled(-buffer, 1.0)
    cut = [np.split(each, where[1:-1].astype(int)) for each, where in zip(points, offsets, strict=True)]
    # Around a pole all longitudes are within the buffer, each once.
    low, high = [origin[0] - 180, -90], [origin[0] + 180, 90]
    return [[np.clip(unflat(ring, origin), low, high) for ring in polygon] for polygon in cut]


def bytes_of_area(lines: Rings, cells: int, cell: float) -> int:
    """Return how many bytes a grid of cells takes, with points on lines for each half of a cell."""
    parts = sum(map(len, lines))
    length = sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in lines)
    points = 2 * parts + int(2 * length / cell)
    return max(4 * cells + 120 * points, 44 * cells + 40 * points)


def _dense(lines: Rings, step: float) -> np.ndarray:
    """Return points on lines, at most `step` apart."""
    starts = np.concatenate([line[:-1] if len(line) > 1 else line for line in lines])
    ends = np.concatenate([line[1:] if len(line) > 1 else line for line in lines])
    counts = np.ceil(np.hypot(*(ends - starts).T) / step).astype(int) + 1
    part = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (part / np.repeat(np.maximum(counts - 1, 1), counts))[:, None]
    return np.repeat(starts, counts, axis=0) * (1 - share) + np.repeat(ends, counts, axis=0) * share
