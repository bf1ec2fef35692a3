-- Firings, one row each, open until the work they started has ended. Callers hold the lock of
-- the schedule.

create type _qwf.firing_end as (result text, ended_at timestamptz);
comment on type _qwf.firing_end is 'How the job or run of a firing has ended, and when.';

-- Writes what came of a time of a schedule. What did not fire for the same reason as the time
-- before is added to its row, so that a schedule that is never over leaves one row and not one a
-- second.
-- Locks: expects the schedule locked by the caller.
create function _qwf.record_firing(p_firing qwf.firings) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_firing.outcome <> 'fired' then
    update qwf.firings f set
      since = coalesce(f.since, f.due_at), due_at = p_firing.due_at, at = p_firing.at,
      times = f.times + p_firing.times
    where f.id = (
        select l.id from qwf.firings l
        where l.schedule = p_firing.schedule order by l.id desc limit 1)
      and (f.outcome, f.reason, f.error)
        is not distinct from (p_firing.outcome, p_firing.reason, p_firing.error);
    if found then
      return;
    end if;
  end if;
  insert into qwf.firings (
    schedule, backfill_of, due_at, since, times, at, outcome, reason, error, job_id, run_id)
  values (
    p_firing.schedule, p_firing.backfill_of, p_firing.due_at, p_firing.since, p_firing.times,
    p_firing.at, p_firing.outcome, p_firing.reason, p_firing.error, p_firing.job_id,
    p_firing.run_id);
  if p_firing.outcome = 'failed' or p_firing.reason in ('overlap', 'missed') then
    perform _qwf.tell_schedule(p_firing, case p_firing.outcome
      when 'failed' then 'schedule_failed' else 'schedule_skipped' end);
  end if;
end $$;

-- Writes the event of a time of a schedule that failed or was left out, and remembers it until a
-- job or run of the schedule completes. The rows of times that are added to one row of firings
-- have one event.
create function _qwf.tell_schedule(p_firing qwf.firings, p_kind text) returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into _qwf.open_states as o (kind, subject, since)
  values (p_kind, coalesce(p_firing.backfill_of, p_firing.schedule), qwf.now())
  on conflict (kind, subject) do nothing;
  insert into _qwf.event_log (at, kind, subject, names, run_id, job_id, detail)
  values (qwf.now(), p_kind, coalesce(p_firing.backfill_of, p_firing.schedule),
    jsonb_build_object('schedule', coalesce(p_firing.backfill_of, p_firing.schedule)),
    p_firing.run_id, p_firing.job_id, jsonb_strip_nulls(jsonb_build_object(
      'due_at', p_firing.due_at, 'reason', p_firing.reason, 'result', p_firing.result,
      'times', nullif(p_firing.times, 1), 'error', left(p_firing.error, 500))))
  returning id
$$;

-- Writes how the jobs and runs of firings have ended, and tells of those that failed. Looks at
-- the next 1,000 open firings by id, and begins again after the last, so that those that never
-- end keep none waiting. The lock and the look are two statements: a retry that commits before
-- the lock is seen, and one that comes after it opens the firing again.
-- Locks: open firings that nobody has locked.
create function _qwf.close_firings(p_max int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_firings bigint[];
  v_closed int;
begin
  v_firings := array(
    select f.id from qwf.firings f
    where f.outcome = 'fired' and f.result is null
      and f.id > (select c.last_value from qwf.close_firing c)
    order by f.id
    limit p_max
    for no key update skip locked);
  perform setval('qwf.close_firing', coalesce(v_firings[p_max], 0));
  with closed as (
    update qwf.firings f set result = (e.it).result, ended_at = (e.it).ended_at
    from (
      select o.id, _qwf.firing_end(o) as it
      from qwf.firings o where o.id = any (v_firings)
      offset 0) e  -- offset: look once
    where f.id = e.id and (e.it).result is not null
    returning f
  )
  select count(*) into v_closed
  from closed c
  cross join lateral (
    select _qwf.tell_schedule(c.f, 'schedule_failed')
    where (c.f).result = 'failed' and (c.f).backfill_of is null
    union all
    select null where (c.f).result is distinct from 'failed' or (c.f).backfill_of is not null
    offset 0) t (event)
  where coalesce(t.event, 0) >= 0;  -- what is not read is not told
  return v_closed;
end $$;

-- Returns how the job or run of a firing has ended, and when. Reads the job or run, unless the
-- firing has its result. Nulls for one that has not ended. For one that is deleted: completed if
-- the queue of the schedule drops completed jobs, else unknown. The view firing_details says the
-- same.
create function _qwf.firing_end(p_firing qwf.firings) returns _qwf.firing_end
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_at timestamptz;
begin
  if p_firing.result is not null or p_firing.outcome <> 'fired' then
    return row(p_firing.result, p_firing.ended_at)::_qwf.firing_end;
  elsif p_firing.run_id is not null then
    select r.status, r.finished_at into v_status, v_at from qwf.runs r where r.id = p_firing.run_id;
  else
    select j.status, j.finished_at into v_status, v_at from qwf.jobs j where j.id = p_firing.job_id;
  end if;
  if v_at is not null then
    return row(v_status, v_at)::_qwf.firing_end;
  elsif v_status is not null then
    return null;
  end if;
  return row(
    case when exists (
      select from qwf.schedules s join qwf.queues q on q.name = s.queue
      where s.name = p_firing.schedule and not q.keep_completed)
    then 'completed' else 'unknown' end, qwf.now())::_qwf.firing_end;
end $$;

-- Returns how many firings of a schedule have a job or run that has not ended.
create function _qwf.open_firings(p_schedule text) returns int
language sql stable
as $$
  select count(*)::int from qwf.firings f
  where f.schedule = p_schedule and f.outcome = 'fired' and f.result is null
    and (_qwf.firing_end(f)).result is null
$$;

-- True when a job or a run has not ended, or a body of the run has not stopped. False for nulls,
-- and for what retention has deleted.
create function _qwf.is_unfinished(p_job bigint, p_run bigint) returns boolean
language sql stable
as $$
  select exists (select from qwf.jobs j where j.id = p_job and j.finished_at is null)
    or exists (
      select from qwf.runs r
      where r.id = p_run and (r.finished_at is null
        or r.status <> 'completed'
          and exists (select from qwf.jobs j where j.run_id = r.id and j.status = 'running')))
$$;

-- Returns what became of a time of a schedule for which somebody has fired already, the
-- schedule, a backfill or a person: open or completed; null if nobody has, or if the work
-- failed, was cancelled or is not known. Firings of an earlier schedule of that name, which was
-- dropped, do not count.
create function _qwf.time_taken(p_schedule text, p_due timestamptz) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_results text[];
begin
  v_results := array(
    select coalesce((_qwf.firing_end(f)).result, 'open')
    from qwf.firings f
    where coalesce(f.backfill_of, f.schedule) = p_schedule and f.due_at = p_due
      and f.outcome = 'fired'
      and f.at >= coalesce((select s.created_at from qwf.schedules s where s.name = p_schedule),
        '-infinity'));
  return case
    when 'open' = any (v_results) then 'open'
    when 'completed' = any (v_results) then 'completed' end;
end $$;
