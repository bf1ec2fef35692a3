-- Deploy qwf:functions/_job_invariants
-- requires: schema/runs
-- requires: schema/jobs
-- requires: schema/outbox
-- requires: schema/graphs
-- requires: schema/history
-- requires: functions/_token_job
-- requires: functions/_unsatisfied
-- Purpose: The invariants of jobs, as one query over one snapshot.
-- Guarantees: What constraints on one row already hold is not looked at again.
-- Called by: check_invariants.

begin;

create function qwf._job_invariants() returns table (invariant text, subject text, detail text)
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
    from qwf.jobs j join qwf._unsatisfied() d on d.job_id = j.id
    where j.remaining_deps <> d.count
    union all
    select 'a node that depends on nothing open is opened', j.id, 'blocked with no dependency left'
    from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.remaining_deps = 0 and j.parent_id is null
      and not exists (select from qwf.outbox o where o.job_id = j.id and o.kind = 'ready'
          and o.poisoned_at is null)
    union all
    select 'budgets hold', j.id, format('%s failures of %s, %s losses of %s',
      j.failures, j.max_attempts, j.losses, j.max_losses)
    from qwf.jobs j
    where j.failures > j.max_attempts or j.losses > j.max_losses
    union all
    select 'a token is made for its job', j.id, j.token::text
    from qwf.jobs j where qwf._token_job(j.token) <> j.id
    union all
    select 'an outcome is one that a worker can report', a.job_id, a.outcome
    from qwf.job_attempts a
    where a.outcome not in (
      'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
    union all
    select 'the columns of a job agree with its state', j.id, j.status::text
    from qwf.jobs j
    where (j.status = 'running') <> (j.token is not null)
      or (j.token is null) <> (j.lease_expires_at is null)
      or (j.status in ('completed', 'failed', 'cancelled', 'skipped'))
        <> (j.finished_at is not null)
      or case j.status
        when 'running' then num_nulls(j.claimed_by, j.started_at) > 0
        when 'queued' then num_nulls(j.position, j.queued_at, j.queue) > 0
        when 'scheduled' then j.run_at is null
        when 'blocked' then j.run_id is null
        when 'awaiting_input' then j.input_spec is null
        else false end
    union all
    select 'the terms of a job make sense', j.id, format(
      'max_attempts %s, max_losses %s, timeout %s, stall_timeout %s, vram_mb %s, on_failure %s, '
      'run_if %s', j.max_attempts, j.max_losses, j.timeout, j.stall_timeout, j.vram_mb,
      j.on_failure, j.run_if)
    from qwf.jobs j
    where least(j.max_attempts, j.max_losses) < 1 or least(j.timeout, j.stall_timeout) <= '0 s'
      or j.vram_mb < 0 or j.on_failure not in ('fail', 'continue', 'ask')
      or j.run_if <> 'all_done'
    union all
    select 'a job is standalone, a node, or an element', j.id,
      format('run %s, graph %s, node %s, parent %s, element %s',
        j.run_id, j.graph_id, j.node_idx, j.parent_id, j.element)
    from qwf.jobs j
    where num_nulls(j.run_id, j.graph_id) = 1 or num_nulls(j.parent_id, j.element) = 1
      or (j.run_id is null and num_nonnulls(j.node_idx, j.parent_id) > 0)
      or (j.run_id is not null and num_nonnulls(j.node_idx, j.parent_id) <> 1)
    union all
    select 'a node has its run', j.id, format('run %s is gone', j.run_id)
    from qwf.jobs j
    where j.run_id is not null and not exists (select from qwf.runs r where r.id = j.run_id)
  )
  select v.invariant, 'job ' || v.id, v.detail from violation v
$$;
comment on function qwf._job_invariants() is
  'Violated invariants of jobs; no row on a healthy database.';
revoke all on function qwf._job_invariants() from public;

commit;
