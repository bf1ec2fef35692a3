"""The agent's calls to the database: one thin function per SQL function, each returns a Query for a
Link to send."""

from __future__ import annotations

from typing import NamedTuple

Param = str | bytes | int | float | None

# What a tick may have done that lets a job start: counts in its answer.
OPENS = (
    "reclaimed", "promoted", "served", "fired", "answered", "cancelled", "expired", "overdue",
    "drained",
)  # fmt: skip
WORKER_CONTROL = "worker_control"  # channel for orders to workers and changes of settings


class Query(NamedTuple):
    """One call of one SQL function; `{}` in the text stands for a parameter.

    A soft query commits without waiting for the disk or a standby. Losing one is harmless: if a
    claim is lost, its random token cannot be mistaken for a later one, and its report is refused.
    """

    text: str
    params: tuple[Param, ...] = ()
    soft: bool = False


class Wanted(NamedTuple):
    """The wish of a worker for jobs: up to `max_jobs` jobs, with `light_only` only light ones; of
    limits with a rate, and of those that run at most once, up to `startable`, as many as it could
    begin now. `lease` in seconds."""

    queue: str
    worker: str
    max_jobs: int
    lease: float | None
    light_only: bool = False
    startable: int = 0

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters of a claim, in order, except `light_only`."""
        return self.queue, self.worker, self.max_jobs, _interval(self.lease), self.startable


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
    """Registers the tasks and models that the worker has now; `info` is a JSON object."""
    return Query("select * from qwf.update_worker({}, {})", (worker, info))


def deregister_worker(worker: str) -> Query:
    """Ends the registration of the worker and releases its jobs."""
    return Query("select * from qwf.deregister_worker({})", (worker,))


def followed_logs(worker: str) -> Query:
    """The worker's jobs whose logs are being followed."""
    return Query("select * from qwf.followed_logs({})", (worker,), soft=True)


def report_log(
    job_id: int, token: str, printed: int, tail: str, streamed: tuple[int, str | None] | None, *,
    ended: bool,
) -> Query:  # fmt: skip
    """Sends the end of a running job's log, and how many bytes it has streamed with the last of
    them; false when nobody follows it any more, or when the end of its stream is not stored."""
    size, text = streamed or (None, None)
    given = job_id, token, printed, tail, size, text, ended
    return Query("select * from qwf.report_log({}, {}, {}, {}, {}, {}, {})", given, soft=True)


def worker_orders(worker: str) -> Query:
    """The state that people want for the worker: state, policy, login, acting_for, reason, until;
    and what is set for its model servers: server, parallel, server_idle."""
    return Query("select * from qwf.worker_orders({})", (worker,), soft=True)


def withdraw_worker(worker: str, reason: str) -> Query:
    """Switches the worker's host off for five minutes; false if it is off already."""
    return Query("select * from qwf.withdraw_worker({}, {})", (worker, reason))


def report_broken_server(worker: str, server: str, error: str) -> Query:
    """Records that a model server failed too often to be started again soon."""
    return Query("select * from qwf.report_broken_server({}, {}, {})", (worker, server, error))


def take_model_requests(worker: str) -> Query:
    """Requests to load or unload models: id, taken_by, model, action."""
    return Query("select * from qwf.take_model_requests({})", (worker,), soft=True)


def answer_model_request(
    request_id: int, worker: str, error: str | None = None, progress: str | None = None
) -> Query:
    """Answers a request to load or unload a model; with `progress` it goes on."""
    return Query(
        "select * from qwf.answer_model_request({}, {}, {}, {})",
        (request_id, worker, error, progress),
        soft=True,
    )


def report_metrics(host: str, sample: str) -> Query:
    """Writes how busy the host is; `sample` is a JSON object."""
    return Query("select * from qwf.report_metrics({}, {})", (host, sample), soft=True)


def wake_channel(worker: str) -> Query:
    """Channel that the worker LISTENs on."""
    return Query("select * from qwf.wake_channel({})", (worker,))


def sleep(worker: str, queue: str) -> Query:
    """Marks the worker as asleep on the queue, so that new work wakes it."""
    return Query("select * from qwf.sleep({}, {})", (worker, queue), soft=True)


