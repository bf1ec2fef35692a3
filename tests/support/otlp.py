"""A receiver of OpenTelemetry on loopback: OTLP over HTTP, read with its own protobuf."""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.harness import until


class Received(NamedTuple):
    """A span as it came over the network; ids in hexadecimal."""

    name: str
    trace: str
    id: str
    parent: str  # empty: it has none
    kind: int
    attributes: dict[str, Any]
    status: int
    events: list[tuple[str, dict[str, Any]]]
    links: list[str]  # ids of spans
    service: str
    state: str

    @property
    def task(self) -> str | None:
        """The task of the job; None: it is no span of ours."""
        return self.attributes.get("qwf.task")


class Receiver:
    """The spans that have come. It answers a request only while `answers` is set."""

    def __init__(self) -> None:
        self.spans: list[Received] = []
        self.asked = threading.Event()  # it has got a request
        self.answers = threading.Event()
        self.answers.set()
        self.port = 0

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead an exporter here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}"}

    def of_task(self, task: str) -> list[Received]:
        """The spans of bodies of this task that have come."""
        return [span for span in list(self.spans) if span.task == task]

    def wait_for(self, task: str, count: int = 1) -> list[Received]:
        """Wait until so many spans of bodies of this task have come, and return them."""
        return until(
            lambda: len(found := self.of_task(task)) >= count and found, f"spans of {task}"
        )

    def take(self, data: bytes) -> None:
        """Read one request."""
        request = ExportTraceServiceRequest.FromString(data)
        for of_resource in request.resource_spans:
            service = _values(of_resource.resource.attributes).get("service.name", "")
            for scope in of_resource.scope_spans:
                self.spans += [_received(span, service) for span in scope.spans]


def _received(span: Any, service: str) -> Received:
    return Received(
        span.name, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.kind,
        _values(span.attributes), span.status.code,
        [(event.name, _values(event.attributes)) for event in span.events],
        [link.span_id.hex() for link in span.links], service, span.trace_state,
    )  # fmt: skip


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@contextlib.contextmanager
def receiver() -> Iterator[Receiver]:
    """A receiver that listens."""
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            found.asked.set()
            found.answers.wait()
            found.take(data)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        found.answers.set()
        server.shutdown()
        server.server_close()
