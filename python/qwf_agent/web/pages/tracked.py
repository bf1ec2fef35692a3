"""The numbers that bodies track, on the pages of a job and of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qwf_agent.web.drawings import tracked
from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look

MOST_ATTEMPTS, MOST_JOBS = 3, 6  # whose lines are in one chart

OF_JOB = """
select s.name, s.attempt, s.points, s.reported, s.last_step, s.last_value, s.at, s.left_out
from qwf.series_overview s
where s.job_id = %(job)s and s.attempt > %(attempt)s::int - %(most)s::int
order by s.name, s.attempt desc
"""
ANY_OF_RUN = """
select exists (select from qwf.series_overview s where s.run_id = %(run)s::bigint) as found
"""
# Of each job its newest attempt; the jobs that reported last.
OF_RUN = """
select s.name, s.job_id, s.node_id, s.attempt, s.points, s.reported, s.last_step, s.last_value,
  s.at, s.left_out, t.of as jobs
from (
  select n.job_id, n.attempt, count(*) over () as of, n.at
  from (
    select distinct on (a.job_id) a.job_id, a.attempt, a.at
    from qwf.series_overview a where a.run_id = %(run)s::bigint
    order by a.job_id, a.attempt desc) n
  order by n.at desc, n.job_id
  limit %(most)s::int) t
join qwf.series_overview s on s.job_id = t.job_id and s.attempt = t.attempt
order by s.name, s.node_idx, s.job_id
"""


NOTHING: dict[str, Any] = {"charts": [], "left_out": 0}


async def of_job(look: Look, job: Mapping[str, Any]) -> dict[str, Any]:
    """The charts of the newest attempts of a job."""
    given = {"job": job["id"], "attempt": job["attempt"], "most": MOST_ATTEMPTS}
    return _charts(await look.rows(OF_JOB, **given))


async def has_any(look: Look, run: Mapping[str, Any]) -> bool:
    """Return True if a job of the run has tracked something."""
    row = await look.row(ANY_OF_RUN, run=run["id"])
    return bool(row and row["found"])


async def of_run(look: Look, run: Mapping[str, Any]) -> dict[str, Any]:
    """The charts of a run: for each name a line for each job."""
    rows = await look.rows(OF_RUN, run=run["id"], most=MOST_JOBS)
    return _charts(rows) | {"more_jobs": max(rows[0]["jobs"] - MOST_JOBS, 0) if rows else 0}


def _charts(rows: Rows) -> dict[str, Any]:
    return {
        "charts": tracked.draw(rows),
        "left_out": max((row["left_out"] for row in rows), default=0),
    }
