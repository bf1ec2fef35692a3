"""Finds the user's tasks and models: in the app object and in the node modules."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Sequence
from pathlib import Path

from qwf_agent.app import App, Around, Model
from qwf_agent.app.bodies import Shape
from qwf_agent.child.body import Body

IMPORT_S = 300.0  # longest that importing the user's code may take


class CannotLoad(Exception):
    """The user's code could not be imported, or lacks the task or app. The message says why."""


class NoSuchTask(CannotLoad):
    """The code of this agent can be imported, but it has no task of this name."""


class Tasks:
    """The user's tasks, imported when they are first needed."""

    def __init__(self, app: App | str | None, nodes: str | None, otel: bool = False) -> None:
        self._app_path = app if isinstance(app, str) else None
        self._nodes = nodes
        self._app = app if isinstance(app, App) else None
        self._otel = otel  # make spans, whether the app asks for them or not
        self._names: list[str] | None = None
        self._bodies: dict[str, Body] = {}
        self._broken: set[str] = set()  # files of node modules

    def load(self) -> None:
        """Import the app. Raises CannotLoad, or what the import raises."""
        if self._app_path and self._app is None:
            self._app = _import_app(self._app_path)
        if self._otel:
            from qwf_agent import otel

            self._otel, self._app = False, otel.trace(self._app or App())

    def names(self) -> list[str]:
        """Names of all tasks: those of the app, and the node modules, which are not imported
        here."""
        if self._names is None:
            self._names = self._find_names()
        return self._names

    def has(self, task: str) -> bool:
        """Return True if the user has a task of this name."""
        return task in self.names()

    def _find_names(self) -> list[str]:
        self.load()
        names = set(self._app.tasks) if self._app else set()
        if self._nodes:
            package = _import(self._nodes, f"--nodes {self._nodes}")
            if not hasattr(package, "__path__"):
                raise CannotLoad(f"--nodes {self._nodes}: expected a package, this is a module")
            found = pkgutil.iter_modules(package.__path__)
            names |= {module.name for module in found if not module.name.startswith("_")}
        return sorted(names)

    def models(self) -> dict[str, Model]:
        """The models of the app, by name."""
        self.load()
        return self._app.models if self._app else {}

    def declared_options(self) -> dict[str, dict[str, str]]:
        """The options that tasks of the app declare, as texts, by task."""
        self.load()
        tasks = self._app.tasks.items() if self._app else ()
        return {name: declared for name, task in tasks if (declared := task.declared())}

    def shapes(self) -> dict[str, Shape]:
        """The tasks of the app whose bodies take more than one job, by name."""
        self.load()
        tasks = self._app.tasks.items() if self._app else ()
        return {name: task.shape for name, task in tasks if task.shape is not None}

    def model_needs(self) -> dict[str, int]:
        """The GPU memory that each model needs, MiB."""
        return {name: int(model.vram_gb * 1024) for name, model in self.models().items()}

    def watched(self) -> list[str]:
        """The folders of the node modules, and the files that could not be imported."""
        package = sys.modules.get(self._nodes or "")
        return [*getattr(package, "__path__", []), *sorted(self._broken)]

    def has_loaded(self, task: str) -> bool:
        """Return True if the code of the task is imported already."""
        return task in self._bodies

    def find(self, task: str) -> Body:
        """The body of the task. Raises CannotLoad, or what importing its module raises."""
        body = self._bodies.get(task)
        if body is None:
            body = self._bodies[task] = self._load_body(task)
        return body

    def arounds(self) -> Sequence[Around]:
        """The functions that make the context managers to run each body in, outermost first."""
        return self._app.arounds if self._app else ()

    def end(self) -> None:
        """Do what has to be done before the process ends."""
        for function in self._app.at_end if self._app else ():
            function()

    def _load_body(self, task: str) -> Body:
        self.load()
        if self._app and task in self._app.tasks:
            return Body(self._app.tasks[task].function)
        if not self._nodes or not all(part.isidentifier() for part in task.split(".")):
            raise NoSuchTask(f"this agent has no task {task!r}")
        name = f"{self._nodes}.{task}"
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise NoSuchTask(f"this agent has no task {task!r}: no module {name}")
        self._broken.add(spec.origin or "")
        module = importlib.import_module(name)
        if not callable(getattr(module, "run", None)):
            raise CannotLoad(f"module {name} has no function run()")
        self._broken.discard(spec.origin or "")
        return Body(module.run)


def _import(module_name: str, option: str) -> types.ModuleType:
    """The module that an option names. Raises CannotLoad if it is not there, and what importing it
    raises."""
    if not all(module_name.split(".")):
        raise CannotLoad(f"{option}: {module_name!r} is no name of a module, such as shop.tasks")
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, and imports another one that is not
        meant = module_name.removesuffix(".py").strip("./").replace("/", ".")
        file = f"; write {meant!r}" if meant != module_name else ""
        raise CannotLoad(
            f"{option}: there is no module {error.name!r} in {Path.cwd()} or on PYTHONPATH{file}"
        ) from None


def _import_app(path: str) -> App:
    module_name, _, name = path.partition(":")
    module = _import(module_name, f"--app {path}")
    app = getattr(module, name or "app", None)
    if not isinstance(app, App):
        apps = [name for name, value in vars(module).items() if isinstance(value, App)]
        hint = f"; it has {', '.join(map(repr, apps))}" if apps else ""
        raise CannotLoad(f"--app {path}: {module_name} has no App called {name or 'app'!r}{hint}")
    return app
