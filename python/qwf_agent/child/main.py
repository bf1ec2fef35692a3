"""The main loop of a child: it takes jobs one by one, runs their bodies and answers how they ended.

The parent writes a job to the socket and its ticket to a pipe. The process that reads the ticket
owns the job: the child reads it to start the job, the parent to take the job back. So a child never
runs a job that the parent has given to another one.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from qwf_agent.child.body_loop import BodyLoop, LoopParts, NoMoreTickets
from qwf_agent.child.cancel import CANCEL, MOST_TOLD, TOLD, WORDS, new_events
from qwf_agent.child.code_files import imported_files
from qwf_agent.child.command import write_all
from qwf_agent.child.job_output import flush_output, open_output
from qwf_agent.child.left_processes import LeftProcesses
from qwf_agent.child.messages import (
    FILES,
    FIRST_ORDER_TICKET,
    MOVED,
    ORDER_DONE,
    READY,
    STREAMED,
    Message,
    Unpacker,
    Work,
    is_batch,
    pack_answer,
    pack_message,
    read_jobs,
)
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import JobOutcome, broke_card, clip, of_exception, render
from qwf_agent.child.own_folder import Moved
from qwf_agent.child.process_state import LimitWatch, ProcessState
from qwf_agent.child.runner import Runner
from qwf_agent.child.saving import Saver
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.tasks import Tasks
from qwf_agent.child.usage import Usage
from qwf_agent.system.fork import adopt_orphans, detach, die_with_parent, redirect_descriptors
from qwf_agent.system.guardian import MARK

TICKET = struct.Struct("<Q")
SHORT_S = 0.001  # answers of shorter bodies go through shared memory, without a system call
STARTS_S = 50e-6  # a body that is shorter cannot have started a process
NAMED = 20  # jobs of a batch that each of them names
NOTHING: frozenset[int] = frozenset()
BROKEN = 70  # exit code if the child's own code failed: EX_SOFTWARE


def main(channel: ParentChannel, setup: Setup) -> NoReturn:
    """Run a child to its exit. It finalises nothing that it inherited, above all no database
    connection."""
    code = BROKEN
    try:
        _set_up_process(channel)
        os.environ.update({**setup.environment, MARK: f"{setup.mark}.{os.getpid()}"})
        Child(channel, setup).serve()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


class Child:
    """Runs the jobs that it has tickets for, in order.

    Invariant: it sends one answer for every job whose ticket it reads, unless it dies.
    """

    def __init__(self, channel: ParentChannel, setup: Setup) -> None:
        self._channel = channel
        self._setup = setup
        self._host = json.dumps(setup.host)
        self._tasks = Tasks(setup.app, setup.nodes, setup.otel)
        self._unpacker = Unpacker()
        self._jobs: deque[Message] = deque()
        self._current: frozenset[int] = NOTHING  # tickets of the jobs whose body runs, alone
        self._in_loop = False  # many bodies run at once
        self._cancelled: set[int] = set()
        self._events = new_events()
        self._pid = os.getpid()
        self._poll = select.poll()
        self._poll.register(channel.tickets, select.POLLIN)
        self._usage = Usage()
        self._sent = 0  # messages over the socket
        self._sending = threading.Lock()
        self._code_count = 0  # modules, and other files and folders to watch
        self._models = Models({}, setup.model_idle, self._send)
        self._runner: Runner  # from `serve` on
        self._limits = LimitWatch()
        self._limits.watch()
        self._state = ProcessState(self._limits)
        self._processes = LeftProcesses()
        # False: a body has left a state that cannot be put back, or a process that cannot be ended.
        self._is_clean = True
        self._card_is_broken = False
        signal.signal(signal.SIGUSR1, self._on_told)
        # A command shares this process group: its SIGTERM must not end this process.
        signal.signal(signal.SIGTERM, _ignore)
        # What a timer of a body that has ended would send. Most bodies set no timer: to ignore
        # these signals is cheaper than to stop two timers after each body.
        signal.signal(signal.SIGVTALRM, _ignore)
        signal.signal(signal.SIGPROF, _ignore)

    def serve(self) -> None:
        """Import the app, then run jobs until the parent sends no more or the card fails."""
        self._models = Models(self._tasks.models(), self._setup.model_idle, self._send_of_model)
        parts = self._tasks, self._models, self._channel.scoreboard, self._events
        saver = Saver(self._send, self._channel.scoreboard, self._setup.limits.value_bytes)
        self._runner = Runner(self._setup, *parts, self._send_code_files, self._send_moved, saver)
        names, needs = self._tasks.names(), self._tasks.model_needs()
        self._send_code_files()
        self._state = ProcessState(self._limits)
        options, shapes = self._tasks.declared_options(), self._tasks.shapes()
        self._send((READY, names, needs, options, shapes))
        loop = BodyLoop(
            LoopParts(
                self._channel, self._setup, self._runner, self._models, self._message_now,
                self._take_told, self._pack, self._send_bytes,
            )
        )  # fmt: skip
        message = self._next_message()
        while message is not None:
            if message[0] >= FIRST_ORDER_TICKET:
                self._carry_out(*message)
            elif not self._runner.shapes:  # the usual case: an app without such bodies
                self._run_one(Work(*message))
            elif self._runner.is_concurrent(message):
                message = self._run_many(loop, message)
                continue
            elif is_batch(message):
                self._run_batch([Work(*fields) for fields in message[1]])
            else:
                self._run_one(Work(*message))
            # Whoever waits behind a body that has broken the card runs in another process.
            message = None if self._card_is_broken else self._next_message()
        self._tasks.end()

    def _run_one(self, work: Work) -> None:
        started = time.monotonic()
        (outcome,) = self._run([work], lambda: [self._runner.run(work, self._renew_state)])
        seconds = self._end_body(started)
        self._send_streamed(work.ticket)
        cpu_s, max_rss = self._usage.measure_cpu(seconds), self._usage.max_rss_bytes
        more = f'"cpu_seconds": {cpu_s:.6f}, "max_rss_bytes": {max_rss}'
        flush_output()
        answer = self._pack(work.ticket, outcome, seconds, more)
        is_kept = seconds <= SHORT_S and self._keep(answer)
        write_all(self._channel.log, self._channel.mark)  # this wakes the parent
        if not is_kept:
            self._send_bytes(answer)

    def _run_batch(self, works: list[Work]) -> None:
        """Run the body of these jobs, and answer about each. The time that it took is divided."""
        started, runner = time.monotonic(), self._runner
        outcomes = self._run(
            works,
            lambda: runner.run_batch(works, self._renew_state, self._cancelled.__contains__),
        )
        seconds = self._end_body(started)
        cpu_s, max_rss = self._usage.measure_cpu(seconds), self._usage.max_rss_bytes
        count = len(works)
        more = f'"cpu_seconds": {cpu_s / count:.6f}, "max_rss_bytes": {max_rss}'
        if count > 1:
            batch = {"size": count, "jobs": [work.job_id for work in works[:NAMED]]}
            more += f', "batch": {json.dumps(batch)}'
        flush_output()
        write_all(self._channel.log, self._channel.mark)
        answers = [
            self._pack(work.ticket, outcome, seconds / count, more)
            for work, outcome in zip(works, outcomes, strict=True)
        ]
        self._send_bytes(b"".join(answers), count)

    def _run_many(self, loop: BodyLoop, first: Message) -> Message | None:
        """Run many bodies at once; returns the first job of another kind, or None at the end."""
        self._renew_state()
        self._in_loop = True
        try:
            return loop.serve(first)
        finally:
            self._in_loop = False
            self._on_told()  # what came for the next job meanwhile
            self._end_body(0.0)

    def _end_body(self, started: float) -> float:
        """Put back what the body has changed; returns for how many seconds it ran."""
        if os.getpid() != self._pid:
            os._exit(0)  # the body forked, and this is the copy
        seconds = time.monotonic() - started
        self._put_back()
        if seconds > STARTS_S:
            self._end_left_processes()
        return seconds

    def _next_message(self) -> Message | None:
        """The next job or order; None if no more will come."""
        try:
            while (message := self._message_now()) is None:
                self._poll.poll(self._models.idle_ms())
                self._models.expire()
        except NoMoreTickets:
            return None
        return message

    def _message_now(self) -> Message | None:
        """The next job or order, if there is a ticket for one. Raises NoMoreTickets if no
        more will come."""
        try:
            data = os.read(self._channel.tickets, TICKET.size)
        except BlockingIOError:  # no ticket, or the parent took it back
            return None
        if not data:
            raise NoMoreTickets
        return self._receive(int(TICKET.unpack(data)[0]))

    def _receive(self, ticket: int) -> Message:
        """The job of this ticket; the jobs before it were taken back."""
        while True:
            while self._jobs:
                message = self._jobs.popleft()
                if message[0] == ticket:
                    return message
            data = self._channel.socket.recv(1 << 18)
            if not data:
                raise EOFError("the agent has ended")
            for part in self._unpacker.feed(data):
                self._jobs.extend(read_jobs(part))

    def _run(self, works: list[Work], run: Callable[[], list[JobOutcome]]) -> list[JobOutcome]:
        """Run one body, and turn anything it raises into outcomes of its jobs."""
        self._current = frozenset([work.ticket for work in works])
        if self._cancelled and self._current <= self._cancelled:
            outcomes = [JobOutcome("cancelled") for _ in works]
        else:
            try:
                outcomes = run()
            except BaseException as error:
                told, limits = self._events.stopping.reason, self._setup.limits
                outcome = of_exception(error, limits.error_bytes, self._setup.gpu, told)
                outcomes = [self._runner.with_files(work.ticket, outcome) for work in works]
        self._models.touch()
        self._cancelled -= self._current
        self._current = NOTHING
        self._events.clear()
        return outcomes

    def _renew_state(self) -> None:
        """Called before a body: what importing its code has changed stays."""
        if self._state.is_old():
            self._state = ProcessState(self._limits)
            self._processes.may_have_changed()
        self._processes.note()

    def _carry_out(self, ticket: int, action: str, model: str) -> None:
        """Load or unload a model by order of an operator, and send whether it worked."""
        error = None
        try:
            if action == "load":
                self._models.get(model)
            else:
                self._models.unload()
        except Exception as failure:
            error = clip(str(failure), self._setup.limits.error_bytes)
        self._send((ORDER_DONE, ticket, error))

    def _put_back(self) -> None:
        try:
            self._is_clean = self._state.put_back() and self._is_clean
        except Exception:  # the body has replaced what this uses
            self._is_clean = False

    def _end_left_processes(self) -> None:
        try:
            left = self._processes.end()
        except Exception:  # the body has replaced what this uses
            self._is_clean = False
            return
        if left is not None:
            print(*left.sentences(), sep="\n", flush=True)
            self._is_clean = self._is_clean and not left.stuck

    def _pack(self, ticket: int, outcome: JobOutcome, seconds: float, more: str = "") -> bytes:
        """The answer about a job; `more` are members of its detail."""
        more = f'"host": {self._host}, {more}' if more else f'"host": {self._host}'
        reason, report = outcome.detail.get("reason"), render(outcome, more)
        self._card_is_broken = self._card_is_broken or broke_card(outcome)
        return pack_answer(ticket, outcome.outcome, reason, seconds, self._is_used_up(), report)

    def _keep(self, answer: bytes) -> bool:
        """Put the answer into the shared memory; return False if there is no room."""
        try:
            return self._channel.answers.put(answer, self._sent)
        except Exception:  # the body has replaced what this uses
            return False

    def _send_code_files(self) -> None:
        if not self._setup.reload:
            return
        watched = self._tasks.watched()
        if len(sys.modules) + len(watched) != self._code_count:
            self._code_count = len(sys.modules) + len(watched)
            self._send((FILES, [*imported_files(), *watched]))

    def _send_moved(self, ticket: int, moved: Moved) -> None:
        print(f"warning: {moved.sentence()}", flush=True)
        self._send((MOVED, ticket, *moved))

    def _send_streamed(self, ticket: int) -> None:
        """Send the end of what the body has streamed: the next body writes its own over it."""
        streamed = self._channel.scoreboard.stream.read(ticket)
        if streamed is not None:
            self._send((STREAMED, ticket, *streamed))

    def _is_used_up(self) -> bool:
        """Return True if another process has to run the next job: this one uses more memory than it
        may keep between jobs, or a body has broken the card or left a state that stays."""
        limit = self._setup.max_rss
        is_large = limit is not None and self._usage.rss_bytes() > limit
        return is_large or self._card_is_broken or not self._is_clean

    def _send(self, message: Message) -> None:
        self._send_bytes(pack_message(message))

    def _send_bytes(self, data: bytes, messages: int = 1) -> None:
        with self._sending:  # also threads of bodies send
            self._sent += messages
            self._channel.socket.sendall(data)

    def _send_of_model(self, message: Message) -> None:
        self._processes.may_have_changed()
        self._send(message)

    def _on_told(self, *_: object) -> None:
        """Read which jobs have to stop, and why. This runs between two bytecodes of the body."""
        if self._in_loop:  # the loop reads it
            return
        try:
            data = os.read(self._channel.told, TOLD.size * MOST_TOLD)
        except BlockingIOError:
            return
        for record in TOLD.iter_unpack(data):
            self._take_told(*record)

    def _take_told(self, ticket: int, word: int, until: float) -> None:
        if word == CANCEL:
            self._cancelled.add(ticket)
        elif ticket in self._current:
            self._events.stopping.tell(WORDS[word], until)
        if self._current and self._current <= self._cancelled:
            self._events.cancel.set()


def _set_up_process(channel: ParentChannel) -> None:
    """Separate this process from its parent: own process group, default signals, own standard
    streams, no descriptors of the parent."""
    detach("qwf-child")
    die_with_parent(channel.parent)
    adopt_orphans()
    if channel.group is not None:
        with suppress(OSError):  # somebody removed the group: go on without one
            channel.group.enter()
    with suppress(OSError):  # Linux only: if memory runs out, kill this process, not the agent
        Path("/proc/self/oom_score_adj").write_text("500")
    null = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, null), (1, channel.log), (2, channel.log)):
        os.dup2(source, target)
    redirect_descriptors(
        {0, 1, 2, null, channel.socket.fileno(), channel.tickets, channel.told, channel.log},
        null,
    )
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - stays open until the process ends
    sys.stdout, sys.stderr = open_output(1), open_output(2)
    sys.path.insert(0, str(Path.cwd()))


def _ignore(*_: object) -> None:
    """A handler instead of SIG_IGN, which programs started from here would inherit."""
