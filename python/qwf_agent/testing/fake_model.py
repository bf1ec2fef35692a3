"""A model server that answers what a test says."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]
Answer = str | dict[str, Any] | list[list[float]] | Callable[[Request], Any]
FAKE = "fake"  # the name of the server, and of the model in its answers


class FakeModel:
    """Stands in for a served model. No model runs: the server says so in its name, and counts no
    tokens.

    The body gets a real client of a real server, so its requests are checked as in production, and
    an answer that does not fit a schema is asked for again. `requests` holds what was asked.
    """

    def __init__(self, *answers: Answer) -> None:
        """Answers in their order; a single one is given to every request. A text is the answer, a
        dict is answered as JSON, a list of lists are the vectors of `embed`, and a function gets
        the request and returns one of these."""
        if not answers:
            raise ValueError("FakeModel needs an answer")
        self.requests: list[Request] = []
        self._answers = answers
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def served(self) -> Iterator[str]:
        """Serve it until the end of the block; yields the address."""
        handler = type("Handler", (_Handler,), {"model": self})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/v1"
            finally:
                server.shutdown()
                thread.join()

    def answer(self, request: Request) -> Any:
        """The answer to the next request. Raises IndexError if there is none."""
        with self._lock:
            number = len(self.requests) if len(self._answers) > 1 else 0
            self.requests.append(request)
            answer = self._answers[number]
        return answer(request) if callable(answer) else answer


class _Handler(BaseHTTPRequestHandler):
    model: FakeModel

    def do_POST(self) -> None:
        """Answer as a server of the OpenAI protocol does."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            answer = self.model.answer(request)
        except Exception as error:
            why = f"the fake model has no answer to this: {error!r}"
            self._send(400, "application/json", json.dumps({"error": {"message": why}}))
            return
        if self.path.endswith("/embeddings"):
            rows = [{"index": n, "embedding": vector} for n, vector in enumerate(answer)]
            self._send(200, "application/json", json.dumps({"model": FAKE, "data": rows}))
            return
        text = answer if isinstance(answer, str) else json.dumps(answer)
        delta = {"delta": {"content": text}, "finish_reason": "stop"}
        event = json.dumps({"model": FAKE, "choices": [delta]})
        self._send(200, "text/event-stream", f"data: {event}\n\ndata: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        """Nothing: the body prints the answer."""

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())
