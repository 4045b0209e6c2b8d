"""The options that say where and how a call runs, written once; `mgraph.docstrings` explains them to users."""

import os
from typing import Any, TypedDict

from .program import Progress


class OneDeviceRun(TypedDict, total=False):
    """Where and how a call runs that takes no client."""

    device: str | None
    memory_limit: int | float | str | None


class Run(TypedDict, total=False):
    """Where and how a call runs: its ``{common arguments}``."""

    device: str | None
    client: Any
    memory_limit: int | float | str | None
    span: int | None
    progress: Progress | None
    worker_timeout: float | str | None
    wait_for_workers: int | None
    retries: int | None


class ResumableRun(Run, total=False):
    """The same of a call that writes checkpoints, and goes on from them: with its ``{checkpoint arguments}``."""

    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float | str | None
    resume: bool


#: The defaults of options that are not None.
DEFAULTS = {"resume": False}

#: The options about checkpoints.
CHECKPOINTING = frozenset(("checkpoint", "checkpoint_every", "resume"))
