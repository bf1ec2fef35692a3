"""One child of an agent, without an agent and a database: it runs jobs of a model server."""

from __future__ import annotations

import contextlib
import json
import selectors
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from qwf_agent.agent.claim import Claim
from qwf_agent.agent.slot import Slot
from qwf_agent.agent.worker import Worker
from qwf_agent.child.setup import Limits, Setup
from qwf_agent.system.guardian import Guardian
from support.harness import until

STEP_S = 0.01


CREATED_AT = "2026-11-24 12:00:00+00"


@dataclass(frozen=True)
class Ending:
    """How a job ended: the report as the database gets it, and the log."""

    outcome: str
    output: dict[str, Any]
    error: str
    detail: dict[str, Any]
    log: str


@dataclass
class OneChild:
    """Runs jobs, one after the other."""

    slot: Slot
    selector: selectors.BaseSelector
    home: Path

    def begin(self, task: str, inputs: dict[str, Any], server: dict[str, Any] | None) -> Claim:
        """Give the child a job. `server` describes the server of its model."""
        model = server and server["model"]
        work = (1, None, None, task, "llm", 1, "", None, None, model, json.dumps(inputs),
                CREATED_AT, None, None, False, (str(self.home), "test", 1))  # fmt: skip
        worker = cast("Worker", None)  # the slot does not ask it
        claim = Claim(1, "", task, "llm", 1, model, work, 60.0, 60.0, False, worker)
        claim.server = server and json.dumps(server)
        self.slot.assign(claim, 0.0)
        self.slot.flush()
        return claim

    def end(self) -> Ending:
        """Wait for the end of the job."""
        (answer,) = until(self._step, "the end of the job")
        report = json.loads(answer.rendered)
        assert report["outcome"] == answer.outcome
        assert report["detail"].get("reason") == answer.reason
        return Ending(
            answer.outcome, report["output"], report["error"], report["detail"], answer.log
        )

    def run(self, task: str, inputs: dict[str, Any], server: dict[str, Any] | None) -> Ending:
        """Give the child a job, and wait for its end."""
        self.begin(task, inputs, server)
        return self.end()

    def printed(self) -> str:
        """Output of the running body so far."""
        self._step_of_selector()
        return self.slot.body.printed(1 << 16)[1]

    def _step(self) -> list[Any]:
        self._step_of_selector()
        return self.slot.answers()

    def _step_of_selector(self) -> None:
        for key, _ in self.selector.select(STEP_S):
            key.data()


@contextlib.contextmanager
def one_child(app: str, home: Path) -> Iterator[OneChild]:
    """A child that has imported this app. It ends with the block."""
    guardian, selector = Guardian(None), selectors.DefaultSelector()
    setup = Setup(
        host="here", app=app, nodes=None, allow_commands=None, environment={},
        limits=Limits(), max_rss=None, gpu=False, model_idle=60.0, reload=False, otel=False,
        mark="test",
    )  # fmt: skip
    slot = Slot(selector, guardian, setup, recycle_jobs=1000)
    child = OneChild(slot, selector, home)
    try:
        slot.spawn(time.monotonic())
        until(lambda: child._step() or slot.ready, "the child")
        yield child
    finally:
        slot.discard()
        until(lambda: slot.reap() or slot.process is None, "the end of the child")
        selector.close()
        guardian.close()
