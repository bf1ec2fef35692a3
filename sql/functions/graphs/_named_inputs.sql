-- Deploy qwf:functions/graphs/_named_inputs
-- Purpose: Inputs by name, whichever form they were written in.
-- Guarantees: [{"name": "boxes", "from": "detect.boxes"}] is {"boxes": {"$from": "detect.boxes"}};
--   anything unusable is left out, for _input_problems to report.
-- Called by: the checks and the compilation of definitions.

begin;

create function _qwf.named_inputs(p_inputs jsonb) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case jsonb_typeof(p_inputs)
    when 'object' then p_inputs
    when 'array' then coalesce(
      (select jsonb_object_agg(i ->> 'name', jsonb_build_object('$from', i -> 'from'))
       from jsonb_array_elements(p_inputs) i
       where jsonb_typeof(i -> 'name') = 'string' and i ? 'from'),
      '{}')
    else '{}'
  end;
end $$;

commit;
