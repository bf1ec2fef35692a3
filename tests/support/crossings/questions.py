"""Questions about a history: does everything end, does it end as the documents say, do the
invariants hold at every moment, and is every pick handed out?"""

from __future__ import annotations

from dataclasses import dataclass

from support.crossings.place import Place
from support.crossings.table import THEN, WHILE, union

OPEN = """
select 'job ' || j.id, format('%s %s of run %s is %s', j.task, j.node_id, j.run_id, j.status)
from qwf.jobs j where j.finished_at is null
union all
select 'run ' || r.id, r.status::text from qwf.runs r where r.finished_at is null
union all
select 'event of run ' || o.run_id, o.kind from qwf.outbox o
"""
BROKEN = """
select 'the invariants are empty: ' || invariant, subject, detail from qwf.check_invariants()
"""
# Jobs that a claim may hand out now, by what the documents say and not by what the claim uses. Of
# a limit it counts one; of one with a rate only if nothing has started for a period.
STARTABLE = """
with waiting as materialized (
  select j.* from qwf.jobs j left join qwf.runs r on r.id = j.run_id
  where j.queue = 'q' and j.status = 'queued' and j.avoid_until is null
    and (j.expires_at is null or j.attempt > 0 or j.expires_at > qwf.now())
    and (j.key is null or not exists (
      select from qwf.jobs o where o.project = j.project and o.task = j.task and o.key = j.key
        and o.id <> j.id and o.status in ('queued', 'running') and o.key_state <> 'w'))
    and (r.id is null or r.finished_at is null)
    and (j.run_next or not exists (
      select from qwf.workers w where w.queue = j.queue and j.task = any (w.held_tasks)))
), room as (
  select l.name, l.keyed, coalesce(l.lowered_at is null and l.starts is null or not exists (
    select from qwf.jobs j where l.starts is not null and j.claimed_at > qwf.now() - l.per)
    and q.keep_completed, false) as open, l.max_running
  from qwf.limits l join qwf.queues q on q.name = 'q'
)
select count(*) filter (where w.limit_by is null) + count(distinct w.limit_by), min(w.id)
from waiting w
where not exists (
    select from qwf.queues q where q.name = 'q' and q.max_running <= (
      select count(*) from qwf.jobs j where j.queue = 'q' and j.status = 'running'))
  and (w.limit_by is null or exists (
    select from room m
    where m.name = case when m.keyed then split_part(w.limit_by, ':', 1) else w.limit_by end
      and not exists (select from qwf.limit_holds h
        where h.name in (m.name, w.limit_by) and h.until > qwf.now())
      and m.open and m.max_running > (
        select count(*) from qwf.jobs j where j.limit_by = w.limit_by and j.status = 'running')))
"""
NOT_STOPPED = """
select 'job ' || j.id, format('%s of run %s, which is %s, was told to go on', j.node_id, r.id,
  r.status)
from qwf.jobs j join qwf.runs r on r.id = j.run_id
where j.status = 'running' and r.finished_at is not null and j.token = any (array[{tokens}]::uuid[])
"""


EARLY = """
select 'job ' || j.id,
  format('%%s of run %%s starts, whose place is %%s', j.node_id, r.id, p.status)
from qwf.jobs j join qwf.runs r on r.id = j.run_id
join qwf.jobs p on p.id = r.parent_id and p.run_id is null
where j.id = any (%s) and p.status <> 'running'
union all
select 'job ' || j.id, format('%%s starts, %%s is held until %%s', j.task, h.name, h.until)
from qwf.jobs j join qwf.limit_holds h on h.name in (j.limit_by, split_part(j.limit_by, ':', 1))
where j.id = any (%s) and h.until > qwf.now()
"""


@dataclass(frozen=True)
class Finding:
    """An answer that is not as it should be."""

    question: str
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.question}: {self.subject}: {self.detail}"


def now(place: Place, *, invariants: bool = True) -> list[Finding]:
    """Invariants that do not hold at this moment."""
    found = [
        Finding(f"{WHILE[number][0]}: {WHILE[number][1]}", subject, detail)
        for number, subject, detail in place.look(union(WHILE))
    ]
    if invariants:
        found += [Finding(*row) for row in place.look(BROKEN)]
    return found


def handed_out(place: Place, asked: int, got: int) -> list[Finding]:
    """True if a claim that got fewer than it asked for has left a job that may start."""
    if got >= asked:
        return []
    ((left, first),) = place.look(STARTABLE)
    if not left:
        return []
    detail = f"{asked} asked for, {got} handed out, {left} may start"
    return [Finding("every pick is handed out", f"job {first}", detail)]


def early(place: Place, jobs: list[int]) -> list[Finding]:
    """True if what was just claimed belongs to a run that waits in line, or to a held limit."""
    if not jobs:
        return []
    return [
        Finding(
            "concepts.md: nothing starts while its run waits in line, or its limit is held", *row
        )
        for row in place.conn.execute(EARLY, [jobs, jobs], prepare=True).fetchall()
    ]


def still_open(place: Place) -> list[Finding]:
    return [Finding("everything ends", *row) for row in place.look(OPEN)]


def in_the_end(place: Place) -> list[Finding]:
    """Jobs and runs that have not ended as the documents say."""
    return [
        Finding(f"{THEN[number][0]}: {THEN[number][1]}", subject, detail)
        for number, subject, detail in place.look(union(THEN))
    ]