def stay_asleep(worker: str, queue: str, stats: str, max_age: float) -> Query:
    """Heartbeat of a sleeping worker without jobs; returns registered, ordered, sleepers and
    tick_in_s. `max_age` is how old the last tick may be, in seconds; `stats` as in `heartbeat`."""
    return Query(
        "select * from qwf.stay_asleep({}, {}, {}, {})",
        (worker, queue, stats, _interval(max_age)),
        soft=True,
    )


def wake(worker: str) -> Query:
    """Marks the worker as awake, so that wake-ups go to others."""
    return Query("select * from qwf.wake({})", (worker,), soft=True)


def echo(worker: str) -> Query:
    """Notifies the worker, which shows whether notifications reach it."""
    return Query("select * from qwf.echo({})", (worker,))


def claim(wanted: Wanted, durable: bool = False) -> Query:
    """Claims jobs. If `durable`, no crash and no failover forgets it, so no body starts twice."""
    if wanted.light_only:
        text = "select * from qwf.claim({}, {}, {}, {}, true, {})"
    else:
        text = "select * from qwf.claim({}, {}, {}, {}, false, {})"
    return Query(text, wanted.params, soft=not durable)


def finish_and_claim(reports: bytes, wanted: Wanted) -> Query:
    """Reports attempts that have ended, as `finish_many`, and claims: first a row with a verdict
    for each report, then the jobs."""
    params = (reports, *wanted.params)
    if wanted.light_only:
        return Query("select * from qwf.finish_and_claim({}, {}, {}, {}, {}, true, {})", params)
    return Query("select * from qwf.finish_and_claim({}, {}, {}, {}, {}, false, {})", params)


def heartbeat(worker: str, tokens: list[str], lease: float | None, stats: str) -> Query:
    """Renews the leases of these tokens; returns a verdict for each: ok, lost or cancel. `stats` is
    a JSON object."""
    array = "{" + ",".join(tokens) + "}"
    return Query(
        "select * from qwf.heartbeat({}, {}, {}, {})",
        (worker, array, _interval(lease), stats),
        soft=True,
    )


def progress(
    job_id: int, token: str, fraction: float | None, message: str | None, series: str | None
) -> Query:
    """Writes how far a body is, 0 to 1, and what it has tracked, a JSON object; returns a verdict
    as `heartbeat` does."""
    given = job_id, token, fraction, message
    if series is None:
        return Query("select * from qwf.progress({}, {}, {}, {})", given, soft=True)
    text = "select * from qwf.progress({}, {}, {}, {}, series => {})"
    return Query(text, (*given, series), soft=True)


def save_checkpoint(job_id: int, token: str, checkpoint: str) -> Query:
    """Keeps the checkpoint of a running job, a JSON object; returns a verdict as `heartbeat`
    does. It has been committed when the answer comes."""
    return Query(
        "select * from qwf.progress({}, {}, checkpoint => {})", (job_id, token, checkpoint)
    )


def begin(job_id: int, token: str) -> Query:
    """Stores that the body of a job that runs at most once begins; returns a verdict as `heartbeat`
    does. It has been committed when the answer comes, and only after ok may the body begin."""
    return Query("select * from qwf.progress({}, {}, begun => true)", (job_id, token))


def report_event(job_id: int, token: str, kind: str, detail: str) -> Query:
    """Records stall_suspected (a body was silent for too long but is still active) or folder_moved
    (the folder of the job held files of another); `detail` is a JSON object."""
    return Query(
        "select * from qwf.report_event({}, {}, {}, {})", (job_id, token, kind, detail), soft=True
    )


def finish_many(reports: bytes) -> Query:
    """Reports attempts that have ended; `reports` is a JSON list."""
    return Query("select * from qwf.finish_many({})", (reports,))


def after_failures(jobs: list[int], attempts: list[int], outcomes: list[str]) -> Query:
    """The next step of jobs of which an attempt failed: job_id, attempt, status, retry_s,
    tries, max_tries."""
    arrays = tuple("{" + ",".join(map(str, of)) + "}" for of in (jobs, attempts, outcomes))
    return Query("select * from qwf.after_failures({}, {}, {})", arrays, soft=True)


def drain_outbox(max_events: int = 100) -> Query:
    """Applies waiting events; returns how many."""
    return Query("select * from qwf.drain_outbox({})", (max_events,))


def tick(max_age: float) -> Query:
    """Runs the engine's periodic chores, unless they ran less than `max_age` seconds ago; returns a
    JSON object with next_due_s."""
    return Query("select * from qwf.tick({})", (_interval(max_age),))


def _interval(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:g} s"
