-- Deploy qwf:functions/graphs/_named_inputs
-- Purpose: Returns inputs as an object, by name, whichever form they were written in.
-- Guarantees: [{"name": "boxes", "from": "detect.boxes"}] becomes {"boxes": {"$from":
--   "detect.boxes"}}. Invalid entries are left out, because _misfits reports them.
-- Called by: the functions that check and compile definitions.

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
