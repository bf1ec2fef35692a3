-- Deploy qwf:functions/health/_doctor_schedules
-- Purpose: Finds schedules that fail, and questions that wait for long.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_schedules() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select 'problem', 'schedule ' || s.name,
    format('schedule %s could not enqueue: %s', s.name, _qwf.one_line(s.last_error)),
    'correct it: qwf schedule add'
  from qwf.schedules s
  where s.enabled and s.last_error is not null
  order by s.name;
  return query
  select 'note', null, format('%s questions wait, the oldest for %s', q.questions,
    _qwf.spell_duration(q.age)), 'qwf inputs'
  from (
    select count(*) as questions, max(p.age) as age from qwf.pending_inputs p
    where p.age > interval '1 day') q
  where q.questions > 0;
end $$;

commit;
