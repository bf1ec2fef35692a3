-- Deploy qwf:functions/workers/_series_problem
-- Purpose: Says what is wrong with the numbers of a body; null: nothing.
-- Called by: save_series.

begin;

create function _qwf.series_problem(p_series jsonb) returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text;
begin
  if jsonb_typeof(p_series) <> 'object'
    or jsonb_typeof(p_series -> 'names') is distinct from 'object'
    or not coalesce(_qwf.as_number(p_series -> 'left_out', 1e6) >= 0, not p_series ? 'left_out')
  then
    return 'not an object with names';
  end if;
  select case
      when s.position > 20 then 'more than 20 names'
      when s.key = '' or length(s.key) > 100 then 'a name is empty or longer than 100 letters'
      when jsonb_typeof(s.value -> 'points') is distinct from 'array' then s.key || ': no points'
      when jsonb_array_length(s.value -> 'points') > 500 then s.key || ': more than 500 points'
      when s.value ? 'reported' and _qwf.as_number(s.value -> 'reported', 1e15) is null
        then s.key || ': reported is not a number'
      when exists (
        select from jsonb_array_elements(s.value -> 'points') p (point)
        where not coalesce(jsonb_typeof(p.point) = 'array' and jsonb_array_length(p.point) = 2
          and jsonb_typeof(p.point -> 0) = 'number'
          and jsonb_typeof(p.point -> 1) in ('number', 'null'), false))
        then s.key || ': a point is not [step, value]'
    end
    into v_problem
  from jsonb_each(p_series -> 'names') with ordinality s (key, value, position)
  order by 1 nulls last
  limit 1;
  return v_problem;
end $$;

commit;
