"""Why a job waits: in four words for a list, and as facts from which a page makes buttons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from qwf_agent.web.reads.database import Look

LONGEST = 48  # letters of a reason in a list
WAITING = ("queued", "blocked")  # the states of which only qwf.why_not knows the reason

# One call for each row that is seen. A job that is deleted meanwhile is just not there.
WHY = """
select j.id, array(select w.line from qwf.why_not(j.id) w (line) limit 20) as lines
from qwf.jobs j
where j.id = any (%(jobs)s::bigint[]) and j.status in ('queued', 'blocked')
"""
HELD = """
select q.paused, j.attempt = 0 and j.expires_at <= qwf.now() as expired,
  q.max_running as queue_places, queue_slots.held as queue_held,
  j.limit_by, l.max_running as limit_places, limit_slots.held as limit_held
from qwf.jobs j
join qwf.queues q on q.name = j.queue
left join qwf.limits l on l.name = j.limit_by
cross join lateral (
  select count(*) as held from qwf.limit_slots s
  where s.limit_name = 'queue:' || q.name and s.job_id is not null) queue_slots
cross join lateral (
  select count(*) as held from qwf.limit_slots s
  where s.limit_name = l.name and s.job_id is not null) limit_slots
where j.id = %(job)s
"""
HOLDERS = """
select s.limit_name, s.slot, s.job_id, d.task, d.node_id, d.claimed_at,
  coalesce(w.host, split_part(d.claimed_by, ':', 1)) as host
from qwf.jobs j
join qwf.limit_slots s on s.limit_name in (j.limit_by, 'queue:' || j.queue)
join qwf.jobs d on d.id = s.job_id
left join qwf.workers w on w.id = d.claimed_by
where j.id = %(job)s
order by d.claimed_at
limit 10
"""
# The filter of claim, one column for each requirement, the nearest miss first. A job that was lost
# on a host avoids it only while a worker of another host could take it: see nearest().
WORKERS = """
select w.id as worker, w.host, w.slots, held.jobs as held, w.current_model, w.vram_mb, w.labels,
  w.project, f.*, o.host is null as on, o.stop_policy, o.requested_by, o.reason, o.until,
  not coalesce(j.avoid_host = w.host and j.avoid_until > qwf.now(), false) as trusted,
  count(*) over () as of
from qwf.jobs j
join qwf.workers w on w.queue = j.queue and w.stopped_at is null
cross join qwf.settings s
left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
cross join lateral (
  select
    coalesce(w.project = j.project, true) as project_fits,
    coalesce(j.task = any (w.tasks), true) as task_fits,
    j.required_model is null or coalesce(j.required_model = any (w.models), true) as model_fits,
    coalesce(j.vram_mb <= w.vram_mb, true) as vram_fits,
    j.requires = '{}' or coalesce(w.labels, '{}') @> j.requires as labels_fit
) f
cross join lateral (
  select count(*) as jobs from qwf.jobs r where r.claimed_by = w.id and r.status = 'running'
) held
where j.id = %(job)s and w.last_seen > qwf.now() - s.worker_stale
order by f.project_fits::int + f.task_fits::int + f.model_fits::int + f.vram_fits::int
  + f.labels_fit::int + (o.host is null)::int desc, held.jobs < w.slots desc, w.host, w.id
limit 20
"""
# The model servers that could serve the job, but do not work.
TROUBLED = """
select s.host, s.queue, s.server, s.worker, s.state, s.external,
  left(split_part(btrim(s.error, E' \\n'), E'\\n', 1), 300) as error
from qwf.servers s
where s.queue = %(queue)s and %(model)s = any (s.models) and s.state = any (%(states)s)
order by s.host, s.server
limit 5
"""
NEEDS = """
select d.id, d.node_id, d.status, d.on_failure
from qwf.graph_edges e
join qwf.jobs d on d.run_id = %(run)s and d.node_idx = e.from_idx
where e.graph_id = %(graph)s and e.to_idx = %(node)s
  and d.status not in ('completed', 'skipped')
order by d.id
limit 50
"""
REQUIREMENTS = ("project_fits", "task_fits", "model_fits", "vram_fits", "labels_fit")

# The lines of qwf.why_not, and what a list says instead. A line of no kind is cut.
_UNFIT = tuple(
    (re.compile(rf"worker .* cannot take it: .*{found}", re.DOTALL), said)
    for found, said in (
        (r"is switched off \(", "its worker is off"),
        (r"it has no task ", "no worker has the task"),
        (r"it runs no commands", "no worker runs commands"),
        (r"it does not know model ", "no worker has the model"),
        (r"MiB of VRAM", "needs more VRAM"),
        (r"its labels ", "no worker has the labels"),
        (r"it works for project ", "no worker for its project"),
        (r"the job was lost on ", "left to other hosts"),
    )
)
_SHORT = (
    (re.compile(r"queue .* is paused: "), "queue is paused"),
    (re.compile(r"it expired at "), "expired before it started"),
    (re.compile(r"queue .* is full, "), "queue is full"),
    (re.compile(r"limit .* does not exist any more: "), "its limit is gone"),
    (re.compile(r"limit (?P<name>.*) is full, ", re.DOTALL), "limit {name} is full"),
    (re.compile(r"no live worker serves queue "), "no worker serves it"),
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
    rows = await look.part("why each job waits (the page of a job says it)", WHY, jobs=list(jobs))
    return {row["id"]: short(row["lines"]) for row in rows}


def short(lines: Sequence[str]) -> str:
    """The most telling of the lines of why_not, in four words."""
    for pattern, said in _SHORT:
        for line in lines:
            found = pattern.match(line)
            if found:
                return _cut(said.format_map(found.groupdict()))
    return _cut(lines[0]) if lines else ""


def nearest(workers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The workers of WORKERS, each with `takes`: whether it could take the job now.

    A host that lost the job is avoided only while a worker of another host could take it.
    """
    able = [w for w in workers if w["on"] and all(w[name] for name in REQUIREMENTS)]
    hosts = {w["host"] for w in able}
    judged = []
    for worker in workers:
        avoided = not worker["trusted"] and bool(hosts - {worker["host"]})
        judged.append(worker | {"avoided": avoided, "takes": worker in able and not avoided})
    return judged


def helpers(workers: Sequence[dict[str, Any]], model: str | None) -> dict[str, Any]:
    """One worker of each of at most three hosts that would take the job if somebody
    switched it on (`switch_on`), or let it load the model first (`load`)."""
    found: dict[str, dict[str, dict[str, Any]]] = {"switch_on": {}, "load": {}}
    for worker in workers:
        if not worker["on"] and all(worker[name] for name in REQUIREMENTS):
            found["switch_on"].setdefault(worker["host"], worker)
        elif worker["takes"] and model is not None and worker["current_model"] != model:
            found["load"].setdefault(worker["host"], worker)
    return {name: list(hosts.values())[:3] for name, hosts in found.items()}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
