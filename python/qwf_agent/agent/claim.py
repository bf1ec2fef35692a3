"""A job this agent has claimed, from the claim until its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from qwf_agent.agent.link import Call
from qwf_agent.agent.settings import Settings
from qwf_agent.child.messages import JobFields
from qwf_agent.child.outcome import Outcome

# Columns of qwf.claim() for the child, in the order of messages.Work, and those for the agent.
CHILD_COLUMNS = (
    "job_id", "run_id", "node_id", "task", "queue", "attempt", "project", "out_dir", "labels",
    "required_model", "inputs",
)  # fmt: skip
AGENT_COLUMNS = ("token", "timeout", "stall_timeout", "light")


@dataclass(slots=True)
class WatchdogState:
    """What the watchdogs remember of one running body. Times are on the monotonic clock, in
    seconds; memory in bytes.

    `still`: card use and memory of samples taken since the body fell silent for too long.
    """

    loading: bool = False
    beat: int = 0
    beat_at: float | None = None  # of its last report of progress; None: it has made none
    sampled_at: float = 0.0
    still: list[tuple[float, int]] = field(default_factory=list)
    suspicion: dict[str, Any] | None = None  # a silence that turned out to be none, to be told
    window_at: float | None = None  # begin of the time that is looked at for the card's health
    window_uses: list[float] = field(default_factory=list)
    window_rss: int | None = None
    gpu_peak_bytes: int = 0


@dataclass(eq=False)
class Claim:
    """Times are on the monotonic clock, in seconds. What is said after its claim is an attribute of
    the class until it is said: most jobs are too short for most of it.

    Invariant: while the agent holds a claim it is in exactly one place: the backlog, a slot, or
    among the reports.
    """

    job_id: int
    token: str
    task: str
    queue: str
    attempt: int
    model: str | None  # that it needs
    for_child: JobFields
    timeout: float
    stall_timeout: float
    heavy: bool  # needs a card to itself
    model_loaded: bool = field(default=False, init=False)  # its child has said so
    ticket: int = field(default=0, init=False)
    expected_s: float = field(default=0.0, init=False)
    given_at: float = field(default=0.0, init=False)  # to the child that has it
    # To report when its child is dead, instead of what the child said.
    forced_outcome: Outcome | None = field(default=None, init=False)
    dropped: bool = field(default=False, init=False)  # lost to another worker: nothing is reported
    cancelled: bool = field(default=False, init=False)  # told to stop
    kill_at: float = field(default=float("inf"), init=False)
    progress_seen: int = field(default=0, init=False)
    _watchdog_state: WatchdogState | None = field(default=None, init=False)

    @property
    def watchdog_state(self) -> WatchdogState:
        """What the watchdogs remember of it, from their first look on."""
        if self._watchdog_state is None:
            self._watchdog_state = WatchdogState()
        return self._watchdog_state

    @property
    def gpu_peak_bytes(self) -> int:
        """The most memory its card was seen to use."""
        return self._watchdog_state.gpu_peak_bytes if self._watchdog_state is not None else 0


def from_call(call: Call, settings: Settings, lanes: bool) -> list[Claim]:
    """The claims that a call of qwf.claim() has brought; `settings` hold what its rows do not say.
    With `lanes`, whatever is not light needs a card to itself."""
    claims = []
    for record in call.pick(*CHILD_COLUMNS, *AGENT_COLUMNS):
        for_child = record[: len(CHILD_COLUMNS)]
        token, timeout, stall_timeout, light = record[len(CHILD_COLUMNS) :]
        job_id, _, _, task, queue, attempt, _, _, _, model, _ = for_child
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
            )
        )
    return claims
