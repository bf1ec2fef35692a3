"""Runs the body of one job: finds it, gives it its model, wraps it and encodes what it returns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from qwf_agent.child.body import BadOutput, Body, ImportFailed, encode_output
from qwf_agent.child.cancel import BodyEvents
from qwf_agent.child.command import COMMAND, Command, run_command
from qwf_agent.child.job_context import JobContext
from qwf_agent.child.messages import Work
from qwf_agent.child.models import Models
from qwf_agent.child.outcome import NO_SPACE, JobOutcome
from qwf_agent.child.own_folder import Moved
from qwf_agent.child.saving import Saver
from qwf_agent.child.scoreboard import LISTENS, NOTHING, Scoreboard
from qwf_agent.child.setup import Setup
from qwf_agent.child.tasks import Tasks
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
RESERVED = "files"  # what references to a node mean by it


class Runner:
    """Runs bodies, one at a time. A child has one, and so has a test that runs its jobs itself."""

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

    def run(self, work: Work, before_body: Callable[[], None]) -> JobOutcome:
        """Run the body of this job. Raises what it raises; `outcome.of_exception` says what that
        means."""
        scoreboard = self._scoreboard
        context = JobContext(work, scoreboard, self._events, self._moved, self._saver)
        if work.model is not None or not self._tasks.has_loaded(work.task):
            scoreboard.load(work.ticket)
        if work.server is not None:
            progress = context.status_callback
            context.model = ServedModel.from_json(work.server, progress, self._events.cancel)
        run, hears = self._body(work, context)
        before_body()
        scoreboard.start(work.ticket, hears)
        with context.blaming_the_host(*NO_SPACE):  # the body may have filled the disk itself
            result = self._run_within(context, run)
        if work.run_id is not None and isinstance(result, dict) and RESERVED in result:
            raise BadOutput(
                f"the output has a key {RESERVED!r}, but in a workflow <node>.{RESERVED} are the"
                " files that the node wrote: give it another name"
            )
        output = encode_output(result, self._setup.limits.value_bytes)
        return JobOutcome("completed", output, detail=_detail_of(context))

    def _run_within(self, context: JobContext, run: Callable[[], Any]) -> Any:
        arounds = self._tasks.arounds()
        if not arounds:
            return run()
        result: Any = None
        failure: BaseException | None = None
        with ExitStack() as stack:
            for around in [wrap(context.job) for wrap in arounds]:
                stack.enter_context(around)
            try:
                result = run()
            except BaseException as error:
                failure = error
                raise
        if failure is not None:  # an @app.around has caught it
            print(f"warning: {NOT_RAISED}", flush=True)
            raise failure
        return result

    def _body(self, work: Work, context: JobContext) -> tuple[Callable[[], Any], int]:
        """The function to call for this job, and what it hears when it should stop. Finding it may
        import user code or load a model; that time does not count as the body's."""
        allowed = self._setup.allow_commands
        if work.task == COMMAND and allowed is not None:
            command = Command.read(context.inputs)
            return lambda: run_command(
                command, context.job, context.out(), allowed, self._events,
                self._setup.limits.value_bytes, context.checkpoint_file,
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


def _detail_of(context: JobContext) -> dict[str, Any]:
    """The record of the attempt about a body that returned: its files, and the tokens it used."""
    detail: dict[str, Any] = {"files": context.files()} if context.folder else {}
    if isinstance(context.model, ServedModel) and context.model.usage:
        detail["usage"] = context.model.usage
    return detail
