-- Deploy qwf:functions/mending/_forget_compensations
-- Purpose: Lets the last run of a step that was named go on though a compensation node failed, of
--   it or of a run below it: who names the step wants what that node takes back to run again.
-- Guarantees: Nothing changes for a step without such a run. The compensation nodes are skipped
--   again, and what they take back counts as cancelled: the next attempt of the step runs it.
-- Locks: the caller has locked the run above; the runs of the steps, by id.
-- Called by: _mend_run.

begin;

create function _qwf.forget_compensations(p_run bigint, p_node text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_runs bigint[];
  v_failed bigint[];
begin
  v_runs := _qwf.lock_runs(array(
    with recursive step (id) as (
      select j.id from qwf.jobs j
      where j.run_id = p_run and j.node_id = p_node and j.queue = 'qwf.runs'
      union all
      select j.id
      from step s
      cross join lateral (
        select r.id from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l
      join qwf.jobs j on j.run_id = l.id and j.queue = 'qwf.runs'
        and j.status in ('failed', 'cancelled')
    )
    select l.id
    from step s
    cross join lateral (
      select r.id from qwf.runs r where r.parent_id = s.id order by r.id desc limit 1) l));
  v_failed := array(
    select c.job_id from qwf.compensations c
    where c.run_id = any (v_runs) and c.status in ('failed', 'cancelled'));
  if v_failed = '{}' then
    return;
  end if;
  update qwf.jobs t set status = 'cancelled', retries = t.retries + 1, output = null
  from qwf.compensations c
  where c.run_id = any (v_runs) and c.job_id = any (v_failed) and t.status = 'completed'
    and (t.id = c.takes_back_job or t.parent_id = c.takes_back_job and c.done and exists (
      select from qwf.jobs m where m.id = c.takes_back_job and m.status <> 'completed'));
  perform _qwf.reset_nodes(v_failed, 'skipped');
end $$;

commit;
