"""The page of acts: each change of a queue, limit, schedule, setting, job or run, and its login."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.look.query import QueryError, as_id, since_when
from qwf_agent.web.pages import query_box
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

A_PAGE = 50
FIELDS = ("login", "kind", "subject", "since")
# One row more than a page shows tells that there are more.
ACTS = """
select a.id, a.at, a.login, a.acting_for, a.kind, a.subject, a.run_id, a.job_id, a.detail
from qwf.audit a
where (%(login)s::text is null or a.login = %(login)s::text)
  and (%(kind)s::text is null or a.kind = %(kind)s::text)
  and (%(subject)s::text is null or a.subject = %(subject)s::text)
  and (%(since)s::timestamptz is null or a.at >= %(since)s::timestamptz)
  and (%(before)s::bigint is null or a.id < %(before)s::bigint)
order by a.id desc
limit %(most)s
"""
KINDS = (
    "queue_changed", "limit_changed", "schedule_changed", "settings_changed", "definition_changed",
    "schema_changed", "worker_off", "worker_on", "worker_server", "worker_model", "worker_stopped",
    "host_forgotten", "cancel_requested", "cancelled", "retried", "erased", "changed", "fired",
    "question_answered",
)  # fmt: skip


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The newest acts that pass the filter of the address."""
    query = request.query_params
    asked = {name: query.get(name, "").replace("\0", "").strip() for name in FIELDS}
    asked = {name: value for name, value in asked.items() if value}
    before = as_id(query.get("before", ""))
    found, problem = await _find(look, asked, before)
    acts = found[:A_PAGE]
    return {
        "asked": asked,
        "acts": acts,
        "problem": problem,
        "kinds": KINDS,
        "later": before is not None,
        "next": acts[-1]["id"] if len(found) > A_PAGE else None,
    }


async def _find(look: Look, asked: dict[str, str], before: int | None) -> tuple[Rows, str | None]:
    try:
        since = since_when(asked["since"], datetime.now(timezone.utc)) if "since" in asked else None
        given = {name: asked.get(name) for name in FIELDS} | {"since": since}
        rows = await look.rows(ACTS, **given, before=before, most=A_PAGE + 1)
    except QueryError as error:
        return [], str(error)
    except psycopg.DatabaseError as error:
        return [], str(query_box.refused(error, "event"))
    return [dict(row) for row in rows], None


PAGES = (Page("/audit", "audit.html", read, every_s=10),)
