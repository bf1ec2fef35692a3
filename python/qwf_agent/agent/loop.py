"""The agent: one loop that claims jobs, runs them in children and reports how they ended.

It runs no user code, holds no transaction while a body runs, and never waits for one thing only: it
can kill a body while the database is slow, and renew a lease while a body is busy.
"""

from __future__ import annotations

import gc
import json
import logging
import selectors
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from qwf_agent import __version__, db
from qwf_agent.agent import watchdogs
from qwf_agent.agent.abilities import (
    Abilities,
    registrations,
    to_announce,
    warn_of_unserved,
)
from qwf_agent.agent.batch_size import BatchSize
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.control import Answers
from qwf_agent.agent.endings import Endings
from qwf_agent.agent.failure_log import FailureLog
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.lanes import configure, count, make_slots
from qwf_agent.agent.link import Call, Link, Links
from qwf_agent.agent.log_sender import LogSender
from qwf_agent.agent.options import Options
from qwf_agent.agent.outage_log import OutageLog
from qwf_agent.agent.pool import NO_ROOM, Pool, Room
from qwf_agent.agent.progress_sender import ProgressSender
from qwf_agent.agent.reporter import Reporter
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.settings import Settings, read_settings
from qwf_agent.agent.signals import Signals
from qwf_agent.agent.sleeper import CHECK_TICKS, STALE_AGE, Registration
from qwf_agent.agent.slot import STUCK_S, Announcement, Slot
from qwf_agent.agent.systemd import Systemd
from qwf_agent.agent.telemetry import Telemetry
from qwf_agent.agent.watchdogs import Observation
from qwf_agent.agent.worker import Worker
from qwf_agent.child.outcome import Outcome
from qwf_agent.exit_codes import BROKEN, MISCONFIGURED, NO_DATABASE, SWITCHED_OFF
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian
from qwf_agent.versions import compatible_part

log = logging.getLogger("qwf_agent")

STOPPED = 0
BUSY_WAIT_S = 0.2  # longest wait while bodies run: how late a watchdog may be
IDLE_WAIT_S = 1.0
# How long an answer of a child may wait for others while all children have work: if it could be
# reported now, and if not because a report is under way.
GATHER_S, GATHER_BUSY_S = 0.001, 0.004
WATCH_S = 0.05  # shortest time between two checks of all children
TICK_AGE = 0.7  # ticks, as their interval varies by a quarter: a lone agent then runs every tick
# Longest wait for reports after the last body has ended or was killed, and the shortest for the end
# of the registrations.
REPORT_GRACE_S, LEAVE_S = 10.0, 1.0
SOFT_DEADLINE_S, DURABLE_DEADLINE_S = 10.0, 60.0
DID_NOT_STOP = Outcome("cancelled", error="cancelled, and killed because it did not stop")


