"""The checkpoint of a command: a file that it reads when it starts, and writes while it runs."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

from qwf_agent.app.checkpoints import encode
from qwf_agent.child.saving import Saver

LOOK_S = 1.0


class CheckpointFile:
    """The file QWF_CHECKPOINT. It is looked at once a second and at the end of the command.

    Invariant: what is sent to the database is a whole JSON object, or what was sent before stays. A
    file that is just being written is read again a second later.
    """

    def __init__(self, path: Path, saved: str | None, saver: Saver, ticket: int) -> None:
        self.path = path
        self._saver = saver
        self._ticket = ticket
        self._next_at = time.monotonic() + LOOK_S
        self._number: int | None = None  # of the last checkpoint, while its answer is not there
        self._problem = ""  # of the file as it was read last
        if saved is not None:
            path.write_text(saved, encoding="utf-8")
        self._seen = self._stamp()

    def step(self) -> None:
        """Send what the command has written, if it is time."""
        now = time.monotonic()
        if now >= self._next_at:
            self._next_at = now + LOOK_S
            self._send_new()

    def close(self) -> None:
        """Send what the command wrote last, and wait until it is committed."""
        self._wait()
        self._send_new()
        self._wait()
        self._warn()

    def _send_new(self) -> None:
        if self._number is not None and not self._answered():
            return
        stamp = self._stamp()
        if stamp == self._seen:
            self._warn()
            return
        self._seen, self._problem = stamp, ""
        try:
            value = json.loads(self.path.read_bytes())
            if not isinstance(value, dict):
                raise ValueError("it is not an object")
            self._number = self._saver.begin(self._ticket, encode(value))
        except (OSError, ValueError, RecursionError) as error:
            self._problem = str(error)

    def _warn(self) -> None:
        if self._problem:
            print(f"warning: QWF_CHECKPOINT is not kept: {self._problem}", flush=True)
            self._problem = ""

    def _answered(self) -> bool:
        answer = None if self._number is None else self._saver.answer(self._number)
        if answer is not None:
            self._number, self._problem = None, answer.refusal
        return answer is not None

    def _wait(self) -> None:
        while self._number is not None and not self._answered():
            time.sleep(0.005)

    def _stamp(self) -> tuple[int, int, int] | None:
        """Changes when the file is written."""
        with suppress(OSError):
            found = self.path.stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None
