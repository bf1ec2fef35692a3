"""Functions as pipelines and workflows: `compile()` calls one, and takes what it adds."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from qwf_agent.app.options import json_of
from qwf_agent.app.workflows import keys as kinds
from qwf_agent.app.workflows.references import Reference, check_keys, names_read, plain

if TYPE_CHECKING:
    from qwf_agent.app.workflows.keys import Kind

NAME = re.compile(r"[a-z][a-z0-9_.-]{0,62}")


class Definition:
    """A pipeline or a workflow, written as a function."""

    kind: str
    part: str  # what it consists of
    known: Kind

    def __init__(
        self, function: Callable[..., Any], name: str | None, given: Mapping[str, Any]
    ) -> None:
        self.parameters = _parameters(function, self.kind)
        self.function = function
        self.name = function.__name__ if name is None else name
        if not NAME.fullmatch(self.name):
            raise ValueError(
                f"{self.name!r} is no name for a {self.kind}: use 1 to 63 lower case letters, "
                "digits, dots, dashes and _, the first a letter"
            )
        self._given = given

    def __repr__(self) -> str:
        return f"{self.kind} {self.name!r}"

    def compile(self) -> dict[str, Any]:
        """The definition, as `qwf apply` reads it. Raises TypeError and ValueError for what no
        definition can say, and whatever the function raises."""
        return self.build().content

    def build(self) -> Built:
        """The definition, and the others that it names as objects. Raises what `compile()`
        raises."""
        parts = DefinitionParts(self)
        token = current.set(parts)
        try:
            outputs = self._outputs(self.function(**parts.references), parts)
        finally:
            current.reset(token)
        head = parts.plain_keys(repr(self), self._given, self.known)
        if "schema" in head:
            head = {"$schema": head.pop("schema"), **head}
        content = {"name": self.name, **head, **outputs, f"{self.part}s": parts.content()}
        return Built(content, parts.used)

    def _outputs(self, returned: object, parts: DefinitionParts) -> dict[str, Any]:
        if returned is None:
            return {}
        if not isinstance(returned, Mapping):
            raise TypeError(
                f"the function of {self!r} returns its outputs by name, as a dict, not {returned!r}"
            )
        what = f"the outputs of {self!r}"
        outputs = plain(returned, what, parts)
        json_of(f"{what} are", outputs)
        return {"outputs": outputs}


class Pipeline(Definition):
    """A pipeline, written as a function of its inputs. A `step` runs it."""

    kind, part, known = "pipeline", "node", kinds.PIPELINE


class Workflow(Definition):
    """A workflow, written as a function of the keys of its context. A `run` is a run of it in
    another one."""

    kind, part, known = "workflow", "step", kinds.WORKFLOW


class Built(NamedTuple):
    """A definition as JSON has it, and those that its steps name as objects."""

    content: dict[str, Any]
    used: list[Definition]


class Part(NamedTuple):
    """One node or step: what says which it is, its other keys, and those that hold references."""

    head: dict[str, Any]
    keys: dict[str, Any]
    referring: frozenset[str]


class DefinitionParts:
    """The nodes or steps of the definition that is being built, in the order of the calls."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.used: list[Definition] = []
        self._parts: dict[str, Part] = {}
        self._is_pipeline = definition.kind == "pipeline"
        before = ["pipeline"] if self._is_pipeline else []
        self.references = {name: Reference([*before, name], self) for name in definition.parameters}

    def __repr__(self) -> str:
        return repr(self.definition)

    def add(
        self, part_id: str, head: dict[str, Any], given: Mapping[str, Any], kind: Kind
    ) -> Reference:
        """Add a node or step, and return the reference to its output. Raises TypeError for a key
        that it does not have and for a value that is not JSON, ValueError for an id that is
        taken."""
        part = self.definition.part
        if not isinstance(part_id, str):
            raise TypeError(f"the id of a {part} has to be a text, not {part_id!r}")
        if part_id in self._parts:
            raise ValueError(f"two {part}s are called {part_id!r}")
        if part_id in self.references and not self._is_pipeline:
            raise ValueError(f"a step and a parameter are called {part_id!r}: rename one of them")
        keys = self.plain_keys(f"{part} {part_id!r}", given, kind)
        self._parts[part_id] = Part({"id": part_id, **head}, keys, kind.referring)
        return Reference([part_id], self)

    def plain_keys(self, what: str, given: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
        """The keys of an object as JSON has them. Raises TypeError for one that it does not have,
        and for a value that is not JSON."""
        check_keys(what, given, kind.known)
        found: dict[str, Any] = {}
        for key, value in given.items():
            where = f"{key} of {what}"
            if key in ("depends_on", "compensates"):
                found[key] = self._ids(where, value)
            elif key in (*kinds.DURATIONS, "delay") and isinstance(value, timedelta):
                found[key] = _seconds(value)
            elif key in ("expect", "repeat") and isinstance(value, Mapping):
                times = {k: _as_json_time(v) for k, v in value.items()}
                found[key] = plain(times, where, self if key in kind.referring else None)
            else:
                found[key] = plain(value, where, self if key in kind.referring else None)
        json_of(f"the keys of {what} are", found)
        return found

    def content(self) -> list[dict[str, Any]]:
        """All of them, as JSON has them. One that was given neither `depends_on` nor `compensates`
        depends on those that it reads."""
        return [
            {**part.head, **self._dependencies(part_id, part), **part.keys}
            for part_id, part in self._parts.items()
        ]

    def _dependencies(self, part_id: str, part: Part) -> dict[str, list[str]]:
        if "compensates" in part.keys:
            return {}
        if "depends_on" in part.keys:
            return {"depends_on": part.keys["depends_on"]}
        values = [
            _as_references(value) if key == "inputs" else value
            for key, value in part.keys.items()
            if key in part.referring
        ]
        read = dict.fromkeys(name for name in names_read(values) if self._has(name))
        read.pop(part_id, None)
        return {"depends_on": [*read]} if read else {}

    def _has(self, name: str) -> bool:
        """True if a path that begins with this name leads to a node or step that is here. In a
        workflow, `step/node` does, too."""
        return (name if self._is_pipeline else name.partition("/")[0]) in self._parts

    def _ids(self, where: str, given: object) -> list[str]:
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{where} has to be a list of {self.definition.part}s, not {given!r}")
        return [self._id(where, one) for one in given]

    def _id(self, where: str, one: object) -> str:
        if isinstance(one, str):
            return one
        path = plain(one, where, self)["$from"] if isinstance(one, Reference) else None
        if isinstance(path, str) and "." not in path and path not in self.references:
            return path
        raise TypeError(f"{where} takes {self.definition.part}s and their ids, not {one!r}")


current: ContextVar[DefinitionParts | None] = ContextVar("qwf_definition", default=None)


def _parameters(function: Callable[..., Any], kind: str) -> list[str]:
    """The names of the parameters of a function. Raises TypeError unless it is a plain function
    with plain parameters."""
    odd = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if not inspect.isfunction(function) or any(is_odd(function) for is_odd in odd):
        raise TypeError(f"@{kind}() takes a function without async and yield, not {function!r}")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for one in inspect.signature(function).parameters.values():
        if one.kind not in named or one.default is not one.empty:
            raise TypeError(
                f"the parameter {str(one)!r} of {function.__name__}() is not a plain name. "
                "Every parameter is a reference; a default is written ref(name, default=...)"
            )
        if kind == "workflow" and one.name == "run":
            raise TypeError(
                f"the parameter 'run' of {function.__name__}() would be the run itself, which "
                "this_run stands for: give that key of the context another name"
            )
    return [*inspect.signature(function).parameters]


def _as_references(inputs: Any) -> Any:
    """Inputs that are given as a list of names and paths, as references."""
    if isinstance(inputs, list):
        return [
            {"$from": one["from"]} if isinstance(one, dict) and "from" in one else one
            for one in inputs
        ]
    return inputs


def _as_json_time(value: object) -> object:
    return _seconds(value) if isinstance(value, timedelta) else value


def _seconds(time: timedelta) -> float:
    seconds = time.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds
