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
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

from qwf_agent.app import Job
from qwf_agent.child.body import Body, BodyContext, ImportFailed, encode_output
from qwf_agent.child.cancel import CancelEvent
from qwf_agent.child.code_files import imported_files
from qwf_agent.child.command import COMMAND, run_command, write_all
from qwf_agent.child.messages import (
    FILES,
    ORDER_DONE,
    READY,
    Message,
    Unpacker,
    Work,
    pack_answer,
    pack_message,
    read_job,
)
from qwf_agent.child.models import Models
from qwf_agent.child.out_folder import Folder, folder_of
from qwf_agent.child.outcome import Outcome, clip, of_exception, render
from qwf_agent.child.process_state import ProcessState, open_output
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.tasks import Tasks
from qwf_agent.llm.client import ServedModel
from qwf_agent.llm.task import LLM, llm
from qwf_agent.system.fork import detach, die_with_parent, redirect_descriptors
from qwf_agent.system.guardian import MARK

TICKET = struct.Struct("<Q")
FIRST_ORDER_TICKET = 1 << 63  # tickets from here on are orders to load or unload a model
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
ASK_MODEL = Body(llm)
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
        self._cancel = CancelEvent()
        self._pid = os.getpid()
        self._poll = select.poll()
        self._poll.register(channel.tickets, select.POLLIN)
        self._usage = Usage()
        self._module_count = 0
        self._models = Models({}, setup.model_idle, self._send)
        self._state = ProcessState()
        self._has_own_llm = False  # the user has a task of the name of the built-in one
        self._is_clean = True  # false: a body has left a state that cannot be put back
        signal.signal(signal.SIGUSR1, self._on_cancel)
        # A command shares this process group: its SIGTERM must not end this process.
        signal.signal(signal.SIGTERM, _ignore)
        # What a timer of a body that has ended would send. Most bodies set no timer: to ignore
        # these signals is cheaper than to stop two timers after each body.
        signal.signal(signal.SIGVTALRM, _ignore)
        signal.signal(signal.SIGPROF, _ignore)

    def serve(self) -> None:
        """Import the user's app, then run jobs until the parent closes the ticket pipe."""
        self._models = Models(self._tasks.models(), self._setup.model_idle, self._send)
        names, needs = self._tasks.names(), self._tasks.model_needs()
        self._has_own_llm = LLM in names
        self._send_code_files()
        self._state = ProcessState()
        self._send((READY, names, needs))
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
            self._put_back()
            self._answer(ticket, outcome, seconds)

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
            self._jobs.extend(map(read_job, self._unpacker.feed(data)))

    def _run(self, work: Work) -> Outcome:
        """Run one body, and turn anything it raises into an outcome."""
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
        inputs = _parse_object(work.inputs)
        job = Job(
            work.job_id, work.task, work.queue, work.attempt, work.run_id, work.node_id,
            work.project, _parse_object(work.labels),
        )  # fmt: skip
        out = LazyFolder(job, work.out_dir, self._setup.out_root)
        if work.model is not None or not self._tasks.has_loaded(job.task):
            self._channel.scoreboard.load(work.ticket)
        progress = StatusCallback(self._channel.scoreboard, work.ticket)
        served = None
        if work.server is not None:
            served = ServedModel.from_json(work.server, progress, self._cancel)
        context = BodyContext(job, inputs, out.make, progress, self._cancel, served)
        run = self._body(work, context)
        if self._state.is_old():
            self._state = ProcessState()
        self._channel.scoreboard.start(work.ticket)
        result = self._run_within(self._tasks.around(job), run)
        output = encode_output(result, self._setup.limits.value_bytes)
        return Outcome("completed", output, detail=_detail_of(out.made, context.model))

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

    def _body(self, work: Work, context: BodyContext) -> Callable[[], Any]:
        """The function to call for this job. Finding it may import user code or load a model; that
        time does not count as the body's."""
        allowed, job = self._setup.allow_commands, context.job
        if job.task == COMMAND and allowed is not None:
            return lambda: run_command(context.inputs, job, context.out(), allowed, self._cancel)
        body = self._find(job.task)
        if context.model is None:
            context = context._replace(model=self._model(work.model))
        return lambda: body(context)

    def _find(self, task: str) -> Body:
        """The body of a task. Raises ImportFailed."""
        if task == LLM and not self._has_own_llm:
            return ASK_MODEL
        try:
            return self._tasks.find(task)
        except Exception as error:
            raise ImportFailed from error
        finally:
            self._send_code_files()

    def _model(self, name: str | None) -> Any:
        """The model with this name, if the app has a loader for it."""
        if name is None or not self._models.knows(name):
            return None
        return self._models.get(name)

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

    def _answer(self, ticket: int, outcome: Outcome, seconds: float) -> None:
        cpu_seconds, max_rss = self._usage.measure_cpu(seconds), self._usage.max_rss_bytes
        more = f'"host": {self._host}, "cpu_seconds": {cpu_seconds}, "max_rss_bytes": {max_rss}'
        _flush_output()
        write_all(self._channel.log, self._channel.mark)
        reason, report = outcome.detail.get("reason"), render(outcome, more)
        self._channel.socket.sendall(
            pack_answer(ticket, outcome.outcome, reason, seconds, self._is_used_up(), report)
        )

    def _send_code_files(self) -> None:
        if self._setup.reload and len(sys.modules) != self._module_count:
            self._module_count = len(sys.modules)
            self._send((FILES, [*imported_files(), *self._tasks.folders()]))

    def _is_used_up(self) -> bool:
        """Whether another process has to run the next job: this one uses more memory than it may
        keep between jobs, or a body has left a state that cannot be put back."""
        limit = self._setup.max_rss
        return not self._is_clean or (limit is not None and self._usage.rss_bytes() > limit)

    def _send(self, message: Message) -> None:
        self._channel.socket.sendall(pack_message(message))

    def _on_cancel(self, *_: object) -> None:
        """Read the tickets of jobs that have to stop. This runs between two bytecodes of the
        body."""
        try:
            data = os.read(self._channel.cancels, 4096)
        except BlockingIOError:
            return
        self._cancelled.update(ticket for (ticket,) in TICKET.iter_unpack(data))
        if self._current in self._cancelled:
            self._cancel.set()


