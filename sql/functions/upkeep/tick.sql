-- The tick, which does everything that is due. Agents call it, and so may cron. Locks: tick,
-- tried only, so that one session works; then as its parts.

-- Runs all periodic chores: leases, due jobs, runs in line, schedules, signals, expiry, the
-- outbox, lost wake-ups, statistics, lateness, numbers of events, pruning. Safe to call from
-- anywhere at any time: a lock that is only tried lets one caller work. If no tick has finished
-- for ten seconds, the next goes on without the lock. Every part is bounded, and one that fails
-- stops no other. With max_age a fleet does the work of one tick: within max_age of a complete
-- one, a call does only what has come due since. Only who ran this tick is told the next start
-- of a rate: else the whole fleet would tick for it.
-- Locks: tick, tried only; then as the parts do.
create function qwf.tick(max_age interval default null, fire boolean default true)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_parts text[] := array['reclaimed', 'promoted', 'served', 'fired', 'allowed', 'answered',
    'cancelled', 'expired', 'overdue', 'drained', 'woken', 'forgotten', 'rolled_up', 'recorded',
    'judged', 'numbered', 'learned', 'pruned'];
  v_complete_at timestamptz := _qwf.last_complete_tick(tick.max_age);
  v_fresh boolean := v_complete_at is not null;
  v_now timestamptz := qwf.now();
  v_due_s numeric;
  v_locked boolean;
  v_ran boolean;
  v_done jsonb := jsonb_build_object();
  v_part text;
  v_count int;
  v_most int := 0;
begin
  if v_fresh then
    v_due_s := _qwf.next_due_s(v_complete_at);
    if v_due_s is distinct from 0 and not (  -- 10 ms: the clock of an agent may be a little early
      select w.last_value between 1 and extract(epoch from v_now) * 1000 + 10
      from qwf.next_start_wake w)
    then
      return jsonb_build_object('ran', false, 'next_due_s', v_due_s);
    end if;
    v_parts := array['promoted', 'served', 'fired', 'allowed', 'answered', 'numbered'];
  end if;
  v_parts := array_remove(v_parts, case when not tick.fire then 'fired' end);
  v_locked := _qwf.try_lock('tick');
  v_ran := v_locked
    or (select l.last_value from qwf.last_tick l)
      < (extract(epoch from v_now) * 1000)::bigint - 10000;
  if v_ran then
    foreach v_part in array v_parts loop
      begin
        v_count := _qwf.tick_part(v_part);
        v_most := greatest(v_most, v_count);
        v_done := v_done || jsonb_build_object(v_part, v_count);
      exception
        when others or query_canceled then
          raise warning using message = format('tick: %s failed', v_part),
            detail = sqlstate || ' ' || sqlerrm;
          v_done := v_done || jsonb_build_object('errors',
            coalesce(v_done -> 'errors', '{}') || jsonb_build_object(v_part, sqlerrm));
      end;
    end loop;
    if not v_fresh and v_most < 100 then  -- no part has reached its bound
      perform setval('qwf.last_complete_tick_xid', pg_current_xact_id()::text::bigint);
      perform setval('qwf.last_complete_tick', floor(extract(epoch from v_now) * 1000)::bigint);
    end if;
  end if;
  if v_locked then
    perform setval('qwf.last_tick', (extract(epoch from qwf.now()) * 1000)::bigint);
  end if;
  v_due_s := least(_qwf.next_due_s(v_now), case when v_ran then _qwf.next_start_s() end);
  if (v_done ->> 'numbered')::int >= 100 then  -- more events wait for a number
    v_due_s := 0;
  end if;
  return v_done || jsonb_build_object('ran', v_ran, 'next_due_s', v_due_s);
end $$;
comment on function qwf.tick is
  'Reclaims, promotes, fires schedules, expires, drains and prunes, each bounded; returns what was '
  'done, and in how many seconds the next job, schedule or start under a rate is due. If a tick '
  'has done everything within max_age, it only queues, fires and allows what is due. fire => false '
  'leaves schedules alone, as tests do. QW005 for an invalid age.';
call _qwf.allow('qwf.tick', 'qwf_worker');

-- Runs one part of tick, named after what it reports. Bounded. A part that reaches its bound
-- returns a hundred or more, except pruning, which can wait.
-- Locks: as the part does.
create function _qwf.tick_part(p_part text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_part
    when 'reclaimed' then _qwf.rest_when_idle(p_part)
    when 'promoted' then _qwf.promote_due()
    when 'served' then _qwf.serve_runs(5000)
    when 'fired' then _qwf.fire_schedules()
    when 'allowed' then _qwf.redate_starts() + _qwf.wake_for_starts() + _qwf.try_held_tasks()
    when 'cancelled' then _qwf.settle_cancel_requests()
    when 'answered' then _qwf.rest_when_idle(p_part)
    when 'expired' then
      _qwf.expire_jobs() + _qwf.expire_inputs() + _qwf.expire_inputs(p_kind => 'signal')
    when 'overdue' then _qwf.fail_overdue_runs()
    when 'drained' then qwf.drain_outbox()
    when 'woken' then _qwf.rest_when_idle(p_part)
    when 'forgotten' then _qwf.forget_sleepers() + _qwf.forget_keys() + _qwf.find_floors()
    when 'rolled_up' then _qwf.roll_up_statistics()
    when 'recorded' then _qwf.record_minutes()
    when 'judged' then _qwf.judge()
    when 'numbered' then _qwf.number_and_match()
    when 'learned' then _qwf.learn_runs()
    when 'pruned' then _qwf.rest_when_idle(p_part)
  end;
end $$;

-- Runs one part of the tick, and rests it when it scanned much and found nothing: while somebody
-- holds a snapshot, vacuum leaves all past entries in the index. If the part reads more than
-- 10,000 entries and finds nothing, ticks skip it for twenty times as long as it took, ten
-- seconds at most.
create function _qwf.rest_when_idle(p_part text) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_indexes regclass[] := case p_part
    when 'reclaimed' then '{qwf.jobs_running}'
    when 'answered' then '{qwf.signals_look_at, qwf.waits_late}'
    when 'woken' then '{qwf.jobs_claim}'
    when 'pruned' then '{qwf.jobs_pkey, qwf.runs_finished, _qwf.event_log_seq,
      qwf.signals_keep_until}' end;
  v_began timestamptz := qwf.now();
  v_walked bigint := (select sum(_qwf.index_entries_walked(i)) from unnest(v_indexes) i);
  v_until timestamptz := (select r.until from _qwf.rests r where r.part = p_part);
  v_count int;
