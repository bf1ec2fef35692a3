"""The first page: how the fleet is now, the most urgent first."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from qwf_agent.look.fleet import QUEUES, RUNNING, sums
from qwf_agent.web.drawings import last_hour
from qwf_agent.web.pages import doctor, fleet
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site.page import Page

FAILURES = "select * from qwf.failure_groups(max_rows => 200) where state <> 'snoozed' limit 6"
HOUR = "select * from qwf.last_hour"
# The newest that are open, then those that have just ended, with what is usual.
RUNS = """
select r.id, r.workflow, r.status, r.done, r.total, r.asked, r.seconds, r.finished_at, r.error,
  u.p50 as usual, coalesce(r.seconds > u.p90 and u.runs >= 10, false) as slow
from (
  select distinct on (f.id) f.*
  from (
    (select * from qwf.find_runs(
      '{"status": ["queued", "running", "awaiting_input"]}', max_rows => 5))
    union all
    (select * from qwf.find_runs(max_rows => 8))) f
  where f.id is not null
  order by f.id desc) r
left join qwf.usual u on u.kind = 'run' and u.name = r.workflow
order by r.finished_at is not null, r.id desc limit 8
"""
QUESTIONS = "select * from qwf.find_inputs(max_rows => 8)"
HOLDING = ("unserved", "paused")  # states of queues that hold their jobs up
DOWN = ("broken", "gone")  # states of model servers that somebody should look at
MOST = 8  # rows of a list, as many as QUESTIONS has
MOST_BOXES = 20  # lines
MOST_QUEUES = 20


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The fleet at one moment."""
    health = request.app.state.health
    (head, queues), found, running, failures, questions, (hour, runs) = await asyncio.gather(
        asyncio.gather(fleet.engine(look), look.part("queues", QUEUES)),
        fleet.cards(look, MOST_BOXES),
        look.part("running jobs", RUNNING),
        look.part("newest failures", FAILURES),
        look.part("questions", QUESTIONS),
        asyncio.gather(look.part("the last hour", HOUR), look.part("runs", RUNS)),
    )
    shown = _busiest(queues)
    waits = any(q["queued"] + q["running"] + q["scheduled"] for q in queues)
    idle = not (found["workers"] or waits or look.left_out)
    return {
        "engine": head,
        "badges_here": head,
        "more_queues": len(queues) > MOST_QUEUES,
        "queues": shown,
        "held": [queue for queue in shown if queue["queued"] and queue["state"] in HOLDING],
        "held_tasks": [(q["queue"], task) for q in queues for task in q["held_tasks"]][:MOST],
        "sums": sums(queues),
        **found,
        "troubled": [server for server in found["servers"] if server["state"] in DOWN],
        "dead": [worker for worker in found["workers"] if worker["state"] == "dead"][:5],
        "hour": last_hour.draw(hour),
        "runs": runs,
        "running": running[:MOST],
        "failures": failures,
        "questions": questions,
        "invariants": await health.invariants.look(),
        "unassignable": await health.unassignable.look(),
        "listener": request.app.state.listener,
        "doctor": doctor.known(look.database.dsn),
        "database_s": max((s.took_s for s in look.statements), default=0.0),
        "empty": idle and head["empty"],
    }


def _busiest(queues: Rows) -> Rows:
    """The busiest queues, each with how many more wait than 30 minutes ago; the unserved and the
    paused come first."""
    order = {state: place for place, state in enumerate(HOLDING)}
    busiest = sorted(queues, key=lambda queue: -(queue["queued"] + queue["running"]))
    shown = []
    for queue in busiest[:MOST_QUEUES]:
        first = next((value for value in queue["trend"] if value is not None), None)
        shown.append({**queue, "change": None if first is None else queue["queued"] - first})
    return sorted(
        shown,
        key=lambda queue: (order.get(queue["state"], len(order)), queue["queue"]),
    )


PAGES = (
    Page(
        "/",
        "overview.html",
        read,
        topics=(
            "queues",
            "fleet",
            "servers",
            "running",
            "failed",
            "questions",
            "runs",
            "health",
        ),
        every_s=5,
    ),
)
