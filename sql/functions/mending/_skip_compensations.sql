-- Deploy qwf:functions/mending/_skip_compensations
-- Purpose: Puts the compensation nodes of a run that goes on back to skipped.
-- Guarantees: Touches only those that the plan skips and that are not skipped already.
-- Locks: the caller has locked the run, which is over.
-- Called by: _mend_run.

begin;

create function _qwf.skip_compensations(p_plan _qwf.planned[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_jobs bigint[] := array(
    select j.id from unnest(p_plan) p join qwf.jobs j on j.id = p.job_id
    where p.verdict = 'skipped' and j.status <> 'skipped');
begin
  if v_jobs <> '{}' then
    perform _qwf.reset_nodes(v_jobs, 'skipped');
    delete from qwf.checkpoints c where c.job_id = any (v_jobs);
  end if;
end $$;

commit;
