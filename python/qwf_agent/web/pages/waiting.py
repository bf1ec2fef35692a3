"""Why a job waits: in four words for a list, and as facts from which a page makes buttons."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from qwf_agent.web.reads.database import Look

LONGEST = 48  # letters of a reason in a list
AT_ONCE = 25  # jobs of one statement: a list has two, which run beside each other
# States of which qwf.why_not knows the reason.
WAITING = ("queued", "blocked", "scheduled", "awaiting_input")

# One call for each row that is seen. A job that is deleted meanwhile is just not there. The time
# that a scheduled one waits for is said elsewhere.
_WHY = """
select j.id, array(select w.line from qwf.why_not(j.id) w (line) limit 20) as lines
from qwf.job_details j
where {} and (j.status in ('queued', 'blocked')
  or j.status = 'scheduled' and j.start_by > j.run_at and j.attempt = 0
  or j.status = 'awaiting_input' and j.input_spec ? 'signal')
"""
WHY = _WHY.format("j.id = any (%(jobs)s::bigint[])")
WHY_ONE = _WHY.format("j.id = %(job)s::bigint")
HELD = """
select d.queue_paused as paused, d.attempt = 0 and d.expires_at <= qwf.now() as expired,
  case when d.limit_place is null then d.limit_by end as limit_by,
  q.places as queue_places, q.held as queue_held, l.places as limit_places,
  l.held as limit_held
from qwf.job_details d
cross join lateral (
  select max(s.max_running) as places, count(s.job_id) as held
  from qwf.slot_overview s where s.limit_name = 'queue:' || d.queue) q
cross join lateral (
  select max(s.max_running) as places, count(s.job_id) as held
  from qwf.slot_overview s where s.limit_name = d.limit_by) l
where d.id = %(job)s
"""
HOLDERS = """
select s.limit_name, s.slot, s.job_id, s.task, s.node_id, s.claimed_at, s.host
from qwf.job_details d
join qwf.slot_overview s on s.limit_name in (d.limit_by, 'queue:' || d.queue)
where d.id = %(job)s and s.job_id is not null
order by s.claimed_at
limit 10
"""
WORKERS = """
select *, count(*) over () as of
from qwf.job_workers w
where w.job_id = %(job)s
order by w.misses + (not w.switched_on)::int, w.running >= w.slots, w.host, w.worker
limit 20
"""
# The model servers that could serve the job, but do not work.
TROUBLED = """
select s.host, s.queue, s.server, s.worker, s.state, s.external,
  left(split_part(btrim(s.error, E' \\n'), E'\\n', 1), 300) as error
from qwf.server_overview s
where s.queue = %(queue)s and %(model)s = any (s.models) and s.state = any (%(states)s)
order by s.host, s.server
limit 5
"""
NEEDS = """
select d.needs_job_id as id, d.node_id, d.status, d.on_failure
from qwf.dependency_overview d
where d.job_id = %(job)s and d.waits and d.status not in ('completed', 'skipped')
order by d.needs_job_id
limit 50
"""

# The lines of qwf.why_not, and what a list says instead. A line of no kind is cut.
_UNFIT = tuple(
    (re.compile(rf"worker .* cannot take it: .*{found}", re.DOTALL), said)
    for found, said in (
        (r"is switched off \(", "its worker is off"),
        (r"it has no task ", "no worker has the task"),
        (r"it runs no commands", "no worker runs commands"),
        (r"it does not know model ", "no worker has the model"),
        (r"its server .* could serve ", "its model server does not work"),
        (r"MiB of VRAM", "needs more VRAM"),
        (r"its labels ", "no worker has the labels"),
        (r"it works for ", "no worker for its project"),
        (r"an attempt on .* did not complete, so ", "left to other hosts"),
    )
)
_SHORT = (
    (re.compile(r"queue .* is paused: "), "queue is paused"),
    (re.compile(r"it waits for .*: it is debounced, "), "debounced"),
    (re.compile(r"it expired at "), "expired before it started"),
    (re.compile(r"queue .* is full, "), "queue is full"),
    (re.compile(r"limit .* does not exist any more: "), "its limit is gone"),
    (re.compile(r"limit (?P<name>.*) is full, ", re.DOTALL), "limit {name} is full"),
    (re.compile(r"no live worker serves queue "), "no worker serves it"),
    (re.compile(r"no worker of (project .* serves|queue .* takes) "), "no worker for its project"),
    *_UNFIT,
    (re.compile(r"worker .* holds .* and runs at most "), "workers are busy"),
    (re.compile(r"worker .* has model .* loaded and takes its jobs first"), "another model first"),
    (re.compile(r"1 job is ahead of it"), "1 job ahead"),
    (re.compile(r"(?P<name>1000 or more|\d+) jobs? (is|are) ahead of it"), "{name} jobs ahead"),
    (re.compile(r"no job is ahead of it"), "next in line"),
    (re.compile(r"its run is (about to end|over)"), "its run is ending"),
    (re.compile(r"it depends on (?P<name>.*), which is ", re.DOTALL), "after {name}"),
    (re.compile(r"it is a map: 1 of its "), "1 element to go"),
    (re.compile(r"it is a map: (?P<name>\d+) of its "), "{name} elements to go"),
    (re.compile(r"map .* runs at most .* elements at once"), "map runs enough"),
    (re.compile(r"map .* is over, "), "its map is over"),
    (re.compile(r"\d+ events of its run wait "), "events to be applied"),
    (re.compile(r"\d+ events of its run were given up"), "events were given up"),
)


async def reasons(look: Look, jobs: Sequence[int]) -> dict[int, str]:
    """Why each of these jobs waits, in four words; nothing for jobs that do not.

    Nothing at all if the database needs too long: a list is worth more than its reasons.
    """
    if not jobs:
        return {}
    name = "why each job waits (the page of a job says it)"
    some = [look.part(name, WHY, jobs=list(jobs[at : at + AT_ONCE]))
            for at in range(0, len(jobs), AT_ONCE)]  # fmt: skip
    return {row["id"]: short(row["lines"]) for rows in await asyncio.gather(*some) for row in rows}


def short(lines: Sequence[str]) -> str:
    """The most telling of the lines of why_not, in four words."""
    for pattern, said in _SHORT:
        for line in lines:
            found = pattern.match(line)
            if found:
                return _cut(said.format_map(found.groupdict()))
    return _cut(lines[0]) if lines else ""


def helpers(workers: Sequence[dict[str, Any]], model: str | None) -> dict[str, Any]:
    """One worker of each of at most three hosts that would take the job if somebody
    switched it on (`switch_on`), or let it load the model first (`load`)."""
    found: dict[str, dict[str, dict[str, Any]]] = {"switch_on": {}, "load": {}}
    for worker in workers:
        if worker["fits"] and not worker["switched_on"]:
            found["switch_on"].setdefault(worker["host"], worker)
        elif worker["takes"] and model is not None and worker["current_model"] != model:
            found["load"].setdefault(worker["host"], worker)
    return {name: list(hosts.values())[:3] for name, hosts in found.items()}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
