-- Deploy qwf:functions/answers/_chosen
-- Purpose: Returns a valid answer as it is recorded: the whole option, also if the answer names it
--   by its value or id.
-- Guarantees: The same choice gives the same answer, however it is made: by its name, by its number
--   or on the page.
-- Called by: _apply_answer, _complete_with_signal.

begin;

create function _qwf.chosen(p_spec jsonb, p_value jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offered jsonb := _qwf.offered(p_spec);
begin
  if jsonb_typeof(p_value) = 'array' and (p_spec -> 'multiple') = 'true' then
    return (
      select coalesce(jsonb_agg(_qwf.chosen(p_spec - 'multiple', e.value) order by e.n), '[]')
      from jsonb_array_elements(p_value) with ordinality e (value, n));
  end if;
  return coalesce(
    (
      select o.value
      from jsonb_array_elements(v_offered) with ordinality o (value, n)
      where p_value in (o.value, o.value -> 'value', o.value -> 'id')
      order by o.value <> p_value, o.n
      limit 1
    ), p_value);
end $$;

commit;
