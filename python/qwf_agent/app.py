"""What user code imports: an App to register tasks on, the errors that say whether to retry, and
the Job that a body sees.

Nothing here needs a database driver; `enqueue` uses the caller's own connection and transaction.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

Around = Callable[["Job"], AbstractContextManager[object]]

# The options of qwf.enqueue that a producer may give, and the SQL type of each.
SQL_TYPES = {
    "queue": "text", "priority": "int", "run_at": "timestamptz", "key": "text", "project": "text",
    "max_attempts": "int", "backoff": "jsonb", "timeout": "interval", "labels": "jsonb",
    "once": "boolean", "model": "text", "vram_mb": "int", "requires": "jsonb", "limit_by": "text",
    "on_failure": "text", "expires": "interval",
}  # fmt: skip


class TemporaryError(Exception):
    """The body failed for a reason that will pass. The job is retried: 4 times, unless it sets
    another number."""


class PermanentError(Exception):
    """Retrying is useless: the job fails at once, even if it has attempts left."""


@dataclass(frozen=True)
class Job:
    """The job that is running: a body gets it as `job`."""

    id: int
    task: str
    queue: str
    attempt: int
    run_id: int | None = None
    node_id: str | None = None
    project: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """A registered model: its loader and the GPU memory it needs, GiB."""

    name: str
    load: Callable[[], Any]
    vram_gb: float = 0.0
    device: bool = True


class Task(Generic[P, R]):
    """A registered function. Call it like any function, or enqueue it."""

    def __init__(self, function: Callable[P, R], name: str, options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self._options = {key: value for key, value in options.items() if value is not None}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function here and now."""
        return self.function(*args, **kwargs)

    def options(self, **options: Any) -> Task[P, R]:
        """A copy of this task that enqueues jobs with other options: priority, run_at, key, queue,
        max_attempts, backoff, timeout and expires (seconds or timedelta), project, labels, once,
        model, vram_mb, requires, limit_by, on_failure. Raises TypeError for any other."""
        unknown = sorted(set(options) - set(SQL_TYPES))
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}, use one of {', '.join(SQL_TYPES)}")
        return Task(self.function, self.name, {**self._options, **options})

    def enqueue(self, conn: Any, /, **args: Any) -> int:
        """Enqueue a job with these arguments and return its id. `conn` is a database connection:
        psycopg, or any driver with `%(name)s` parameters.

        This runs in the caller's transaction: the job exists if and only if that commits. Raises
        the driver's error: SQLSTATE QW005 for a bad value, QW006 for an unknown queue.
        """
        given = {key: _sql_value(value) for key, value in self._options.items()}
        named = "".join(f", {key} => %({key})s::{SQL_TYPES[key]}" for key in given)
        query = f"select * from qwf.enqueue(%(task)s::text, %(args)s::jsonb{named})"  # noqa: S608
        with conn.cursor() as cursor:
            cursor.execute(query, {"task": self.name, "args": _json(args), **given})
            row = cursor.fetchone()
        return int(next(iter(row.values())) if isinstance(row, Mapping) else row[0])


class App:
    """A collection of tasks: `--app module:object` names it to an agent."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task[..., Any]] = {}
        self.models: dict[str, Model] = {}
        self.arounds: list[Around] = []

    def task(
        self,
        name: str | None = None,
        *,
        queue: str = "default",
        max_attempts: int | None = None,
        backoff: list[float] | dict[str, float] | None = None,
        timeout: float | timedelta | None = None,
        priority: int | None = None,
        model: str | None = None,
    ) -> Callable[[Callable[P, R]], Task[P, R]]:
        """Register the decorated function under `name`, by default its own. The options apply to
        the jobs that `enqueue` creates; `timeout` is in seconds or a timedelta. Raises ValueError
        if the name is taken."""
        options = {
            "queue": queue,
            "max_attempts": max_attempts,
            "backoff": backoff,
            "timeout": timeout,
            "model": model,
        }

        def register(function: Callable[P, R]) -> Task[P, R]:
            task = Task(function, name or function.__name__, {**options, "priority": priority})
            if task.name in self.tasks:
                raise ValueError(f"two tasks are called {task.name!r}")
            self.tasks[task.name] = task
            return task

        return register

    def model(
        self, name: str | None = None, *, vram_gb: float = 0.0, device: bool = True
    ) -> Callable[[Callable[[], R]], Callable[[], R]]:
        """Register the decorated function as the loader of a model. The model is called `name`, by
        default the name of the function.

        The loader returns the model, or yields it once: the code after the yield unloads it. Bodies
        of jobs that need the model get it as `model` or `model_handle`. `vram_gb` is the GPU memory
        it takes, GiB (0: unknown); `device=False` means that it needs no card. Raises ValueError if
        the name is taken.
        """

        def register(function: Callable[[], R]) -> Callable[[], R]:
            model = Model(name or function.__name__, function, vram_gb, device)
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
        if inspect.isgeneratorfunction(function):
            wrapper: Around = contextlib.contextmanager(function)
        else:
            wrapper = function  # type: ignore[assignment]
        self.arounds.append(wrapper)
        return wrapper


def _sql_value(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} seconds"
    if isinstance(value, (dict, list)):
        return _json(value)
    return value if isinstance(value, datetime) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
