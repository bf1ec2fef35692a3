-- Deploy qwf:functions/finish/finish
-- Purpose: Takes a worker's report about one attempt that ended.
-- Guarantees: As finish_many with one report.
-- Locks: as finish_many.
-- Notifies: as finish_many.

begin;

create function qwf.finish(
  job_id bigint, token uuid, outcome text, output jsonb default '{}', error text default null,
  detail jsonb default '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (
    select v.verdict
    from qwf.finish_many(jsonb_build_array(jsonb_build_object(
      'job_id', finish.job_id, 'token', finish.token, 'outcome', finish.outcome,
      'output', finish.output, 'error', finish.error, 'detail', finish.detail))) v);
end $$;
comment on function qwf.finish is
  'Reports the end of an attempt: completed, error, fatal, tempfail, lost, released or cancelled. '
  'Returns ok, or lost when the token is not the current one; QW005 for an unknown outcome.';
call _qwf.allow('qwf.finish', 'qwf_worker');

commit;
