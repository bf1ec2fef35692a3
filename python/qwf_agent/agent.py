"""The agent: one loop that claims jobs, has children run them, and reports how they ended.

It runs no user code, holds no transaction while a body runs, and never waits for one thing alone: a slow database does not
keep it from killing a body, a busy body not from renewing a lease."""

from __future__ import annotations

import json
import logging
import os
import random
import selectors
import time
from collections import deque

from qwf_agent import __version__, db, oom, watchdogs
from qwf_agent.child import Setup
from qwf_agent.claim import Claim
from qwf_agent.command import TASK as COMMAND
from qwf_agent.link import Call, Link
from qwf_agent.options import Limits, Options
from qwf_agent.outcome import Outcome, of_death
from qwf_agent.pace import BATCH_S, Pace
from qwf_agent.reporter import Reporter
from qwf_agent.signals import Signals
from qwf_agent.slot import Answer, Death, Slot
from qwf_agent.worker import Worker, read_settings

log = logging.getLogger("qwf_agent")

STOPPED, NO_DATABASE, MISCONFIGURED = 0, 69, 78
LOOK_S = 0.2  # longest wait while bodies run: how late a watchdog may be
IDLE_S = 1.0
PROGRESS_S = 0.5
STUCK_S = 1.0  # a body that runs longer holds up the jobs behind it: they go elsewhere
LAST_WORDS_S = 10.0  # after the bodies have ended, for reports to get through
SOFT_DEADLINE_S, DURABLE_DEADLINE_S = 10.0, 60.0
RELEASED = Outcome("released")


