"""The labels that carry a trace from who enqueues a job to the body: those of W3C Trace Context."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping

from qwf_agent.app.options import JSON, SqlValue

TRACE_LABELS = ("traceparent", "tracestate")


def trace_labels() -> dict[str, str]:
    """The labels that name the open span of OpenTelemetry; none if there is none. A program that
    has not imported OpenTelemetry has none, so it is never imported here for the first time."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None or not api.get_current_span().get_span_context().is_valid:
        return {}
    w3c = importlib.import_module("opentelemetry.trace.propagation.tracecontext")
    found: dict[str, str] = {}
    w3c.TraceContextTextMapPropagator().inject(found)
    return found


def with_trace(
    arguments: Mapping[str, SqlValue], found: Mapping[str, str]
) -> Mapping[str, SqlValue]:
    """The arguments of a call that enqueues, with these labels; those that have the label
    traceparent keep what they have."""
    if not found:
        return arguments
    labels = json.loads(arguments["labels"].text) if "labels" in arguments else {}
    if TRACE_LABELS[0] in labels:
        return arguments
    return {**arguments, "labels": SqlValue(json.dumps({**labels, **found}), JSON)}
