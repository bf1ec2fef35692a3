"""Where spans go: the provider of the program, or one for the OTEL_... variables.

It is made in the process that runs bodies, when the first one begins, because neither its thread
nor its connection outlives a fork. A body never waits for the network: its span goes into a queue,
which a thread empties once a second, and for a last time before the process ends.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable

from opentelemetry import trace
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

DELAY = "OTEL_BSP_SCHEDULE_DELAY"
DELAY_MS = 1000.0  # what a child that is killed had not sent is lost, so send more often than usual
SAY_S = 600.0  # how often the log says that spans cannot be sent
FLUSH_S = 2.0  # longest that a child waits for its last spans to be sent


class Provider:
    """The provider of this process."""

    def __init__(self) -> None:
        self._pid = 0  # of the process that has the tracer
        self._tracer: trace.Tracer

    def tracer(self) -> trace.Tracer:
        """The tracer of this process; made when it is first asked for."""
        if self._pid != os.getpid():
            self._pid, self._tracer = os.getpid(), _provider().get_tracer("qwf_agent")
        return self._tracer

    def flush(self) -> None:
        """Send the spans that have ended, in at most FLUSH_S."""
        if self._pid != os.getpid():
            return
        flush: Callable[[], object] | None = getattr(
            trace.get_tracer_provider(), "force_flush", None
        )
        if flush is not None:
            sending = threading.Thread(target=flush, daemon=True)
            sending.start()
            sending.join(FLUSH_S)


def _provider() -> trace.TracerProvider:
    """The provider that the code of the user has set, else a new one, which is then set."""
    found = trace.get_tracer_provider()
    if not isinstance(found, trace.ProxyTracerProvider):
        return found
    made = TracerProvider(resource=_resource())
    made.add_span_processor(_processor())
    trace.set_tracer_provider(made)
    _quiet()
    return made


class SeldomHandler(logging.Handler):
    """Prints the first message, and then at most one in SAY_S: what a child prints goes into the
    log of the job that runs, and a receiver may be down for days."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._next_at = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message, if it is time."""
        if time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + SAY_S
            print(f"warning: traces: {record.getMessage()}", file=sys.stderr, flush=True)


def _quiet() -> None:
    """Let OpenTelemetry say seldom that it cannot send."""
    log = logging.getLogger("opentelemetry")
    log.addHandler(SeldomHandler())
    log.propagate = False


def _resource() -> Resource:
    """The program, as OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES name it."""
    made = Resource.create()
    is_named = not str(made.attributes.get(SERVICE_NAME, "unknown_service")).startswith(
        "unknown_service"
    )
    return made if is_named else made.merge(Resource({SERVICE_NAME: "qwf-agent"}))


def _processor() -> BatchSpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    delay = None if DELAY in os.environ else DELAY_MS
    return BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=delay)
