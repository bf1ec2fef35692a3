"""The words that workflows in Python are written with: `pipeline` and `workflow`, and the calls of
`node`, `step`, `run` and `question` that add a part to the definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from qwf_agent.app import Task
from qwf_agent.app.parameters import Parameters
from qwf_agent.app.values import suggestion
from qwf_agent.app.workflows import keys as kinds
from qwf_agent.app.workflows.definitions import DefinitionParts, Pipeline, Workflow, current
from qwf_agent.app.workflows.references import Expression, Reference, Value, check_keys

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
        RunKeys,
        StepKeys,
        TextKeys,
        WorkflowKeys,
    )


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
) -> Callable[[Callable[..., Mapping[str, Value] | None]], Workflow]:
    """Make the decorated function a workflow, called `name` or like the function. Each parameter is
    the reference to that key of the context; what it returns is `outputs`.

    Raises TypeError for a key that workflows do not have, ValueError for a bad name.
    """
    _check_decorator("workflow", name, keys, kinds.WORKFLOW)
    return lambda function: Workflow(function, name, keys)


def node(
    node_id: str, task: str | Task[..., Any] | None = None, /, **keys: Unpack[NodeKeys]
) -> Reference:
    """Add a node to the pipeline or, as a step that is one node, to the workflow, and return the
    reference to its output. `task` is the name of its task or the task itself, by default the id.

    Raises TypeError for a key that nodes do not have, for a value that is not JSON, and for inputs
    that the task does not take.
    """
    parts = _parts("node", "pipeline", "workflow")
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
    elif parts.definition.kind == "workflow" and "command" not in keys:
        head["kind"] = "node"  # a step says what it is
    _check_inputs("node", node_id, keys)
    return parts.add(node_id, head, keys, kinds.NODE)


def step(step_id: str, runs: str | Pipeline, /, **keys: Unpack[StepKeys]) -> Reference:
    """Add a step that runs a pipeline to the workflow, and return the reference to its outputs.

    Raises TypeError for a key that such steps do not have, and for a value that is not JSON.
    """
    parts = _parts("step", "workflow")
    if isinstance(runs, Pipeline):
        parts.used.append(runs)
    elif not isinstance(runs, str):
        raise TypeError(f"step {step_id!r} runs a pipeline, or the name of one, not {runs!r}")
    name = runs if isinstance(runs, str) else runs.name
    _check_inputs("step", step_id, keys)
    return parts.add(step_id, {"kind": "pipeline", "pipeline": name}, keys, kinds.STEP)


def run(step_id: str, runs: str | Workflow, /, **keys: Unpack[RunKeys]) -> Reference:
    """Add a step, or a node of a pipeline, that runs a workflow as a run of its own, and return the
    reference to what that gives. With `map`, it is a run for each element of a list.

    Raises TypeError for a key that it does not have, and for a value that is not JSON.
    """
    parts = _parts("run", "pipeline", "workflow")
    part = parts.definition.part
    if isinstance(runs, Workflow):
        parts.used.append(runs)
    elif not isinstance(runs, str):
        raise TypeError(f"{part} {step_id!r} runs a workflow, or the name of one, not {runs!r}")
    name = runs if isinstance(runs, str) else runs.name
    _check_inputs(part, step_id, keys)
    head = {"kind": "workflow"} if part == "step" else {}  # a step says what it is
    return parts.add(step_id, {**head, "workflow": name}, keys, kinds.RUN)


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


@overload
def question(step_id: str, /, **keys: Unpack[QuestionKeys]) -> Reference: ...


def question(
    step_id: str, widget: str | None = None, /, *, own_keys: Mapping[str, Value] | None = None,
    **keys: Any,
) -> Reference:  # fmt: skip
    """Add a question to a person to the workflow, and return the reference to its output, in which
    the answer has the name `target`. `own_keys` are the keys of a widget of your front end. With
    `signal`, a program may answer; without a widget, no person is asked.

    Raises TypeError for a key that the widget does not have, for a value that is not JSON, for
    a widget that qwf does not have if there are no `own_keys`, and without a widget and a signal.
    """
    parts = _parts("question", "workflow")
    if widget is None:
        if "signal" not in keys or own_keys is not None:
            raise TypeError(f"step {step_id!r}: give it a widget, or a signal to wait for")
        return parts.add(step_id, {"kind": "input"}, keys, kinds.QUESTION)
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


def _parts(function: str, *kinds: str) -> DefinitionParts:
    parts = current.get()
    if parts is None:
        where = " or ".join(f"a {kind}" for kind in kinds)
        decorators = " or ".join(f"@{kind}()" for kind in kinds)
        raise TypeError(
            f"{function}() was called outside of {where}: call it in a function with "
            f"{decorators}, and compile that"
        )
    if parts.definition.kind not in kinds:
        raise TypeError(f"{function}() belongs in a {kinds[0]}, and {parts!r} is none")
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
