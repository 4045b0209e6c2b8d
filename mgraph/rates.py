"""What a device can do in a second: the figures that the planner predicts with.

Those below come from runs on one H200 and on one core of a server's CPU (benchmarks/NOTES.md), but for what is
only assumed: the seconds between launches, a temporary file's rate, the CPU's rates for int16 and for
searches, and what is short between GPUs. ``mgraph calibrate`` measures another device once
(`mgraph.calibrate`) and keeps its figures in the user's cache folder, by the name of the hardware. Closures
and list ranking have theirs in `mgraph.plan`.
"""

import dataclasses
import functools
import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Rates:
    """What a GPU, or a core of a CPU, can do.

    Attributes
    ----------
    minplus, labelled : dict of str to float
        Sums and minima a second of the (min, +) product, without labels and with them, by type;
        ``"nonnegative"`` is float32 without negative weights.
    pivots : float
        Seconds that the pivots' own part of a round takes, whatever the size of the matrix.
    strips : float
        Seconds that a round with look-ahead takes beside the longer of its two streams.
    launch : float
        Seconds from one superstep to the next.
    memory : float
        Bytes a second read and written.
    copy : float
        Bytes a second to the host, and at the same time from it.
    disk : float
        The same of a temporary file.
    search : float
        Edges a second that a breadth-first search passes.
    relaxations : float
        Relaxations a second of an edge for one of many sources, of as many as `plan` counts.
    """

    minplus: dict[str, float]
    labelled: dict[str, float]
    pivots: float
    strips: float
    launch: float
    memory: float
    copy: float
    disk: float
    search: float
    relaxations: float


DEFAULT = {
    "cuda": Rates(
        minplus={"nonnegative": 16.1e12, "float32": 13.1e12, "int32": 15.5e12, "int16": 30.6e12, "float64": 4.75e12},
        labelled={"nonnegative": 9.8e12, "float32": 9.4e12, "int32": 10.4e12, "float64": 3.7e12},
        pivots=70e-6,
        strips=60e-6,
        launch=10e-6,
        memory=4e12,
        copy=50e9,
        disk=1e9,
        search=100e9,
        relaxations=1.3e12,
    ),
    "cpu": Rates(
        minplus={"nonnegative": 36e9, "float32": 36e9, "int32": 34e9, "int16": 60e9, "float64": 20e9},
        labelled={"nonnegative": 14e9, "float32": 14e9, "int32": 14e9, "float64": 8e9},
        pivots=100e-6,
        strips=0.0,
        launch=10e-6,
        memory=6e9,
        copy=4e9,
        disk=1e9,
        search=0.2e9,
        relaxations=5e9,
    ),
}

#: Seconds of one exchange between shards: within one device, by NCCL, and by Dask's messages.
EXCHANGE = {"solo": 0.0, "cuda": 60e-6, "cpu": 2e-3}

#: Bytes from each shard that make an exchange half as long again as one of none; between GPUs, longer by some 30 µs,
#: which a host takes to look at what came.
SHORT = {"cuda": 1 << 24, "cpu": 1 << 16}


def cache_file() -> Path:
    """Return where the figures of calibrated devices are kept."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "mgraph" / "rates.json"


def rates(kind: str, model: str) -> Rates:
    """Return the figures of a device: those measured on its model, else those built in for its kind."""
    return _kept(cache_file()).get(model, DEFAULT[kind])


def keep(model: str, measured: Rates) -> None:
    """Keep the figures measured on a model for later calls."""
    path = cache_file()
    _kept.cache_clear()
    everything = {name: dataclasses.asdict(kept) for name, kept in _kept(path).items()}
    everything[model] = dataclasses.asdict(measured)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(everything, indent=1))
    fresh.replace(path)
    _kept.cache_clear()


@functools.cache
def _kept(path: Path) -> dict[str, Rates]:
    try:
        return {name: Rates(**figures) for name, figures in json.loads(path.read_text()).items()}
    except (OSError, ValueError, TypeError):  # none yet, or of another version
        return {}
