"""Agents keep the rate of a limit, and go on when it allows the next start."""

from __future__ import annotations

from support.harness import Database, StartAgent

COUNT, STARTS = 12, 2


def test_agents_start_no_more_jobs_than_a_rate_allows(base: Database, start: StartAgent) -> None:
    base.conn.execute("select qwf.create_limit('api', starts => %s, per => '0.4 s')", (STARTS,))
    for host in ("box-a", "box-b"):
        start("--app", "bodies", "--host", host)
    jobs = [base.enqueue("whoami", limit_by="api") for _ in range(COUNT)]
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    found = base.conn.execute("select claimed_at from qwf.jobs order by claimed_at").fetchall()
    times = [row["claimed_at"] for row in found]
    gaps = [(b - a).total_seconds() for a, b in zip(times, times[STARTS:], strict=False)]
    assert min(gaps) >= 0.4
