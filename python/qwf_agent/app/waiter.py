"""Waits for many jobs and runs at once: one connection and one query for all who wait in a
process."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as _FutureTimeout
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from qwf_agent.app.connections import (
    AsyncConnection,
    Connection,
    SqlExpression,
    fetch,
    fetch_async,
)
from qwf_agent.app.options import id_of
from qwf_agent.app.statuses import JobStatus, RunStatus
from qwf_agent.app.wait_list import Key, Kind, WaitList, ended, statuses

if TYPE_CHECKING:
    from typing_extensions import Self

Seconds = float | timedelta | None

log = logging.getLogger("qwf_agent")
HUNG_S = 15.0  # a look that takes longer hangs; another connection is opened
NOW = SqlExpression("pg_catalog.now()")


class Waiter:
    """Waits for the ends of jobs and runs, for all threads of a process. `connect` opens a
    connection in autocommit, which nobody else uses; the waiter opens it when somebody waits, and
    another one when it is lost.

    A thread looks for all of them in one statement. It runs only while somebody waits.
    """

    def __init__(self, connect: Callable[[], Connection], /) -> None:
        self._connect = connect
        self._conn: Connection | None = None
        self._thread: threading.Thread | None = None
        self._asked_at: float | None = None  # when the look that runs now began
        self._number = 0  # of the thread that looks; one with another number ends
        self._begin()
        if hasattr(os, "register_at_fork"):
            this = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _after_fork(this()))

    def wait_job(self, job_id: int, /, *, timeout: Seconds = None) -> JobStatus:
        """The status with which the job has ended. `timeout` is a number of seconds or a timedelta.

        Raises TimeoutError, LookupError if the job is not there, and the driver's error if the
        database has not answered for a minute.
        """
        status: JobStatus = self._wait(("job", _number("job", job_id)), timeout)
        return status

    def wait_run(self, run_id: int, /, *, timeout: Seconds = None) -> RunStatus:
        """The status with which the run has ended; raises as `wait_job`."""
        status: RunStatus = self._wait(("run", _number("run", run_id)), timeout)
        return status

    def close(self) -> None:
        """Close the connection. Those who wait get a RuntimeError."""
        with self._changed:
            self._number += 1
            self._waiting.fail_all(RuntimeError("the waiter was closed"))
            self._changed.notify_all()
            _close(self._conn)
            self._conn = self._thread = self._asked_at = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting = WaitList()
        self._conn = self._thread = self._asked_at = None
        self._number += 1

    def _wait(self, key: Key, timeout: Seconds) -> Any:
        left_s = _seconds(timeout)
        began = time.monotonic()
        until = None if left_s is None else began + left_s
        with self._changed:
            future: Future[Any] = Future()
            self._waiting.add(key, future)
            self._changed.notify_all()
        try:
            while True:
                with self._changed:
                    self._start()
                left_s = HUNG_S if until is None else min(until - time.monotonic(), HUNG_S)
                with contextlib.suppress(TimeoutError, _FutureTimeout):
                    return future.result(max(left_s, 0.0))
                if future.done():  # it ended by a TimeoutError of its own
                    return future.result()
                if until is not None and time.monotonic() >= until:
                    raise _timed_out(key, time.monotonic() - began)
        finally:
            with self._changed:
                self._waiting.remove(key, future)

    def after_fork(self) -> None:
        """Begin anew: a process that was forked has no thread, and must not touch the connection of
        its parent."""
        _inherited.append(self._conn)
        self._begin()

    def _start(self) -> None:
        """Start the thread that looks, if there is none, or if it hangs in a look."""
        hangs = self._asked_at is not None and time.monotonic() - self._asked_at > HUNG_S
        if hangs:
            log.warning("waiting for jobs: a look takes longer than %g s, connecting again", HUNG_S)
            self._conn = None  # its thread closes it
            self._waiting.look_again()
        if hangs or self._thread is None or not self._thread.is_alive():
            self._number += 1
            self._asked_at = None
            self._thread = threading.Thread(
                target=self._look_for_all, args=(self._number,), name="qwf-waiter", daemon=True
            )
            self._thread.start()

    def _look_for_all(self, number: int) -> None:
        while (due := self._next_due(number)) is not None:
            conn, asked = self._conn, time.monotonic()
            answers: list[dict[str, Any]] = []
            failure: Exception | None = None
            try:
                conn = conn or _open(self._connect())
                answers = _look(conn, due)
            except Exception as error:
                failure = error
            with self._changed:
                if number != self._number:
                    _close(conn)
                    return
                self._conn, self._asked_at = conn, None
                if failure is None:
                    self._waiting.answer(due, answers, time.monotonic() - asked)
                else:
                    _close(self._conn)
                    self._conn = None
                    self._waiting.failed(due, failure)

    def _next_due(self, number: int) -> list[Key] | None:
        """Wait until somebody is to be looked for; None if the thread has to end."""
        with self._changed:
            while number == self._number:
                pause_s = self._waiting.pause_s()
                if pause_s is None:
                    self._thread = None
                    return None
                if pause_s <= 0:
                    self._asked_at = time.monotonic()
                    return self._waiting.due()
                self._changed.wait(pause_s)
        return None


class AsyncWaiter:
    """The same as `Waiter` for the coroutines of an event loop: `connect` is awaited, and opens an
    asynchronous connection. A task looks for all who wait; it runs only while somebody does."""

    def __init__(self, connect: Callable[[], Awaitable[AsyncConnection]], /) -> None:
        self._connect = connect
        self._waiting = WaitList()
        self._conn: AsyncConnection | None = None
        self._task: Any = None
        self._changed: Any = None

    async def wait_job(self, job_id: int, /, *, timeout: Seconds = None) -> JobStatus:
        """The status with which the job has ended; as `Waiter.wait_job`."""
        status: JobStatus = await self._wait(("job", _number("job", job_id)), timeout)
        return status

    async def wait_run(self, run_id: int, /, *, timeout: Seconds = None) -> RunStatus:
        """The status with which the run has ended; as `Waiter.wait_job`."""
        status: RunStatus = await self._wait(("run", _number("run", run_id)), timeout)
        return status

    async def close(self) -> None:
        """Close the connection. Those who wait get a RuntimeError."""
        self._waiting.fail_all(RuntimeError("the waiter was closed"))
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(BaseException):
                await self._task
            self._task = None
        await self._drop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _wait(self, key: Key, timeout: Seconds) -> Any:
        import asyncio  # takes longer to import than all of `app`

        left_s = _seconds(timeout)
        began = time.monotonic()
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(key, future)
        if self._task is None or self._task.done():
            self._changed = asyncio.Event()
            self._task = asyncio.create_task(self._look_for_all())
        self._changed.set()
        try:
            done, _ = await asyncio.wait([future], timeout=left_s)
            if done:
                return future.result()
        finally:
            self._waiting.remove(key, future)
        raise _timed_out(key, time.monotonic() - began)

    async def _look_for_all(self) -> None:
        import asyncio

        while (pause_s := self._waiting.pause_s()) is not None:
            if pause_s > 0:
                self._changed.clear()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), pause_s)
                continue
            due, asked = self._waiting.due(), time.monotonic()
            try:
                answers = await asyncio.wait_for(self._look(due), HUNG_S)
            except Exception as error:
                await self._drop()
                self._waiting.failed(due, error)
            else:
                self._waiting.answer(due, answers, time.monotonic() - asked)

    async def _look(self, due: list[Key]) -> list[dict[str, Any]]:
        conn = self._conn
        if conn is None:
            conn = self._conn = await self._connect()
            _check_autocommit(await fetch_async(conn, NOW), await fetch_async(conn, NOW))
        found = _read(await fetch_async(conn, ended(due)))
        runs = [row["run_id"] for row in found if row.get("run_id") and row["status"]]
        return found + (_read(await fetch_async(conn, statuses(runs))) if runs else [])

    async def _drop(self) -> None:
        conn, self._conn = self._conn, None
        with contextlib.suppress(Exception):
            closing = conn.close()  # type: ignore[union-attr]
            if closing is not None:
                await closing


_inherited: list[object] = []  # connections that somebody else may use: collecting one closes it


def _after_fork(waiter: Waiter | None) -> None:
    if waiter is not None:
        waiter.after_fork()


def _open(conn: Connection) -> Connection:
    _check_autocommit(fetch(conn, NOW), fetch(conn, NOW))
    return conn


def _look(conn: Connection, due: list[Key]) -> list[dict[str, Any]]:
    found = _read(fetch(conn, ended(due)))
    runs = [row["run_id"] for row in found if row.get("run_id") and row["status"]]
    return found + (_read(fetch(conn, statuses(runs))) if runs else [])


def _read(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in texts]


def _check_autocommit(first: list[str], second: list[str]) -> None:
    """Raise ValueError if both statements ran in one transaction."""
    if first == second:
        raise ValueError("the connection is not in autocommit: open it with autocommit=True")


def _number(kind: Kind, given: int) -> int:
    id_of(kind, given)
    return given


def _seconds(timeout: Seconds) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float, timedelta)):
        raise TypeError(f"timeout has to be a number of seconds or a timedelta, not {timeout!r}")
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if not seconds >= 0:
        raise ValueError(f"timeout must not be negative, it is {seconds:g} s")
    return seconds


def _close(conn: object) -> None:
    with contextlib.suppress(Exception):
        conn.close()  # type: ignore[attr-defined]


def _timed_out(key: Key, waited_s: float) -> TimeoutError:
    kind, number = key
    return TimeoutError(f"{kind} {number} has not ended after {waited_s:.1f} s")
