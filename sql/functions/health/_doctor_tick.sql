-- Deploy qwf:functions/health/_doctor_tick
-- Purpose: Finds work that was due and that no tick has done.
-- Guarantees: Reads what runs and what is due, however many jobs there are and however old the
--   statistics: the plan is pinned.
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
end $$;

commit;
