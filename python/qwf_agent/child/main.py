"""All that runs after fork: a child takes jobs one by one, runs their bodies, and answers how they
ended.

The parent puts a job on the socket and its ticket into a pipe. Whoever reads the ticket has the
job: the child by starting it, the parent by taking it back. So no job is ever run by a child
that the parent has given to another.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import struct
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from qwf_agent.app import Job
from qwf_agent.child.body import BodyContext, ImportFailed, encode_output
from qwf_agent.child.cancel import CancelEvent
from qwf_agent.child.code_files import own_files
from qwf_agent.child.command import TASK as COMMAND
from qwf_agent.child.command import run_command, write_all
from qwf_agent.child.messages import ANSWER, FILES, ORDER_DONE, READY, Message, Unpacker, Work, pack
from qwf_agent.child.models import Models
from qwf_agent.child.out_folder import Folder, folder_of
from qwf_agent.child.outcome import Outcome, of_exception, render
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.tasks import Tasks
from qwf_agent.system.fork import detach, die_with_parent, redirect_descriptors
from qwf_agent.system.guardian import MARK

TICKET = struct.Struct("<Q")
FIRST_ORDER_TICKET = 1 << 63  # from here on tickets are orders to load or unload a model
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
BROKEN = 70  # exit code of a child that failed itself: EX_SOFTWARE


def main(channel: ParentChannel, setup: Setup) -> NoReturn:
    """The life of a child. Leaves without finalising anything it inherited, above all no
    database connection."""
    code = BROKEN
    try:
        _settle(channel)
        os.environ.update({**setup.environment, MARK: f"{setup.mark}.{os.getpid()}"})
        Child(channel, setup).serve()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


class Child:
    """Runs the jobs it has tickets for, in their order.

    Invariant: for every ticket it reads it sends one answer, unless it dies.
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
        self._cancel = CancelEvent()
        self._pid = os.getpid()
        self._poll = select.poll()
        self._poll.register(channel.tickets, select.POLLIN)
        self._usage = Usage()
        self._modules = 0
        self._models = Models({}, setup.model_idle, self._send)
        signal.signal(signal.SIGUSR1, self._on_cancel)
        signal.signal(
            signal.SIGTERM, _ignore
        )  # a command told to stop shares its group with this process

    def serve(self) -> None:
        """Import the user's app, then run jobs until the parent hangs up."""
        self._models = Models(self._tasks.models(), self._setup.model_idle, self._send)
        names, needs = self._tasks.names(), self._tasks.model_needs()
        self._say_files()
        self._send((READY, names, needs))
        while (ticket := self._next_ticket()) is not None:
            message = self._receive(ticket)
            if ticket >= FIRST_ORDER_TICKET:
                self._carry_out(*message)
                continue
            started = time.monotonic()
            outcome = self._run(Work(*message))
            if os.getpid() != self._pid:
                os._exit(0)  # the body forked and its copy came back here
            self._answer(ticket, outcome, time.monotonic() - started)

    def _next_ticket(self) -> int | None:
        while True:
            try:
                data = os.read(self._channel.tickets, TICKET.size)
                return int(TICKET.unpack(data)[0]) if data else None
            except BlockingIOError:  # none, or the parent took it back
                self._poll.poll(self._models.idle_ms())
                self._models.expire()

    def _receive(self, ticket: int) -> Message:
        """The job of this ticket. Those before it were taken back."""
        while True:
            while self._jobs:
                message = self._jobs.popleft()
                if message[0] == ticket:
                    return message
            data = self._channel.socket.recv(1 << 18)
            if not data:
                raise EOFError("the agent is gone")
            self._jobs.extend(self._unpacker.feed(data))

    def _run(self, work: Work) -> Outcome:
        """Run one body, whatever it does short of ending the process."""
        self._current = work.ticket
        if work.ticket in self._cancelled:
            return Outcome("cancelled")
        try:
            return self._call(work)
        except BaseException as error:
            return of_exception(error, self._setup.limits.error_bytes, self._setup.gpu)
        finally:
            self._current = 0
            self._models.touch()
            self._cancelled.discard(work.ticket)
            self._cancel.clear()

    def _call(self, work: Work) -> Outcome:
        inputs = _object(work.inputs)
        job = Job(
            work.job_id, work.task, work.queue, work.attempt, work.run_id, work.node_id,
            work.project, _object(work.labels),
        )  # fmt: skip
        out = LazyFolder(job, work.out_dir, self._setup.out_root)
        if work.model is not None or not self._tasks.has_loaded(job.task):
            self._channel.scoreboard.load(work.ticket)
        run = self._body(work, job, inputs, out)
        self._channel.scoreboard.start(work.ticket)
        result = self._run_within(self._tasks.around(job), run)
        output = encode_output(result, self._setup.limits.value_bytes)
        return Outcome("completed", output, detail={"files": out.made.files()} if out.made else {})

    def _run_within(
        self, contexts: list[AbstractContextManager[object]], run: Callable[[], Any]
    ) -> Any:
        if not contexts:
            return run()
        result: Any = None
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context)
            result = run()
        return result  # noqa: RET504 - a context manager may have swallowed an exception

    def _body(
        self, work: Work, job: Job, inputs: dict[str, Any], out: LazyFolder
    ) -> Callable[[], Any]:
        """What to call for this job. Finding it may import user code or load a model, which is not
        its time."""
        allowed = self._setup.allow_commands
        if job.task == COMMAND and allowed is not None:
            return lambda: run_command(inputs, job, out.make(), allowed, self._cancel)
        try:
            body = self._tasks.find(job.task)
        except Exception as error:
            raise ImportFailed from error
        finally:
            self._say_files()
        progress = StatusCallback(self._channel.scoreboard, work.ticket)
        model = self._model(work.model)
        return lambda: body(BodyContext(job, inputs, out.make, progress, self._cancel, model))

    def _model(self, name: str | None) -> Any:
        """The model that a job needs, if the app has a loader for it."""
        if name is None or not self._models.knows(name):
            return None
        return self._models.get(name)

    def _carry_out(self, ticket: int, action: str, model: str) -> None:
        """Load or unload a model because somebody asked for that, and say whether it worked."""
        error = None
        try:
            if action == "load":
                self._models.get(model)
            else:
                self._models.unload()
        except Exception as failure:
            error = str(failure)
        self._send((ORDER_DONE, ticket, error))

    def _answer(self, ticket: int, outcome: Outcome, seconds: float) -> None:
        cpu_seconds, max_rss = self._usage.took(seconds), self._usage.max_rss_bytes
        more = f'"host": {self._host}, "cpu_seconds": {cpu_seconds}, "max_rss_bytes": {max_rss}'
        _flush_output()
        write_all(self._channel.log, self._channel.mark)
        reason, report = outcome.detail.get("reason"), render(outcome, more)
        self._send((ANSWER, ticket, outcome.outcome, reason, seconds, self._is_full(), report))

    def _say_files(self) -> None:
        if self._setup.reload and len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._send((FILES, [*own_files(), *self._tasks.folders()]))

    def _is_full(self) -> bool:
        """Whether this process has more memory than it may keep."""
        limit = self._setup.max_rss
        return limit is not None and self._usage.rss_bytes() > limit

    def _send(self, message: Message) -> None:
        self._channel.socket.sendall(pack(message))

    def _on_cancel(self, *_: object) -> None:
        """The parent wrote tickets of jobs that have to stop. Runs between two bytecodes of
        whatever the body does."""
        try:
            data = os.read(self._channel.cancels, 4096)
        except BlockingIOError:
            return
        self._cancelled.update(ticket for (ticket,) in TICKET.iter_unpack(data))
        if self._current in self._cancelled:
            self._cancel.set()


