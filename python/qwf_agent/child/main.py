"""The main loop of a child: it takes jobs one by one, runs their bodies and answers how they ended.

The parent writes a job to the socket and its ticket to a pipe. The process that reads the ticket
owns the job: the child reads it to start the job, the parent to take the job back. So a child never
runs a job that the parent has given to another one.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import sys
import time
import traceback
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from qwf_agent.child.cancel import CANCEL, MOST_TOLD, TOLD, WORDS, new_events
from qwf_agent.child.code_files import imported_files
from qwf_agent.child.command import write_all
from qwf_agent.child.left_processes import LeftProcesses
from qwf_agent.child.messages import (
    FILES,
    MOVED,
    ORDER_DONE,
    READY,
    STREAMED,
    Message,
    Unpacker,
    Work,
    pack_answer,
    pack_message,
    read_jobs,
)
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import ACCELERATOR, JobOutcome, clip, of_exception, render
from qwf_agent.child.own_folder import Moved
from qwf_agent.child.process_state import LimitWatch, ProcessState, open_output
from qwf_agent.child.runner import Runner
from qwf_agent.child.saving import Saver
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.tasks import Tasks
from qwf_agent.system.fork import adopt_orphans, detach, die_with_parent, redirect_descriptors
from qwf_agent.system.guardian import MARK

TICKET = struct.Struct("<Q")
FIRST_ORDER_TICKET = 1 << 63  # tickets from here on are orders to load or unload a model
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
SHORT_S = 0.001  # answers of shorter bodies go through shared memory, without a system call
STARTS_S = 50e-6  # a body that is shorter cannot have started a process
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

    Invariant: it sends one answer for every ticket it reads, unless it dies.
    """

    def __init__(self, channel: ParentChannel, setup: Setup) -> None:
        self._channel = channel
        self._setup = setup
        self._host = json.dumps(setup.host)
        self._tasks = Tasks(setup.app, setup.nodes)
        self._unpacker = Unpacker()
        self._jobs: deque[Message] = deque()
        self._current = 0
        self._cancelled: set[int] = set()
        self._events = new_events()
        self._pid = os.getpid()
        self._poll = select.poll()
        self._poll.register(channel.tickets, select.POLLIN)
        self._usage = Usage()
        self._sent = 0  # messages over the socket
        self._code_count = 0  # modules, and other files and folders to watch
        self._models = Models({}, setup.model_idle, self._send)
        self._runner: Runner  # from `serve` on
        self._limits = LimitWatch()
        self._limits.watch()
        self._state = ProcessState(self._limits)
        self._processes = LeftProcesses()
        # False: a body has left a state that cannot be put back, or a process that cannot be ended.
        self._is_clean = True
        signal.signal(signal.SIGUSR1, self._on_told)
        # A command shares this process group: its SIGTERM must not end this process.
        signal.signal(signal.SIGTERM, _ignore)
        # What a timer of a body that has ended would send. Most bodies set no timer: to ignore
        # these signals is cheaper than to stop two timers after each body.
        signal.signal(signal.SIGVTALRM, _ignore)
        signal.signal(signal.SIGPROF, _ignore)

    def serve(self) -> None:
        """Import the user's app, then run jobs until the parent closes the ticket pipe or the card
        fails."""
        self._models = Models(self._tasks.models(), self._setup.model_idle, self._send_of_model)
        parts = self._tasks, self._models, self._channel.scoreboard, self._events
        saver = Saver(self._send, self._channel.scoreboard, self._setup.limits.value_bytes)
        self._runner = Runner(self._setup, *parts, self._send_code_files, self._send_moved, saver)
        names, needs = self._tasks.names(), self._tasks.model_needs()
        self._send_code_files()
        self._state = ProcessState(self._limits)
        self._send((READY, names, needs, self._tasks.declared_options()))
        while (ticket := self._next_ticket()) is not None:
            message = self._receive(ticket)
            if ticket >= FIRST_ORDER_TICKET:
                self._carry_out(*message)
                continue
            started = time.monotonic()
            outcome = self._run(Work(*message))
            if os.getpid() != self._pid:
                os._exit(0)  # the body forked, and this is the copy
            seconds = time.monotonic() - started
            self._send_streamed(ticket)
            self._put_back()
            if seconds > STARTS_S:
                self._end_left_processes()
            self._answer(ticket, outcome, seconds)
            if _broke_card(outcome):
                return  # whoever waits behind it runs in another process

    def _next_ticket(self) -> int | None:
        while True:
            try:
                data = os.read(self._channel.tickets, TICKET.size)
                return int(TICKET.unpack(data)[0]) if data else None
            except BlockingIOError:  # no ticket, or the parent took it back
                self._poll.poll(self._models.idle_ms())
                self._models.expire()

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

    def _run(self, work: Work) -> JobOutcome:
        """Run one body, and turn anything it raises into an outcome."""
        self._current = work.ticket
        if work.ticket in self._cancelled:
            return JobOutcome("cancelled")
        try:
            return self._runner.run(work, self._renew_state)
        except BaseException as error:
            told = self._events.stopping.reason
            return of_exception(error, self._setup.limits.error_bytes, self._setup.gpu, told)
        finally:
            self._current = 0
            self._models.touch()
            self._cancelled.discard(work.ticket)
            self._events.clear()

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

    def _answer(self, ticket: int, outcome: JobOutcome, seconds: float) -> None:
        cpu_s, max_rss = self._usage.measure_cpu(seconds), self._usage.max_rss_bytes
        more = f'"host": {self._host}, "cpu_seconds": {cpu_s:.6f}, "max_rss_bytes": {max_rss}'
        _flush_output()
        reason, report = outcome.detail.get("reason"), render(outcome, more)
        used_up = _broke_card(outcome) or self._is_used_up()
        answer = pack_answer(ticket, outcome.outcome, reason, seconds, used_up, report)
        is_kept = seconds <= SHORT_S and self._keep(answer)
        write_all(self._channel.log, self._channel.mark)  # this wakes the parent
        if not is_kept:
            self._send_bytes(answer)

    def _keep(self, answer: bytes) -> bool:
        """Put the answer into the shared memory; return False if there is no room."""
        try:
            return self._channel.answers.put(answer, self._sent)
        except Exception:  # the body has replaced what this uses
            return False

    def _send_code_files(self) -> None:
        watched = self._tasks.watched() if self._setup.reload else []
        if self._setup.reload and len(sys.modules) + len(watched) != self._code_count:
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
        may keep between jobs, or a body has left a state that cannot be put back."""
        limit = self._setup.max_rss
        return not self._is_clean or (limit is not None and self._usage.rss_bytes() > limit)

    def _send(self, message: Message) -> None:
        self._send_bytes(pack_message(message))

    def _send_bytes(self, data: bytes) -> None:
        self._sent += 1
        self._channel.socket.sendall(data)

    def _send_of_model(self, message: Message) -> None:
        self._processes.may_have_changed()
        self._send(message)

    def _on_told(self, *_: object) -> None:
        """Read which jobs have to stop, and why. This runs between two bytecodes of the body."""
        try:
            data = os.read(self._channel.told, TOLD.size * MOST_TOLD)
        except BlockingIOError:
            return
        for ticket, word, until in TOLD.iter_unpack(data):
            if word == CANCEL:
                self._cancelled.add(ticket)
            elif ticket == self._current:
                self._events.stopping.tell(WORDS[word], until)
        if self._current in self._cancelled:
            self._events.cancel.set()


class Usage:
    """CPU time and memory that this process and the programs it waited for have used so far."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.max_rss_bytes = 0
        self._programs_s, self._programs_rss = 0.0, 0
        self._looked_at = 0.0  # CPU seconds when the memory was last read
        self.measure_cpu(float("inf"))

    def rss_bytes(self) -> int:
        """Memory in use now; the peak on systems that do not report it."""
        return _rss_bytes() or self.max_rss_bytes

    def measure_cpu(self, seconds: float) -> float:
        """CPU seconds since the last call. `seconds` is how long the body ran: in less than a
        millisecond it cannot have run a program, nor have used much memory. Its peak is then read
        only after every 10 ms of CPU time."""
        before = self.cpu_seconds
        if seconds > 0.001:
            programs = resource.getrusage(resource.RUSAGE_CHILDREN)
            self._programs_s = programs.ru_utime + programs.ru_stime
            self._programs_rss = programs.ru_maxrss
        self.cpu_seconds = time.process_time() + self._programs_s
        if seconds > 0.001 or self.cpu_seconds > self._looked_at + 0.01:
            self._looked_at = self.cpu_seconds
            max_rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            self.max_rss_bytes = max(max_rss, self._programs_rss) * RSS_UNIT
        return self.cpu_seconds - before


def _broke_card(outcome: JobOutcome) -> bool:
    """Return True if the body met an error of the card: every later use of the card by this process
    may fail, and what the body had on it stays there until the process ends."""
    return outcome.detail.get("reason") == ACCELERATOR


def _rss_bytes() -> int | None:
    """Memory of this process now; None if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return None


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


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - suppress() is slower, and this runs for every job
            stream.flush()
        except Exception:  # noqa: S110 - the body closed it, or put something else there
            pass


def _ignore(*_: object) -> None:
    """A handler instead of SIG_IGN, which programs started from here would inherit."""
