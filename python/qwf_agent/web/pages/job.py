"""One job: its attempts, what it waits for, what it was given and what it made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request

from qwf_agent.look import masking, values
from qwf_agent.look.draw import words
from qwf_agent.look.query import MOST_ID
from qwf_agent.web.forms import exact_json
from qwf_agent.web.pages import tell, tracked, waiting
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import files
from qwf_agent.web.site.page import OVER_S, Data, NotFoundError, Page

MOST_TEXT = 60_000  # letters of a JSON value that are shown
MOST_SOURCES = 100
WIDTH = 1000  # units of the bar of an attempt

# A value of more than 4 MB, as it is stored, is not even read: this is asked every 2 s.
JOB = """
select d.id, d.run_id, d.graph_id, d.node_idx, d.node_id, d.queue, d.task, d.status, d.project,
  d.priority, d.run_next, d.run_at, d.attempt, d.failures, d.losses, d.retries, d.error_tries,
  d.transient_tries, d.loss_tries, d.error_backoff, d.time_limit as timeout, d.stall_timeout,
  d.required_model, d.light, d.vram_mb, d.requires, d.limit_by, d.failure_means as on_failure,
  d.run_if, d.expires_at, d.avoid_host, d.avoid_until, d.parent_id, d.element, d.elements,
  d.remaining_deps, d.claimed_by, d.host, d.claimed_at, d.lease_expires_at, d.lease_left, d.lease,
  d.progress, d.progress_message, d.beat_at, left(d.last_error, 2000) as error,
  right(d.last_error, 1000) as error_end, d.last_exit_code, d.login, d.acting_for,
  d.schedule, d.key, d.once, d.at_most_once, d.begun, d.labels,
  d.created_at, d.queued_at, d.started_at, d.finished_at, qwf.now() as now, d.stop_login,
  d.stop_acting_for, d.stop_at, d.checkpoint_attempt, d.checkpoint_at,
  d.workflow, d.run_status,
  (select array_agg(c.takes_back order by c.takes_back) from qwf.compensations c
    where c.run_id = d.run_id and c.job_id = d.id) as compensates,
  (select min(c.node_id) from qwf.compensations c
    where c.run_id = d.run_id and c.takes_back_job = d.id and c.taken_back) as taken_back_by
from qwf.job_details d
where d.id = %(job)s
"""
VALUES = """
select v.name, pg_column_size(v.value) as stored, length(t.text) as letters,
  left(t.text, 60001) as text
from qwf.job_details d
cross join lateral (values
  ('inputs', d.inputs), ('resolved', d.resolved_inputs), ('output', d.output),
  ('checkpoint', d.checkpoint)) v (name, value)
cross join lateral (
  select case when pg_column_size(v.value) < 4000000 then v.value::text end as text) t
where d.id = %(job)s and v.value is not null
"""
# Errors and logs of the newest five attempts, each cut to its start and its end.
ATTEMPTS = """
select a.attempt, a.worker, a.host, a.queued_at, a.started_at, a.finished_at, a.outcome, a.reason,
  a.exit_code, a.signal, a.max_rss_bytes, a.cpu_seconds, a.gpu_peak_bytes, a.usage, a.batch,
  left(a.error, 2000) as error, right(a.error, 1000) as error_end, length(a.error) as error_letters,
  case when a.nth <= 5 then left(a.error, case when length(a.error) > 6000 then 2000 else 6000 end)
    end as error_head,
  case when a.nth <= 5 and length(a.error) > 6000 then right(a.error, 4000) end as error_tail,
  case when a.nth <= 5 then right(a.log_tail, 6000) end as log, length(a.log_tail) as log_letters,
  case when a.nth = 1 then substring(a.log_tail, '… ([0-9,]{1,17}) bytes left out') end as left_out,
  a.of
