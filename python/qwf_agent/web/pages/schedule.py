"""One schedule: what came of its times, its backfills, and the plan of a new one."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.look.query import as_id
from qwf_agent.web.drawings import firing_bars
from qwf_agent.web.forms import exact_json
from qwf_agent.web.pages.query_box import is_about_values
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import NotFoundError, Page

A_PAGE = 50
CHANGED = (
    "workflow",
    "task",
    "cron",
    "every",
    "queue",
    "priority",
    "overlap",
    "catch_up",
    "project",
)
MOST_TIMES = 400  # of a plan, each on a line
ONE = """
select s.*, s.every::text as every_text, s.args::text as stored_args,
  s.options::text as stored_options, s.expect::text as stored_expect,
  extract(epoch from s.next_in) as next_s,
  array(select t.due_at from qwf.due_times(s.name, 10) t) as times
from qwf.schedule_overview s
where s.name = %(name)s
"""
BACKFILLS = """
select s.* from qwf.schedule_overview s
where s.backfill_of = %(name)s order by length(s.name) desc, s.name desc limit 50
"""
HISTORY = """
select f.*, extract(epoch from f.ended_at - f.at) as seconds
from qwf.firing_details f
where (%(all)s::text is null or f.of_schedule = %(all)s::text)
  and (%(one)s::text is null or f.schedule = %(one)s::text)
  and (%(before)s::bigint is null or f.id < %(before)s::bigint)
order by f.id desc limit %(most)s
"""
LAST = """
select f.id, f.due_at, f.at, f.outcome, f.status, f.because, f.job_id, f.run_id,
  extract(epoch from f.ended_at - f.at)::float8 as seconds
from qwf.firing_details f
where f.schedule = %(name)s
order by f.id desc limit 30
"""
# What was done lately: the index of acts has no subject.
MADE = """
select a.at, a.login, a.acting_for, a.detail ? 'old' as is_change
from (select * from qwf.audit t order by t.id desc limit 5000) a
where a.kind = 'schedule_changed' and a.subject = %(name)s
order by a.id desc limit 1
"""
# A time without a zone is one of the schedule's zone.
PLAN = """
with given as (
  select
    case when t.text ~ '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' and t.text !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'
      then t.text::timestamptz
      else t.text::timestamp at time zone %(zone)s::text end as at, t.place
  from unnest(array[%(since)s::text, %(until)s::text]) with ordinality t (text, place)
), period as (
  select max(g.at) filter (where g.place = 1) as since,
    max(g.at) filter (where g.place = 2) as until
  from given g
)
select p.since, p.until, d.due_at, d.verdict
from period p cross join lateral qwf.due_times(
  %(name)s, null, p.since, p.until, %(again)s::boolean) d
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """A schedule; or, of one that is dropped, what is left of its firings."""
    name, query = request.path_params["schedule"], request.query_params
    schedule = await look.row(ONE, name=name)
    before = as_id(query.get("before", ""))
    alone = re.search(r"\.backfill\.[0-9]+$", name) is not None
    firings = await look.rows(
        HISTORY, all=None if alone else name, one=name if alone else None, before=before,
        most=A_PAGE + 1,
    )  # fmt: skip
    if schedule is None and not firings:
        raise NotFoundError(f"There is no schedule {name}.")
    asked = {key: query.get(key, "").replace("\0", "").strip() for key in ("since", "until")}
    again = query.get("again") == "true"
    plan, problem = await _plan(look, schedule, asked, again)
    return {
        "name": name,
        "schedule": schedule,
        "backfills": [] if alone else await look.rows(BACKFILLS, name=name),
        "firings": firings[:A_PAGE],
        "bars": firing_bars.bars(await look.rows(LAST, name=name)),
        "made": await look.row(MADE, name=name),
        "change": _change(schedule),
        "next": firings[A_PAGE - 1]["id"] if len(firings) > A_PAGE else None,
        "later": before is not None,
        "asked": asked,
        "again": again,
        "plan": plan,
        "most_times": MOST_TIMES,
        "verdicts": Counter(row["verdict"] for row in plan),
        "problem": problem,
    }


def _change(schedule: dict[str, Any] | None) -> dict[str, str] | None:
    """The first values of the form that changes it; None if the form cannot say when it is due, or
    cannot hold a number."""
    if schedule is None or schedule["backfill_of"] or schedule["minute"] is not None:
        return None
    stored = {name: schedule[f"stored_{name}"] for name in ("args", "options", "expect")}
    texts = {name: exact_json.editable(text) or "" for name, text in stored.items()}
    if any(stored[name] and not text for name, text in texts.items()):
        return None
    given = {name: str(schedule[name] or "") for name in CHANGED}
    return (
        given
        | texts
        | {
            "timezone": schedule["timezone"] or "",
            "every": schedule["every_text"] or "",
        }
    )


async def _plan(
    look: Look, schedule: dict[str, Any] | None, asked: dict[str, str], again: bool
) -> tuple[Rows, str | None]:
    """The times that the backfill would have, or why there can be none."""
    if schedule is None or not all(asked.values()):
        return [], None
    zone = schedule["timezone"] or "UTC"
    try:
        return await look.rows(PLAN, name=schedule["name"], zone=zone, again=again, **asked), None
    except psycopg.DatabaseError as error:
        if not is_about_values(error):
            raise
        parts = (error.diag.message_primary, error.diag.message_detail, error.diag.message_hint)
        return [], ". ".join(part for part in parts if part) or str(error)


PAGES = (Page("/schedules/{schedule:path}", "schedule.html", read, every_s=5),)
