"""What a device can do in a second: the figures that the planner predicts with.

Those below come from runs on one H200 and on one core of a server's CPU (benchmarks/NOTES.md), but for what is
only assumed: the seconds between launches, a temporary file's rate, the CPU's rates for int16 and for
searches, and what is short between GPUs. ``mgraph calibrate`` measures another device once
(`mgraph.calibrate`) and keeps its figures in the user's cache folder, by the name of the hardware. Closures
and list ranking have theirs in their plans. Without it, a CPU's are those of the reference scaled by what
`mgraph.planning.probe` finds in some tens of ms.

Of a GPU that was never measured here, `PUBLISHED` has what others published, to plan for their machines.
"""

import dataclasses
import functools
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import device as devices
from ..errors import InputError
from ..kept import cache_folder, write_json
from . import probe


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
    link : float
        Bytes a second that a shard receives from others of its node; `calibrate` does not measure it.
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
    link: float


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
        link=358e9,
    ),
    "cpu": Rates(
        minplus={"nonnegative": 16e9, "float32": 16e9, "int32": 17e9, "int16": 34e9, "float64": 8e9},
        labelled={"nonnegative": 4e9, "float32": 4e9, "int32": 4.2e9, "float64": 2.2e9},
        pivots=200e-6,
        strips=0.0,
        launch=10e-6,
        memory=12e9,
        copy=4e9,
        disk=1e9,
        search=0.2e9,
        relaxations=1.6e9,
        link=0.8e9,
    ),
}

#: (Min, +) sums a second of the V100 that P. Sao et al. ("Scalable all-pairs shortest paths for huge graphs on
#: multi-GPU clusters", 2021) ran on. The peak is NVIDIA's 15.7 TFLOPS of multiplications and additions, a fourth of
#: it where a sum and a minimum are two instructions. One GPU attains seven eighths, as they tell 70% of the peak
#: at a parallel efficiency of 80%; R. Kannan et al. (2020) tell 70% at 90%, which would be 3.05e12.
_V100 = 0.70 / 0.80 * 15.7e12 / 4

#: What was published of other GPUs, by model. Of the V100 that is its product of float32 and its memory, 0.9 TB/s. The
#: rest is assumed: integers as fast, float64 half as fast (NVIDIA's 7.8 TFLOPS), labels at the H200's share,
#: NVLink's two links of 25 GB/s to a neighbour, and PCIe 3; searches in proportion to the memory.
PUBLISHED = {
    "Tesla V100-SXM2-16GB": dataclasses.replace(
        DEFAULT["cuda"],
        minplus={"nonnegative": _V100, "float32": _V100, "int32": _V100, "int16": _V100, "float64": _V100 / 2},
        labelled={"nonnegative": 0.6 * _V100, "float32": 0.6 * _V100, "int32": 0.6 * _V100, "float64": 0.3 * _V100},
        memory=0.8e12,
        copy=12e9,
        search=20e9,
        relaxations=0.25e12,
        link=50e9,
    ),
}

#: Figures that are seconds, not rates, and may be zero.
_SECONDS = ("pivots", "strips", "launch")

#: Seconds of one exchange between shards: within one device, by NCCL, and by Dask's messages.
EXCHANGE = {"solo": 0.0, "cuda": 60e-6, "cpu": 2e-3}

#: Bytes from each shard that make an exchange half as long again as one of none; between GPUs, longer by some 30 µs,
#: which a host takes to look at what came.
SHORT = {"cuda": 1 << 24, "cpu": 1 << 16}


#: The file of the figures of calibrated devices, in the cache folder.
FILE = "rates.json"


def rates(kind: str, model: str, cores: int = 1) -> Rates:
    """Return the figures of a device: those measured on its model, else published of it, else those of its kind.

    Those of CPUs are scaled to this machine's where that is the model.
    """
    known = _kept(cache_folder()).get(model) or PUBLISHED.get(model)
    return known or _scaled(DEFAULT[kind], speed(kind, model, cores))


def speed(kind: str, model: str, cores: int) -> probe.Speed:
    """Return how many times faster than the built-in rates a device is; 1 for all but this machine's CPU."""
    return probe.speed(model, cores) if kind == "cpu" and model == devices.HostDevice().model() else probe.SAME


def _scaled(known: Rates, speed: probe.Speed) -> Rates:
    if speed == probe.SAME:
        return known
    return dataclasses.replace(
        known,
        minplus={name: speed.arithmetic * rate for name, rate in known.minplus.items()},
        labelled={name: speed.arithmetic * rate for name, rate in known.labelled.items()},
        memory=speed.memory * known.memory,
        copy=speed.memory * known.copy,
        search=speed.searches * known.search,
        relaxations=speed.arithmetic * known.relaxations,
    )


def keep(model: str, measured: Rates) -> Path:
    """Keep the figures measured on a model for later calls, and return the file.

    The number of cores is no part of the name: unlike a probe's, a calibration is what a user has asked for, and it
    stands for plans with fewer cores too, such as those of one of several workers.

    Raises
    ------
    InputError
        If there is no folder to keep them in.
    """
    path = folder_of_figures() / FILE
    before, _ = _read(path)
    everything = {name: dataclasses.asdict(kept) for name, kept in before.items()}
    everything[model] = dataclasses.asdict(measured)
    write_json(path, everything)
    _kept.cache_clear()
    return path


def folder_of_figures() -> Path:
    """Return the cache folder, or raise InputError if there is none."""
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home directory to keep figures in: set XDG_CACHE_HOME to a folder")
    return folder


@functools.cache
def _kept(folder: Path | None) -> dict[str, Rates]:
    """Return what is kept in a folder, which is read once."""
    if folder is None:
        return {}
    path = folder / FILE
    kept, problem = _read(path)
    if problem:
        warnings.warn(
            f"{path} is ignored, as {problem}: remove it, or measure again with 'mgraph calibrate'", stacklevel=3
        )
    return kept


def _read(path: Path) -> tuple[dict[str, Rates], str]:
    """Return the figures in a file by model, and what is wrong with it; none if it is not there or anything is."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError, RecursionError) as error:
        return {}, f"it cannot be read ({error})"
    if not isinstance(found, dict):
        return {}, "it holds no figures by model"
    for model, figures in found.items():
        if problem := _problem(figures):
            return {}, f"{problem} of {model[:60]!r}"
    return {model: Rates(**figures) for model, figures in found.items()}, ""


def _problem(figures: Any) -> str:
    """Say what is wrong with the figures of a device; nothing if they are as `Rates` wants them."""
    names = [field.name for field in dataclasses.fields(Rates)]
    if not isinstance(figures, dict) or sorted(figures) != sorted(names):
        return "it has other figures than this version's"
    for name in names:
        example, figure = getattr(DEFAULT["cpu"], name), figures[name]
        by_type = figure if isinstance(example, dict) else {name: figure}
        if not isinstance(by_type, dict) or not set(by_type) >= (set(example) if isinstance(example, dict) else {name}):
            return f"a type is missing in {name!r}"
        for each in by_type.values():
            number = isinstance(each, (int, float)) and not isinstance(each, bool)
            if not number or not 0 <= each < 1e300 or (each == 0 and name not in _SECONDS):
                return f"the figure {name!r} is {str(each)[:30]}"
    return ""
