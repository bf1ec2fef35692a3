"""Nodes that take back what others did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from support.machine.state import OVER, Job, Run, State
from support.machine.workflows import ENGINE


class Compensations(State):
    """Nodes that take back what others did."""

    def _compensations(self, run: Run) -> list[Job]:
        jobs = [self.jobs[job_id] for job_id in run.nodes.values()]
        return [job for job in jobs if job.node.takes_back and job.parent is None]

    def _targets(self, run: Run, job: Job) -> list[Job]:
        return [self.jobs[run.nodes[name]] for name in job.node.takes_back]

    def _has_undone(self, run: Run, job: Job) -> bool:
        """Return True if there is something for a compensation node to take back."""
        return any(self._is_done(target) for target in self._targets(run, job))

    def _is_done(self, job: Job) -> bool:
        """Return True if it has completed, or an element of it if it is a map."""
        return "completed" in self._states(job)

    def _states(self, job: Job) -> set[str]:
        is_map = job.elements is not None and job.node.repeat is None
        elements = [self.jobs[job_id].status for job_id in job.elements or []] if is_map else []
        return {job.status, *elements}

    def _to_wake(self, run: Run) -> list[Job]:
        """Those that sleep, of nodes that completed or may yet complete."""
        idle = {"blocked", "skipped", "failed", "cancelled"}
        return [
            job for job in self._compensations(run)
            if job.status == "skipped"
            and set().union(*(self._states(one) for one in self._targets(run, job))) - idle
        ]  # fmt: skip

    def _wake_compensations(self, run: Run) -> bool:
        """They wait for what follows from the nodes that they take back."""
        woken = self._to_wake(run)
        for job in woken:
            job.status, job.finished_at = "blocked", None
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

    def _sleep(self, run: Run) -> None:
        for job in self._compensations(run):
            if job.status != "skipped":
                self._renew(job)
                self._forget_elements(run, job)
                job.status, job.output, job.finished_at = "skipped", None, self.now
            before = [self.jobs[run.nodes[name]] for name in job.node.after]
            job.missing = {d.id for d in before if d.status not in OVER}

    def _left_by(self, run: Run, job: Job) -> list[Job]:
        """Return the nodes that have not taken back what this one has done."""
        mine = [one for one in self._compensations(run) if job in self._targets(run, one)]
        left = [one for one in mine if one.status != "completed"]
        failed = any(one.status in ("failed", "cancelled") for one in left)
        return left if self._is_done(job) and (failed or len(left) == len(mine)) else []

    def _first(self, run: Run, again: list[Job]) -> list[Job]:
        """Return those that take back first what runs again."""
        left = [one.id for job in again for one in self._left_by(run, job)]
        return [one for one in self._compensations(run) if one.id in left]

    def _stands(self, run: Run, again: list[Job], name: str | None) -> bool:
        """Return True if something that was done is done again and nobody has taken it back."""
        return any(
            self._left_by(run, job) and not (
                self._resumes(run, job, again, name)
                and all(self.jobs[e].node.name != name for e in job.elements or [])
            )
            for job in again
        )  # fmt: skip

    def _refuses_compensation(
        self, run: Run, name: str | None, completed: str | None = None
    ) -> bool:
        """A compensation node that failed is named, or a node that it takes back is."""
        failed = self._failed_compensations(run)
        if any(job.node.name == name for job in self._compensations(run)):
            return not any(job.node.name == name for job in failed)
        return completed != "compensate" and any(name not in job.node.takes_back for job in failed)

    def _failed_compensations(self, run: Run) -> list[Job]:
        """Those of which nobody knows what they have taken back."""
        return [
            job for job in self._compensations(run)
            if job.status in ("failed", "cancelled") and self._has_undone(run, job)
        ]  # fmt: skip

    def _refuses_below(self, run: Run, again: list[Job], name: str | None) -> bool:
        """A compensation node of a run failed with which a step that runs again would go on."""
        steps = [job for job in again if job.elements is None]
        for job in again:
            if job.elements is not None and self._resumes(run, job, again, name):
                steps += [self.jobs[job_id] for job_id in job.elements]
        steps = [job for job in steps if job.node.name != name]
        return any(
            below.status in ("failed", "cancelled") and self._failed_compensations(below)
            for below in self._last_runs_below(steps)
        )

    def _last_runs_below(self, steps: Iterable[Job]) -> Iterator[Run]:
        """The last runs of these steps that failed or were cancelled, and of theirs."""
        for job in steps:
            below = self._last_run(job) if job.queue == ENGINE else None
            if below is None or job.status not in ("failed", "cancelled"):
                continue
            yield below
            nodes = [self.jobs[job_id] for job_id in below.nodes.values()]
            yield from self._last_runs_below([node for node in nodes if node.elements is None])

    def _forget_compensations(self, run: Run, name: str) -> None:
        """Nodes below a step that is named, which were not taken back, count as cancelled."""
        for below in list(self._last_runs_below([self.jobs[run.nodes[name]]])):
            self.touched.add(below.id)
            for job in self._failed_compensations(below):
                for target in self._targets(below, job):
                    parts = [target]
                    if target.status != "completed" and self._is_done(target):
                        parts += [self.jobs[job_id] for job_id in target.elements or []]
                    for part in parts:
                        if part.status == "completed":
                            part.status, part.output = "cancelled", None
                self._renew(job)
                job.status, job.output, job.finished_at = "skipped", None, self.now
