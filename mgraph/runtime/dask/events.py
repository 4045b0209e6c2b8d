"""What the calls of all clients do, for an operator: events in the scheduler's log, under the topic ``mgraph``.

``client.get_events("mgraph")`` returns them. An event is a small dict: `event` says which, and `call` is the name of
the call's run. A run begins with a plan, and ends in one of three: `ended`, `lost` or `failed`. All but the spans are
in the topic ``all`` too, which the dashboard shows, with a name of their own as `action`.

Most events go with messages that a call sends anyway. The others are sent without waiting for an answer.
"""

import contextlib
from typing import Any

from distributed import Client, Scheduler

from ...errors import WorkerLostError
from ...planning.plan import Plan
from ..checkpoints import Written
from ..program import Standing

#: The topic in the scheduler's log.
TOPIC = "mgraph"

#: The most characters of an error.
LONG = 1000

Event = dict[str, Any]


def planned(plan: Plan) -> Event:
    """Return the event of a run that begins."""
    return {
        "event": "plan",
        "algorithm": plan.algorithm,
        "method": plan.method,
        "devices": len(plan.devices),
        "kind": plan.devices[0].kind,
        "seconds": float(plan.seconds),
        "peak_bytes": int(max(plan.peak_bytes)),
    }


def stands(standing: Standing) -> Event:
    """Return the event of a run that goes on."""
    return {"event": "span", **standing._asdict()}


def written(checkpoint: Written) -> Event:
    """Return the event of a checkpoint that is complete."""
    return {"event": "checkpoint", **checkpoint._asdict()}


def between(what: Standing | Written) -> Event:
    """Return the event of what a run tells between two spans."""
    return stands(what) if isinstance(what, Standing) else written(what)


def again(what: str, workers: int) -> Event:
    """Return the event of a call, or a graph, that is made again on so many workers."""
    return {"event": "again", "what": what, "workers": workers}


def ended(seconds: float) -> Event:
    """Return the event of a run that has ended."""
    return {"event": "ended", "seconds": seconds}


def failure(error: BaseException) -> Event:
    """Return the event of a run that has lost a worker, or failed otherwise."""
    if isinstance(error, WorkerLostError):
        return {"event": "lost", "workers": list(error.workers), "why": str(error)[:LONG]}
    return {"event": "failed", "error": f"{type(error).__name__}: {error}"[:LONG]}


def note(scheduler: Scheduler, event: Event, call: str) -> None:
    """Log an event of a call; on the scheduler."""
    scheduler.log_event(**_logged(event, call))


def tell(client: Client, event: Event, call: str = "") -> None:
    """Let the scheduler log an event; returns at once, and an event that does not arrive is no error."""
    if client.status == "running":
        loop: Any = client.loop
        loop.add_callback(_send, client, _logged(event, call))


def _logged(event: Event, call: str) -> dict[str, Any]:
    topics = [TOPIC] if event["event"] == "span" else [TOPIC, "all"]
    of_call = {"call": call} if call else {}
    return {"topic": topics, "msg": {**event, **of_call, "action": f"mgraph-{event['event']}"}}


async def _send(client: Client, logged: dict[str, Any]) -> None:
    with contextlib.suppress(Exception):  # the call itself finds out that its scheduler is gone
        scheduler: Any = client.scheduler
        await scheduler.log_event(**logged)
