"""Rates of devices, from which the planner predicts times.

The built-in rates were measured on one H200 and on one core of a server's CPU (benchmarks/NOTES.md). Some are only
assumed: the seconds between launches, the rate of a temporary file, the CPU's rates for int16 and for searches, and
`SHORT` for GPUs. Closures and list ranking have rates of their own in their plans.

``mgraph calibrate`` (`mgraph.calibrate`) measures another device once and keeps its rates in the user's cache folder,
by the name of the hardware. Without it, the rates of a CPU are the built-in ones, scaled by a quick measurement
(`mgraph.planning.probe`). For some GPUs that were not measured, `PUBLISHED` has published figures.
"""

import dataclasses
import functools
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import device as devices
from ..cache_folder import cache_folder, write_json
from ..errors import InputError, printable
from . import probe


@dataclass(frozen=True)
class Rates:
    """Rates of a GPU, or of a core of a CPU.

    Attributes
    ----------
    minplus, labelled : dict of str to float
        Sums and minima per second of the (min, +) product, without labels and with them, by type;
        ``"nonnegative"`` is float32 without negative weights.
    pivots : float
        Seconds of a round for the pivots themselves, independent of the size of the matrix.
    strips : float
        Seconds that a round with look-ahead takes in addition to the longer of its two streams.
    launch : float
        Seconds from one superstep to the next.
    memory : float
        Bytes per second read and written.
    copy : float
        Bytes per second to the host, with an equal transfer from it at the same time.
    disk : float
        The same for a temporary file.
    search : float
        Edges per second of a breadth-first search.
    relaxations : float
        Relaxations per second of an edge for one of many sources, as `plan` counts them.
    link : float
        Bytes per second that a shard receives from others of its node; `calibrate` does not measure it.
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

#: (Min, +) sums per second of the V100 used by P. Sao et al. ("Scalable all-pairs shortest paths for huge graphs on
#: multi-GPU clusters", 2021). Its peak is a fourth of NVIDIA's 15.7 TFLOPS, which count multiplications and additions,
#: as a sum and a minimum are two instructions. One GPU reaches seven eighths of the peak, as they report 70% of it at a
#: parallel efficiency of 80%; R. Kannan et al. (2020) report 70% at 90%, which would give 3.05e12.
_V100 = 0.70 / 0.80 * 15.7e12 / 4

#: Published rates of other GPUs, by model. For the V100 these are its float32 product and its memory, 0.9 TB/s. The
#: rest is assumed: integers as fast, float64 half as fast (NVIDIA's 7.8 TFLOPS), labels in the H200's proportion,
#: NVLink's two links of 25 GB/s to a neighbour, PCIe 3, and searches in proportion to the memory.
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

#: The model of GPU that the built-in rates were measured on.
MEASURED = "NVIDIA H200"

#: Figures that are seconds, not rates, and may be zero.
_SECONDS = ("pivots", "strips", "launch")

#: Seconds of one exchange between shards: within one device, by NCCL, and by Dask's messages.
EXCHANGE = {"solo": 0.0, "cuda": 60e-6, "cpu": 2e-3}

#: Bytes from each shard up to which an exchange counts as short: with so many it takes half as long again as an empty
#: one; between GPUs, some 30 µs longer, the time in which a host reads a result.
SHORT = {"cuda": 1 << 24, "cpu": 1 << 16}


#: How many times the rates may have changed in this process.
changes = 0

#: The file of the rates of calibrated devices, in the cache folder.
FILE = "rates.json"


@functools.cache
def rates(kind: str, model: str, cores: int = 1) -> Rates:
    """Return the rates of a device: those measured on its model, else published ones, else those of its kind.

    The latter are scaled to this machine's CPU, if it is the model. They are cached until others are kept.
    """
    known = _kept(cache_folder()).get(model) or PUBLISHED.get(model)
    return known or _scaled(DEFAULT[kind], speed(kind, model, cores))


def are_of(kind: str, model: str) -> str:
    """Return in words which device the rates of another one are, where nobody measured or published its own."""
    own = kind == "cpu" or model == MEASURED or model in PUBLISHED or model in _kept(cache_folder())
    return "" if own else "an H200"


@functools.cache
def speed(kind: str, model: str, cores: int) -> probe.Speed:
    """Return the speed of a device relative to the built-in rates; 1 for all but this machine's CPU; cached."""
    own = kind == "cpu" and model == devices.HostDevice().model()
    return probe.speed_in(model, cores, cache_folder()) if own else probe.SAME


def forget() -> None:
    """Read and measure again what is known of devices, as another process would."""
    for known in (rates, speed, _kept, probe.speed_in, cache_folder):
        known.cache_clear()
    count_change()


def count_change() -> None:
    """Count that the rates may have changed."""
    global changes
    changes += 1


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
    """Keep the rates measured on a model for later calls, and return the file.

    The name does not include the number of cores: unlike a probe, a user requests a calibration, and it also holds for
    plans with fewer cores, such as those of one of several workers.

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
    rates.cache_clear()
    count_change()
    return path


def folder_of_figures() -> Path:
    """Return the cache folder, or raise InputError if there is none."""
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home directory to keep figures in: set XDG_CACHE_HOME to a folder")
    return folder


@functools.cache
def _kept(folder: Path | None) -> dict[str, Rates]:
    """Return the rates kept in a folder, which is read once."""
    if folder is None:
        return {}
    path = folder / FILE
    kept, problem = _read(path)
    if problem:
        warnings.warn(
            printable(f"{path} is ignored, as {problem}: remove it, or measure again with 'mgraph calibrate'"),
            stacklevel=3,
        )
    return kept


def _read(path: Path) -> tuple[dict[str, Rates], str]:
    """Return the rates in a file by model, and what is wrong with it; no rates if it is missing or invalid."""
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
    """Return what is wrong with the rates of a device in a file; empty if they are valid for `Rates`."""
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
