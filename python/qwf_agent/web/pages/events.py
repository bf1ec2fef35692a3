"""The events: what happened, the newest first."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

ROWS = 50
WINDOW = 100_000  # numbers that a page looks through for a kind or subject that is rare
LONGEST = 500  # letters of a filter
# The inner one bounds what is read, and ends as soon as enough are found: it reads by number.
FIND = """
select e.seq, e.at, e.kind, e.subject, e.names, e.run_id, e.job_id, e.login, e.acting_for, e.detail
from (
  select * from qwf.events n
  where n.seq < %(before)s and n.seq >= %(before)s - %(window)s
  order by n.seq desc limit %(window)s
) e
where (%(kind)s::text is null or e.kind = %(kind)s)
  and (%(subject)s::text is null or e.subject = %(subject)s)
order by e.seq desc
limit %(rows)s
"""
ENDS = "select min(e.seq) as first, max(e.seq) as last from qwf.events e"
KINDS = """
select distinct e.kind
from (select n.kind from qwf.events n order by n.seq desc limit 2000) e
order by e.kind
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """A page of events, of one kind or about one subject if the address says so."""
    query = request.query_params
    given = {
        name: query[name].replace("\0", "")[:LONGEST]
        for name in ("kind", "subject")
        if query.get(name, "").strip()
    }
    ends = await look.row(ENDS) or {}
    newest = (ends["last"] or 0) + 1
    asked = query.get("before", "")
    is_number = asked.isascii() and asked.isdigit() and len(asked) < 20
    before = min(int(asked), newest) if is_number else newest
    rows = await look.rows(
        FIND, before=before, window=WINDOW, rows=ROWS, kind=given.get("kind"),
        subject=given.get("subject"),
    )  # fmt: skip
    older = rows[-1]["seq"] if len(rows) == ROWS else before - WINDOW
    return {
        "rows": rows,
        "kinds": [row["kind"] for row in await look.rows(KINDS)],
        "given": given,
        "shown": {"kind": given.get("kind", ""), "subject": given.get("subject", "")},
        "is_newest": before == newest,
        "older": older if older > (ends["first"] or 0) else None,
        "is_full": len(rows) == ROWS,
    }


PAGES = (Page("/events", "events.html", read, every_s=5),)
