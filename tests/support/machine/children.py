"""Runs inside runs: a step that runs a workflow is a job whose worker is the engine."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from support import reference_model
from support.machine.state import OVER, Job, Json, Report, Run, State, require
from support.machine.workflows import DEADLINES, ENGINE, expand

WORKER = "qwf.engine"
AT_ONCE = 10  # runs that the engine looks at before it looks again
FOR_EVER = datetime(9999, 1, 1, tzinfo=timezone.utc)
LATER = timedelta(seconds=5)  # when somebody has the last run, or a body of it still stops


class Children(State):
    """Runs inside runs."""

    def _report_and_serve(self) -> bool:
        """Report and serve once events are applied; return True if something that follows waits."""
        waits = False
        while self.over:
            over, self.over = self.over, []
            waits = self._report_runs([self.runs[run_id] for run_id in over]) or waits
        if self.runs_due:
            self.serve_runs()
        return waits

    def _report_runs(self, runs: list[Run]) -> bool:
        """Runs that are over end the attempts of their steps; whether what follows waits."""
        reports = {}
        for run in runs:
            job = self.jobs.get(run.parent or 0)
            if job is None or job.status != "running" or job.attempt != run.parent_attempt:
                continue
            outcome = run.status if run.status in ("completed", "cancelled") else "error"
            output = self._output_of(run) if outcome == "completed" else None
            error = None if outcome == "completed" else "the run ended"
            reports[job.id] = Report(job.id, str(job.token), outcome, output, error)
        self.depth += 1  # those in line go on before anything is served
        self._conclude([r for r in reports.values() if self.jobs[r.job].run is None])
        for run in runs:
            if run.in_line and not run.live:
                self._go_on_in_line(run, self.jobs[run.parent or 0])
        self.depth -= 1
        steps = [r for r in reports.values() if self.jobs[r.job].run is not None]
        return bool(steps) and bool(self._conclude(steps))

    def _go_on_in_line(self, run: Run, place: Job) -> None:
        """A run in line that is over leaves the line, unless it is to be tried again."""
        if place.status not in ("queued", "scheduled") or place.id in self.locked_jobs:
            return
        if run.status == "cancelled":
            self._close(place, "cancelled")
        elif run.status == "failed":
            self._wait_in_line(run)

    def _wait_in_line(self, run: Run) -> None:
        run.status, run.started, run.finished_at, run.ending = "queued", False, None, None
        run.deadline = None

    def _line_up_again(
        self, run: Run, again: list[Job], name: str | None, completed: str | None
    ) -> int:
        """It waits in line once more; its nodes stay as they are until it is served."""
        self._wait_in_line(run)
        place = self.jobs[run.parent or 0]
        place.named, place.completed = name, completed
        place.failures = place.losses = 0
        place.finished_at = place.run_at = None
        self._queue(place)
        self._apply(run, [])
        return len(again) or sum(not node.takes_back for node in expand(run.workflow))

    def _output_of(self, run: Run) -> Json:
        """The outputs of its last nodes in one object."""
        nodes = [self.jobs[job_id] for job_id in run.nodes.values()]
        nodes = [job for job in nodes if job.parent is None and not job.node.takes_back]
        read = {name for job in nodes for name in job.node.after}
        found: Json = {}
        for job in nodes:
            if job.node.name not in read and job.status == "completed":
                is_object = isinstance(job.output, dict)
                found |= job.output if is_object else {job.node.name: job.output}
        return found

    def serve_runs(self) -> None:
        """Starts the runs of steps that are queued. What starts meanwhile may queue more."""
        if self.serving:
            return
        self.serving = True
        while True:
            self.runs_due = False
            queued = [
                job
                for job in self.jobs.values()
                if (job.queue, job.status) == (ENGINE, "queued") and job.id not in self.locked_jobs
            ]
            queued.sort(key=lambda job: (job.order(), job.nth))
            picked = self._in_order(queued, AT_ONCE)
            able = [job for job in picked if self._takes(job)]
            served = [run for job in able if (run := self._serve(job)) is not None]
            for job in able:
                self._start(job)
            self._report_runs([run for run in served if not run.live])
            if not picked or (len(picked) < AT_ONCE and not self.runs_due):
                break
        self.serving = False

    def _takes(self, job: Job) -> bool:
        """Return True if its inputs can be resolved. They are the context of its run."""
        try:
            job.context = self._resolved(job)
        except reference_model.ReferenceFault:
            job.attempt += 1
            job.run_next, job.worker = False, WORKER
            self._start(job)
            job.attempts.append("fatal")
            self._fail(job)
            job.stuck = job.status == "awaiting_input"
            assert job.run is not None
            kind = "asked" if job.status == "awaiting_input" else "failed"
            self.runs[job.run].pending.append((job.id, kind))
            return False
        return True

    def _serve(self, job: Job) -> Run | None:
        """The run of the next attempt at a step: another try goes on with the last run."""
        old = self._last_run(job)
        in_line = old is not None and old.in_line
        if old is not None and old.status == "completed" and not in_line:
            old = None
        if old is not None and (
            old.id in self.locked_runs
            or any(self.jobs[job_id].status not in OVER for job_id in old.nodes.values())
        ):
            job.status, job.run_at, job.jittered = "scheduled", self.now + LATER, True
            return None
        if in_line and old is not None and not old.live:
            self._close(job, "cancelled")
            return None
        job.attempt += 1
        job.status, job.run_next, job.worker = "running", False, WORKER
        job.token, job.lease_until = f"engine {job.id} {job.attempt}", FOR_EVER
        if old is None:
            return self._insert_child(job)
        if in_line:
            job.context = old.context
        ending = old.ending if old.live else None  # it was cancelled while it waited in line
        again = self._to_wake(old) if ending is not None else self._changes(old, job)
        if (self.jammed and again) or (
            ending is None
            and (
                self._refuses_compensation(old, job.named, job.completed)
                or self._refuses_below(old, again, job.named)
            )
        ):
            self._conclude([Report(job.id, str(job.token), "fatal", error="it cannot go on")])
            if in_line:
                old.status, old.started = ending or "failed", True
                old.finished_at = self.now
            return None
        if ending is not None:
            old.parent_attempt, old.priority, old.ending = job.attempt, job.priority, None
            self._end_run(old, ending)
            self._apply(old, [*self._taken(old.id), (0, "stop")])
            return old
        self._resume_child(job, old)
        return old

    def _last_run(self, job: Job) -> Run | None:
        runs = [run for run in self.runs.values() if run.parent == job.id]
        return max(runs, key=lambda run: run.parent_attempt, default=None)

    def _insert_child(self, job: Job) -> Run:
        self.unnamed -= 1
        assert job.node.workflow is not None
        run = Run(self.unnamed, job.node.workflow, "queued", job.priority, job.context)
        run.parent, run.parent_attempt = job.id, job.attempt
        run.deadline = self._until(job, run)
        self.runs[run.id] = run
        self._insert_nodes(run, self._unnamed_nodes(run), None)
        return run

    def _unnamed_nodes(self, run: Run) -> dict[str, int]:
        nodes = {}
        for node in expand(run.workflow):
            self.unnamed -= 1
            nodes[node.name] = self.unnamed
        return nodes

    def _resume_child(self, job: Job, run: Run) -> None:
        """Run again what failed, and what reads a value of the context that has changed."""
        run.parent_attempt, run.priority = job.attempt, job.priority
        if not run.nodes:  # it has waited in line
            run.deadline = self._until(job, run)
            self._insert_nodes(run, self._unnamed_nodes(run), None)
            return
        again = self._changes(run, job)
        run.context = job.context
        if again:
            self._mend(run, again, job.named, job.completed)
        else:  # its last bodies reported after it had been cancelled
            run.status, run.ending, run.started = "completed", None, True
            run.finished_at = self.now
        job.named = job.completed = None
        run.deadline = self._until(job, run)

    def _until(self, job: Job, run: Run) -> datetime | None:
        """The earliest of its own deadline, the timeout of the step and the deadline above."""
        own, least = DEADLINES.get(run.workflow), job.node.seconds
        ends = [self.now + timedelta(seconds=s) for s in (own, least) if s is not None]
        above = None if job.run is None else self.runs[job.run].deadline
        return min([*ends, *([above] if above else [])], default=None)

    def _changes(self, run: Run, job: Job) -> list[Job]:
        changed = {
            name
            for name, job_id in run.nodes.items()
            if any(
                job.context.get(key) != run.context.get(key)
                for key in self.jobs[job_id].node.context_keys
            )
        }
        return self.to_retry(run, job.named, changed, job.completed)

    def _is_to_stop(self, run: Run) -> bool:
        """Return True for the run of a step that somebody wants cancelled, or that is obsolete."""
        step = self.jobs.get(run.parent or 0)
        if step is None or step.status != "running" or step.attempt != run.parent_attempt:
            return False
        return self._stopped(step)

    def _stop_children(self, run: Run) -> None:
        """Ends the runs of steps that stop; those that somebody has locked get an event."""
        for job in [self.jobs[job_id] for job_id in run.nodes.values()]:
            child = self._last_run(job) if job.queue == ENGINE else None
            if child is None or job.status != "running" or not self._is_obsolete(job):
                continue
            if not child.live or child.ending is not None:
                continue
            if child.id not in self.locked_runs:
                self._end_run(child, "cancelled")
                self._apply(child, [(0, "stop")])
            elif not any(kind == "stop" for _, kind in child.pending):
                child.pending.append((0, "stop"))

    def _delete_runs_below(self, jobs: list[int]) -> None:
        """Runs of steps that are deleted go, too, if they are over and nobody has them."""
        for run in [run for run in self.runs.values() if run.parent in jobs]:
            nodes = list(run.nodes.values())
            self._delete_runs_below(nodes)
            stops = any(self.jobs[job_id].status not in OVER for job_id in nodes)
            if run.live or stops or run.id in self.locked_runs:
                continue
            del self.runs[run.id]
            for job_id in nodes:
                del self.jobs[job_id]
            for token in [t for t, report in self.reports.items() if report.job in nodes]:
                del self.reports[token]

    # ids

    def name_made(self, runs: dict[tuple[int, int], int], jobs: dict[tuple[int, str], int]) -> None:
        """Tells the ids that the database gave to runs of steps, by step and attempt, and to nodes
        and elements, by run and name."""
        while any(key < 0 for key in (*self.jobs, *self.runs)):
            count = len([key for key in (*self.jobs, *self.runs) if key < 0])
            for run in [run for run in self.runs.values() if run.id < 0 < (run.parent or 0)]:
                assert run.parent is not None
                self._name_run(run, runs.get((run.parent, run.parent_attempt), 0))
            for job in [job for job in self.jobs.values() if job.id < 0 < (job.run or 0)]:
                assert job.run is not None
                self._name_job(job, jobs.get((job.run, job.node.name), 0))
            left = len([key for key in (*self.jobs, *self.runs) if key < 0])
            require(left < count, "runs, nodes and elements there are", self.runs, self.jobs)

    def _name_run(self, run: Run, new: int) -> None:
        if new == 0:
            return
        self.runs[new] = self.runs.pop(run.id)
        run.id = new
        for job_id in run.nodes.values():
            self.jobs[job_id].run = new

    def _name_job(self, job: Job, new: int) -> None:
        if new == 0:
            return
        old, run = job.id, self.runs[job.run or 0]
        job.id = run.nodes[job.node.name] = new
        self.jobs[new] = self.jobs.pop(old)
        for other in [self.jobs[job_id] for job_id in run.nodes.values()]:
            other.parent = new if other.parent == old else other.parent
            if other.elements is not None:
                other.elements = [new if e == old else e for e in other.elements]
            if old in other.missing:
                other.missing = other.missing - {old} | {new}
        for child in self.runs.values():
            child.parent = new if child.parent == old else child.parent
        run.pending = [(new if e == old else e, kind) for e, kind in run.pending]
