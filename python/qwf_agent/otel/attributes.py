"""The names of what a span says about a job.

Those of `messaging` and `error` are the semantic conventions for messaging spans, version 1.44,
which OpenTelemetry may still change: only this module names them. Those of `qwf` are ours.
"""

from __future__ import annotations

import traceback

from opentelemetry.util.types import AttributeValue

from qwf_agent.app.bodies import Job

SYSTEM = "messaging.system"
DESTINATION = "messaging.destination.name"
OPERATION = "messaging.operation.name"
OPERATION_TYPE = "messaging.operation.type"
MESSAGE = "messaging.message.id"
ERROR_TYPE = "error.type"
EXCEPTION_MESSAGE = "exception.message"
EXCEPTION_TRACE = "exception.stacktrace"

TASK = "qwf.task"
RUN = "qwf.run_id"
NODE = "qwf.node_id"
ATTEMPT = "qwf.attempt"
QUEUED = "qwf.queued_s"

MOST_CHARACTERS = 1 << 16  # of a text about an error
RUN_BODY = "run"  # what an agent does with a job


def name_of(job: Job) -> str:
    """The name of the span: what is done, and where the job comes from."""
    return f"{RUN_BODY} {job.queue}"


def of_job(job: Job) -> dict[str, AttributeValue]:
    """The attributes of the span of a body."""
    found: dict[str, AttributeValue | None] = {
        SYSTEM: "qwf",
        DESTINATION: job.queue,
        OPERATION: RUN_BODY,
        OPERATION_TYPE: "process",
        MESSAGE: str(job.id),
        TASK: job.task,
        RUN: job.run_id,
        NODE: job.node_id,
        ATTEMPT: job.attempt,
        QUEUED: job.queued_s,
    }
    return {name: value for name, value in found.items() if value is not None}


def type_of(error: BaseException) -> str:
    """The value of error.type for what a body has raised."""
    module, name = type(error).__module__, type(error).__qualname__
    return name if module == "builtins" else f"{module}.{name}"


def of_error(error: BaseException) -> dict[str, AttributeValue]:
    """The attributes of the event about what a body has raised that OpenTelemetry cannot be left to
    find: their texts may be long, and may have characters that it cannot send."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {EXCEPTION_MESSAGE: text_of(error), EXCEPTION_TRACE: _sendable(trace)}


def text_of(error: BaseException) -> str:
    """The message of what a body has raised; if it cannot say it, its type."""
    try:
        return _sendable(str(error))
    except Exception:
        return type_of(error)


def _sendable(text: str) -> str:
    return text[-MOST_CHARACTERS:].encode(errors="replace").decode()
