"""A place for one child: which jobs it has, which of them is running, and what became of them."""

from __future__ import annotations

import selectors
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

from qwf_agent.agent.child_process import ChildExit, ChildProcess
from qwf_agent.agent.claim import Claim
from qwf_agent.child.code_files import CodeFiles
from qwf_agent.child.main import FIRST_ORDER_TICKET, TICKET
from qwf_agent.child.messages import ANSWER, FILES, ORDER_DONE, READY, REUSED, pack
from qwf_agent.child.scoreboard import ProgressRecord
from qwf_agent.child.setup import Setup
from qwf_agent.child.tasks import IMPORT_S
from qwf_agent.system.cgroup import ControlGroup
from qwf_agent.system.guardian import Guardian

WAIT_S = (
    0.05,
    5.0,
)  # before forking again after a child that died before it was ready: first and longest

MODEL_ORDER_S = 1200.0  # longest that loading a model on request may take
LONG_BODY_S = 0.2
STUCK_S = 1.0  # jobs do not wait behind a body that runs longer
MOST_JOBS = 500  # so that their tickets fit into one page, the least a pipe can hold


class JobAnswer(NamedTuple):
    """What a child said about one job: the outcome and its reason, what to report, seconds its
    body took, the end of what it printed."""

    claim: Claim
    outcome: str
    reason: str | None
    rendered: bytes
    seconds: float
    log: str


class ChildDeath(NamedTuple):
    """The end of a child: its last answers, the job that was running, for how long, and what that
    had printed, those never started."""

    exit: ChildExit
    answers: list[JobAnswer]
    running: Claim | None
    seconds: float
    unstarted: list[Claim]
    log: str
    expected: bool


class ModelOrder(NamedTuple):
    """Somebody wants a model loaded or unloaded: the id of the request and the worker that took it
    up, which go to the database with the answer."""

    request_id: int
    taken_by: str
    action: str
    model: str | None


@dataclass
class ModelLoads:
    """Models loaded by the children of one slot, the seconds that took, and how often one was
    there already."""

    count: int = 0
    seconds: float = 0.0
    avoided: int = 0


