"""The boxes, their workers and models, and the switches."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from typing import Any

from starlette.requests import Request

from qwf_agent.web.pages.boxes import boxes, dots
from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

ENGINE = """
select tick_age as age, version, failed, questions as asked, empty from qwf.overview
"""
# What switching off would end, and which other boxes could take it.
AT_RISK = """
select id, name, worker, host, queue, progress, seconds, takers
from qwf.running_jobs
where host is not null
order by claimed_at
limit 200
"""
MODELS = "select * from qwf.model_overview limit 100"
# Those of the last hour, and those that a live worker still carries out, such as a long pull.
REQUESTS = """
select host, queue, model, action, login, acting_for, requested_at, left(error, 1000) as error,
  progress, state
from qwf.model_request_overview
where (requested_at > qwf.now() - interval '1 h' or state = 'under way')
  and (%(host)s::text is null or host = %(host)s)
order by id desc limit 10
"""
SLEEPERS = "select worker, asleep from qwf.sleeping_workers limit 1000"
DEAD = """
select * from qwf.worker_overview
where state = 'dead' order by last_seen limit 50
"""
STOPPED = """
select worker, host, queue, version, last_seen from qwf.worker_overview
where state = 'stopped' and last_seen < interval '1 day' order by last_seen limit 50
"""
OFF_WITHOUT_WORKER = """
select o.* from qwf.switched_off o
where not exists (
  select from qwf.worker_overview w where w.host = o.host and w.queue = o.queue and w.live)
order by o.host, o.queue limit 50
"""
MOST_BOXES = 200  # cards of a page
LENGTHS = (("30 min", 30), ("2 h", 120), ("8 h", 480), ("24 h", 1440))
ROUNDED_MIN = 5  # so that a page stays the same for some minutes


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The boxes at one moment."""
    return {
        **await cards(look),
        "engine": await engine(look),
        "dead": await look.part("dead workers", DEAD),
        "off": await look.part("boxes that are switched off", OFF_WITHOUT_WORKER),
        "stopped": await look.part("stopped workers", STOPPED),
        "models": await look.part("models", MODELS),
        "requests": await look.part("requests for models", REQUESTS, host=None),
        "listener": request.app.state.listener,
        **await switches(look),
    }


async def cards(look: Look, busiest: int | None = None) -> dict[str, Any]:
    """The first MOST_BOXES boxes, or some of the busiest; how many workers and boxes there are
    besides, and all counted."""
    rows, workers, servers, counts = await asyncio.gather(
        look.part("boxes", snapshot.BOXES),
        look.part("workers", snapshot.WORKERS),
        look.part("model servers", snapshot.SERVERS),
        look.part("counts of workers", snapshot.CROWD),
    )
    crowd = counts[0] if counts else {"workers": 0, "boxes": 0, "dead": 0}
    found = boxes(rows, workers, servers)
    if busiest is not None:
        found.sort(key=lambda box: not box.row["running"])
    shown = found[: busiest or MOST_BOXES]
    idle = sum(not box.workers for box in found)  # boxes with a sample alone
    return {
        "boxes": shown,
        "workers": workers,
        "servers": servers,
        "crowd": crowd,
        "more_workers": max(0, crowd["workers"] - sum(len(box.workers) for box in shown)),
        "more_boxes": max(0, crowd["boxes"] + idle - len(shown)),
        "dots": dots,
    }


async def engine(look: Look) -> dict[str, Any]:
    """The age of the last tick, and the version that agents should have."""
    (row,) = await look.rows(ENGINE)
    return row


async def switches(look: Look) -> dict[str, Any]:
    """Data for the cards besides the boxes: what is at risk, who sleeps, and until when."""
    return {
        "at_risk": _by_worker(await look.part("jobs that a switch would end", AT_RISK)),
        "asleep": {row["worker"]: row["asleep"] for row in await look.part("sleepers", SLEEPERS)},
        "lengths": lengths(datetime.now(timezone.utc)),
        "dots": dots,
    }


def lengths(now: datetime) -> list[tuple[str, datetime]]:
    """For how long somebody may switch a worker off, and until when that is."""
    begins = now.replace(minute=now.minute - now.minute % ROUNDED_MIN, second=0, microsecond=0)
    return [(name, begins + timedelta(minutes=minutes + ROUNDED_MIN)) for name, minutes in LENGTHS]


def _by_worker(jobs: Rows) -> dict[str, Rows]:
    found: dict[str, Rows] = {}
    for job in jobs:
        found.setdefault(job["worker"], []).append(job)
    return found


PAGES = (
    Page("/fleet", "fleet.html", read, topics=("fleet", "hosts", "servers", "running"), every_s=5),
)
