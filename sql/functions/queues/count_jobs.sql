-- Deploy qwf:functions/queues/count_jobs
-- Purpose: Counts the jobs of every queue; from `most` queued ones on, it estimates their number.
-- Guarantees: Reads at most `most` queued jobs of each queue (and some 10,000 more if it
--   estimates), `most` scheduled jobs in all, and the running ones, however many wait. The plan is
--   pinned, because statistics taken when little was queued lead to a scan of everything that is
--   queued now. Counts of running and scheduled jobs are joined by hash, so that the time is in
--   proportion to the number of queues.
-- Called by: people, the view queue_overview.

begin;

create function qwf.count_jobs(most int default 10001) returns setof qwf.job_count
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if coalesce(count_jobs.most not between 1 and 1000000, true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('most %s', count_jobs.most), hint = 'give a number from 1 to 1000000';
  end if;
  return query
  with running (queue, jobs) as (
    select j.queue, count(*) from qwf.jobs j where j.status = 'running' group by j.queue
  ), due as materialized (  -- no index has the queue of scheduled jobs
    select j.queue from qwf.jobs j
    where j.status = 'scheduled' order by j.finished_at, j.run_at limit count_jobs.most
  ), scheduled (queue, jobs) as (
    select d.queue, count(*) from due d group by d.queue
  )
  select
    q.name, w.queued, w.estimated, coalesce(s.jobs, 0)::int,
    (select count(*) = count_jobs.most from due), coalesce(r.jobs, 0)::int,
    w.head, w.head_since, w.oldest_since
  from qwf.queues q
  cross join lateral _qwf.count_queued(q.name, count_jobs.most) w
  left join scheduled s on s.queue = q.name
  left join running r on r.queue = q.name;
end $$;
comment on function qwf.count_jobs is
  'Counts the jobs of every queue, below `most` queued ones each and `most` scheduled ones in all. '
  'If more are queued it estimates how many, so that a deep queue costs no more than a short one. '
  'QW005 for an invalid bound.';
call _qwf.allow('qwf.count_jobs', 'qwf_viewer');

commit;
