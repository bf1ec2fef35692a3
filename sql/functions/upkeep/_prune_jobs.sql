-- Deploy qwf:functions/upkeep/_prune_jobs
-- Purpose: Deletes standalone jobs that ended longer ago than the retention of their queue.
-- Guarantees: Needs no index on finished jobs, which every finish would have to maintain. It looks
--   at the next p_max jobs by id and starts again when all of them are too young, because ids grow
--   with time. So the cost does not grow with the table, and every old job is found.
--   The job for which a run waited in line stays as long as the run: a retry needs it.
-- Locks: terminal jobs that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_jobs(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_retention interval := (
    select least(s.retention, min(q.retention)) from qwf.settings s, qwf.queues q
    group by s.retention);
  v_seen bigint[];
  v_oldest timestamptz;
  v_jobs bigint[];
begin
  select array_agg(w.id), min(w.created_at) into v_seen, v_oldest
  from (
    select j.id, j.created_at from qwf.jobs j
    where j.id > (select c.last_value from qwf.prune_job c)
    order by j.id
    limit p_max
  ) w;
  if v_oldest is null or v_oldest >= v_now - v_retention then
    perform setval('qwf.prune_job', 0);
    return 0;
  end if;
  perform setval('qwf.prune_job', coalesce(v_seen[p_max], 0));
  v_jobs := array(
    select j.id
    from qwf.jobs j
    cross join qwf.settings s
    left join qwf.queues q on q.name = j.queue
    where j.id = any (v_seen) and j.run_id is null
      and j.finished_at < v_now - coalesce(q.retention, s.retention)
      and not (j.queue = 'qwf.runs'
        and exists (select from qwf.runs r where r.parent_id = j.id))
    for update of j skip locked);
  perform _qwf.delete_jobs(v_jobs);
  return cardinality(v_jobs);
end $$;

commit;
