"""The faults: what is done to a site in the middle of a call, and afterwards."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import psutil
from distributed import Worker

from tests.faults.site import Site, wait_until

#: Bytes after which the nannies of small sites end a worker, by its device. One for CPUs has a third of them with its
#: kernels; one for GPUs has more, with CUDA and NCCL.
SMALL = {"cpu": 900 << 20, "cuda": 4 << 30}


@dataclass
class Scene:
    """A fault's site, the worker that is struck, and what the fault keeps until its end."""

    site: Site
    address: str
    victim: psutil.Process
    random: Random
    kept: Any = None
    #: How the call may end because of what the fault has met.
    excused: tuple[str, ...] = ()


def _nothing(scene: Scene) -> None:
    pass


@dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes
    ----------
    strike, end
        What is done at the moment, and after the call.
    site : str
        The kind of site: "plain", "small", "proxied", or "disk" with a small one for checkpoints.
    again : tuple of str
        How a call may end that may be made again: "right", or the names of errors.
    once : tuple of str
        How one may end that may not.
    silent : bool
        Whether the call notices it only by `worker_timeout`.
    lasting : bool
        Whether the next call may be made while it lasts.
    adds : bool
        Whether it adds a worker, which needs a device of its own.
    on_client : bool
        Whether it strikes the client, which is another process then.
    on_checkpoints : bool
        Whether it is one of calls with checkpoints alone.
    """

    strike: Callable[[Scene], None]
    end: Callable[[Scene], None] = _nothing
    site: str = "plain"
    again: tuple[str, ...] = ("right",)
    once: tuple[str, ...] = ("right", "WorkerLostError")
    silent: bool = False
    lasting: bool = False
    adds: bool = False
    on_client: bool = False
    on_checkpoints: bool = False


def _signal(number: signal.Signals) -> Callable[[Scene], None]:
    def send(scene: Scene) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):  # by this object, it reaches no later process of that number
            scene.victim.send_signal(number)

    return send


def _restart(scene: Scene) -> None:
    scene.site.client.restart_workers([scene.address], timeout=60, raise_for_error=False)


def _fill(scene: Scene) -> None:
    scene.site.client.run(_allocate, scene.site.memory_limit, workers=[scene.address], on_error="ignore")


def _allocate(limit: int, dask_worker: Worker) -> None:
    """Take as much memory as is allowed, in a thread; for `Client.run`."""
    taken = []

    def take() -> None:
        while sum(map(len, taken)) < 2 * limit:
            taken.append(np.ones(1 << 26, np.uint8))

    threading.Thread(target=take, daemon=True).start()


def _filled(scene: Scene) -> None:
    """Wait until the nanny has killed the worker: while it fills up, a call may find no memory to plan with."""
    wait_until(lambda: not scene.victim.is_running(), "a worker without memory still runs")


def _kill_scheduler(scene: Scene) -> None:
    scene.site.scheduler.kill()


def _replace_scheduler(scene: Scene) -> None:
    scene.site.restart()
    scene.site.reconnected()


def kill_client(scene: Scene | None = None) -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def _add(scene: Scene) -> None:
    scene.site.add(scene.site.workers)
    scene.site.workers += 1


def _remove(scene: Scene) -> None:
    scene.site.workers -= 1
    scene.site.remove(scene.site.workers)


def _turn(way: str, seconds: float | None = None) -> Callable[[Scene], None]:
    """Return what turns the ways to a worker, or to all of them; with `seconds`, open again after so many."""

    def turn(scene: Scene) -> None:
        proxies = list(scene.site.proxies.values())
        scene.kept = proxies if scene.random.random() < 0.5 else [scene.random.choice(proxies)]
        for proxy in scene.kept:
            proxy.turn(way)
        if seconds is not None:
            time.sleep(seconds)
            _open(scene)

    return turn


def _open(scene: Scene) -> None:
    for proxy in scene.kept or ():
        proxy.turn("open")


def _damage(scene: Scene) -> None:
    """Damage the last checkpoint and kill the worker, so that the call goes on from the one before."""
    files = sorted(scene.site.checkpoints.glob("*"))
    manifests = [path for path in files if path.suffix == ".json"]
    if len(manifests) < 2:
        scene.excused = ("CheckpointError",)
    if manifests:
        number = manifests[-1].stem.rpartition("-")[2]
        path = scene.random.choice([path for path in files if number in path.name])
        with contextlib.suppress(FileNotFoundError):  # a later one may have been completed meanwhile
            content = bytearray(path.read_bytes())
            if content:  # else an earlier strike has cut it to nothing
                content[scene.random.randrange(len(content))] ^= 255
            path.write_bytes(content[: scene.random.choice([len(content), len(content) // 2])])
    _signal(signal.SIGKILL)(scene)


def _fill_disk(scene: Scene) -> None:
    with contextlib.suppress(OSError), (scene.site.checkpoints / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(1 << 12))


def _free_disk(scene: Scene) -> None:
    (scene.site.checkpoints / "filler").unlink(missing_ok=True)


LOST = ("right", "WorkerLostError")

FAULTS = {
    "SIGKILL": Fault(_signal(signal.SIGKILL)),
    "SIGKILL, same address": Fault(_signal(signal.SIGKILL), site="proxied"),
    "SIGTERM": Fault(_signal(signal.SIGTERM)),
    "SIGSTOP": Fault(_signal(signal.SIGSTOP), _signal(signal.SIGCONT), silent=True, lasting=True),
    "restarted": Fault(_restart),
    "out of memory": Fault(_fill, _filled, site="small"),
    "worker added": Fault(_add, _remove, once=("right",), adds=True),
    "scheduler killed": Fault(
        _kill_scheduler, _replace_scheduler, again=("right", "SchedulerError"), once=("right", "SchedulerError")
    ),
    "client killed": Fault(kill_client, on_client=True),
    "network slow": Fault(_turn("slow"), _open, site="proxied", once=("right",)),
    "network cut for 1 s": Fault(_turn("closed", 1), site="proxied"),
    "network cut": Fault(_turn("closed"), _open, site="proxied", again=LOST, silent=True),
    "network silent": Fault(_turn("silent"), _open, site="proxied", again=LOST, silent=True),
    "checkpoint damaged, SIGKILL": Fault(_damage, on_checkpoints=True),
    "disk full": Fault(_fill_disk, _free_disk, site="disk", once=("right",), on_checkpoints=True),
}
