"""A job that this agent has claimed, from the claim to its report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from qwf_agent.agent.calls import SentCall
from qwf_agent.agent.link import Links
from qwf_agent.agent.settings import Settings
from qwf_agent.app.bodies import Shape
from qwf_agent.child.messages import JobFields
from qwf_agent.child.outcome import JobOutcome
from qwf_agent.child.scoreboard import ProgressRecord

# The columns of qwf.claim() that the child gets, in the order of messages.Work, which go before
# the place of the worker; and the others.
CHILD_COLUMNS = (
    "job_id", "run_id", "node_id", "task", "queue", "attempt", "project", "out_dir", "labels",
    "required_model", "inputs", "created_at", "checkpoint", "queued_s",
    "at_most_once",
)  # fmt: skip
AGENT_COLUMNS = ("token", "timeout", "stall_timeout", "light", "rated", "alone")


@dataclass(slots=True)
class WatchdogState:
    """Memory of the watchdogs about one running body. Times are on the monotonic clock, in
    seconds; memory in bytes.

    `silent_samples`: use of the card and of the CPU, whether a process was runnable, and use of
    memory, since the body has been silent for too long.
    """

    loading: bool = False
    progress_version: int = 0
    progress_at: float | None = None  # time of the last progress report; None: there is none
    sampled_at: float = 0.0
    cpu_s: float | None = None  # CPU seconds of the body and its processes at `sampled_at`
    silent_samples: list[tuple[float, float, bool | None, int]] = field(default_factory=list)
    suspected_stall: dict[str, Any] | None = None  # readings of a body that was silent but active
    window_at: float | None = None  # begin of the current window of the gpu_health watchdog
    window_uses: list[float] = field(default_factory=list)
    window_rss: int | None = None
    gpu_peak_bytes: int = 0


class Claimant(ABC):
    """The worker that has claimed a job from one queue. Reports about the job go over its links."""

    settings: Settings
    links: Links
    place: tuple[str, str, int]  # as messages.Work has it

    @property
    @abstractmethod
    def is_draining(self) -> bool:
        """True if it is switched off, and lets running bodies end."""

    @abstractmethod
    def report(
        self,
        claim: Claim,
        rendered: bytes,
        log_tail: str,
        failed: FailedAttempt | None,
        seconds: float | None = None,
    ) -> None:
        """Report how the job ended; `rendered` comes from `outcome.render`."""

    @abstractmethod
    def note_ended(
        self, claim: Claim, outcome: str, reason: str | None, seconds: float
    ) -> str | None:
        """Note how a job ended and how long its body ran; returns why its task should get no more
        jobs here."""


@dataclass(eq=False)
class Claim:
    """A claimed job. Times are on the monotonic clock, in seconds. The watchdog state is created on
    first use: most jobs are too short for it.

    Invariant: while the agent holds a claim, it is in exactly one of the backlog, a slot and the
    reporter.
    """

    job_id: int
    token: str
    task: str
    queue: str
    attempt: int
    model: str | None  # the model that the job needs
    for_child: JobFields
    timeout: float
    stall_timeout: float
    heavy: bool  # the job needs a card to itself
    worker: Claimant
    # It should begin now: its limit has a rate, and its start is counted; or it runs at most once.
    rated: bool = False
    alone: bool = False  # its process has often ended under it and others: it runs alone
    shape: Shape | None = field(default=None, init=False)  # of a body that takes many jobs
    # The ticket that the child reads to start the job: its own, or the first one of its batch.
    unit: int = field(default=0, init=False)
    waits_since: float = field(default=0.0, init=False)  # in the backlog, for others of its batch
    progress: ProgressRecord | None = field(default=None, init=False)  # of one of many bodies
    server: str | None = field(default=None, init=False)  # messages.Work has it
    model_loaded: bool = field(default=False, init=False)  # the child has reported it
    ticket: int = field(default=0, init=False)
    expected_s: float = field(default=0.0, init=False)
    given_at: float = field(default=0.0, init=False)  # when it was sent to its child
    loaded_at: float = field(default=0.0, init=False)  # until then its child has loaded a model
    # Reported after the death of the child, instead of the child's answer.
    forced_outcome: JobOutcome | None = field(default=None, init=False)
    dropped: bool = field(default=False, init=False)  # lost to another worker: do not report it
    cancelled: bool = field(default=False, init=False)  # it was told to stop
    told: tuple[str, ...] = field(default=(), init=False)  # why it should release its job
    kill_at: float = field(default=float("inf"), init=False)
    progress_seen: int = field(default=0, init=False)
    series: str | None = field(default=None, init=False)  # what its body tracked, not sent yet
    series_at: float = field(default=float("-inf"), init=False)  # when it was sent last
    # How many bytes its body has streamed, and the last of them, when it has ended.
    streamed: tuple[int, str] | None = field(default=None, init=False)
    _watchdog_state: WatchdogState | None = field(default=None, init=False)

    @property
    def is_concurrent(self) -> bool:
        """True if its body runs beside others in one event loop."""
        return self.shape is not None and self.shape.concurrent

    @property
    def is_batched(self) -> bool:
        """True if its body may get other jobs in the same call: jobs that have been tried before
        run alone, because one of them may be what ended the batch."""
        batched = self.shape is not None and not self.shape.concurrent and self.attempt == 1
        return batched and not self.at_most_once

    @property
    def at_most_once(self) -> bool:
        """True if its body begins only when that is stored."""
        return bool(self.for_child[CHILD_COLUMNS.index("at_most_once")])

    @property
    def run_id(self) -> int | None:
        """The run that the job is a node of."""
        run_id: int | None = self.for_child[CHILD_COLUMNS.index("run_id")]
        return run_id

    @property
    def node_id(self) -> str | None:
        """The node of the run."""
        node_id: str | None = self.for_child[CHILD_COLUMNS.index("node_id")]
        return node_id

    @property
    def watchdog_state(self) -> WatchdogState:
        """Memory of the watchdogs about the job; created on first use."""
        if self._watchdog_state is None:
            self._watchdog_state = WatchdogState()
        return self._watchdog_state

    @property
    def gpu_peak_bytes(self) -> int:
        """The highest measured memory use of its card."""
        return self._watchdog_state.gpu_peak_bytes if self._watchdog_state is not None else 0


class FailedAttempt(NamedTuple):
    """An attempt whose end the database has stored; `report` has its error."""

    claim: Claim
    outcome: str
    reason: str | None
    report: bytes


def from_call(call: SentCall, worker: Claimant, lanes: bool) -> list[Claim]:
    """The claims that a call of qwf.claim() returned to the worker; its settings have the defaults
    for their timeouts. With `lanes`, every job that is not light needs a card to itself. Rows
    without a job are left out."""
    claims, settings = [], worker.settings
    for record in call.pick(*CHILD_COLUMNS, *AGENT_COLUMNS):
        for_child = (*record[: len(CHILD_COLUMNS)], worker.place)
        token, timeout, stall_timeout, light, rated, alone = record[len(CHILD_COLUMNS) :]
        job_id, _, _, task, queue, attempt, _, _, _, model, *_ = for_child
        once = record[CHILD_COLUMNS.index("at_most_once")]
        if None in (job_id, token, task, queue, attempt):
            continue
        claims.append(
            Claim(
                job_id,
                token,
                task,
                queue,
                attempt,
                model,
                for_child,
                timeout.total_seconds() if timeout else settings.timeout,
                stall_timeout.total_seconds() if stall_timeout else settings.stall_timeout,
                lanes and not light,
                worker,
                bool(rated or once),
                bool(alone),
            )
        )
    return claims
