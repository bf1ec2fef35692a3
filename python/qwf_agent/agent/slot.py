"""A slot for one child: which jobs the child has, and how they ended."""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from qwf_agent.agent.child_news import (
    Announcement,
    ChildDeath,
    JobAnswer,
    MovedFolder,
    NewCheckpoint,
)
from qwf_agent.agent.child_orders import MODEL_ORDER_S, ChildOrders
from qwf_agent.agent.child_process import ChildProcess
from qwf_agent.agent.claim import Claim, Claimant
from qwf_agent.agent.held_model import HeldModel
from qwf_agent.agent.running_body import RunningBody
from qwf_agent.child.code_files import CodeFiles
from qwf_agent.child.main import TICKET
from qwf_agent.child.messages import (
    ANSWER,
    FILES,
    MOVED,
    ORDER_DONE,
    READY,
    SAVE,
    STREAMED,
    Garbled,
    Message,
    pack_jobs,
)
from qwf_agent.child.outcome import JobOutcome
from qwf_agent.child.setup import Setup
from qwf_agent.child.stream_page import clip
from qwf_agent.child.tasks import IMPORT_S
from qwf_agent.system.cgroup import ControlGroup
from qwf_agent.system.guardian import Guardian

# First and longest wait before the next fork, after a child that died before it was ready.
WAIT_S = (0.05, 5.0)
LONG_BODY_S = 0.2
STUCK_S = 1.0  # jobs do not wait behind a body that runs longer than this
MOMENT_S = 0.01  # a job that starts so long after its claim has kept the rate of its limit
MAX_JOBS = 500  # their tickets fit into one page, the smallest pipe there is


