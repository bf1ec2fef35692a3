"""The state of the model, and what every part of it uses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from support import reference_model
from support.machine.workflows import DEADLINES, ENGINE, Node, expand

Json = Any

WAITING = {"blocked", "scheduled", "queued", "awaiting_input"}
ACTIVE = {"scheduled", "queued", "running"}
OVER = {"completed", "failed", "cancelled", "skipped"}
LIVE_RUN = {"queued", "running", "awaiting_input"}
SATISFIED = {"completed", "skipped"}

# The defaults of section 14.
LEASE = timedelta(seconds=30)
RETENTION = timedelta(days=30)
ATTEMPTS = {"error": 1, "tempfail": 4}
BACKOFF = {"error": [1, 5, 30], "tempfail": [60, 300, 900]}
LOSSES = 3
PATIENCE = timedelta(milliseconds=250)
ASLEEP = timedelta(seconds=15)
QUEUES = {"cpu", "gpu", "llm", "default"}
AVOID = timedelta(minutes=5)
STALE = timedelta(seconds=30)
AFFINITY = timedelta(seconds=60)
LIMITS = {"one": 1, "two": 2, "line": 1, "customer": 2, "calls": 3, "host": 3}
RATES = {  # starts in a period; of a keyed limit, of each key
    "calls": (1, timedelta(seconds=40.25)),
    "host": (2, timedelta(seconds=30.25)),
}
KEYED = {"customer", "host"}  # limits that count by key
DECISIONS = {"retry": "retried", "skip": "passed", "abort": "aborted"}


def limit_of(name: str) -> str:
    """The limit that this name counts against: its part before the key, if it has one."""
    return name.partition(":")[0]


@dataclass(frozen=True)
class Refused:
    """A function raised this SQLSTATE and changed nothing."""

    sqlstate: str


NOT_FOUND, WRONG_STATE = Refused("QW001"), Refused("QW002")
INVALID, UNKNOWN_QUEUE, KEY_TAKEN = Refused("QW005"), Refused("QW006"), Refused("QW008")


Verdicts = dict[int, str]  # by job: cancelled, requested, retried, or the SQLSTATE of a refusal


def _word(answer: str | Refused) -> str:
    return answer.sqlstate if isinstance(answer, Refused) else answer


class Diverged(AssertionError):
    """The engine did what the design does not allow."""


def require(fine: Any, what: str, *data: Any) -> None:
    if not fine:
        raise Diverged(f"{what}: " + ", ".join(map(repr, data)))


@dataclass(frozen=True)
class Report:
    """Report of a worker about the end of an attempt."""

    job: int
    token: str
    outcome: str
    output: Json = None
    error: str | None = None
    reason: str | None = None

    def taken(self) -> Report:
        """As it is remembered: only what completed has an output."""
        output = (self.output or {}) if self.outcome == "completed" else None
        return replace(self, output=output)


STANDALONE = Node("", ())


@dataclass
class Worker:
    """One that has registered on the queue cpu; None announces nothing."""

    host: str
    seen: datetime
    tasks: list[str] | None = None
    models: list[str] | None = None
    vram: int | None = None
    labels: dict[str, Json] = field(default_factory=dict)
    overflow: bool = False
    model: str | None = None  # the one that is loaded
    stopped: bool = False
    slots: int = 1
    writes_begun: bool = False
    held: frozenset[str] = field(default=frozenset(), compare=False)  # tasks that are held back

    def is_better(self, other: Worker) -> bool:
        """Return True if a packed queue prefers it."""
        mine, other_s = (not self.overflow, self.slots), (not other.overflow, other.slots)
        return mine > other_s or (mine == other_s and self.host < other.host)

    def could_run(self, job: Job) -> bool:
        return (job.run_next or job.task not in self.held) and self.suits(job)

    def suits(self, job: Job) -> bool:
        node = job.node
        return (
            (self.tasks is None or job.task in self.tasks)
            and (node.model is None or self.models is None or node.model in self.models)
            and (node.vram is None or self.vram is None or node.vram <= self.vram)
            and node.requires.items() <= self.labels.items()
        )


@dataclass
class Crashed:
    """A task that has killed its process, and has not ended in another way since."""

    hosts: set[str]
    crashes: int
    ends: int  # how many attempts had ended in another way
    at: datetime
    until: datetime | None = None  # it is held back; then one job runs alone
    holds: int = 0
    trial: tuple[int, int] | None = None  # that job, and its attempt


@dataclass
class Job:
    id: int
    status: str
    task: str
    queue: str | None
    priority: int = 100
    run: int | None = None
    node: Node = STANDALONE
    inputs: Json = field(default_factory=dict)
    key: str | None = None
    once: bool = False
    started: bool = False  # of a job with a key that is not once: nothing is merged into it
    start_by: datetime | None = None  # no call with debounce moves run_at beyond it
    missing: set[int] = field(default_factory=set)  # dependencies, or elements, not ended yet
    elements: list[int] | None = None  # of a map that has begun
    parent: int | None = None  # the map this is an element of
    expires_at: datetime | None = None
    attempt: int = 0
    failures: int = 0
    losses: int = 0
    begun: bool | None = None  # whether its body may have; None: an ordinary job
    run_next: bool = False
    place: tuple[Any, ...] = ()  # when it became queued; equal ones are in any order
    nth: int = 0  # which of all that became queued it was
    queued_at: datetime | None = None  # when it last became queued
    avoids: tuple[str, datetime] | None = None  # a host that lost it, and until when
    run_at: datetime | None = None
    jittered: bool = True  # whether run_at is what the database drew
    token: str | None = None
    worker: str | None = None
    lease_until: datetime | None = None
    wanted_dead: bool = False  # somebody asked for it to be cancelled while it ran
    request_left: bool = False  # it completed; a tick may find that request
    failed: bool = False  # it has an error to show
    stuck: bool = False  # it asks because it cannot even start
    context: Json = None  # of the run that runs for it
    named: str | None = None  # of a place in line: from which node its run is retried
    completed: str | None = None  # and what becomes of what has completed
    output: Json = None
    finished_at: datetime | None = None
    attempts: list[str] = field(default_factory=list)  # the outcome of each

    def order(self) -> tuple[Any, ...]:
        return (not self.run_next, self.priority, self.place)


@dataclass
class Run:
    id: int
    workflow: str
    status: str
    priority: int
    context: Json
    key: str | None = None
    once: bool = False
    run_at: datetime | None = None
    parent: int | None = None  # the step that it runs for, and which attempt
    parent_attempt: int = 0
    in_line: bool = False  # its parent is no step but how it waits in line
    deadline: datetime | None = None
    ending: str | None = None  # how it will end once clean-up is done
    then: tuple[str | None] | None = None  # from which node it is retried once it has taken back
    started: bool = False
    finished_at: datetime | None = None
    nodes: dict[str, int] = field(default_factory=dict)  # and elements
    pending: list[tuple[int, str]] = field(default_factory=list)  # events: job, kind

    @property
    def live(self) -> bool:
        return self.status in LIVE_RUN


class Jammed(Exception):
    """Applying events failed, as a test wanted."""


def signal_of(question: Json) -> str:
    """The name of the signal that a question waits for; empty if it waits for none."""
    signal = question.get("signal", "")
    return signal if isinstance(signal, str) else ":".join(map(str, signal))


def changed(before: dict[int, Job], after: dict[int, Job]) -> frozenset[int]:
    return frozenset(job_id for job_id, job in after.items() if before.get(job_id) != job)


def truth(value: Json) -> bool:
    return value not in (None, False, 0, "", [], {})


@dataclass
class State:
    now: datetime
    turn: int = 0
    jobs: dict[int, Job] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)  # by token
    paused: set[str] = field(default_factory=set)
    packed: bool = False  # the queue cpu
    asleep: dict[str, datetime] = field(default_factory=dict)  # workers, since when
    signals: dict[str, Json] = field(default_factory=dict)  # the newest that fits, by name
    # how many jobs may have been left to a sleeper in vain since it last claimed
    in_vain: dict[str, int] = field(default_factory=dict)
    room: int | None = None  # max_running of the queue cpu
    limits: dict[str, int] = field(default_factory=lambda: dict(LIMITS))
    starts: list[tuple[str, datetime]] = field(default_factory=list)  # of limits with a rate
    workers: dict[str, Worker] = field(default_factory=dict)  # by id
    crashed: dict[tuple[str, str], Crashed] = field(default_factory=dict)  # by queue and task
    # how many attempts of a task have ended in another way than by a loss or a release
    ends: dict[tuple[str, str], int] = field(default_factory=dict)
    off: dict[str, datetime | None] = field(default_factory=dict)  # hosts, until when
    hard: set[str] = field(default_factory=set)  # those whose bodies are to stop at once
    queued: int = 0  # how many jobs have become queued
    unnamed: int = 0  # elements whose id the database has not told yet count down from 0
    locked_jobs: frozenset[int] = frozenset()  # by a transaction somebody has open
    locked_runs: frozenset[int] = frozenset()
    touched: set[int] = field(default_factory=set)  # runs this transaction has locked
    jammed: bool = False  # opening a node fails
    depth: int = 0  # of calls that apply events
    over: list[int] = field(default_factory=list)  # runs of steps that ended in these calls
    runs_due: bool = False  # this transaction has queued a run of a step
    serving: bool = False

    def _of_key(self, key: str | None, started: bool) -> Job | None:
        """The unfinished job of a key of edits that has started, or that waits."""
        for job in self.jobs.values():
            fits = not job.once and (job.key, job.started) == (key, started)
            if key is not None and fits and job.run is None and job.status in ACTIVE:
                return job
        return None

    def _key_holder(self, task: str, key: str | None) -> int | None:
        for job in self.jobs.values():
            same = job.run is None and (job.task, job.key) == (task, key)
            if key is not None and same and (job.once or job.status not in OVER):
                return job.id
        return None

    def _has_limits(self, workflow: str) -> bool:
        return all(n.limit is None or limit_of(n.limit) in self.limits for n in expand(workflow))

    def _time(self, workflow: str) -> timedelta:
        return timedelta(seconds=DEADLINES[workflow])

    def _run_key_holder(self, workflow: str, key: str | None) -> int | None:
        for run in self.runs.values():
            same = (run.workflow, run.key) == (workflow, key)
            if key is not None and same and (run.once or run.live):
                return run.id
        return None

    def _fresh(self, got: Any, known: dict[int, Any]) -> int:
        require(isinstance(got, int) and got not in known, "a new id is new", got)
        return int(got)

    def _enter(self, job: Job, run_at: datetime | None) -> None:
        job.run_at = run_at
        if run_at is not None and run_at > self.now:
            job.status = "scheduled"
        else:
            self._queue(job)

    def _queue(self, job: Job, front: bool = False, among: Any = ()) -> None:
        job.status, job.queued_at = "queued", self.now
        self.runs_due = self.runs_due or job.queue == ENGINE
        self.queued += 1
        job.place, job.nth = (not front, self.turn, among), self.queued

    def live_workers(self, queue: str | None) -> list[Worker]:
        """Workers that are on and whose last heartbeat is recent; all serve the queue cpu."""
        return [
            worker
            for worker in self.workers.values()
            if queue == "cpu"
            and not worker.stopped
            and worker.seen > self.now - STALE
            and not self.is_off(worker.host)
        ]

    def is_off(self, host: str) -> bool:
        until = self.off.get(host)
        return host in self.off and (until is None or until > self.now)

    def _fail(self, job: Job) -> None:
        """It failed for good: unless a person is asked."""
        job.failed = True
        if job.node.on_failure == "ask":
            job.status = "awaiting_input"
        else:
            self._close(job, "failed")

    def _start(self, job: Job) -> None:
        """A run runs as soon as somebody works for it; who holds it sees to it later."""
        if job.run is None or job.run in self.locked_runs:
            return
        run = self.runs[job.run]
        if run.live and not run.started:
            self.touched.add(run.id)
            run.started, run.status = True, "running"

    def _resolved(self, job: Job) -> Json:
        if job.run is None or job.parent is not None:
            return job.inputs
        return reference_model.resolve(job.node.inputs, self._scope(self.runs[job.run]))

    def _scope(self, run: Run) -> Json:
        outputs = {}
        for name, job_id in run.nodes.items():
            job = self.jobs[job_id]
            if job.output is not None or job.status in ("completed", "failed", "cancelled"):
                outputs[name] = job.output  # of what was let go: null
        return {**outputs, "$context": run.context}

    def _count_end(self, job: Job) -> None:
        of = str(job.queue), job.task
        self.ends[of] = self.ends.get(of, 0) + 1

    def _holder(self, token: str) -> Job | None:
        return next((job for job in self.jobs.values() if job.token == token), None)

    def _stopped(self, job: Job) -> bool:
        return job.wanted_dead or self._is_obsolete(job)

    def _is_obsolete(self, job: Job) -> bool:
        """Its run or map is over."""
        if job.run is None:
            return False
        run = self.runs[job.run]
        if not run.live or (run.ending is not None and not job.node.cleans_up):
            return True
        return job.parent is not None and self.jobs[job.parent].status in OVER

    def _close(self, job: Job, status: str) -> None:
        job.status, job.finished_at = status, self.now
        job.wanted_dead = False
        if status == "failed":
            job.failed = True

    def _taken(self, run: int) -> list[tuple[int, str]]:
        self.touched.add(run)
        events, self.runs[run].pending = self.runs[run].pending, []
        return events

    def _refuse(self, job: Job) -> None:
        """It cannot start, whatever is tried."""
        if job.node.on_failure == "ask":
            job.status, job.failed, job.stuck = "awaiting_input", True, True
        else:
            self._close(job, "failed")

    def _jam(self) -> None:
        """Where a blocked job is to become something else."""
        if self.jammed:
            raise Jammed

    def _renew(self, job: Job) -> None:
        job.failures = job.losses = 0
        job.begun = None if job.begun is None else False
        job.failed = job.wanted_dead = job.stuck = False
        job.finished_at = job.run_at = job.expires_at = job.avoids = None
