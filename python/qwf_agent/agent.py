"""The agent: one loop that claims jobs, has children run them, and reports how they ended.

It runs no user code, holds no transaction while a body runs, and never waits for one thing
alone: a slow database does not keep it from killing a body, nor a busy body from renewing a
lease.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import time
from collections import deque

from qwf_agent import __version__, db, oom, watchdogs
from qwf_agent.child import Setup
from qwf_agent.claim import Claim
from qwf_agent.command import TASK as COMMAND
from qwf_agent.jitter import spread
from qwf_agent.link import Call, Link
from qwf_agent.options import Limits, Options
from qwf_agent.outcome import Outcome, of_death, render
from qwf_agent.pace import Pace
from qwf_agent.progress import ProgressSender
from qwf_agent.reporter import Reporter
from qwf_agent.signals import Signals
from qwf_agent.slot import Answer, Death, Slot
from qwf_agent.slots import Slots
from qwf_agent.worker import Worker, read_settings

log = logging.getLogger("qwf_agent")

STOPPED, NO_DATABASE, MISCONFIGURED = 0, 69, 78
NO_SCHEMA = ("3F000", "42883", "42P01")  # SQLSTATE of a database that is not deployed yet
LOOK_S = 0.2  # longest wait while bodies run: how late a watchdog may be
IDLE_S = 1.0
GATHER_S = 0.001
STUCK_S = 1.0  # jobs do not wait behind a body that runs longer
LAST_WORDS_S = 10.0  # for reports to get through once the bodies have ended
SOFT_DEADLINE_S, DURABLE_DEADLINE_S = 10.0, 60.0
RELEASED = Outcome("released")


class Leave(Exception):
    """The agent cannot start: exit code and, for people, why."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """What an agent process has, and its loop.

    Invariant: every claim it holds is in the backlog, in a slot, or with the reporter, and has
    its lease renewed.
    """

    def __init__(self, options: Options, tasks: list[str]) -> None:
        name = f"qwf agent {options.host} {','.join(options.queues)}"
        self.options = options
        self.tasks = tasks + ([COMMAND] if options.allow_commands else [])
        self.selector = selectors.DefaultSelector()
        self.signals = Signals(self.selector)
        self.soft = Link(options.dsn, name, self.selector, SOFT_DEADLINE_S)
        self.durable = Link(options.dsn, name, self.selector, DURABLE_DEADLINE_S)
        self.reporter = Reporter(self.durable)
        self.progress = ProgressSender(self.soft)
        self.workers: deque[Worker] = deque()
        self.slots = Slots([], Pace(options.batch))
        self.ticking: Call | None = None
        self.tick_at = 0.0
        self.said = ""
        self.draining = False
        self.kill_at = self.give_up_at = float("inf")
        self.oom_kills = oom.kills()
        self.now = self.hopeful_at = time.monotonic()

    def run(self) -> int:
        """Serve until asked to stop; the exit code."""
        try:
            self.start()
        except Leave as leave:
            log.error("%s", leave) if leave.code else log.info("asked to stop before it started")
            self.stop()
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

    # The steps of the loop, in their order.

    def wait(self, until: float | None = None) -> None:
        """Wait for something to happen: an answer, a wake-up, a signal, or the time for
        something."""
        self.soft.step(self.now)
        self.durable.step(self.now)
        until = self.next_at() if until is None else until
        if self.reporter.busy() and self.slots.all_have_work():
            time.sleep(GATHER_S)  # nothing can be done with one more answer: let some come together
        for key, _ in self.selector.select(max(0.0, until - time.monotonic())):
            key.data()
        self.now = time.monotonic()
        while self.soft.notifications:
            payload = self.soft.notifications.popleft()
            for worker in self.workers:
                worker.told(payload)

    def heed_signals(self) -> None:
        """The first SIGTERM drains, a second one or the end of the grace kills; SIGHUP renews
        the children."""
        if self.signals.take_hangup():
            for slot in self.slots:
                slot.retire()
        if self.signals.stops and not self.draining:
            self.drain()
        if self.draining and (self.signals.take_second_stop() or self.now >= self.kill_at):
            self.kill_all()

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

    def watch(self) -> None:
        """Kill what a watchdog says, or what was told to stop and did not; let no job wait
        behind a long body."""
        for slot in self.slots:
            seconds = slot.running_for(self.now)
            if seconds > STUCK_S and len(slot.claims) > 1:
                self.slots.take_back(slot)
            if slot.is_overdue(self.now):
                log.error("a child has been importing the app for too long: killed")
                slot.kill()
            if slot.claims and slot.claims[0].fate is None:
                slot.claims[0].fate = self.fate(slot.claims[0], seconds)
                if slot.claims[0].fate is not None:
                    slot.kill()
        self.release_stranded()

    def heartbeat(self) -> None:
        """Renew every lease, pass on progress, and heed what the database says about each job."""
        for worker in self.workers:
            if worker.beat_due(self.now):
                worker.beat([*self.slots.claims(), *self.reporter.claims()], self.now)
            for token, verdict in worker.verdicts(self.now).items():
                claim = self.slots.find(token) if verdict != "ok" else None
                self.heed(claim, verdict)
        for claim, verdict in self.progress.step(self.slots, self.now):
            self.heed(claim, verdict)

    def claim(self) -> None:
        """Claim while there is room. Workers take turns, so that one busy queue does not starve
        the others."""
        for worker in self.workers:
            self.slots.backlog.extend(worker.claimed(self.now))
        held_up = self.draining or self.reporter.is_behind()
        room = 0 if held_up else self.slots.room(self.now)
        asked = sum(worker.asked for worker in self.workers)
        for worker in self.workers:
            worker.look(room, max(0, room - asked), self.now)
            asked += worker.asked
        self.workers.rotate()

    def hand_out(self) -> None:
        """Give the children what they can take; once draining, nothing."""
        if self.draining:
            self.release_backlog()
        else:
            self.slots.hand_out()

    def report(self) -> None:
        """Send what has ended, and take in the answers."""
        self.reporter.step(self.now)

    def tick(self) -> None:
        """Have the engine do its chores about once a second, and when the next job falls due."""
        if self.ticking is not None and self.ticking.done:
            call, self.ticking = self.ticking, None
            if call.failure is not None and not call.failure.lost:
                log.warning("tick failed: %s", call.failure)
            due_s = json.loads(call.value() or "{}").get("next_due_s")
            if due_s:
                self.tick_at = min(self.tick_at, self.now + max(0.01, float(due_s)))
        if self.ticking is None and self.now >= self.tick_at and self.durable.up:
            self.tick_at = self.now + spread(self.workers[0].settings.tick)
            self.ticking = self.durable.send(db.tick())

    # What may happen to a job.

    def conclude(self, answer: Answer) -> None:
        """Its body has ended by itself."""
        claim = answer.claim
        self.slots.pace.saw(claim.task, answer.seconds)
        if claim.cancelled:
            self.tell(claim, Outcome("cancelled", error="cancelled while it ran"), answer.log)
        elif not claim.dropped:
            log.debug(
                "job %d %s: %s in %.3f s", claim.job_id, claim.task, answer.outcome, answer.seconds
            )
            self.reporter.add(claim, answer.rendered, answer.log)

    def bury(self, death: Death) -> None:
        """Its child has died, and with it the job that was running, but nobody else's."""
        for answer in death.answers:
            self.conclude(answer)
        self.slots.backlog.extendleft(reversed(death.unstarted))
        kills, before = oom.kills(), self.oom_kills
        self.oom_kills = kills
        outcome, claim = of_death(death.exit.status, out_of_memory=kills > before), death.running
        if claim is not None:
            outcome = claim.fate or outcome
            detail = {**outcome.detail, "max_rss_bytes": death.exit.max_rss_bytes}
            self.tell(claim, outcome._replace(detail=detail), death.log)
        elif not death.expected and not self.draining:
            log.warning("a child died without a job: %s\n%s", outcome.error, death.log)

    def fate(self, claim: Claim, seconds: float) -> Outcome | None:
        """It has to be killed now: how that counts. None: it may go on."""
        if self.now >= claim.kill_at:
            return Outcome("cancelled", error="cancelled, and killed because it did not stop")
        trip = watchdogs.check(claim, seconds)
        return Outcome("lost", error=trip.error, detail={"reason": trip.reason}) if trip else None

    def heed(self, claim: Claim | None, verdict: str) -> None:
        """The database says whether it is still ours, and wanted."""
        if claim is None or claim.dropped or verdict == "ok":
            return
        claim.dropped = verdict == "lost"
        if claim.dropped:
            log.info("job %d: lost, another worker has it", claim.job_id)
        elif claim.cancelled:
            return
        claim.cancelled = True
        slot = self.slots.slot_of(claim)
        if slot is not None:
            self.slots.take_back(slot)
        if claim in self.slots.backlog:
            self.slots.backlog.remove(claim)
            self.tell(claim, Outcome("cancelled", error="cancelled before it started"))
        elif slot is not None and claim in slot.claims:
            self.stop_body(slot, claim)

    def stop_body(self, slot: Slot, claim: Claim) -> None:
        """It runs and must not: kill it if it is another's, else ask it first."""
        if claim.dropped:
            claim.fate = Outcome("lost")
            slot.kill()
        else:
            claim.kill_at = self.now + self.workers[0].settings.cancel_grace
            slot.cancel(claim)

    def tell(self, claim: Claim, outcome: Outcome, log_tail: str = "") -> None:
        """It has ended: hand that to the reporter, unless it is another's."""
        if not claim.dropped:
            log.debug(
                "job %d %s: %s (%s)", claim.job_id, claim.task, outcome.outcome, outcome.error
            )
            detail = {**outcome.detail, "host": self.options.host}
            self.reporter.add(claim, render(outcome._replace(detail=detail)), log_tail)

    def release_stranded(self) -> None:
        """Jobs that no child could start soon go back."""
        if any(slot.ready and slot.running_for(self.now) <= STUCK_S for slot in self.slots):
            self.hopeful_at = self.now
        elif self.now > self.hopeful_at + STUCK_S:
            self.release_backlog()

    def release_backlog(self) -> None:
        """Give jobs back that have not started, for any worker to take; nothing is counted."""
        while self.slots.backlog:
            self.tell(self.slots.backlog.popleft(), RELEASED)

    # Starting.

    def start(self) -> None:
        """Find a database with a schema this agent speaks, register, and make the slots. Raises
        Leave."""
        give_up_at = self.now + self.options.wait
        version = self.ask(db.version(), give_up_at)
        if version.split(".")[0] != __version__.split(".")[0]:
            raise Leave(
                MISCONFIGURED,
                f"the database has schema version {version}, this agent speaks {__version__}",
            )
        for queue in self.options.queues:
            self.workers.append(self.register(queue, give_up_at))
        self.slots = Slots([self.new_slot() for _ in range(self.options.slots)], self.slots.pace)
        log.info("serving %s with %d slots", ", ".join(self.options.queues), self.options.slots)

    def ask(self, query: db.Query, give_up_at: float) -> str:
        """The value of a query without which there is no start; waits for database and schema.
        Raises Leave."""
        code, trouble = NO_DATABASE, ""
        while self.now < give_up_at:
            call = self.durable.send(query)
            while not call.done:
                self.wait_to_start()
            if call.failure is None:
                return str(call.value())
            if call.failure.sqlstate in NO_SCHEMA:
                code, trouble = MISCONFIGURED, f"no qwf schema: {call.failure}; qwf migrate deploy"
            elif not call.failure.lost:
                raise Leave(MISCONFIGURED, str(call.failure))
            elif self.durable.trouble is not None:
                code, trouble = NO_DATABASE, f"no database: {self.durable.trouble}"
            self.wait_to_start(trouble)
        raise Leave(code, trouble or "no database")

    def wait_to_start(self, trouble: str = "") -> None:
        """Let a little happen; say once what it waits for. Raises Leave when asked to stop."""
        if trouble not in ("", self.said):
            self.said = trouble
            log.info("waiting: %s", trouble)
        self.wait(self.now + LOOK_S)
        if self.signals.stops:
            raise Leave(STOPPED)

    def register(self, queue: str, give_up_at: float) -> Worker:
        """Announce this process as a worker on the queue."""
        settings = read_settings(self.ask(db.agent_settings(queue), give_up_at), self.options.poll)
        info = {
            "pid": os.getpid(),
            "version": __version__,
            "slots": self.options.slots,
            "tasks": self.tasks,
        }
        worker_id = self.ask(
            db.register_worker(self.options.host, queue, json.dumps(info)), give_up_at
        )
        self.soft.listen(self.ask(db.wake_channel(worker_id), give_up_at))
        return Worker(worker_id, queue, settings, self.soft, self.options.lease)

    def new_slot(self) -> Slot:
        """A slot; the loop forks its child."""
        options, settings = self.options, self.workers[0].settings
        limits = Limits(settings.max_value_bytes, settings.max_error_bytes, settings.max_log_bytes)
        environment = visible_devices(options.gpu)
        setup = Setup(
            options.host,
            options.app,
            options.nodes,
            options.out_root,
            options.allow_commands,
            environment,
            limits,
        )
        return Slot(self.selector, setup, 1 if options.fresh else options.recycle_jobs)

    def spawn(self, slot: Slot) -> None:
        """Fork a child if the slot has none."""
        try:
            slot.spawn(self.now)
        except OSError as error:
            log.error("cannot fork: %s", error)

    def next_at(self) -> float:
        """When the loop has something to do, if nothing happens before."""
        times = [
            self.soft.next_at(),
            self.durable.next_at(),
            self.now + (LOOK_S if self.slots.busy() else IDLE_S),
        ]
        room = 0 if self.draining else self.slots.room(self.now)
        times += [worker.next_at(room) for worker in self.workers]
        return min(times + ([self.tick_at] if self.durable.up and self.ticking is None else []))

    # Stopping.

    def drain(self) -> None:
        """Claim no more, hand back what has not started, let the rest finish."""
        self.draining = True
        grace = self.options.grace
        self.kill_at = self.now + (self.workers[0].settings.stop_grace if grace is None else grace)
        for slot in self.slots:
            self.slots.take_back(slot)
        log.info("stopping: %d bodies still run", sum(1 for slot in self.slots if slot.claims))

    def kill_all(self) -> None:
        """End every body now; its job is released."""
        self.kill_at = float("inf")
        for slot in self.slots:
            for claim in slot.claims:
                claim.fate = claim.fate or RELEASED
            slot.kill()

    def finished(self) -> bool:
        """Whether to leave: asked to, nothing runs, and everything is reported, or cannot be."""
        if not self.draining or self.slots.claims() or any(worker.asked for worker in self.workers):
            return False
        self.give_up_at = min(self.give_up_at, self.now + LAST_WORDS_S)
        return self.reporter.idle() or self.now >= self.give_up_at

    def stop(self) -> int:
        """Leave nothing behind: no child, no lease, no registration."""
        for slot in self.slots:
            slot.kill()
        self.soft.close()
        for worker in self.workers:
            call = self.durable.send(db.deregister_worker(worker.id))
            while not call.done and time.monotonic() < self.give_up_at:
                self.wait(self.now + LOOK_S)
            if call.failure is not None or not call.done:
                log.warning("left without saying goodbye: %s", call.failure or "no answer")
        log.info("stopped")
        return STOPPED


def visible_devices(gpu: str | None) -> dict[str, str]:
    """What children are told about the cards: one, none, or nothing, which is all."""
    if gpu in (None, "all"):
        return {}
    shown = "" if gpu == "none" else str(gpu)
    return {"CUDA_VISIBLE_DEVICES": shown, "HIP_VISIBLE_DEVICES": shown}
