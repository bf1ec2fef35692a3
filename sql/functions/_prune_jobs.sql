-- Deploy qwf:functions/_prune_jobs
-- requires: schema/jobs
-- requires: schema/queues
-- requires: schema/settings
-- requires: functions/_delete_jobs
-- requires: functions/now
-- Purpose: Deletes standalone jobs that have been over for longer than the retention of their
--   queue.
-- Locks: terminal jobs, those that are free.
-- Called by: prune.

begin;

create function qwf._prune_jobs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_jobs bigint[];
begin
  v_jobs := array(
    select j.id
    from qwf.jobs j
    cross join qwf.settings s
    left join qwf.queues q on q.name = j.queue
    where j.run_id is null and j.finished_at < v_now - coalesce(q.retention, s.retention)
    limit p_max
    for update of j skip locked);
  perform qwf._delete_jobs(v_jobs);
  return cardinality(v_jobs);
end $$;
comment on function qwf._prune_jobs(int) is
  'Deletes at most so many old terminal standalone jobs; returns how many.';
revoke all on function qwf._prune_jobs(int) from public;

commit;
