"""Talks to a peer's program: a line with a request on its stdin, a line with the answer back."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from bench.processes import die_with_parent, end, said
from bench.server import BenchError
from bench.workflows.work import Answer, Work

READY_S = 90.0
ANSWER_S = 900.0
OURS = b"bench {"


class Talk:
    """A running program that starts workflows when asked."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self.process = process
        self._log, self._read = log, b""

    def ask(self, work: Work) -> Answer:
        """Run a work and wait for its end. Raises BenchError."""
        answer = self._send(asdict(work))
        return Answer(answer["seconds"], answer["done"])

    def begin(self, steps: int, path: Path) -> None:
        """Start a chain of steps that write to a file. Raises BenchError."""
        self._send({"size": steps, "path": str(path)})

    def hear(self, patience_s: float) -> dict[str, Any]:
        """The next answer. Raises BenchError if it takes too long, or the program has ended."""
        deadline = time.monotonic() + patience_s
        assert self.process.stdout is not None
        while True:
            line, found, rest = self._read.partition(b"\n")
            if found:
                self._read = rest
                if line.startswith(OURS):
                    answer: dict[str, Any] = json.loads(line[len(OURS) - 1 :])
                    return answer
                continue
            left = max(0.0, deadline - time.monotonic())
            there, _, _ = select.select([self.process.stdout], [], [], left)
            new = os.read(self.process.stdout.fileno(), 65_536) if there else b""
            if not new:
                tail = said(self._log).decode(errors="replace")[-2000:]
                raise BenchError(f"{self.process.args} does not answer: {tail}")  # type: ignore[str-bytes-safe]
            self._read += new

    def _send(self, what: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()
        return self.hear(ANSWER_S)


@contextlib.contextmanager
def talking(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[Talk]:
    """Start a program and wait until it says that it is ready; stop it afterwards."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=folder,
            env={**os.environ, **environment}, preexec_fn=die_with_parent,
        )  # fmt: skip
        try:
            talk = Talk(process, log)
            talk.hear(READY_S)
            yield talk
        finally:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            end([process])
