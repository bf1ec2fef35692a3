"""What is wrong with the fleet and its database, and what to do: the checks of `qwf doctor`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import psycopg
from starlette.requests import Request

from qwf_agent.cli import losses
from qwf_agent.cli.doctor.checks import CHECKS, WITHOUT_SCHEMA
from qwf_agent.cli.doctor.findings import Finding, unchecked
from qwf_agent.look import connection
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import render
from qwf_agent.web.site.page import Page

KEPT_S = 30.0  # the answer serves everybody for this long
CHECK_S = 15  # the time that one statement of a check may take
OUTBOX = """
select o.id, o.run_id, o.job_id, o.kind, o.tries, o.next_try_at, left(o.error, 1000) as error,
  o.poisoned_at,
  o.created_at
from qwf.outbox o order by o.id limit 50
"""
SNAPSHOTS = """
select a.pid, a.usename as login, a.application_name as application, a.state,
  extract(epoch from now() - a.xact_start) as seconds
from pg_stat_activity a
where a.datname = current_database() and a.backend_xmin is not null and a.pid <> pg_backend_pid()
order by a.xact_start limit 5
"""
TABLES = """
select s.relname as name, pg_total_relation_size(s.relid) as bytes, s.n_live_tup as live,
  s.n_dead_tup as dead, greatest(s.last_vacuum, s.last_autovacuum) as vacuumed
from pg_stat_user_tables s
where s.schemaname = 'qwf' order by 2 desc limit 12
"""
TICK = "select to_timestamp(last_value / 1000.0) as at from qwf.last_tick where last_value > 0"
SLEEPERS = """
select s.queue, count(*) as workers, min(s.since) as since
from qwf.sleepers s group by s.queue order by s.queue
"""


@dataclass(frozen=True)
class Result:
    """What one check found."""

    name: str
    about: str
    findings: list[Finding]

    @property
    def state(self) -> str:
        """The worst of the findings."""
        levels = {finding.level for finding in self.findings}
        return next((one for one in ("problem", "unchecked", "note") if one in levels), "fine")


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
        return _problems(self._results[dsn][1]) if dsn in self._results else None


def _problems(results: list[Result]) -> int:
    """How many problems there are, as `qwf doctor` counts them."""
    return sum(finding.level == "problem" for one in results for finding in one.findings)


def _run(dsn: str) -> list[Result]:
    """Run all checks, one after the other."""
    found = []
    with connection.connect(dsn, notices=False) as conn:
        conn.execute("select set_config('statement_timeout', %s, false)", (f"{CHECK_S}s",))
        deployed = conn.execute("select to_regnamespace('qwf') is not null as there").fetchone()
        checks = CHECKS if deployed and deployed["there"] else WITHOUT_SCHEMA
        for name, check in checks.items():
            about = (check.__doc__ or "").partition("\n")[0]
            try:
                findings = list(check(conn, dsn))
            except psycopg.Error as error:
                if conn.closed:
                    raise
                reason = (error.diag.message_primary or str(error)).strip()
                findings = [unchecked(reason, "see: qwf doctor")]
            found.append(Result(name, about, findings))
    return found


_CHECKS = Checks()


def known(dsn: str) -> int | None:
    """How many problems there were when somebody last looked; None if nobody has."""
    return _CHECKS.problems(dsn)


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The findings, and the facts that explain them."""
    look.primary = True
    results, age_s = await _CHECKS.results(look.database.dsn)
    prunable = await look.part(
        "what can be pruned", losses.ENDED, retention=None, queue=None, most=render.MOST_COUNTED + 1
    )
    return {
        "results": results,
        "problems": _problems(results),
        "age_s": age_s,
        "invariants": next((one for one in results if one.name == "invariants"), None),
        "outbox": await look.rows(OUTBOX),
        "snapshots": await look.rows(SNAPSHOTS),
        "tables": await look.rows(TABLES),
        "tick": await look.value(TICK),
        "sleepers": await look.rows(SLEEPERS),
        "prunable": prunable[0] if prunable else None,
    }


PAGES = (Page("/doctor", "doctor.html", read, every_s=30),)
