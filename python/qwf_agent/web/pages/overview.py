"""The first page: how the fleet is now, the most urgent first."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from qwf_agent.cli.top import fleet as fleet_of_top
from qwf_agent.look.draw import words
from qwf_agent.web.pages import doctor, fleet
from qwf_agent.web.pages.boxes import boxes, dots, trend
from qwf_agent.web.reads import snapshot
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import Data, Page

TREND_MIN = 30
TREND = """
select m.queue, date_part('epoch', qwf.now() - m.minute) / 60 as age, m.queued,
  m.completed, m.error + m.fatal + m.tempfail + m.lost as failed
from qwf.queue_minutes m
where m.minute > qwf.now() - interval '30 min'
order by m.minute desc
limit 5000
"""
FAILURES = "select * from qwf.failure_groups(max_rows => 200) limit 6"
# Whether nothing has ever been done here. Asked only while nothing waits and nobody works.
EMPTY = """
select not exists (select from qwf.jobs) and not exists (select from qwf.runs) as empty
"""
CELL = "select c.cell, c.cells from qwf.cell() c"
HOLDING = ("unserved", "paused")  # states of queues that hold their jobs up
DOWN = ("broken", "gone")  # states of model servers that somebody should look at
MOST = 8  # rows of a list
MOST_QUEUES = 20


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The fleet at one moment."""
    health = request.app.state.health
    facts = await fleet.engine(look)
    crowd = await fleet.crowd(look)
    queues, workers, samples, servers, running, failures, questions, minutes = await asyncio.gather(
        look.part("queues", snapshot.QUEUES),
        look.part("workers", snapshot.WORKERS),
        look.part("load of boxes", snapshot.HOSTS),
        look.part("model servers", snapshot.SERVERS),
        look.part("running jobs", fleet_of_top.RUNNING),
        look.part("newest failures", FAILURES),
        look.part("questions", fleet_of_top.QUESTIONS),
        look.part("last 30 minutes of queues", TREND),
    )
    shown = _with_trends(queues, minutes)
    waits = any(q["queued"] + q["running"] + q["scheduled"] for q in queues)
    idle = not (workers or waits or look.left_out)
    found = boxes(workers, samples, facts["model_idle"].total_seconds(), servers)
    shown_boxes = found[: fleet.MOST_BOXES]
    return {
        "engine": facts,
        "badges_here": await look.row(snapshot.BADGES),
        "more_queues": len(queues) > MOST_QUEUES,
        "queues": shown,
        "held": [queue for queue in shown if queue["queued"] and queue["state"] in HOLDING],
        "off": crowd["off"],
        "failed_on": await fleet.failed_on(look),
        "sums": _sums(queues),
        "boxes": shown_boxes,
        "crowd": crowd,
        **fleet.more(shown_boxes, found, crowd),
        "troubled": [server for server in servers if server["state"] in DOWN],
        "dead": [worker for worker in workers if worker["state"] == "dead"][:5],
        "running": running[:MOST],
        "failures": failures,
        "questions": questions[:MOST],
        "invariants": await health.invariants.look(),
        "unassignable": await health.unassignable.look(),
        "listener": request.app.state.listener,
        "doctor": doctor.known(look.database.dsn),
        "database_s": max((s.took_s for s in look.statements), default=0.0),
        "empty": idle and await look.value(EMPTY),
        "dots": dots,
    }


async def glance(request: Request, look: Look) -> dict[str, Any]:
    """The figures of one cell, for the page that shows several."""
    queues, crowd = await look.rows(snapshot.QUEUES), await fleet.crowd(look)
    (place,), (badges,) = await look.rows(CELL), await look.rows(snapshot.BADGES)
    facts = await fleet.engine(look)
    return {
        **place,
        **badges,
        **_sums(queues),
        "boxes": crowd["boxes"],
        "dead": crowd["dead"],
        "held": [q["queue"] for q in queues if q["queued"] and words.queue_state(q) in HOLDING],
        "tick_s": min(facts["age"].total_seconds(), 1e9),
    }


def _sums(queues: Rows) -> dict[str, Any]:
    """Jobs of all queues together; whether a number is only a lower bound."""
    return {
        "queued": sum(min(queue["queued"], render.MOST_COUNTED) for queue in queues),
        "more_queued": any(queue["queued"] > render.MOST_COUNTED for queue in queues),
        "scheduled": sum(queue["scheduled"] for queue in queues),
        "more_scheduled": any(queue["more_scheduled"] for queue in queues),
        "running": sum(queue["running"] for queue in queues),
    }


def _with_trends(queues: Rows, minutes: Rows) -> Rows:
    """The busiest queues with their last minutes; the unserved and the paused come first."""
    order = {state: place for place, state in enumerate(HOLDING)}
    busiest = sorted(queues, key=lambda queue: -(queue["queued"] + queue["running"]))
    shown = []
    for queue in busiest[:MOST_QUEUES]:
        ours = [minute for minute in minutes if minute["queue"] == queue["queue"]]
        line = trend(((m["age"], m["queued"]) for m in ours), TREND_MIN)
        first = next((value for value in line if value is not None), None)
        shown.append(
            {
                **queue,
                "line": line,
                "change": None if first is None else queue["queued"] - first,
                "ended": sum(minute["completed"] for minute in ours),
                "failed": sum(minute["failed"] for minute in ours),
                "state": words.queue_state(queue),
            }
        )
    return sorted(
        shown,
        key=lambda queue: (order.get(queue["state"], len(order)), queue["queue"]),
    )


PAGES = (
    Page(
        "/",
        "overview.html",
        read,
        topics=("queues", "fleet", "hosts", "servers", "running", "failed", "questions", "health"),
        every_s=5,
    ),
)
DATA = (Data("/glance", glance),)
