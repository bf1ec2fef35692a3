"""A real model server for tests: llama.cpp with a model of random weights that is made here.

Without the package xllamacpp these tests are skipped; with QWF_LLAMA=required they fail instead.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from examples.captions import noise

SERVE = Path(noise.__file__)
TINY = noise.TINY
SLOW = noise.Shape(768, 6, 12, 2048)  # 170 MB, some hundred tokens a second
NEEDED = ("xllamacpp", "gguf", "numpy")
# The command of a [[server]]: `{path}`, `{port}`, `{parallel}` and `{model}` are filled in.
COMMAND = (sys.executable, str(SERVE), "serve", "{path}", "{port}", "{parallel}", "{model}")
READY_S = 60.0


def need_llama() -> None:
    """Skip the test if the packages are missing; fail if they are required."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"no model server: {', '.join(missing)} not installed"
        if os.environ.get("QWF_LLAMA") == "required":
            pytest.fail(reason)
        pytest.skip(reason)


def tiny_model(path: Path, shape: noise.Shape = TINY, name: str = "tiny") -> Path:
    """Write a llama of random weights. The same shape gives the same weights."""
    need_llama()
    return noise.make(path, shape, name)


@dataclass
class LlamaServer:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    model: str

    @cached_property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, str]:
        """The status and the text of an answer; status 0 if nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def busy(self) -> int:
        """How many requests it works on."""
        return sum(bool(slot["is_processing"]) for slot in json.loads(self.get("/slots")[1]))

    def deferred(self) -> int:
        """How many requests wait for a place."""
        return self._metric("requests_deferred")

    def tokens(self) -> int:
        """How many tokens it has generated in answers that have ended."""
        return self._metric("tokens_predicted_total")

    def _metric(self, name: str) -> int:
        lines = self.get("/metrics")[1].splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"llamacpp:{name} "))

    def wait_until_ready(self) -> None:
        """Wait until it is healthy. Fails if it ends before."""
        end = time.monotonic() + READY_S
        while self.get("/health")[0] != 200:
            assert self.process.poll() is None, "the server has ended"
            assert time.monotonic() < end, "the server is not ready in time"
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def served(
    path: Path, parallel: int = 2, model: str = "tiny", port: int = 0
) -> Iterator[LlamaServer]:
    """Serve a model until the end of the block, on this port or a free one."""
    need_llama()
    with socket.create_server(("127.0.0.1", port)) as listener:
        port = listener.getsockname()[1]
    values = {"path": str(path), "port": port, "parallel": parallel, "model": model}
    command = [part.format_map(values) for part in COMMAND]
    with path.with_suffix(f".{port}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    server = LlamaServer(process, port, model)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.kill()
