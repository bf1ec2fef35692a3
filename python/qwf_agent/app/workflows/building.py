"""Functions as pipelines and workflows: `compile()` calls one, and each call of `node`, `step` or
`question` in it adds a part to the definition."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from qwf_agent.app import Task
from qwf_agent.app.options import json_of
from qwf_agent.app.parameters import Parameters
from qwf_agent.app.values import suggestion
from qwf_agent.app.workflows import keys as kinds
from qwf_agent.app.workflows.references import (
    Expression,
    Reference,
    Value,
    check_keys,
    names_read,
    plain,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from qwf_agent.app.workflows.keys import (
        ChoiceKeys,
        FileKeys,
        Kind,
        NodeKeys,
        NumberKeys,
        PipelineKeys,
        QuestionKeys,
        StepKeys,
        TextKeys,
        WorkflowKeys,
    )

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
        """The definition, and the pipelines that it names as objects. Raises what `compile()`
        raises."""
        parts = Parts(self)
        token = _current.set(parts)
        try:
            outputs = self._outputs(self.function(**parts.references), parts)
        finally:
            _current.reset(token)
        head = parts.plain_keys(repr(self), self._given, self.known)
        if "schema" in head:
            head = {"$schema": head.pop("schema"), **head}
        content = {"name": self.name, **head, **outputs, f"{self.part}s": parts.content()}
        return Built(content, parts.pipelines)

    def _outputs(self, returned: object, parts: Parts) -> dict[str, Any]:
        if returned is not None:
            raise TypeError(f"{self!r} has no outputs, so its function returns nothing")
        return {}


class Pipeline(Definition):
    """A pipeline, written as a function of its inputs. A `step` runs it."""

    kind, part, known = "pipeline", "node", kinds.PIPELINE

    def _outputs(self, returned: object, parts: Parts) -> dict[str, Any]:
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


class Workflow(Definition):
    """A workflow, written as a function of the keys of its context."""

    kind, part, known = "workflow", "step", kinds.WORKFLOW


class Built(NamedTuple):
    """A definition as JSON has it, and the pipelines that its steps name as objects."""

    content: dict[str, Any]
    pipelines: list[Pipeline]


class Part(NamedTuple):
    """One node or step: what says which it is, its other keys, and those that hold references."""

    head: dict[str, Any]
    keys: dict[str, Any]
    referring: frozenset[str]


class Parts:
    """The nodes or steps of the definition that is being built, in the order of the calls."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.pipelines: list[Pipeline] = []
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
            if key == "depends_on":
                found[key] = self._ids(where, value)
            elif key in kinds.DURATIONS and isinstance(value, timedelta):
                found[key] = _seconds(value)
            else:
                found[key] = plain(value, where, self if key in kind.referring else None)
        json_of(f"the keys of {what} are", found)
        return found

    def content(self) -> list[dict[str, Any]]:
        """All of them, as JSON has them. One that was given no `depends_on` depends on those that
        it reads."""
        return [
            {**part.head, **self._dependencies(part_id, part), **part.keys}
            for part_id, part in self._parts.items()
        ]

    def _dependencies(self, part_id: str, part: Part) -> dict[str, list[str]]:
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
        """Whether a path that begins with this name leads to a node or step that is here. In a
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


_current: ContextVar[Parts | None] = ContextVar("qwf_definition", default=None)


def pipeline(
    name: str | None = None, /, **keys: Unpack[PipelineKeys]
) -> Callable[[Callable[..., Mapping[str, Value] | None]], Pipeline]:
    """Make the decorated function a pipeline, called `name` or like the function. Each parameter is
    the reference to the input of that name; what it returns is `outputs`.

    Raises TypeError for a key that pipelines do not have, ValueError for a bad name.
    """
    _check_decorator("pipeline", name, keys, kinds.PIPELINE)
    return lambda function: Pipeline(function, name, keys)


def workflow(
    name: str | None = None, /, **keys: Unpack[WorkflowKeys]
) -> Callable[[Callable[..., None]], Workflow]:
    """Make the decorated function a workflow, called `name` or like the function. Each parameter is
    the reference to that key of the context.

    Raises TypeError for a key that workflows do not have, ValueError for a bad name.
    """
    _check_decorator("workflow", name, keys, kinds.WORKFLOW)
    return lambda function: Workflow(function, name, keys)


def node(
    node_id: str, task: str | Task[..., Any] | None = None, /, **keys: Unpack[NodeKeys]
) -> Reference:
    """Add a node to the pipeline, and return the reference to its output. `task` is the name of its
    task or the task itself, by default the id.

    Raises TypeError for a key that nodes do not have, for a value that is not JSON, and for inputs
    that the task does not take.
    """
    parts = _parts("node", "pipeline")
    head: dict[str, Any] = {}
    if isinstance(task, Task):
        head["node"] = task.name
        inputs = keys.get("inputs", {})
        problem = Parameters(task.function).problem(inputs) if isinstance(inputs, Mapping) else None
        if problem is not None:
            raise TypeError(f"node {node_id!r}: {problem}")
    elif isinstance(task, str):
        head["node"] = task
    elif task is not None:
        raise TypeError(
            f"the task of node {node_id!r} has to be a name or a task of an App, not {task!r}"
        )
    _check_inputs("node", node_id, keys)
    return parts.add(node_id, head, keys, kinds.NODE)


def step(step_id: str, runs: str | Pipeline, /, **keys: Unpack[StepKeys]) -> Reference:
    """Add a step that runs a pipeline to the workflow, and return the reference to its outputs.

    Raises TypeError for a key that such steps do not have, and for a value that is not JSON.
    """
    parts = _parts("step", "workflow")
    if isinstance(runs, Pipeline):
        parts.pipelines.append(runs)
    elif not isinstance(runs, str):
        raise TypeError(f"step {step_id!r} runs a pipeline, or the name of one, not {runs!r}")
    name = runs if isinstance(runs, str) else runs.name
    _check_inputs("step", step_id, keys)
    return parts.add(step_id, {"kind": "pipeline", "pipeline": name}, keys, kinds.STEP)


@overload
def question(
    step_id: str, widget: Literal["choose_one", "turnout"], /, **keys: Unpack[ChoiceKeys]
) -> Reference: ...


@overload
def question(
    step_id: str, widget: Literal["confirm", "json"], /, **keys: Unpack[QuestionKeys]
) -> Reference: ...


@overload
def question(step_id: str, widget: Literal["text"], /, **keys: Unpack[TextKeys]) -> Reference: ...


@overload
def question(
    step_id: str, widget: Literal["number"], /, **keys: Unpack[NumberKeys]
) -> Reference: ...


@overload
def question(step_id: str, widget: Literal["file"], /, **keys: Unpack[FileKeys]) -> Reference: ...


@overload
def question(
    step_id: str, widget: str, /, *, own_keys: Mapping[str, Value], **keys: Unpack[QuestionKeys]
) -> Reference: ...


def question(
    step_id: str, widget: str, /, *, own_keys: Mapping[str, Value] | None = None, **keys: Any
) -> Reference:
    """Add a question to a person to the workflow, and return the reference to its output, in which
    the answer has the name `target`. `own_keys` are the keys of a widget of your front end.

    Raises TypeError for a key that the widget does not have, for a value that is not JSON, and for
    a widget that qwf does not have if there are no `own_keys`.
    """
    parts = _parts("question", "workflow")
    head = {"kind": "input", "widget": widget}
    what = f"step {step_id!r}"
    if own_keys is None:
        kind = kinds.WIDGETS.get(widget)
        if kind is None:
            raise TypeError(
                f"{what}: {widget!r} is no widget of qwf (for one of your front end, give "
                f"own_keys={{...}}); {suggestion(widget, kinds.WIDGETS)}"
            )
        return parts.add(step_id, head, keys, kind)
    if widget in kinds.WIDGETS:
        raise TypeError(f"{what}: {widget!r} is a widget of qwf, which has no own_keys")
    check_keys(what, keys, kinds.QUESTION.known)
    for key in own_keys:
        if key in kinds.QUESTION.known:
            raise TypeError(f"{what}: {key!r} is not among the own_keys; write {key}=...")
    own = kinds.Kind(
        {**kinds.QUESTION.known, **own_keys}, kinds.QUESTION.referring | own_keys.keys()
    )
    return parts.add(step_id, head, {**keys, **own_keys}, own)


def _parts(function: str, kind: str) -> Parts:
    parts = _current.get()
    if parts is None:
        raise TypeError(
            f"{function}() was called outside of a {kind}: call it in a function with @{kind}(), "
            "and compile that"
        )
    if parts.definition.kind != kind:
        raise TypeError(f"{function}() belongs in a {kind}, and {parts!r} is none")
    return parts


def _check_decorator(kind: str, name: object, keys: Mapping[str, Any], known: Kind) -> None:
    if callable(name):
        raise TypeError(f"write @{kind}() with its parentheses, not @{kind}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a {kind} has to be a text, not {name!r}")
    check_keys(f"@{kind}()", keys, known.known)


def _check_inputs(part: str, part_id: object, keys: Mapping[str, Any]) -> None:
    if isinstance(keys.get("inputs"), Expression):
        raise TypeError(
            f"inputs of {part} {part_id!r} are given by name: write inputs={{'name': ...}}"
        )


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
    return [*inspect.signature(function).parameters]


def _as_references(inputs: Any) -> Any:
    """Inputs that are given as a list of names and paths, as references."""
    if isinstance(inputs, list):
        return [
            {"$from": one["from"]} if isinstance(one, dict) and "from" in one else one
            for one in inputs
        ]
    return inputs


def _seconds(time: timedelta) -> float:
    seconds = time.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds
