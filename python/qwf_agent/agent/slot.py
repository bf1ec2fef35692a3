"""A slot for one child: its process, and how its jobs ended."""

from __future__ import annotations

import selectors
import time
from typing import Any

from qwf_agent.agent.child_news import (
    Announcement,
    ChildDeath,
    JobAnswer,
    MovedFolder,
    NewCheckpoint,
)
from qwf_agent.agent.child_orders import MODEL_ORDER_S
from qwf_agent.agent.child_process import ChildProcess
from qwf_agent.agent.claim import Claim
from qwf_agent.agent.held_model import HeldModel
from qwf_agent.agent.slot_jobs import MAX_JOBS, SlotJobs
from qwf_agent.child.code_files import CodeFiles
from qwf_agent.child.main import TICKET
from qwf_agent.child.messages import (
    ANSWER,
    FILES,
    MOVED,
    ORDER_DONE,
    PROGRESS,
    READY,
    SAVE,
    STREAMED,
    TRACKED,
    Garbled,
    Message,
    pack_jobs,
)
from qwf_agent.child.outcome import JobOutcome
from qwf_agent.child.scoreboard import MESSAGE_BYTES, ProgressRecord
from qwf_agent.child.setup import Setup
from qwf_agent.child.stream_parts import joined
from qwf_agent.child.tasks import IMPORT_S
from qwf_agent.system.cgroup import ControlGroup
from qwf_agent.system.guardian import Guardian

# First and longest wait before the next fork, after a child that died before it was ready.
WAIT_S = (0.05, 5.0)