from (
  select t.*, row_number() over (order by t.attempt desc) as nth, count(*) over () as of
  from qwf.attempt_overview t where t.job_id = %(job)s
) a
where a.nth <= 40
order by a.attempt desc
"""
EVENTS = """
select e.id, e.at, e.kind, e.login, e.acting_for, e.detail
from qwf.event_overview e where e.job_id = %(job)s and e.kind <> 'job_failed'
order by e.id desc limit 40
"""
FILES = """
select * from qwf.file_overview f where f.job_id = %(job)s order by f.file_no limit 61
"""
# The newest end of what a running body prints, while anybody follows it.
LOG = """
select l.attempt, l.end_offset, right(l.tail, 30000) as tail, l.sent
from qwf.live_log_overview l
where l.job_id = %(job)s
"""
SOURCES = """
select d.needs_job_id as id, d.node_id, d.status
from qwf.dependency_overview d where d.job_id = %(job)s and d.reads
"""
ELEMENTS = """
select e.status, count(*) as count
from qwf.job_details e where e.parent_id = %(job)s group by e.status
"""
LIVING = """
select (select d.id from qwf.job_details d order by d.id limit 1) as first,
  (select d.id from qwf.job_details d order by d.id desc limit 1) as last
"""
ATTEMPT = """
select a.attempt, a.outcome, a.reason, a.started_at, a.finished_at,
  substring(a.log_tail, '… ([0-9,]{1,17}) bytes left out') as left_out,
  left(a.error, 300000) as error, length(a.error) as error_letters,
  right(a.log_tail, 300000) as log, length(a.log_tail) as log_letters, j.task, j.node_id, j.run_id
from qwf.job_details j
left join qwf.attempt_overview a on a.job_id = j.id and a.attempt = %(attempt)s
where j.id = %(job)s
"""
# What only an attempt that has ended has.
ENDED = (
    "reason", "exit_code", "signal", "max_rss_bytes", "cpu_seconds", "gpu_peak_bytes", "usage",
    "batch", "error", "error_end", "error_letters", "error_head", "error_tail", "log",
    "log_letters", "left_out",
)  # fmt: skip
OVER = ("completed", "failed", "cancelled", "skipped")
EVERY_S = {"running": 2, **dict.fromkeys(OVER, OVER_S)}  # what waits: 5
STATES = ("blocked", "scheduled", "queued", "running", "awaiting_input")


async def read(request: Request, look: Look) -> dict[str, Any]:
    """Everything about one job."""
    number = request.path_params["job"]
    job = await look.row(JOB, job=number) if number <= MOST_ID else None
    if job is None:
        raise NotFoundError(await missing(look, number))
    # A job that waits for its first attempt is not asked for what attempts leave.
    ran = job["attempt"] or job["status"] not in waiting.WAITING or job["queue"] is None
    asked = (EVENTS, VALUES, ATTEMPTS, FILES) if ran else (EVENTS, VALUES)
    events, stored, *left = await asyncio.gather(*(look.rows(one, job=number) for one in asked))
    attempts, listed = left or ([], [])
    numbers = await tracked.of_job(look, job) if ran else tracked.NOTHING
    given = {row["name"]: shown(row) for row in stored}
    texts = {row["name"]: row["text"] for row in stored}
    fixed = job["run_id"] is not None or (job["task"] or "").startswith("qwf.")
    page = {
        "every_s": EVERY_S.get(job["status"], 5),
        "job": job | {"telling": telling(job)},
        "strip": strip(job),
        "tries_left": tries_left(job),
        "attempts": lanes(job, attempts),
        "older": attempts[0]["of"] - len(attempts) if attempts else 0,
        "values": given,
        "args": None if fixed else editable(texts.get("inputs")),
        "sources": await _sources(look, job, given.get("inputs"), given.get("resolved")),
        "events": events,
        "files": listed,
        "pictures": files.pictures(request.app.state.files, listed),
        "elements": await look.rows(ELEMENTS, job=number) if job["elements"] is not None else [],
        "log": await look.row(LOG, job=number) if job["status"] == "running" else None,
        "tracked": numbers,
        "receivers": await tell.of_job(look, job),
        "follow": request.query_params.get("follow") != "no",
    }
    return page | await _hindrances(look, job)


async def read_attempt(request: Request, look: Look) -> dict[str, Any]:
    """The whole error and log of one attempt that has ended."""
    number, attempt = request.path_params["job"], request.path_params["attempt"]
    if number > MOST_ID or attempt > 2**31 - 1:
        raise NotFoundError("There is no such attempt.")
    row = await look.row(ATTEMPT, job=number, attempt=attempt)
    if row is None:
        raise NotFoundError(await missing(look, number))
    if row["attempt"] is None:
        raise NotFoundError(f"Job {number} has no attempt {attempt} that has ended.")
    return {"job": number, "attempt": row}


async def read_log(request: Request, look: Look) -> str:
    """The log that is kept of an attempt that has ended, as its body wrote it."""
    found = await read_attempt(request, look)
    return str(found["attempt"]["log"] or "")


async def missing(look: Look, number: int) -> str:
    """Why there is no job of this number."""
    living = await look.row(LIVING) or {}
    if living.get("last") is None or number > living["last"]:
        return f"Job {number} has never existed."
    if number < living["first"]:
        return (
            f"Job {number} was pruned: it ended longer ago than the retention of its queue."
            f" The oldest job that is kept is job {living['first']}."
        )
    return f"Job {number} was pruned, was replaced when its map was retried, or was never stored."


async def _hindrances(look: Look, job: Mapping[str, Any]) -> dict[str, Any]:
    """The reasons why a waiting job does not run, as text and as the facts that buttons act on."""
    number, status = job["id"], job["status"]
    line = await look.row(waiting.WHY_ONE, job=number) if status in waiting.WAITING else None
    why: dict[str, Any] = {"why": line["lines"] if line else []}
    if status == "queued":
        model, queue, states = job["required_model"], job["queue"], list(words.TROUBLE)
        held, workers = await asyncio.gather(
            look.row(waiting.HELD, job=number), look.rows(waiting.WORKERS, job=number)
        )
        holders: Rows = []
        troubled: Rows = []
        if held is not None and (held["queue_held"] or held["limit_held"]):
            holders = await look.rows(waiting.HOLDERS, job=number)
        if model is not None:
            troubled = await look.rows(waiting.TROUBLED, queue=queue, model=model, states=states)
        why |= {"held": held, "workers": workers, "holders": holders}
        why |= {"troubled": troubled, "helpers": waiting.helpers(workers, model)}
    elif status == "blocked" and job["graph_id"] is not None and job["node_idx"] is not None:
        why["needs"] = await look.rows(waiting.NEEDS, job=number)
    lists = dict.fromkeys(("workers", "holders", "troubled", "needs"), ())
    return {"held": None, "helpers": {}, **lists, **why}


async def _sources(
    look: Look, job: Mapping[str, Any], inputs: Mapping[str, Any] | None,
    resolved: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Where each reference of the inputs comes from, and what it has become."""
    if job["node_idx"] is None or inputs is None or not inputs["whole"]:
        return []
    found = list(references(inputs["value"]))[:MOST_SOURCES]
    if not found:
        return []
    rows = await look.rows(SOURCES, job=job["id"])
    jobs = {row["node_id"]: row for row in rows}
    became = resolved["value"] if resolved and resolved["whole"] else None
    return [
        {
            "input": name,
            "from": source,
            "path": ".".join(map(str, path)),
            "job": jobs.get(source),
            "known": isinstance(became, dict) and name in became,
            "value": became.get(name) if isinstance(became, dict) else None,
        }
        for name, source, path in found
    ]


