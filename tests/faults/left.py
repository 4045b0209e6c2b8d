"""What calls have left behind, as words; nothing if all is well."""

import gc
import json
import threading
from pathlib import Path
from typing import Any

from distributed import Scheduler, Worker

from mgraph.runtime.dask.driver import forget
from mgraph.runtime.dask.pulse import PLACE
from mgraph.runtime.dask.turns import turns_on
from tests.faults.site import Site

#: The names of threads that stay for later calls: the one for calls on what lies there, those of kernels, those that
#: carry arrays from a GPU, those that compile, and those that write checkpoints.
POOLS = ("mgraph-call_", "mgraph-core_", "mgraph-copier_", "mgraph-compiler_", "mgraph-writer_")


def left(site: Site) -> list[str]:
    """Return what is left on a site, once the results of its client's calls are gone."""
    forget(site.client)
    gc.collect()
    answers = site.client.run(_on_worker, on_error="ignore") | {"scheduler": site.client.run_on_scheduler(_there)}
    found = [f"{where}: {words}" for where, answer in answers.items() for words in answer]
    found += [f"client: the thread {name}" for name in _threads()]
    processes = site.descendants()
    if len(processes) != site.processes:
        found.append(f"{len(processes)} processes, at first {site.processes}: {processes}")
    # Beside each folder lies a lock.
    folders = sorted(path.name for path in site.folder.glob("dask-scratch-space/worker-*") if path.is_dir())
    if len(folders) != site.workers:
        found.append(f"disk: {len(folders)} folders of {site.workers} workers: {folders}")
    others = {path.name for path in site.folder.iterdir()} - {"log", "dask-scratch-space", "checkpoints"}
    partial = {path.name for path in site.checkpoints.glob(".*")}  # files of checkpoints before they are whole
    return found + [f"disk: {name}" for name in sorted(others | partial)]


def unnamed(checkpoints: Path) -> list[str]:
    """Return the files in a folder of checkpoints that no manifest names: a call that has ended leaves none."""
    there = {path.name for path in checkpoints.iterdir()}
    manifests = {name for name in there if name.startswith("checkpoint-")}
    named = {each["file"] for name in manifests for each in json.loads((checkpoints / name).read_bytes())["files"]}
    return sorted(there - manifests - named - {"checkpoint.lock", "filler"})


def _threads() -> list[str]:
    """Return the threads of mgraph's calls, but for those that wait for the next call."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("mgraph") and not name.startswith(POOLS)]


def _on_worker(dask_worker: Worker) -> list[str]:
    """Return what is left on a worker; for `Client.run`."""
    plugin: Any = dask_worker.plugins.get("mgraph")
    found = [] if plugin is None else [f"the session {name}" for name in plugin.sessions]
    found += [f"the thread {name}" for name in _threads()]
    return found + [f"the task {key}" for key in dask_worker.state.tasks]


def _there(dask_scheduler: Scheduler) -> list[str]:
    """Return what is left on the scheduler; for `Client.run_on_scheduler`."""
    found = [f"the task {key}" for key in dask_scheduler.tasks]
    if PLACE in dask_scheduler.task_metadata:
        found.append("beats of sessions")
    if len(turns_on(dask_scheduler)):
        found.append(f"{len(turns_on(dask_scheduler))} calls in the line")
    return found
