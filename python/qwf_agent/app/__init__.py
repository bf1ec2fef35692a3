"""The names that user code imports: an App to register tasks on, the errors that say whether to
retry, and the Job that a body sees.

Nothing here needs a database driver; `enqueue` uses the caller's own connection and transaction.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import math
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from qwf_agent.app import events, jobs, runs
from qwf_agent.app.bodies import AnyArguments, BatchResult, Call, Job, Shape, shape_of
from qwf_agent.app.calls import drive, drive_async
from qwf_agent.app.checkpoints import Checkpoint
from qwf_agent.app.connections import AsyncConnection, Connection, SqlCall, Statement
from qwf_agent.app.jobs import Enqueued, NewJob, enqueue_one
from qwf_agent.app.options import (
    Options,
    SqlValue,
    checked,
    convert_options,
    for_each_job,
    json_of,
    limit_function,
    own_project,
    without_functions,
)
from qwf_agent.app.parameters import FROM_AGENT, Parameters
from qwf_agent.app.statuses import NotCompleted
from qwf_agent.app.trace_labels import trace_labels, with_trace
from qwf_agent.app.track import Track

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "FROM_AGENT",
    "App",
    "Call",
    "Checkpoint",
    "Job",
    "Model",
    "NotCompleted",
    "PermanentError",
    "Release",
    "Statement",
    "Task",
    "TemporaryError",
    "Track",
    "events",
    "jobs",
    "runs",
]

P = ParamSpec("P")
R = TypeVar("R")
B = TypeVar("B", bound=BatchResult | Awaitable[BatchResult])

Around = Callable[["Job"], AbstractContextManager[object]]
TASK_NAME = re.compile(r"\S{1,200}")
LONGEST_RETRY_S = 366 * 86400.0


class TemporaryError(Exception):
    """The body failed for a reason that will pass. The job is retried: 4 times, unless it sets
    another number.

    `retry_after_s` makes the wait before the next try at least that long: 0.1 s to 366 days.

    With `counts=False` nothing has failed, the job only comes too early: it waits exactly
    `retry_after_s`, at least 1 s, and no try, backoff or failure is counted. After 1,000 such ends
    in a row the next counts as a failure. Raises ValueError without a number of seconds.
    """

    retry_after_s: float | None = None
    counts = True

    def __init__(
        self, *args: object, retry_after_s: float | None = None, counts: bool = True
    ) -> None:
        super().__init__(*args)
        if not counts and not (
            isinstance(retry_after_s, (int, float)) and retry_after_s < math.inf
        ):
            raise ValueError(f"counts=False needs retry_after_s, seconds, not {retry_after_s!r}")
        self.retry_after_s = retry_after_s
        self.counts = counts


class PermanentError(Exception):
    """Retrying is useless: the job fails at once, even if it has attempts left."""


class Release(Exception):
    """The body has saved what it has, and releases its job, because it was told to stop: see
    `stopping` and `Job.stopping`. The job is queued again, and the attempt counts against nothing;
    at its timeout it counts as a loss. If nobody has told the body to stop, this is an error like
    any other."""


@dataclass(frozen=True)
class Model:
    """A registered model: its loader and the GPU memory it needs, GiB."""

    name: str
    load: Callable[[], Any]
    vram_gb: float = 0.0
    device: bool = True


class Task(Generic[P, R]):
    """A registered function. Call it like any function, or enqueue it."""

    def __init__(
        self, function: Callable[P, R], name: str, options: Mapping[str, Any],
        shape: Shape | None = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.shape = shape  # None: the body takes one job
        batched = shape is not None and not shape.concurrent
        self._parameters = AnyArguments(name) if batched else Parameters(function)
        self._options = self._converted(options)
        self._limit_of = limit_function(options)

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function here and now."""
        return self.function(*args, **kwargs)

    def options(self, **options: Unpack[Options]) -> Task[P, R]:
        """A copy of this task that enqueues jobs with other options. Raises TypeError for an option
        that does not exist, and for a value that it cannot have."""
        changed = copy.copy(self)
        changed._options = {**self._options, **self._converted(options)}
        if "limit_by" in options:
            changed._limit_of = limit_function(options)
        if changed._limit_of is not None:
            changed._options.pop("limit_by", None)
        return changed

    def _converted(self, options: Mapping[str, Any]) -> dict[str, Any]:
        if options.get("at_most_once") and isinstance(self._parameters, AnyArguments):
            raise TypeError(
                f"{self.name}() runs in batches, and cannot say of one job that it has begun:"
                " at_most_once needs a task without batch"
            )
        return convert_options(without_functions(options))

    def declared(self) -> dict[str, str]:
        """The options that each of its jobs should have, as texts. Only jobs from Python get them,
        so an agent announces them: the others are compared with them."""
        return for_each_job(self._options)

    def enqueue(self, conn: Connection, /, *args: P.args, **kwargs: P.kwargs) -> Enqueued:
        """Enqueue a job with these arguments and return its id, which also says whether it was
        merged into a job with its key. `conn` is a connection of psycopg or Django, or a Session
        or Connection of SQLAlchemy.

        This runs in the caller's transaction: the job exists if and only if that commits. Raises
        TypeError if the function does not take these arguments, ValueError if they are not JSON,
        and the driver's error: SQLSTATE QW005 for a bad value, QW006 for an unknown queue, QW008
        for a key that is taken, with key_mode "refuse".
        """
        return drive(conn, enqueue_one(self._traced(args, kwargs)))

    def enqueue_async(
        self, conn: AsyncConnection, /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, Enqueued]:
        """The same as `enqueue`, to be awaited: `conn` is an AsyncConnection of psycopg, a
        connection of asyncpg, or an AsyncSession or AsyncConnection of SQLAlchemy."""
        return drive_async(conn, enqueue_one(self._traced(args, kwargs)))

    def statement(self, /, *args: P.args, **kwargs: P.kwargs) -> Statement:
        """The statement that enqueues a job with these arguments, for any other driver: the SQL
        with the places $1, $2, ... and the texts to fill them with. It returns one row with the
        id."""
        return self._traced(args, kwargs).statement()

    def job(self, /, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """A job with these arguments and the options of this task, for `jobs.enqueue_many`. Raises
        what `enqueue` raises before it touches the database."""
        return NewJob(self._call(args, kwargs).arguments)

    def _call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> SqlCall:
        given = self._parameters.bind(args, kwargs)
        task = SqlValue(self.name)
        inputs = json_of(f"the arguments of {self.name} are", given)
        options = own_project()
        options |= {name: value for name, value in self._options.items() if value is not None}
        if self._limit_of is not None:
            limit = self._limit_of(**{**self._parameters.defaults, **given})
            options |= {n: v for n, v in convert_options({"limit_by": limit}).items() if v}
        if isinstance(self._parameters, Parameters):
            options["labels"] = checked(options.get("labels"))
        return SqlCall("enqueue", {"task": task, "args": inputs, **options})

    def _traced(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> SqlCall:
        call = self._call(args, kwargs)
        return call._replace(arguments=with_trace(call.arguments, trace_labels()))


class App:
    """A collection of tasks: `--app module:object` names it to an agent."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task[..., Any]] = {}
        self.models: dict[str, Model] = {}
        self.arounds: list[Around] = []
        self.at_end: list[Callable[[], None]] = []  # called before a child of an agent ends

    @overload
    def task(
        self,
        name: str | None = None,
        *,
        batch: int,
        batch_wait: float = 0.0,
        **options: Unpack[Options],
    ) -> Callable[[Callable[[list[Call]], B]], Task[..., B]]: ...

    @overload
    def task(
        self, name: str | None = None, *, concurrency: int, **options: Unpack[Options]
    ) -> Callable[[Callable[P, Awaitable[R]]], Task[P, Awaitable[R]]]: ...

    @overload
    def task(
        self, name: str | None = None, **options: Unpack[Options]
    ) -> Callable[[Callable[P, R]], Task[P, R]]: ...

    @overload
    def task(self, name: Callable[P, R], /) -> Task[P, R]: ...

    def task(
        self,
        name: str | Callable[..., Any] | None = None,
        *,
        concurrency: int | None = None,
        batch: int | None = None,
        batch_wait: float = 0.0,
        **options: Unpack[Options],
    ) -> Callable[[Callable[..., Any]], Task[..., Any]] | Task[..., Any]:
        """Register the decorated function under `name`, by default its own: `@app.task`, or
        `@app.task(...)` with options, which apply to the jobs that `enqueue` creates.

        `concurrency` is how many bodies of this async function one child runs at once, in one event
        loop. `batch` is how many jobs the function gets at most in one call, as
        `calls: list[Call]`; it returns a list with a dict, None or an exception for each. An agent
        waits at most `batch_wait` seconds (0 to 1) for more jobs.

        Raises TypeError for an option that does not exist, for a value that it cannot have, and for
        a function that cannot be such a body; ValueError if the name is taken or contains a blank,
        and for a number that is too large.
        """
        if callable(name):  # @app.task without parentheses
            return self.task()(name)
        _check_name("task", name)
        convert_options(without_functions(options))

        def register(function: Callable[..., Any]) -> Task[..., Any]:
            shape = shape_of(function, concurrency, batch, batch_wait)
            task = Task(function, _name_of("task", function, name), options, shape)
            if not TASK_NAME.fullmatch(task.name):
                raise ValueError(
                    f"{task.name!r} is no name for a task: use 1 to 200 characters without blanks"
                )
            if task.name in self.tasks:
                raise ValueError(f"two tasks are called {task.name!r}")
            self.tasks[task.name] = task
            return task

        return register

    @overload
    def model(
        self, name: str | None = None, *, vram_gb: float = 0.0, device: bool = True
    ) -> Callable[[Callable[[], R]], Callable[[], R]]: ...

    @overload
    def model(self, name: Callable[[], R], /) -> Callable[[], R]: ...

    def model(
        self,
        name: str | Callable[[], Any] | None = None,
        *,
        vram_gb: float = 0.0,
        device: bool = True,
    ) -> Callable[..., Any]:
        """Register the decorated function as the loader of a model, with or without parentheses.
        The model is called `name`, by default the name of the function.

        The loader returns the model, or yields it once: the code after the yield unloads it. Bodies
        of jobs that need the model get it as `model`, `model_handle` or `llm`. `vram_gb` is the GPU
        memory it takes, GiB (0: unknown); `device=False` means that it needs no card. Raises
        ValueError if the name is taken, TypeError for values of other types.
        """
        if callable(name):  # @app.model without parentheses
            return self.model()(name)
        _check_name("model", name)
        if isinstance(vram_gb, bool) or not isinstance(vram_gb, (int, float)):
            raise TypeError(f"vram_gb has to be a number of GiB, not {vram_gb!r}")
        if not math.isfinite(vram_gb) or vram_gb < 0:
            raise ValueError(f"vram_gb has to be 0 or more, not {vram_gb!r}")
        if not isinstance(device, bool):
            raise TypeError(f"device has to be True or False, not {device!r}")

        def register(function: Callable[[], R]) -> Callable[[], R]:
            _check_plain_function("model", function)
            model = Model(_name_of("model", function, name), function, vram_gb, device)
            if model.name in self.models:
                raise ValueError(f"two models are called {model.name!r}")
            self.models[model.name] = model
            return function

        return register

    def around(
        self, function: Callable[[Job], Iterator[None] | AbstractContextManager[object]]
    ) -> Around:
        """Wrap every body that an agent runs. The decorated function is a generator with one yield,
        or returns a context manager."""
        _check_plain_function("around", function)
        if inspect.isgeneratorfunction(function):
            wrapper: Around = contextlib.contextmanager(function)
        else:
            wrapper = function  # type: ignore[assignment]
        self.arounds.append(wrapper)
        return wrapper


def _check_name(what: str, name: object) -> None:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a {what} has to be a text, not {name!r}")


def _check_plain_function(what: str, function: object) -> None:
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    if is_async or not callable(function):
        raise TypeError(f"@app.{what} takes a function without async, not {function!r}")


def _name_of(what: str, function: Callable[..., Any], name: str | None) -> str:
    own = name if name is not None else getattr(function, "__name__", None)
    if own is None:
        raise TypeError(f"{function!r} has no name of its own: write @app.{what}('name')")
    return str(own)
