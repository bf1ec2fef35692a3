-- Deploy qwf:functions/schedules/fire_schedule
-- Purpose: Enqueues the job or run of a schedule now, whether it is due or switched off: for no
--   time, or for one of its times that has passed.
-- Guarantees: The next time stays as it is. Unless overlap is allow, of two calls at once one
--   fires: the other waits for the row, and sees what the first has enqueued. No time is worked on
--   twice at once. If the args or options name due and no time is given, it is the latest that has
--   come. An event names who did it.
-- Locks: the schedule; open firings that nobody has locked.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: QW001, QW002, QW005.
-- Called by: administrators, qwf schedule fire.

begin;

create function qwf.fire_schedule(name text, due timestamptz default null) returns qwf.started
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_schedule qwf.schedules;
  v_due timestamptz := fire_schedule.due;
  v_started qwf.started;
  v_firing qwf.firings;
begin
  select s.* into v_schedule
  from qwf.schedules s where s.name = fire_schedule.name for no key update;
  if not found then
    perform _qwf.raise_unknown_schedule(fire_schedule.name);
  end if;
  if v_due is null and (v_schedule.args::text || v_schedule.options::text) ~ '"[$]from"' then
    v_due := _qwf.latest_fire(v_schedule, v_now);
  end if;
  perform _qwf.check_fire(v_schedule, v_due, v_now);
  perform _qwf.close_firings();  -- the end of what it fired last is known before the next begins
  v_started := _qwf.start_scheduled(v_schedule, v_due,
    _qwf.fire_labels(v_schedule, v_due) - 'missed');
  v_firing.schedule := v_schedule.name;
  v_firing.due_at := v_due;
  v_firing.times := 1;
  v_firing.at := v_now;
  v_firing.outcome := 'fired';
  v_firing.job_id := v_started.job_id;
  v_firing.run_id := v_started.run_id;
  perform _qwf.record_firing(v_firing);
  update qwf.schedules s set
    last_job_id = v_started.job_id, last_run_id = v_started.run_id, last_fired_at = v_now,
    fired = s.fired + 1, last_error = null
  where s.name = v_schedule.name;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (v_now, v_started.run_id, v_started.job_id, 'fired', jsonb_strip_nulls(
    jsonb_build_object('schedule', v_schedule.name, 'due', _qwf.utc(v_due))));
  return v_started;
end $$;
comment on function qwf.fire_schedule is
  'Enqueues the job or run of a schedule now and leaves its next time alone; with due, for that '
  'time of it, which has passed. QW001 no such schedule, QW002 what it enqueued last is not over '
  '(unless overlap is allow) or the time is being worked on, QW005 no time of the schedule.';
call _qwf.allow('qwf.fire_schedule', 'qwf_admin');

commit;
