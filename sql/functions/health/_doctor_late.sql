-- Deploy qwf:functions/health/_doctor_late
-- Purpose: Finds work that is late: runs, workflows, schedules.
-- Guarantees: Reads what ticks have marked, and what is declared; 20 runs at most.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_late() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select 'problem', 'workflow ' || o.name,
    format('workflow %s has not succeeded for %s (expected: every %s)', o.name,
      _qwf.spell_duration(v_now - o.since), _qwf.spell_duration(o.every)),
    'see its runs: qwf runs workflow:' || o.name
  from _qwf.overdue_workflows(v_now) o
  order by o.name;
  return query
  select 'problem', 'schedule ' || l.name,
    format('schedule %s is late: %s', l.name, coalesce(
      format('due %s, not done within %s', _qwf.spell_moment(l.due_at),
        _qwf.spell_duration(l.takes)),
      'no success since ' || _qwf.spell_moment(l.last_success), 'it has never succeeded')),
    'see what became of its times: qwf schedule history ' || l.name
  from _qwf.late_schedules(v_now) l
  order by l.name;
  return query
  select 'note', 'run ' || r.id,
    format('run %s of %s is late: %s for %s', r.id, r.workflow,
      case r.status when 'queued' then 'it waits' else 'it runs' end,
      _qwf.spell_duration(v_now - coalesce(r.started_at, r.created_at))),
    'qwf show ' || r.id
  from qwf.runs r
  where r.status in ('queued', 'running', 'awaiting_input') and r.late_at is not null
  order by r.id
  limit 20;
end $$;

commit;