class LazyFolder:
    """The folder of a job, made when the body first asks for it."""

    def __init__(self, job: Job, out_dir: str | None, out_root: Path) -> None:
        self.made: Folder | None = None
        self._where = (job.id, job.run_id, job.node_id, out_dir, out_root)

    def make(self) -> Path:
        """Make the folder and return its path."""
        self.made = folder_of(*self._where)
        return self.made.make()


class StatusCallback:
    """The function that a body gets as `status_callback`."""

    def __init__(self, scoreboard: Scoreboard, ticket: int) -> None:
        self._scoreboard = scoreboard
        self._ticket = ticket
        self._lock = threading.Lock()

    def __call__(self, fraction: float, message: str = "") -> None:
        """Report how far the body is, from 0 to 1, and what it is doing. This makes no system call;
        the last report wins."""
        number = float(fraction)
        with self._lock:
            self._scoreboard.report(
                self._ticket, min(1.0, max(0.0, number)) if number == number else 0.0, str(message)
            )


class Usage:
    """CPU time and memory that this process and the programs it waited for have used so far."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.max_rss_bytes = 0
        self._programs = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.measure_cpu(0.0)

    def rss_bytes(self) -> int:
        """Memory in use now; the peak on systems that do not report it."""
        return _rss_bytes() or self.max_rss_bytes

    def measure_cpu(self, seconds: float) -> float:
        """CPU seconds since the last call. `seconds` is how long the body ran: in less than a
        millisecond it cannot have run a program, which saves a system call."""
        before = self.cpu_seconds
        own = resource.getrusage(resource.RUSAGE_SELF)
        if seconds > 0.001:
            self._programs = resource.getrusage(resource.RUSAGE_CHILDREN)
        programs = self._programs
        self.cpu_seconds = own.ru_utime + own.ru_stime + programs.ru_utime + programs.ru_stime
        self.max_rss_bytes = max(own.ru_maxrss, programs.ru_maxrss) * RSS_UNIT
        return round(self.cpu_seconds - before, 6)


def _detail_of(folder: Folder | None, model: Any) -> dict[str, Any]:
    """What the attempt keeps about a body that returned: its files, and the tokens it used."""
    detail: dict[str, Any] = {"files": folder.files()} if folder else {}
    if isinstance(model, ServedModel) and model.usage:
        detail["usage"] = model.usage
    return detail


def _parse_object(text: str | None) -> dict[str, Any]:
    """Parse a JSON object; most are empty."""
    if text is None or text == "{}":
        return {}
    value: dict[str, Any] = json.loads(text)
    return value


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
    if channel.group is not None:
        with suppress(OSError):  # somebody removed the group: go on without one
            channel.group.enter()
    with suppress(OSError):  # Linux only: if memory runs out, kill this process, not the agent
        Path("/proc/self/oom_score_adj").write_text("500")
    null = os.open(os.devnull, os.O_RDWR)
    for target, source in ((0, null), (1, channel.log), (2, channel.log)):
        os.dup2(source, target)
    redirect_descriptors(
        {0, 1, 2, null, channel.socket.fileno(), channel.tickets, channel.cancels, channel.log},
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
