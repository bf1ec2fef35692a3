"""What an agent says to the database: one thin function per SQL function, each returning a Query
for a Link to send."""

from __future__ import annotations

from typing import NamedTuple

Param = str | bytes | int | float | None

NO_SCHEMA = ("3F000", "42883", "42P01")  # SQLSTATEs of a database that is not deployed yet
WORKER_CONTROL = "worker_control"  # the channel for orders to workers and changes of settings


class Query(NamedTuple):
    """One call of one SQL function: `{}` in the text stands for a parameter.

    A soft query commits without waiting for the disk. Losing one is harmless: a lost claim is
    only a lapse, because its token is random and cannot be confused with a later one.
    """

    text: str
    params: tuple[Param, ...] = ()
    soft: bool = False


def version() -> Query:
    """Version of the SQL API."""
    return Query("select * from qwf.version()")


def agent_settings(queue: str) -> Query:
    """Settings for a worker on the queue: times in seconds, sizes in bytes."""
    return Query("select * from qwf.agent_settings({})", (queue,))


def register_worker(host: str, queue: str, info: str) -> Query:
    """Id of a new worker; `info` is a JSON object."""
    return Query("select * from qwf.register_worker({}, {}, {})", (host, queue, info))


def update_worker(worker: str, info: str) -> Query:
    """Says anew which tasks and models the worker has; `info` is a JSON object."""
    return Query("select * from qwf.update_worker({}, {})", (worker, info))


def deregister_worker(worker: str) -> Query:
    """Hands back what the worker held."""
    return Query("select * from qwf.deregister_worker({})", (worker,))


def followed_logs(worker: str) -> Query:
    """Jobs of the worker whose logs somebody follows."""
    return Query("select * from qwf.followed_logs({})", (worker,), soft=True)


def report_log(job_id: int, token: str, printed: int, tail: str) -> Query:
    """Passes on the end of what a body has printed; false when nobody follows any more."""
    return Query(
        "select * from qwf.report_log({}, {}, {}, {})", (job_id, token, printed, tail), soft=True
    )


def worker_orders(worker: str) -> Query:
    """What the worker is to do: state, policy, requested_by, reason, until."""
    return Query("select * from qwf.worker_orders({})", (worker,), soft=True)


def suspend_worker(worker: str, reason: str) -> Query:
    """Switches the worker's host off for five minutes; false where it is off already."""
    return Query("select * from qwf.suspend_worker({}, {})", (worker, reason))


def take_model_requests(worker: str) -> Query:
    """What people want of models: id, model, action."""
    return Query("select * from qwf.take_model_requests({})", (worker,), soft=True)


def answer_model_request(request_id: int, worker: str, error: str | None) -> Query:
    """Says how such a request ended."""
    return Query(
        "select * from qwf.answer_model_request({}, {}, {})", (request_id, worker, error), soft=True
    )


def report_metrics(host: str, sample: str) -> Query:
    """Passes on how busy the host is; `sample` is a JSON object."""
    return Query("select * from qwf.report_metrics({}, {})", (host, sample), soft=True)


def wake_channel(worker: str) -> Query:
    """Channel the worker LISTENs on."""
    return Query("select * from qwf.wake_channel({})", (worker,))


def sleep(worker: str, queue: str) -> Query:
    """Says that the worker sleeps on the queue, so that new work wakes it."""
    return Query("select * from qwf.sleep({}, {})", (worker, queue), soft=True)


def stay_asleep(worker: str, queue: str, stats: str, max_age: float) -> Query:
    """Says that the worker, which holds no job, lives and sleeps on; what awaits it: registered,
    ordered, sleepers, tick_in_s. `max_age` is that of a tick, `stats` as of a heartbeat."""
    return Query(
        "select * from qwf.stay_asleep({}, {}, {}, {})",
        (worker, queue, stats, _interval(max_age)),
        soft=True,
    )


def wake(worker: str) -> Query:
    """Says that the worker is awake, so that wake-ups go to others."""
    return Query("select * from qwf.wake({})", (worker,), soft=True)


def echo(worker: str) -> Query:
    """Has the worker hear something, if its connection lets it."""
    return Query("select * from qwf.echo({})", (worker,))


def claim(
    queue: str, worker: str, max_jobs: int, lease: float | None, light_only: bool = False
) -> Query:
    """Up to `max_jobs` claimed jobs, or only such as may run beside a model; `lease` in seconds."""
    params: tuple[Param, ...] = (queue, worker, max_jobs, _interval(lease))
    if light_only:
        return Query("select * from qwf.claim({}, {}, {}, {}, true)", params, soft=True)
    return Query("select * from qwf.claim({}, {}, {}, {})", params, soft=True)


def heartbeat(worker: str, tokens: list[str], lease: float | None, stats: str) -> Query:
    """Renews the leases of those tokens; a verdict for each: ok, lost or cancel. `stats` is a JSON
    object."""
    array = "{" + ",".join(tokens) + "}"
    return Query(
        "select * from qwf.heartbeat({}, {}, {}, {})",
        (worker, array, _interval(lease), stats),
        soft=True,
    )


def progress(job_id: int, token: str, fraction: float, message: str | None) -> Query:
    """Writes how far a body is, 0 to 1; the verdict is as of a heartbeat."""
    return Query(
        "select * from qwf.progress({}, {}, {}, {})", (job_id, token, fraction, message), soft=True
    )


def suspect_stall(job_id: int, token: str, readings: str) -> Query:
    """Writes down that a body was silent for too long but is not standing still; `readings` is a
    JSON object."""
    return Query(
        "select * from qwf.suspect_stall({}, {}, {})", (job_id, token, readings), soft=True
    )


def finish_many(reports: bytes) -> Query:
    """Reports ends of attempts; `reports` is a JSON list."""
    return Query("select * from qwf.finish_many({})", (reports,))


def drain_outbox(max_events: int = 100) -> Query:
    """Applies waiting events; how many it applied."""
    return Query("select * from qwf.drain_outbox({})", (max_events,))


def tick(max_age: float) -> Query:
    """The engine's own chores, unless all were done less than so many seconds ago; a JSON object
    with next_due_s."""
    return Query("select * from qwf.tick({})", (_interval(max_age),))


def _interval(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:g} s"