begin
  if v_until between v_began and v_began + interval '10 s' then
    return 0;
  end if;
  v_count := case p_part
    when 'reclaimed' then (select count(*) from _qwf.reclaim())
    when 'answered' then _qwf.match_signals()
    when 'woken' then _qwf.wake_overlooked()
    when 'pruned' then (select sum(p.value::int) from jsonb_each(qwf.prune()) p) end;
  v_until := null;
  if v_count = 0 and 10000 < (
    select sum(_qwf.index_entries_walked(i)) - v_walked from unnest(v_indexes) i)
  then
    v_until := qwf.now() + least(20 * (qwf.now() - v_began), '10 s');
  end if;
  if v_until is not null then
    update _qwf.rests r set until = v_until
    where r.ctid = (select f.ctid from _qwf.rests f where f.part = p_part for update skip locked);
  end if;
  return v_count;
end $$;

-- Queues scheduled jobs whose time has come. In the order of run_at. A guarded node goes back to
-- blocked, with an event that opens it, because its skip_if and its question are evaluated under
-- its run's lock.
-- Locks: due jobs that nobody else has locked.
-- Notifies: sleepers of the queues.
create function _qwf.promote_due(p_max_jobs int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with due as materialized (
    select j.id, j.run_at from qwf.jobs j
    where j.status = 'scheduled' and j.finished_at is null and j.run_at <= v_now
    order by j.finished_at, j.run_at  -- as jobs_due_or_failed has them
    limit p_max_jobs
    for no key update skip locked
  ), placed as materialized (
    select d.id, _qwf.next_position() as position
    from (select s.id from due s order by s.run_at, s.id) d
  ), promoted as (
    update qwf.jobs j set
      status = case when j.guarded and j.attempt = 0
        then 'blocked' else 'queued' end::qwf.job_status,
      position = p.position, queued_at = v_now
    from placed p
    where j.id = p.id
    returning j.id, j.run_id, j.queue, j.status
  ), event as (
    insert into qwf.outbox (run_id, job_id, kind)
    select p.run_id, p.id, 'ready' from promoted p where p.status = 'blocked'
  ), woken as (
    select _qwf.wake(p.queue, count(*)::int) from promoted p
    where p.status = 'queued'
    group by p.queue
  )
  select count(*) into v_count
  from promoted
  where (select count(*) from woken) >= 0;  -- a CTE that is not read does not run
  return v_count;
end $$;

-- Cancels standalone jobs that were not started in time. Only a job that was never claimed
-- expires, and claim does not hand it out any more. Bounded.
-- Locks: overdue jobs that nobody else has locked.
create function _qwf.expire_jobs() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with overdue as materialized (
    select j.id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id
    where w.kind = 'deadline' and w.at <= v_now
      and j.expires_at <= v_now and j.status in ('scheduled', 'queued') and j.attempt = 0
    order by w.at
    limit 1000
    for no key update of j skip locked
  ), expired as (
    update qwf.jobs j set
      status = 'cancelled', finished_at = v_now,
      last_error = format('expired: not started by %s', j.expires_at)
    from overdue o
    where j.id = o.id
    returning j.id, j.expires_at
  ), over as (
    delete from qwf.waits w using overdue o where w.job_id = o.id
  ), event as (
    insert into _qwf.event_log (at, job_id, kind, detail)
    select v_now, e.id, 'expired', jsonb_build_object('expires_at', e.expires_at)
    from expired e
  )
  select count(*) into v_count from expired;
  return v_count;
end $$;

-- Deletes the starts of keys that no longer count. 1000 at most, under the locks of the keys: a
-- claim that counts the starts of a key has it locked, so this neither waits for a claim nor
-- lets one wait.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
create function _qwf.forget_keys() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_count int;
begin
  delete from qwf.limit_keys k
  using (
    select o.name from (
      select e.name, e.ends_at from qwf.limit_keys e
      where e.ends_at < qwf.now() - interval '10 s' order by e.ends_at limit 1000) o
    where (select true from _qwf.hash_locks h
      where h.number = hashtextextended(o.name, 0) & 16383 for update skip locked)
  ) ended
  where k.name = ended.name and k.ends_at < qwf.now();
  get diagnostics v_count = row_count;
  return v_count;
end $$;
