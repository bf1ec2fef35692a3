"""Jobs and runs come."""

from __future__ import annotations

from datetime import datetime, timedelta

from support.machine.state import NOT_FOUND, Job, Json, Refused, Run, State, limit_of, require
from support.machine.workflows import DEADLINES, Node, expand


class Enqueueing(State):
    """Jobs and runs come."""

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
        job.key, job.once, job.begun = key, once, False if node.at_most_once else None
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

    def _supersede(self, taken: list[Job]) -> None:
        """A job that starts ends the older one of its key, which waits for its next try; while
        that one is locked, the job waits a second."""
        for job in list(taken):
            older = None if job.started else self._of_key(job.key, started=True)
            if older is not None and older.id in self.locked_jobs:
                taken.remove(job)
                job.status, job.run_at = "scheduled", self.now + timedelta(seconds=1)
            elif older is not None:
                self._close(older, "cancelled")
            job.started = job in taken and job.key is not None and not job.once

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
        line: Node | None = None,
        line_job: int = 0,
    ) -> int | Refused:
        """`jobs` is the job of each node, `line_job` that of its place in line, as the database
        says."""
        if not self._has_limits(workflow):
            return NOT_FOUND
        holder = self._run_key_holder(workflow, key)
        if holder is not None:
            return holder
        run = Run(self._fresh(got, self.runs), workflow, "queued", priority, context, key, once)
        run.run_at = run_at
        self.runs[run.id] = run
        if line is not None:
            run.parent, run.in_line = self._fresh(line_job, self.jobs), True
            place = Job(line_job, "queued", "run", line.queue, priority, node=line)
            self.jobs[line_job] = place
            self._queue(place)
            self._apply(run, [])
            return run.id
        if workflow in DEADLINES:
            run.deadline = max(run_at or self.now, self.now) + self._time(workflow)
        self._insert_nodes(run, jobs, run_at)
        return run.id

    def _insert_nodes(self, run: Run, jobs: dict[str, int], run_at: datetime | None) -> None:
        nodes = expand(run.workflow)
        require({n.name for n in nodes} == set(jobs), "a run has the nodes of its workflow", jobs)
        run.nodes = jobs
        first = []
        for node in nodes:
            job = Job(jobs[node.name], "blocked", "work", node.queue, run.priority, run.id, node)
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
