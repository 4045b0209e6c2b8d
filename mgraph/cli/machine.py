"""The commands about this machine: ``mgraph calibrate`` and ``mgraph info``."""

import contextlib
import dataclasses
import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import click

import mgraph

from .. import device as devices
from .. import lazy, namesake
from ..calibrate import calibrate as measured_rates
from ..errors import DeviceError
from ..planning.devices import spec_of
from ..planning.rates import FILE, folder_of_figures
from ..warming import warm_up as compiled_ahead
from .commands import main
from .options import Scheduler, json_option, scheduler_options, wait_option
from .summaries import as_json_text
from .workers import check_workers, client_of


@main.command(epilog="Example: mgraph calibrate --device cuda:0")
@click.option("--device", metavar="NAME", help="cpu, cuda or cuda:N; by default a GPU where there is one.")
@json_option
def calibrate(device: str | None, as_json: bool) -> None:
    """Measure a device once, so that predicted times hold on it; the figures are kept in the cache folder."""
    measured = dataclasses.asdict(measured_rates(device))
    if as_json:
        click.echo(as_json_text(measured))
        return
    for name, figure in measured.items():
        for kind, value in figure.items() if isinstance(figure, dict) else [("", figure)]:
            click.echo(f"{name:12} {kind:12} {value:.4g}")
    click.echo(f"kept in {folder_of_figures() / FILE}")


@main.command("warm-up", epilog="Example: mgraph warm-up bfs sssp")
@click.argument("calls", nargs=-1, metavar="[CALLS]...")
def warm_up(calls: tuple[str, ...]) -> None:
    """Compile the kernels of algorithms ahead; by default of all.

    CALLS are algorithms, apsp_batch, hierarchy, csgraph and reading. One of them takes some seconds to a minute of one
    core, and all together five to six minutes, which all cores share. Compiled kernels are kept in the cache folder.
    """
    with lazy.tqdm()(desc="compiling", unit=" parts", leave=False, disable=None) as bar:

        def progress(done: int, total: int, finished: str) -> None:
            bar.total = total
            bar.update(done - bar.n)
            if bar.disable and finished:  # a log has no bar
                click.echo(f"{finished}: compiled, {done} of {total} parts")

        compiled_ahead(calls or None, progress=progress)
    click.echo(f"compiled the kernels of {', '.join(calls) or 'all calls'}")


_PACKAGES = ("numpy", "scipy", "numba", "dask", "distributed", "cupy", "dask-cuda")

_CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")


@main.command(epilog="Example: mgraph info --scheduler tcp://10.0.0.1:8786")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="With a scheduler: what its workers will use.")
@scheduler_options
@wait_option
@json_option
def info(device: str | None, scheduler: Scheduler, as_json: bool) -> None:
    """Show the versions and the devices that are there, and what is missing for GPUs.

    With a scheduler, check the network of its workers instead: the interface of each, and the latency and bandwidth
    from each to each other one. The exit code is 1 if a worker cannot reach another.
    """
    check_workers(None, scheduler)
    if scheduler.named:
        with client_of(None, scheduler) as client:
            _show_network(client, device, scheduler.worker_timeout, as_json)
        return
    if device is not None or scheduler.worker_timeout is not None:
        raise click.UsageError("--device and --worker-timeout go with --scheduler or --scheduler-file")
    versions: dict[str, str | None] = {"mgraph": mgraph.__version__, "python": platform.python_version()}
    versions |= {name: _version(*(_CUPY if name == "cupy" else (name,))) for name in _PACKAGES}
    specs = [spec_of(devices.find(name)) for name in ("cpu", *(f"cuda:{i}" for i in range(devices.gpu_count())))]
    missing, conflict = list(_missing(versions)), namesake.conflict()
    if as_json:
        found = [dataclasses.asdict(spec) for spec in specs]
        click.echo(as_json_text({"versions": versions, "devices": found, "missing": missing, "conflict": conflict}))
        return
    for name, version in versions.items():
        click.echo(f"{name:12} {version or 'not installed'}")
    for spec in specs:
        cores = f", {spec.cores} cores" if spec.kind == "cpu" else ""
        click.echo(f"{spec.name:12} {spec.memory / 2**30:,.1f} GiB free{cores}")
    for line in (*missing, *([conflict] if conflict else [])):
        click.echo(line)


def _show_network(client: Any, device: str | None, worker_timeout: float | None, as_json: bool) -> None:
    """Print what is found of the network among a client's workers."""
    from ..cluster import check_network  # and Dask

    found = check_network(client, device, worker_timeout)
    if as_json:
        ports, links = ([each._asdict() for each in part] for part in (found.ports, found.links))
        click.echo(as_json_text({"kind": found.kind, "workers": ports, "links": links}))
    else:
        click.echo(found.explain())
    if found.broken:
        raise click.exceptions.Exit(1)


def _version(*names: str) -> str | None:
    """Return the version of the first of these distributions that is installed."""
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return None


def _missing(versions: dict[str, str | None]) -> Iterator[str]:
    """Yield what is missing to use GPUs, and how to install it."""
    if versions["cupy"] is None:
        yield "GPUs need CuPy: pip install 'dask-mgraph[cuda13]' (or 'dask-mgraph[cuda12]' for a driver of CUDA 12)"
        return
    several = [name for name in _CUPY if _version(name)]
    if len(several) > 1:
        yield f"{' and '.join(several)} are installed, and overwrite each other: uninstall them, then install one"
    problem = devices.gpu_problem()
    if problem is not None:
        yield problem
        return
    if versions["dask-cuda"] is None:
        extra = "cuda12" if _version("cupy-cuda12x") else "cuda13"
        yield f"--workers on GPUs needs dask-cuda: pip install 'dask-mgraph[{extra}]'"
    try:
        devices.nccl()
    except DeviceError as error:
        yield str(error)
