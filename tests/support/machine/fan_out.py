"""Consequences of the end of nodes: others open, runs end."""

from __future__ import annotations

import copy
from datetime import datetime, timedelta

from support import reference_model
from support.machine.state import (
    ACTIVE,
    OVER,
    WAITING,
    Jammed,
    Job,
    Json,
    Run,
    State,
    signal_of,
    truth,
)


class FanOut(State):
    """Consequences of the end of nodes: others open, runs end."""

    def _dispatch(self, events: dict[int, list[tuple[int, str]]]) -> set[int]:
        """Applies events to the runs that are free; the others keep them, and are returned."""
        free = set(events) - self.locked_runs
        if self.jammed and not self._applicable(events, free):
            free = set()
        self.depth += 1
        for run in free:
            self._apply(self.runs[run], self._taken(run) + events[run])
        self.depth -= 1
        waits = self.depth == 0 and self._report_and_serve()
        for run in set(events) - free:
            self.runs[run].pending += events[run]
        return set(events) if waits else set(events) - free

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

    def _apply(self, run: Run, events: list[tuple[int, str]]) -> None:
        """Apply events to a run, and what follows for other runs at the end of the outermost."""
        self.depth += 1
        self._apply_to(run, events)
        self.depth -= 1
        if run.parent is not None and not run.live:
            self.over.append(run.id)
        if self.depth == 0:
            self._report_and_serve()

    def _apply_to(self, run: Run, events: list[tuple[int, str]]) -> None:
        self.touched.add(run.id)
        asked_to_stop = any(kind == "stop" for _, kind in events)
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
            if asked_to_stop and self._is_to_stop(run):  # what has failed by then counts first
                self._end_run(run, "cancelled")
            asked_to_stop = False
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
            elif (end := self._delayed_until(run, job, scope)) is not None:
                self._jam()
                job.status, job.run_at, job.jittered = "scheduled", end, True
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

    def _delayed_until(self, run: Run, job: Job, scope: Json) -> datetime | None:
        """Return the end of its delay. It waits once, and not if somebody has set its time."""
        if job.node.delay is None or job.run_at not in (None, run.run_at):
            return None
        delay = reference_model.resolve(job.node.delay, scope)
        if delay in (None, 0):
            return None
        if isinstance(delay, str):
            delay = float(delay.removesuffix(" s"))
        if not isinstance(delay, (int, float)):
            raise reference_model.ReferenceFault("delay")
        return self.now + timedelta(seconds=delay)

    def _assess(self, run: Run) -> None:
        """Judge a run by the states of its nodes."""
        place = self.jobs.get(run.parent or 0) if run.in_line else None
        if not run.live or (place is not None and place.status in ("queued", "scheduled")):
            return
        states = {self.jobs[job_id].status for job_id in run.nodes.values()}
        if states <= OVER and run.then is not None:
            self._go_on(run)
        elif states <= OVER:
            run.status, run.finished_at = run.ending or "completed", self.now
        elif not states & ACTIVE and "awaiting_input" in states:
            run.status, run.started = "awaiting_input", True
        elif run.started:
            run.status = "running"

    def _end_run(self, run: Run, status: str) -> None:
        """Decides how a run ends; the first decision stands. What has begun is cleaned up."""
        if not run.live or run.ending is not None:
            return
        place = self.jobs.get(run.parent or 0) if run.in_line else None
        served = place is not None and place.status == "running"
        run.ending = status
        takes_back_first, run.then = run.then is not None, None
        if place is not None and not served and self._to_wake(run):
            return  # what it has done is taken back when it is served
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        began = any(job.attempt for job in jobs)
        run.started = True
        woken = not takes_back_first and self._wake_compensations(run)
        clean_up = any((job.node.cleans_up or served) and job.status not in OVER for job in jobs)
        if not woken and (not began or not clean_up):
            run.status, run.finished_at = status, self.now
        else:
            run.status = "running"

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
        self._stop_children(run)
        if left and not any(kind == "stop" for _, kind in run.pending):
            run.pending.append((0, "stop"))
        return stopped
