"""Well-known graphs by name: downloaded once into the cache folder and checked, or generated.

- Roads of the 9th DIMACS implementation challenge (C. Demetrescu, A. Goldberg and D. Johnson, 2006), from the US Census
  Bureau's TIGER/Line files: distances, and travel times.
- Networks of the Stanford Large Network Dataset Collection (J. Leskovec and A. Krevl, 2014).
- Graphs as Graph500 has them, by `mgraph.generate.rmat`.

Neither site publishes checksums. Those here are of the files as downloaded; the public repositories of at least two
projects pin each of them alike. A file without one is checked for being whole and for its published size. Its checksum
is then recorded beside it.
"""

import gzip
import hashlib
import os
import re
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

from . import lazy
from .arguments import checked_flag, one_of
from .cache_folder import cache_folder
from .errors import FormatError, InputError, MissingFileError, printable
from .generate import rmat
from .io import replacing

__all__ = ["DATASETS", "Dataset", "fetch"]


class Dataset(NamedTuple):
    """A published graph.

    Attributes
    ----------
    url : str
        Where the file is.
    n, m : int
        The published numbers of vertices and of edges.
    about : str
        What it is.
    sha256 : str or None
        The checksum of the file; None if it is not known.

    Examples
    --------
    >>> import mgraph
    >>> roads = mgraph.datasets.DATASETS["roads-ny"]
    >>> roads.n, roads.m, roads.file
    (264346, 733846, 'USA-road-d.NY.gr.gz')
    """

    url: str
    n: int
    m: int
    about: str
    sha256: str | None = None

    @property
    def file(self) -> str:
        """The name of the file.

        Examples
        --------
        >>> import mgraph
        >>> mgraph.datasets.DATASETS["web-google"].file
        'web-Google.txt.gz'
        """
        return self.url.rpartition("/")[2]


_DIMACS, _SNAP = "http://www.diag.uniroma1.it/challenge9/data", "https://snap.stanford.edu/data"

#: Regions of the DIMACS roads: vertices, arcs, name, and the checksum of the distances if it is known.
_ROADS = {
    "ny": (264_346, 733_846, "New York City", "7b2446c7ffe6179efbc42af6812448e8cb782f12968ca2bb1d50d979343056d4"),
    "bay": (321_270, 800_172, "San Francisco Bay", "630c4a96869b3ecdd631ceb0f63923fb954ee4c7c26d983863612e2c4442462e"),
    "col": (435_666, 1_057_066, "Colorado", None),
    "fla": (1_070_376, 2_712_798, "Florida", None),
    "e": (3_598_623, 8_778_114, "the eastern USA", None),
    "w": (6_262_104, 15_248_146, "the western USA", None),
    "usa": (23_947_347, 58_333_344, "the USA", None),
}


def _roads(region: str, kind: str, what: str, pinned: bool) -> Dataset:
    n, m, name, sha256 = _ROADS[region]
    file = f"{_DIMACS}/USA-road-{kind}/USA-road-{kind}.{region.upper()}.gr.gz"
    return Dataset(file, n, m, f"roads of {name}, {what}", sha256 if pinned else None)


#: The graphs that can be downloaded, by name.
DATASETS: dict[str, Dataset] = {
    **{f"roads-{region}": _roads(region, "d", "distances", True) for region in _ROADS},
    **{f"roads-{region}-time": _roads(region, "t", "travel times", False) for region in _ROADS},
    "collaboration": Dataset(
        f"{_SNAP}/ca-GrQc.txt.gz",
        5_242,
        14_496,
        "authors of papers on general relativity, undirected",
        "a254442cdf5d684712578b630c2e0d7543518ab154ef2341cabb607572ce7230",
    ),
    "facebook": Dataset(
        f"{_SNAP}/facebook_combined.txt.gz",
        4_039,
        88_234,
        "circles of friends on Facebook, undirected",
        "125e84db872eeba443d270c70315c256b0af43a502fcfe51f50621166ad035d7",
    ),
    "twitter": Dataset(
        f"{_SNAP}/twitter_combined.txt.gz",
        81_306,
        1_768_149,
        "circles of friends on Twitter, directed",
        "d9f99b0e6a53b9204b8c215f41b3c10fb99a1e1e783858c012b06d0d3d4bd129",
    ),
    "web-google": Dataset(
        f"{_SNAP}/web-Google.txt.gz",
        875_713,
        5_105_039,
        "links between web pages, directed",
        "bcac0af0471d749f4a8c010bca92b61cf2868a0570741de06892fc062f265ea6",
    ),
    "livejournal": Dataset(
        f"{_SNAP}/soc-LiveJournal1.txt.gz",
        4_847_571,
        68_993_773,
        "friends on LiveJournal, directed",
        "d7bcd5a87b88c896c35fdb9611e804c3f4033c39b58c4c9ea3ba53c680d516d8",
    ),
}

#: How a generated graph is called: by the scale of `mgraph.generate.rmat`.
_GENERATED = re.compile("graph500-([0-9]{1,2})")

#: Seconds without an answer after which a download fails.
_PATIENCE = 30

#: Bytes of a DIMACS file in which its sizes are looked for, and bytes that are decompressed at a time.
_HEAD, _BLOCK = 1 << 14, 1 << 20


