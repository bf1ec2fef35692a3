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
from typing import Any

from qwf_agent import db
from qwf_agent.agent import shares, watchdogs
from qwf_agent.agent.abilities import (
    Abilities,
    registrations,
    to_announce,
    warn_of_unserved,
)
from qwf_agent.agent.batch_size import BatchSize
from qwf_agent.agent.cells import Cells
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.control import Answers
from qwf_agent.agent.endings import Endings
from qwf_agent.agent.lanes import configure, count, make_slots
from qwf_agent.agent.new_code import NewCode
from qwf_agent.agent.opening import StartAborted
from qwf_agent.agent.options import Options
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.progress_sender import ProgressSender
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.signals import Signals
from qwf_agent.agent.slot import STUCK_S, Announcement, Slot
from qwf_agent.agent.systemd import Systemd
from qwf_agent.agent.telemetry import Telemetry
from qwf_agent.agent.watchdogs import Observation
from qwf_agent.agent.worker import Worker
from qwf_agent.child.outcome import Outcome
from qwf_agent.exit_codes import BROKEN, SWITCHED_OFF
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

STOPPED = 0
BUSY_WAIT_S = 0.2  # longest wait while bodies run: how late a watchdog may be
IDLE_WAIT_S = 1.0
# How long an answer of a child may wait for others while all children have work: if it could be
# reported now, and if not because a report is under way.
GATHER_S, GATHER_BUSY_S = 0.001, 0.004
WATCH_S = 0.05  # shortest time between two checks of all children
# Longest wait for reports after the last body has ended or was killed, and the shortest for the end
# of the registrations.
REPORT_GRACE_S, LEAVE_S = 10.0, 1.0
DID_NOT_STOP = Outcome("cancelled", error="cancelled, and killed because it did not stop")


