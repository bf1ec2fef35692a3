"""The names that Ctrl-K finds: workflows, queues, boxes and schedules, and what is done to them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request

from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import Data

NAMES = """
select n.kind, n.name from qwf.known_names n
where n.kind in ('workflow', 'queue', 'host', 'schedule') order by n.kind, n.name limit 2000
"""
PLACES = {
    "workflow": "/workflows/{}", "queue": "/queues/{}", "host": "/fleet/{}",
    "schedule": "/schedules/{}",
}  # fmt: skip
# Kind: what is done to one, where, and the function that does it. The page there asks before.
VERBS = {
    "workflow": (("Start {}…", "/workflows/{}/start", "enqueue_run"),),
    "queue": (
        ("Pause or resume queue {}…", "/queues/{}", "pause_queue"),
        ("Jobs of queue {}", "/jobs?queue={}", None),
    ),
    "host": (("Switch off or drain {}…", "/fleet/{}", "worker_control"),),
}
ALWAYS = (
    ("Retry what has failed…", "/failures", "retry_jobs"),
    ("Answer a question…", "/inputs", "answer_job"),
    ("Preview a definition…", "/workflows/-/preview", None),
    ("Who did what", "/audit", None),
)


async def read(request: Request, look: Look) -> dict[str, Any]:
    """All of them, each with its address, and the function that a person must be able to call."""
    found = [_entry(request, text, "do", path, may) for text, path, may in ALWAYS]
    for row in await look.rows(NAMES):
        kind, name = row["kind"], row["name"]
        shown = "box" if kind == "host" else kind
        found.append(_entry(request, name, shown, PLACES[kind].format(quote(name, safe=""))))
        for text, path, may in VERBS.get(kind, ()):
            there = path.format(quote(name, safe=""))
            found.append(_entry(request, text.format(name), "do", there, may))
    return {"names": found}


def _entry(
    request: Request, text: str, kind: str, path: str, may: str | None = None
) -> dict[str, Any]:
    return {"text": text, "kind": kind, "href": render.url(request, path), "may": may}


DATA = (Data("/palette", read),)
