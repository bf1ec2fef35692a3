-- Deploy qwf:functions/claim/_make_running
-- Purpose: Makes picked jobs running and returns them, and fails those whose references cannot be
--   resolved.
-- Guarantees: Returns rows from the update itself, and updates them where they were locked (ctid).
--   A standalone job costs only this update. Runs that have not started are found by started_at: a
--   condition on status would tempt the planner to use a partial index. A run that somebody else
--   has locked is started by its next claim.
-- Locks: expects the jobs locked by the caller; runs that have not started, by id, if nobody else
--   has locked them.
-- Called by: claim.

begin;

create function _qwf.make_running(
  p_picked _qwf.picked[], p_worker text, p_now timestamptz, p_until timestamptz, p_timeout interval)
returns setof qwf.claimed_job
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_picked _qwf.picked[] := p_picked;
  v_runs bigint[] := array(
    select distinct p.run_id from unnest(p_picked) p where p.run_id is not null);
begin
  if v_runs <> '{}' then
    v_picked := _qwf.resolve_inputs(p_picked);
    v_runs := array(select distinct p.run_id from unnest(v_picked) p where p.run_id is not null);
    v_picked := _qwf.fail_unresolved(v_picked, p_worker, p_now);
  end if;
  return query
  with claimed as (
    update qwf.jobs j set
      status = 'running', token = _qwf.new_token(j.id), lease_expires_at = p_until,
      resolved_inputs = p.inputs, attempt = j.attempt + 1, claimed_by = p_worker,
      claimed_at = p_now, started_at = coalesce(j.started_at, p_now),
      run_next = false, progress = null, progress_message = null, beat_at = null
    from unnest(v_picked) with ordinality p ("row", id, run_id, inputs, error, ord)
    where j.ctid = p.row
    returning j.id, j.token, j.run_id, j.node_id, j.task, j.queue, j.inputs, j.resolved_inputs,
      j.attempt, j.timeout, j.stall_timeout, j.required_model, j.lease_expires_at, j.project,
      j.labels, j.light, p.ord
  )
  select
    c.id, c.token, c.run_id, c.node_id, c.task, c.queue, coalesce(c.resolved_inputs, c.inputs),
    c.attempt, coalesce(c.timeout, p_timeout), c.stall_timeout,
    c.required_model, r.out_dir, c.lease_expires_at, c.project, c.labels, c.light
  from claimed c
  left join lateral (  -- offset: uses the index, whatever the statistics say
    select r.out_dir from qwf.runs r where r.id = c.run_id offset 0) r on true
  order by c.ord;
  if v_runs <> '{}' then
    v_runs := array(
      select r.id from qwf.runs r
      where r.id = any (v_runs) and r.started_at is null and r.finished_at is null
      order by r.id
      for no key update skip locked);
    if v_runs <> '{}' then
      update qwf.runs r set status = 'running', started_at = p_now where r.id = any (v_runs);
    end if;
  end if;
end $$;

commit;
