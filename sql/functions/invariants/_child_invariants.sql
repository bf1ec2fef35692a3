-- Deploy qwf:functions/invariants/_child_invariants
-- Purpose: Returns violated invariants of runs that are steps of other runs or wait in line, from
--   one snapshot.
-- Guarantees: A run that is over is reported in the transaction that ends it, so its job and it
--   disagree only while an event waits that says so.
-- Called by: check_invariants.

begin;

create function _qwf.child_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'a job that the engine runs has one live run', 'job ' || j.id,
    format('%s live', count(r.id))
  from qwf.jobs j
  left join qwf.runs r
    on r.parent_id = j.id and r.parent_attempt = j.attempt and r.finished_at is null
  where j.queue = 'qwf.runs' and j.status = 'running'
    and not exists (
      select from qwf.runs c join qwf.outbox o on o.run_id = c.id and o.poisoned_at is null
      where c.parent_id = j.id and c.finished_at is not null)
  group by j.id
  having count(r.id) <> 1
  union all
  select 'a live run of a job is its present attempt, or waits in line', 'run ' || r.id,
    format('serves attempt %s of job %s, which is %s in attempt %s',
      r.parent_attempt, r.parent_id, j.status, j.attempt)
  from qwf.runs r left join qwf.jobs j on j.id = r.parent_id
  where r.parent_id is not null and r.finished_at is null
    and not coalesce(j.status = 'running' and j.attempt = r.parent_attempt
      or j.run_id is null and j.status in ('queued', 'scheduled') and r.status = 'queued', false)
  union all
  select 'runs are nested at most 8 deep', 'run ' || r.id, r.depth::text
  from qwf.runs r where r.depth > 8
  union all
  select 'a run is one level below the run above it', 'run ' || r.id,
    format('%s below %s', r.depth, a.depth)
  from qwf.runs r join qwf.jobs j on j.id = r.parent_id join qwf.runs a on a.id = j.run_id
  where r.depth <> a.depth + 1
$$;

commit;
