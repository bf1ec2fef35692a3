-- Deploy qwf:functions/enqueue/_insert_keyless
-- Purpose: Inserts standalone jobs that have no keys.
-- Guarantees: Returns ids in the order of the jobs.
-- Notifies: sleepers of the queues, once.
-- Called by: enqueue_many, _send_messages, _start_scheduled.

begin;

create function _qwf.insert_keyless(p_jobs _qwf.new_job[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_ids bigint[];
begin
  with inserted as (
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, once, options,
      required_model, light, vram_mb, requires, limit_by,
      limit_place, on_failure, expires_at, project, checked, labels, created_at, begun)
    select
      i.task, i.args, i.queue, i.priority,
      case when i.run_at > v_now then 'scheduled' else 'queued' end::qwf.job_status, i.run_at,
      case when (i.run_at > v_now) is not true then _qwf.next_position() end,
      case when (i.run_at > v_now) is not true then v_now end,
      i.once, _qwf.options_of(i, null), i.model, i.light, i.vram_mb,
      i.requires, i.limit_by,
      _qwf.limit_place(i.limit_by), i.on_failure,
      greatest(i.run_at, v_now) + i.expires, i.project, _qwf.is_checked(i.labels),
      i.labels - 'qwf.checked', v_now, case when i.at_most_once then false end
    from unnest(p_jobs) i
    returning j.id
  )
  select array_agg(i.id order by i.id) into v_ids from inserted i;
  if exists (select from unnest(p_jobs) i where i.expires is not null) then
    perform _qwf.add_waits(v_ids);
  end if;
  perform _qwf.wake(i.queue, count(*)::int)
  from unnest(p_jobs) i
  where (i.run_at > v_now) is not true
  group by i.queue;
  return v_ids;
end $$;

commit;
