"""The page Alerts: what is wrong now, what was, and who hears of what."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.look import masking
from qwf_agent.look.draw import alerts
from qwf_agent.web.forms import exact_json
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

MOST = 100  # open alerts, and rules
MOST_CLOSED = 30
OPEN = """
select a.* from qwf.alert_details a where a.closed_at is null order by a.id desc limit %(most)s
"""
CLOSED = """
select a.* from qwf.alert_details a
where a.closed_at > (select qwf.now()) - interval '7 days'
order by a.closed_at desc limit %(most)s
"""
RULES = """
select r.*, r.rule::text as stored from qwf.alert_overview r
order by r.by_producers, r.name limit %(most)s
"""
RECEIVERS = "select r.* from qwf.receiver_overview r order by r.receiver limit 100"
MESSAGES = """
select m.* from qwf.message_overview m order by m.created_at desc limit 10
"""
# Where the page of a subject is, by the first word of a kind; runs are named by their workflow.
PLACES = {
    "run": "/workflows/", "overdue": "/workflows/", "schedule": "/schedules/",
    "queue": "/queues/", "worker": "/fleet/",
}  # fmt: skip


async def read(request: Request, look: Look) -> dict[str, Any]:
    """Alerts, the open ones first, the rules, and the receivers."""
    rules = [
        {**rule, "hears": alerts.hears(rule["rule"]), "asked": _as_given(rule["stored"])}
        for rule in await look.rows(RULES, most=MOST)
    ]
    by = {rule["name"]: rule["rule"].get("by") for rule in rules}
    receivers = await look.rows(RECEIVERS)
    return {
        "open": [_shown(row, by) for row in await look.rows(OPEN, most=MOST)],
        "closed": [_shown(row, by) for row in await look.rows(CLOSED, most=MOST_CLOSED)],
        "rules": rules,
        "receivers": receivers,
        "absent": {row["receiver"] for row in receivers if not row["hosts"]},
        "messages": await look.rows(MESSAGES),
        "most": MOST,
        "most_closed": MOST_CLOSED,
    }


def _shown(row: dict[str, Any], by: dict[str, Any]) -> dict[str, Any]:
    """An alert, with the path of the page about its subject."""
    path = PLACES.get(row["kind"].partition("_")[0])
    named = path and row["subject"] and by.get(row["rule"]) in ("subject", "run")
    return {**alerts.told(row), "path": path if named else None}


def _as_given(stored: str) -> str:
    """A rule as set_alert() takes it, for a field: durations in seconds as texts."""
    times = ("within", "for", "repeat", "calm")
    rule = masking.masked(exact_json.read(stored))
    return exact_json.pretty(
        {key: f"{value} s" if key in times and value else value for key, value in rule.items()}
    )


PAGES = (Page("/alerts", "alerts.html", read, every_s=5),)
