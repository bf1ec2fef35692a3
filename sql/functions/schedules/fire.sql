-- Schedules fired when due. Locks: the schedule, then its open firings that nobody has locked.

create type qwf.started as (job_id bigint, run_id bigint);
comment on type qwf.started is 'The enqueued work: a standalone job or a run; the other is null.';

-- Enqueues the job or run of a schedule now, whether it is due or switched off: for no time, or
-- for one of its times that has passed. The next time stays as it is. Unless overlap is allow,
-- of two calls at once one fires: the other waits for the row, and sees what the first has
-- enqueued. No time is worked on twice at once. If the args or options name due and no time is
-- given, it is the latest that has come. An event names who did it.
-- Locks: the schedule; open firings that nobody has locked.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: QW001, QW002, QW005.
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

-- Refuses to fire a schedule by hand: a backfill, for a time that it does not have or that lies
-- ahead, for one that is being worked on, or while its last work goes on.
-- Locks: expects the schedule locked by the caller.
-- Raises: QW002, QW005.
create function _qwf.check_fire(p_schedule qwf.schedules, p_due timestamptz, p_now timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_near timestamptz := case when p_due is not null
    then greatest(least(p_due, p_now), 'epoch') end;
begin
  if p_schedule.backfill_of is not null then
    raise exception using errcode = 'QW005', message = 'a backfill fires by itself',
      detail = format('schedule %s', p_schedule.name),
      hint = format('for one time: select qwf.fire_schedule(%L, due => ...)',
        p_schedule.backfill_of);
  elsif not _qwf.is_readable_time(p_due) or not isfinite(p_due) or p_due > p_now
    or _qwf.latest_fire(p_schedule, v_near) is distinct from p_due then
    raise exception using errcode = 'QW005',
      message = case when p_due > p_now then 'the time lies ahead'
        else 'the schedule has no such time' end,
      detail = format('due: %s', p_due),
      hint = format('the time before is %s, the next one %s', coalesce(
          _qwf.latest_fire(p_schedule, v_near)::text, 'none'),
        _qwf.next_fire(p_schedule, v_near));
  elsif _qwf.time_taken(p_schedule.name, p_due) = 'open' then
    raise exception using errcode = 'QW002', message = 'the time is being worked on',
      detail = format('schedule %s, due %s', p_schedule.name, p_due),
      hint = 'wait for its end, or cancel it: select * from qwf.firing_details';
  elsif p_schedule.overlap <> 'allow'
    and _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id) then
    raise exception using errcode = 'QW002',
      message = 'what the schedule enqueued last is not over',
      detail = format('schedule %s, %s', p_schedule.name, coalesce(
        'run ' || p_schedule.last_run_id, 'job ' || p_schedule.last_job_id)),
      hint = 'wait for its end, or cancel it; overlap => ''allow'' fires regardless';
  end if;
end $$;

-- Enqueues the job or run of a schedule for a time, or for none. References to due in the args
-- and options have their values. The labels of the schedule win over those of its options. The
-- column schedule names the schedule, except of work of somebody else into which a key has
-- merged it. A ping of a receiver is tried three times within minutes, because the next one
-- follows.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: as enqueue_many, enqueue_run and _with_due.
create function _qwf.start_scheduled(
  p_schedule qwf.schedules, p_due timestamptz, p_labels jsonb)
returns qwf.started
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_args jsonb := _qwf.with_due(p_schedule.args, p_schedule, p_due);
  v_options jsonb := _qwf.with_due(p_schedule.options, p_schedule, p_due);
  v_labels jsonb := coalesce(v_options -> 'labels', '{}') || p_labels;
  v_started qwf.started;
begin
  if p_schedule.workflow is not null then
    v_started.run_id := qwf.enqueue_run(p_schedule.workflow, v_args,
      priority => p_schedule.priority, key => v_options ->> 'key',
      out_dir => v_options ->> 'out_dir', project => p_schedule.project, labels => v_labels,
      once => (v_options ->> 'once')::boolean, limit_by => v_options ->> 'limit_by',
      max_attempts => (v_options ->> 'max_attempts')::int,
      backoff => nullif(v_options -> 'backoff', 'null'));
    update qwf.runs r set schedule = p_schedule.name
    where r.id = v_started.run_id and r.schedule is null and r.labels @> p_labels;
  elsif p_schedule.task = 'qwf.send' then
    v_started.job_id := (_qwf.insert_keyless(_qwf.read_jobs(jsonb_build_array(jsonb_build_object(
      'task', 'qwf.send', 'queue', 'qwf.alerts', 'args', p_schedule.args, 'labels', p_labels,
      'priority', p_schedule.priority, 'project', p_schedule.project,
      'requires', jsonb_build_object('receiver.' || (p_schedule.args ->> 'receiver'), 'true'),
      'max_attempts', 3, 'backoff', '[10, 60]'::jsonb)))))[1];
    update qwf.jobs j set schedule = p_schedule.name where j.id = v_started.job_id;
  else
    select e.job_id into v_started.job_id
    from qwf.enqueue_many(jsonb_build_array(v_options || jsonb_build_object(
      'task', p_schedule.task, 'args', v_args, 'queue', p_schedule.queue,
      'priority', p_schedule.priority, 'project', p_schedule.project, 'labels', v_labels))) e;
    update qwf.jobs j set schedule = p_schedule.name
    where j.id = v_started.job_id and j.schedule is null and j.labels @> p_labels;
  end if;
  return v_started;
