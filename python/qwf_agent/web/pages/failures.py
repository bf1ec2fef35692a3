"""Failures: failed jobs in groups, by task and by what their errors have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from starlette.requests import Request

from qwf_agent.look.draw import words
from qwf_agent.look.failures import GROUPS, snoozed
from qwf_agent.web.pages import jobs, tell
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import IncompleteError, Page

COOKIE = "qwf_failures"  # when this browser looked before, and when it looked last
LOOK_S = 30 * 60  # who comes back after this long looks again
SHOWN = 100  # groups
SINCE = {
    "1h": ("1 hour", timedelta(hours=1)),
    "24h": ("24 hours", timedelta(days=1)),
    "7d": ("7 days", timedelta(days=7)),
    "ever": ("ever", None),
}
SETTLED = ("seen", "snoozed")
FILTERS = {"task": "Task", "queue": "Queue", "host": "Box", "workflow": "Workflow"}
BAR = {"width": 3, "step": 4, "height": 24}


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The groups of failures: new ones, those that were seen, those that are snoozed."""
    since, asked, groups = await _groups(request, look)
    before, cookie = looked(request.cookies.get(COOKIE), datetime.now(timezone.utc))
    whole = groups[0] if groups else {"searched": 0, "searched_to": None}
    shown = [
        group
        | {"new": is_new(group, before), "spark": spark(group["by_hour"])}
        | {"ticket": ticket(group), "mark": mark(group)}
        for group in groups[:SHOWN]
    ]
    # What is new since this browser looked stands on top, unless somebody has seen it.
    shown.sort(key=lambda group: group["state"] in SETTLED or not group["new"])
    return {
        "groups": [group for group in shown if group["state"] != "snoozed"],
        "snoozed": [group for group in shown if group["state"] == "snoozed"],
        "snoozed_until": snoozed,
        "left_out": max(0, len(groups) - SHOWN),
        "failed": sum(group["count"] for group in groups),
        "filters": FILTERS,
        "asked": asked,
        "is_filtered": any(asked.values()),
        "searched_to": whole["searched_to"],
        "since": since,
        "choices": SINCE,
        "before": before,
        "receivers": await tell.receivers(look, "failures", tell.OF_FAILURES),
        "cookies": {COOKIE: cookie},
    }


async def read_retry(request: Request, look: Look) -> dict[str, Any]:
    """All jobs of the ticked groups, counted before they are retried."""
    ticked = set(request.query_params.getlist("group"))
    if not ticked:
        raise IncompleteError("No group of failures is selected. Tick the groups to retry first.")
    since, given, groups = await _groups(request, look)
    rows: Rows = []
    to = None
    for group in [group for group in groups if mark(group) in ticked]:
        asked = {"status": ["failed"], "task": group["task"], "signature": group["signature"] or ""}
        asked |= {name: given[name] for name in ("queue", "host") if given[name]}
        most = jobs.MOST_AT_ONCE - len(rows)
        if most:
            some, left = await jobs.found_all(look, asked, most, jobs.COUNT_S / len(ticked))
            rows, to = rows + some, left or to
    return {
        **jobs.to_change("retry", rows, to),
        "heading": f"Retry {len(ticked)} {'group' if len(ticked) == 1 else 'groups'} of failures",
        "back": render.url(request, "/failures", since=since, **given),
        "problem": None,
        "given": {},
        "queues": [],
    }


async def _groups(request: Request, look: Look) -> tuple[str, dict[str, str | None], Rows]:
    """How far back the address looks, its filter, and the groups since then."""
    since = request.query_params.get("since", "24h")
    since = since if since in SINCE else "24h"
    asked = {name: _text(request.query_params.get(name, "")) for name in FILTERS}
    return since, asked, await look.rows(GROUPS, back=SINCE[since][1], **asked)


def mark(group: Mapping[str, Any]) -> str:
    """A short name of a group, which stays while more jobs fail."""
    named = f"{group['task']}\0{group['signature']}"
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _text(given: str) -> str | None:
    """A text of the address, without the characters that Postgres takes in no text."""
    return given.replace("\0", "").strip() or None


def looked(cookie: str | None, now: datetime) -> tuple[datetime | None, str]:
    """When this browser looked the time before, and the cookie that says so next time.

    One look lasts as long as the page is loaded again within half an hour. So what is new stays
    marked while somebody looks at it.
    """
    before, last = _times(cookie)
    if last is not None and now - last > timedelta(seconds=LOOK_S):
        before = last
    return before, f"{before.timestamp() if before else 0:.0f}.{now.timestamp():.0f}"


def is_new(group: Mapping[str, Any], before: datetime | None) -> bool:
    """Return True if nothing of this group had failed when somebody looked before."""
    to = group["searched_to"]
    return before is not None and group["first_at"] > before and (to is None or to < before)


def ticket(group: Mapping[str, Any]) -> str:
    """A group as text, to paste into a ticket."""
    first, last = (group[name].isoformat(" ", "seconds") for name in ("first_at", "last_at"))
    lines = [
        group["example"] or group["signature"] or "no error text",
        f"task {group['task']}, {words.counted(group['count'], 'failed job')}"
        f", first {first}, last {last}",
        f"boxes: {', '.join(group['hosts'])}" if group["hosts"] else "",
        f"jobs: {', '.join(map(str, group['job_ids']))}",
        f"runs: {', '.join(map(str, group['run_ids']))}" if group["run_ids"] else "",
        f"qwf job {group['job_ids'][0]}",
    ]
    return "\n".join(line for line in lines if line)


def spark(by_hour: Sequence[int]) -> list[dict[str, int]]:
    """Bars of the last 24 hours; an hour with a failure has at least a low one."""
    most = max(by_hour, default=0) or 1
    bars = []
    for hour, count in enumerate(by_hour):
        height = max(3, round(BAR["height"] * count / most)) if count else 1
        bars.append(
            {"x": hour * BAR["step"], "y": BAR["height"] - height, "height": height, "count": count}
        )
    return bars


def _times(cookie: str | None) -> tuple[datetime | None, datetime | None]:
    parts = (cookie or "").split(".")
    if len(parts) != 2 or not all(p.isascii() and p.isdigit() and len(p) <= 11 for p in parts):
        return None, None
    first, last = (datetime.fromtimestamp(int(p), timezone.utc) if int(p) else None for p in parts)
    return first, last


PAGES = (
    Page("/failures", "failures.html", read, every_s=10),
    Page("/failures/retry", "jobs_all.html", read_retry),
)
