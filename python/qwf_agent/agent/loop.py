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

from qwf_agent.agent import db, shares
from qwf_agent.agent.abilities import Abilities, warn_of_unserved
from qwf_agent.agent.batch_size import BatchSize
from qwf_agent.agent.children import Children
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.control import Answers
from qwf_agent.agent.endings import Endings
from qwf_agent.agent.host_faults import HostFaults
from qwf_agent.agent.opening import StartAborted
from qwf_agent.agent.options import AgentOptions
from qwf_agent.agent.pool import Pool
from qwf_agent.agent.progress_sender import ProgressSender
from qwf_agent.agent.served_database import ServedDatabase
from qwf_agent.agent.serving import Serving
from qwf_agent.agent.shutdown import STOPPED, Shutdown
from qwf_agent.agent.signals import Signals
from qwf_agent.agent.systemd import Systemd
from qwf_agent.agent.telemetry import Telemetry
from qwf_agent.agent.watch import BUSY_WAIT_S, Watch
from qwf_agent.agent.worker import Worker
from qwf_agent.system.cgroup import ControlGroups
from qwf_agent.system.exit_codes import BROKEN
from qwf_agent.system.guardian import Guardian

log = logging.getLogger("qwf_agent")

# How long an answer of a child may wait for others while all children have work: if it could be
# reported now, and if not because a report is under way.
GATHER_S, GATHER_BUSY_S = 0.001, 0.004


