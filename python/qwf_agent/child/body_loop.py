"""Runs many async bodies at once in the child's only event loop.

The loop is made for the first of them and stays: connections that bodies share live in it. It reads
tickets itself, and goes on while no body runs, until a job of another kind comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from qwf_agent.child.cancel import CANCEL, MOST_TOLD, TOLD, WORDS, BodyEvents, new_async_events
from qwf_agent.child.job_output import CURRENT, JobOutput
from qwf_agent.child.messages import PROGRESS, STREAMED, Message, Work, pack_message
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import JobOutcome, broke_card, of_exception
from qwf_agent.child.runner import Runner
from qwf_agent.child.scoreboard import Scoreboard
from qwf_agent.child.setup import ParentChannel, Setup
from qwf_agent.child.stream_parts import StreamParts

BEAT_S = 0.25  # while bodies run: to show that the loop is alive, to send progress and streams
TELLS_TO_END = (CANCEL, WORDS.index("end"))


class NoMoreTickets(Exception):
    """The parent sends no more jobs."""


class LoopParts(NamedTuple):
    """The parts of a child that the loop needs. `next_message` takes the next job for which there
    is a ticket, now (None: there is none; raises NoMoreTickets at the end); `told` takes what is
    told to a job that is not here; `pack` makes the answer about a job."""

    channel: ParentChannel
    setup: Setup
    runner: Runner
    models: Models
    next_message: Callable[[], Message | None]
    told: Callable[[int, int, float], None]
    pack: Callable[[int, JobOutcome, float], bytes]
    send: Callable[[bytes, int], None]  # and how many messages


class RunningJob(NamedTuple):
    """A body in the loop."""

    task: asyncio.Task[None]
    events: BodyEvents


class BodyLoop:
    """The bodies that run at once, by the tickets of their jobs.

    Invariant: a job that was taken is in `_running` until its answer is in `_answers`.
    """

    def __init__(self, parts: LoopParts) -> None:
        self._parts = parts
        self.stream = StreamParts()
        self._loop: asyncio.AbstractEventLoop  # from the first job on
        self._is_made = False
        self._running: dict[int, RunningJob] = {}
        self._answers: list[bytes] = []
        self._progress: dict[int, tuple[float, str]] = {}
        self._next: Message | None = None  # a job of another kind
        self._leaving = False
        self._beats = False

    def serve(self, first: Message) -> Message | None:
        """Run this job and all that follow, until one of another kind comes, which is returned;
        None: no more will come, or a body has broken the card. Then those that run go on."""
        if not self._is_made:
            self._is_made, self._loop = True, asyncio.new_event_loop()
            self._loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
            os.register_at_fork(after_in_child=_note_fork)
        loop, channel = self._loop, self._parts.channel
        self._next, self._leaving = None, False
        loop.add_reader(channel.tickets, self._take_jobs)
        loop.add_reader(channel.told, self._on_told)
        self._begin(Work(*first))
        while not (self._leaving and not self._running):
            with contextlib.suppress(SystemExit, KeyboardInterrupt):  # of a task that a body made
                loop.run_forever()
        self._send()
        loop.remove_reader(channel.told)
        return self._next

    def report(self, ticket: int, fraction: float, message: str) -> None:
        """Keep how far a body is, for the next beat."""
        self._progress[ticket] = (fraction, message)

    def _take_jobs(self) -> None:
        """Begin the jobs for which there are tickets."""
        try:
            while (message := self._parts.next_message()) is not None:
                if not self._parts.runner.is_concurrent(message):
                    self._next = message
                    self._leave()
                    return
                self._begin(Work(*message))
        except NoMoreTickets:
            self._leave()

    def _leave(self) -> None:
        self._leaving = True
        self._loop.remove_reader(self._parts.channel.tickets)
        if not self._running:
            self._loop.stop()

    def _begin(self, work: Work) -> None:
        channel, events = self._parts.channel, new_async_events()
        output = JobOutput(work.ticket, channel.log, channel.mark)
        before = CURRENT.set(output)
        try:
            task = self._loop.create_task(self._run(work, events, output))
        finally:
            CURRENT.reset(before)
        self._running[work.ticket] = RunningJob(task, events)
        if not self._beats:
            self._beats = True
            self._loop.call_soon(self._beat)

    async def _run(self, work: Work, events: BodyEvents, output: JobOutput) -> None:
        started = time.monotonic()
        setup = self._parts.setup
        try:
            outcome = await self._parts.runner.run_beside(work, events, self)
        except BaseException as error:
            outcome = of_exception(
                error, setup.limits.error_bytes, setup.gpu, events.stopping.reason
            )
            outcome = self._parts.runner.with_files(work.ticket, outcome)
        output.flush()
        self._parts.models.touch()
        self._answer(work.ticket, outcome, time.monotonic() - started)
        if broke_card(outcome):
            self._leave()

    def _answer(self, ticket: int, outcome: JobOutcome, seconds: float) -> None:
        if not self._answers:
            self._loop.call_soon(self._send)
        self._send_progress(ticket)
        self._send_streamed(ticket)
        self.stream.end(ticket)
        self._answers.append(self._parts.pack(ticket, outcome, seconds))
        del self._running[ticket]
        if self._leaving and not self._running:
            self._loop.stop()

    def _send(self) -> None:
        """Send the answers of this turn of the loop."""
        answers, self._answers = self._answers, []
        if answers:
            self._parts.send(b"".join(answers), len(answers))

    def _send_progress(self, ticket: int) -> None:
        told = self._progress.pop(ticket, None)
        if told is not None and ticket in self._running:
            self._parts.send(pack_message((PROGRESS, ticket, *told)), 1)

    def _send_streamed(self, ticket: int) -> None:
        streamed = self.stream.take(ticket)
        if streamed is not None and ticket in self._running:
            self._parts.send(pack_message((STREAMED, ticket, *streamed)), 1)

    def _beat(self) -> None:
        self._parts.channel.scoreboard.beat()
        for ticket in list(self._progress):
            self._send_progress(ticket)
        for ticket in self.stream.tickets():
            self._send_streamed(ticket)
        if self._running:
            self._loop.call_later(BEAT_S, self._beat)
            return
        self._parts.models.expire()
        idle_ms = self._parts.models.idle_ms()
        self._beats = idle_ms is not None
        if idle_ms is not None:
            self._loop.call_later(max(BEAT_S, idle_ms / 1000), self._beat)

    def _on_told(self) -> None:
        """Tell bodies to stop, or cancel them."""
        try:
            data = os.read(self._parts.channel.told, TOLD.size * MOST_TOLD)
        except BlockingIOError:
            return
        for ticket, word, until in TOLD.iter_unpack(data):
            job = self._running.get(ticket)
            if job is None:
                self._parts.told(ticket, word, until)
            elif word in TELLS_TO_END:
                if word == CANCEL:
                    job.events.cancel.set()
                job.task.cancel()
            else:
                job.events.stopping.tell(WORDS[word], until)

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **more: Any
    ) -> asyncio.Task[Any]:
        """A task whose steps the scoreboard shows, if it is of a job."""
        job = CURRENT.get()
        if job is not None and asyncio.iscoroutine(coro):
            coro = Stepped(coro, job.ticket, self._parts.channel.scoreboard)
        return asyncio.Task(coro, loop=loop, **more)


class Stepped(Coroutine[Any, Any, Any]):
    """A coroutine of a job. The scoreboard names the job while one of its steps is on the CPU."""

    def __init__(self, coro: Coroutine[Any, Any, Any], ticket: int, board: Scoreboard) -> None:
        self._coro, self._ticket, self._board = coro, ticket, board

    def send(self, value: Any) -> Any:
        """Run the next step."""
        self._board.step(self._ticket)
        try:
            return self._coro.send(value)
        finally:
            self._rest()

    def throw(self, *error: Any) -> Any:
        """Run the next step with an error."""
        self._board.step(self._ticket)
        try:
            return self._coro.throw(*error)
        finally:
            self._rest()

    def close(self) -> None:
        """End it."""
        self._coro.close()

    def __await__(self) -> Any:
        return self._coro.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coro, name)  # such as cr_frame, for stack traces

    def _rest(self) -> None:
        if _forked:  # the body forked, and this is the copy: it must not touch the loop
            os._exit(0)
        self._board.rest()


_forked = False


def _note_fork() -> None:
    global _forked
    _forked = True