def references(inputs: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """(input, node or $context or $files, path) of each reference in the inputs of a node."""
    if not isinstance(inputs, dict):
        return
    for name, value in inputs.items():
        seen = set()
        for source, path in _references(value):
            if (source, repr(path)) not in seen:
                seen.add((source, repr(path)))
                yield name, source, path


def _references(value: Any) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, dict):
        source = value.get("$from")
        if isinstance(source, list) and source and isinstance(source[0], str):
            yield source[0], source[1:]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON value as the page shows it: whole, or only its start, if it is long."""
    text = row["text"]
    if text is None:
        return {"whole": False, "text": None, "size": row["stored"]}
    if len(text) <= MOST_TEXT:
        return {"whole": True, "value": values.read_json(text), "size": row["letters"]}
    start = masking.masked_start(text[:MOST_TEXT])
    return {"whole": False, "text": start, "size": row["letters"]}


def editable(text: str | None) -> str | None:
    """The arguments of a job, exact, for a field to change them, with its secrets hidden; None if
    they are too long."""
    return exact_json.editable(text) if text is None or len(text) <= MOST_TEXT else None


def strip(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The states of this job in their order, with when it came to each.

    `at`: it is past or present; `here`: it is in this state now.
    """
    status = job["status"]
    passed = {
        "queued": job["queued_at"],
        "running": job["claimed_at"],
        "scheduled": job["run_at"] if status == "scheduled" else None,
        "awaiting_input": job["queued_at"]
        if status == "awaiting_input" or job["queue"] is None
        else None,
        "blocked": job["created_at"] if status == "blocked" else None,
    }
    states = ["queued", "running"] if job["queue"] is not None else ["awaiting_input"]
    if job["elements"] is not None:
        states = []
    if status in STATES and status not in states:
        states = [status, *states] if status != "awaiting_input" else [*states, status]
    steps = [{"state": "enqueued", "at": job["created_at"], "here": False}]
    for state in states:
        if status in OVER and passed[state] is None:
            continue
        steps.append({"state": state, "at": passed[state], "here": state == status})
    end = status if status in OVER else "completed"
    steps.append({"state": end, "at": job["finished_at"], "here": status == end})
    here = [step["here"] for step in steps].index(True)
    for step in steps[here + 1 :]:
        step["at"] = None  # of an earlier attempt
    return steps


