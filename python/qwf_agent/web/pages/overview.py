"""The first page: how the fleet is now, the most urgent first."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.cli.top import fleet as fleet_of_top
from qwf_agent.web import snapshot
from qwf_agent.web.boxes import boxes, dots, trend
from qwf_agent.web.database import Look, Rows
from qwf_agent.web.page import Page
from qwf_agent.web.pages import fleet

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
MOST = 8  # rows of a list


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The fleet at one moment."""
    health = request.app.state.health
    facts = await fleet.engine(look)
    queues = await look.rows(snapshot.QUEUES)
    workers, samples = await look.rows(snapshot.WORKERS), await look.rows(snapshot.HOSTS)
    running, failures = await look.rows(fleet_of_top.RUNNING), await look.rows(FAILURES)
    questions = await look.rows(fleet_of_top.QUESTIONS)
    idle = not workers and not any(q["queued"] + q["running"] + q["scheduled"] for q in queues)
    return {
        "engine": facts,
        "badges_here": await look.row(snapshot.BADGES),
        "queues": _with_trends(queues, await look.rows(TREND)),
        "sums": _sums(queues),
        "boxes": boxes(workers, samples, facts["model_idle"].total_seconds()),
        "dead": [worker for worker in workers if worker["state"] == "dead"],
        "running": running[:MOST],
        "failures": failures,
        "questions": questions[:MOST],
        "invariants": await health.invariants.look(),
        "unassignable": await health.unassignable.look(),
        "listener": request.app.state.listener,
        "database_s": max((s.took_s for s in look.statements), default=0.0),
        "empty": idle and await look.value(EMPTY),
        "dots": dots,
    }


def _sums(queues: Rows) -> dict[str, Any]:
    """Jobs of all queues together; whether a number is only a lower bound."""
    return {
        "queued": sum(queue["queued"] for queue in queues),
        "more_queued": any(queue["queued"] > 10_000 for queue in queues),
        "scheduled": sum(queue["scheduled"] for queue in queues),
        "more_scheduled": any(queue["more_scheduled"] for queue in queues),
        "running": sum(queue["running"] for queue in queues),
    }


def _with_trends(queues: Rows, minutes: Rows) -> Rows:
    """Each queue with its last minutes; those with work first, paused and unserved ones before."""
    shown = []
    for queue in queues:
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
                "state": _state(queue),
            }
        )
    order = {"unserved": 0, "paused": 1}
    return sorted(
        shown,
        key=lambda q: (order.get(q["state"], 2), -(q["queued"] + q["running"]), q["queue"]),
    )


def _state(queue: dict[str, Any]) -> str:
    """paused; unserved: jobs are queued and no worker serves it; on; or idle: nobody serves it."""
    if queue["paused"]:
        return "paused"
    return "on" if queue["workers"] else "unserved" if queue["queued"] else "disabled"


PAGES = (
    Page(
        "/",
        "overview.html",
        read,
        topics=("queues", "fleet", "hosts", "running", "failed", "questions", "health"),
        every_s=5,
    ),
)
