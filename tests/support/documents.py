"""Runs a document: its blocks from top to bottom, as a reader would.

A block that begins with `# NAME` and is no shell is written to that file. Shell and SQL run, and
must succeed; a `text` block after one of them is what it prints. There, `…` stands for anything.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./-]+)\n")
NOT_RUN = re.compile(r"^(python3 -m venv|pip install|qwf top|qwf web)\b.*\n", re.MULTILINE)
PATIENCE_S = 300
ENDED = os.WEXITED | os.WNOWAIT | os.WNOHANG


class Block(NamedTuple):
    """A block of a document: its language and its text."""

    language: str
    text: str


def blocks(text: str) -> list[Block]:
    """The blocks of a document or of a chapter."""
    return [Block(*found) for found in BLOCK.findall(text)]


def chapters(document: Path) -> dict[str, str]:
    """The chapters of a document by their titles."""
    parts = re.split(r"^## (.*)\n", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class Reader:
    """Runs blocks in one folder, and compares what they print."""

    def __init__(self, folder: Path, environment: Mapping[str, str], dsn: str) -> None:
        self._folder = folder
        self._dsn = dsn
        self._environment = dict(environment)
        self._printed = ""
        self.leaders: list[subprocess.Popen[str]] = []  # of sessions; reaped at the end

    def read(self, text: str) -> None:
        """Run the blocks of this text."""
        for block in blocks(text):
            self.take(block)

    def take(self, block: Block) -> str:
        """Run one block; returns what the last one printed."""
        name = FILE.match(block.text)
        if block.language == "text":
            assert re.fullmatch(_pattern(block.text), self._printed), self._printed
        elif block.language == "sql":
            command = ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", self._dsn]
            self._printed = self._run(command, block.text)
        elif block.language == "sh":
            script = self._folder / ".script"  # in a file: a command line could match a pkill
            script.write_text(NOT_RUN.sub("", block.text), encoding="utf-8")
            self._printed = self._run(["bash", "-eu", str(script)], "")
        elif name:
            file = self._folder / name[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        return self._printed

    def _run(self, command: list[str], entered: str) -> str:
        """Output of a command. It goes to a file, because processes in the background keep it."""
        with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, cwd=self._folder, env=self._environment, text=True, stdin=subprocess.PIPE,
                stdout=printed, stderr=errors, start_new_session=True,
            )  # fmt: skip
            self.leaders.append(process)
            status = _status_of(process, entered)
            printed.seek(0)
            errors.seek(0)
            output = printed.read()
            assert status == 0, f"{command}\n{entered}\n{output}\n{errors.read()}"
        return output


def _status_of(process: subprocess.Popen[str], entered: str) -> int:
    """The exit status of a process, which stays a zombie: so nobody else gets its id, which is that
    of a session."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(entered)
    deadline = time.monotonic() + PATIENCE_S
    while (ended := os.waitid(os.P_PID, process.pid, ENDED)) is None:
        assert time.monotonic() < deadline, f"{process.args} takes more than {PATIENCE_S} s"
        time.sleep(0.01)
    return ended.si_status


@contextlib.contextmanager
def reader(folder: Path, environment: Mapping[str, str], dsn: str) -> Iterator[Reader]:
    """A reader with this database; what it started in the background is killed at the end."""
    one = Reader(folder, environment, dsn)
    try:
        yield one
    finally:
        sessions = {leader.pid for leader in one.leaders}
        for process in psutil.process_iter():
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                if os.getsid(process.pid) in sessions:
                    process.kill()
        for leader in one.leaders:
            leader.wait()


def _pattern(expected: str) -> str:
    """A regular expression for what a `text` block shows."""
    lines = [
        "(?:.*\n)*" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n"
        for line in expected.splitlines()
    ]
    return "".join(lines)