end $$;

-- Returns the labels of what a schedule enqueues for a time: schedule, due, backfill_of, and
-- missed if earlier times were left out because nobody called tick(). No label due without a
-- time. missed is the first of the times that were left out.
create function _qwf.fire_labels(p_schedule qwf.schedules, p_due timestamptz) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'schedule', p_schedule.name, 'due', _qwf.utc(p_due), 'backfill_of', p_schedule.backfill_of,
    'missed', (
      select _qwf.utc(coalesce(f.since, f.due_at))
      from (
        select l.* from qwf.firings l
        where l.schedule = p_schedule.name order by l.id desc limit 1) f
      where f.reason = 'missed' and p_due is not null)))
$$;

-- Records how the work of earlier firings has ended, then enqueues the jobs and runs of due
-- schedules. Each time fires once, however many sessions call this at once and whatever
-- restarts. The longest overdue schedule comes first; one that only waits for its last job or
-- run, and a backfill that has as many open as it may, do not count against the bound. After 300
-- ms the others are left to the next tick, which fires whatever the one before has done.
-- Locks: open firings and due schedules that nobody has locked.
-- Notifies: sleepers, as enqueue_many and enqueue_run.
-- Raises: errors that pass (see _is_passing_error): everything that is due stays due.
create function _qwf.fire_schedules(p_max_schedules int default 100) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_schedule qwf.schedules;
  v_count int := 0;
begin
  perform _qwf.close_firings();
  for v_schedule in
    select s.* from qwf.schedules s
    where s.next_at <= v_now
      and not (
        s.catch_up = 'all' and s.overlap = 'skip'
        and _qwf.is_unfinished(s.last_job_id, s.last_run_id))
      and (s.backfill_of is null or _qwf.open_firings(s.name) < s.at_once)
    order by s.next_at
    limit p_max_schedules
    for no key update skip locked
  loop
    v_count := v_count + _qwf.fire_due(v_schedule, v_now);
    exit when qwf.now() - v_now > interval '300 ms';
  end loop;
  return v_count;
end $$;

-- Enqueues everything that one schedule is due for, records it, and sets its next time in the
-- same transaction, so that no time fires twice. Returns how many jobs or runs it enqueued.
-- Looks at 100 times per call at most. With catch_up one, the latest of several missed times
-- fires; the others are recorded, with a warning. A backfill is switched off at its end; so is a
-- schedule that is never due again, with the reason.
-- Locks: expects the schedule locked by the caller. The schedule that a backfill belongs to, if
--   it is free: else the backfill stays due.
-- Raises: errors that pass (see _is_passing_error), so that the time is not skipped.
create function _qwf.fire_due(p_schedule qwf.schedules, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_grace constant interval := '1 minute';
  v_schedule qwf.schedules := p_schedule;
  v_due timestamptz := p_schedule.next_at;
  v_start timestamptz := p_schedule.next_at;  -- the first time that may fire
  v_verdict text;
begin
  if p_schedule.backfill_of is not null then
    perform from qwf.schedules s where s.name = p_schedule.backfill_of
    for no key update skip locked;
    if not found and exists (select from qwf.schedules s where s.name = p_schedule.backfill_of) then
      return 0;
    end if;
  elsif p_schedule.catch_up = 'none' and v_due < p_now - v_grace then
    v_start := _qwf.next_fire(p_schedule, p_now - v_grace);
  elsif p_schedule.catch_up = 'one' then
    v_start := greatest(v_due, _qwf.latest_fire(p_schedule, p_now));
  end if;
  if v_start > v_due then
    v_schedule.skipped := v_schedule.skipped + _qwf.record_missed(p_schedule, v_start, p_now);
    v_due := v_start;
  end if;
  for v_turn in 1..100 loop
    exit when v_due is null or v_due > p_now;
    v_verdict := _qwf.firing_verdict(v_schedule, v_due);
    exit when v_verdict = 'wait';  -- stays due
    v_schedule := _qwf.fire_once(v_schedule, v_due, v_verdict, p_now);
    v_due := _qwf.next_fire(v_schedule,
      case v_schedule.catch_up when 'all' then v_due else p_now end);
    v_due := case when v_schedule.ends_at <= v_due then null else v_due end;  -- of a backfill
  end loop;
  if v_due is null and v_schedule.backfill_of is null then
    v_schedule.last_error := format('never due again: time zone %s', v_schedule.timezone);
  end if;
  update qwf.schedules s set
    next_at = v_due, enabled = v_due is not null,
    last_due_at = v_schedule.last_due_at, last_fired_at = v_schedule.last_fired_at,
    last_job_id = v_schedule.last_job_id, last_run_id = v_schedule.last_run_id,
    fired = v_schedule.fired, skipped = v_schedule.skipped, failed = v_schedule.failed,
    last_error = v_schedule.last_error
  where s.name = v_schedule.name;
  return v_schedule.fired - p_schedule.fired;
end $$;

-- Returns what to do about a time of a schedule: fire, wait, or leave it out for the reason
-- completed, open or overlap. A time fires once, whether the schedule, a backfill or a person
-- fires it: all of them look under the lock of that schedule. Only a backfill with again fires
-- for a time that has completed.
-- Locks: expects the schedule, and the one that it backfills, locked by the caller.
create function _qwf.firing_verdict(p_schedule qwf.schedules, p_due timestamptz) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_taken text := _qwf.time_taken(coalesce(p_schedule.backfill_of, p_schedule.name), p_due);
begin
  if v_taken = 'open' or v_taken = 'completed' and p_schedule.again is not true then
    return v_taken;
  elsif p_schedule.backfill_of is not null then
    return case when _qwf.open_firings(p_schedule.name) < p_schedule.at_once then 'fire'
      else 'wait' end;
  elsif p_schedule.overlap = 'allow'
    or not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id)
  then
    return 'fire';
  elsif p_schedule.overlap = 'replace' then
    return case when _qwf.cancel_last(p_schedule) then 'fire' else 'wait' end;
  end if;
  return case p_schedule.catch_up when 'all' then 'wait' else 'overlap' end;
