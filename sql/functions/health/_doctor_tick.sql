-- Deploy qwf:functions/health/_doctor_tick
-- Purpose: Finds work that was due and that no tick has done, events that get no number, and who
--   keeps ticks from giving numbers.
-- Guarantees: Reads what runs and what is due, however many jobs there are and however old the
--   statistics: the plan is pinned. Names a process that has locked the table of numbers for a
--   minute: only ticks and what they call lock it, and they do so until their transaction ends.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_tick() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_late timestamptz := v_now - interval '1 min';
  v_oldest timestamptz := (
    select e.at from _qwf.event_log e where e.seq is null order by e.id limit 1);
  v_hint constant text := 'start an agent; or on a box without one: qwf tick --loop';
begin
  return query
  select 'problem', null, format('the last tick was %s ago: no due work is done',
    _qwf.spell_duration(v_now - t.at)), v_hint
  from (select to_timestamp(l.last_value / 1000.0) as at from qwf.last_tick l
    where l.last_value > 0) t
  where t.at < v_late;
  return query
  select 'problem', null,
    'leases that expired but were not taken back: ' || _qwf.counted(c.jobs, 'job'), v_hint
  from (select count(*) as jobs from qwf.jobs j
    where j.status = 'running' and j.lease_expires_at < v_late) c
  where c.jobs > 0;
  return query
  select 'problem', null, 'due but not queued: ' || _qwf.counted(c.jobs, 'job'), v_hint
  from (select count(*) as jobs from qwf.jobs j
    where j.status = 'scheduled' and j.finished_at is null and j.run_at < v_late) c
  where c.jobs > 0;
  return query
  select 'problem', 'schedule ' || s.name,
    format('schedule %s was due at %s', s.name, _qwf.spell_moment(s.next_at)), v_hint
  from qwf.schedules s
  where s.next_at < v_late
  order by s.next_at;
  return query
  select 'problem', 'pid ' || a.pid,
    format('%s (%s, pid %s) called tick() and left its transaction open: events get no numbers',
      a.usename, coalesce(nullif(a.application_name, ''), 'no application_name'), a.pid),
    format('let it commit, or: select pg_terminate_backend(%s);', a.pid)
  from pg_stat_activity a
  where a.pid <> pg_backend_pid()
    and coalesce(a.xact_start < v_late, v_oldest < v_late)  -- null: this login may not see it
    and exists (
      select from pg_locks l
      where l.pid = a.pid and l.granted and l.relation = '_qwf.event_numbers'::regclass
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.mode in ('RowShareLock', 'RowExclusiveLock'))
  order by a.pid;
  if not found and v_oldest < v_late then
    return query
    select 'problem', null,
      format('the oldest event without a number happened %s ago',
        _qwf.spell_duration(v_now - v_oldest)),
      'see what ticks do, and whether they warn: qwf tick';
  end if;
end $$;

commit;
