"""Makes the span of each body: its parent is the span that was open where the job was enqueued."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from qwf_agent.app import App, Job, Release, TemporaryError
from qwf_agent.app.trace_labels import TRACE_LABELS
from qwf_agent.otel import attributes
from qwf_agent.otel.provider import Provider

W3C = TraceContextTextMapPropagator()
# The span of the body that runs here; in a batch, that of its first job.
_OF_BODY: ContextVar[Span | None] = ContextVar("qwf_span_of_body", default=None)


def trace(app: App) -> App:
    """Make a span for each body of this app that an agent runs, around all that `@app.around` has
    registered. A second call changes nothing. Returns the app.

    Nothing is opened here: the provider of the program is used, or one is made from the variables
    OTEL_... in the child that runs the first body."""
    if not any(isinstance(around, Tracing) for around in app.arounds):
        tracing = Tracing()
        app.arounds.insert(0, tracing)
        app.at_end.append(tracing.provider.flush)
    return app


class Tracing:
    """The @app.around that makes the spans."""

    def __init__(self) -> None:
        self.provider = Provider()

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """The span of the body of this job."""
        tracer = self.provider.tracer()
        first = _OF_BODY.get()
        if first is not None:
            with _linked(tracer, job, first):
                yield
            return
        span = _start(tracer, job)
        before = _OF_BODY.set(span)
        try:
            with (
                use_span(span, record_exception=False, set_status_on_exception=False),
                _ending(span, job),
            ):
                yield
        finally:
            _OF_BODY.reset(before)


@contextmanager
def _linked(tracer: Tracer, job: Job, first: Span) -> Iterator[None]:
    """The span of another job of a batch. What the body does belongs to the span of the first job:
    a link leads there from this one, and one back."""
    span = _start(tracer, job, [Link(first.get_span_context())])
    first.add_link(span.get_span_context())
    with _ending(span, job):
        yield


@contextmanager
def _ending(span: Span, job: Job) -> Iterator[None]:
    """End the span with the body, and record what the body raises."""
    try:
        yield
    except BaseException as error:
        if not _is_no_error(error, job):
            span.record_exception(error, attributes.of_error(error))
            span.set_attribute(attributes.ERROR_TYPE, attributes.type_of(error))
            span.set_status(StatusCode.ERROR, attributes.text_of(error))
        raise
    finally:
        span.end()


def _start(tracer: Tracer, job: Job, links: list[Link] | None = None) -> Span:
    """A new span, whose parent is the one in the labels of the job."""
    labels = ((name, job.labels.get(name)) for name in TRACE_LABELS)
    given = {name: value for name, value in labels if isinstance(value, str)}
    return tracer.start_span(
        attributes.name_of(job), W3C.extract(given, Context()), SpanKind.CONSUMER,
        attributes.of_job(job), links,
    )  # fmt: skip


def _is_no_error(error: BaseException, job: Job) -> bool:
    """Return True for what ends a body without a failure: it was told to stop, it exits with 0, or
    it puts its job off."""
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    if isinstance(error, TemporaryError):
        return not error.counts
    return isinstance(error, asyncio.CancelledError) or (
        isinstance(error, Release) and job.stopping()
    )
