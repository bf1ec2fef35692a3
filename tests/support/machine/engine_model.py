"""The engine in a few pages: the design as a program, written without a look at the SQL.

A `Model` holds the jobs and runs that a database should hold. Each method is a function of the API:
it changes them and returns the answer, or the refusal, that the real function should give. What the
design leaves open (ids, tokens, the order among equals, the jitter of a wait) a method takes from
what the database did, after checking that it was free to do so.

Another session's open transaction is a copy of the model that somebody acts on. What it changed
is `locked` for the others until it ends; `absorb` merges it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from support import reference_model
from support.machine.workflows import DEADLINES, WORKFLOWS, Node, expand

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
LIMITS = {"one": 1, "two": 2, "customer": 2, "calls": 3}
RATES = {"calls": (1, timedelta(seconds=40.25))}  # starts in a period
KEYED = {"customer"}  # limits that count by key
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

    def is_better(self, other: Worker) -> bool:
        """Return True if a packed queue prefers it."""
        mine, other_s = (not self.overflow, self.slots), (not other.overflow, other.slots)
        return mine > other_s or (mine == other_s and self.host < other.host)

    def could_run(self, job: Job) -> bool:
        node = job.node
        return (
            (self.tasks is None or job.task in self.tasks)
            and (node.model is None or self.models is None or node.model in self.models)
            and (node.vram is None or self.vram is None or node.vram <= self.vram)
            and node.requires.items() <= self.labels.items()
        )


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
    run_next: bool = False
    place: tuple[Any, ...] = ()  # when it became queued; equal ones are in any order
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
    deadline: datetime | None = None
    ending: str | None = None  # how it will end once clean-up is done
    started: bool = False
    finished_at: datetime | None = None
    nodes: dict[str, int] = field(default_factory=dict)  # and elements
    pending: list[tuple[int, str]] = field(default_factory=list)  # events: job, kind

    @property
    def live(self) -> bool:
        return self.status in LIVE_RUN


class Jammed(Exception):
    """Applying events failed, as a test wanted."""


@dataclass
class Model:
    now: datetime
    turn: int = 0
    jobs: dict[int, Job] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)  # by token
    paused: set[str] = field(default_factory=set)
    packed: bool = False  # the queue cpu
    asleep: dict[str, datetime] = field(default_factory=dict)  # workers, since when
    signals: dict[str, Json] = field(default_factory=dict)  # those that are kept, by name
    # how many jobs may have been left to a sleeper in vain since it last claimed
    in_vain: dict[str, int] = field(default_factory=dict)
    room: int | None = None  # max_running of the queue cpu
    limits: dict[str, int] = field(default_factory=lambda: dict(LIMITS))
    starts: list[tuple[str, datetime]] = field(default_factory=list)  # of limits with a rate
    workers: dict[str, Worker] = field(default_factory=dict)  # by id
    off: dict[str, datetime | None] = field(default_factory=dict)  # hosts, until when
    unnamed: int = 0  # elements whose id the database has not told yet count down from 0
    locked_jobs: frozenset[int] = frozenset()  # by a transaction somebody has open
    locked_runs: frozenset[int] = frozenset()
    touched: set[int] = field(default_factory=set)  # runs this transaction has locked
    jammed: bool = False  # opening a node fails

    # enqueueing

    def enqueue(
        self,
        node: Node,
        key: str | None,
        once: bool,
        run_at: datetime | None,
        priority: int,
        expires: timedelta | None,
        got: int,
    ) -> int | Refused:
        if node.limit is not None and limit_of(node.limit) not in self.limits:
            return NOT_FOUND
        holder = self._key_holder(node.name, key)
        if holder is not None:
            return holder
        job = Job(self._fresh(got, self.jobs), "queued", node.name, "cpu", priority, node=node)
        job.key, job.once = key, once
        self._enter(job, run_at)
        if expires is not None:
            job.expires_at = max(run_at or self.now, self.now) + expires
        self.jobs[job.id] = job
        return job.id

    def edit(
        self, node: Node, text: Json, debounce: timedelta | None, got: int
    ) -> tuple[int, bool, str, datetime | None]:
        """A call with a key of its task, which replaces what waits: the answer of enqueue_many."""
        asked = self.now + (debounce or timedelta())
        latest = self.now + 10 * (debounce or timedelta())
        there = self._of_key(node.name, started=False)
        if there is not None and there.wanted_dead:
            self._close(there, "cancelled")
            there = None
        if there is None:
            job = Job(self._fresh(got, self.jobs), "queued", node.name, "cpu", node=node)
            job.key, job.inputs, job.start_by = node.name, text, latest if debounce else None
            self._enter(job, asked if debounce else None)
            self.jobs[job.id] = job
            return job.id, False, "new", job.run_at
        starts = self.now
        if there.status == "scheduled":
            assert there.run_at is not None
            starts = there.run_at
        bound = there.start_by if there.attempt == 0 else None
        latest = min(bound or starts, latest)
        at = min(asked, latest) if debounce else min(asked, latest, starts)
        there.node, there.inputs, there.priority, there.queue = node, text, 100, "cpu"
        if bound is not None or (debounce and at > self.now and at != there.run_at):
            there.start_by = latest
        if at > self.now:
            there.status, there.run_at = "scheduled", at
        elif there.status == "scheduled":
            self._queue(there)
        return there.id, True, "new args", at if at > self.now else None

    def _of_key(self, key: str | None, started: bool) -> Job | None:
        """The unfinished job of a key of edits that has started, or that waits."""
        for job in self.jobs.values():
            fits = not job.once and (job.key, job.started) == (key, started)
            if key is not None and fits and job.run is None and job.status in ACTIVE:
                return job
        return None

    def _supersede(self, taken: list[Job]) -> None:
        """A job that starts ends the older one of its key, which waits for its next try; while
        that one is locked, the job is left."""
        for job in list(taken):
            older = None if job.started else self._of_key(job.key, started=True)
            if older is not None and older.id in self.locked_jobs:
                taken.remove(job)
            elif older is not None:
                self._close(older, "cancelled")
            job.started = job in taken and job.key is not None and not job.once

    def _key_holder(self, task: str, key: str | None) -> int | None:
        for job in self.jobs.values():
            same = job.run is None and (job.task, job.key) == (task, key)
            if key is not None and same and (job.once or job.status not in OVER):
                return job.id
        return None

    def enqueue_run(
        self,
        workflow: str,
        context: Json,
        priority: int,
        key: str | None,
        once: bool,
        run_at: datetime | None,
        got: int,
        jobs: dict[str, int],
    ) -> int | Refused:
        """`jobs` is the job of each node, as the database says."""
        if not self._has_limits(workflow):
            return NOT_FOUND
        holder = self._run_key_holder(workflow, key)
        if holder is not None:
            return holder
        run = Run(self._fresh(got, self.runs), workflow, "queued", priority, context, key, once)
        self.runs[run.id] = run
        if workflow in DEADLINES:
            run.deadline = max(run_at or self.now, self.now) + self._time(workflow)
        nodes = expand(workflow)
        require({n.name for n in nodes} == set(jobs), "a run has the nodes of its workflow", jobs)
        run.nodes = jobs
        first = []
        for node in nodes:
            queue = None if node.question else "cpu"
            job = Job(jobs[node.name], "blocked", "work", queue, priority, run.id, node)
            job.missing = {jobs[name] for name in node.after}
            self.jobs[job.id] = job
            if node.takes_back:
                job.status, job.finished_at = "skipped", self.now
                job.missing = {jobs[n.name] for n in nodes if n.name in node.after} - {
                    jobs[n.name] for n in nodes if n.takes_back
                }
            if job.missing:
                continue
            if node.looked_at and (run_at is None or run_at <= self.now):
                first.append((job.id, "ready"))
            else:
                self._enter(job, run_at)
        self._apply(run, first)
        return run.id

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
        job.place = (not front, self.turn, among)

    # working

    def claim(
        self,
        queue: str,
        worker: str,
        max_jobs: int,
        lease: timedelta | None,
        picked: set[int],
        tokens: dict[int, str],
    ) -> list[tuple[int, int, Json]]:
        """Jobs in the order handed out, with attempt and inputs.

        `picked` are the jobs that are not queued any more afterwards, `tokens` those handed out.
        """
        leaves = self._leaves(queue, worker)
        require(leaves != {True} or not picked, "what is left to a better worker", picked)
        if True in leaves and not picked:
            return []
        free = self._claimable(queue, worker)
        came = list(tokens)  # among equals, the choice is the database's
        free.sort(key=lambda j: (j.id not in picked, came.index(j.id) + 1 if j.id in came else 0))
        self._put_in_order(free, self.workers.get(worker))
        if any(":" in (job.node.limit or "") for job in free):
            taken = self._in_turns(free, max_jobs, picked, came)
        else:
            taken = self._in_order(free, max_jobs)
        self._supersede(taken)
        require(picked == {j.id for j in taken}, "what is claimed", picked, [j.id for j in taken])
        handed = []
        for job in taken:
            job.attempt += 1
            job.run_next = False
            job.worker = worker
            self._start(job)
            try:
                inputs = self._resolved(job)
            except reference_model.ReferenceFault:
                job.attempts.append("fatal")
                self._fail(job)
                job.stuck = job.status == "awaiting_input"
                assert job.run is not None
                kind = "asked" if job.status == "awaiting_input" else "failed"
                self.runs[job.run].pending.append((job.id, kind))
                continue
            job.status = "running"
            if job.node.limit in RATES:
                self.starts.append((job.node.limit, self.now))
            require(job.id in tokens, "what is claimed is handed out", job.id)
            job.token = tokens[job.id]
            job.lease_until = self.now + (lease or LEASE)
            handed.append((job.id, job.attempt, inputs))
        return handed

    def _in_order(self, free: list[Job], max_jobs: int) -> list[Job]:
        """The first ones that the limits leave room for."""
        taken: list[Job] = []
        for job in free:
            if len(taken) < max_jobs and self._has_room(job, taken):
                taken.append(job)
        return taken

    def _in_turns(
        self, free: list[Job], max_jobs: int, picked: set[int], came: list[int]
    ) -> list[Job]:
        """The picked jobs, if they may be: keys take turns, and whose turn it is only the session
        knows. Priority comes before turns."""
        ours = sorted((j for j in free if j.id in picked), key=lambda j: [*came, j.id].index(j.id))
        taken = self._in_order(ours, max_jobs)
        for left in [job for job in free if job not in taken]:
            if not self._has_room(left, taken):
                continue
            require(len(taken) == max_jobs, "what has room is claimed", left.id, picked)
            for job in taken:
                rank, other = (not left.run_next, left.priority), (not job.run_next, job.priority)
                require(other <= rank, "priority comes before turns", left.id, job.id)
        return taken

    def _claimable(self, queue: str, name: str) -> list[Job]:
        """Queued jobs that the worker may be handed; one that never registered does anything,
        but has no labels."""
        worker = self.workers.get(name)
        if queue in self.paused or (worker is not None and self.is_off(worker.host)):
            return []
        return [
            job
            for job in self.jobs.values()
            if job.queue == queue and job.id not in self.locked_jobs and self._fits(job, worker)
        ]

    def _fits(self, job: Job, worker: Worker | None) -> bool:
        return (
            job.status == "queued"
            and (bool(job.attempt) or not job.expires_at or job.expires_at > self.now)
            and (worker or Worker("", self.now)).could_run(job)
            and not (worker is not None and self._avoids(job, worker.host))
            and not self._waits_for_older(job)
        )

    def _waits_for_older(self, job: Job) -> bool:
        older = None if job.started else self._of_key(job.key, started=True)
        return older is not None and older.status in ("queued", "running")

    def _leaves(self, queue: str, name: str) -> set[bool]:
        """Return True if the worker leaves the first job that it could take to a better one. Both
        may be, because equals are in any order. What somebody has locked counts as well."""
        worker = self.workers.get(name)
        if queue != "cpu" or not self.packed or worker is None or self.is_off(worker.host):
            return {False}
        jobs = [j for j in self.jobs.values() if j.queue == queue and self._fits(j, worker)]
        jobs = [j for j in jobs if j.node.limit is None and queue not in self.paused]
        if queue not in self.paused and not self.locked_jobs:  # else its row may be locked, too
            self.in_vain.pop(name, None)
        first = min((j.order() for j in jobs), default=None)
        heads = [j for j in jobs if j.order() == first]
        return {answer for j in heads for answer in self._is_left(j, worker)} or {False}

    def _is_left(self, job: Job, worker: Worker) -> set[bool]:
        """Return True if the job is new, and a better worker that could run it is asleep; also
        False if two jobs may have been left in vain to each of those."""
        better = {
            name
            for name, since in self.asleep.items()
            if (other := self.workers.get(name)) is not None
            and since > self.now - ASLEEP
            and not (other.stopped or self.is_off(other.host))
            and other.is_better(worker)
            and self._fits(job, other)
        }
        if not better or job.queued_at is None:
            return {False}
        if job.queued_at <= self.now - PATIENCE:
            for name in better:  # of one of them, the best that still counts
                self.in_vain[name] = self.in_vain.get(name, 0) + 1
            return {False}
        return {True} if any(self.in_vain.get(name, 0) < 2 for name in better) else {True, False}

    def _avoids(self, job: Job, host: str) -> bool:
        """It was lost there not long ago, and somebody else could take it."""
        if job.avoids is None or job.avoids[0] != host or job.avoids[1] <= self.now:
            return False
        others = [w for w in self.live_workers(job.queue) if w.host != host]
        return any(other.could_run(job) for other in others)

    def live_workers(self, queue: str | None) -> list[Worker]:
        """Those that have been heard of lately and are on; all serve the queue cpu."""
        return [
            worker
            for worker in self.workers.values()
            if queue == "cpu"
            and not worker.stopped
            and worker.seen > self.now - STALE
            and not self.is_off(worker.host)
        ]

    def _put_in_order(self, jobs: list[Job], worker: Worker | None) -> None:
        """The order in which a worker takes them, keeping that of equals."""
        jobs.sort(key=lambda j: j.place, reverse=worker is not None and worker.overflow)
        warm = None if worker is None else worker.model
        head = min(jobs, key=lambda j: j.order(), default=None)
        if head is not None and head.queued_at and self.now - head.queued_at >= AFFINITY:
            warm = None
        jobs.sort(key=lambda j: (self._affinity(j, warm), j.priority))

    def _affinity(self, job: Job, warm: str | None) -> int:
        """Among what a person has put first, no model is preferred."""
        if job.run_next:
            return 0
        return 1 if warm in (None, job.node.model) else 2

    def is_off(self, host: str) -> bool:
        until = self.off.get(host)
        return host in self.off and (until is None or until > self.now)

    def _has_room(self, job: Job, taken: list[Job]) -> bool:
        """Return True if the limits let it run beside what runs and what was just taken."""
        running = [j for j in self.jobs.values() if j.status == "running"] + taken
        full = self.room is not None and sum(j.queue == "cpu" for j in running) >= self.room
        limit = job.node.limit
        if limit is not None:
            most = self.limits[limit_of(limit)]
            if sum(j.node.limit == limit for j in running) >= most:
                return False
            if limit in RATES and not self._may_start(limit, taken):
                return False
        return job.queue != "cpu" or not full

    def _may_start(self, limit: str, taken: list[Job]) -> bool:
        """Return True if its rate allows one more start; a claim takes one job of a rate, as it
        does not say how many could begin now."""
        starts, per = RATES[limit]
        used = sum(name == limit and at > self.now - per for name, at in self.starts)
        return used < starts and not any(job.node.limit in RATES for job in taken)

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
            if job.output is not None or job.status in ("failed", "cancelled"):
                outputs[name] = job.output  # of what was let go: null
        return {**outputs, "$context": run.context}

    def heartbeat(
        self, worker: str, tokens: Iterable[str], lease: timedelta | None, stats: Json
    ) -> dict[str, str]:
        """Verdict for each token; none for a job that somebody has locked."""
        if (beating := self.workers.get(worker)) and not beating.stopped:
            beating.seen = self.now
            beating.model = stats.get("current_model", beating.model)
        verdicts = {}
        for token in tokens:
            job = self._holder(token)
            if job is None:
                verdicts[token] = "lost"
            elif job.id in self.locked_jobs:
                continue
            elif self._stopped(job):
                verdicts[token] = "cancel"
            else:
                verdicts[token] = "ok"
                job.lease_until = self.now + (lease or LEASE)
        return verdicts

    def progress(self, token: str) -> str:
        job = self._holder(token)
        if job is None:
            return "lost"
        return "cancel" if self._stopped(job) else "ok"

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

    def finish_many(self, reports: list[Report]) -> list[tuple[int, str, bool]]:
        """Job, verdict and whether consequences were left, for each report."""
        left = self._conclude(reports)
        answers = []
        for report in reports:
            same = self.reports.get(report.token) == report.taken()
            answers.append((report.job, "ok" if same else "lost", report.token in left))
        return answers

    def reclaim(self, max_jobs: int = 100) -> list[int]:
        lapsed = [
            job
            for job in self.jobs.values()
            if job.status == "running"
            and job.lease_until is not None
            and job.lease_until < self.now
            and job.id not in self.locked_jobs
        ]
        lapsed = sorted(lapsed, key=lambda job: job.id)[:max_jobs]
        self._conclude([Report(j.id, str(j.token), "lost", error="lapsed") for j in lapsed])
        return [job.id for job in lapsed]

    def deregister_worker(self, worker: str) -> None:
        if worker in self.workers:
            self.workers[worker].stopped = True
        held = [j for j in self.jobs.values() if j.status == "running" and j.worker == worker]
        self._conclude([Report(j.id, str(j.token), "released") for j in held])

    def _conclude(self, reports: list[Report]) -> set[str]:
        """Ends attempts; the tokens of those whose consequences were left for later."""
        ended: list[tuple[Job, Report, bool]] = []
        for report in reports:
            job = self.jobs.get(report.job)
            first = all(job is not other for other, _, _ in ended)
            if job is not None and job.token == report.token and first:
                ended.append((job, report.taken(), self._stopped(job)))
        events: dict[int, list[tuple[int, str]]] = {}
        for job, report, stopped in ended:
            self._end_attempt(job, report, stopped)
            self.reports[report.token] = report
            if job.run is not None:
                kinds = {"queued": "requeued", "scheduled": "requeued", "awaiting_input": "asked"}
                kind = kinds.get(job.status, job.status)
                events.setdefault(job.run, []).append((job.id, kind))
        left = self._dispatch(events)
        return {report.token for job, report, _ in ended if job.run in left}

    def _end_attempt(self, job: Job, report: Report, stopped: bool) -> None:
        job.token = job.lease_until = None
        job.attempts.append(report.outcome)
        outcome = report.outcome
        job.failures += outcome in ("error", "tempfail", "fatal")
        job.losses += outcome == "lost"
        if outcome == "lost" and job.worker in self.workers:
            job.avoids = (self.workers[job.worker].host, self.now + AVOID)
        if outcome == "completed":
            job.request_left = job.wanted_dead
            self._close(job, "completed")
            job.output, job.failed = report.output, False
            return
        if outcome != "released" or report.error is not None:
            job.failed = True
        if outcome == "cancelled" or stopped:
            self._close(job, "cancelled")
        elif outcome == "fatal" or self._spent(job, outcome):
            self._fail(job)
        elif outcome in ("lost", "released"):
            self._queue(job, front=True)
        else:
            waits = job.node.backoff or BACKOFF[outcome]
            wait = waits[min(job.failures, len(waits)) - 1]
            if wait > 0:
                job.status, job.run_at = "scheduled", self.now + timedelta(seconds=wait)
                job.jittered = False
            else:
                self._queue(job)

    def _spent(self, job: Job, outcome: str) -> bool:
        if outcome in ATTEMPTS:
            return job.failures >= (job.node.max_attempts or ATTEMPTS[outcome])
        return outcome == "lost" and job.losses >= (job.node.max_losses or LOSSES)

    def _close(self, job: Job, status: str) -> None:
        job.status, job.finished_at = status, self.now
        job.wanted_dead = False
        if status == "failed":
            job.failed = True

    # consequences

    def _dispatch(self, events: dict[int, list[tuple[int, str]]]) -> set[int]:
        """Applies events to the runs that are free; the others keep them, and are returned."""
        free = set(events) - self.locked_runs
        if self.jammed and not self._applicable(events, free):
            free = set()
        for run in free:
            self._apply(self.runs[run], self._taken(run) + events[run])
        for run in set(events) - free:
            self.runs[run].pending += events[run]
        return set(events) - free

    def _applicable(self, events: dict[int, list[tuple[int, str]]], free: set[int]) -> bool:
        trial = copy.deepcopy(self)
        try:
            for run in free:
                trial._apply(trial.runs[run], trial._taken(run) + events[run])
        except Jammed:
            return False
        return True

    def drain_outbox(self) -> int:
        count = 0
        for run in list(self.runs.values()):
            if run.pending and run.id not in self.locked_runs:
                events = self._taken(run.id)
                count += len(events)
                self._apply(run, events)
        return count

    def _taken(self, run: int) -> list[tuple[int, str]]:
        self.touched.add(run)
        events, self.runs[run].pending = self.runs[run].pending, []
        return events

    def _apply(self, run: Run, events: list[tuple[int, str]]) -> None:
        self.touched.add(run.id)
        ended, ready, begun = [], [], False
        for job_id, kind in events:
            if kind not in ("ready", "stop") and (kind != "cancelled" or self.jobs[job_id].attempt):
                begun = True
            if kind == "ready":
                ready.append(self.jobs[job_id])
            elif kind not in ("requeued", "asked", "retried", "stop"):
                ended.append(self.jobs[job_id])
        while True:
            for cause in sorted(ended, key=lambda job: (job.finished_at, job.id)):
                if self._ends_its_run(cause):
                    self._end_run(run, "failed" if cause.status == "failed" else "cancelled")
            stopped = self._stop(run)
            ready += self._woken(run)
            for job in ended + self._count_elements(ended):
                ready += self._count_off(run, job)
            ended = stopped + self._settled_maps(ended)
            for job in ready:
                ended += self._open(run, job)
            ready = []
            if not ended:
                break
        run.started = run.started or begun
        self._assess(run)

    def _ends_its_run(self, job: Job) -> bool:
        """Elements are the affair of their map."""
        let_go = job.status == "failed" and job.node.on_failure == "continue"
        return job.parent is None and job.status in ("failed", "cancelled") and not let_go

    def _count_off(self, run: Run, done: Job) -> list[Job]:
        """Nodes that wait for nothing any more. A map has ended when its elements have."""
        ready: list[Job] = []
        if done.elements is not None and done.missing:
            return ready
        for job_id in run.nodes.values():
            job = self.jobs[job_id]
            waits = job.status == "blocked" or (job.node.takes_back and job.parent is None)
            if waits and done.id in job.missing and job.elements is None:
                job.missing.remove(done.id)
                if not job.missing and job.status == "blocked":
                    ready.append(job)
        return ready

    def _count_elements(self, ended: list[Job]) -> list[Job]:
        """Counts elements off their maps; maps that were over before the last of them ended."""
        over = []
        for element in ended:
            if element.parent is not None:
                job = self.jobs[element.parent]
                job.missing.remove(element.id)
                if not job.missing and job.status in OVER:
                    over.append(job)
        return over

    def _settled_maps(self, ended: list[Job]) -> list[Job]:
        """Maps that ended with these elements; of the others, the next elements are opened."""
        maps = {job.parent: self.jobs[job.parent] for job in ended if job.parent is not None}
        return [o for job in maps.values() if job.status == "blocked" for o in self._judge(job)]

    def _judge(self, job: Job) -> list[Job]:
        """Ends a map, or opens as many elements as may run at once; the map, if it has ended."""
        assert job.elements is not None
        elements = [self.jobs[job_id] for job_id in job.elements]
        counted = [e for e in elements if e.id not in job.missing]
        failed = sum(e.status in ("failed", "cancelled") for e in counted)
        completed = len(counted) - failed
        if len(elements) - failed < self._needed(job):
            self._jam()
            self._close(job, "failed")
        elif not job.missing or (job.node.stops and completed >= self._needed(job)):
            self._jam()
            self._close(job, "completed")
            done = [e.output if e.status == "completed" else None for e in elements]
            job.output, job.failed = done, False
        else:
            waiting = [e for e in elements if e.status == "blocked"]
            busy = sum(e.id in job.missing and not e.stuck for e in elements) - len(waiting)
            for element in waiting[: (job.node.max_parallel or len(waiting)) - busy]:
                if element.id > 0:
                    self._jam()
                self._queue(element)
            return []
        return [job]

    def _needed(self, job: Job) -> int:
        assert job.elements is not None
        least, count = job.node.min_success, len(job.elements)
        if least is None or count == 0:
            return count
        if isinstance(least, str):
            return math.ceil(count * int(least.removesuffix("%")) / 100)
        return least

    def _open(self, run: Run, job: Job) -> list[Job]:
        """A node's turn has come; what has ended by it."""
        if job.status != "blocked" or job.missing:  # it was cancelled meanwhile
            return []
        if job.elements is not None:
            return self._judge(job)
        if job.node.each is None:
            self._jam()
        if job.node.takes_back and not self._has_undone(run, job):
            self._jam()
            self._close(job, "skipped")
            return [job]
        scope = self._scope(run)
        try:
            if truth(reference_model.resolve(job.node.skip_if, scope)):
                self._jam()
                self._close(job, "skipped")
            elif job.node.question is not None:
                question = reference_model.resolve(job.node.question, scope)
                job.status = "awaiting_input"
                if "expires" in question:
                    seconds = float(question["expires"].removesuffix(" s"))
                    job.expires_at = self.now + timedelta(seconds=seconds)
                if isinstance(value := self.signals.get(signal_of(question)), str):
                    self._close(job, "completed")
                    job.output, job.expires_at = {question["target"]: value}, None
            elif job.node.each is not None:
                return self._expand(run, job, scope)
            else:
                self._queue(job)
        except reference_model.ReferenceFault:
            self._jam()
            self._refuse(job)
        return [job] if job.status in OVER else []

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

    def _expand(self, run: Run, job: Job, scope: Json) -> list[Job]:
        """Makes the elements of a map."""
        each = reference_model.resolve(job.node.each, scope)
        if not isinstance(each, list):
            self._jam()
            self._refuse(job)
            return [job] if job.status in OVER else []
        job.elements = []
        ask = "ask" if job.node.on_failure == "ask" else "fail"
        for place, item in enumerate(each):
            self.unnamed -= 1
            node = replace(
                job.node, name=f"{job.node.name}[{place}]", after=(), skip_if=None, each=None
            )
            node = replace(node, on_failure=ask)
            element = Job(self.unnamed, "blocked", job.task, job.queue, job.priority, run.id, node)
            element.parent = job.id
            self.jobs[element.id] = element
            run.nodes[node.name] = element.id
            job.elements.append(element.id)
            try:
                here = {**scope, "$item": item, "$index": place}
                element.inputs = reference_model.resolve(job.node.inputs, here)
                job.missing.add(element.id)
            except reference_model.ReferenceFault:
                self._refuse(element)
                job.missing |= {element.id} if element.stuck else set()
        return self._judge(job)

    def name_elements(self, ids: dict[tuple[int, str], int]) -> None:
        """Tells the ids of elements that the database made: by run and name."""
        for job in [job for job in self.jobs.values() if job.id < 0]:
            assert job.run is not None
            assert job.parent is not None
            old, run, parent = job.id, self.runs[job.run], self.jobs[job.parent]
            require((run.id, job.node.name) in ids, "elements there are", job.node.name)
            job.id = run.nodes[job.node.name] = ids[run.id, job.node.name]
            self.jobs[job.id] = self.jobs.pop(old)
            assert parent.elements is not None
            parent.elements = [job.id if e == old else e for e in parent.elements]
            if old in parent.missing:
                parent.missing = parent.missing - {old} | {job.id}
            run.pending = [(job.id if e == old else e, kind) for e, kind in run.pending]

    def _assess(self, run: Run) -> None:
        """Judge a run by the states of its nodes."""
        if not run.live:
            return
        states = {self.jobs[job_id].status for job_id in run.nodes.values()}
        if states <= OVER:
            run.status, run.finished_at = run.ending or "completed", self.now
        elif not states & ACTIVE and "awaiting_input" in states:
            run.status, run.started = "awaiting_input", True
        elif run.started:
            run.status = "running"

    def _end_run(self, run: Run, status: str) -> None:
        """Decides how a run ends; the first decision stands. What has begun is cleaned up."""
        if not run.live or run.ending is not None:
            return
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        began = any(job.attempt for job in jobs)
        run.started, run.ending = True, run.ending or status
        woken = self._wake_compensations(run)
        clean_up = any(job.node.cleans_up and job.status not in OVER for job in jobs)
        if not woken and (not began or not clean_up):
            run.status, run.finished_at = status, self.now
        else:
            run.status = "running"

    def _compensations(self, run: Run) -> list[Job]:
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        return [job for job in jobs if job.node.takes_back and job.parent is None]

    def _targets(self, run: Run, job: Job) -> list[Job]:
        return [self.jobs[run.nodes[name]] for name in job.node.takes_back]

    def _has_undone(self, run: Run, job: Job) -> bool:
        """Return True if there is something for a compensation node to take back."""
        return any(target.status == "completed" for target in self._targets(run, job))

    def _wake_compensations(self, run: Run) -> bool:
        """Those of nodes that completed, or may yet complete, wait for what follows from them."""
        woken = []
        for job in self._compensations(run):
            states = {target.status for target in self._targets(run, job)}
            if job.status == "skipped" and states - {"blocked", "skipped", "failed", "cancelled"}:
                job.status, job.finished_at = "blocked", None
                woken.append(job)
        for job in woken:
            job.missing |= {other.id for other in woken if other.node.name in job.node.after}
            if not job.missing:
                run.pending.append((job.id, "ready"))
        return bool(woken)

    def _woken(self, run: Run) -> list[Job]:
        """Compensation nodes that have nothing to wait for, of a run that begins to end."""
        own = {job.id for job in self._compensations(run)}
        ready = [(job_id, kind) for job_id, kind in run.pending if job_id in own]
        ready = [(job_id, kind) for job_id, kind in ready if kind == "ready"]
        run.pending = [event for event in run.pending if event not in ready]
        return [self.jobs[job_id] for job_id, _ in ready]

    def _stop(self, run: Run) -> list[Job]:
        """End the waits that have nothing left to wait for; look at locked ones again."""
        stopped, left = [], False
        for job_id in run.nodes.values():
            job = self.jobs[job_id]
            if job.status in WAITING and self._is_obsolete(job):
                if job_id in self.locked_jobs:
                    left = True
                else:
                    self._close(job, "cancelled")
                    stopped.append(job)
        if left and not any(kind == "stop" for _, kind in run.pending):
            run.pending.append((0, "stop"))
        return stopped

    # people

    def submit_input(self, run_id: int, name: str, value: Json) -> Refused | None:
        run = self.runs.get(run_id)
        if run is None or name not in run.nodes:
            return NOT_FOUND
        job = self.jobs[run.nodes[name]]
        if job.node.question is None and job.node.on_failure != "ask":
            return NOT_FOUND
        return self.answer_job(job.id, value)

    def answer_job(self, job_id: int, value: Json) -> Refused | None:
        job = self.jobs.get(job_id)
        if job is None:
            return NOT_FOUND
        if job.status != "awaiting_input" or self._is_obsolete(job):
            return WRONG_STATE
        if job.node.question is None and value not in DECISIONS:
            return INVALID
        if job.stuck and value == "retry":
            return INVALID
        if job.node.question is not None and not isinstance(value, str):
            return INVALID
        self._decide(job, value)
        return None

    def _decide(self, job: Job, value: Json) -> None:
        kind = "answered"
        if job.node.question is not None:
            self._close(job, "completed")
            job.output = {job.node.question["target"]: value}
        elif (kind := DECISIONS[value]) == "retried":
            job.failures = job.losses = 0
            self._queue(job)
        else:
            self._close(job, "skipped" if kind == "passed" else "failed")
        job.expires_at = None
        if job.run is not None:
            self._apply(self.runs[job.run], [*self._taken(job.run), (job.id, kind)])

    def signal(self, name: str, value: Json) -> int:
        self.signals[name] = value
        if not isinstance(value, str):  # what questions of the machine ask for
            return 0
        found = [
            job
            for job in self.jobs.values()
            if job.status == "awaiting_input"
            and job.node.question is not None
            and signal_of(job.node.question) == name
            and not self._is_obsolete(job)
        ]
        for job in found:
            self._decide(job, value)
        return len(found)

    def expire_inputs(self) -> int:
        due = [
            job
            for job in self.jobs.values()
            if job.status == "awaiting_input"
            and job.node.question is not None
            and job.expires_at is not None
            and job.expires_at <= self.now
            and job.run not in self.locked_runs
        ]
        count = 0
        for job in sorted(due, key=lambda job: (job.expires_at, job.id)):
            if job.status != "awaiting_input":  # the one before ended the run
                continue
            count += 1
            assert job.node.question is not None
            assert job.run is not None
            if "default" in job.node.question:
                self._decide(job, job.node.question["default"])
            else:
                self._close(job, "failed")
                self._apply(self.runs[job.run], [*self._taken(job.run), (job.id, "aborted")])
        return count

    def expire_jobs(self) -> int:
        due = [
            job
            for job in self.jobs.values()
            if job.status in ("queued", "scheduled")
            and job.expires_at is not None
            and job.expires_at <= self.now
            and job.attempt == 0
            and job.id not in self.locked_jobs
        ]
        for job in due:
            self._close(job, "cancelled")
        return len(due)

    def fail_overdue_runs(self) -> int:
        due = [
            run
            for run in self.runs.values()
            if run.live
            and run.ending is None
            and run.deadline is not None
            and run.deadline <= self.now
            and run.id not in self.locked_runs
        ]
        for run in due:
            self.touched.add(run.id)
            self._end_run(run, "failed")
            run.pending.append((0, "stop"))
        return len(due)

    def cancel_job(self, job_id: int) -> str | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return NOT_FOUND
        if job.status == "cancelled":
            return "cancelled"
        if job.status in OVER:
            return WRONG_STATE
        if job.status == "running" or job_id in self.locked_jobs:
            job.wanted_dead = True
            self.touched |= {job.run} - {None}
            return "requested"
        self._cancel(job)
        return "cancelled"

    def _cancel(self, job: Job) -> None:
        self._close(job, "cancelled")
        if job.run is not None:
            run = self.runs[job.run]
            self._apply(run, [*self._taken(run.id), (job.id, "cancelled")])

    def cancel_run(self, run_id: int) -> bool | Refused:
        run = self.runs.get(run_id)
        if run is None:
            return NOT_FOUND
        self.touched.add(run_id)
        if run.status == "cancelled" or (run.live and run.ending is not None):
            return False
        if not run.live:
            return WRONG_STATE
        self._end_run(run, "cancelled")
        self._apply(run, [*self._taken(run_id), (0, "stop")])
        return True

    def cancel_jobs(self, listed: Iterable[int]) -> Verdicts:
        return {job_id: _word(self.cancel_job(job_id)) for job_id in sorted(set(listed))}

    def retry_jobs(self, listed: Iterable[int]) -> Verdicts:
        """Jobs before runs, each in the order of their keys; a run once for all its nodes."""
        known = [self.jobs[job_id] for job_id in sorted(set(listed)) if job_id in self.jobs]
        ended = [job for job in known if job.status in ("failed", "cancelled")]
        verdicts: Verdicts = {}
        for job in sorted(
            (job for job in ended if job.run is None),
            key=lambda job: (job.task, job.key is None, job.key or "", job.id),
        ):
            verdicts[job.id] = _word(self.retry_job(job.id) or "retried")
        nodes: dict[int, list[int]] = {}
        for job in ended:
            if job.run is not None:
                nodes.setdefault(job.run, []).append(job.id)
        for run in sorted(
            (self.runs[run_id] for run_id in nodes),
            key=lambda run: (run.workflow, run.key is None, run.key or "", nodes[run.id][0]),
        ):
            answer = self.retry_run(run.id, None)
            word = _word(answer if isinstance(answer, Refused) else "retried")
            verdicts |= dict.fromkeys(nodes[run.id], word)
        for job_id in set(listed) - verdicts.keys():
            verdicts[job_id] = _word(WRONG_STATE if job_id in self.jobs else NOT_FOUND)
        return verdicts

    def retry_job(self, job_id: int) -> Refused | None:
        job = self.jobs.get(job_id)
        if job is None:
            return NOT_FOUND
        if job.run is not None:
            answer = self.retry_run(job.run, job.node.name)
            return answer if isinstance(answer, Refused) else None
        if job.status not in ("failed", "cancelled"):
            return WRONG_STATE
        if job.node.limit is not None and limit_of(job.node.limit) not in self.limits:
            return NOT_FOUND
        if not job.once and self._key_holder(job.task, job.key) is not None:
            return KEY_TAKEN
        self._renew(job)
        job.run_at = job.start_by = None
        job.started = False
        self._queue(job)
        return None

    def retry_run(self, run_id: int, name: str | None) -> int | Refused:
        run = self.runs.get(run_id)
        if run is None:
            return NOT_FOUND
        if run.live or any(self.jobs[job_id].status not in OVER for job_id in run.nodes.values()):
            return WRONG_STATE
        if not self._has_limits(run.workflow) or (name is not None and name not in run.nodes):
            return NOT_FOUND
        if self._refuses_compensation(run, name):
            return WRONG_STATE
        again = self.to_retry(run, name)
        if not again:
            return WRONG_STATE
        if not run.once and self._run_key_holder(run.workflow, run.key) is not None:
            return KEY_TAKEN
        self._taken(run_id)
        resumed = [job for job in again if self._resumes(run, job, again, name)]
        for job in again:
            self._renew(job)
            if job not in resumed:
                self._forget_elements(run, job)
            job.status, job.output = "blocked", None
        for job in again:
            if job not in resumed:
                before = [self.jobs[run.nodes[name]] for name in job.node.after]
                job.missing = {d.id for d in before if d.status not in OVER}
        for job in resumed:
            self._resume(job, name)
        ending = run.status if again == [job for job in again if job.node.takes_back] else None
        if ending is None:
            self._sleep(run)
        run.status, run.started = "queued", False
        run.finished_at, run.ending = None, ending
        if run.workflow in DEADLINES:
            run.deadline = self.now + self._time(run.workflow)
        ready = [job for job in again if not job.missing]
        for job in ready:
            if not job.node.looked_at:
                self._queue(job)
        self._apply(run, [(job.id, "ready") for job in ready if job.node.looked_at])
        return len(again)

    def _refuses_compensation(self, run: Run, name: str | None) -> bool:
        """A compensation node that failed is named, or a node that it takes back is."""
        failed = [
            job for job in self._compensations(run)
            if job.status in ("failed", "cancelled") and self._has_undone(run, job)
        ]  # fmt: skip
        if any(job.node.name == name for job in self._compensations(run)):
            return not any(job.node.name == name for job in failed)
        return any(name not in job.node.takes_back for job in failed)

    def _sleep(self, run: Run) -> None:
        for job in self._compensations(run):
            if job.status != "skipped":
                self._renew(job)
                self._forget_elements(run, job)
                job.status, job.output, job.finished_at = "skipped", None, self.now
            before = [self.jobs[run.nodes[name]] for name in job.node.after]
            job.missing = {d.id for d in before if d.status not in OVER}

    def _resumes(self, run: Run, job: Job, again: list[Job], name: str | None) -> bool:
        """Return True if a map keeps the elements that completed."""
        if job.elements is None or job.node.name == name:
            return False
        undone = [one for one in self._compensations(run) if one.status == "completed"]
        if job.status == "completed" and any(job in self._targets(run, one) for one in undone):
            return False
        if any(self.jobs[run.nodes[before]] in again for before in job.node.after):
            return False
        elements = [self.jobs[job_id] for job_id in job.elements]
        return not any(e.stuck or (e.status == "failed" and e.attempt == 0) for e in elements)

    def _resume(self, job: Job, name: str | None) -> None:
        assert job.elements is not None
        for element in (self.jobs[job_id] for job_id in job.elements):
            if element.status in ("failed", "cancelled") or element.node.name == name:
                self._renew(element)
                element.status, element.output = "blocked", None
        job.missing = {e for e in job.elements if self.jobs[e].status == "blocked"}
        if job.missing:
            self._judge(job)

    def _forget_elements(self, run: Run, job: Job) -> None:
        for job_id in job.elements or []:
            del run.nodes[self.jobs.pop(job_id).node.name]
            for token in [t for t, report in self.reports.items() if report.job == job_id]:
                del self.reports[token]
        job.elements = None

    def to_retry(self, run: Run, name: str | None) -> list[Job]:
        """Nodes that failed or were cancelled, the named one, and all that follow from them.

        An element stands for its map.
        """
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        jobs = [job for job in jobs if job.parent is None]
        undo = {job.node.name: job for job in jobs if job.node.takes_back}
        if name in undo:
            return [undo[name]]
        jobs = [job for job in jobs if job.node.name not in undo]
        names = {job.node.name for job in jobs if job.status in ("failed", "cancelled")}
        for job in undo.values():
            if job.status == "completed":
                done = [one for one in self._targets(run, job) if one.status == "completed"]
                names |= {target.node.name for target in done}
        if name is not None:
            parent = self.jobs[run.nodes[name]].parent
            names.add(name if parent is None else self.jobs[parent].node.name)
        for job in jobs:  # each comes after those it depends on
            if names & set(job.node.after):
                names.add(job.node.name)
        return [job for job in jobs if job.node.name in names]

    def _renew(self, job: Job) -> None:
        job.failures = job.losses = 0
        job.failed = job.wanted_dead = job.stuck = False
        job.finished_at = job.run_at = job.expires_at = job.avoids = None

    def run_next(self, job_id: int) -> Refused | None:
        job = self._waiting(job_id)
        if isinstance(job, Refused):
            return job
        job.run_next, job.start_by = True, None
        if job.status == "scheduled" and job.node.looked_at and job.attempt == 0:
            job.run_at = self.now
        elif job.status == "scheduled":
            self._queue(job)
        return None

    def change_job(
        self, job_id: int, priority: int | None, queue: str | None, run_at: datetime | None
    ) -> Refused | None:
        if queue is not None and queue not in QUEUES:
            return UNKNOWN_QUEUE
        job = self._waiting(job_id)
        if isinstance(job, Refused):
            return job
        if priority is not None:
            job.priority = priority
        if queue is not None and job.queue is not None:
            job.queue = queue
        if run_at is not None:
            job.run_at, job.start_by = run_at, None
        when = run_at or (job.run_at if job.status == "scheduled" else None)
        later = when is not None and when > self.now
        if later or (job.status == "scheduled" and job.node.looked_at and job.attempt == 0):
            job.status = "scheduled"
        elif job.status == "scheduled":
            self._queue(job)
        return None

    def _waiting(self, job_id: int) -> Job | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return NOT_FOUND
        if job.status not in ("queued", "scheduled") or job_id in self.locked_jobs:
            return WRONG_STATE
        return job

    # workers and those who look after them

    def switch(self, host: str, state: str, until: datetime | None) -> Refused | None:
        if until is not None and until <= self.now:
            return INVALID
        self.off.pop(host, None)
        if state == "off":
            self.off[host] = until
        return None

    def suspend_worker(self, name: str) -> bool | Refused:
        """The order of a person stands."""
        worker = self.workers.get(name)
        if worker is None or worker.stopped:
            return NOT_FOUND
        if self.is_off(worker.host):
            return False
        self.off[worker.host] = self.now + timedelta(minutes=5)
        return True

    def pause(self, queue: str, paused: bool) -> Refused | None:
        if queue not in QUEUES:
            return UNKNOWN_QUEUE
        self.paused = self.paused | {queue} if paused else self.paused - {queue}
        return None

    def drop_limit(self, name: str) -> Refused | None:
        if name == "queue:cpu" and self.room is not None:
            self.room = None
            return None
        if name not in self.limits:
            return NOT_FOUND
        used = [j for j in self.jobs.values() if j.node.limit and j.status not in OVER]
        if any(limit_of(str(j.node.limit)) == name for j in used):
            return WRONG_STATE
        if any(node.limit == name for workflow in WORKFLOWS for node in expand(workflow)):
            return WRONG_STATE
        del self.limits[name]
        self.starts = [(limit, at) for limit, at in self.starts if limit != name]
        return None

    # what time brings about

    def promote_due(self) -> int:
        due = [
            job
            for job in self.jobs.values()
            if job.status == "scheduled"
            and job.run_at is not None
            and job.run_at <= self.now
            and job.id not in self.locked_jobs
        ]
        for job in due:
            if job.node.looked_at and job.attempt == 0:
                assert job.run is not None
                job.status = "blocked"
                self.runs[job.run].pending.append((job.id, "ready"))
            else:
                self._queue(job, among=(job.run_at,))
        return len(due)

    def prune(self) -> tuple[int, int]:
        """How many runs and standalone jobs went."""
        old = self.now - RETENTION
        runs = [
            run
            for run in self.runs.values()
            if run.finished_at is not None
            and run.finished_at < old
            and not run.pending
            and run.id not in self.locked_runs
            and all(self.jobs[job_id].status in OVER for job_id in run.nodes.values())
        ]
        jobs = [
            job
            for job in self.jobs.values()
            if job.run is None and job.finished_at is not None and job.finished_at < old
        ]
        jobs = [job for job in jobs if job.id not in self.locked_jobs]
        for run in runs:
            del self.runs[run.id]
        gone = {job_id for run in runs for job_id in run.nodes.values()} | {job.id for job in jobs}
        for job_id in gone:
            del self.jobs[job_id]
        for token in [t for t, report in self.reports.items() if report.job in gone]:
            del self.reports[token]
        for name in [n for n, worker in self.workers.items() if worker.seen < old]:
            del self.workers[name]
        return len(runs), len(jobs)

    def settle_requests(self) -> int:
        """A request to cancel a job that does not run after all."""
        count = 0
        for job in self.jobs.values():
            free = job.id not in self.locked_jobs and job.run not in self.locked_runs
            if job.wanted_dead and job.status in WAITING and free:
                self._cancel(job)
                count += 1
        return count

    # somebody else's open transaction

    def fork(self) -> Model:
        """The model as a transaction that begins now sees it, and changes it."""
        self.turn += 1
        other = copy.deepcopy(self)
        other.touched = set()
        return other

    def lock(self, before: Model, after: Model) -> None:
        """Takes note of what a transaction has locked that saw `before` and left `after`."""
        self.locked_jobs = changed(before.jobs, after.jobs)
        self.locked_runs = frozenset(after.touched & set(before.runs))

    def absorb(self, before: Model, after: Model) -> None:
        """Merges what that transaction did when it commits."""
        for job_id in changed(before.jobs, after.jobs):
            self.jobs[job_id] = after.jobs[job_id]
        for run_id, run in after.runs.items():
            seen = len(before.runs[run_id].pending) if run_id in before.runs else 0
            if run_id not in before.runs:
                self.runs[run_id] = run
            elif run_id in after.touched:
                run.pending += self.runs[run_id].pending[seen:]
                self.runs[run_id] = run
            elif run_id in self.runs:
                self.runs[run_id].pending += run.pending[seen:]
        for token, report in after.reports.items():
            if token not in before.reports:
                self.reports[token] = report
        self.unlock()

    def unlock(self) -> None:
        self.locked_jobs = self.locked_runs = frozenset()


def signal_of(question: Json) -> str:
    """The name of the signal that a question waits for; empty if it waits for none."""
    signal = question.get("signal", "")
    return signal if isinstance(signal, str) else ":".join(map(str, signal))


def changed(before: dict[int, Job], after: dict[int, Job]) -> frozenset[int]:
    return frozenset(job_id for job_id, job in after.items() if before.get(job_id) != job)


def truth(value: Json) -> bool:
    return value not in (None, False, 0, "", [], {})
