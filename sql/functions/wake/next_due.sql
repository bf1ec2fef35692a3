-- The time at which a tick next has work.

-- Returns when the last tick began that left nothing to do, if that was at most max_age ago.
-- Reads a hint that no open transaction holds back. Ignores a time in the future, as after the
-- clock was set back, and a tick whose work was rolled back or is not committed.
-- Raises: QW005 for an age that is negative or more than a year.
create function _qwf.last_complete_tick(p_max_age interval) returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_at timestamptz := (select to_timestamp(c.last_value / 1000.0) from qwf.last_complete_tick c);
  v_now timestamptz := qwf.now();  -- read second: a tick that ends between is not in the future
begin
  if not _qwf.is_duration(p_max_age, '366 days', p_least => '0 s') then
    raise exception using errcode = 'QW005', message = 'invalid age',
      detail = format('max_age %s', p_max_age),
      hint = 'give 0 s to 366 days, or null to ignore earlier ticks';
  end if;
  return case when v_at between v_now - p_max_age and v_now and _qwf.has_committed(
    (select c.last_value from qwf.last_complete_tick_xid c)) then v_at end;
end $$;

-- Returns the seconds until the next job or schedule is due. Costs two index look-ups. Ignores a
-- schedule that was due by p_since, when schedules were last fired: it waits for its earlier
-- work, not for time.
create function _qwf.next_due_s(p_since timestamptz) returns numeric
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_job timestamptz;
  v_schedule timestamptz;
begin
  select j.run_at into v_job
  from qwf.jobs j
  where j.status = 'scheduled' and j.finished_at is null and j.run_at < 'infinity'
  order by j.finished_at, j.run_at
  limit 1;
  select min(s.next_at) into v_schedule
  from qwf.schedules s where s.next_at > p_since and s.next_at < 'infinity';
  return case when least(v_job, v_schedule) <= v_now then 0
    else extract(epoch from least(v_job, v_schedule) - v_now) end;
end $$;

-- Returns the seconds until sleepers should next be woken because rates of limits allow jobs
-- that wait to start, and stores that time as a hint: the tick is due then; null: never. Never
-- 0, because what was due has just been done.
create function _qwf.next_start_s() returns numeric
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_at timestamptz := _qwf.next_start_at(v_now);
  v_ms bigint := 0;
begin
  if v_at is not null then
    v_at := greatest(v_at, v_now + interval '10 ms');
    v_ms := floor(extract(epoch from v_at) * 1000);
  end if;
  perform setval('qwf.next_start_wake', v_ms) from qwf.next_start_wake w where w.last_value <> v_ms;
  return extract(epoch from v_at - v_now);
end $$;

-- Returns when sleepers should next be woken because rates of limits allow jobs that wait to
-- start, or a hold ends; null: no limit is held, and no job waits for one with a rate. One
-- period after sleepers were last woken so at the latest, because what they take then is not
-- known yet; and not within 20 milliseconds, so that a high rate does not cost a tick for each
-- start. Costs a few index look-ups for each limit with a rate.
create function _qwf.next_start_at(p_now timestamptz) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_woken timestamptz := _qwf.last_start_wake(p_now);
  v_held timestamptz := (select min(h.until) from qwf.limit_holds h where h.until > p_now);
  v_at timestamptz;
begin
  if not exists (select from qwf.limits l where l.starts is not null) then
    return v_held;
  end if;
  select min(least(v_woken + l.per, n.at)) into v_at
  from qwf.limits l
  left join lateral (
    select t.used_at + l.per as at
    from qwf.limit_starts t
    where t.limit_name = l.name and t.used_at > v_woken - l.per and t.place <= l.starts
    order by t.used_at
    limit 1) n on true
  where l.starts is not null and exists (
    select from qwf.queues q
    cross join lateral (
      select from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null limit 1) j);
  v_at := least(v_at, v_held, (  -- of a key; it may have no job that waits
    select k.opens_at from qwf.limit_keys k
    where k.opens_at > greatest(v_woken, p_now - interval '1 min')
    order by k.opens_at limit 1));
  return case when v_at is not null then greatest(v_at, v_woken + interval '20 ms') end;
end $$;
