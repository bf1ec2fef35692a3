-- Deploy qwf:functions/mending/_forget_compensations
-- Purpose: Lets the last run of a step that was named go on though a compensation node of it
--   failed: who names the step wants what that node takes back to run again.
-- Guarantees: Nothing changes for a step without such a run. The compensation nodes are skipped
--   again, and what they take back counts as cancelled: the next attempt of the step runs it.
-- Locks: the caller has locked the run above; the run of the step.
-- Called by: _mend_run.

begin;

create function _qwf.forget_compensations(p_run bigint, p_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_child bigint;
  v_failed bigint[];
begin
  select r.id into v_child
  from qwf.jobs j join qwf.runs r on r.parent_id = j.id
  where j.run_id = p_run and j.node_id = p_node and j.queue = 'qwf.runs'
  order by r.id desc limit 1
  for no key update of r;
  v_failed := array(
    select c.job_id from qwf.compensations c
    where c.run_id = v_child and c.status in ('failed', 'cancelled'));
  if v_failed = '{}' then
    return;
  end if;
  update qwf.jobs t set status = 'cancelled', retries = t.retries + 1, output = null
  from qwf.compensations c
  where c.run_id = v_child and c.job_id = any (v_failed) and t.id = c.takes_back_job
    and t.status = 'completed';
  perform _qwf.reset_nodes(v_failed, 'skipped');
end $$;

commit;