class LazyFolder:
    """The folder of a job, made when a body first wants it."""

    def __init__(self, job: Job, out_dir: str | None, out_root: Path) -> None:
        self.made: Folder | None = None
        self._where = (job.id, job.run_id, job.node_id, out_dir, out_root)

    def make(self) -> Path:
        """The folder, there from now on."""
        self.made = folder_of(*self._where)
        return self.made.make()


class StatusCallback:
    """What a body gets as status_callback."""

    def __init__(self, scoreboard: Scoreboard, ticket: int) -> None:
        self._scoreboard = scoreboard
        self._ticket = ticket
        self._lock = threading.Lock()

    def __call__(self, fraction: float, message: str = "") -> None:
        """Say how far the body is, from 0 to 1, and what it is doing. Costs next to nothing; the
        last one wins."""
        number = float(fraction)
        with self._lock:
            self._scoreboard.report(
                self._ticket, min(1.0, max(0.0, number)) if number == number else 0.0, str(message)
            )


class Usage:
    """What this process has used so far, with the programs it waited for."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.max_rss_bytes = 0
        self._programs = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.took(0.0)

    def rss_bytes(self) -> int:
        """Memory now; the most there was, where the system does not say."""
        return _rss_bytes() or self.max_rss_bytes

    def took(self, seconds: float) -> float:
        """CPU seconds since this was last asked. `seconds` is what the body took: one that took
        less than a millisecond ran no program, so that it need not be asked for."""
        before = self.cpu_seconds
        own = resource.getrusage(resource.RUSAGE_SELF)
        if seconds > 0.001:
            self._programs = resource.getrusage(resource.RUSAGE_CHILDREN)
        programs = self._programs
        self.cpu_seconds = own.ru_utime + own.ru_stime + programs.ru_utime + programs.ru_stime
        self.max_rss_bytes = max(own.ru_maxrss, programs.ru_maxrss) * RSS_UNIT
        return round(self.cpu_seconds - before, 6)


def _object(text: str | None) -> dict[str, Any]:
    """A JSON object from its text; most are empty."""
    if text is None or text == "{}":
        return {}
    value: dict[str, Any] = json.loads(text)
    return value


def _rss_bytes() -> int | None:
    """Memory of this process now, where the system says."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return None


def _settle(channel: ParentChannel) -> None:
    """Become a process of its own: own group, default signals, own standard streams, nothing of
    the parent's."""
    detach("qwf-child")
    die_with_parent(channel.parent)
    if channel.group is not None:
        with suppress(OSError):  # somebody has removed it: then as where there is none
            channel.group.enter()
    with suppress(OSError):  # only Linux: when memory runs out, this process goes, not the agent
        Path("/proc/self/oom_score_adj").write_text("500")
    null = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, null), (1, channel.log), (2, channel.log)):
        os.dup2(source, target)
    redirect_descriptors(
        {0, 1, 2, null, channel.socket.fileno(), channel.tickets, channel.cancels, channel.log},
        null,
    )
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the process
    sys.stdout, sys.stderr = _open_output(1), _open_output(2)
    sys.path.insert(0, str(Path.cwd()))


def _open_output(fd: int) -> TextIO:
    return open(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - once for every job
            stream.flush()
        except (OSError, ValueError):  # the body closed it
            pass


def _ignore(*_: object) -> None:
    """A handler, not SIG_IGN: programs started from here get the default back."""
