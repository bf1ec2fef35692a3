-- Deploy qwf:functions/health/_doctor_runs
-- Purpose: Finds events that were given up, or that wait to be applied.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_runs() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select 'problem', 'run ' || o.run_id, format('run %s: an event could not be applied: %s',
      o.run_id, _qwf.one_line(o.error)),
    format('read the reason, fix it, then: qwf retry run %s', o.run_id)
  from qwf.outbox o
  where o.poisoned_at is not null
  order by o.id
  limit 5;
  return query
  select 'problem', 'run ' || w.run_id,
    format('%s events wait to be applied, the oldest for %s (run %s)', w.events,
      _qwf.spell_duration(v_now - w.since), w.run_id),
    'does an agent tick? Does an open transaction hold the run? qwf tick prints what fails'
  from (
    select count(*) as events, min(o.created_at) as since, min(o.run_id) as run_id
    from qwf.outbox o
    where o.poisoned_at is null and o.created_at < v_now - interval '1 min') w
  where w.events > 0;
end $$;

commit;
