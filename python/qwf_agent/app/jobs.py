"""Standalone jobs and nodes, by their ids: enqueue many, look, wait, change, cancel, retry, answer.

The functions whose names end in _async are the same for asynchronous connections. All of them run
in the transaction of the connection, and raise the errors of its driver.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from qwf_agent.app.calls import Steps, document, drive, drive_async, number, value
from qwf_agent.app.connections import AsyncConnection, Connection, SqlCall, SqlExpression
from qwf_agent.app.options import (
    CHANGES,
    MOMENT,
    NAME,
    TEXT,
    Changes,
    OptionKind,
    SqlValue,
    convert_options,
    id_of,
    ids_of,
    json_of,
    texts,
)  # fmt: skip
from qwf_agent.app.statuses import JobStatus, NodeStatus, read_job
from qwf_agent.app.streams import Streamed, stream, stream_async
from qwf_agent.app.trace_labels import trace_labels, with_trace
from qwf_agent.app.values import moment
from qwf_agent.app.waiter import AsyncWaiter, Waiter
from qwf_agent.app.waiting import Timeout, until_ended

__all__ = [
    "AsyncWaiter", "Changed", "Enqueued", "JobStatus", "NewJob", "NodeStatus", "Streamed", "Waiter",
    "answer", "answer_async", "cancel", "cancel_async", "change", "change_async", "enqueue_many",
    "enqueue_many_async", "hold_limit", "hold_limit_async", "retry", "retry_async", "status",
    "status_async", "stream", "stream_async", "wait", "wait_async",
]  # fmt: skip

if TYPE_CHECKING:
    from typing_extensions import Unpack

HOLD: dict[str, OptionKind] = {"name": NAME, "until": MOMENT, "key": TEXT}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SECONDS_NOW = SqlExpression("extract(epoch from qwf.now())")
Cancelled = Literal["cancelled", "requested"]
Kept = Literal["new", "old args", "new args"]
OnChange = Callable[[JobStatus], object]


class Enqueued(int):
    """The id of a job, and what became of the call that enqueued it.

    `merged`: a job with its key was there, and this is its id. `kept`: "new", a new job; "old
    args", the job that was there keeps its arguments; "new args", it has those of this call.
    `run_at`, of a job with a key and of one of many: it starts no sooner, or as soon as it can
    (None).
    """

    merged: bool
    kept: Kept
    run_at: datetime | None

    def __new__(
        cls, job_id: int, merged: bool = False, kept: Kept = "new", run_at: datetime | None = None
    ) -> Enqueued:
        enqueued = super().__new__(cls, job_id)
        enqueued.merged, enqueued.kept, enqueued.run_at = merged, kept, run_at
        return enqueued


class NewJob(NamedTuple):
    """A job to enqueue, made by `task.job(...)`: the arguments of qwf.enqueue by name."""

    arguments: Mapping[str, SqlValue]


class Changed(NamedTuple):
    """The answer about a job that should change. `why` it has not, in words: there is none, or it
    does not wait; else None."""

    job_id: int
    changed: bool
    why: str | None


def enqueue_many(conn: Connection, jobs: Iterable[NewJob], /) -> list[Enqueued]:
    """Enqueue all jobs or none, in one statement, and return their ids in order. Each says whether
    it was merged into a job with its key."""
    return drive(conn, _enqueue_many(jobs, trace_labels()))


def enqueue_many_async(
    conn: AsyncConnection, jobs: Iterable[NewJob], /
) -> Coroutine[Any, Any, list[Enqueued]]:
    """The same as `enqueue_many`, to be awaited."""
    return drive_async(conn, _enqueue_many(jobs, trace_labels()))


def status(conn: Connection, job_id: int, /) -> JobStatus:
    """The job at this moment."""
    return drive(conn, _status(job_id))


def status_async(conn: AsyncConnection, job_id: int, /) -> Coroutine[Any, Any, JobStatus]:
    """The same as `status`, to be awaited."""
    return drive_async(conn, _status(job_id))


def wait(
    conn: Connection, job_id: int, /, *,
    timeout: Timeout = None, on_change: OnChange | None = None,
) -> JobStatus:  # fmt: skip
    """Wait until the job has ended, however it ends. `timeout` is a number of seconds, a timedelta,
    or a text such as "10 min". `on_change` gets the first status and each that differs from the one
    before.

    Raises TimeoutError, and RuntimeError if the transaction of the connection would keep this from
    seeing the end: if it has written, or reads one snapshot.
    """
    return drive(conn, until_ended(_look(job_id), read_job, timeout, on_change))


def wait_async(
    conn: AsyncConnection, job_id: int, /, *,
    timeout: Timeout = None, on_change: OnChange | None = None,
) -> Coroutine[Any, Any, JobStatus]:  # fmt: skip
    """The same as `wait`, to be awaited. Use the connection for nothing else meanwhile."""
    return drive_async(conn, until_ended(_look(job_id), read_job, timeout, on_change))


def cancel(conn: Connection, job_id: int, /, reason: str | None = None) -> Cancelled:
    """Cancel a job; "requested" means that its worker has to stop the body first."""
    return drive(conn, _cancel(job_id, reason))


def cancel_async(
    conn: AsyncConnection, job_id: int, /, reason: str | None = None
) -> Coroutine[Any, Any, Cancelled]:
    """The same as `cancel`, to be awaited."""
    return drive_async(conn, _cancel(job_id, reason))


def change(conn: Connection, jobs: Iterable[int], /, **changes: Unpack[Changes]) -> list[Changed]:
    """Change jobs that wait: priority, queue, time or limit. What has started, or is being claimed,
    stays as it is, and its answer says so. Answers come in the order of the jobs, at most 1000."""
    return drive(conn, _change(jobs, changes))


def change_async(
    conn: AsyncConnection, jobs: Iterable[int], /, **changes: Unpack[Changes]
) -> Coroutine[Any, Any, list[Changed]]:
    """The same as `change`, to be awaited."""
    return drive_async(conn, _change(jobs, changes))


def hold_limit(
    conn: Connection, name: str, until: datetime | timedelta | None, /, key: str | None = None,
    job: int | None = None,
) -> datetime | None:  # fmt: skip
    """Let no job of a limit start before `until`, 366 days ahead at most, and return until when
    none does: the later of two holds wins, and None ends the hold. `key`: only jobs of this key.
    `job` is the job that asks for it, for people. It holds once this transaction commits."""
    return drive(conn, _hold_limit(name, until, key, job))


def hold_limit_async(
    conn: AsyncConnection, name: str, until: datetime | timedelta | None, /, key: str | None = None,
    job: int | None = None,
) -> Coroutine[Any, Any, datetime | None]:  # fmt: skip
    """The same as `hold_limit`, to be awaited."""
    return drive_async(conn, _hold_limit(name, until, key, job))


def retry(conn: Connection, job_id: int, /, args: Mapping[str, object] | None = None) -> None:
    """Queue a failed or cancelled job again, with other arguments if `args` is given. They are not
    held to the task's function. A node is retried through its run, and takes no `args`."""
    drive(conn, _retry(job_id, args))


