"""A fake of ollama, because its binary cannot be had on the machines that run these tests.

The shapes of requests and answers, and the order of the lines of a pull, are those of `docs/api.md`
and `server/routes.go` of ollama (August 2026). It knows nothing of weights: the model answers
with one fixed word. `python -m support.ollama PORT FOLDER` serves the models that are files of the
folder.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOTAL = 2_800_000_000
NOT_THERE = "pull model manifest: file does not exist"
WORD = {"choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1}}  # fmt: skip


class FakeOllama(ThreadingHTTPServer):
    """Models that it has and has loaded, and how far a pull goes on its own."""

    daemon_threads = True

    def __init__(self, port: int, folder: Path) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.folder = folder  # a file for each model
        self.loaded: list[str] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.finish = threading.Event()  # a pull stands at 43 % until then
        self.cancelled = threading.Event()  # the other side has ended a pull
        self.dead = False
        self.says: object = None  # all that it says of a pull after its first line
        self.said = threading.Event()
        self.prefix = ""  # of all paths, as behind a proxy
        self.keys: set[str | None] = set()  # what the requests carried
        self.url = f"http://127.0.0.1:{self.server_port}"

    def dies(self) -> None:
        """End with all connections."""
        self.dead = True
        self.shutdown()
        self.server_close()

    def names(self) -> list[str]:
        return [file.name for file in self.folder.iterdir()]


class Handler(BaseHTTPRequestHandler):
    """One request. HTTP/1.0: the answer ends with the connection, as ollama answers such a one."""

    server: FakeOllama

    def do_GET(self) -> None:
        self._note()
        if self.path == "/api/version":
            self._answer({"version": "0.40.12"})
        elif self.path in ("/api/tags", "/api/ps"):
            names = self.server.names() if self.path == "/api/tags" else self.server.loaded
            models = [{"name": f"{name}:latest", "size_vram": 5 << 30} for name in names]
            self._answer({"models": models})
        else:
            self._answer({"error": "not found"}, 404)

    def do_POST(self) -> None:
        self._note()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        model = body["model"]
        if self.path == "/api/pull":
            with contextlib.suppress(OSError):
                self._pull(model)
        elif model not in self.server.names():
            self._answer({"error": f"model '{model}' not found"}, 404)
        elif self.path == "/v1/chat/completions":
            self._begin("text/event-stream")
            self.wfile.write(b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(WORD).encode())
        elif body.get("keep_alive") == 0:
            self.server.loaded = [name for name in self.server.loaded if name != model]
            self._answer({"model": model, "response": "", "done": True, "done_reason": "unload"})
        elif self.path == "/api/generate" and model.startswith("embed"):
            self._answer({"error": f'"{model}" does not support generate'}, 400)
        else:
            self.server.loaded = [model, *self.server.loaded]
            self._answer({"model": model, "response": "", "done": True, "done_reason": "load"})

    def _note(self) -> None:
        self.server.keys.add(self.headers["Authorization"])
        if not self.path.startswith(self.server.prefix):
            self.path = "/nowhere"
        self.path = self.path.removeprefix(self.server.prefix)

    def _pull(self, model: str) -> None:
        self._begin("application/x-ndjson")
        self._line({"status": "pulling manifest"})
        if model == "unknown":
            self._line({"error": NOT_THERE})
            return
        while self.server.says is not None:
            self._line(self.server.says)
            self.server.said.set()
            time.sleep(0.06)
        layer = {"status": "pulling 6e4c38e1172f", "digest": "sha256:6e4c", "total": TOTAL}
        self._line(layer)
        try:
            while not self.server.finish.is_set():
                if self.server.dead:
                    return
                self._line({**layer, "completed": TOTAL * 43 // 100})
                time.sleep(0.06)
        except OSError:
            self.server.cancelled.set()
            raise
        for status in ("verifying sha256 digest", "writing manifest", "success"):
            self._line({"status": status})
        (self.server.folder / model).touch()

    def _begin(self, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _answer(self, value: object, status: int = 200) -> None:
        self._begin("application/json", status)
        self.wfile.write(json.dumps(value).encode())

    def _line(self, value: object) -> None:
        self.wfile.write(json.dumps(value).encode() + b"\n")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def ollama(folder: Path, *models: str, port: int = 0) -> Iterator[FakeOllama]:
    """Serve these models until the end of the block."""
    folder.mkdir(exist_ok=True)
    for model in models:
        (folder / model).touch()
    with FakeOllama(port, folder) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield server
        finally:
            server.finish.set()
            server.shutdown()


if __name__ == "__main__":
    with FakeOllama(int(sys.argv[1]), Path(sys.argv[2])) as served:
        served.finish.set()
        served.serve_forever()
