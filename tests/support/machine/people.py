"""Requests of people and programs: answers, cancels, changes, limits."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from support.machine.state import (
    DECISIONS,
    INVALID,
    NOT_FOUND,
    OVER,
    QUEUES,
    UNKNOWN_QUEUE,
    WRONG_STATE,
    Job,
    Json,
    Refused,
    State,
    Verdicts,
    _word,
    limit_of,
    signal_of,
)
from support.machine.workflows import WORKFLOWS, expand


class People(State):
    """Requests of people and programs: answers, cancels, changes, limits."""

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
        if not isinstance(value, str):  # what questions of the machine ask for
            return 0
        self.signals[name] = value
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

    def cancel_job(self, job_id: int) -> str | Refused:
        job = self.jobs.get(job_id)
        if job is None:
            return NOT_FOUND
        if job.status == "cancelled":
            return "cancelled"
        if job.status in OVER:
            return WRONG_STATE
        if job.status == "running" or job_id in self.locked_jobs:
            if not job.wanted_dead:
                for run in [r for r in self.runs.values() if r.parent == job_id and r.live]:
                    run.pending.append((0, "stop"))
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
        run.then = None  # all is taken back
        self._end_run(run, "cancelled")
        self._apply(run, [*self._taken(run_id), (0, "stop")])
        return True

    def cancel_jobs(self, listed: Iterable[int]) -> Verdicts:
        return {job_id: _word(self.cancel_job(job_id)) for job_id in sorted(set(listed))}

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

    def switch(self, host: str, state: str, until: datetime | None, policy: str) -> Refused | None:
        if until is not None and until <= self.now:
            return INVALID
        self.off.pop(host, None)
        self.hard.discard(host)
        if state == "off":
            self.hard |= {host} if policy == "hard" else set()
            self.off[host] = until
        return None

    def withdraw_worker(self, name: str) -> bool | Refused:
        """The order of a person stands."""
        worker = self.workers.get(name)
        if worker is None or worker.stopped:
            return NOT_FOUND
        if self.is_off(worker.host):
            return False
        self.off[worker.host] = self.now + timedelta(minutes=5)
        self.hard.discard(worker.host)
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
        self.starts = [(limit, at) for limit, at in self.starts if limit_of(limit) != name]
        return None
