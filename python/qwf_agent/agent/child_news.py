"""The news that a slot has of its child: the tasks it has found, its answers, its end."""

from __future__ import annotations

from typing import Any, NamedTuple

from qwf_agent.agent.child_process import ChildExit
from qwf_agent.agent.claim import Claim
from qwf_agent.child.outcome import JobOutcome


class Announcement(NamedTuple):
    """The findings of a new child: the names of the tasks, the models with the GPU memory that each
    needs, MiB, the options that each task declares, and the shapes of the bodies that take more
    than one job."""

    tasks: list[str]
    models: dict[str, int]
    task_options: dict[str, dict[str, str]]
    shapes: dict[str, list[Any]]


class JobAnswer(NamedTuple):
    """The answer of a child about one job: the outcome and its reason, the rendered report, the
    seconds that the body ran, the end of its log."""

    claim: Claim
    outcome: str
    reason: str | None
    rendered: bytes
    seconds: float
    log: str


class ChildDeath(NamedTuple):
    """The end of a child: its last answers; the jobs that were running, for how many seconds the
    first of them, and their logs; which of them caused the end, as far as that is known; the jobs
    that it never started; whether the agent wanted it to end, and if it has killed it for no job,
    why; what was printed by none of many jobs."""

    exit: ChildExit
    answers: list[JobAnswer]
    running: list[Claim]
    seconds: float
    logs: list[str]
    culprit: Claim | None
    unstarted: list[Claim]
    expected: bool
    cause: JobOutcome | None
    log: str


class MovedFolder(NamedTuple):
    """The folder of a job that held files of another, and where these are now."""

    folder: str
    moved_to: str
    held: str


class NewCheckpoint(NamedTuple):
    """A checkpoint that a child has sent, or that a body begins: the job, the number of the answer,
    the JSON text or BEGUN."""

    claim: Claim
    number: int
    text: str
