"""Acts when a job ends by a fault of this host: the agent takes no more of such jobs for a while,
and other hosts get them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable

from qwf_agent.agent.children import Children
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.endings import Endings
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.worker import Worker
from qwf_agent.child.outcome import JobOutcome

log = logging.getLogger("qwf_agent")

WITHDRAWN = JobOutcome("released", detail={"reason": "withdrawn"})
SHOWN = 300  # characters of an error


class HostFaults:
    """Withdraws a task that cannot be imported or crashes here, and a model that cannot be loaded.
    If the folder for files cannot be written, the box withdraws from all queues of this agent."""

    def __init__(self, slots: Pool, endings: Endings, children: Children) -> None:
        self._slots = slots
        self._endings = endings
        self._children = children

    def job_ended(
        self, claim: Claim, reason: str | None, rendered: bytes, workers: Iterable[Worker]
    ) -> None:
        """Act on the end of a job, if its reason is a fault of this host."""
        if reason not in ("import", "model", "out_root") or not rendered:
            return
        error = str(json.loads(rendered).get("error")).partition("\n")[0][:SHOWN]
        if reason == "out_root":
            for worker in workers:
                worker.circuit_breaker.withdraw(error)
        elif reason == "model" and claim.model is not None:
            self.withdraw("model", claim.model, error)
        elif reason == "import":
            self.withdraw("task", claim.task, error)

    def withdraw(self, kind: str, name: str, error: str) -> None:
        """Register without this task or model, and release the jobs that need it and have not
        started."""
        if not self._children.withdraw(kind, name, error):
            return
        log.error("no jobs of %s %s for five minutes: %s", kind, name, error)
        for slot in self._slots:
            self._slots.take_back(slot)
        needing = [
            claim
            for claim in self._slots.backlog
            if (claim.model if kind == "model" else claim.task) == name
        ]
        self._endings.release(needing, WITHDRAWN)
