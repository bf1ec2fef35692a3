"""Attempts go on, and end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from support.machine.holds import Holds
from support.machine.state import ATTEMPTS, AVOID, BACKOFF, LEASE, LOSSES, Job, Json, Report
from support.machine.workflows import ENGINE


class Attempts(Holds):
    """Attempts go on, and end."""

    def heartbeat(
        self, worker: str, tokens: Iterable[str], lease: timedelta | None, stats: Json
    ) -> dict[str, str]:
        """Verdict for each token; none for a job that somebody has locked."""
        if (beating := self.workers.get(worker)) and not beating.stopped:
            beating.seen = self.now
            beating.model = stats.get("current_model", beating.model)
        self._release_switched_off(worker, list(tokens))
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

    def _release_switched_off(self, worker: str, tokens: list[str]) -> None:
        """A worker that is off hard, and stops no bodies itself, has its jobs taken away."""
        known = self.workers.get(worker)
        if known is None or not self.is_off(known.host) or known.host not in self.hard:
            return
        held = [job for token in tokens if (job := self._holder(token)) is not None]
        held = [job for job in held if job.worker == worker and job.id not in self.locked_jobs]
        self._conclude([Report(job.id, str(job.token), "released", error="off") for job in held])

    def progress(self, token: str, begun: bool) -> str:
        job = self._holder(token)
        if job is None:
            return "lost"
        lapsed = job.lease_until is not None and job.lease_until < self.now
        if begun and job.begun is False and lapsed:
            return "lost"
        if self._stopped(job):
            return "cancel"
        if begun and job.begun is not None:
            job.begun = True
        return "ok"

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
        for job, report, _ in ended:
            if (report.outcome, report.reason) == ("lost", "crashed"):
                self.note_crash(job)
        events: dict[int, list[tuple[int, str]]] = {}
        for job, report, stopped in ended:
            self._end_attempt(job, report, stopped)
            if job.queue != ENGINE:
                self.reports[report.token] = report
            if job.run is not None:
                kinds = {"queued": "requeued", "scheduled": "requeued", "awaiting_input": "asked"}
                kind = kinds.get(job.status, job.status)
                events.setdefault(job.run, []).append((job.id, kind))
        left = self._dispatch(events)
        return {report.token for job, report, _ in ended if job.run in left}

    def _end_attempt(self, job: Job, report: Report, stopped: bool) -> None:
        job.token = job.lease_until = None
        self.runs_due = self.runs_due or (job.queue == ENGINE and job.node.limit is not None)
        job.attempts.append(report.outcome)
        outcome = report.outcome
        if outcome not in ("lost", "released", "cancelled"):
            self._count_end(job)
        job.failures += outcome in ("error", "tempfail", "fatal")
        maybe = job.begun is True and outcome in ("lost", "released")
        job.losses += outcome == "lost" or maybe
        if outcome == "lost" and job.worker in self.workers:
            job.avoids = (self.workers[job.worker].host, self.now + AVOID)
        if outcome == "completed":
            job.request_left = job.wanted_dead
            self._close(job, "completed")
            job.output, job.failed = report.output, False
            return
        if outcome != "released" or report.error is not None or maybe:
            job.failed = True
        final = outcome == "fatal" or maybe or (job.begun is True and outcome == "error")
        if job.begun and (outcome == "tempfail" or (outcome == "released" and not maybe)):
            job.begun = False
        if outcome == "cancelled" or stopped:
            self._close(job, "cancelled")
        elif final or self._spent(job, outcome):
            self._fail(job)
        elif outcome in ("lost", "released"):
            held = report.reason == "crashed" and self.is_held((str(job.queue), job.task))
            self._queue(job, front=not held)
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
