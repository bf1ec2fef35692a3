"""The news that a slot has of its child: the tasks it has found, its answers, its end."""

from __future__ import annotations

from typing import NamedTuple

from qwf_agent.agent.child_process import ChildExit
from qwf_agent.agent.claim import Claim


class Announcement(NamedTuple):
    """The findings of a new child: the names of the tasks, the models with the GPU memory that each
    needs, MiB, and the options that each task declares."""

    tasks: list[str]
    models: dict[str, int]
    task_options: dict[str, dict[str, str]]


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
    """The end of a child: its last answers; the job that was running, for how many seconds, and its
    log; the jobs that it never started; whether the agent wanted it to end."""

    exit: ChildExit
    answers: list[JobAnswer]
    running: Claim | None
    seconds: float
    unstarted: list[Claim]
    log: str
    expected: bool


class MovedFolder(NamedTuple):
    """The folder of a job that held files of another, and where these are now."""

    folder: str
    moved_to: str
    held: str


class NewCheckpoint(NamedTuple):
    """A checkpoint that a child has sent: the job, the number of the answer, the JSON text."""

    claim: Claim
    number: int
    text: str
