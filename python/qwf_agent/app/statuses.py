"""The status of a job or a run, its progress, and how it ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from typing_extensions import Self

JobState = Literal[
    "blocked", "scheduled", "queued", "running", "awaiting_input",
    "completed", "failed", "cancelled", "skipped",
]  # fmt: skip
RunState = Literal["queued", "running", "awaiting_input", "completed", "failed", "cancelled"]
ENDED = ("completed", "failed", "cancelled", "skipped")


class StatusBase(ABC):
    """The common part of the statuses of jobs and runs."""

    id: int
    status: JobState | RunState
    error: str | None

    @property
    @abstractmethod
    def name(self) -> str:
        """The job or run, in words."""

    @property
    def ended(self) -> bool:
        """True if nothing will change any more, unless somebody retries it."""
        return self.status in ENDED

    def check(self) -> Self:
        """This status itself, if the job or run has completed. Else raises NotCompleted."""
        if self.status != "completed":
            raise NotCompleted(self)
        return self


class NotCompleted(Exception):
    """A job or run failed, was cancelled or skipped, or has not ended: see `status.status`."""

    status: StatusBase

    def __init__(self, status: StatusBase) -> None:
        super().__init__(status)
        self.status = status

    def __str__(self) -> str:
        reason = f": {self.status.error}" if self.status.error else ""
        return f"{self.status.name} {_said(self.status.status)}{reason}"


@dataclass(frozen=True)
class JobStatus(StatusBase):
    """A job at one moment. `progress` is from 0 to 1: 1 when it has completed, else None if its
    body has reported none. `output` is empty until the job has completed; `error` is of the last
    attempt that failed."""

    id: int
    status: JobState
    attempt: int
    worker: str | None
    progress: float | None
    message: str | None
    output: dict[str, Any] = field(hash=False)
    error: str | None

    @property
    def name(self) -> str:
        """The job, in words."""
        return f"job {self.id}"


@dataclass(frozen=True)
class Question:
    """A question that waits for a person. `options` is what may be chosen, None if the widget has
    none; `since` names the question in `jobs.answer(..., asked=)`; `expires_at` is None if it waits
    forever. `spec` has all keys of the step, resolved."""

    widget: str
    prompt: str | None
    options: tuple[Any, ...] | None = field(hash=False)
    since: datetime
    expires_at: datetime | None
    spec: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class NodeStatus:
    """A node of a run at one moment, as in JobStatus. Its output is that of `jobs.status()`, by its
    `job_id`. `question` is None unless its status is `awaiting_input`."""

    job_id: int
    status: JobState
    queue: str | None
    task: str | None
    attempt: int
    worker: str | None
    progress: float | None
    message: str | None
    error: str | None
    depends_on: tuple[str, ...]
    question: Question | None


@dataclass(frozen=True)
class RunStatus(StatusBase):
    """A run at one moment, with its nodes by their ids, each after those it depends on."""

    id: int
    workflow: str
    status: RunState
    error: str | None
    nodes: Mapping[str, NodeStatus] = field(hash=False)

    @property
    def name(self) -> str:
        """The run, in words."""
        return f"run {self.id} of {self.workflow}"

    @property
    def progress(self) -> float:
        """The fraction of its nodes that have ended, from 0 to 1."""
        ended = sum(node.status in ENDED for node in self.nodes.values())
        return ended / len(self.nodes) if self.nodes else float(self.ended)


def read_job(told: Mapping[str, Any]) -> JobStatus:
    """The status that qwf.result returned."""
    return JobStatus(
        told["job_id"], told["status"], told["attempt"], told["worker"], told["progress"],
        told["message"], told["output"] or {}, told["error"],
    )  # fmt: skip


def read_run(told: Mapping[str, Any]) -> RunStatus:
    """The status that qwf.run_status returned."""
    run = told["run"]
    nodes = {node["node_id"]: _read_node(node) for node in told["nodes"]}
    return RunStatus(run["id"], run["workflow"], run["status"], run["error"], nodes)


def _read_node(told: Mapping[str, Any]) -> NodeStatus:
    return NodeStatus(
        told["job_id"], told["status"], told["queue"], told["task"], told["attempt"],
        told["worker"], told["progress"], told["message"], told["error"],
        tuple(told["depends_on"]),
        _read_question(told["question"]) if "question" in told else None,
    )  # fmt: skip


def _read_question(told: Mapping[str, Any]) -> Question:
    options, expires_at = told["options"], told["expires_at"]
    return Question(
        told["widget"], told["prompt"], None if options is None else tuple(options),
        datetime.fromisoformat(told["since"]),
        None if expires_at is None else datetime.fromisoformat(expires_at), told,
    )  # fmt: skip


def _said(status: JobState | RunState) -> str:
    if status in ("cancelled", "skipped"):
        return f"was {status}"
    return status if status in ENDED else f"has not ended, it is {status}"
