-- Deploy qwf:functions/events/_end_kind
-- Purpose: Returns the kind of the event of a run that ends: run_ended, or retried for a run in
--   line that failed and has tries left.
-- Guarantees: As _run_outcome and _transition will decide for the job of the run in the same
--   transaction.
-- Called by: _end_run, _tell_run_ends.

begin;

create function _qwf.end_kind(p_status qwf.run_status, p_parent_id bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_status = 'failed' and exists (
    select from qwf.jobs j
    cross join qwf.settings s
    join qwf.runs r on r.parent_id = j.id
    where j.id = p_parent_id and j.run_id is null and j.finished_at is null
      and j.failures + 1 < coalesce((j.options).max_attempts, s.error_attempts)
      and (_qwf.run_outcome(r, null, 0)).outcome = 'error') then 'retried' else 'run_ended' end;
end $$;

commit;