class Leave(Exception):
    """The agent cannot start: exit code and, for people, why."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """Everything an agent process has, and the loop.

    Invariant: every claim it holds is in the backlog, in a slot, or with the reporter, and has its lease renewed.
    """

    def __init__(self, options: Options, tasks: list[str]) -> None:
        name = f"qwf agent {options.host} {','.join(options.queues)}"
        self.options = options
        self.tasks = tasks
        self.selector = selectors.DefaultSelector()
        self.signals = Signals(self.selector)
        self.soft = Link(options.dsn, name, self.selector, SOFT_DEADLINE_S)
        self.durable = Link(options.dsn, name, self.selector, DURABLE_DEADLINE_S)
        self.reporter = Reporter(self.durable)
        self.pace = Pace(options.batch)
        self.workers: list[Worker] = []
        self.slots: list[Slot] = []
        self.backlog: deque[Claim] = deque()
        self.ticking: Call | None = None
        self.beats: list[tuple[Claim, Call]] = []
        self.tick_at = self.progress_at = 0.0
        self.kill_at = self.give_up_at = float("inf")
        self.draining = False
        self.now = time.monotonic()

    def run(self) -> int:
        """Serve until asked to stop; the exit code."""
        try:
            self.start()
        except Leave as leave:
            log.error("%s", leave) if leave.code else log.info("stopped before it started")
            return leave.code
        while not self.finished():
            self.wait()
            self.heed_signals()
            self.reap()
            self.watch()
            self.heartbeat()
            self.claim()
            self.hand_out()
            self.report()
            self.tick()
        return self.stop()

    def start(self) -> None:
        """Find a database with a schema this agent speaks, register, and fork the children. Raises Leave."""
        give_up_at = self.now + self.options.wait
        version = self.ask(db.version(), give_up_at)
        if version.split(".")[0] != __version__.split(".")[0]:
            raise Leave(MISCONFIGURED, f"the database has schema version {version}, this agent speaks {__version__}")
        for queue in self.options.queues:
            self.workers.append(self.register(queue, give_up_at))
        self.slots = [self.new_slot() for _ in range(self.options.slots)]
        log.info("serving %s with %d slots", ", ".join(self.options.queues), len(self.slots))

    def ask(self, query: db.Query, give_up_at: float) -> str:
        """The value of a query without which there is no start: waits for the database, and for the schema. Raises Leave."""
        code, trouble = NO_DATABASE, "no database"
        while self.now < give_up_at:
            call = self.durable.send(query)
            while not call.done:
                self.wait_to_start()
            if call.failure is None:
                return str(call.value())
            if not call.failure.lost and call.failure.sqlstate not in NO_SCHEMA:
                raise Leave(MISCONFIGURED, str(call.failure))
            if call.failure.lost:
                code, trouble = NO_DATABASE, f"no database: {self.durable.trouble or call.failure}"
            else:
                code, trouble = MISCONFIGURED, f"no qwf schema in this database ({call.failure}): run qwf migrate deploy"
            self.wait_to_start()
        raise Leave(code, trouble)

    def wait_to_start(self) -> None:
        """Let a little happen. Raises Leave when asked to stop."""
        self.wait(self.now + LOOK_S)
        if self.signals.stops:
            raise Leave(STOPPED)

    def register(self, queue: str, give_up_at: float) -> Worker:
        """Announce this process to the database as a worker on the queue."""
        settings = read_settings(self.ask(db.agent_settings(queue), give_up_at))
        tasks = [*self.tasks, *([COMMAND] if self.options.allow_commands else [])]
        info = {"pid": os.getpid(), "version": __version__, "slots": self.options.slots, "tasks": tasks}
        worker_id = self.ask(db.register_worker(self.options.host, queue, json.dumps(info)), give_up_at)
        self.soft.listen(self.ask(db.wake_channel(worker_id), give_up_at))
        return Worker(worker_id, queue, settings, self.soft, self.options.lease, self.options.poll)

    def new_slot(self) -> Slot:
        """A slot; its child is forked when the loop first reaps."""
        settings = self.workers[0].settings
        limits = Limits(settings.max_value_bytes, settings.max_error_bytes, settings.max_log_bytes)
        options = self.options
        setup = Setup(
            options.app, options.nodes, options.out_root, options.allow_commands, visible_devices(options.gpu), limits
        )
        return Slot(self.selector, setup, 1 if options.fresh else options.recycle_jobs)

    def wait(self, until: float | None = None) -> None:
        """Wait for something to happen: an answer, a wake-up, a signal, or the time for something."""
        until = self.next_at() if until is None else until
        for key, _ in self.selector.select(max(0.0, until - time.monotonic())):
            key.data()
        self.now = time.monotonic()
        self.soft.step(self.now)
        self.durable.step(self.now)
        while self.soft.notifications:
            payload = self.soft.notifications.popleft()
            for worker in self.workers:
                worker.beat_now() if payload == "cancel" else worker.look_now()

    def next_at(self) -> float:
        """When the loop has something to do, if nothing happens before."""
        busy = self.draining or self.backlog or any(slot.claims or not slot.ready for slot in self.slots)
        times = [self.soft.next_at(), self.durable.next_at(), self.tick_at, self.now + (LOOK_S if busy else IDLE_S)]
        room = self.room()
        return min(times + [worker.next_at(room) for worker in self.workers])

    def heed_signals(self) -> None:
        """The first SIGTERM drains, a second or the end of the grace kills; SIGHUP renews the children."""
        if self.signals.take_hangup():
            for slot in self.slots:
                slot.retire()
        if self.signals.stops and not self.draining:
            self.drain()
        if self.draining and (self.signals.stops > 1 or self.now >= self.kill_at):
            self.kill_at = float("inf")
            self.kill_all()

    def drain(self) -> None:
        """Claim no more, hand back what has not started, let the rest finish."""
        log.info("stopping: waiting for %d bodies", sum(1 for slot in self.slots if slot.claims))
        self.draining = True
        grace = self.options.grace
        self.kill_at = self.now + (self.workers[0].settings.stop_grace if grace is None else grace)
        for slot in self.slots:
            self.backlog.extend(slot.take_back())
        self.release(self.backlog)

    def kill_all(self) -> None:
        """End every body now; its job is released."""
        for slot in self.slots:
            for claim in slot.claims:
                claim.fate = claim.fate or RELEASED
            slot.kill()
        self.signals.stops = 1

    def reap(self) -> None:
        """Take in what children said and how they died; fork new ones."""
        for slot in self.slots:
            for answer in slot.answers():
                self.conclude(answer)
            death = slot.reap()
            if death is not None:
                self.bury(death)
            if not self.draining:
                self.spawn(slot)

    def spawn(self, slot: Slot) -> None:
        """Fork a child if the slot has none."""
        try:
            slot.spawn(self.now)
        except OSError as error:
            log.error("cannot fork: %s", error)

    def conclude(self, answer: Answer) -> None:
        """A body has ended by itself."""
        claim, outcome = answer.claim, answer.outcome
        self.pace.saw(claim.task, answer.seconds)
        if claim.cancelled:
            outcome = Outcome("cancelled", detail=outcome.detail)
        self.tell(claim, outcome, answer.log)

    def bury(self, death: Death) -> None:
        """A child has died: so has the job it was running, and nobody else's."""
        for answer in death.answers:
            self.conclude(answer)
        self.backlog.extendleft(reversed(death.unstarted))
        if self.draining:
            self.release(self.backlog)
        claim, oom_kills = death.running, oom.kills()
        outcome = of_death(death.exit.status, oom_kills > self.oom_kills)
        self.oom_kills = oom_kills
        if claim is None:
            if not death.expected and not self.draining:
                log.warning("a child died between jobs: %s\n%s", outcome.error, death.log)
            return
        outcome = claim.fate or (Outcome("cancelled") if claim.cancelled else outcome)
        detail = {**outcome.detail, "max_rss_bytes": death.exit.max_rss_bytes}
        self.tell(claim, outcome._replace(detail=detail), death.log)

    def tell(self, claim: Claim, outcome: Outcome, log_tail: str = "") -> None:
        """Hand an outcome to the reporter, unless the job is another worker's by now."""
        if not claim.dropped:
            log.debug("job %d %s: %s %s", claim.job_id, claim.task, outcome.outcome, outcome.error or "")
            self.reporter.add(claim, outcome, log_tail, self.options.host)

    def release(self, claims: deque[Claim]) -> None:
        """Give these jobs back to the database, for any worker; nothing is counted."""
        while claims:
            self.tell(claims.popleft(), RELEASED)

    def watch(self) -> None:
        """Kill what a watchdog says, or what was told to stop and did not; do not let jobs wait behind a long body."""
        for slot in self.slots:
            if not slot.claims:
                continue
            claim, seconds = slot.claims[0], slot.running_for(self.now)
            if seconds > STUCK_S and len(slot.claims) > 1:
                self.backlog.extendleft(reversed(slot.take_back()))
            if claim.fate is None and not claim.dropped:
                claim.fate = self.fate(claim, seconds)
                if claim.fate is not None:
                    slot.kill()
        self.release_stranded()

    def fate(self, claim: Claim, seconds: float) -> Outcome | None:
        """How a running job has to end now, if it has to."""
        if self.now >= claim.kill_at:
            return Outcome("cancelled", error="killed: it did not stop when it was told to")
        trip = watchdogs.check(claim, seconds)
        return Outcome("lost", error=trip.error, detail={"reason": trip.reason}) if trip else None

    def release_stranded(self) -> None:
        """Give back jobs that no child could start soon."""
        hopeful = any(slot.ready and slot.running_for(self.now) <= STUCK_S for slot in self.slots)
        if hopeful or not self.backlog:
            self.stranded_at = self.now
        elif self.now > self.stranded_at + STUCK_S:
            self.release(self.backlog)

    def heartbeat(self) -> None:
        """Renew every lease, pass on progress, and heed what the database says about each job."""
        claims = {claim.token: claim for claim in self.held()} if self.beat_due() else {}
        for worker in self.workers:
            worker.beat(claims.values(), self.now)
            for token, verdict in worker.verdicts(self.now).items():
                self.heed(token, verdict)
        if self.now >= self.progress_at:
            self.progress_at = self.now + PROGRESS_S
            self.send_progress()
        for claim, call in [sent for sent in self.progress_sent if sent[1].done]:
            self.progress_sent.remove((claim, call))
            self.heed(claim.token, str(call.value()))