def retry_async(
    conn: AsyncConnection, job_id: int, /, args: Mapping[str, object] | None = None
) -> Coroutine[Any, Any, None]:
    """The same as `retry`, to be awaited."""
    return drive_async(conn, _retry(job_id, args))


def answer(
    conn: Connection, job_id: int, given: object, /, *,
    acting_for: str | None = None, asked: datetime | None = None,
) -> int:  # fmt: skip
    """Answer the question that a job asks, and return the id of the answer. `acting_for` says for
    whom the login of the connection answers;
    `asked` is when the question was asked, so that no later question gets this answer."""
    return drive(conn, _answer(job_id, given, acting_for, asked))


def answer_async(
    conn: AsyncConnection, job_id: int, given: object, /, *,
    acting_for: str | None = None, asked: datetime | None = None,
) -> Coroutine[Any, Any, int]:  # fmt: skip
    """The same as `answer`, to be awaited."""
    return drive_async(conn, _answer(job_id, given, acting_for, asked))


def enqueue_one(call: SqlCall) -> Steps[Enqueued]:
    """Enqueue the job of a call of qwf.enqueue. That returns only the id, so a job with a key goes
    as a list of one."""
    if "key" not in call.arguments:
        return Enqueued((yield from number(call)))
    items = ", ".join(f"'{name}', {{{name}}}" for name in call.arguments)
    jobs = f"jsonb_build_array(jsonb_build_object({items}))"
    return _enqueued((yield from value(_answers(jobs, call.arguments))))


def _answers(jobs: str, arguments: Mapping[str, SqlValue]) -> SqlExpression:
    """The answer of enqueue_many about each job of a list that is given in SQL."""
    return SqlExpression(f"to_jsonb(e) from qwf.enqueue_many({jobs}) e", arguments)


