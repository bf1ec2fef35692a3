-- Deploy qwf:functions/health/_doctor_settings
-- Purpose: Finds intervals of the settings that do not fit each other.
-- Guarantees: heartbeat needs no look: agents keep it to a third of the lease at most.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_settings() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select f.level, f.setting, f.says, format('qwf settings %s TIME', f.setting)
  from qwf.settings s
  cross join lateral (values
    ('problem', 'worker_stale', s.worker_stale < s.heartbeat * 2, format('worker_stale %s is '
      'shorter than two heartbeats: live workers are taken for dead',
      _qwf.spell_duration(s.worker_stale))),
    ('problem', 'tick', s.tick > s.lease,
      'tick is longer than the lease: lost jobs wait for the next tick'),
    ('note', 'poll', s.poll > interval '1 min',
      format('poll is %s: a lost wake-up delays work that long', _qwf.spell_duration(s.poll)))
  ) f (level, setting, found, says)
  where f.found;
end $$;

commit;
