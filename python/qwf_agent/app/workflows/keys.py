"""The keys of definitions as keyword arguments: their types, and which may hold references.

docs/definitions.md says what each key means. A test compares this module with the JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

from qwf_agent.app.workflows.references import Expression, Reference, Value

Duration: TypeAlias = float | str | timedelta
Delay: TypeAlias = Duration | Expression
Condition: TypeAlias = bool | Expression
List: TypeAlias = Sequence[Value] | Expression
DependsOn: TypeAlias = Sequence[str | Reference]
InputFrom = TypedDict("InputFrom", {"name": str, "from": str})
Inputs: TypeAlias = Mapping[str, Value] | Sequence[InputFrom]
TypeName = Literal["string", "number", "integer", "boolean", "object", "array", "null"]

DURATIONS = {"timeout", "stall_timeout", "deadline", "expires"}


class Schema(TypedDict, total=False):
    """A small part of JSON Schema."""

    type: TypeName | Sequence[TypeName]
    enum: Sequence[Any]
    default: Any
    properties: Mapping[str, Schema]
    properties_order: Sequence[str]
    required: Sequence[str]
    additionalProperties: bool
    items: Schema
    minimum: float
    maximum: float
    minLength: int
    maxLength: int
    pattern: str
    title: str
    description: str
    examples: Any


class DefinitionKeys(TypedDict, total=False):
    """Arguments of `@pipeline()` and `@workflow()`. `schema` is the key `$schema`."""

    display_name: str
    mode: str
    requires_gpu: bool
    schema: str


class PipelineKeys(DefinitionKeys, total=False):
    """Arguments of `@pipeline()`. `inputs` is the schema of its inputs."""

    inputs: Schema


class Expect(TypedDict, total=False):
    """When a run of a workflow is late, and when the workflow is overdue."""

    takes: Duration
    starts_within: Duration
    every: Duration


class WorkflowKeys(DefinitionKeys, total=False):
    """Arguments of `@workflow()`. `inputs` is the schema of the context."""

    inputs: Schema
    deadline: Duration
    expect: Expect


class Backoff(TypedDict, total=False):
    """Seconds to wait before the next try."""

    base: float
    factor: float
    max: float


class Retry(TypedDict, total=False):
    """How often a node is tried."""

    max_attempts: int
    max_losses: int
    backoff: Sequence[float] | Backoff


class Repeat(TypedDict, total=False):
    """Runs turn after turn until a condition is true."""

    until: Condition
    max: int
    every: Duration


class AnyStepKeys(TypedDict, total=False):
    """Arguments of `step()`, `run()` and `question()`, and of `node()`."""

    depends_on: DependsOn
    skip_if: Condition
    delay: Delay
    display_name: str


class StepKeys(AnyStepKeys, total=False):
    """Arguments of `step()`."""

    inputs: Inputs


class RunKeys(StepKeys, total=False):
    """Arguments of `run()`, and of `node()`."""

    map: List
    max_parallel: int
    min_success: int | str
    stop_when_reached: bool
    repeat: Repeat
    on_failure: Literal["fail", "continue", "ask"]
    run_if: Literal["all_done"]
    compensates: DependsOn
    retry: Retry
    timeout: Duration
    limit_by: str


class NodeKeys(RunKeys, total=False):
    """Arguments of `node()`."""

    command: Sequence[str | float | Expression]
    at_most_once: bool
    stall_timeout: Duration
    queue: str
    gpu: bool
    light: bool
    model: str | None
    vram_mb: int
    requires: Mapping[str, str]
    kind: str
    outputs: Sequence[Any] | Mapping[str, Any]


class QuestionKeys(AnyStepKeys, total=False):
    """Arguments of `question()` with every widget, and without one."""

    signal: str | Sequence[Value]
    prompt: Value
    target: str
    source: Value
    show: Value
    schema: Schema
    expires: Duration
    default: Any


class ChoiceKeys(QuestionKeys, total=False):
    """Arguments of `question()` with the widgets choose_one and turnout."""

    options: List
    multiple: bool


class TextKeys(QuestionKeys, total=False):
    """Arguments of `question()` with the widget text."""

    min_length: int
    max_length: int
    pattern: str
    multiline: bool


class NumberKeys(QuestionKeys, total=False):
    """Arguments of `question()` with the widget number."""

    min: float
    max: float
    integer: bool
    step: float
    unit: str


class FileKeys(QuestionKeys, total=False):
    """Arguments of `question()` with the widget file."""

    multiple: bool
    accept: str | Sequence[Value]
    library: Value


class Kind(NamedTuple):
    """One kind of object: the keys that it may have, and those that may hold references."""

    known: Mapping[str, object]
    referring: frozenset[str] = frozenset()


PIPELINE = Kind(PipelineKeys.__annotations__)
WORKFLOW = Kind(WorkflowKeys.__annotations__)
NODE = Kind(
    NodeKeys.__annotations__, frozenset({"command", "inputs", "skip_if", "delay", "map", "repeat"})
)
STEP = Kind(StepKeys.__annotations__, frozenset({"inputs", "skip_if", "delay"}))
RUN = Kind(RunKeys.__annotations__, frozenset({"inputs", "skip_if", "delay", "map", "repeat"}))

ASKED = frozenset({"skip_if", "delay", "prompt", "source", "show", "signal"})
QUESTION = Kind(QuestionKeys.__annotations__, ASKED)
CHOICE = Kind(ChoiceKeys.__annotations__, ASKED | {"options"})
WIDGETS = {
    "choose_one": CHOICE,
    "turnout": CHOICE,
    "confirm": QUESTION,
    "text": Kind(TextKeys.__annotations__, ASKED),
    "number": Kind(NumberKeys.__annotations__, ASKED),
    "file": Kind(FileKeys.__annotations__, ASKED | {"accept", "library"}),
    "json": QUESTION,
}
