"""Follows what the body of a job streams, as it comes: `job.stream(text)` in a body."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any

from qwf_agent.app.connections import (
    AsyncConnection,
    Connection,
    SqlExpression,
    fetch,
    fetch_async,
)
from qwf_agent.app.options import SqlValue, id_of
from qwf_agent.app.statuses import ENDED

PAUSE_S = 0.25  # a worker sends as often
END_S = 2.0  # for the last part, when the job has ended
LOOK = (
    "pg_catalog.jsonb_build_object('began', pg_catalog.now(), 'log', pg_catalog.to_jsonb(l)) "
    "from qwf.follow_log({job_id}, {after}) l"
)


class Streamed(str):
    """A new part of what the body of a job streams.

    `attempt`: the attempt that streams it; a new attempt starts a new stream. `missed`: how many
    bytes before it are lost, because more than 64 KiB came at once.
    """

    attempt: int
    missed: int

    def __new__(cls, text: str, attempt: int, missed: int) -> Streamed:
        part = super().__new__(cls, text)
        part.attempt, part.missed = attempt, missed
        return part


def stream(conn: Connection, job_id: int, /) -> Generator[Streamed, None, None]:
    """Yield what the body of the job streams, four times a second, until the job has ended: first
    what it has streamed so far, at most 64 KiB. Nothing for a job that has ended already, unless
    somebody followed it a moment ago.

    `conn` is a connection in autocommit. Raises RuntimeError if it is not, and the driver's error:
    QW001 for a job that does not exist.
    """
    reader = _Reader(job_id)
    while not reader.over:
        part = reader.take(*fetch(conn, reader.query()))
        if part is not None:
            yield part
        if not reader.over:
            time.sleep(PAUSE_S)


async def stream_async(conn: AsyncConnection, job_id: int, /) -> AsyncGenerator[Streamed, None]:
    """The same as `stream`, for `async for`."""
    import asyncio  # takes longer to import than all of `app`

    reader = _Reader(job_id)
    while not reader.over:
        part = reader.take(*await fetch_async(conn, reader.query()))
        if part is not None:
            yield part
        if not reader.over:
            await asyncio.sleep(PAUSE_S)


class _Reader:
    """How far the stream is read.

    Invariant: of attempt `_attempt`, `_read` bytes have been returned or are missed.
    """

    def __init__(self, job_id: int) -> None:
        self._job_id = id_of("job", job_id)
        self._attempt = self._read = 0
        self._began: str | None = None
        self._followed = False  # its worker was asked to send
        self._ended_at: float | None = None
        self.over = False

    def query(self) -> SqlExpression:
        after = SqlValue(str(self._read), "{}::bigint")
        return SqlExpression(LOOK, {"job_id": self._job_id, "after": after})

    def take(self, text: str) -> Streamed | None:
        """The new part in an answer, if there is one. Raises RuntimeError."""
        answer = json.loads(text)
        log: dict[str, Any] = answer["log"]
        if answer["began"] == self._began:
            raise RuntimeError(
                "the connection is not in autocommit: in its transaction nobody hears that it "
                "follows the job"
            )
        self._began = answer["began"]
        part = self._new_part(log)
        self._followed = self._followed or log["status"] == "running"
        if log["status"] in ENDED:
            now = time.monotonic()
            self._ended_at = self._ended_at or now
            complete = log["stream_ended"] or not self._followed
            self.over = bool(complete) or now - self._ended_at >= END_S
        else:
            self._ended_at = None
        return part

    def _new_part(self, log: dict[str, Any]) -> Streamed | None:
        if log["streamed"] is None:
            return None
        if log["attempt"] != self._attempt:
            changed = self._read > 0  # the answer is only what comes after so many bytes
            self._attempt, self._read = log["attempt"], 0
            if changed:
                return None
        new, data = log["streamed"] - self._read, (log["stream"] or "").encode()
        if new <= 0:
            return None
        self._read = log["streamed"]
        return Streamed(data[-new:].decode(errors="ignore"), self._attempt, max(0, new - len(data)))
