-- Deploy qwf:functions/_names
-- requires: functions/_expressions
-- requires: functions/_segments
-- Purpose: The first segments of all references in a value: the names it uses.
-- Guarantees: Each name once; malformed references name nothing.
-- Called by: _compile_step.

begin;

create function qwf._names(p_value jsonb) returns setof text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select distinct used.segments[1]
    from (
      select qwf._segments(e.expression -> '$from') as segments
      from qwf._expressions(p_value, '') e
      offset 0) used
    where used.segments is not null;
end $$;

comment on function qwf._names(jsonb) is 'Returns each name that references in a value start from.';
revoke all on function qwf._names(jsonb) from public;

commit;