class Slot(SlotJobs):
    """Runs one child at a time. `jobs` are those that the child has and has not answered yet.

    Invariant: a claim leaves `jobs` exactly once: it is answered, taken back, or its child dies.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        setup: Setup,
        recycle_jobs: int,
        heavy: bool = False,
        card: int | None = None,
        group: ControlGroup | None = None,
    ) -> None:
        super().__init__()
        self.heavy = heavy  # may run jobs that need a card to themselves
        self.card = card  # the only card that the child sees; None: as --gpu says
        self.code_files = CodeFiles()
        self.held = HeldModel()
        self._imported = False  # it has said that it is ready
        self._selector = selector
        self._guardian = guardian
        self._setup = setup
        self._group = group
        self._recycle_jobs = recycle_jobs
        self._spawn_at = 0.0
        self._discarded = False
        self._cause: JobOutcome | None = None  # why it was killed, if for no job
        self._unit_log = (0, "")  # the batch whose log was taken last, and the log
        self._wait_s = WAIT_S[0]
        self._ready_by = 0.0
        self._announcement: Announcement | None = None
        self._moved: list[tuple[Claim, MovedFolder]] = []
        self.checkpoints: list[NewCheckpoint] = []  # that nobody has taken yet
        self.tracked: list[Claim] = []  # whose bodies have tracked something new

    def configure(self, setup: Setup, recycle_jobs: int) -> None:
        """Set up children like this from now on; a child with another setup is replaced."""
        if (setup, recycle_jobs) != (self._setup, self._recycle_jobs):
            self._setup, self._recycle_jobs = setup, recycle_jobs
            self.retire()

    def spawn(self, now: float) -> None:
        """Fork a child if there is none and it is time. Raises OSError if the system is out of
        processes or descriptors."""
        if self.process is None and now >= self._spawn_at:
            self._discarded = self._imported = False
            self._spawn_at = now + self._wait_s
            self._wait_s = min(self._wait_s * 2, WAIT_S[1])
            child = ChildProcess(self._selector, self._setup, self._group)
            self.process = self.body.process = child
            self._guardian.add(child.pid)
            self._jobs_left = self._recycle_jobs
            self._ready_by = now + IMPORT_S

    def is_overdue(self, now: float) -> bool:
        """Return True if the child takes too long to get ready or to carry out an order."""
        waiting = not self.ready or self.orders.are_under_way
        return self.process is not None and waiting and now > self._ready_by

    def check_messages(self, now: float) -> None:
        """Kill a child that has sent a part of a message, and then nothing more."""
        if self.process is not None:
            self.process.check_rest(now)

    def flush(self) -> None:
        """Send the assigned jobs to the child, and orders when it has no job left."""
        while self.orders.waiting and self.ready and not self.claims:
            self._ticket += 1
            self._ready_by = time.monotonic() + MODEL_ORDER_S
            self._assigned.append(self.orders.send_next(self._ticket))
        if self._assigned and self.process is not None:
            tickets = b"".join([TICKET.pack(message[0]) for message in self._assigned])
            self.process.send(pack_jobs(self._assigned), tickets)
            self._assigned.clear()

    def take_back(self) -> list[Claim]:
        """Take back the jobs that the child has not started."""
        if self.process is None or not self.claims:  # an order is never queued behind a job
            return []
        tickets = self.process.take_tickets()
        back = [claim for claim in self.claims.values() if claim.unit in tickets]
        for claim in back:
            self._remove(self.process, claim)
        self._jobs_left += len(back)
        return back

    def take_announcement(self) -> Announcement | None:
        """The findings of a new child; once for each child."""
        found, self._announcement = self._announcement, None
        return found

    def take_moved_folders(self) -> list[tuple[Claim, MovedFolder]]:
        """The folders that were moved aside since the last call, each with the job that needed
        it."""
        moved, self._moved = self._moved, []
        return moved

    def tell(self, claim: Claim, word: str, until: float) -> None:
        """Tell the body to stop: a word of `child.cancel.WORDS`, and when it is killed."""
        if self.process is not None:
            self.process.tell(claim.ticket, word, until)

    def is_silent(self, now: float) -> bool:
        """Return True if a body blocks the event loop in which many run. Call it again and
        again."""
        if self.process is None or not self.jobs.are_concurrent:
            return False
        return self.jobs.is_silent(self.process.scoreboard, now)

    def on_cpu(self) -> Claim | None:
        """The job whose body is on the CPU, if many run at once."""
        return None if self.process is None else self.jobs.on_cpu(self.process.scoreboard)

    def kill(self, cause: JobOutcome | None = None) -> None:
        """Kill the child and its process group. `cause` says why, if it is for no job of many."""
        self.ready, self._ready_by = False, float("inf")
        self._cause = self._cause or cause
        if self.process is not None:
            self.process.kill()

    def discard(self) -> None:
        """Kill a child that is not needed, to free its memory."""
        self._discarded = True
        self.kill()

    def let_end(self) -> None:
        """Let an idle child, or one that ends already, come to its end; kill any other."""
        is_idle = self.ready and not self.claims and not self.orders.exist()
        if is_idle and self.process is not None:
            self._close(self.process)
        elif self.ready or self._ready_by < float("inf"):
            self.kill()

    def retire(self) -> None:
        """Give this child no more jobs: it exits after those it has."""
        self._jobs_left = -MAX_JOBS  # stays negative even if jobs are taken back

    def answers(self) -> list[JobAnswer]:
        """The new answers of the child; lets it exit if it has no job left and gets no more."""
        found = [] if self.process is None else self._read_answers(self.process)
        if self.ready and self.process is not None and self.process.garbled is not None:
            self.kill()  # it gets no more jobs
        if self.process is not None and self.ready and self._jobs_left <= 0 and not self.claims:
            self._close(self.process)
        return found

    def _close(self, process: ChildProcess) -> None:
        """Send no more jobs: the child exits."""
        self.ready, self._ready_by = False, float("inf")
        process.close_tickets()

    def reap(self) -> ChildDeath | None:
        """The death of the child, or None while it lives."""
        process = self.process
        if process is None or (exit_ := process.wait()) is None:
            return None
        seconds = self.body.seconds(time.monotonic())
        answers = self._read_answers(process)
        leaving = not self.ready or self._jobs_left < 0
        expected = self._discarded or (leaving and exit_.status == 0)
        unread = process.take_tickets()
        running = self.jobs.running(unread)
        unstarted = [claim for claim in self.claims.values() if claim.unit in unread]
        are_many, culprit = self.jobs.are_concurrent, running[0] if len(running) == 1 else None
        if are_many and culprit is None and self._cause is None:
            culprit = self.on_cpu()
        if culprit is not None and process.garbled is not None:
            culprit.forced_outcome = culprit.forced_outcome or _garbled(process.garbled)
        if not are_many and running:
            running[0].streamed = process.scoreboard.stream.read(running[0].ticket)
        logs = [self._take_log(process, claim) for claim in running]
        log = process.log.take() if are_many or not running else ""
        process.close()
        self._guardian.remove(process.pid, sweep=exit_.status != 0)
        self.jobs.clear()
        self.orders.child_died()
        self.held.change(None)
        self.code_files.clear()
        self.process = self.body.process = None
        self.ready, self.work_s = False, 0.0
        cause, self._cause = self._cause, None
        return ChildDeath(
            exit_, answers, running, seconds, logs, culprit, unstarted, expected, cause, log
        )

    def _read_answers(self, process: ChildProcess) -> list[JobAnswer]:
        found = []
        try:
            for message in process.take_messages():
                if message[0] == ANSWER:
                    found.append(self._take_answer(process, message))
                else:
                    self._take_message(*message)
        except Exception as error:  # whatever a child sends, it harms no other child
            process.end_garbled(error)
        if found:
            self.body.startable_at = time.monotonic()
        return found

    def _take_answer(self, process: ChildProcess, message: Message) -> JobAnswer:
        _, ticket, outcome, reason, seconds, used_up, report = message
        claim = self.claims.get(ticket)
        if claim is None or not self.jobs.is_answered_next(claim):
            raise Garbled(f"an answer with the ticket {ticket}, which is not that of its job")
        if used_up:
            self.retire()
        log = self._take_log(process, claim)
        self._remove(None, claim)
        return JobAnswer(claim, outcome, reason, report, seconds, log)

    def _take_log(self, process: ChildProcess, claim: Claim) -> str:
        """The log of the body of this job; the jobs of a batch share one."""
        if claim.is_concurrent:
            return process.log.take_job(claim.ticket)
        if claim.shape is None:
            return process.log.take()
        if self._unit_log[0] != claim.unit:
            self._unit_log = (claim.unit, process.log.take())
        return self._unit_log[1]

    def _remove(self, process: ChildProcess | None, claim: Claim) -> None:
        """The child does not have the job any more."""
        if process is not None and claim.is_concurrent:
            process.log.take_job(claim.ticket)
        self.jobs.remove(claim)
        if self.claims:
            self.work_s = max(0.0, self.work_s - claim.expected_s)
        else:
            self.work_s, self.held.free_since = 0.0, time.monotonic()

    def _take_message(self, kind: str, *values: Any) -> None:
        """Handle a message that is not about a job."""
        if kind == READY:
            if self._imported:
                raise Garbled("it says again that it is ready")
            self.ready = self._imported = True
            self._wait_s, self._spawn_at = WAIT_S[0], 0.0
            self._announcement = Announcement(*values)
        elif kind == FILES:
            self.code_files.add(*values)
        elif kind == MOVED:
            ticket, folder, moved_to, held = values
            claim = self._named(ticket, "a folder")
            self._moved.append((claim, MovedFolder(folder, moved_to, held)))
        elif kind == SAVE:
            ticket, number, text = values
            self.checkpoints.append(
                NewCheckpoint(self._named(ticket, "a checkpoint"), number, text)
            )
        elif kind == TRACKED:
            ticket, text = values
            claim = self._named(ticket, "numbers")
            claim.series = text
            self.tracked.append(claim)
        elif kind == STREAMED:
            ticket, written, text = values
            claim = self._named(ticket, "a stream")
            claim.streamed = joined(claim.streamed, written, text)
        elif kind == PROGRESS:
            ticket, fraction, text = values
            claim = self._named(ticket, "progress")
            version = 1 + (claim.progress.version if claim.progress is not None else 0)
            claim.progress = ProgressRecord(version, ticket, fraction, text[:MESSAGE_BYTES])
        elif kind == ORDER_DONE:
            ticket, error = values
            self.orders.take_answer(ticket, error)
        else:
            for body in self.bodies():
                for claim in body.claims:
                    claim.model_loaded = True
            self.held.take_message(kind, *values)

    def _named(self, ticket: int, what: str) -> Claim:
        claim = self.claims.get(ticket)
        if claim is None or not self.jobs.is_answered_next(claim):
            raise Garbled(f"{what} of the ticket {ticket}, which is not that of its job")
        return claim


def _garbled(why: str) -> JobOutcome:
    error = f"the process sent nonsense while the body ran: {why}"
    return JobOutcome("lost", error=error, detail={"reason": "garbled"})
