"""The questions that wait for a person."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request

from qwf_agent.look import masking
from qwf_agent.look.query import MOST_ID
from qwf_agent.web.forms import exact_json
from qwf_agent.web.forms.choices import Option, options_of
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

MOST = 100  # questions of a page
MOST_BUTTONS = 4  # options of a question that are buttons in the list
MOST_PAYLOAD = 300  # characters of a payload
# Times that find_inputs() takes.
EARLIEST, LATEST = (
    datetime(1, 1, 2, tzinfo=timezone.utc),
    datetime(9999, 12, 30, tzinfo=timezone.utc),
)
# One row more than a page shows tells that there are more.
QUESTIONS = """
select p.job_id, p.run_id, p.workflow, p.node_id, p.task, p.project, p.asks, p.widget,
  left(p.prompt, 1000) as prompt, p.age, p.expires_at, p.since,
  p.expires_at - qwf.now() as left, left(p.spec ->> 'error', 2000) as error,
  p.spec ? 'default' as has_default,
  left(coalesce(p.spec -> 'default' ->> 'label', p.spec ->> 'default'), 200) as default,
  case when p.asks = 'failure' then p.spec -> 'options' end as choices,
  jsonb_array_length(p.show) as files,
  case when p.widget = 'choose_one' and p.spec ->> 'multiple' is distinct from 'true'
      and pg_column_size(p.spec) <= 20000 then
    coalesce(nullif(p.spec -> 'options', 'null'), p.spec -> 'source')::text end as offered
from qwf.find_inputs(%(project)s, %(ending)s, %(after)s::timestamptz, %(job)s::bigint,
  max_rows => %(most)s) p
"""
# Each order, and the column that a page goes on after.
ORDERS = {"oldest": "since", "ending": "expires_at"}
# Steps that wait for a signal, and signals that are kept for steps that ask later.
AWAITED = """
select a.signal, a.project, a.run_id, a.workflow, a.node_id, a.job_id, a.since, a.expires_at,
  a.refused
from qwf.awaited_signals a
where %(project)s::text is null or a.project = %(project)s
order by a.job_id limit %(most)s
"""
KEPT = """
select k.name, k.project, left(k.payload::text, 2000) as payload, k.login, k.acting_for,
  k.sent_at, k.keep_until
from qwf.kept_signals k
where %(project)s::text is null or k.project = %(project)s
order by k.keep_until desc limit %(most)s
"""
PROJECTS = """
select p.project from qwf.find_inputs(max_rows => 1000) p
where p.project <> '' group by p.project order by p.project limit 50
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """A page of the questions of a project, or of all."""
    query = request.query_params
    project = (query.get("project") or "").replace("\0", "") or None  # which Postgres takes nowhere
    order = query.get("order", "oldest")
    if order == "signals":
        return await _signals(look, project)
    order = order if order in ORDERS else "oldest"
    after, job = _place(query)
    found = await look.rows(
        QUESTIONS, project=project, ending=order == "ending", after=after, job=job, most=MOST + 1
    )
    return {
        "questions": [row | {"offered": _options(row["offered"])} for row in found[:MOST]],
        "next": _next(found, ORDERS[order]),
        "later": after is not None,
        "project": project,
        "projects": [row["project"] for row in await look.rows(PROJECTS)],
        "order": order,
    }


def _options(text: str | None) -> tuple[Option, ...]:
    """The options of a question, if they are so few that they are buttons in the list."""
    try:
        values = exact_json.read(text) if text else None
        if not isinstance(values, list) or not 0 < len(values) <= MOST_BUTTONS:
            return ()
        return options_of(values)
    except ValueError:
        return ()


async def _signals(look: Look, project: str | None) -> dict[str, Any]:
    """The first steps that wait for a signal, and the signals that are kept longest."""
    kept = await look.rows(KEPT, project=project, most=MOST)
    return {
        "awaited": await look.rows(AWAITED, project=project, most=MOST),
        "kept": [
            {**row, "payload": masking.masked_start(row["payload"] or "")[:MOST_PAYLOAD]}
            for row in kept
        ],
        "most": MOST,
        "questions": [],
        "next": None,
        "later": False,
        "project": project,
        "projects": [],
        "order": "signals",
    }


def _place(query: QueryParams) -> tuple[datetime | None, int | None]:
    """After which question this page begins; None: it is the first."""
    job = query.get("job", "")
    try:
        after = datetime.fromisoformat(query.get("after", ""))
    except ValueError:
        return None, None
    if after.tzinfo is None or not (job.isascii() and job.isdigit() and len(job) < 20):
        return None, None
    return min(max(after, EARLIEST), LATEST), min(int(job), MOST_ID)


def _next(found: Rows, column: str) -> dict[str, Any] | None:
    """Where the next page begins, if there is one."""
    if len(found) <= MOST or not isinstance(found[MOST - 1][column], datetime):
        return None
    return {"after": found[MOST - 1][column].isoformat(), "job": found[MOST - 1]["job_id"]}


PAGES = (Page("/inputs", "inputs.html", read, topics=("questions",), every_s=30),)
