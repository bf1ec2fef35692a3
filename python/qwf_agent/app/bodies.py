"""The job as a body sees it; bodies that take more than one: many at once in one event loop, or a
batch in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from qwf_agent.app.parameters import FILLED, FROM_AGENT, Parameters

MOST_CONCURRENT = MOST_BATCHED = 500
LONGEST_WAIT_S = 1.0
CALLS = "calls"
# What a body of a batch may have besides `calls`, and what the others have instead of the rest.
FOR_BATCH = ("llm", "model", "model_handle", "stopping")
INSTEAD = {
    "inputs": "call.args", "job": "call.job", "out": "call.out()", "cancel_event":
    "call.cancelled()", "status_callback": "no progress: a batch cannot report any",
    "checkpoint": "no checkpoint: a batch cannot save any",
    "track": "no numbers: a batch cannot track any",
}  # fmt: skip


class StopEvent(Protocol):
    """The event that tells a body to release its job."""

    def is_set(self) -> bool:
        """Return True if it was."""


@dataclass(frozen=True)
class Job:
    """The job that is running: a body gets it as `job`."""

    id: int
    task: str
    queue: str
    attempt: int
    run_id: int | None = None
    node_id: str | None = None
    project: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)
    queued_s: float | None = None  # how long it had waited in its queue when it was claimed
    _stopping: StopEvent | None = field(default=None, repr=False, compare=False)
    _stream: Callable[[str], None] | None = field(default=None, repr=False, compare=False)

    def stopping(self) -> bool:
        """Return True if the body should save what it has and raise Release."""
        return self._stopping is not None and self._stopping.is_set()

    def stream(self, text: str) -> None:
        """Add text to what those get who follow the job now with `jobs.stream`. It makes no system
        call, and the database gets nothing while nobody follows; the last 64 KiB are kept while the
        body runs. Raises TypeError for anything but a text, and RuntimeError in a batch."""
        if not isinstance(text, str):
            raise TypeError(f"job.stream takes a text, not {text!r}")
        if self._stream is not None:
            self._stream(text)


class Shape(NamedTuple):
    """How many jobs a body takes: `concurrent` bodies run at once in one event loop, or one body
    gets them as a batch, for which an agent waits at most `wait_s` seconds. `listens`: the body has
    `stopping`."""

    concurrent: bool
    jobs: int
    wait_s: float = 0.0
    listens: bool = False


class Call:
    """One job of a batch, as the body gets it."""

    def __init__(
        self,
        args: Mapping[str, Any],
        job: Job = FROM_AGENT,
        out: Callable[[], Path] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.args = args  # the arguments of the job
        self.job = job
        self._out = out
        self._cancelled = cancelled

    def out(self) -> Path:
        """Make the folder for the files of this job, and return its path."""
        if self._out is None:
            raise RuntimeError("this call is of no job, so it has no folder")
        return self._out()

    def cancelled(self) -> bool:
        """Return True if this job was cancelled: whatever its result is, nobody wants it."""
        return self._cancelled is not None and self._cancelled()


BatchResult = Sequence[Mapping[str, Any] | BaseException | None]


def shape_of(
    function: Callable[..., Any], concurrency: int | None, batch: int | None, batch_wait: float
) -> Shape | None:
    """The shape of a body with these options; None if it takes one job. Raises TypeError if the
    function cannot be such a body."""
    name = getattr(function, "__name__", str(function))
    if concurrency is not None and batch is not None:
        raise TypeError(f"{name}() has a concurrency and a batch: give it one of them")
    filled = {p.name for p in Parameters(function).named if p.name in FILLED}
    if concurrency is not None:
        _check_number("concurrency", concurrency, MOST_CONCURRENT)
        if not inspect.iscoroutinefunction(inspect.unwrap(function)):
            raise TypeError(f"concurrency is for bodies with async: write async def {name}")
        if "cancel_event" in filled:
            raise TypeError(
                f"{name}() has a concurrency, so it is cancelled by asyncio.CancelledError: take "
                "out its parameter cancel_event"
            )
        return Shape(True, concurrency, listens="stopping" in filled)
    if batch is None:
        return None
    _check_number("batch", batch, MOST_BATCHED)
    if isinstance(batch_wait, bool) or not isinstance(batch_wait, (int, float)):
        raise TypeError(f"batch_wait has to be a number of seconds, not {batch_wait!r}")
    if not 0 <= batch_wait <= LONGEST_WAIT_S:
        raise ValueError(f"batch_wait has to be 0 to 1 second, not {batch_wait!r}")
    _check_batch(name, function)
    return Shape(False, batch, float(batch_wait), "stopping" in filled)


def _check_number(what: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} has to be a whole number, not {value!r}")
    if not 1 <= value <= most:
        raise ValueError(f"{what} has to be 1 to {most}, not {value}")


def _check_batch(name: str, function: Callable[..., Any]) -> None:
    parameters = Parameters(function)
    for parameter in parameters.named:
        if parameter.name in INSTEAD:
            raise TypeError(
                f"{name}() has a batch, so it has no parameter {parameter.name}: write "
                f"{INSTEAD[parameter.name]}"
            )
    if parameters.arguments != {CALLS} or parameters.takes_rest:
        raise TypeError(
            f"the body of a batch has one parameter, {CALLS}: list[Call], and may have "
            f"{', '.join(FOR_BATCH)}: write def {name}({CALLS})"
        )


class AnyArguments:
    """The arguments of jobs that run in batches: the body does not say which they are."""

    defaults: Mapping[str, Any] = {}

    def __init__(self, name: str) -> None:
        self._name = name

    def bind(self, values: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by their names. Raises TypeError for one without a name."""
        if values:
            raise TypeError(f"{self._name}() runs in batches: give its arguments by their names")
        return dict(named)
