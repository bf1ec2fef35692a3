-- Deploy qwf:functions/invariants/_job_invariants
-- Purpose: Returns violated invariants of jobs, their attempts and dependencies, from one snapshot.
-- Called by: check_invariants.

begin;

create function _qwf.job_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with attempt as (
    select
      a.job_id,
      count(*) as written,
      count(*) filter (where a.outcome = 'completed') as completed,
      (array_agg(a.outcome order by a.attempt desc))[1] as last
    from qwf.job_attempts a
    group by a.job_id
  ), open as (
    select d.id from qwf.jobs d
    where d.run_id is not null
      and (d.finished_at is null or (d.elements is not null and d.remaining_deps > 0))
    union
    select o.job_id from qwf.outbox o
    where o.kind in ('completed', 'failed', 'cancelled') and o.poisoned_at is null
  ), blocked as (
    select j.* from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.parent_id is null
  ), unsatisfied (job_id, count) as (  -- dependencies, or elements once a map is expanded
    select j.id, count(o.id)
    from blocked j
    join qwf.graph_edges e on e.graph_id = j.graph_id and e.to_idx = j.node_idx
    join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    left join open o on o.id = d.id
    where j.elements is null
    group by j.id
    union all
    select j.id, count(o.id)
    from blocked j join qwf.jobs e on e.parent_id = j.id left join open o on o.id = e.id
    where j.elements is not null
    group by j.id
  ), violation as (
    select 'every ended claim is an attempt' as invariant, j.id,
      format('%s claims, %s attempts, %s', j.attempt, coalesce(a.written, 0), j.status) as detail
    from qwf.jobs j left join attempt a on a.job_id = j.id
    where coalesce(a.written, 0) <> j.attempt - (j.status = 'running')::int
    union all
    select 'an outcome is written once', j.id,
      format('%s completed attempts, the last %s, %s', a.completed, a.last, j.status)
    from qwf.jobs j left join attempt a on a.job_id = j.id
    where a.completed > 1 + j.retries
      or (j.status = 'completed' and j.input_spec is null and j.elements is null
        and a.last is distinct from 'completed')
      or (j.status in ('failed', 'cancelled') and j.retries = 0 and a.completed > 0)
    union all
    select 'remaining_deps counts unsatisfied dependencies', j.id,
      format('%s, counted %s', j.remaining_deps, d.count)
    from qwf.jobs j join unsatisfied d on d.job_id = j.id
    where j.remaining_deps <> d.count
    union all
    select 'a node without open dependencies is opened', j.id, 'blocked with no dependency left'
    from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.remaining_deps = 0 and j.parent_id is null
      and not exists (select from qwf.outbox o where o.job_id = j.id and o.kind = 'ready'
          and o.poisoned_at is null)
    union all
    select 'an outcome is one a worker can report', a.job_id, a.outcome
    from qwf.job_attempts a
    where a.outcome not in (
      'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
    union all
    select 'the state of a key agrees with the job', j.id,
      format('%s, key_state %s, key %s', j.status, j.key_state, j.key)
    from qwf.jobs j
    where (j.key is null or j.once) <> (j.key_state = 'u') or j.key_state not in ('u', 'w', 's')
      or j.key_state = 'w' and j.status = 'running'
    union all
    select 'two jobs of a key never run at once', max(j.id),
      format('%s jobs of task %s run with key %s', count(*), j.task, j.key)
    from qwf.jobs j
    where j.key is not null and j.status = 'running'
    group by j.project, j.task, j.key
    having count(*) > 1
    union all
    select 'a node has its run', j.id, format('run %s is gone', j.run_id)
    from qwf.jobs j
    where j.run_id is not null and not exists (select from qwf.runs r where r.id = j.run_id)
  )
  select v.invariant, 'job ' || v.id, v.detail from violation v
$$;

commit;
