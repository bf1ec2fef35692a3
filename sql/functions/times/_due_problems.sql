-- Deploy qwf:functions/times/_due_problems
-- Purpose: Returns what is wrong with the references in the args or options of a schedule.
-- Guarantees: Names each reference that is no part of due, also one that has a default.
-- Called by: _work_problems.

begin;

create function _qwf.due_problems(p_value jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select e.path, coalesce(_qwf.malformed(e.expression),
      format('there is no %s', array_to_string(
        _qwf.segments(e.expression -> '$from'), '.')), 'is not a reference to due'),
    '"due" has at, date, hour, previous, next: {"$from": "due.date"}; {"$value": ...} passes '
    'an object with a key that begins with $ as it is'
  from _qwf.expressions(p_value, p_path) e
  where _qwf.malformed(e.expression) is not null or e.expression ? '$check'
    or e.expression ? '$from' and (
      array_to_string(_qwf.segments(e.expression -> '$from'), '.')
        ~ '^due([.](previous|next))?([.](at|date|hour))?$') is not true;
end $$;

commit;
