"""Tasks that kill the process in which they run, and are held back for it."""

from __future__ import annotations

from datetime import timedelta

from support.machine.state import NOT_FOUND, STALE, Crashed, Job, Refused, State, require

HOLD, MOST, MEMORY = timedelta(minutes=5), timedelta(hours=1), timedelta(hours=1)

Of = tuple[str, str]  # a queue and a task
Trial = tuple[int, int]  # a job and the attempt of it that runs alone


class Holds(State):
    """Tasks that kill the process in which they run, and are held back for it."""

    def note_crash(self, job: Job) -> None:
        """Two boxes, or four times where nobody else could take it, hold the task back; so does
        the crash of the job that ran alone, for twice as long."""
        of, worker = (str(job.queue), job.task), self.workers.get(job.worker or "")
        host, ends = worker.host if worker else str(job.worker), self.ends.get(of, 0)
        known = self.crashed.get(of)
        if known is None or not (
            known.until or (known.ends == ends and known.at > self.now - MEMORY)
        ):
            holds = known.holds if known else 0
            known = self.crashed[of] = Crashed(set(), 0, ends, self.now, holds=holds)
        known.hosts.add(host)
        known.crashes, known.ends, known.at = known.crashes + 1, ends, self.now
        others = any(
            w.host != host and not w.stopped and w.seen > self.now - STALE
            and (w.tasks is None or job.task in w.tasks)
            for w in self.workers.values()
        ) and job.queue == "cpu"  # fmt: skip
        if known.until:
            held = known.trial == (job.id, job.attempt)
        else:
            held = len(known.hosts) > 1 or (known.crashes > 3 and not others)
        if held:
            known.until = self.now + min(HOLD * 2**known.holds, MOST)
            known.holds, known.trial = known.holds + 1, None
            self.spread_holds(of[0])

    def is_held(self, of: Of) -> bool:
        return of in self.crashed and self.crashed[of].until is not None

    def spread_holds(self, queue: str) -> None:
        """Workers know what is held back."""
        held = frozenset(task for q, task in self.crashed if q == queue and self.is_held((q, task)))
        for worker in self.workers.values():
            if queue == "cpu" and not worker.stopped:
                worker.held = held

    def free_tasks(self, queue: str, tasks: list[str]) -> int:
        """The next tick lets one job of each run alone."""
        freed = [self.crashed[queue, t] for t in tasks if self.is_held((queue, t))]
        for one in freed:
            assert one.until is not None
            one.until = min(one.until, self.now)
        return len(freed)

    def resume_task(self, queue: str, task: str) -> Refused | None:
        return None if self.free_tasks(queue, [task]) else NOT_FOUND

    def try_held_tasks(self, trials: dict[Of, Trial | None]) -> None:
        """One job runs alone when the time is over; if it does not crash, the hold ends. `trials`
        are those that the database has chosen."""
        for of, known in sorted(self.crashed.items()):
            job = self.jobs.get(known.trial[0]) if known.trial else None
            if known.until is None:
                if known.at <= self.now - MEMORY:
                    del self.crashed[of]
            elif known.until <= self.now and not self._goes_on(of[0], known, job):
                if known.trial and (job is None or job.attempt >= known.trial[1]):
                    del self.crashed[of]
                else:
                    known.trial = self._chosen(of, trials.get(of))
                self.spread_holds(of[0])

    def _goes_on(self, queue: str, known: Crashed, job: Job | None) -> bool:
        """It runs, or comes next."""
        if known.trial is None or job is None:
            return False
        waits = (job.status, job.queue, job.run_next) == ("queued", queue, True)
        runs = job.status == "running" and job.attempt == known.trial[1]
        return runs or (waits and job.attempt < known.trial[1])

    def _chosen(self, of: Of, trial: Trial | None) -> Trial | None:
        """The first that waits, one of those that are equal."""
        waiting = [
            job
            for job in self.jobs.values()
            if (job.queue, job.task, job.status) == (*of, "queued")
            and job.id not in self.locked_jobs
        ]
        first = min(((job.priority, job.place) for job in waiting), default=None)
        heads = [job for job in waiting if (job.priority, job.place) == first]
        wanted = {(job.id, job.attempt + 1) for job in heads} or {None}
        require(trial in wanted, "who runs alone is, is to be", of, trial, wanted)
        if trial is not None:
            self.jobs[trial[0]].run_next = True
        return trial