def fetch(name: str, folder: str | os.PathLike[str] | None = None, *, progress: bool = False) -> Path:
    """Return the file of a well-known graph, for `mgraph.read`; download or generate it if it is not there.

    Parameters
    ----------
    name : str
        A name of `DATASETS`, or ``"graph500-SCALE"`` with the scale of `mgraph.generate.rmat`, such as
        ``"graph500-20"``.
    folder : path, optional
        Where the files are. By default ``mgraph/datasets`` in the user's cache folder, which is ``$XDG_CACHE_HOME`` or
        ``~/.cache``.
    progress : bool
        Whether to show the progress of a download on standard error.

    Returns
    -------
    pathlib.Path
        The file. A file that was put there by hand is taken, too, if its checksum is right. Generated graphs are
        stored as a matrix, with each edge in both directions.

    Raises
    ------
    InputError
        If there is no such graph, or no cache folder.
    MissingFileError
        If it cannot be downloaded; the message says where to put it.
    FormatError
        If what was downloaded does not have the right checksum, is not whole or has another size.
    MissingPackageError
        If pooch, which downloads, is not installed: ``pip install 'dask-mgraph[datasets]'``.
    OSError
        If the file cannot be written.

    Warns
    -----
    UserWarning
        If no checksum is known: that of the file is recorded beside it, and later calls compare it.

    Examples
    --------
    >>> import tempfile
    >>> import mgraph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = mgraph.datasets.fetch("graph500-6", folder)
    ...     graph = mgraph.read(path)
    >>> path.name, graph
    ('graph500-6.npz', Graph(n=64, m=780, directed, unweighted))
    """
    progress = checked_flag("progress", progress)
    generated = _GENERATED.fullmatch(name) if isinstance(name, str) else None
    if generated is None and (not isinstance(name, str) or name not in DATASETS):
        raise InputError(argument="name", value=name, expected=one_of([*DATASETS, "graph500-SCALE"]))
    kept = cache_folder() if folder is None else None
    if folder is None and kept is None:
        raise InputError("there is no cache folder, as there is no home directory: give a folder")
    place = Path(folder) if folder is not None else Path(str(kept)) / "datasets"
    place.mkdir(parents=True, exist_ok=True)
    path = place / (f"{name}.npz" if generated is not None else DATASETS[name].file)
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is in the place of the graph's file, and is not a file")
    if generated is not None:
        return _made(int(generated[1]), path)
    dataset = DATASETS[name]
    note = path.with_name(f"{path.name}.sha256")
    expected = dataset.sha256 or _noted(note)
    found = _sha256(path) if path.is_file() else None
    if found is None or expected not in (None, found):
        _download(dataset.url, path, expected, found is not None, progress)
        found = _sha256(path)
    if expected is None:
        _check_whole(path, dataset)
        with replacing(note, True) as file:
            file.write(f"{found}  {path.name}\n".encode())
        warnings.warn(
            f"no checksum of {dataset.url} is known: {found} was recorded in {printable(str(note))}", stacklevel=2
        )
    return path


def _made(scale: int, path: Path) -> Path:
    """Return the file of a generated graph, written if it is not there."""
    if not path.is_file():
        graph = rmat(scale, device="cpu")
        with replacing(path, True) as file:
            lazy.sparse().save_npz(file, graph.to_scipy(), compressed=False)
    return path


def _noted(note: Path) -> str | None:
    """Return the checksum that an earlier call has recorded, in the form of sha256sum."""
    words = note.read_text("utf-8", "replace").split() if note.is_file() else []
    return words[0] if words and re.fullmatch("[0-9a-f]{64}", words[0]) else None


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(url: str, path: Path, expected: str | None, damaged: bool, progress: bool) -> None:
    """Download a file in place of the one that may be there."""
    pooch = lazy.optional("pooch", "downloading")
    pooch.get_logger().setLevel("WARNING")
    from_web = pooch.HTTPDownloader(progressbar=progress, timeout=_PATIENCE)
    try:
        pooch.retrieve(url, expected and f"sha256:{expected}", path.name, path.parent, downloader=from_web)
    except lazy.optional("requests", "downloading").RequestException as error:
        instead = f"; {path} is there, but its checksum is not the expected one" if damaged else ""
        raise MissingFileError(
            2, f"cannot be downloaded ({type(error).__name__}{instead}): get it elsewhere and put it at {path}", url
        ) from error
    except ValueError as error:
        raise FormatError(f"{url} is not the expected file, so nothing was kept of it: {error}") from error


def _check_whole(path: Path, dataset: Dataset) -> None:
    """Raise, and remove a DIMACS file, unless it decompresses to its end and begins with the published size."""
    problem = ""
    try:
        with gzip.open(path) as file:
            size = re.search(rb"^p sp ([0-9]+) ([0-9]+)\s", file.read(_HEAD), re.MULTILINE)
            while file.read(_BLOCK):
                pass
        if size is None or (int(size[1]), int(size[2])) != (dataset.n, dataset.m):
            problem = f"it does not say that it has {dataset.n:,} vertices and {dataset.m:,} edges"
    except (OSError, EOFError, zlib.error) as error:
        problem = str(error)
    if problem:
        path.unlink()
        raise FormatError(f"{dataset.url} is not the expected file, so it was removed: {problem}")
