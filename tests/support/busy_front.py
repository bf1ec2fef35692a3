"""An address in front of a real model server that says once that it is busy."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import threading
from collections.abc import Iterator


def handler_of(port: int, wait_s: int) -> type[http.server.BaseHTTPRequestHandler]:
    """Answers 429 to the first POST, and asks the server at `port` for all others."""
    refused = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if refused.is_set():
                self.forward(body)
                return
            refused.set()
            self.send_response(429)
            self.send_header("Retry-After", str(wait_s))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            self.forward(None)

        def forward(self, body: bytes | None) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            kind = {"Content-Type": "application/json"} if body else {}
            connection.request(self.command, self.path, body, kind)
            answer = connection.getresponse()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.end_headers()
            self.wfile.write(answer.read())
            connection.close()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextlib.contextmanager
def once_busy(port: int, wait_s: int) -> Iterator[str]:
    """The URL of a front for the server at `port`; the first request is to come again after
    `wait_s` seconds."""
    front = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(port, wait_s))
    thread = threading.Thread(target=front.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{front.server_port}"
    finally:
        front.shutdown()
        thread.join()
        front.server_close()
