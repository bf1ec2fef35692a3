"""Nodes of which there are many: the elements of a map."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

from support import reference_model
from support.machine.state import OVER, Job, Json, Run, State, truth


class Maps(State):
    """Nodes of which there are many: the elements of a map."""

    def _expand(self, run: Run, job: Job, scope: Json) -> list[Job]:
        """Makes the elements of a map."""
        each = reference_model.resolve(job.node.each, scope)
        if not isinstance(each, list):
            self._jam()
            self._refuse(job)
            return [job] if job.status in OVER else []
        job.elements = []
        for item in each:
            self._add_element(job, item, scope, None)
        return self._judge(job)

    def _add_element(self, job: Job, item: Json, scope: Json, wait: timedelta | None) -> None:
        """Make the next element of a map, or the next turn of a repeat, which starts after this."""
        assert job.elements is not None
        assert job.run is not None
        place, run = len(job.elements), self.runs[job.run]
        self.unnamed -= 1
        node = replace(
            job.node, name=f"{job.node.name}[{place}]", after=(), skip_if=None, each=None,
            repeat=None, delay=None, on_failure="ask" if job.node.on_failure == "ask" else "fail",
        )  # fmt: skip
        element = Job(self.unnamed, "blocked", job.task, job.queue, job.priority, run.id, node)
        element.parent = job.id
        self.jobs[element.id] = element
        run.nodes[node.name] = element.id
        job.elements.append(element.id)
        try:
            here = {**scope, "$item": item, "$index": place}
            element.inputs = reference_model.resolve(job.node.inputs, here)
            job.missing.add(element.id)
            if wait is not None:
                self._enter(element, self.now + wait if wait else None)
        except reference_model.ReferenceFault:
            self._refuse(element)
            job.missing |= {element.id} if element.stuck else set()

    def _judge(self, job: Job) -> list[Job]:
        """Ends a map, or opens as many elements as may run at once; the map, if it has ended."""
        assert job.elements is not None
        if job.node.repeat is not None and not job.missing:
            return self._judge_turn(job)
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
            self._open_elements(job)
            return []
        return [job]

    def _open_elements(self, job: Job) -> None:
        """Opens as many of them as may run at once."""
        elements = [self.jobs[job_id] for job_id in job.elements or []]
        waiting = [e for e in elements if e.status == "blocked"]
        busy = sum(e.id in job.missing and not e.stuck for e in elements) - len(waiting)
        for element in waiting[: (job.node.max_parallel or len(waiting)) - busy]:
            if element.id > 0:
                self._jam()
            self._queue(element)

    def _judge_turn(self, job: Job) -> list[Job]:
        """Ends a repeat whose last turn is over, or begins the next; it, if it has ended."""
        assert job.elements is not None
        assert job.run is not None
        scope, repeat = self._scope(self.runs[job.run]), job.node.repeat
        last, turn = self.jobs[job.elements[-1]], len(job.elements) - 1
        done, failed = False, last.status in ("failed", "cancelled")
        try:
            if not failed:
                here = {**scope, "$item": last.output, "$index": turn}
                done = truth(reference_model.resolve(repeat["until"], here))
        except reference_model.ReferenceFault:
            failed = True
        if done:
            self._jam()
            self._close(job, "completed")
            job.output, job.failed = last.output, False
        elif failed or turn + 1 >= repeat["max"]:
            self._jam()
            self._close(job, "failed")
        else:
            wait = timedelta(seconds=float(repeat.get("every", "0 s").removesuffix(" s")))
            self._add_element(job, last.output, scope, wait)
            return [] if job.missing else self._judge_turn(job)
        return [job]

    def _needed(self, job: Job) -> int:
        assert job.elements is not None
        least, count = job.node.min_success, len(job.elements)
        if least is None or count == 0:
            return count
        if isinstance(least, str):
            return math.ceil(count * int(least.removesuffix("%")) / 100)
        return least

    def _settled_maps(self, ended: list[Job]) -> list[Job]:
        """Maps that ended with these elements; of the others, the next elements are opened."""
        maps = {job.parent: self.jobs[job.parent] for job in ended if job.parent is not None}
        return [o for job in maps.values() if job.status == "blocked" for o in self._judge(job)]

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

    def _forget_elements(self, run: Run, job: Job) -> None:
        self._drop_elements(job, list(job.elements or []))
        job.elements = None

    def _drop_elements(self, job: Job, dropped: list[int]) -> None:
        assert job.run is not None
        run = self.runs[job.run]
        for job_id in dropped:
            assert job.elements is not None
            job.elements.remove(job_id)
            self._delete_runs_below([job_id])
            del run.nodes[self.jobs.pop(job_id).node.name]
            for token in [t for t, report in self.reports.items() if report.job == job_id]:
                del self.reports[token]
