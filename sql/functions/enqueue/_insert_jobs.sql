-- Deploy qwf:functions/enqueue/_insert_jobs
-- Purpose: Inserts standalone jobs, and finds the jobs that hold their keys already.
-- Guarantees: Returns ids in the order of the jobs. If a key is taken, in the table or by an
--   earlier job of the list, it returns the id of the job that holds it; if the key becomes free
--   meanwhile, the job is inserted after all. Keys are inserted in sorted order, so two callers
--   with the same keys cannot deadlock.
-- Locks: the keys: two transactions that enqueue the same key wait for each other.
-- Notifies: sleepers of the queues, once.
-- Called by: enqueue_many.

begin;

create function _qwf.insert_jobs(p_jobs _qwf.new_job[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_ids bigint[];
begin
  loop
    with item as materialized (
      select
        i.*, nextval('qwf.jobs_id_seq') as job_id, coalesce(i.run_at > v_now, false) as later,
        _qwf.next_position() as new_position
      from unnest(p_jobs) with ordinality i
    ), inserted as (
      insert into qwf.jobs as j (
        id, task, inputs, queue, priority, status, run_at, position, queued_at, key, once,
        max_attempts, max_losses, backoff, timeout, required_model, light, vram_mb, requires,
        limit_by, on_failure, expires_at, project, labels, created_at)
      overriding system value
      select
        i.job_id, i.task, i.args, i.queue, i.priority,
        case when i.later then 'scheduled' else 'queued' end::qwf.job_status, i.run_at,
        case when not i.later then i.new_position end,
        case when not i.later then v_now end, i.key, i.once, i.max_attempts, i.max_losses,
        i.backoff, i.timeout, i.model, i.light, i.vram_mb, i.requires, i.limit_by, i.on_failure,
        greatest(i.run_at, v_now) + i.expires, i.project, i.labels, v_now
      from item i
      where v_ids[i.ordinality] is null
      order by i.project, i.task, i.key, i.ordinality
      on conflict (project, task, key)
        where key is not null
          and (once or status in ('scheduled', 'queued', 'running', 'awaiting_input'))
        do nothing
      returning j.id
    )
    select array_agg(coalesce(v_ids[i.ordinality], d.id) order by i.ordinality) into v_ids
    from item i left join inserted d on d.id = i.job_id;
    perform _qwf.wake(i.queue, count(*)::int)
    from unnest(p_jobs) with ordinality i
    where v_ids[i.ordinality] is not null and (i.run_at > v_now) is not true
    group by i.queue;
    exit when array_position(v_ids, null) is null;
    v_ids := array(
      select coalesce(v_ids[i.ordinality], (  -- from the index jobs_key
        select j.id from qwf.jobs j
        where j.project = i.project and j.task = i.task and j.key = i.key and j.key is not null
          and (j.once or j.status in ('scheduled', 'queued', 'running', 'awaiting_input'))))
      from unnest(p_jobs) with ordinality i
      order by i.ordinality);
    exit when array_position(v_ids, null) is null;
    -- else a job ended between the two statements: its key is free, insert again
  end loop;
  return v_ids;
end $$;

commit;