def _enqueued(answer: str) -> Enqueued:
    read = json.loads(answer)
    run_at = None if read["run_at"] is None else moment(read["run_at"])
    return Enqueued(read["job_id"], read["merged"], read["kept"], run_at)


def _enqueue_many(jobs: Iterable[NewJob], traced: Mapping[str, str]) -> Steps[list[Enqueued]]:
    items = list(jobs)
    for item in items:
        if not isinstance(item, NewJob):
            raise TypeError(f"enqueue_many takes what task.job(...) returns, not {item!r}")
    items = [NewJob(with_trace(item.arguments, traced)) for item in items]
    now = EPOCH
    if any(given.from_now is not None for item in items for given in item.arguments.values()):
        now += timedelta(seconds=float((yield from value(SECONDS_NOW))))
    text = ", ".join(_item(item, now) for item in items)
    answers = yield _answers("{jobs}", {"jobs": SqlValue(f"[{text}]", "{}::jsonb")})
    return [_enqueued(answer) for answer in answers]


def _item(job: NewJob, now: datetime) -> str:
    """The JSON of a job, as qwf.enqueue_many takes it."""
    named = (f"{json.dumps(name)}: {_json(given, now)}" for name, given in job.arguments.items())
    return "{" + ", ".join(named) + "}"


def _json(given: SqlValue, now: datetime) -> str:
    if given.from_now is not None:
        return json.dumps((now + given.from_now).isoformat())
    if given.sql == "{}::jsonb":
        return given.text
    return json.dumps(given.text, ensure_ascii=False)  # as the function takes numbers and times


def _look(job_id: int) -> SqlCall:
    return SqlCall("result", {"job_id": id_of("job", job_id)})


def _status(job_id: int) -> Steps[JobStatus]:
    return read_job((yield from document(_look(job_id))))


def _cancel(job_id: int, reason: str | None) -> Steps[Cancelled]:
    given = {"job_id": id_of("job", job_id), **texts(reason=reason)}
    told = yield from value(SqlCall("cancel_job", given))
    return "cancelled" if told == "cancelled" else "requested"


def _change(jobs: Iterable[int], changes: Mapping[str, Any]) -> Steps[list[Changed]]:
    ids = list(dict.fromkeys(jobs))
    converted = convert_options(changes, CHANGES)
    given = {"jobs": ids_of("job", ids), **{n: v for n, v in converted.items() if v is not None}}
    named = ", ".join(f"{name} => {{{name}}}" for name in given)
    told = yield SqlExpression(f"to_jsonb(v) from qwf.change_jobs({named}) v", given)
    verdicts = {one["job_id"]: one for one in map(json.loads, told)}
    return [
        Changed(job, verdicts[job]["verdict"] == "changed",
               verdicts[job]["detail"] or verdicts[job]["message"])
        for job in ids
    ]  # fmt: skip


def _hold_limit(
    name: str, until: datetime | timedelta | None, key: str | None, job: int | None
) -> Steps[datetime | None]:
    converted = convert_options({"name": name, "until": until, "key": key}, HOLD)
    given = {n: v for n, v in converted.items() if v is not None}
    given.setdefault("until", SqlValue("", "nullif({}, '')::timestamptz"))
    if job is not None:
        given["job_id"] = id_of("job", job)
    named = ", ".join(f"{n} => {{{n}}}" for n in given)
    told = yield from value(SqlExpression(f"to_jsonb(qwf.hold_limit({named}))", given))
    return None if told is None else moment(json.loads(told))


def _retry(job_id: int, args: Mapping[str, object] | None) -> Steps[None]:
    given = {"job_id": id_of("job", job_id)}
    if args is not None:
        if not isinstance(args, Mapping):
            raise TypeError(f"args has to be a dict, not {args!r}")
        given["args"] = json_of("args are", dict(args))
    yield SqlCall("retry_job", given)


def _answer(
    job_id: int, given: object, acting_for: str | None, asked: datetime | None
) -> Steps[int]:
    arguments = {"job_id": id_of("job", job_id), "value": json_of("the answer is", given)}
    arguments |= texts(acting_for=acting_for)
    if asked is not None:
        if not isinstance(asked, datetime) or asked.utcoffset() is None:
            raise TypeError(f"asked has to be a datetime with a time zone, not {asked!r}")
        arguments["asked"] = SqlValue(asked.isoformat(), "{}::timestamptz")
    return (yield from number(SqlCall("answer_job", arguments)))
