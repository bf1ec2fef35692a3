"""Runs the body of one job: finds it, gives it its model, wraps it and encodes what it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

from qwf_agent.app import Job, PermanentError
from qwf_agent.app.bodies import Call
from qwf_agent.child.body import BadOutput, Body, ImportFailed, encode_output
from qwf_agent.child.cancel import BodyEvents, new_async_events
from qwf_agent.child.checkpoint_file import CheckpointFile
from qwf_agent.child.command import COMMAND, Command, CommandFiles, run_command
from qwf_agent.child.job_context import JobBoard, JobContext
from qwf_agent.child.messages import FIRST_ORDER_TICKET, Message, Work, is_batch
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import NO_SPACE, JobOutcome, of_exception
from qwf_agent.child.own_folder import Moved
from qwf_agent.child.saving import Saver
from qwf_agent.child.scoreboard import LISTENS, MAY_ASK, NOTHING, Scoreboard
from qwf_agent.child.setup import Setup
from qwf_agent.child.stream_parts import NoStream
from qwf_agent.child.tasks import Tasks
from qwf_agent.child.track import TrackFile
from qwf_agent.llm.client import ServedModel
from qwf_agent.llm.task import LLM, llm
from qwf_agent.receivers.config import SEND
from qwf_agent.receivers.delivery import send

ASK_MODEL = Body(llm)
DELIVER = Body(send)
NOT_RAISED = (
    "an @app.around has caught the exception of the body and not raised it again: it counts all the"
    " same; end its except with raise, or raise another exception"
)
TASK_AT = Work._fields.index("task")
BATCHED = (
    "the task runs in batches, so none of its jobs can run at most once: enqueue it without"
    " at_most_once, or take batch out of the task"
)
RESERVED = "files"  # what references to a node mean by it


class BatchBoard:
    """The board of the jobs of a batch, which have no streams."""

    def __init__(self, scoreboard: Scoreboard) -> None:
        self.report = scoreboard.report
        self.stream = NoStream()


class Runner:
    """Runs bodies. A child has one, and so has a test that runs its jobs itself."""

    def __init__(
        self,
        setup: Setup,
        tasks: Tasks,
        models: Models,
        scoreboard: Scoreboard,
        events: BodyEvents,
        imported: Callable[[], None],
        moved: Callable[[int, Moved], None],
        saver: Saver,
    ) -> None:
        self._setup = setup
        self._tasks = tasks
        self._models = models
        self._scoreboard = scoreboard
        self._events = events
        self._imported = imported  # called when code of the user may have been imported
        self._moved = moved  # called with its ticket when the folder of a job was moved aside
        self._saver = saver
        self._left: dict[int, list[dict[str, Any]]] = {}  # files of bodies that raised, by ticket
        self.shapes = tasks.shapes()  # of the bodies that take more than one job

    def is_concurrent(self, message: Message) -> bool:
        """Return True if a message of the parent is a job whose body runs beside others."""
        if message[0] >= FIRST_ORDER_TICKET or is_batch(message):
            return False
        shape = self.shapes.get(message[TASK_AT])
        return shape is not None and shape.concurrent

    def run(self, work: Work, before_body: Callable[[], None]) -> JobOutcome:
        """Run the body of this job, alone. Raises what it raises; `outcome.of_exception` says what
        that means."""
        shape = self.shapes.get(work.task)
        if shape is not None and not shape.concurrent:
            return self.run_batch([work], before_body, lambda _: False)[0]
        events, save = self._events, self._saver.save
        if shape is not None:
            events, save = new_async_events(), self._saver.save_beside
        context = JobContext(
            work, self._scoreboard, events, self._moved, save, self._saver.send_tracked
        )
        with _NotedEnd(self, work, context):
            return self._run_alone(work, context, before_body)

    def with_files(self, ticket: int, outcome: JobOutcome) -> JobOutcome:
        """The outcome of a body that raised, with the files that it left."""
        files = self._left.pop(ticket, None)
        return outcome._replace(detail={**outcome.detail, "files": files}) if files else outcome

    def begin(self, work: Work) -> None:
        """The body of this job may save and track from now on."""
        self._saver.body_begins(work.ticket)

    def end(self, work: Work, context: JobContext, failed: bool) -> None:
        """It may not any more; if it has failed, its files are noted."""
        if failed:
            self._note_files(work, context)
        context.end()
        self._saver.body_ends(work.ticket)

    def _note_files(self, work: Work, context: JobContext) -> None:
        with suppress(OSError):  # of the folder: the body's own error counts
            self._left[work.ticket] = context.files()

    def _run_alone(
        self, work: Work, context: JobContext, before_body: Callable[[], None]
    ) -> JobOutcome:
        scoreboard = self._scoreboard
        if work.model is not None or not self._tasks.has_loaded(work.task):
            scoreboard.load(work.ticket)
        self._serve_model(context, work)
        run, hears = self._body(work, context)
        if work.at_most_once:
            scoreboard.load(work.ticket)  # the time of the body has not begun
            self._saver.begin_body(work.ticket)
        before_body()
        scoreboard.start(work.ticket, hears)
        try:
            if not self._tasks.arounds():
                output = self._output(work, run())
            else:
                with self._arounds([context.job]):
                    output = self._output(work, run())
        except OSError as error:
            context.blame_the_host(error, *NO_SPACE)  # the body may have filled the disk itself
            raise
        return JobOutcome("completed", output, detail=_detail_of(context))

    async def run_beside(self, work: Work, events: BodyEvents, board: JobBoard) -> JobOutcome:
        """Run the async body of this job beside others in the event loop. Raises what it raises."""
        save = self._saver.save_beside
        context = JobContext(work, board, events, self._moved, save, self._saver.send_tracked)
        with _NotedEnd(self, work, context):
            return await self._run_beside(work, context)

    async def _run_beside(self, work: Work, context: JobContext) -> JobOutcome:
        self._serve_model(context, work)
        body = self._find(work.task)
        if context.model is None and self._models.knows(work.model):
            self._scoreboard.load(work.ticket)
            context.model = self._model(work.model)
            self._scoreboard.step(work.ticket)
        if work.at_most_once:
            await asyncio.to_thread(self._saver.begin_body, work.ticket)
        with context.blaming_the_host(*NO_SPACE), self._arounds([context.job]):
            output = self._output(work, await body.start(context))
        return JobOutcome("completed", output, detail=_detail_of(context))

    def run_batch(
        self, works: list[Work], before_body: Callable[[], None], cancelled: Callable[[int], bool]
    ) -> list[JobOutcome]:
        """Run the body of these jobs, of one task and model; `cancelled` says whether the job with
        a ticket was. Raises what the body raises, which ends all of them."""
        first = works[0]
        if first.at_most_once:  # such a job comes alone
            raise PermanentError(BATCHED)
        board, save = BatchBoard(self._scoreboard), self._saver.save
        parts = self._events, self._moved, save, self._saver.send_tracked
        contexts = [JobContext(one, board, *parts) for one in works]
        self._scoreboard.load(first.ticket)
        self._serve_model(contexts[0], first)
        body = self._find(first.task)
        if contexts[0].model is None:
            contexts[0].model = self._model(first.model)
        calls = [
            Call(one.inputs, one.job, one.out, partial(cancelled, work.ticket))
            for work, one in zip(works, contexts, strict=True)
        ]
        before_body()
        self._scoreboard.start(
            first.ticket, LISTENS if self.shapes[first.task].listens else MAY_ASK
        )
        ends: dict[int, BaseException] = {}  # by the id of the job that has failed
        with self._arounds([one.job for one in contexts], ends):
            results = body.run_batch(calls, contexts[0])
            _check_results(results, len(calls))
            outputs = [
                self._end_of_one(work, context, result, ends)
                for work, context, result in zip(works, contexts, results, strict=True)
            ]
        limit, told = self._setup.limits.error_bytes, self._events.stopping.reason
        return [
            self.with_files(
                work.ticket, of_exception(ends[work.job_id], limit, self._setup.gpu, told)
            )
            if work.job_id in ends
            else outcome
            for work, outcome in zip(works, outputs, strict=True)
        ]

    def _end_of_one(
        self, work: Work, context: JobContext, result: Any, ends: dict[int, BaseException]
    ) -> JobOutcome:
        """The outcome of one job of a batch, unless it has failed: then `ends` has the error."""
        error = result
        if not isinstance(result, BaseException):
            try:
                with context.blaming_the_host():
                    output = self._output(work, result)
                    return JobOutcome("completed", output, detail=_detail_of(context))
            except Exception as wrong:
                error = wrong
        ends[work.job_id] = error
        self._note_files(work, context)
        return JobOutcome("error")

    def _output(self, work: Work, result: Any) -> bytes:
        """The output to store, from what a body has returned. Raises BadOutput."""
        if work.run_id is not None and isinstance(result, dict) and RESERVED in result:
            raise BadOutput(
                f"the output has a key {RESERVED!r}, but in a workflow <node>.{RESERVED} are the"
                " files that the node wrote: give it another name"
            )
        return encode_output(result, self._setup.limits.value_bytes)

    @contextmanager
    def _arounds(
        self, jobs: list[Job], ends: dict[int, BaseException] | None = None
    ) -> Iterator[None]:
        """Everything that the app wraps around the body of these jobs. `ends`: errors of jobs of a
        batch whose body has returned, by their ids; to what is around such a job, it looks as if
        the body had raised it."""
        failure: BaseException | None = None
        with ExitStack() as stack:
            for job in jobs:
                for wrap in self._tasks.arounds():
                    if ends is None:
                        stack.enter_context(wrap(job))
                    else:
                        stack.enter_context(_around_one(wrap(job), job.id, ends))
            try:
                yield
            except BaseException as error:
                failure = error
                raise
        if failure is not None:  # an @app.around has caught it
            print(f"warning: {NOT_RAISED}", flush=True)
            raise failure

    def _serve_model(self, context: JobContext, work: Work) -> None:
        """Give the body the server of its model, if it has one."""
        if work.server is not None:
            progress = context.status_callback
            context.model = ServedModel.from_json(work.server, progress, context.events.cancel)

    def _body(self, work: Work, context: JobContext) -> tuple[Callable[[], Any], int]:
        """The function to call for this job, and what it hears when it should stop. Finding it may
        import user code or load a model; that time does not count as the body's."""
        allowed = self._setup.allow_commands
        if work.task == COMMAND and allowed is not None:
            command = Command.read(context.inputs)
            return lambda: run_command(
                command, context.job, context.out(), allowed, self._events,
                self._setup.limits.value_bytes,
                CommandFiles(
                    lambda path: CheckpointFile(path, work.checkpoint, self._saver, work.ticket),
                    lambda path: TrackFile(path, context.track),
                ),
            ), LISTENS if command.stop_signal else NOTHING  # fmt: skip
        body = self._find(work.task)
        if context.model is None:
            context.model = self._model(work.model)
        return lambda: body(context), body.hears

    def _find(self, task: str) -> Body:
        """The body of a task. Raises ImportFailed."""
        if task == LLM and not self._tasks.has(LLM):
            return ASK_MODEL
        if task == SEND:
            return DELIVER
        try:
            return self._tasks.find(task)
        except Exception as error:
            raise ImportFailed from error
        finally:
            self._imported()

    def _model(self, name: str | None) -> Any:
        """The model with this name, if the app has a loader for it."""
        if name is None or not self._models.knows(name):
            return None
        return self._models.get(name)