class StartAborted(Exception):
    """The agent cannot start, or was asked to stop: the exit code, and a message for people."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class Agent:
    """The parts of an agent process, and its loop.

    Invariant: every claim that the agent holds is in the backlog, in a slot or with the reporter,
    and its lease is renewed.
    """

    def __init__(
        self, options: Options, abilities: Abilities, groups: ControlGroups | None
    ) -> None:
        name = f"qwf agent {options.host} {','.join(options.queues)}"
        self.options = options
        self.abilities = abilities
        self.selector = selectors.DefaultSelector()
        self.urgent = selectors.DefaultSelector()  # also handled while it gathers answers
        self.selector.register(self.urgent, selectors.EVENT_READ, self.take_urgent)
        self.signals = Signals(self.urgent)
        own = options.listen_dsn is None  # else a pooler may give the sessions to others
        self.soft = Link(options.dsn, name, self.urgent, SOFT_DEADLINE_S, own)
        self.listener = self.soft  # behind a transaction pooler: a session of its own
        if options.listen_dsn is not None:
            self.listener = Link(options.listen_dsn, name, self.urgent, SOFT_DEADLINE_S)
        self.durable = Link(options.dsn, name, self.urgent, DURABLE_DEADLINE_S, own)
        self.outages = OutageLog()
        self.failures = FailureLog(self.soft)
        self.reporter = Reporter(self.durable, self.failures)
        self.progress = ProgressSender(self.soft)
        self.answers = Answers(self.soft)
        self.logs = LogSender(self.soft)
        self.workers: deque[Worker] = deque()
        self.slots = Pool([], BatchSize(options.batch))
        self.endings = Endings(self.slots, self.reporter, options.host, self.job_ended)
        self.systemd = Systemd()
        self.telemetry = Telemetry(self.selector, options.host, options.dsn)
        self.groups = groups
        self.guardian = Guardian(groups)
        self.serving = Serving(
            options, abilities, self.slots, self.endings, self.selector, self.guardian, groups
        )
        self.infos = registrations(options, abilities, self.serving.served())
        self.reregistering: dict[Worker, Iterator[None]] = {}
        self.ticking: Call | None = None
        self.tick_at = 0.0
        self.others_tick = False  # as far as this agent knows
        # For --until-empty: when it last had work, whether a tick has begun and ended since, and
        # the exit code once it is empty.
        self.busy_at = self.tick_began_at = 0.0
        self.ticked = False
        self.code = STOPPED
        self.last_trouble = ""
        self.draining = False
        self.parked = True  # switched off and without children, until the database answers
        self.kill_at = self.give_up_at = float("inf")
        self.now = time.monotonic()
        self.watched_at = 0.0
        self.had_room = NO_ROOM  # when it last claimed
        # By whether jobs are heavy: when one of them could last have started soon.
        self.startable_at = {True: self.now, False: self.now}

    def run(self) -> int:
        """Serve until asked to stop; returns the exit code. Whatever goes wrong, the log says why
        it ends, and its jobs go back to the queue."""
        code = STOPPED
        try:
            self.start()
            self.serve()
            code = self.code
        except StartAborted as error:
            log.error("%s", error) if error.code else log.info("asked to stop before it started")
            code = error.code
        except Exception:
            log.critical("this agent ends because of a defect in it", exc_info=True)
            code = BROKEN
        try:
            self.stop()
        except Exception:
            log.critical("it did not stop cleanly", exc_info=True)
            code = BROKEN
        return code

    def serve(self) -> None:
        """Do the steps of the loop until there is nothing left to do."""
        # The objects so far stay. If the garbage collector visited them, each child would have to
        # copy their memory.
        gc.freeze()
        while not self.finished():
            self.wait()
            self.handle_signals()
            self.reap()
            self.watch()
            self.heartbeat()
            self.collect_claims()
            self.control()
            self.serve_models()
            self.hand_out()
            self.claim()
            self.report()
            self.tick()

    # The steps of the loop, in their order.

    def wait(self, until: float | None = None) -> None:
        """Wait for an answer, a wake-up or a signal, or until something is due."""
        unanswered = self.soft.unanswered
        self.soft.step(self.now)
        if self.soft.unanswered > unanswered:
            # If one connection is cut, the other one probably is too.
            self.durable.expect_answer_within(SOFT_DEADLINE_S)
        if self.listener is not self.soft:
            self.listener.step(self.now)
        self.durable.step(self.now)
        gather_s = self.gather_s()
        if gather_s and self.take_urgent(gather_s):
            until = self.now  # do not wait
        elif until is None:
            until = self.next_at()
        self.systemd.alive(self.now)
        for key, _ in self.selector.select(max(0.0, until - time.monotonic())):
            key.data()
        self.now = time.monotonic()
        while self.listener.notifications:
            notification = self.listener.notifications.popleft()
            for worker in self.workers:
                worker.notified(notification)

    def gather_s(self) -> float:
        """How long to gather answers of children, because a turn of the loop can cost more than a
        short job. Only while reports are under way or all children have work."""
        claiming = all(worker.asked.total for worker in self.workers)
        if self.reporter.busy() and claiming and not self.slots.backlog:
            return GATHER_BUSY_S
        longest_s = GATHER_BUSY_S if self.reporter.busy() else GATHER_S
        return min(longest_s, self.slots.work_s() / 2)

    def take_urgent(self, longest_s: float = 0.0) -> bool:
        """Wait at most `longest_s` for an answer of the database or a signal, and handle it;
        returns whether there was one. A long answer arrives in parts: it waits for the last."""
        until = time.monotonic() + longest_s
        while events := self.urgent.select(max(0.0, until - time.monotonic())):
            only_parts = [key.data() for key, _ in events]
            if not all(only_parts):
                return True
        return False

    def handle_signals(self) -> None:
        """The first SIGTERM drains, and so does --until-empty; a second one or the end of the grace
        kills; SIGHUP replaces the children."""
        if self.signals.take_hangup():
            for slot in self.slots:
                slot.retire()
        if not self.draining and (self.signals.stops or self.is_empty()):
            self.drain()
        if self.draining and (self.signals.take_second_stop() or self.now >= self.kill_at):
            self.kill_at = float("inf")
            self.give_up_at = min(self.give_up_at, self.now + REPORT_GRACE_S)
            self.endings.kill_all()
            self.serving.kill()

    def reap(self) -> None:
        """Handle the answers and deaths of children; fork new ones."""
        for slot in self.slots:
            if slot.code_files.have_changed(self.now):
                log.info("the code of the tasks has changed: replacing a child")
                slot.code_files.clear()
                slot.retire()
            for answer in slot.answers():
                self.endings.conclude(answer)
            self.update_abilities(slot, slot.take_announcement())
            death = slot.reap()
            if death is not None:
                self.endings.conclude_death(death)
            if slot.take_model_change():
                for worker in self.workers:
                    worker.beat_soon()  # a claim prefers jobs of the loaded model
            if not self.draining and not self.parked:
                self.spawn(slot)

    def watch(self) -> None:
        """Kill a body if a watchdog trips or if it does not stop when cancelled, and take back the
        jobs behind a long body. Short bodies end before they need a check."""
        if self.now < self.watched_at + WATCH_S:
            return
        self.watched_at = self.now
        every_s = self.workers[0].settings.metrics
        self.telemetry.step(self.now, self.needs_samples(), every_s, self.soft)
        for slot in self.slots:
            slot.check_messages(self.now)
            seconds = slot.running_for(self.now)
            if seconds > STUCK_S and len(slot.claims) > 1:
                self.slots.take_back(slot)
            if slot.is_overdue(self.now):
                log.error("a child took too long to import the app or load a model: killing it")
                slot.kill()
            if not slot.claims or slot.claims[0].forced_outcome is not None:
                continue
            claim = slot.claims[0]
            if self.now >= claim.kill_at:
                self.endings.end(slot, claim, DID_NOT_STOP)
            elif (trip := watchdogs.check(self.observe(slot, claim, seconds))) is not None:
                self.endings.trip(slot, claim, trip)
            elif claim.watchdog_state.suspected_stall is not None:
                readings = json.dumps(claim.watchdog_state.suspected_stall)
                claim.watchdog_state.suspected_stall = None
                self.soft.send(db.suspect_stall(claim.job_id, claim.token, readings))
        self.release_stranded()

    def heartbeat(self) -> None:
        """Renew every lease, send progress and logs, and apply the verdicts of the database."""
        for worker in self.workers:
            if worker.beat_due(self.now):
                held = [*self.slots.claims(), *self.reporter.claims()]
                worker.beat(held, json.dumps(self.stats()), self.now)
            for token, verdict in worker.verdicts(self.now).items():
                claim = self.slots.find(token) if verdict != "ok" else None
                self.endings.apply_verdict(claim, verdict, self.now + worker.settings.cancel_grace)
        self.logs.step(self.workers, self.slots, self.now)
        for claim, verdict in self.progress.step(self.slots, self.now):
            grace = self.settings_of(claim).cancel_grace
            self.endings.apply_verdict(claim, verdict, self.now + grace)

    def collect_claims(self) -> None:
        """Put the jobs that claims have returned into the backlog. After a claim that found few
        nodes, fewer than it asked for, the next one waits for their reports if they will come
        soon."""
        opened = self.reporter.take_answer(self.now)
        for worker in self.workers:
            if worker.queue in opened:
                worker.claim_soon()
            claims = worker.claimed(self.now)
            self.slots.backlog.extend(claims)
            if claims and not worker.found_all and self.slots.ends_node_soon(claims):
                worker.sleeper.wait_for_report(self.now)
            if worker.sleeper.take_echo_request():
                self.durable.send(db.echo(worker.id))

    def control(self) -> None:
        """Follow the orders of operators and changed settings: switch workers on and off, load and
        unload models."""
        for worker in self.workers:
            if worker.take_settings(self.now):
                log.info("the settings of %s have changed", worker.queue)
                configure(self.slots, self.options, worker.settings, self.guardian.mark)
            worker.update_registration(self.infos[worker.queue])
            if worker.control.step(self.now):
                self.switch(worker)
            for order in worker.control.orders():
                if not worker.control.on:
                    self.answers.send(order, "the worker is switched off")
                elif not self.serving.take_order(order, self.now):
                    self.slots.order(order)
            if not worker.control.on:
                self.endings.park(worker.queue, kill=worker.control.policy == "hard")
            self.reregister(worker)
        for order, error in self.slots.take_orders_done() + self.serving.take_orders_done():
            self.answers.send(order, error)
        self.answers.step()
        self.parked = all(worker.control.frees_memory for worker in self.workers)
        for slot in self.slots if self.parked else ():
            slot.retire()

    def serve_models(self) -> None:
        """Start and stop model servers as the jobs in the backlog need them, and register what they
        can serve."""
        sample = self.telemetry.sample
        if self.serving.step(self.now, self.workers, self.draining, self.soft, sample):
            self.infos = registrations(self.options, self.abilities, self.serving.served())
            self.add_slots()

    def hand_out(self) -> None:
        """Hand jobs of the backlog to children; while draining, release them instead."""
        if self.draining:
            self.endings.release(self.slots.backlog)
        else:
            self.slots.hand_out()

    def claim(self) -> None:
        """Claim while there is room. Workers take turns, so that one busy queue cannot starve the
        others. While all children have work, claims go beside the reports, not with them."""
        room = self.had_room = self.room()
        reporter = None if self.slots.work_s() else self.reporter
        for worker in self.workers:
            others = [other.asked for other in self.workers if other is not worker]
            asked = Room(sum(a.total for a in others), sum(a.heavy for a in others))
            alone = not self.slots.has_any_of(worker.queue)
            worker.claim_if_due(room, asked, self.now, alone, reporter)
        self.workers.rotate()

    def report(self) -> None:
        """Report the jobs that have ended, handle the answers, and log what has failed."""
        self.reporter.step(self.now)
        self.failures.step(self.now)
        self.outages.step((self.soft, self.durable, self.listener), self.now)

    def tick(self) -> None:
        """Run the engine's periodic chores, about once a second and when the next job is due,
        unless another agent just did."""
        if self.ticking is not None and self.ticking.done:
            call, self.ticking = self.ticking, None
            if call.failure is not None and not call.failure.lost:
                log.warning("tick failed: %s", call.failure)
            done = json.loads(call.value() or "{}")
            due_s = done.get("next_due_s")
            self.others_tick = done.get("ran") is False
            if call.value() and done.get("ran") and not done.get("errors") and due_s != 0:
                self.note_tick()
            if self.others_tick:  # check again later that they still do
                self.tick_at = self.now + spread(CHECK_TICKS * self.workers[0].settings.tick)
            if due_s:
                self.tick_at = min(self.tick_at, self.now + max(0.01, float(due_s)))
        for worker in self.workers:
            wanted_s = worker.sleeper.take_tick_in_s()
            if wanted_s is not None and self.others_tick:
                self.tick_at = self.now + wanted_s  # a sleeping worker checks it with its heartbeat
        own = self.options.until_empty and not self.ticked  # what others ticked may be too old
        if own:
            self.tick_at = min(self.tick_at, self.tick_began_at + self.workers[0].settings.tick)
        if self.ticking is None and self.now >= self.tick_at and self.durable.up:
            self.tick_at = self.now + spread(self.workers[0].settings.tick)
            # cheapest if one agent runs them all
            age = 0.0 if own else STALE_AGE if self.others_tick else TICK_AGE
            self.ticking = self.durable.send(db.tick(age * self.workers[0].settings.tick))
            self.tick_began_at = self.now

    # What the steps need.

    def stats(self) -> dict[str, Any]:
        """What a heartbeat reports."""
        return {**self.slots.stats(), **self.serving.stats(self.now)}

    def room(self) -> Room:
        """How many jobs to claim now."""
        if self.draining or self.reporter.is_behind():
            return NO_ROOM
        return self.slots.room(self.now, any(worker.found_all for worker in self.workers))

    def job_ended(
        self, claim: Claim, outcome: str, reason: str | None, seconds: float, rendered: bytes
    ) -> None:
        """Tell the circuit breaker of the worker and the model servers how a job ended."""
        self.serving.job_ended(claim, reason, seconds, rendered)
        for worker in self.workers:
            if worker.queue == claim.queue:
                worker.circuit_breaker.record(claim, outcome, reason, seconds)

    def needs_samples(self) -> bool:
        """Whether a body has run long enough to be measured, or a model server needs to know what
        is free on its card."""
        return self.slots.any_long(self.now) or self.serving.wants_reading()

    def observe(self, slot: Slot, claim: Claim, seconds: float) -> Observation:
        """The state of the first job of the slot, for the watchdogs."""
        sample, pid = self.telemetry.sample, slot.process.pid if slot.process else 0
        use, used = sample.cards.get(-1 if slot.card is None else slot.card, (0.0, 0))
        return Observation(
            claim,
            self.settings_of(claim),
            self.now,
            seconds,
            slot.is_loading(),
            slot.progress_version(),
            sample.at,
            sample.rss_bytes(pid),
            sample.state(pid),
            None if slot.card is None else use,
            used,
            self.options.max_rss,
        )

    def settings_of(self, claim: Claim) -> Settings:
        """The settings of the queue that the job came from."""
        mine = (worker.settings for worker in self.workers if worker.queue == claim.queue)
        return next(mine, self.workers[0].settings)

    def release_stranded(self) -> None:
        """Release the jobs that no child can start soon."""
        for heavy in (True, False):
            if any(slot.heavy >= heavy and slot.can_start_soon(self.now) for slot in self.slots):
                self.startable_at[heavy] = self.now
            elif self.now > self.startable_at[heavy] + STUCK_S:
                self.endings.release(
                    [claim for claim in self.slots.backlog if claim.heavy >= heavy]
                )

    def switch(self, worker: Worker) -> None:
        """Act on a worker that was just switched on or off. Off ends its children to free their
        memory, unless the policy is pause."""
        if worker.control.on:
            worker.claim_soon()
        alone = all(other.control.frees_memory for other in self.workers)
        for slot in self.slots if worker.control.frees_memory else ():
            if (alone or (worker.lanes and slot.heavy)) and worker.control.policy == "drain":
                slot.retire()
            elif alone or (worker.lanes and slot.heavy and not slot.runs_other(worker.queue)):
                self.endings.park(worker.queue, kill=True)
                slot.discard()

    def update_abilities(self, slot: Slot, found: Announcement | None) -> None:
        """Take in what the new child of a slot has found. If it differs from what is known,
        register it and replace the other children."""
        if found is None:
            return
        changed = self.abilities._replace(
            tasks=found.tasks, models=found.models, task_options=to_announce(found.task_options)
        )
        if changed == self.abilities:
            return
        for other in self.slots:
            if other is not slot:
                other.retire()
        self.abilities = changed
        self.serving.abilities = self.abilities
        log.info("the code of the tasks has changed: now %s", ", ".join(found.tasks) or "no tasks")
        self.infos = registrations(self.options, self.abilities, self.serving.served())

    def reregister(self, worker: Worker) -> None:
        """Register the worker again if the database has lost its row."""
        if worker in self.reregistering:
            if next(self.reregistering[worker], "done") == "done":
                del self.reregistering[worker]
        elif worker.control.unregistered and not self.draining and self.durable.up:
            log.warning("worker %s is no longer registered: registering it again", worker.id)
            self.reregistering[worker] = worker.reregister(
                self.options.host, self.infos[worker.queue]
            )

    # Starting.

    def start(self) -> None:
        """Wait for a database with a compatible schema, register, and make the slots. Raises
        StartAborted."""
        give_up_at = self.now + self.options.wait
        version = self.ask(db.version(), give_up_at)
        if compatible_part(version) != compatible_part(__version__):
            raise StartAborted(
                MISCONFIGURED,
                f"the database has schema version {version}, this agent needs {__version__}",
            )
        self.listener.listen(db.WORKER_CONTROL)
        for queue in self.options.queues:
            self.workers.append(self.register(queue, give_up_at))
        self.add_slots()
        self.systemd.ready(f"serving {', '.join(self.options.queues)}")
        warn_of_unserved(self.abilities.task_options, self.options.queues)
        log.info("serving %s with %s", ", ".join(self.options.queues), self.slots.describe())

    def add_slots(self) -> None:
        """Make the slots at the start, and more when an operator lets the model servers take more
        requests at once."""
        have, total = len(self.slots.slots), count(self.options, self.abilities.cards)
        if self.options.slots is None:
            total += self.serving.more_requests()
        if have < total:
            self.slots.slots += make_slots(
                self.options, self.abilities.cards, self.workers[0].settings, self.selector,
                self.guardian, self.groups, have, total,
            )  # fmt: skip

    def ask(self, query: db.Query, give_up_at: float) -> str:
        """The value of a query that the start needs; waits for the database and the schema. Raises
        StartAborted."""
        code, trouble = NO_DATABASE, ""
        while self.now < give_up_at:
            call = self.durable.send(query)
            while not call.done:
                self.wait_to_start()
            if call.failure is None:
                return str(call.value())
            if call.failure.sqlstate in db.NO_SCHEMA:
                code = MISCONFIGURED
                trouble = f"no qwf schema, run qwf migrate deploy: {call.failure}"
            elif not call.failure.lost:
                needed = "; this login needs the role qwf_worker"
                raise StartAborted(
                    MISCONFIGURED,
                    f"{call.failure}{needed if call.failure.sqlstate == '42501' else ''}",
                )
            elif self.durable.trouble is not None:
                code, trouble = NO_DATABASE, f"no database: {self.durable.trouble}"
            self.wait_to_start(trouble)
        raise StartAborted(code, trouble or "no database")

    def wait_to_start(self, trouble: str = "") -> None:
        """Wait a moment; log once what it waits for. Raises StartAborted when asked to stop."""
        if trouble not in ("", self.last_trouble):
            self.last_trouble = trouble
            log.info("waiting: %s", trouble)
        self.wait(self.now + BUSY_WAIT_S)
        if self.signals.stops:
            raise StartAborted(STOPPED)

    def register(self, queue: str, give_up_at: float) -> Worker:
        """Register this process as a worker on the queue. Raises StartAborted."""
        settings = read_settings(self.ask(db.agent_settings(queue), give_up_at), self.options)
        host = self.options.host
        worker_id = self.ask(db.register_worker(host, queue, self.infos[queue]), give_up_at)
        channel = self.ask(db.wake_channel(worker_id), give_up_at)
        self.listener.listen(channel)
        registration = Registration(worker_id, channel, host, queue)
        links = Links(self.soft, self.durable, self.listener)
        return Worker(registration, settings, links, self.options, self.infos[queue], self.now)

    def spawn(self, slot: Slot) -> None:
        """Fork a child for the slot if it needs one."""
        try:
            slot.spawn(self.now)
        except OSError as error:
            log.error("cannot fork a child: %s", error)

    def next_at(self) -> float:
        """When the loop has something to do, unless something happens first."""
        times = [
            self.soft.next_at(),
            self.listener.next_at(),
            self.durable.next_at(),
            self.watched_at + BUSY_WAIT_S if self.slots.busy() else self.now + IDLE_WAIT_S,
        ]
        times += [self.systemd.next_at(), self.logs.next_at(), self.failures.next_at()]
        measure_at = self.telemetry.next_at(self.needs_samples())
        times.append(max(measure_at, self.watched_at + WATCH_S))
        times.append(self.serving.next_at())
        times += [worker.next_at(self.had_room.total) for worker in self.workers]
        return min(times + ([self.tick_at] if self.durable.up and self.ticking is None else []))

    # Stopping.

    def drain(self) -> None:
        """Stop claiming, release the jobs that have not started, let the others finish."""
        self.draining = True
        self.systemd.stopping()
        grace = self.options.grace
        self.kill_at = self.now + (self.workers[0].settings.stop_grace if grace is None else grace)
        for slot in self.slots:
            self.slots.take_back(slot)
        running = sum(1 for slot in self.slots if slot.claims)
        who = f"{running} running {'body has' if running == 1 else 'bodies have'}"
        log.info("stopping: %s", "no body runs" if not running else
                 f"{who} {self.kill_at - self.now:g} s to end; a second Ctrl-C or SIGTERM stops "
                 "at once")  # fmt: skip

    def is_empty(self) -> bool:
        """Whether an agent with --until-empty has nothing left to run. A tick has come after the
        last report, and then two claims from each queue: the second one began after the tick. A
        queue that is switched off for this box may have more, which the exit code says."""
        if not self.options.until_empty:
            return False
        if self.slots.claims() or not self.reporter.has_drained():
            self.busy_at, self.ticked = self.now, False
        waiting = [w for w in self.workers if w.control.on and w.empty_claims < 2]
        for worker in waiting if self.ticked else ():
            worker.claim_soon()
        if waiting or not self.ticked or not all(w.control.known for w in self.workers):
            return False
        if off := [worker.queue for worker in self.workers if not worker.control.on]:
            log.warning("queue %s is switched off for this box: it may have jobs", ", ".join(off))
            self.code = SWITCHED_OFF
        return True

    def note_tick(self) -> None:
        """Note a tick that has left nothing due, if it has begun since this agent had work."""
        if not self.ticked and self.tick_began_at > self.busy_at:
            self.ticked = True
            for worker in self.workers:
                worker.empty_claims = 0

    def finished(self) -> bool:
        """Whether the loop ends: it was asked to stop, nothing runs, and all reports are sent or
        late."""
        if not self.draining or self.now >= self.give_up_at:
            return self.draining
        if self.slots.claims() or any(worker.asked.total for worker in self.workers):
            return False
        self.give_up_at = min(self.give_up_at, self.now + REPORT_GRACE_S)
        return self.reporter.idle() and self.serving.is_down() and self.answers.idle()

    def stop(self) -> None:
        """End the children and the registrations."""
        now = time.monotonic()
        give_up_at = max(now + LEAVE_S, min(self.give_up_at, now + REPORT_GRACE_S))
        for slot in self.slots:
            slot.kill()
        self.failures.close()
        self.soft.close()
        self.listener.close()
        for worker in self.workers:
            call = self.durable.send(db.deregister_worker(worker.id))
            while not call.done and time.monotonic() < give_up_at:
                self.wait(self.now + BUSY_WAIT_S)
            if call.failure is not None or not call.done:
                log.warning("cannot deregister: %s", call.failure or "no answer")
        self.serving.close()
        self.telemetry.close()
        self.guardian.close()
        log.info("stopped")
