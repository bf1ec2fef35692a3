-- Deploy qwf:functions/enqueue_many
-- requires: schema/jobs
-- requires: functions/_read_jobs
-- requires: functions/_ids_of_taken_keys
-- requires: functions/_next_position
-- requires: functions/_job_with_key
-- requires: functions/_notice_unserved
-- Purpose: Enqueues any number of standalone jobs in one statement.
-- Guarantees: All or none; ids in input order. An item whose key is taken, in the table or by an
--   earlier item, gives the id of the job that has it. Keys are inserted in sorted order, so that
--   two callers with the same keys cannot deadlock.
-- Notifies: sleepers of the queues, once, through tg_jobs__insert.
-- Raises: QW001, QW005, QW006 as enqueue does, naming the item: [3].queue.
-- Called by: producers.

begin;

create function qwf.enqueue_many(jobs jsonb) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_jobs qwf.new_job[] := qwf._read_jobs(enqueue_many.jobs);
  v_ids bigint[];
begin
  with item as materialized (
    select
      i.*, i.ord as item_no, nextval('qwf.jobs_id_seq') as job_id,
      coalesce(i.run_at > v_now, false) as later, qwf._next_position() as place
    from unnest(v_jobs) i
  ), inserted as (
    insert into qwf.jobs as j (
      id, task, inputs, queue, priority, status, run_at, position, queued_at, key, once,
      max_attempts, backoff, timeout, required_model, vram_mb, requires, limit_by, on_failure,
      expires_at, project, labels, created_at)
    overriding system value
    select
      i.job_id, i.task, i.args, i.queue, i.priority,
      case when i.later then 'scheduled' else 'queued' end::qwf.job_status,
      i.run_at,
      case when not i.later then i.place end,
      case when not i.later then v_now end,
      i.key, i.once, i.max_attempts, i.backoff, i.timeout, i.model, i.vram_mb, i.requires,
      i.limit_by, i.on_failure, greatest(i.run_at, v_now) + i.expires, i.project, i.labels, v_now
    from item i
    order by i.project, i.task, i.key, i.ord
    on conflict (project, task, key)
      where key is not null
        and (once or status in ('scheduled', 'queued', 'running', 'awaiting_input'))
      do nothing
    returning j.id
  )
  select array_agg(d.id order by i.ord) into v_ids
  from item i left join inserted d on d.id = i.job_id;
  if array_position(v_ids, null) is not null then
    v_ids := qwf._ids_of_taken_keys(v_jobs, v_ids);
  end if;
  perform qwf._notice_unserved(q.queue) from (select distinct i.queue from unnest(v_jobs) i) q;
  return query select i.id from unnest(v_ids) with ordinality i (id, ord) order by i.ord;
end $$;
comment on function qwf.enqueue_many(jsonb) is
  'Enqueues a JSON list of jobs, each an object with the arguments of enqueue, and returns their '
  'ids in order.';
revoke all on function qwf.enqueue_many(jsonb) from public;
call qwf._allow('qwf.enqueue_many(jsonb)', 'qwf_producer');

commit;