class _NotedEnd:
    """Around a body: until its end it may save and track, and if it raises, its files are noted.
    A generator as context manager takes three times as long, and this runs for every job."""

    def __init__(self, runner: Runner, work: Work, context: JobContext) -> None:
        self._runner, self._work, self._context = runner, work, context

    def __enter__(self) -> None:
        self._runner.begin(self._work)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._runner.end(self._work, self._context, kind is not None)


@contextmanager
def _around_one(
    around: AbstractContextManager[object], job_id: int, ends: dict[int, BaseException]
) -> Iterator[None]:
    """One thing around one job of a batch: it ends as the job has ended, and may replace its error,
    but not take it back."""
    trace = None
    try:
        with around:
            yield
            if job_id in ends:
                trace = ends[job_id].__traceback__
                raise ends[job_id]
    except BaseException as error:
        if job_id not in ends:
            raise
        ends[job_id] = error.with_traceback(trace) if error is ends[job_id] else error
    else:
        if job_id in ends:
            print(f"warning: {NOT_RAISED}", flush=True)


def _check_results(results: Any, count: int) -> None:
    """Raise BadOutput if the body of a batch has not returned one result for each job."""
    if isinstance(results, (list, tuple)) and len(results) == count:
        return
    is_list = isinstance(results, (list, tuple))
    got = f"{len(results)} of them" if is_list else f"a {type(results).__name__}"
    raise BadOutput(
        f"the body of a batch must return a list with one result for each of its {count} calls, "
        f"not {got}"
    )


def _detail_of(context: JobContext) -> dict[str, Any]:
    """The record of the attempt about a body that returned: its files, and the tokens it used."""
    detail: dict[str, Any] = {"files": context.files()} if context.folder else {}
    if isinstance(context.model, ServedModel) and context.model.usage:
        detail["usage"] = context.model.usage
    return detail
