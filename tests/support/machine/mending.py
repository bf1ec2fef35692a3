"""Retries: what failed runs again."""

from __future__ import annotations

from collections.abc import Iterable

from support.machine.state import (
    INVALID,
    KEY_TAKEN,
    NOT_FOUND,
    OVER,
    WRONG_STATE,
    Job,
    Refused,
    Run,
    State,
    Verdicts,
    _word,
    limit_of,
)
from support.machine.workflows import DEADLINES


class Mending(State):
    """Retries: what failed runs again."""

    def retry_jobs(self, listed: Iterable[int]) -> Verdicts:
        """Jobs before runs, each in the order of their keys; a run once for all its nodes."""
        known = [self.jobs[job_id] for job_id in sorted(set(listed)) if job_id in self.jobs]
        ended = [job for job in known if job.status in ("failed", "cancelled")]
        verdicts: Verdicts = {}
        for job in sorted(
            (job for job in ended if job.run is None),
            key=lambda job: (job.task, job.key is None, job.key or "", job.id),
        ):
            answer = WRONG_STATE if job.begun else self.retry_job(job.id)
            verdicts[job.id] = _word(answer or "retried")
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

    def retry_run(
        self, run_id: int, name: str | None, completed: str | None = None
    ) -> int | Refused:
        run = self.runs.get(run_id)
        if run is None:
            return NOT_FOUND
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        over = not run.live and all(job.status in OVER for job in jobs)
        if not over and not self._only_asks(run, jobs, name, completed):
            return WRONG_STATE
        if run.parent is not None and not run.in_line:
            return WRONG_STATE
        if not self._has_limits(run.workflow) or (name is not None and name not in run.nodes):
            return NOT_FOUND
        undoes = any(job.node.name == name for job in self._compensations(run))
        if self._refuses_compensation(run, name, completed) or (undoes and run.in_line):
            return WRONG_STATE
        again = self.to_retry(run, name, completed=completed)
        if (not again and run.nodes) or self._refuses_below(run, again, name):
            return WRONG_STATE
        if not run.once and self._run_key_holder(run.workflow, run.key) is not None:
            return KEY_TAKEN
        if self._stands(run, again, name) != (completed is not None):
            return WRONG_STATE if completed is None else INVALID
        if run.in_line:
            return self._line_up_again(run, again, name, completed)
        self._mend(run, again, name, completed)
        return len(again)

    def _only_asks(
        self, run: Run, jobs: list[Job], name: str | None, completed: str | None
    ) -> bool:
        """Return True if a live run only waits for answers, and the named node has ended."""
        return (
            run.status == "awaiting_input"
            and run.parent is None
            and run.then is None
            and any(job.node.name == name and job.status in OVER for job in jobs)
            and completed != "compensate"
            and all(
                job.status in OVER
                or (job.status == "awaiting_input" and job.node.question is not None)
                or (job.status == "blocked" and job.elements is None)
                for job in jobs
            )
        )

    def _mend(
        self, run: Run, again: list[Job], name: str | None, completed: str | None = None
    ) -> None:
        """Lets a run that is over go on with these nodes, or first with those that take back."""
        first = self._first(run, again) if completed == "compensate" else []
        if name is not None and not first:
            self._forget_compensations(run, name)
        self._taken(run.id)
        resumed = [job for job in again if not first and self._resumes(run, job, again, name)]
        again = first or again
        goes_on = run.then is not None or run.status == "awaiting_input"
        run.then = (name,) if first else None
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
        undoes = not first and again == [job for job in again if job.node.takes_back]
        ending = run.status if undoes else None
        if not first and not undoes:
            self._sleep(run)
        run.status, run.started = "queued", False
        run.finished_at, run.ending = None, ending
        if run.workflow in DEADLINES and not goes_on:
            run.deadline = self.now + self._time(run.workflow)
        ready = [job for job in again if not job.missing]
        for job in ready:
            if not job.node.looked_at:
                self._queue(job)
        self._apply(run, [(job.id, "ready") for job in ready if job.node.looked_at])

    def _resumes(self, run: Run, job: Job, again: list[Job], name: str | None) -> bool:
        """Return True if a map keeps the elements that completed."""
        if job.elements is None or job.node.name == name:
            return False
        undone = [one for one in self._compensations(run) if one.status == "completed"]
        if self._is_done(job) and any(job in self._targets(run, one) for one in undone):
            return False
        if any(self.jobs[run.nodes[before]] in again for before in job.node.after):
            return False
        elements = [self.jobs[job_id] for job_id in job.elements]
        if job.node.repeat is not None and len(elements) >= job.node.repeat["max"]:
            again = [e for e in elements if e.status in ("failed", "cancelled")]
            if not again and all(e.node.name != name for e in elements):
                return False
        return not any(e.stuck or (e.status == "failed" and e.attempt == 0) for e in elements)

    def _resume(self, job: Job, name: str | None) -> None:
        assert job.elements is not None
        names = [self.jobs[job_id].node.name for job_id in job.elements]
        if job.node.repeat is not None and name in names:
            self._drop_elements(job, job.elements[names.index(name) + 1 :])
        for element in (self.jobs[job_id] for job_id in job.elements):
            if element.status in ("failed", "cancelled") or element.node.name == name:
                self._renew(element)
                element.status, element.output = "blocked", None
        job.missing = {e for e in job.elements if self.jobs[e].status == "blocked"}
        self._open_elements(job)

    def _go_on(self, run: Run) -> None:
        """It has taken back what its retry runs again."""
        assert run.then is not None
        (name,) = run.then
        again = self.to_retry(run, name)
        failed = self._failed_compensations(run)
        if failed or not again:
            run.then = None
            run.status, run.finished_at = "failed" if failed else "completed", self.now
        else:
            self._jam()
            self._mend(run, again, name)

    def to_retry(
        self, run: Run, name: str | None, changed: Iterable[str] = (), completed: str | None = None
    ) -> list[Job]:
        """Nodes that failed, were cancelled or have changed, the named one, and all that follow.

        An element stands for its map. What is taken back first runs again.
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
                done = [one for one in self._targets(run, job) if self._is_done(one)]
                names |= {target.node.name for target in done}
        names |= set(changed)
        if name is not None:
            parent = self.jobs[run.nodes[name]].parent
            names.add(name if parent is None else self.jobs[parent].node.name)
        if completed == "compensate":
            failed = self._failed_compensations(run)
            names |= {one.node.name for job in failed for one in self._targets(run, job)
                      if self._is_done(one)}  # fmt: skip
        while True:
            for job in jobs:  # each comes after those it depends on
                if names & set(job.node.after):
                    names.add(job.node.name)
            again = [job for job in jobs if job.node.name in names]
            more = self._first(run, again) if completed == "compensate" else []
            done = {one.node.name for job in more for one in self._targets(run, job)
                    if self._is_done(one)}  # fmt: skip
            if done <= names:
                break
            names |= done
        return again
