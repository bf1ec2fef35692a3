"""The jobs that a claim may return to a worker."""

from __future__ import annotations

from datetime import timedelta

from support import reference_model
from support.machine.state import (
    AFFINITY,
    ASLEEP,
    LEASE,
    PATIENCE,
    RATES,
    Job,
    Json,
    State,
    Worker,
    limit_of,
    require,
)


class Claims(State):
    """The jobs that a claim may return to a worker."""

    def claim(
        self,
        queue: str,
        worker: str,
        max_jobs: int,
        lease: timedelta | None,
        picked: set[int],
        tokens: dict[int, str],
    ) -> list[tuple[int, int, Json]]:
        """Jobs in the order handed out, with attempt and inputs.

        `picked` are the jobs that are not queued any more afterwards, `tokens` those handed out.
        """
        leaves = self._leaves(queue, worker)
        require(leaves != {True} or not picked, "what is left to a better worker", picked)
        if True in leaves and not picked:
            return []
        free = self._claimable(queue, worker)
        came = list(tokens)  # among equals, the choice is the database's
        free.sort(
            key=lambda j: (
                j.id not in picked, came.index(j.id) + 1 if j.id in came else 0, j.begun is None,
            )
        )  # fmt: skip
        self._put_in_order(free, self.workers.get(worker))
        if any(":" in (job.node.limit or "") for job in free):
            taken = self._in_turns(free, max_jobs, picked, came)
        else:
            taken = self._in_order(free, max_jobs)
        taken = self._not_ahead(taken)
        self._supersede(taken)
        require(picked == {j.id for j in taken}, "what is claimed", picked, [j.id for j in taken])
        handed = []
        for job in taken:
            job.attempt += 1
            job.run_next = False
            job.worker = worker
            if job.begun is not None:  # without writes_begun, the claim begins it
                known = self.workers.get(worker)
                job.begun = known is None or not known.writes_begun
            self._start(job)
            try:
                inputs = self._resolved(job)
            except reference_model.ReferenceFault:
                job.attempts.append("fatal")
                self._count_end(job)
                self._fail(job)
                job.stuck = job.status == "awaiting_input"
                assert job.run is not None
                kind = "asked" if job.status == "awaiting_input" else "failed"
                self.runs[job.run].pending.append((job.id, kind))
                continue
            job.status = "running"
            if has_rate(job):
                self.starts.append((job.node.limit, self.now))
            require(job.id in tokens, "what is claimed is handed out", job.id)
            job.token = tokens[job.id]
            job.lease_until = self.now + (lease or LEASE)
            handed.append((job.id, job.attempt, inputs))
        return handed

    def _not_ahead(self, taken: list[Job]) -> list[Job]:
        """Of what runs at most once the worker gets one, unless it begins a job of a rate."""
        room = max(1 - sum(map(has_rate, taken)), 0)
        once = [job for job in taken if job.begun is not None and not has_rate(job)]
        return [job for job in taken if job not in once[room:]]

    def _in_order(self, free: list[Job], max_jobs: int) -> list[Job]:
        """The first ones that the limits leave room for."""
        taken: list[Job] = []
        for job in free:
            if len(taken) < max_jobs and self._has_room(job, taken):
                taken.append(job)
        return taken

    def _in_turns(
        self, free: list[Job], max_jobs: int, picked: set[int], came: list[int]
    ) -> list[Job]:
        """The picked jobs, if they may be: keys take turns, and whose turn it is only the session
        knows. Priority comes before turns."""
        ours = sorted((j for j in free if j.id in picked), key=lambda j: [*came, j.id].index(j.id))
        taken = self._in_order(ours, max_jobs)
        dropped = [job for job in free if job not in taken and job.begun is not None]
        # one of a key, and one of a limit without keys, come along; only the first may start
        kinds = {":" in (job.node.limit or "") for job in free if has_rate(job)}
        gone = len(dropped) + (len(kinds) == 2 and any(map(has_rate, taken)))
        for left in [job for job in free if job not in taken]:
            if left in dropped or not self._has_room(left, taken):
                continue
            require(len(taken) + gone >= max_jobs, "what has room is claimed", left.id, picked)
            for job in taken:
                rank, other = (not left.run_next, left.priority), (not job.run_next, job.priority)
                require(other <= rank, "priority comes before turns", left.id, job.id)
        return taken

    def _claimable(self, queue: str, name: str) -> list[Job]:
        """Queued jobs that the worker may be handed; one that never registered does anything,
        but has no labels."""
        worker = self.workers.get(name)
        if queue in self.paused or (worker is not None and self.is_off(worker.host)):
            return []
        return [
            job
            for job in self.jobs.values()
            if job.queue == queue and job.id not in self.locked_jobs and self._fits(job, worker)
        ]

    def _fits(self, job: Job, worker: Worker | None) -> bool:
        return (
            job.status == "queued"
            and (bool(job.attempt) or not job.expires_at or job.expires_at > self.now)
            and (worker or Worker("", self.now)).could_run(job)
            and not (worker is not None and self._avoids(job, worker.host))
            and not self._waits_for_older(job)
        )

    def _waits_for_older(self, job: Job) -> bool:
        older = None if job.started else self._of_key(job.key, started=True)
        return older is not None and older.status in ("queued", "running")

    def _leaves(self, queue: str, name: str) -> set[bool]:
        """Return True if the worker leaves the first job that it could take to a better one. Both
        may be, because equals are in any order. What somebody has locked counts as well."""
        worker = self.workers.get(name)
        if queue != "cpu" or not self.packed or worker is None or self.is_off(worker.host):
            return {False}
        jobs = [j for j in self.jobs.values() if j.queue == queue and self._fits(j, worker)]
        jobs = [j for j in jobs if j.node.limit is None and queue not in self.paused]
        if queue not in self.paused and not self.locked_jobs:  # else its row may be locked, too
            self.in_vain.pop(name, None)
        first = min((j.order() for j in jobs), default=None)
        heads = [j for j in jobs if j.order() == first]
        return {answer for j in heads for answer in self._is_left(j, worker)} or {False}

    def _is_left(self, job: Job, worker: Worker) -> set[bool]:
        """Return True if the job is new, and a better worker that could run it is asleep; also
        False if two jobs may have been left in vain to each of those."""
        better = {
            name
            for name, since in self.asleep.items()
            if (other := self.workers.get(name)) is not None
            and since > self.now - ASLEEP
            and not (other.stopped or self.is_off(other.host))
            and other.is_better(worker)
            and self._fits(job, other)
        }
        if not better or job.queued_at is None:
            return {False}
        if job.queued_at <= self.now - PATIENCE:
            for name in better:  # of one of them, the best that still counts
                self.in_vain[name] = self.in_vain.get(name, 0) + 1
            return {False}
        return {True} if any(self.in_vain.get(name, 0) < 2 for name in better) else {True, False}

    def _avoids(self, job: Job, host: str) -> bool:
        """It was lost there not long ago, and somebody else could take it."""
        if job.avoids is None or job.avoids[0] != host or job.avoids[1] <= self.now:
            return False
        others = [w for w in self.live_workers(job.queue) if w.host != host]
        return any(other.could_run(job) for other in others)

    def _put_in_order(self, jobs: list[Job], worker: Worker | None) -> None:
        """The order in which a worker takes them, keeping that of equals."""
        jobs.sort(key=lambda j: j.place, reverse=worker is not None and worker.overflow)
        warm = None if worker is None else worker.model
        head = min(jobs, key=lambda j: j.order(), default=None)
        if head is not None and head.queued_at and self.now - head.queued_at >= AFFINITY:
            warm = None
        jobs.sort(key=lambda j: (self._affinity(j, warm), j.priority))

    def _affinity(self, job: Job, warm: str | None) -> int:
        """Among what a person has put first, no model is preferred."""
        if job.run_next:
            return 0
        return 1 if warm in (None, job.node.model) else 2

    def _has_room(self, job: Job, taken: list[Job]) -> bool:
        """Return True if the limits let it run beside what runs and what was just taken."""
        running = [j for j in self.jobs.values() if j.status == "running"] + taken
        full = self.room is not None and sum(j.queue == "cpu" for j in running) >= self.room
        limit = job.node.limit
        if limit is not None:
            most = self.limits[limit_of(limit)]
            if sum(j.node.limit == limit for j in running) >= most:
                return False
            if has_rate(job) and not self._may_start(limit, taken):
                return False
        return job.queue != "cpu" or not full

    def _may_start(self, limit: str, taken: list[Job]) -> bool:
        """Return True if its rate allows one more start; a claim takes one job of a rate, as it
        does not say how many could begin now."""
        starts, per = RATES[limit_of(limit)]
        used = sum(name == limit and at > self.now - per for name, at in self.starts)
        return used < starts and not any(map(has_rate, taken))


def has_rate(job: Job) -> bool:
    return job.node.limit is not None and limit_of(job.node.limit) in RATES
