"""Problems of the fleet and its database, and their remedies: the checks of `qwf doctor`."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any
from urllib.parse import quote

from starlette.requests import Request

from qwf_agent.look import connection
from qwf_agent.look.doctor import checks
from qwf_agent.look.doctor.checks import Result
from qwf_agent.look.doctor.findings import Finding
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import Page

KEPT_S = 30.0  # the answer serves everybody for this long
OUTBOX = "select * from qwf.outbox_overview order by id limit 50"
SNAPSHOTS = "select * from qwf.snapshot_overview order by seconds desc nulls last limit 5"
TABLES = "select * from qwf.table_overview order by bytes desc limit 12"
TICK = "select last_tick from qwf.instance_overview"
SLEEPERS = """
select s.queue, count(*) as workers, min(s.since) as since
from qwf.sleeping_workers s group by s.queue order by s.queue
"""
PRUNABLE = "select jobs, runs from qwf.losses(most => %(most)s)"


# Where the subject of a finding is shown, by its first word.
SHOWN_AT = {
    "queue": "/queues/", "job": "/jobs/", "run": "/runs/", "box": "/fleet/", "worker": "/fleet/",
    "schedule": "/schedules/", "workflow": "/workflows/",
    "alert": "/alerts#rule-", "receiver": "/alerts#receiver-",
}  # fmt: skip
COMMAND = re.compile(r"\b(qwf [a-z][^;]*|(?:alter|grant|revoke|select|vacuum|create) .*)")
RESUME = re.compile(r"(?:mend it, then: )?qwf queue resume (\S+)(?: --task (\S+))?")
SWITCH_ON = re.compile(r"qwf worker on --host (\S+) --queue (\S+)")


class Checks:
    """The results of all checks. Invariant: they run once at a time, and at most every 30 s."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[float, list[Result]]] = {}
        self._running: dict[str, asyncio.Task[list[Result]]] = {}

    async def results(self, dsn: str) -> tuple[list[Result], float]:
        """The results, and how many seconds old they are."""
        at, results = self._results.get(dsn, (float("-inf"), []))
        if time.monotonic() - at > KEPT_S:
            if dsn not in self._running:
                self._running[dsn] = asyncio.create_task(asyncio.to_thread(_run, dsn))
                self._running[dsn].add_done_callback(lambda _: self._running.pop(dsn))
            results = await asyncio.shield(self._running[dsn])
            self._results[dsn] = (at, results) = time.monotonic(), results
        return results, time.monotonic() - at

    def problems(self, dsn: str) -> int | None:
        """How many problems the checks found when they last ran; None if they have not."""
        return checks.count(self._results[dsn][1], "problem") if dsn in self._results else None


def _run(dsn: str) -> list[Result]:
    """Make all checks, one after the other."""
    with connection.connect_unchecked(dsn, notices=False) as conn:
        return list(checks.make(conn, dsn))


_CHECKS = Checks()


def known(dsn: str) -> int | None:
    """How many problems there were when somebody last looked; None if nobody has."""
    return _CHECKS.problems(dsn)


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The findings, and the facts that explain them."""
    results, age_s = await _CHECKS.results(look.database.dsn)
    found = [one for one in results if one.state != "fine"]
    found.sort(key=lambda one: -checks.LEVELS.index(one.state))
    prunable = await look.part("what can be pruned", PRUNABLE, most=render.MOST_COUNTED + 1)
    return {
        "found": [shown(one) for one in found],
        "fine": [one for one in results if one.state == "fine"],
        "checked": len(results),
        "problems": checks.count(results, "problem"),
        "age_s": age_s,
        "invariants": next((one for one in results if one.name == "invariants"), None),
        "outbox": await look.rows(OUTBOX),
        "snapshots": await look.rows(SNAPSHOTS),
        "tables": await look.rows(TABLES),
        "tick": await look.value(TICK),
        "sleepers": await look.rows(SLEEPERS),
        "prunable": prunable[0] if prunable else None,
    }


def shown(result: Result) -> dict[str, Any]:
    """A check with its findings, the worst first, and what to press or copy for each."""
    worst_first = sorted(result.findings, key=lambda one: -checks.LEVELS.index(one.level))
    return {
        "name": result.name,
        "state": result.state,
        "about": result.about,
        "findings": [
            {"what": one.what, "level": one.level, "advice": one.advice, **remedy(one)}
            for one in worst_first
        ],
    }


def remedy(finding: Finding) -> dict[str, Any]:
    """The page of what a finding is about, the call that puts it right, and the command to copy."""
    kind, _, name = (finding.subject or "").partition(" ")
    opens = None
    if kind in SHOWN_AT and name:
        path = name.split(":")[0] if kind == "worker" else name
        opens = {"path": SHOWN_AT[kind] + quote(path, safe=""), "text": f"Open {kind} {path}"}
    act: tuple[str, str, dict[str, str]] | None = None
    if found := RESUME.match(finding.advice):
        names = {"name": found[1], **({"task": found[2]} if found[2] else {})}
        act = ("resume_queue", "Resume", names)
    elif found := SWITCH_ON.match(finding.advice):
        act = ("worker_control", "Switch on", {"host": found[1], "queue": found[2].rstrip(";"),
                                              "state": "on"})  # fmt: skip
    elif "qwf tick" in finding.advice and finding.level == "problem":
        act = ("tick", "Tick now", {})
    command = COMMAND.search(finding.advice)
    return {"opens": opens, "act": act, "command": command[1].strip() if command else None}


PAGES = (Page("/doctor", "doctor.html", read, every_s=30),)
