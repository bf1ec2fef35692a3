"""The work of time: what becomes due, lapses, expires and is pruned."""

from __future__ import annotations

from support.machine.state import OVER, RETENTION, WAITING, Run, State


class Passing(State):
    """The work of time: what becomes due, lapses, expires and is pruned."""

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
            and not self._may_go_on(run)
        ]
        count = len(runs)
        self._delete_runs_below([job_id for run in runs for job_id in run.nodes.values()])
        runs = [run for run in runs if run.id in self.runs]
        for run in runs:
            del self.runs[run.id]
        lines = {run.parent for run in self.runs.values() if run.in_line}
        jobs = [
            job
            for job in self.jobs.values()
            if job.run is None and job.finished_at is not None and job.finished_at < old
        ]
        jobs = [job for job in jobs if job.id not in self.locked_jobs | lines]
        gone = {job_id for run in runs for job_id in run.nodes.values()} | {job.id for job in jobs}
        for job_id in gone:
            del self.jobs[job_id]
        for token in [t for t, report in self.reports.items() if report.job in gone]:
            del self.reports[token]
        for name in [n for n, worker in self.workers.items() if worker.seen < old]:
            del self.workers[name]
        return count, len(jobs)

    def _may_go_on(self, run: Run) -> bool:
        """Return True if another try of its step may go on with it."""
        step = self.jobs.get(run.parent or 0)
        return step is not None and step.run is not None and self.runs[step.run].live

    def settle_requests(self) -> int:
        """A request to cancel a job that does not run after all."""
        count = 0
        for job in self.jobs.values():
            free = job.id not in self.locked_jobs and job.run not in self.locked_runs
            if job.wanted_dead and job.status in WAITING and free:
                self._cancel(job)
                count += 1
        return count

    def expire_inputs(self) -> int:
        due = [
            job
            for job in self.jobs.values()
            if job.status == "awaiting_input"
            and job.node.question is not None
            and job.expires_at is not None
            and job.expires_at <= self.now
            and job.run not in self.locked_runs
            and not self._is_overdue(self.runs[job.run])
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

    def _is_overdue(self, run: Run) -> bool:
        late = run.deadline is not None and run.deadline <= self.now
        return late and run.live and run.ending is None

    def fail_overdue_runs(self) -> int:
        due = [
            run
            for run in self.runs.values()
            if self._is_overdue(run) and run.id not in self.locked_runs
        ]
        for run in due:
            self.touched.add(run.id)
            self._end_run(run, "failed")
            run.pending.append((0, "stop"))
        return len(due)
