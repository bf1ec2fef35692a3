"""The button Notify me: the receivers and browser tabs that are told about work."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from qwf_agent.look.draw import alerts
from qwf_agent.look.query import as_id
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Data

MOST_WATCHED = 50
MOST_NAME = 100  # letters of the name of a rule
MOST_TOLD = 5  # at once; of more there is one notification that counts them
WINDOW = 20_000  # numbers that are looked through for what a tab has missed
OF_FAILURES = {"when": ["run_ended", "job_failed"]}
KINDS = ["run_ended", "run_late", "overdue", "question_asked"]
RECEIVERS = """
select r.receiver, r.hosts, r.rules from qwf.receiver_overview r order by r.receiver limit 50
"""
LAST = "select coalesce(max(e.seq), 0) as last from qwf.events e"
HAPPENED = """
select e.seq, e.kind, e.subject, e.run_id, e.job_id, e.detail, e.names,
  e.names ->> 'workflow' as workflow
from qwf.events e
where e.seq > %(after)s and (
    e.kind in ('run_ended', 'question_asked') and e.run_id = any (%(runs)s)
    or e.kind in ('job_failed', 'question_asked') and e.job_id = any (%(jobs)s)
    or (e.kind in ('question_asked', 'run_late', 'overdue')
        or e.kind = 'run_ended' and e.detail ->> 'status' = 'failed')
      and e.names ->> 'workflow' = any (%(workflows)s) and not e.detail ? 'parent'
    or %(failures)s and e.kind = 'job_failed')
order by e.seq
limit 100
"""
# Work that is over without an event after `after`: a job that completed has none, what was deleted
# has no row, and somebody may have begun to watch what had just ended. Events come within seconds.
OVER = """
select 'job' as kind, w.id, coalesce(j.node_id, j.task) as name,
  coalesce(j.status::text, 'deleted') as status
from unnest(%(jobs)s::bigint[]) w (id) left join qwf.job_details j on j.id = w.id
where j.id is null or j.finished_at < qwf.now()
  - case when j.status = 'failed' then interval '10 s' else '0' end
union all
select 'run', w.id, r.workflow, coalesce(r.status::text, 'deleted')
from unnest(%(runs)s::bigint[]) w (id) left join qwf.run_details r on r.id = w.id
where r.id is null or r.finished_at < qwf.now() - interval '10 s'
"""


async def receivers(
    look: Look, subject: str | None = None, rule: Mapping[str, Any] | None = None
) -> Rows:
    """The receivers that somebody may choose; with a rule, each with the rule that tells it.
    `subject` begins the rule's name."""
    rows = await look.rows(RECEIVERS)
    if rule is None:
        return rows
    return [
        {
            **row,
            "name": (name := rule_name(subject or "", row["receiver"])),
            "tells": name in row["rules"],
            "rule": json.dumps({**rule, "do": {"receiver": row["receiver"]}}),
        }
        for row in rows
    ]


def rule_name(subject: str, receiver: str) -> str:
    """The name of the rule that tells a receiver about a subject. It ends in a hash if the name of
    the subject cannot stand in it as it is, so that no two subjects share a rule."""
    given = f"{subject}.{receiver}"
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", given)
    if name == given and len(name) <= MOST_NAME:
        return name
    return f"{name[: MOST_NAME - 17]}.{hashlib.sha256(given.encode()).hexdigest()[:16]}"


async def of_job(look: Look, job: Mapping[str, Any]) -> Rows:
    """The receivers that may hear of a job; of a node its run tells them."""
    return [] if job["run_id"] or job["finished_at"] else await receivers(look)


async def of_workflow(look: Look, workflow: str) -> Rows:
    """The receivers that may hear of the runs of a workflow."""
    return await receivers(
        look, f"workflow.{workflow}", {"when": KINDS, "where": {"workflow": workflow}}
    )


async def read_told(request: Request, look: Look) -> dict[str, Any]:
    """Data for a tab: what happened to what it watches since the event `after`, and the number of
    the last event."""
    query = request.query_params
    last = await look.value(LAST)
    after = as_id(query.get("after", "")) if query.get("after") != "0" else 0
    if after is None:
        return {"last": last, "told": []}
    after = max(min(after, last), last - WINDOW)
    watched = {
        "runs": _ids(query.getlist("run")),
        "jobs": _ids(query.getlist("job")),
        "workflows": [
            name.replace("\0", "")[:500] for name in query.getlist("workflow")[:MOST_WATCHED]
        ],
        "failures": query.get("failures") == "1",
    }
    happened = await look.rows(HAPPENED, after=after, **watched) if after < last else []
    told = [_told(row, watched) for row in happened]
    said = {one["what"] for one in told if one["over"]}
    of_work = {"runs": watched["runs"], "jobs": watched["jobs"]}
    for row in await look.rows(OVER, **of_work) if any(of_work.values()) else []:
        if (what := f"{row['kind']} {row['id']}") not in said:
            name = f" ({row['name']})" if row["name"] else ""
            path = f"/{row['kind']}s/{row['id']}"
            told.append(_one(what, f"{what}{name} {row['status']}", path, what))
    return {"last": happened[-1]["seq"] if len(happened) == 100 else last, "told": _few(told)}


def _ids(texts: Sequence[str]) -> list[int]:
    return [number for number in map(as_id, texts[:MOST_WATCHED]) if number]


def _told(row: Mapping[str, Any], watched: Mapping[str, Any]) -> dict[str, Any]:
    """An event as a notification says it, in the words of messages."""
    said, path = alerts.event(row)
    run, job = row["run_id"], row["job_id"]
    if run in watched["runs"]:
        what, over = f"run {run}", row["kind"] == "run_ended"
    elif job in watched["jobs"]:
        what, over = f"job {job}", row["kind"] == "job_failed"
    elif row["workflow"] in watched["workflows"]:
        what, over = f"workflow {row['workflow']}", False
    else:
        what, over = "failures", False
    return _one(what, said, path, f"event {row['seq']}", over)


def _one(what: str, said: str, path: str, tag: str, over: bool = True) -> dict[str, Any]:
    return {"what": what, "text": said, "path": path, "tag": tag, "over": over}


def _few(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last ones; what goes on and is one of too many is only counted."""
    if len(told) <= MOST_TOLD:
        return told
    rest = told[:-MOST_TOLD]
    over = [one for one in rest if one["over"]]
    more = len(rest) - len(over)
    counted = [_one("", f"{more} more events", "/events", "more", over=False)] if more else []
    return [*over, *counted, *told[-MOST_TOLD:]]


DATA = (Data("/told", read_told),)
