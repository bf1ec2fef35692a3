"""The sentences of the documents about how things end, as data: the document, its sentence, and a
query that finds what does not agree. WHILE holds at every moment, THEN when all has ended."""

from __future__ import annotations

Rule = tuple[str, str, str]  # the document, what it says, the query of a subject and a detail

FAILED_NODE = """
  select r.id::text, j.node_id || ' is ' || j.status
  from qwf.runs r join qwf.jobs j on j.run_id = r.id and j.node_idx is not null
  join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
  where r.status = 'completed' and n.run_if is null
"""

WHILE: list[Rule] = [
    (
        "concepts.md: a limit",
        "at most so many of the jobs that name a limit run at once",
        """
  select j.limit_by, count(*) || ' of ' || l.max_running
  from qwf.jobs j
  join qwf.limits l on l.name = case when l.keyed then split_part(j.limit_by, ':', 1)
    else j.limit_by end
  where j.status = 'running' and l.lowered_at is null
  group by j.limit_by, l.max_running having count(*) > l.max_running
""",
    ),
    (
        "concepts.md: claim",
        "max_running of a queue is a limit",
        """
  select j.queue, count(*) || ' of ' || q.max_running
  from qwf.jobs j join qwf.queues q on q.name = j.queue
  where j.status = 'running'
  group by j.queue, q.max_running having count(*) > q.max_running
""",
    ),
    (
        "concepts.md: a run that waits in line",
        "a limit of one lets the bodies of one run in line run at a time",
        """
  select p.limit_by, string_agg(distinct r.id::text, ', ')
  from qwf.jobs j join qwf.runs r on r.id = j.run_id
  join qwf.jobs p on p.id = r.parent_id and p.run_id is null
  where j.status = 'running' and p.limit_by = 'one' and j.claimed_at >= coalesce(p.claimed_at,
    '-infinity') and r.finished_at is null
  group by p.limit_by having count(distinct r.id) > 1
""",
    ),
    (
        "concepts.md: a node over a list",
        "at most max_parallel elements are queued or running at a time",
        """
  select m.node_id || ' of run ' || m.run_id, count(*) || ' of ' || n.max_parallel
  from qwf.jobs m join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  join qwf.jobs e on e.parent_id = m.id and e.status in ('queued', 'running')
  where n.max_parallel is not null and m.finished_at is null
  group by m.id, m.node_id, m.run_id, n.max_parallel having count(*) > n.max_parallel
""",
    ),
]

