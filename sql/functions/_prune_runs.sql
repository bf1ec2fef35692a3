-- Deploy qwf:functions/_prune_runs
-- requires: schema/runs
-- requires: schema/jobs
-- requires: schema/outbox
-- requires: schema/settings
-- requires: schema/clock
-- requires: functions/_delete_jobs
-- requires: functions/now
-- Purpose: Deletes runs that have been over for longer than the retention, with all their nodes.
-- Guarantees: A run with a body that still runs, or with events to apply, is left for later. Looks
--   at the next p_max runs by id and goes round: the cost does not grow with the table.
-- Locks: terminal runs, those that are free.
-- Called by: prune.

begin;

create function qwf._prune_runs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_seen bigint[];
  v_runs bigint[];
begin
  v_seen := array(
    select r.id from qwf.runs r
    where r.id > (select c.last_value from qwf.prune_run c)
    order by r.id
    limit p_max);
  perform setval('qwf.prune_run',
    case when cardinality(v_seen) < p_max then 0 else v_seen[p_max] end);
  v_runs := array(
    select r.id
    from qwf.runs r
    where r.id = any (v_seen)
      and r.finished_at < v_now - (select s.retention from qwf.settings s)
      and not exists (select from qwf.jobs j where j.run_id = r.id and j.status = 'running')
      and not exists (
        select from qwf.outbox o where o.run_id = r.id and o.poisoned_at is null)
    for update of r skip locked);
  perform qwf._delete_jobs(array(select j.id from qwf.jobs j where j.run_id = any (v_runs)));
  delete from qwf.outbox o where o.run_id = any (v_runs);
  delete from qwf.job_events e where e.run_id = any (v_runs) and e.job_id is null;
  delete from qwf.runs r where r.id = any (v_runs);
  return cardinality(v_runs);
end $$;
comment on function qwf._prune_runs(int) is
  'Looks at so many runs and deletes the old terminal ones with their nodes; returns how many.';
revoke all on function qwf._prune_runs(int) from public;

commit;
