"""A job this agent has claimed, from the claim until its report."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from qwf_agent.link import Row
from qwf_agent.outcome import Outcome
from qwf_agent.settings import Settings
from qwf_agent.vitals import Vitals
from qwf_agent.wire import Message

TOLD = ("job_id", "run_id", "node_id", "task", "queue", "attempt", "project", "out_dir")  # a child


@dataclass(eq=False, slots=True)
class Claim:
    """Times are on the monotonic clock, in seconds.

    Invariant: while the agent holds a claim it is in exactly one place: the backlog, a slot, or
    among the reports.
    """

    job_id: int
    token: str
    task: str
    queue: str
    model: str | None  # that it needs
    message: Message
    inputs: bytes
    timeout: float
    stall_timeout: float
    heavy: bool = False  # needs a card to itself
    model_loaded: bool = False  # its child has said so
    ticket: int = 0
    expected_s: float = 0.0
    given_at: float = 0.0  # to the child that has it
    fate: Outcome | None = None  # what to report once its child is dead, whatever the child said
    dropped: bool = False  # lost to another worker: nothing is reported
    cancelled: bool = False  # told to stop
    kill_at: float = float("inf")
    progress_seen: int = 0
    vitals: Vitals = field(default_factory=Vitals)


def from_row(row: Row, settings: Settings, lanes: bool) -> Claim:
    """A claim from a row of qwf.claim(); `settings` hold what the row does not say. With `lanes`,
    whatever is not light needs a card to itself."""
    timeout, stall_timeout = row["timeout"], row["stall_timeout"]
    message = {name: row[name] for name in TOLD}
    message["labels"] = {} if row["labels"] in (None, "{}") else json.loads(row["labels"])
    message["model"] = row["required_model"]
    return Claim(
        row["job_id"],
        row["token"],
        row["task"],
        row["queue"],
        row["required_model"],
        message,
        (row["inputs"] or "{}").encode(),
        timeout.total_seconds() if timeout else settings.timeout,
        stall_timeout.total_seconds() if stall_timeout else settings.stall_timeout,
        heavy=lanes and not row["light"],
    )