THEN: list[Rule] = [
    (
        "concepts.md: states of a run",
        "the first failed node fails the run, unless on_failure is continue",
        FAILED_NODE + " and j.status = 'failed' and n.on_failure <> 'continue'",
    ),
    (
        "concepts.md: states of a run",
        "a cancelled node cancels the run",
        FAILED_NODE + " and j.status = 'cancelled'",
    ),
    (
        "concepts.md: states of a run",
        "a run fails for a reason: a node that failed, or its deadline",
        """
  select r.id::text, coalesce(r.error, 'no error')
  from qwf.runs r
  where r.status = 'failed' and not coalesce(r.deadline_at <= r.finished_at, false)
    and not exists (select from qwf.jobs j where j.run_id = r.id and j.status = 'failed')
""",
    ),
    (
        "concepts.md: states of a run",
        "all nodes of a run that is over have ended",
        """
  select r.id::text, j.node_id || ' is ' || j.status
  from qwf.runs r join qwf.jobs j on j.run_id = r.id
  where r.finished_at is not null and j.finished_at is null
""",
    ),
    (
        "concepts.md: states of a job",
        "the number of tries is limited",
        """
  select j.id::text, format('%s failures of %s, %s losses of %s', j.failures,
    (j.options).max_attempts, j.losses, (j.options).max_losses)
  from qwf.jobs j
  where j.failures > coalesce((j.options).max_attempts, 4)
    or j.losses > coalesce((j.options).max_losses, 3)
""",
    ),
    (
        "concepts.md: states of a job",
        "a body that failed had used up what counts, or will not be tried again",
        """
  select j.id::text, format('%s after %s with %s failures, %s losses', j.status, a.outcome,
    j.failures, j.losses)
  from qwf.jobs j
  join lateral (select a.outcome from qwf.job_attempts a where a.job_id = j.id
    order by a.attempt desc limit 1) a on true
  where j.status = 'failed' and j.queue <> 'qwf.runs' and j.begun is null and not case a.outcome
    when 'error' then j.failures >= coalesce((j.options).max_attempts, 1)
    when 'tempfail' then j.failures >= coalesce((j.options).max_attempts, 4)
    when 'lost' then j.losses >= coalesce((j.options).max_losses, 3)
    else a.outcome = 'fatal' end
""",
    ),
    (
        "recipes.md: a mail that must not go out twice",
        "no try follows by itself once the body may have run, unless it has asked for one",
        """
  select j.id::text, format('attempt %s ended %s, and another one followed', a.attempt, a.outcome)
  from qwf.jobs j join qwf.job_attempts a on a.job_id = j.id and a.attempt < j.attempt
  where j.begun is not null and j.retries = 0 and a.outcome <> 'tempfail'
    and not a.detail ? 'retry_after_s'
    and not exists (select from qwf.input_answers i where i.job_id = j.id)
    and not exists (select from _qwf.event_log e where e.run_id = j.run_id and e.kind = 'retried')
""",
    ),
    (
        "concepts.md: a deadline",
        "a run that passes its deadline does not complete",
        """
  select r.id::text, format('completed at %s, deadline %s', r.finished_at, r.deadline_at)
  from qwf.runs r where r.status = 'completed' and r.finished_at > r.deadline_at
""",
    ),
    (
        "concepts.md: a node over a list",
        "a map completes exactly if min_success of its elements have, or were skipped",
        """
  select m.id::text, format('%s, %s of %s completed, min_success %s', m.status, e.done, m.elements,
    n.min_success)
  from qwf.jobs m join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (
    select count(*) filter (where e.status in ('completed', 'skipped')) as done
    from qwf.jobs e where e.parent_id = m.id) e
  where n.map is not null and n.repeat is null and m.elements > 0
    and m.status in ('completed', 'failed')
    and (m.status = 'completed') <> (e.done >= case
      when n.min_success is null then m.elements
      when n.min_success ~ '%' then ceil(m.elements * rtrim(n.min_success, '%')::numeric / 100)
      else n.min_success::int end)
""",
    ),
    (
        "concepts.md: a node turn after turn",
        "a repeat has at most max turns",
        """
  select m.id::text, m.elements || ' turns'
  from qwf.jobs m join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  where m.elements > (n.repeat ->> 'max')::int
""",
    ),
    (
        "concepts.md: a node that cleans up",
        "a clean-up node runs once everything that it depends on has ended",
        """
  select j.id::text, format('%s of run %s is %s', j.node_id, r.id, j.status)
  from qwf.jobs j join qwf.runs r on r.id = j.run_id
  where j.run_if = 'all_done' and j.status not in ('completed', 'failed', 'cancelled')
    and r.started_at is not null
""",
    ),
    (
        "when-things-go-wrong.md: take back",
        "what has completed is taken back once if the run ends badly, and not if it completes",
        """
  with counted as (
    select c.run_id, c.status, c.node_id, c.takes_back,
      (select count(*) from qwf.job_attempts a
        where a.job_id = c.takes_back_job and a.outcome = 'completed') as done,
      (select count(*) from qwf.job_attempts a
        where a.job_id = c.job_id and a.outcome = 'completed') as undone
    from qwf.compensations c join qwf.jobs t on t.id = c.takes_back_job
    where t.elements is null)
  select 'run ' || c.run_id, format('%s completed %s times, %s %s times, the run is %s',
    c.takes_back, c.done, c.node_id, c.undone, r.status)
  from counted c join qwf.runs r on r.id = c.run_id
  where not exists (select from _qwf.event_log e
      where e.run_id = r.id and e.kind = 'retried' and e.detail ->> 'completed' = 'keep')
    and c.done > 0 and c.undone <> case when r.status = 'completed' then c.done - 1 else c.done end
    and c.status not in ('failed', 'cancelled')
""",
    ),
    (
        "events.md: run_ended",
        "a run ends once, and once more after each retry; the last event says how",
        """
  select r.id::text, format('%s, %s ends, %s retries, the last end says %s', r.status, e.ends,
    e.retries, e.last)
  from qwf.runs r cross join lateral (
    select count(*) filter (where l.kind = 'run_ended') as ends,
      count(*) filter (where l.kind = 'retried') as retries,
      (array_agg(l.detail ->> 'status' order by l.id desc)
        filter (where l.kind = 'run_ended'))[1] as last
    from _qwf.event_log l where l.run_id = r.id and l.job_id is null) e
  where r.depth = 0 and (e.ends not between 1 and 1 + e.retries or e.last <> r.status::text)
""",
    ),
    (
        "concepts.md: rates",
        "no more jobs start within any period than the rate allows",
        """
  with start as (
    select row_number() over () as n, j.limit_by, l.starts, l.per, a.started_at
    from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
    join qwf.limits l on l.name = split_part(j.limit_by, ':', 1) and l.starts is not null
    where not exists (select from _qwf.event_log e where e.kind = 'changed')
  )
  select s.limit_by, format('%s starts within %s from %s', count(*), s.per, s.started_at)
  from start s join start o on o.limit_by = s.limit_by
    and o.started_at >= s.started_at and o.started_at < s.started_at + s.per
  group by s.n, s.limit_by, s.starts, s.per, s.started_at having count(*) > s.starts
""",
    ),
    (
        "schedules.md: overlap",
        "without overlap, one work of a schedule is not over when the next one comes",
        """
  select j.schedule, format('jobs %s and %s', j.id, o.id)
  from qwf.jobs j join qwf.jobs o on o.schedule = j.schedule and o.id > j.id
  where j.retries = 0 and o.created_at < j.finished_at
""",
    ),
]


def union(rules: list[Rule]) -> str:
    """One statement that asks all of them."""
    return " union all ".join(
        f"select {number}, found.* from ({query}) found (subject, detail)"
        for number, (_, _, query) in enumerate(rules)
    )
