-- Deploy qwf:functions/_prune_jobs
-- requires: schema/jobs
-- requires: schema/queues
-- requires: schema/settings
-- requires: schema/clock
-- requires: functions/_delete_jobs
-- requires: functions/now
-- Purpose: Deletes standalone jobs that have been over for longer than the retention of their
--   queue.
-- Guarantees: Looks at the next p_max jobs by id and goes round: the cost does not grow with the
--   table, and nothing old stays unseen.
-- Locks: terminal jobs, those that are free.
-- Called by: prune.

begin;

create function qwf._prune_jobs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_seen bigint[];
  v_jobs bigint[];
begin
  v_seen := array(
    select j.id from qwf.jobs j
    where j.id > (select c.last_value from qwf.prune_job c)
    order by j.id
    limit p_max);
  perform setval('qwf.prune_job',
    case when cardinality(v_seen) < p_max then 0 else v_seen[p_max] end);
  v_jobs := array(
    select j.id
    from qwf.jobs j
    cross join qwf.settings s
    left join qwf.queues q on q.name = j.queue
    where j.id = any (v_seen) and j.run_id is null
      and j.finished_at < v_now - coalesce(q.retention, s.retention)
    for update of j skip locked);
  perform qwf._delete_jobs(v_jobs);
  return cardinality(v_jobs);
end $$;
comment on function qwf._prune_jobs(int) is
  'Looks at so many jobs and deletes the old terminal standalone ones; returns how many.';
revoke all on function qwf._prune_jobs(int) from public;

commit;
