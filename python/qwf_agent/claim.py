"""A job this agent has claimed, from the claim until its report."""

from __future__ import annotations

import json
from dataclasses import dataclass

from qwf_agent.link import Row
from qwf_agent.outcome import Outcome
from qwf_agent.wire import Message


@dataclass(eq=False)
class Claim:
    """Times are on the monotonic clock, in seconds.

    Invariant: while the agent holds a claim it is in exactly one place: the backlog, a slot, or
    among the reports.
    """

    job_id: int
    token: str
    message: Message
    inputs: bytes
    timeout: float
    ticket: int = 0
    expected_s: float = 0.0
    fate: Outcome | None = None  # what to report once its child is dead, whatever the child said
    dropped: bool = False  # lost to another worker: nothing is reported
    cancelled: bool = False  # told to stop
    kill_at: float = float("inf")
    progress_seen: int = 0

    @property
    def task(self) -> str:
        """Name of the task."""
        return str(self.message["task"])


def from_row(row: Row, timeout: float) -> Claim:
    """A claim from a row of qwf.claim(); `timeout` where the row has none."""
    limit = row["timeout"]
    message = {
        name: row[name]
        for name in (
            "job_id",
            "run_id",
            "node_id",
            "task",
            "queue",
            "attempt",
            "project",
            "out_dir",
        )
    }
    message["labels"] = {} if row["labels"] in (None, "{}") else json.loads(row["labels"])
    inputs = (row["inputs"] or "{}").encode()
    return Claim(
        row["job_id"], row["token"], message, inputs, limit.total_seconds() if limit else timeout
    )
