-- Deploy qwf:functions/claim/_make_running
-- Purpose: Makes picked jobs running and hands them out; those whose references cannot be resolved
--   are refused.
-- Guarantees: Rows come from the update itself, and are updated where they were locked. Standalone
--   jobs pay for nothing but that update.
-- Locks: expects the jobs locked by the caller; runs that have not started, those that are free.
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
    v_picked := _qwf.fail_unresolved(_qwf.resolve_inputs(p_picked), p_worker, p_now);
  end if;
  return query
  with stamped as (
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
    s.id, s.token, s.run_id, s.node_id, s.task, s.queue, coalesce(s.resolved_inputs, s.inputs),
    s.attempt, coalesce(s.timeout, p_timeout), s.stall_timeout,
    s.required_model, r.out_dir, s.lease_expires_at, s.project, s.labels, s.light
  from stamped s
  left join lateral (  -- offset: by the index, whatever the statistics say
    select r.out_dir from qwf.runs r where r.id = s.run_id offset 0) r on true
  order by s.ord;
  if v_runs <> '{}' then
    perform _qwf.start_runs(v_runs, p_now);
  end if;
end $$;

commit;
