-- Deploy qwf:functions/shared/_as_list
-- Purpose: Returns a JSON value if it is a list, else an empty list.
-- Guarantees: Lets the checks of definitions continue on any value, so that one mistake does not
--   hide the others.
-- Called by: the checks of definitions.

begin;

create function _qwf.as_list(p_value jsonb) returns jsonb
language sql immutable parallel safe
return case jsonb_typeof(p_value) when 'array' then p_value else '[]' end;

commit;
