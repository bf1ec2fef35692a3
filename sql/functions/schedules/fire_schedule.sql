-- Deploy qwf:functions/schedules/fire_schedule
-- Purpose: Enqueues the job or run of a schedule now, whether it is due or switched off.
-- Guarantees: The next time stays as it is. With overlap skip, of two calls at once one fires: the
--   other waits for the row, and sees what the first has enqueued. An event names who did it.
-- Locks: the schedule.
-- Notifies: as enqueue and enqueue_run.
-- Called by: administrators, qwf schedule fire.

begin;

create function qwf.fire_schedule(name text) returns qwf.started
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_schedule qwf.schedules;
  v_started qwf.started;
begin
  select s.* into v_schedule
  from qwf.schedules s where s.name = fire_schedule.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(fire_schedule.name);
  end if;
  if v_schedule.overlap = 'skip'
    and _qwf.is_unfinished(v_schedule.last_job_id, v_schedule.last_run_id) then
    raise exception using errcode = 'QW002',
      message = 'what the schedule enqueued last is not over',
      detail = format('schedule %s, %s', v_schedule.name, coalesce(
        'run ' || v_schedule.last_run_id, 'job ' || v_schedule.last_job_id)),
      hint = 'wait for its end, or cancel it; overlap => ''allow'' fires regardless';
  end if;
  v_started := _qwf.start_scheduled(v_schedule, '{}');
  update qwf.schedules s set
    last_success_at = coalesce(_qwf.succeeded_at(s.last_job_id, s.last_run_id), s.last_success_at),
    last_job_id = v_started.job_id, last_run_id = v_started.run_id, last_fired_at = v_now,
    fired = s.fired + 1, last_error = null
  where s.name = v_schedule.name;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (v_now, v_started.run_id, v_started.job_id, 'fired',
    jsonb_build_object('schedule', v_schedule.name));
  return v_started;
end $$;
comment on function qwf.fire_schedule is
  'Enqueues the job or run of a schedule now and leaves its next time alone; QW001 no such '
  'schedule, QW002 with overlap skip, what it enqueued last is not over.';
call _qwf.allow('qwf.fire_schedule', 'qwf_admin');

commit;