class Slot:
    """One child at a time. `claims` are the jobs it was given and has not answered, in order: the
    first is running.

    Invariant: a claim leaves `claims` once: by an answer, by being taken back, or by the death
    of the child.
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
        self.heavy = heavy  # may run what needs a card to itself
        self.card = card  # the only card its child sees; None: whatever --gpu says
        self.model: str | None = None  # what its child has loaded
        self.loads = ModelLoads()
        self.code_files = CodeFiles()
        self.orders: deque[ModelOrder] = deque()
        self.claims: deque[Claim] = deque()
        self.load_s = 0.0  # work it has, as far as that is known
        self.ready = False  # the child has imported the user's app
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
        self._left = 0
        self._ticket = 0
        self._first_since = 0.0
        self._model_is_news = False
        self._announcement: tuple[list[str], dict[str, int]] | None = None
        self._ordered: dict[int, ModelOrder] = {}
        self._orders_done: list[tuple[ModelOrder, str | None]] = []
        self._jobs, self._tickets = bytearray(), bytearray()

    def configure(self, setup: Setup, recycle_jobs: int) -> None:
        """From now on children are set up like this; one that was told otherwise leaves."""
        if (setup, recycle_jobs) != (self._setup, self._recycle_jobs):
            self._setup, self._recycle_jobs = setup, recycle_jobs
            self.retire()

    def spawn(self, now: float) -> None:
        """Fork a child if there is none and it is time. Raises OSError when the system has no
        process to give."""
        if self.process is None and now >= self._spawn_at:
            self._discarded = False
            self._spawn_at = now + self._wait_s
            self._wait_s = min(self._wait_s * 2, WAIT_S[1])
            self.process = ChildProcess(self._selector, self._setup, self._group)
            self._guardian.add(self.process.pid)
            self._left = self._recycle_jobs
            self._ready_by = now + IMPORT_S

    def is_overdue(self, now: float) -> bool:
        """Whether the child has been getting ready, or carrying out an order, for too long."""
        waiting = not self.ready or self._ordered
        return self.process is not None and bool(waiting) and now > self._ready_by

    def has_room(self, seconds: float, budget_s: float) -> bool:
        """Whether to give it a job that is expected to take so long: at once if idle, else up to
        a budget of work."""
        if not self.ready or self._left <= 0 or len(self.claims) >= MOST_JOBS or self.has_orders():
            return False
        return not self.claims or self.load_s + seconds <= budget_s

    def room(self, batch: int, now: float) -> int:
        """How many more jobs it should be given, where `batch` is a slot's share; none behind a
        body that takes long."""
        long = self.claims and self.running_for(now) > LONG_BODY_S
        if not self.ready or long or self.has_orders():
            return 0
        return max(0, min(self._left, batch - len(self.claims)))

    def is_hopeful(self, now: float) -> bool:
        """Whether a job that waits could start here soon."""
        return self.ready and not self.has_orders() and self.running_for(now) <= STUCK_S

    def runs_other(self, queue: str) -> bool:
        """Whether its child runs a job of another queue."""
        return bool(self.claims) and self.claims[0].queue != queue

    def has_orders(self) -> bool:
        """Whether its child is to load or unload a model before it gets another job."""
        return bool(self.orders or self._ordered)

    def assign(self, claim: Claim, seconds: float) -> None:
        """Put a job on the child's list; `flush` sends it."""
        self._ticket += 1
        self._left -= 1
        claim.ticket, claim.expected_s = self._ticket, seconds
        claim.given_at = time.monotonic()
        if not self.claims:
            self._first_since = claim.given_at
        self.claims.append(claim)
        self.load_s += seconds
        self._jobs += pack((self._ticket, *claim.for_child))
        self._tickets += TICKET.pack(claim.ticket)

    def flush(self) -> None:
        """Send what was assigned; orders, once nothing else is left to do."""
        while self.orders and self.ready and not self.claims:
            self._ticket += 1
            ticket, order = FIRST_ORDER_TICKET + self._ticket, self.orders.popleft()
            self._ordered[ticket] = order
            self._ready_by = time.monotonic() + MODEL_ORDER_S
            self._jobs += pack((ticket, order.action, order.model))
            self._tickets += TICKET.pack(ticket)
        if self._tickets and self.process is not None:
            self.process.send(bytes(self._jobs), bytes(self._tickets))
            self._jobs.clear()
            self._tickets.clear()

    def take_back(self) -> list[Claim]:
        """The jobs the child has not started, and now never will."""
        if self.process is None or not self.claims:  # orders are never behind a job
            return []
        tickets = self.process.take_tickets()
        back = [claim for claim in self.claims if claim.ticket in tickets]
        for claim in back:
            self._leave(claim)
        self._left += len(back)
        return back

    def running_for(self, now: float) -> float:
        """Seconds that the body of the first job has run; before it starts, since the child
        could have begun with it."""
        if not self.claims or self.process is None:
            return 0.0
        running, first = self.process.scoreboard.running(), self.claims[0]
        # Memory is shared without a lock: a time from before the job was given is another job's.
        mine = running.ticket == first.ticket and running.since >= first.given_at
        return now - (running.since if mine else self._first_since)

    def is_loading(self) -> bool:
        """Whether what runs is not the body of the first job yet, but the loading of its model."""
        if not self.claims or self.process is None:
            return False
        running = self.process.scoreboard.running()
        return running.loading and running.ticket == self.claims[0].ticket

    def take_model_news(self) -> bool:
        """Whether its child has loaded or given up a model since last asked."""
        news, self._model_is_news = self._model_is_news, False
        return news

    def take_announcement(self) -> tuple[list[str], dict[str, int]] | None:
        """Names of tasks, and of models with the GPU memory each needs, MiB, as a new child has
        found them."""
        said, self._announcement = self._announcement, None
        return said

    def take_orders_done(self) -> list[tuple[ModelOrder, str | None]]:
        """Orders that have ended since last asked, each with what went wrong, if anything."""
        done, self._orders_done = self._orders_done, []
        return done

    def printed(self, most: int) -> tuple[int, str]:
        """How many bytes the running body has printed, and the last of them, at most so many."""
        if self.process is None:
            return 0, ""
        return self.process.log.printed, self.process.log.end(most)

    def progress_version(self) -> int:
        """Which of its reports of progress was the last of the first job; 0 before its first."""
        if not self.claims or self.process is None:
            return 0
        return self.process.scoreboard.progress_version(self.claims[0].ticket)

    def progress(self) -> ProgressRecord | None:
        """What the running body said last about how far it is, if that is news."""
        if not self.claims or self.process is None:
            return None
        said, claim = self.process.scoreboard.progress(), self.claims[0]
        if said is None or said.ticket != claim.ticket or said.version == claim.progress_seen:
            return None
        claim.progress_seen = said.version
        return said

    def cancel(self, claim: Claim) -> None:
        """Tell the body to stop."""
        if self.process is not None:
            self.process.cancel(claim.ticket)

    def kill(self) -> None:
        """Kill the child and its whole group."""
        self.ready, self._ready_by = False, float("inf")
        if self.process is not None:
            self.process.kill()

    def discard(self) -> None:
        """Kill a child that is not needed, and with it whatever it holds in memory."""
        self._discarded = True
        self.kill()

    def retire(self) -> None:
        """No more jobs for this child: it leaves when it has done those it has."""
        self._left = -MOST_JOBS  # none, even after some were taken back

    def answers(self) -> list[JobAnswer]:
        """What the child has said about its jobs; lets it go when those were its last."""
        found = [] if self.process is None else self._read_answers(self.process)
        if self.process is not None and self.ready and self._left <= 0 and not self.claims:
            self.ready = False
            self._ready_by = float("inf")
            self.process.hang_up()
        return found

    def reap(self) -> ChildDeath | None:
        """The end of the child, if it has come."""
        process = self.process
        if process is None or (exit_ := process.wait()) is None:
            return None
        expected = self._discarded or (not self.ready and exit_.status == 0)
        seconds = self.running_for(time.monotonic())
        answers = self._read_answers(process)
        unread = process.take_tickets()
        running = next((claim for claim in self.claims if claim.ticket not in unread), None)
        unstarted = [claim for claim in self.claims if claim is not running]
        log = process.log.take()
        process.close()
        self._guardian.remove(process.pid, sweep=exit_.status != 0)
        self.claims.clear()
        self._orders_done += [(order, "its process died") for order in self._ordered.values()]
        self._ordered.clear()
        self._has_model(None)
        self.code_files.clear()
        self.process, self.ready, self.load_s = None, False, 0.0
        return ChildDeath(exit_, answers, running, seconds, unstarted, log, expected)

    def _read_answers(self, process: ChildProcess) -> list[JobAnswer]:
        found = []
        for message in process.hear():
            if message[0] != ANSWER:
                self._take_news(*message)
                continue
            _, ticket, outcome, reason, seconds, full, report = message
            claim = self.claims[0]
            if claim.ticket != ticket:  # never, as jobs are answered in their order
                claim = next(claim for claim in self.claims if claim.ticket == ticket)
            if full:
                self.retire()
            self._leave(claim)
            found.append(JobAnswer(claim, outcome, reason, report, seconds, process.log.take()))
        if found:
            self._first_since = time.monotonic()
        return found

    def _take_news(self, kind: str, *said: Any) -> None:
        """What a child says about itself."""
        if kind == READY:
            self.ready, self._wait_s, self._spawn_at = True, WAIT_S[0], 0.0
            tasks, models = said
            self._announcement = tasks, models
        elif kind == FILES:
            self.code_files.add(*said)
        elif kind == ORDER_DONE:
            ticket, error = said
            self._orders_done.append((self._ordered.pop(ticket), error))
        else:
            self._take_model_news(kind, *said)

    def _take_model_news(self, kind: str, *said: Any) -> None:
        if self.claims:
            self.claims[0].model_loaded = True
        if kind == REUSED:
            self.loads.avoided += 1
            return
        name, load_s = said
        self._has_model(name)
        if name is not None:
            self.loads.count += 1
            self.loads.seconds += load_s

    def _has_model(self, name: str | None) -> None:
        self._model_is_news = self._model_is_news or name != self.model
        self.model = name

    def _leave(self, claim: Claim) -> None:
        if self.claims[0] is claim:
            self.claims.popleft()
        else:
            self.claims.remove(claim)
        self.load_s = max(0.0, self.load_s - claim.expected_s) if self.claims else 0.0
