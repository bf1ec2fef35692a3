-- Deploy qwf:functions/erase/_erase_jobs
-- Purpose: Overwrites what is personal in the rows of jobs and runs, and remembers which parts.
-- Guarantees: A key that is erased is free again, also one that was taken once and for all.
-- Locks: expects the jobs and their runs locked by the caller, and ended.
-- Called by: erase.

begin;

create function _qwf.erase_jobs(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys boolean := 'key' = any (p_parts);
  v_args boolean := 'args' = any (p_parts);
  v_labels boolean := 'labels' = any (p_parts);
  v_output boolean := 'output' = any (p_parts);
  v_errors boolean := 'errors' = any (p_parts);
  v_who boolean := 'acting_for' = any (p_parts);
begin
  update qwf.jobs j set
    inputs = _qwf.erased(v_args, j.inputs, p_mark),
    resolved_inputs = _qwf.erased(v_args, j.resolved_inputs, p_mark),
    output = _qwf.erased(v_output, j.output, p_mark),
    input_spec = _qwf.erased('questions' = any (p_parts), j.input_spec, p_mark),
    labels = _qwf.erased(v_labels, j.labels, p_mark),
    last_error = case when v_errors and j.last_error is not null then p_mark::text
      else j.last_error end,
    key = case when v_keys then null else j.key end,
    key_state = case when v_keys then 'u' else j.key_state end,
    once = j.once and not v_keys,
    limit_by = case when v_keys then null else j.limit_by end,
    limit_place = case when v_keys then null else j.limit_place end,
    acting_for = case when v_who then null else j.acting_for end,
    erased_parts = array(
      select distinct u from unnest(j.erased_parts || p_parts) u order by u)
  where j.id = any (p_jobs);
  update qwf.job_progress p set message = null
  where 'logs' = any (p_parts) and p.job_id = any (p_jobs);
  update qwf.runs r set
    context = _qwf.erased('context' = any (p_parts), r.context, p_mark),
    labels = _qwf.erased(v_labels, r.labels, p_mark),
    error = case when v_errors and r.error is not null then p_mark::text else r.error end,
    out_dir = case when v_output then null else r.out_dir end,
    key = case when v_keys then null else r.key end,
    once = r.once and not v_keys,
    acting_for = case when v_who then null else r.acting_for end
  where r.id = any (_qwf.runs_of_jobs(p_jobs));
  delete from qwf.failure_marks m  -- what people have noted about such errors
  where v_errors and m.task in (select j.task from qwf.jobs j where j.id = any (p_jobs));
end $$;

commit;