def tries_left(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Failures of the body and losses to the world, each n of m, and what counts next."""
    failures, losses = job["failures"], job["losses"]
    errors, transients = job["error_tries"], job["transient_tries"]
    end = {"continue": "fails it; its run goes on", "ask": "asks a person"}.get(
        job["on_failure"], "fails it"
    )
    if errors == transients:
        said = f"the next failure {end}" if failures + 1 >= errors else "a failure is tried again"
    else:
        error = end if failures + 1 >= errors else "is tried again"
        transient = end if failures + 1 >= transients else "is tried again"
        said = f"an error {error}, a transient failure {transient}"
    lost = end if losses + 1 >= job["loss_tries"] else "goes back to the front of its queue"
    most = max(errors, transients) if failures >= errors else errors
    return [
        {"name": "failures", "used": failures, "of": most, "next": said},
        {"name": "losses", "used": losses, "of": job["loss_tries"], "next": f"a loss {lost}"},
    ]  # fmt: skip


def lanes(job: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The claims of a job, the newest first, each with its bar: waited, then ran.

    A claim is ended by its worker, or taken back when its lease lapses. From then on its token is
    void: a report that comes later is answered `lost` and changes nothing.
    """
    claims: list[dict[str, Any]] = []
    if job["status"] == "running":
        claims.append(
            dict.fromkeys(ENDED)
            | {"attempt": job["attempt"], "outcome": "running", "worker": job["claimed_by"],
             "host": job["host"], "queued_at": job["queued_at"], "started_at": job["claimed_at"],
             "finished_at": None}
        )  # fmt: skip
    claims += [dict(row) for row in attempts]
    if not claims:
        return []
    begin = _seconds(claims[-1]["queued_at"] or claims[-1]["started_at"] or job["created_at"])
    end = max(_seconds(claim["finished_at"] or job["now"]) for claim in claims)
    for claim in claims:
        ended = claim["finished_at"] or job["now"]
        started = claim["started_at"] or ended
        queued = claim["queued_at"] or started
        claim["waited"] = max(0.0, _seconds(started) - _seconds(queued))
        claim["took"] = max(0.0, _seconds(ended) - _seconds(started))
        claim["telling"] = telling(claim)
        claim["reclaimed"] = claim.get("reason") == "lease_lapsed"
        bounds = [_place(_seconds(t), begin, end) for t in (queued, started, ended)]
        claim["bar"] = {
            "wait_x": bounds[0],
            "wait_width": max(0, bounds[1] - bounds[0]),
            "x": min(bounds[1], WIDTH - 4),
            "width": max(4, bounds[2] - bounds[1]),
        }
        waited, took = words.duration(claim["waited"]), words.duration(claim["took"])
        claim["said"] = f"waited {waited}, took {took}"
    return claims


def telling(row: Mapping[str, Any]) -> str:
    """The most telling line of an error: the last of a traceback, else the first."""
    start, end = (row["error"] or "").strip(), (row["error_end"] or "").strip()
    line = end.rpartition("\n")[2] if start.startswith("Traceback") else start.partition("\n")[0]
    return line[:600]


def _place(at: float, begin: float, end: float) -> int:
    return round(WIDTH * min(1.0, max(0.0, (at - begin) / (end - begin)))) if end > begin else 0


def _seconds(when: datetime) -> float:
    return when.timestamp()


PAGES = (
    Page("/jobs/{job:int}", "job.html", read, every_s=2),
    Page("/jobs/{job:int}/attempts/{attempt:int}", "attempt.html", read_attempt),
)
DATA = (Data("/jobs/{job:int}/attempts/{attempt:int}/log", read_log),)