end $$;

-- Cancels the last job or run of a schedule with overlap replace. True when it has ended. Waits
-- for nobody. False while a body stops, clean-up nodes run, or somebody else has the run locked:
-- the schedule stays due, and the next tick asks again. One that ends of itself meanwhile keeps
-- its own end.
-- Locks: the run if it is free; then as cancel_run and cancel_job.
-- Notifies: workers that run it.
create function _qwf.cancel_last(p_schedule qwf.schedules) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := 'replaced by schedule ' || p_schedule.name;
begin
  if p_schedule.last_run_id is not null then
    perform from qwf.runs r
    where r.id = p_schedule.last_run_id and r.finished_at is null
    for no key update skip locked;
    if found then
      perform qwf.cancel_run(p_schedule.last_run_id, v_reason);
    end if;
  else
    perform qwf.cancel_job(p_schedule.last_job_id, v_reason);
  end if;
  return not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id);
exception
  when sqlstate 'QW001' or sqlstate 'QW002' then  -- it has ended, and may be deleted
    return not _qwf.is_unfinished(p_schedule.last_job_id, p_schedule.last_run_id);
end $$;

-- Fires a schedule for one time, or leaves the time out for a reason, and records it. Returns
-- the schedule with its counters and its last work; the caller stores it.
-- Locks: expects the schedule locked by the caller.
-- Notifies: as enqueue_many and enqueue_run.
-- Raises: errors that pass (see _is_passing_error), so that the time is not skipped.
create function _qwf.fire_once(
  p_schedule qwf.schedules, p_due timestamptz, p_verdict text, p_now timestamptz)
returns qwf.schedules
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule qwf.schedules := p_schedule;
  v_firing qwf.firings;
  v_started qwf.started;
  v_detail text;
  v_error text;
begin
  v_firing.schedule := p_schedule.name;
  v_firing.backfill_of := p_schedule.backfill_of;
  v_firing.due_at := p_due;
  v_firing.times := 1;
  v_firing.at := p_now;
  if p_verdict <> 'fire' then
    v_firing.outcome := 'skipped';
    v_firing.reason := p_verdict;
    v_schedule.skipped := v_schedule.skipped + 1;
  else
    begin  -- a failed enqueue is undone and recorded, so that other schedules continue
      v_started := _qwf.start_scheduled(p_schedule, p_due, _qwf.fire_labels(p_schedule, p_due));
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then
          raise;
        end if;
        get stacked diagnostics v_detail = pg_exception_detail;
        v_error := _qwf.clip(concat_ws(': ', sqlstate, sqlerrm, nullif(v_detail, '')), 2000);
    end;
    v_firing.job_id := v_started.job_id;
    v_firing.run_id := v_started.run_id;
    v_firing.error := v_error;
    v_schedule.last_error := v_error;
    if v_error is null then
      v_firing.outcome := 'fired';
      v_schedule.last_job_id := v_started.job_id;
      v_schedule.last_run_id := v_started.run_id;
      v_schedule.last_due_at := p_due;
      v_schedule.last_fired_at := p_now;
      v_schedule.fired := v_schedule.fired + 1;
    else
      v_firing.outcome := 'failed';
      v_schedule.failed := v_schedule.failed + 1;
    end if;
  end if;
  perform _qwf.record_firing(v_firing);
  return v_schedule;
end $$;