class Slot:
    """Runs one child at a time. `claims` are the jobs that the child has and has not answered yet,
    in order: the first one is running.

    Invariant: a claim leaves `claims` exactly once: it is answered, taken back, or its child dies.
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
        self.heavy = heavy  # may run jobs that need a card to themselves
        self.card = card  # the only card that the child sees; None: as --gpu says
        self.code_files = CodeFiles()
        self.claims: deque[Claim] = deque()
        self.body = RunningBody(self.claims)
        self.held = HeldModel()
        self.orders = ChildOrders()
        self.work_s = 0.0  # expected seconds of work in `claims`
        self.ready = False  # the child has imported the user's app, and may get more jobs
        self._imported = False  # it has said that it is ready
        self.process: ChildProcess | None = None
        self._selector = selector
        self._guardian = guardian
        self._setup = setup
        self._group = group
        self._recycle_jobs = recycle_jobs
        self._spawn_at = 0.0
        self._discarded = False
        self._wait_s = WAIT_S[0]
        self._ready_by = 0.0
        self._jobs_left = 0
        self._ticket = 0
        self._announcement: Announcement | None = None
        self._moved: list[tuple[Claim, MovedFolder]] = []
        self.checkpoints: list[NewCheckpoint] = []  # that nobody has taken yet
        self._assigned: list[Message] = []  # jobs and orders to send, each with its ticket

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

    def has_room(self, seconds: float, budget_s: float) -> bool:
        """Return True if the child can take a job that is expected to run for `seconds`: yes if it
        is idle, else up to a budget of work."""
        if (
            not self.ready
            or self._jobs_left <= 0
            or len(self.claims) >= MAX_JOBS
            or self.orders.exist()
        ):
            return False
        return not self.claims or self.work_s + seconds <= budget_s

    def room(self, batch: int, now: float) -> int:
        """How many more jobs the child should get, up to `batch`; none behind a long body."""
        long = self.claims and self.body.seconds(now) > LONG_BODY_S
        if not self.ready or long or self.orders.exist():
            return 0
        return max(0, min(self._jobs_left, batch - len(self.claims)))

    def could_begin(self, now: float) -> bool:
        """Return True if a job that is handed to the child before all others begins now: the child
        is idle, or its body should end in a moment. Never behind another
        job of a rate: that one may take longer than usual."""
        if not self.ready or self._jobs_left <= 0 or self.orders.exist():
            return False
        if not self.claims:
            return True
        if any(claim.rated for claim in self.claims):
            return False
        seconds, expected_s = self.body.seconds(now), self.claims[0].expected_s
        return expected_s - seconds <= MOMENT_S and seconds < max(expected_s, MOMENT_S)

    def can_start_soon(self, now: float) -> bool:
        """Return True if a waiting job could start here soon."""
        return self.ready and not self.orders.exist() and self.body.seconds(now) <= STUCK_S

    def runs_other(self, worker: Claimant) -> bool:
        """Return True if the child runs a job of another worker."""
        return bool(self.claims) and self.claims[0].worker is not worker

    def assign(self, claim: Claim, seconds: float) -> None:
        """Add a job for the child; `flush` sends it."""
        self._ticket += 1
        self._jobs_left -= 1
        claim.ticket, claim.expected_s = self._ticket, seconds
        claim.given_at = time.monotonic()
        if not self.claims:
            self.body.startable_at = claim.given_at
        self.claims.append(claim)
        self.work_s += seconds
        self._assigned.append((self._ticket, *claim.for_child, claim.server))

    def take_ordinary(
        self, backlog: deque[Claim], expected: Callable[[str], float], budget_s: float
    ) -> None:
        """Assign jobs from the head of the backlog while they fit into a budget of work, up to one
        that needs a card or a model."""
        if not self.ready or self.orders.exist():
            return
        room = min(self._jobs_left, MAX_JOBS - len(self.claims))
        while room > 0 and backlog and not backlog[0].heavy and backlog[0].model is None:
            seconds = expected(backlog[0].task)
            if self.claims and self.work_s + seconds > budget_s:
                return
            self.assign(backlog.popleft(), seconds)
            room -= 1

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
        back = [claim for claim in self.claims if claim.ticket in tickets]
        for claim in back:
            self.claims.remove(claim)
            _note_gone(self, claim)
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

    def kill(self) -> None:
        """Kill the child and its process group."""
        self.ready, self._ready_by = False, float("inf")
        if self.process is not None:
            self.process.kill()

    def discard(self) -> None:
        """Kill a child that is not needed, to free its memory."""
        self._discarded = True
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
            self.ready = False
            self._ready_by = float("inf")
            self.process.close_tickets()
        return found

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
        running = next((claim for claim in self.claims if claim.ticket not in unread), None)
        unstarted = [claim for claim in self.claims if claim is not running]
        if running is not None and process.garbled is not None:
            running.forced_outcome = running.forced_outcome or _garbled(process.garbled)
        if running is not None:
            running.streamed = process.scoreboard.stream.read(running.ticket)
        log = process.log.take()
        process.close()
        self._guardian.remove(process.pid, sweep=exit_.status != 0)
        self.claims.clear()
        self.orders.child_died()
        self.held.change(None)
        self.code_files.clear()
        self.process = self.body.process = None
        self.ready, self.work_s = False, 0.0
        return ChildDeath(exit_, answers, running, seconds, unstarted, log, expected)

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
        if not self.claims or self.claims[0].ticket != ticket:  # a child answers in order
            raise Garbled(f"an answer with the ticket {ticket}, which is not that of its job")
        if used_up:
            self.retire()
        claim = self.claims.popleft()
        _note_gone(self, claim)
        return JobAnswer(claim, outcome, reason, report, seconds, process.log.take())

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
            if not self.claims or self.claims[0].ticket != ticket:
                raise Garbled(f"a folder of the ticket {ticket}, which is not that of its job")
            self._moved.append((self.claims[0], MovedFolder(folder, moved_to, held)))
        elif kind == SAVE:
            ticket, number, text = values
            claim = next((one for one in self.claims if one.ticket == ticket), None)
            if claim is None:
                raise Garbled(f"a checkpoint of the ticket {ticket}, which is not of its jobs")
            self.checkpoints.append(NewCheckpoint(claim, number, text))
        elif kind == STREAMED:
            ticket, written, text = values
            if not self.claims or self.claims[0].ticket != ticket:
                raise Garbled(f"a stream of the ticket {ticket}, which is not that of its job")
            self.claims[0].streamed = written, clip(text)
        elif kind == ORDER_DONE:
            ticket, error = values
            self.orders.take_answer(ticket, error)
        else:
            if self.claims:
                self.claims[0].model_loaded = True
            self.held.take_message(kind, *values)


def _note_gone(slot: Slot, claim: Claim) -> None:
    """Note that the child does not have the job any more."""
    if slot.claims:
        slot.work_s = max(0.0, slot.work_s - claim.expected_s)
    else:
        slot.work_s, slot.held.free_since = 0.0, time.monotonic()


def _garbled(why: str) -> JobOutcome:
    error = f"the process sent nonsense while the body ran: {why}"
    return JobOutcome("lost", error=error, detail={"reason": "garbled"})
