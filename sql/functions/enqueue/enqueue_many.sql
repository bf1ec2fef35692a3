-- Deploy qwf:functions/enqueue/enqueue_many
-- Purpose: Enqueues any number of standalone jobs in one statement.
-- Guarantees: All or none; a row for each item, in input order, which says what became of it. An
--   item with a key merges into the job of its key that waits, in the table or an earlier item.
--   Keys are taken in sorted order, so two callers with the same keys cannot deadlock.
-- Locks: limits that items name, against being dropped; keys as _insert_jobs.
-- Notifies: sleepers of the queues, once.
-- Raises: QW001, QW005, QW006, QW008 as enqueue does; the first three name the item: [3].queue.

begin;

create function qwf.enqueue_many(jobs jsonb) returns setof qwf.enqueued
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_jobs _qwf.new_job[] := _qwf.read_jobs(enqueue_many.jobs);
  v_now timestamptz := qwf.now();
  v_max_bytes int := (select s.max_value_bytes from qwf.settings s);
begin
  perform _qwf.raise_unknown_queue(unknown.queue, format('[%s].', unknown.ord))
  from (
    select i.queue, i.ord from unnest(v_jobs) i
    where starts_with(i.queue, 'qwf.')
      or not exists (select from qwf.queues q where q.name = i.queue)
    order by i.ord
    limit 1
  ) unknown;
  perform _qwf.lock_limits(variadic array_agg(distinct i.limit_by))
  from unnest(v_jobs) i where i.limit_by is not null having count(*) > 0;
  perform _qwf.check_job(special.job, format('[%s].', (special.job).ord), v_max_bytes)
  from (  -- only what may be refused is looked at one by one
    select i as job from unnest(v_jobs) i
    where _qwf.job_problem(i) is not null or i.limit_by is not null
      or starts_with(i.task, 'qwf.')
      or not _qwf.is_small_job(i, v_max_bytes)
    order by i.ord
  ) special;
  perform _qwf.notice_unserved(n.queue, array_agg(n.task), n.project)
  from (select distinct i.queue, i.task, i.project from unnest(v_jobs) i) n
  cross join lateral _qwf.look_up_queue(n.queue, n.task, n.project, v_now) l
  where not l.served
  group by n.queue, n.project;
  if exists (select from unnest(v_jobs) i where i.key is not null) then
    return query select * from _qwf.insert_jobs(v_jobs);
  else
    return query
    select i.id, false, 'new', case when i.run_at > v_now then i.run_at end
    from unnest(_qwf.insert_keyless(v_jobs), v_jobs)
      i (id, ord, task, args, queue, priority, run_at);
  end if;
end $$;
comment on function qwf.enqueue_many is
  'Enqueues a JSON list of jobs, each an object with the arguments of enqueue, and returns a row '
  'for each, in order: its id, whether it was merged into a job that waits, what was kept, and '
  'when it starts.';
call _qwf.allow('qwf.enqueue_many', 'qwf_producer');

commit;