class Agent:
    """The parts of an agent process, and its loop.

    Invariant: every claim that the agent holds is in the backlog, in a slot or with the reporter,
    and its lease is renewed.
    """

    def __init__(
        self, options: AgentOptions, abilities: Abilities, groups: ControlGroups | None
    ) -> None:
        self.options = options
        self.selector = selectors.DefaultSelector()
        self.urgent = selectors.DefaultSelector()  # also handled while it gathers answers
        self.selector.register(self.urgent, selectors.EVENT_READ, self.take_urgent)
        self.signals = Signals(self.urgent)
        self.database = ServedDatabase(options, self.urgent, lambda: self.children.infos)
        self.progress = ProgressSender()
        self.answers = Answers()
        # Those that have not claimed for longest come first.
        self.workers: list[Worker] = []
        self.slots = Pool([], BatchSize(options.batch))
        self.endings = Endings(self.slots, options.host, self.job_ended)
        self.systemd = Systemd()
        self.telemetry = Telemetry(self.selector, options.out_root)
        self.guardian = Guardian(groups)
        self.serving = Serving(
            options, abilities, self.slots, self.endings, self.selector, self.guardian, groups
        )
        self.children = Children(
            options, abilities, self.slots, self.serving, self.selector, self.guardian, groups
        )
        self.host_faults = HostFaults(self.slots, self.endings, self.children)
        self.shutdown = Shutdown(options, self.slots, self.database)
        self.last_trouble = ""
        self.now = time.monotonic()
        self.parked = True  # switched off and without children, until a database answers
        watched = self.slots, self.endings, self.serving, self.telemetry
        self.watch = Watch(*watched, self.shutdown, options.max_rss, self.now)

    def run(self) -> int:
        """Serve until asked to stop; returns the exit code. Whatever goes wrong, the log says why
        it ends, and its jobs go back to the queue."""
        code = STOPPED
        try:
            self.start()
            self.serve()
            code = self.shutdown.code
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
        # If the garbage collector visited the objects so far, each child would copy their memory.
        gc.freeze()
        while not self.finished():
            self.wait()
            self.handle_signals()
            self.reap()
            self.watch.step(self.now, self.database)
            self.heartbeat()
            self.collect_claims()
            self.control()
            self.serve_models()
            self.hand_out()
            self.claim()
            self.database.report(self.now)
            self.database.ticker.step(self.database.workers, self.now)

    # The steps of the loop, in their order.

    def wait(self, until: float | None = None) -> None:
        """Wait for an answer, a wake-up or a signal, or until something is due."""
        self.database.step_links(self.now)
        gather_s = self.gather_s()
        if gather_s and self.take_urgent(gather_s):
            until = self.now  # do not wait
        elif until is None:
            until = self.next_at()
        self.systemd.alive(self.now)
        for key, _ in self.selector.select(max(0.0, until - time.monotonic())):
            key.data()
        self.now = time.monotonic()
        self.database.take_notifications()

    def gather_s(self) -> float:
        """How long to gather answers of children, because a turn of the loop can cost more than a
        short job. Only while reports are under way or all children have work."""
        claiming = all(one.asked.total for one in self.workers if one.links.soft.up)
        reporting = self.database.reporter.busy()
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

    def handle_signals(self) -> None:
        """The first SIGTERM drains, and so does --until-empty; a second one or the end of the grace
        kills; SIGHUP replaces the children, once their code can be imported."""
        if self.signals.take_hangup():
            self.children.new_code.try_soon()
        end = self.shutdown
        if not end.begun and (self.signals.stops or end.is_empty(self.workers, self.now)):
            end.begin(self.now)
            self.systemd.stopping()
        if end.begun and (self.signals.take_second_stop() or self.now >= end.kill_at):
            end.kill(self.now)
            self.endings.kill_all()
            self.serving.kill()

    def reap(self) -> None:
        """Handle the answers and deaths of children; fork new ones."""
        if not self.shutdown.begun and self.children.step(self.now):
            for worker in self.workers:
                worker.announce_new_code()
        for slot in self.slots:
            if slot.code_files.have_changed(self.now):
                self.children.code_has_changed()
            for answer in slot.answers():
                self.endings.conclude(answer)
            for claim, moved in slot.take_moved_folders():
                self.endings.tell_of_folder(claim, moved)
            if (found := slot.take_announcement()) is not None:
                self.children.take_announcement(slot, found)
            death = slot.reap()
            if death is not None:
                self.endings.conclude_death(death)
            if slot.held.take_change():
                for worker in self.workers:
                    worker.beat_soon()  # a claim prefers jobs of the loaded model
            if not self.shutdown.begun and not self.parked:
                self.children.fork(slot, self.now)

    def heartbeat(self) -> None:
        """Renew every lease, send progress and logs, and apply the verdicts of the database."""
        for worker in self.workers:
            if worker.beat_due(self.now):
                held = [*self.slots.claims(), *worker.reporter.claims()]
                stats = {**self.stats(), **worker.reporter.stats(worker)}
                worker.beat(held, json.dumps(stats), self.now)
            for token, verdict in worker.verdicts(self.now).items():
                claim = self.slots.find(token) if verdict != "ok" else None
                self.endings.apply_verdict(claim, verdict, self.now + worker.settings.cancel_grace)
        self.database.send_logs(self.slots, self.now)
        for claim, verdict in self.progress.step(self.slots, self.now):
            kill_at = self.now + claim.worker.settings.cancel_grace
            self.endings.apply_verdict(claim, verdict, kill_at)

    def collect_claims(self) -> None:
        """Put the jobs that claims have returned into the backlog. After a claim that found few
        nodes, fewer than it asked for, the next one waits for their reports if they will come
        soon."""
        self.database.take_answer_to_reports(self.now)
        for worker in self.workers:
            claims = worker.claimed(self.now)
            self.slots.add(claims)
            if claims and not worker.found_all and self.slots.ends_node_soon(claims):
                worker.sleeper.wait_for_report(self.now)
            if worker.sleeper.take_echo_request():
                worker.links.durable.send(db.echo(worker.id))

    def control(self) -> None:
        """Follow the orders of operators and changed settings: switch workers on and off, load and
        unload models."""
        for worker in self.workers:
            if worker.take_settings(self.now):
                log.info("the settings of %s have changed", worker.queue)
                self.children.configure(self.database.settings)
            worker.update_registration(self.children.infos[worker.queue])
            if worker.control.step(self.now):
                self.switch(worker)
            for order in worker.control.orders():
                if not worker.control.on:
                    self.answers.send(order, "the worker is switched off")
                elif not self.serving.take_order(order, self.now):
                    self.slots.order(order)
            if not worker.control.on:
                self.endings.park(worker, kill=worker.control.policy == "hard")
        self.database.reregister(self.children.infos, self.shutdown.begun)
        for order, error in self.slots.take_orders_done() + self.serving.take_orders_done():
            self.answers.send(order, error)
        self.answers.step()
        self.parked = all(worker.control.frees_memory for worker in self.workers)
        for slot in self.slots if self.parked else ():
            slot.retire()

    def serve_models(self) -> None:
        """Start and stop model servers as the jobs in the backlog need them, and register what they
        can serve."""
        workers = self.database.workers
        draining, sample = self.shutdown.begun, self.telemetry.sample
        if self.serving.step(self.now, workers, draining, sample):
            self.children.change_infos()
            self.children.add_slots(self.database.settings)

    def hand_out(self) -> None:
        """Hand jobs of the backlog to children; while draining, release them instead."""
        if self.shutdown.begun:
            self.endings.release(self.slots.backlog)
        else:
            self.slots.hand_out()

    def claim(self) -> None:
        """Claim while there is room. A worker that has claimed is last in the next turn, so that
        none starves another. While all children have work, claims go beside the reports."""
        room, with_reports = self.room(), not self.slots.work_s()
        claimed = []
        for worker in self.workers:
            alone = not (worker.is_on_trial and self.slots.has_any_of(worker))
            share = shares.share_of(worker, room, self.workers, alone)
            busy = shares.are_busy(worker, room, share)
            if worker.claim_if_due(share, self.now, with_reports, busy):
                claimed.append(worker)
        if claimed and len(self.workers) > 1:
            self.workers = [one for one in self.workers if one not in claimed] + claimed

    # What the steps need.

    def stats(self) -> dict[str, Any]:
        """The part of a heartbeat about this."""
        disk = self.telemetry.stats()
        parts = self.slots.stats(), self.serving.stats(self.now), self.children.stats(), disk
        return {name: value for part in parts for name, value in part.items()}

    def room(self) -> shares.Room:
        """How many jobs to claim now."""
        if self.shutdown.begun:
            return shares.NO_ROOM
        more = any(worker.knows_more for worker in self.workers)
        room = shares.room_of(self.slots, self.now, more)
        held_back = self.database.reporter.held_back()
        if held_back is not None:
            room = room.at_most(max(0, self.slots.free_places() - held_back))
        return room

    def job_ended(
        self, claim: Claim, outcome: str, reason: str | None, seconds: float, rendered: bytes
    ) -> None:
        """Tell the circuit breaker of the worker and the model servers how a job ended."""
        self.serving.job_ended(claim, reason, seconds, rendered)
        if why := claim.worker.note_ended(claim, outcome, reason, seconds):
            self.host_faults.withdraw("task", claim.task, why)
        self.host_faults.job_ended(claim, reason, rendered, self.workers)

    def switch(self, worker: Worker) -> None:
        """Act on a worker that was just switched on or off. Off ends its children to free their
        memory, unless the policy is pause."""
        if worker.control.on:
            worker.claim_soon()
        off = {other for other in self.workers if other.control.frees_memory}
        alone = len(off) == len(self.workers)
        lanes_are_off = worker.lanes and not any(
            other.queue == worker.queue and other not in off for other in self.workers
        )
        for slot in self.slots if worker in off else ():
            if not (alone or (lanes_are_off and slot.heavy)):
                continue
            if worker.control.policy == "drain" or slot.runs_other(worker):
                slot.retire()
            else:
                self.endings.park(worker, kill=True)
                if any(claim.forced_outcome is None for claim in slot.claims.values()):
                    slot.retire()  # its body releases its job
                else:
                    slot.discard()

    # Starting.

    def start(self) -> None:
        """Wait for a database with a compatible schema, register, and make the slots. Raises
        StartAborted."""
        give_up_at = self.now + self.options.wait
        while not self.database.open(self.now, give_up_at):
            self.wait_to_start(self.database.opening.trouble)
        self.workers = list(self.database.workers)
        self.children.add_slots(self.database.settings)
        self.systemd.ready(f"serving {', '.join(self.options.queues)}")
        warn_of_unserved(self.children.abilities.task_options, self.options.queues)
        project = self.options.project
        jobs = "all projects" if project is None else f"project {project}"
        log.info(
            "serving %s for %s with %s", ", ".join(self.options.queues),
            "jobs without a project" if project == "" else jobs, self.slots.describe(),
        )  # fmt: skip

    def wait_to_start(self, trouble: str = "") -> None:
        """Wait a moment; log once what it waits for. Raises StartAborted when asked to stop."""
        if trouble not in ("", self.last_trouble):
            self.last_trouble = trouble
            log.info("waiting: %s", trouble)
        self.wait(self.now + BUSY_WAIT_S)
        if self.signals.stops:
            raise StartAborted(STOPPED)

    def next_at(self) -> float:
        """When the loop has something to do, unless something happens first."""
        times = [
            self.database.next_at(),
            self.watch.next_at(self.now),
            self.systemd.next_at(),
            self.serving.next_at(),
            float("inf") if self.shutdown.begun else self.children.new_code.next_at(),
        ]
        return min(times)

    # Stopping.

    def finished(self) -> bool:
        """True if the loop ends: it was asked to stop, and all reports are sent or late."""
        end = self.shutdown
        if not end.begun or self.now >= end.give_up_at:
            return end.begun
        reported = end.all_is_reported(self.workers, self.now)
        return reported and self.serving.is_down() and self.answers.idle()

    def stop(self) -> None:
        """End the children and the registrations. A card is free when its child has gone."""
        give_up_at = self.shutdown.leave_by(time.monotonic())
        self.children.new_code.stop()
        self.slots.let_end(give_up_at)
        calls = self.database.leave()
        while time.monotonic() < give_up_at and not (
            self.slots.have_ended() and all(call.done for _, call in calls)
        ):
            self.wait(self.now + BUSY_WAIT_S)
        for worker, call in calls:
            if call.failure is not None or not call.done:
                log.warning("cannot deregister %s: %s", worker.queue, call.failure or "no answer")
        self.serving.close()
        self.telemetry.close()
        self.guardian.close()
        log.info("stopped")
