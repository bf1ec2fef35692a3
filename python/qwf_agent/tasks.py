"""Which tasks there are and what runs them: the user's app object and node modules. Runs only in
children."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import pkgutil
import select
import signal
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn

from qwf_agent.app import App, Job
from qwf_agent.body import Body
from qwf_agent.outcome import describe

IMPORT_S = 300.0  # longest that importing the user's code may take


class CannotLoad(Exception):
    """The user's code could not be imported, or holds no such thing. The message says which and
    why."""


class Tasks:
    """The user's tasks, imported when they are first needed."""

    def __init__(self, app: str | None, nodes: str | None) -> None:
        self._app_path = app
        self._nodes = nodes
        self._app: App | None = None
        self._bodies: dict[str, Body] = {}

    def load(self) -> None:
        """Import the app. Raises CannotLoad, or whatever the import raises."""
        if self._app_path and self._app is None:
            self._app = _import_app(self._app_path)

    def names(self) -> list[str]:
        """All tasks: those of the app, and the modules of the package of nodes (which are not
        imported)."""
        self.load()
        names = set(self._app.tasks) if self._app else set()
        if self._nodes:
            package = importlib.import_module(self._nodes)
            if not hasattr(package, "__path__"):
                raise CannotLoad(f"--nodes {self._nodes}: a package is wanted, this is a module")
            found = pkgutil.iter_modules(package.__path__)
            names |= {module.name for module in found if not module.name.startswith("_")}
        return sorted(names)

    def find(self, task: str) -> Body:
        """What runs the task. Raises CannotLoad, or whatever importing its module raises."""
        body = self._bodies.get(task)
        if body is None:
            body = self._bodies[task] = self._load_body(task)
        return body

    def around(self, job: Job) -> list[AbstractContextManager[object]]:
        """The context managers to run the job's body in, outermost first."""
        return [wrap(job) for wrap in self._app.arounds] if self._app else []

    def _load_body(self, task: str) -> Body:
        self.load()
        if self._app and task in self._app.tasks:
            return Body(self._app.tasks[task].function)
        if not self._nodes or not all(part.isidentifier() for part in task.split(".")):
            raise CannotLoad(f"this agent has no task {task!r}")
        name = f"{self._nodes}.{task}"
        if importlib.util.find_spec(name) is None:
            raise CannotLoad(f"this agent has no task {task!r}: no module {name}")
        module = importlib.import_module(name)
        if not callable(getattr(module, "run", None)):
            raise CannotLoad(f"module {name} has no function run()")
        return Body(module.run)


def names_in_child(app: str | None, nodes: str | None) -> list[str]:
    """Names of the user's tasks, found by a throw-away child, so that this process imports none of
    that code.

    Raises CannotLoad with the import error.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _tell_names(Tasks(app, nodes), writer)
    os.close(writer)
    answer = _read_all(reader, time.monotonic() + IMPORT_S)
    os.close(reader)
    if answer is None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if answer is None:
        raise CannotLoad(f"importing took more than {IMPORT_S:g} s")
    if not answer:
        raise CannotLoad(
            f"the process that imported it died with status {os.waitstatus_to_exitcode(status)}"
        )
    found = json.loads(answer)
    if "error" in found:
        raise CannotLoad(found["error"])
    return list(found["tasks"])


def _tell_names(tasks: Tasks, writer: int) -> NoReturn:
    """Write the names, or why there are none, and leave without running anybody's exit handlers."""
    try:
        os.dup2(2, 1)
        sys.path.insert(0, str(Path.cwd()))
        try:
            answer = json.dumps({"tasks": tasks.names()})
        except BaseException as error:
            answer = json.dumps({"error": _reason(error)})
        with os.fdopen(writer, "w") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)


def _reason(error: BaseException) -> str:
    if isinstance(error, CannotLoad):
        return str(error)
    return describe(error)


def _read_all(reader: int, deadline: float) -> bytes | None:
    data = b""
    while True:
        readable, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return None
        part = os.read(reader, 65536)
        if not part:
            return data
        data += part


def _import_app(path: str) -> App:
    module_name, _, name = path.partition(":")
    module = importlib.import_module(module_name)
    app = getattr(module, name or "app", None)
    if not isinstance(app, App):
        raise CannotLoad(f"--app {path}: {module_name} has no App called {name or 'app'!r}")
    return app