class Agent:
    """The parts of an agent process, and its loop.

    Invariant: every claim that the agent holds is in the backlog, in a slot or with the reporter,
    and its lease is renewed.
    """

    def __init__(
        self, options: Options, abilities: Abilities, groups: ControlGroups | None
    ) -> None:
        self.options = options
        self.abilities = abilities
        self.selector = selectors.DefaultSelector()
        self.urgent = selectors.DefaultSelector()  # also handled while it gathers answers
        self.selector.register(self.urgent, selectors.EVENT_READ, self.take_urgent)
        self.signals = Signals(self.urgent)
        self.cells = Cells(options, self.urgent, lambda: self.infos)
        self.progress = ProgressSender()
        self.answers = Answers()
        # Of all cells; those that have not claimed for longest come first.
        self.workers: list[Worker] = []
        self.slots = Pool([], BatchSize(options.batch))
        self.endings = Endings(self.slots, options.host, self.job_ended)
        self.systemd = Systemd()
        self.telemetry = Telemetry(self.selector, options.out_root)
        self.groups = groups
        self.guardian = Guardian(groups)
        self.serving = Serving(
            options, abilities, self.slots, self.endings, self.selector, self.guardian, groups
        )
        self.infos = registrations(options, abilities, self.serving.served())
        self.new_code = NewCode(options)
        self.code = STOPPED  # the exit code of an agent with --until-empty
        self.last_trouble = ""
        self.draining = False
        self.parked = True  # switched off and without children, until a database answers
        self.kill_at = self.give_up_at = float("inf")
        self.now = time.monotonic()
        self.watched_at = 0.0
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
            self.open_cells()
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
        for cell in self.cells:
            cell.step_links(self.now)
        gather_s = self.gather_s()
        if gather_s and self.take_urgent(gather_s):
            until = self.now  # do not wait
        elif until is None:
            until = self.next_at()
        self.systemd.alive(self.now)
        for key, _ in self.selector.select(max(0.0, until - time.monotonic())):
            key.data()
        self.now = time.monotonic()
        for cell in self.cells:
            cell.take_notifications()

    def gather_s(self) -> float:
        """How long to gather answers of children, because a turn of the loop can cost more than a
        short job. Only while reports are under way or all children have work."""
        claiming = all(one.asked.total for one in self.workers if one.links.soft.up)
        reporting = any(cell.reporter.busy() for cell in self.cells)
        if reporting and claiming and not self.slots.backlog:
            return GATHER_BUSY_S
        longest_s = GATHER_BUSY_S if reporting else GATHER_S
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

    def open_cells(self) -> None:
        """Take in the cells that were not there when the agent began."""
        for cell in self.cells.open_more(self.now):
            self.workers += cell.workers
            self.configure_slots()

    def handle_signals(self) -> None:
        """The first SIGTERM drains, and so does --until-empty; a second one or the end of the grace
        kills; SIGHUP replaces the children, once their code can be imported."""
        if self.signals.take_hangup():
            self.new_code.try_soon()
        if not self.draining and (self.signals.stops or self.is_empty()):
            self.drain()
        if self.draining and (self.signals.take_second_stop() or self.now >= self.kill_at):
            self.kill_at = float("inf")
            self.give_up_at = min(self.give_up_at, self.now + REPORT_GRACE_S)
            self.endings.kill_all()
            self.serving.kill()

    def reap(self) -> None:
        """Handle the answers and deaths of children; fork new ones."""
        if not self.draining and self.new_code.step(self.now):
            for slot in self.slots:
                slot.retire()
        for slot in self.slots:
            if slot.code_files.have_changed(self.now):
                log.info("the code of the tasks has changed: it is imported, then children follow")
                self.new_code.try_soon()
            for answer in slot.answers():
                self.endings.conclude(answer)
            for claim, moved in slot.take_moved_folders():
                self.endings.tell_of_folder(claim, moved)
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
        reports = [cell.host_report for cell in self.cells.open]
        every_s = self.cells.settings.metrics
        self.telemetry.step(self.now, self.needs_samples(), every_s, reports)
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
                link = claim.worker.links.soft
                link.send(db.suspect_stall(claim.job_id, claim.token, readings))
        self.release_stranded()

    def heartbeat(self) -> None:
        """Renew every lease, send progress and logs, and apply the verdicts of the database."""
        for worker in self.workers:
            if worker.beat_due(self.now):
                held = [*self.slots.claims(), *worker.reporter.claims()]
                worker.beat(held, json.dumps(self.stats()), self.now)
            for token, verdict in worker.verdicts(self.now).items():
                claim = self.slots.find(token) if verdict != "ok" else None
                self.endings.apply_verdict(claim, verdict, self.now + worker.settings.cancel_grace)
        for cell in self.cells:
            cell.send_logs(self.slots, self.now)
        for claim, verdict in self.progress.step(self.slots, self.now):
            grace = claim.worker.settings.cancel_grace
            self.endings.apply_verdict(claim, verdict, self.now + grace)

    def collect_claims(self) -> None:
        """Put the jobs that claims have returned into the backlog. After a claim that found few
        nodes, fewer than it asked for, the next one waits for their reports if they will come
        soon."""
        for cell in self.cells:
            cell.take_answer_to_reports(self.now)
        for worker in self.workers:
            claims = worker.claimed(self.now)
            self.slots.backlog.extend(claims)
            if claims and not worker.found_all and self.slots.ends_node_soon(claims):
                worker.sleeper.wait_for_report(self.now)
            if worker.sleeper.take_echo_request():
                worker.links.durable.send(db.echo(worker.id))

    def control(self) -> None:
        """Follow the orders of operators and changed settings: switch workers on and off, load and
        unload models."""
        for worker in self.workers:
            if worker.take_settings(self.now):
                log.info("the settings of %s have changed", worker.name)
                self.configure_slots()
            worker.update_registration(self.infos[worker.queue])
            if worker.control.step(self.now):
                self.switch(worker)
            for order in worker.control.orders():
                if not worker.control.on:
                    self.answers.send(order, "the worker is switched off")
                elif not self.serving.take_order(order, self.now):
                    self.slots.order(order)
            if not worker.control.on:
                self.endings.park(worker, kill=worker.control.policy == "hard")
        for cell in self.cells:
            cell.reregister(self.infos, self.draining)
        for order, error in self.slots.take_orders_done() + self.serving.take_orders_done():
            self.answers.send(order, error)
        self.answers.step()
        self.parked = all(worker.control.frees_memory for worker in self.workers)
        for slot in self.slots if self.parked else ():
            slot.retire()

    def serve_models(self) -> None:
        """Start and stop model servers as the jobs in the backlog need them, and register what they
        can serve."""
        workers = [worker for cell in self.cells for worker in cell.workers]
        if self.serving.step(self.now, workers, self.draining, self.telemetry.sample):
            self.infos = registrations(self.options, self.abilities, self.serving.served())
            self.add_slots()

    def hand_out(self) -> None:
        """Hand jobs of the backlog to children; while draining, release them instead."""
        if self.draining:
            self.endings.release(self.slots.backlog)
        else:
            self.slots.hand_out()

    def claim(self) -> None:
        """Claim while there is room. A worker that has claimed is last in the next turn, so that no
        busy queue or cell can starve another. While all children have work, claims go beside the
        reports, not with them."""
        room, with_reports = self.room(), not self.slots.work_s()
        claimed = []
        for worker in self.workers:
            alone = not (worker.is_on_trial and self.slots.has_any_of(worker))
            share = shares.share_of(worker, room, self.workers, self.now, alone)
            if worker.claim_if_due(share, self.now, with_reports):
                claimed.append(worker)
        if claimed and len(self.workers) > 1:
            self.workers = [one for one in self.workers if one not in claimed] + claimed

    def report(self) -> None:
        """Report the jobs that have ended, handle the answers, and log what has failed."""
        for cell in self.cells.open:
            cell.report(self.now)

    def tick(self) -> None:
        """Run the periodic chores of each database, unless another agent does."""
        for cell in self.cells.open:
            cell.ticker.step(cell.workers, self.now)

    # What the steps need.

    def stats(self) -> dict[str, Any]:
        """What a heartbeat reports."""
        free = self.telemetry.out_free_bytes
        disk = {} if free is None else {"out_free_bytes": free}
        parts = self.slots.stats(), self.serving.stats(self.now), self.new_code.stats()
        return {name: value for part in (*parts, disk) for name, value in part.items()}

    def room(self) -> shares.Room:
        """How many jobs to claim now."""
        if self.draining:
            return shares.NO_ROOM
        pool, more = self.slots, any(worker.knows_more for worker in self.workers)
        held, size = pool.held, pool.batch_size
        return shares.room_of(pool.slots, pool.backlog, held, size, self.now, more)

    def configure_slots(self) -> None:
        """Apply the settings that the slots share; children that they affect are replaced."""
        configure(self.slots, self.options, self.cells.settings, self.guardian.mark)

    def job_ended(
        self, claim: Claim, outcome: str, reason: str | None, seconds: float, rendered: bytes
    ) -> None:
        """Tell the circuit breaker of the worker and the model servers how a job ended."""
        self.serving.job_ended(claim, reason, seconds, rendered)
        claim.worker.note_ended(claim, outcome, reason, seconds)

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
            claim.worker.settings,
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
        off = {other for other in self.workers if other.control.frees_memory}
        alone = len(off) == len(self.workers)
        # Whether the queue is off in all cells.
        lanes = worker.lanes and not any(
            other.queue == worker.queue and other not in off for other in self.workers
        )
        for slot in self.slots if worker in off else ():
            if not (alone or (lanes and slot.heavy)):
                continue
            if worker.control.policy == "drain" or slot.runs_other(worker):
                slot.retire()
            else:
                self.endings.park(worker, kill=True)
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

    # Starting.

    def start(self) -> None:
        """Wait for a database with a compatible schema, register, and make the slots. Raises
        StartAborted."""
        give_up_at = self.now + self.options.wait
        while not self.cells.may_begin(self.now, give_up_at):
            self.wait_to_start(self.cells.trouble())
            self.workers += [
                worker for cell in self.cells.open_more(self.now) for worker in cell.workers
            ]
        self.add_slots()
        self.systemd.ready(f"serving {', '.join(self.options.queues)}")
        warn_of_unserved(self.abilities.task_options, self.options.queues)
        cells = ", ".join(cell.name for cell in self.cells.open)  # a lone one has no name
        of = f" of {cells}" if cells else ""
        log.info("serving %s%s with %s", ", ".join(self.options.queues), of, self.slots.describe())

    def add_slots(self) -> None:
        """Make the slots at the start, and more when an operator lets the model servers take more
        requests at once."""
        have, total = len(self.slots.slots), count(self.options, self.abilities.cards)
        if self.options.slots is None:
            total += self.serving.more_requests()
        if have < total:
            self.slots.slots += make_slots(
                self.options, self.abilities.cards, self.cells.settings, self.selector,
                self.guardian, self.groups, have, total,
            )  # fmt: skip

    def wait_to_start(self, trouble: str = "") -> None:
        """Wait a moment; log once what it waits for. Raises StartAborted when asked to stop."""
        if trouble not in ("", self.last_trouble):
            self.last_trouble = trouble
            log.info("waiting: %s", trouble)
        self.wait(self.now + BUSY_WAIT_S)
        if self.signals.stops:
            raise StartAborted(STOPPED)

    def spawn(self, slot: Slot) -> None:
        """Fork a child for the slot if it needs one."""
        try:
            slot.spawn(self.now)
        except OSError as error:
            log.error("cannot fork a child: %s", error)

    def next_at(self) -> float:
        """When the loop has something to do, unless something happens first."""
        times = [
            self.cells.next_at(),
            self.watched_at + BUSY_WAIT_S if self.slots.busy() else self.now + IDLE_WAIT_S,
            self.systemd.next_at(),
            self.serving.next_at(),
            float("inf") if self.draining else self.new_code.next_at(),
        ]
        measure_at = self.telemetry.next_at(self.needs_samples())
        times.append(max(measure_at, self.watched_at + WATCH_S))
        times.append(shares.next_at(self.workers, self.now))
        return min(times)

    # Stopping.

    def drain(self) -> None:
        """Stop claiming, release the jobs that have not started, let the others finish."""
        self.draining = True
        self.cells.open_no_more()
        self.systemd.stopping()
        grace = self.options.grace
        self.kill_at = self.now + (self.cells.settings.stop_grace if grace is None else grace)
        for slot in self.slots:
            self.slots.take_back(slot)
        running = sum(1 for slot in self.slots if slot.claims)
        who = f"{running} running {'body has' if running == 1 else 'bodies have'}"
        log.info("stopping: %s", "no body runs" if not running else
                 f"{who} {self.kill_at - self.now:g} s to end; a second Ctrl-C or SIGTERM stops "
                 "at once")  # fmt: skip

    def is_empty(self) -> bool:
        """Whether an agent with --until-empty has nothing left to run. In each cell a tick has come
        after the last report to any, and then two claims from each queue: the second one began
        after the tick. A queue that is switched off for this box may have more, which the exit code
        says."""
        if not self.options.until_empty:
            return False
        if self.slots.claims() or not all(cell.reporter.has_drained() for cell in self.cells):
            for cell in self.cells:
                cell.ticker.note_work(self.now)
        ticked = all(cell.ticker.ticked for cell in self.cells)
        waiting = [w for w in self.workers if w.control.on and w.empty_claims < 2]
        for worker in waiting if ticked else ():
            worker.claim_soon()
        known = all(cell.is_up for cell in self.cells) and all(
            worker.control.known for worker in self.workers
        )
        if waiting or not ticked or not known:
            return False
        if off := [worker.name for worker in self.workers if not worker.control.on]:
            log.warning("queue %s is switched off for this box: it may have jobs", ", ".join(off))
            self.code = SWITCHED_OFF
        return True

    def finished(self) -> bool:
        """Whether the loop ends: it was asked to stop, nothing runs, and all reports are sent or
        late."""
        if not self.draining or self.now >= self.give_up_at:
            return self.draining
        if self.slots.claims() or any(worker.asked.total for worker in self.workers):
            return False
        self.give_up_at = min(self.give_up_at, self.now + REPORT_GRACE_S)
        reported = all(cell.reporter.idle() for cell in self.cells)
        return reported and self.serving.is_down() and self.answers.idle()

    def stop(self) -> None:
        """End the children and the registrations."""
        now = time.monotonic()
        give_up_at = max(now + LEAVE_S, min(self.give_up_at, now + REPORT_GRACE_S))
        self.new_code.stop()
        for slot in self.slots:
            slot.kill()
        calls = [call for cell in self.cells for call in cell.leave()]
        while not all(call.done for _, call in calls) and time.monotonic() < give_up_at:
            self.wait(self.now + BUSY_WAIT_S)
        for worker, call in calls:
            if call.failure is not None or not call.done:
                log.warning("cannot deregister %s: %s", worker.name, call.failure or "no answer")
        self.serving.close()
        self.telemetry.close()
        self.guardian.close()
        log.info("stopped")
