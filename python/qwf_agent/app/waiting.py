"""Waits until a job or run has ended, on the connection of the caller."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from qwf_agent.app.calls import Steps, document, value
from qwf_agent.app.connections import SqlCall, SqlExpression
from qwf_agent.app.options import SqlValue, id_of, seconds_of
from qwf_agent.app.statuses import JobStatus, RunStatus

Timeout = float | str | timedelta | None
S = TypeVar("S", JobStatus, RunStatus)

# A pause grows with the time waited. Where looks are slow, it is longer: a look takes at most a
# tenth of all time. One that a lock or a failover has held up is no reason for a pause of minutes.
SHORTEST_PAUSE_S = 0.01
LONGEST_PAUSE_S = 1.0
LONGEST_AFTER_SLOW_LOOK_S = 5.0
SHARE = 0.1

TRANSACTION = SqlExpression(
    "pg_catalog.jsonb_build_object('began', pg_catalog.now(), "
    "'wrote', pg_catalog.pg_current_xact_id_if_assigned() is not null, "
    "'one_snapshot', pg_catalog.current_setting('transaction_isolation') "
    "operator(pg_catalog.<>) 'read committed')"
)


def until_ended(
    look: SqlCall,
    read: Callable[[Mapping[str, Any]], S],
    timeout: Timeout,
    on_change: Callable[[S], object] | None,
) -> Steps[S]:
    """The status with which it has ended. `on_change` gets the first status and each that differs
    from the one before.

    Raises TimeoutError, TypeError for a timeout that is no duration, ValueError for a negative one,
    and RuntimeError if the transaction of the connection keeps the end from being seen.
    """
    limit = None if timeout is None else seconds_of("timeout", timeout)
    if inspect.iscoroutinefunction(on_change):
        raise TypeError("on_change has to be an ordinary function: nobody awaits what it returns")
    began = time.monotonic()
    timeout_s = (yield from _read(limit)) if isinstance(limit, SqlValue) else limit
    if timeout_s is not None and timeout_s < 0:
        raise ValueError(f"timeout must not be negative, it is {timeout_s:g} s; 0 looks once")
    seen: S | None = None
    transaction = yield from _unwritten_transaction()
    while True:
        asked = time.monotonic()
        status = read((yield from document(look)))
        looked_s = time.monotonic() - asked
        changed, seen = status != seen, status
        if changed and on_change is not None:
            on_change(status)
        if status.ended:
            return status
        if changed:  # the first time, and after on_change, which may have written
            now = yield from _unwritten_transaction()
            _refuse_one_snapshot(transaction, now)
        waited_s = time.monotonic() - began
        left_s = None if timeout_s is None else timeout_s - waited_s
        if left_s is not None and left_s <= 0:
            why = yield from _why_queued(status)
            raise TimeoutError(f"{status.name} is {status.status} after {waited_s:.1f} s{why}")
        yield _pause_s(waited_s, looked_s, left_s)


def _read(duration: SqlValue) -> Steps[float]:
    """The seconds of a duration that was given as a text."""
    seconds = SqlExpression("extract(epoch from {duration})", {"duration": duration})
    return float((yield from value(seconds)))


def _why_queued(status: JobStatus | RunStatus) -> Steps[str]:
    """Why no worker has started the job, or the first node of the run, that is queued."""
    if isinstance(status, JobStatus):
        queued = [status.id] if status.status == "queued" else []
    else:
        queued = [node.job_id for node in status.nodes.values() if node.status == "queued"]
    if not queued:
        return ""
    reasons = yield SqlCall("why_not", {"job_id": id_of("job", queued[0])})
    return f": {'; '.join(reasons)}"


def _pause_s(waited_s: float, looked_s: float, left_s: float | None) -> float:
    growing = min(max(waited_s * SHARE, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
    pause = max(growing, min(looked_s / SHARE, LONGEST_AFTER_SLOW_LOOK_S))
    return pause if left_s is None else min(pause, left_s)


def _unwritten_transaction() -> Steps[dict[str, Any]]:
    """The transaction that the connection is in. Raises RuntimeError if it has written: what it
    enqueued does not start before it commits."""
    transaction: dict[str, Any] = json.loads((yield from value(TRANSACTION)))
    if transaction["wrote"]:
        raise RuntimeError(
            "the transaction of this connection has written: commit it before you wait, because "
            "what it has enqueued does not start before, and its locks would be held meanwhile"
        )
    return transaction


def _refuse_one_snapshot(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise RuntimeError if the connection is still in the transaction it was in before, and that
    sees nothing that commits after its first statement."""
    if now["one_snapshot"] and now["began"] == before["began"]:
        raise RuntimeError(
            "the transaction of this connection sees only what was committed before it began: "
            "wait on a connection that is in autocommit, or whose isolation is read committed"
        )
