-- Deploy qwf:functions/shared/_as_object
-- Purpose: Returns a JSON value if it is an object, else an empty object.
-- Guarantees: Lets the checks of definitions continue on any value, so that one mistake does not
--   hide the others.
-- Called by: the checks of definitions.

begin;

create function _qwf.as_object(p_value jsonb) returns jsonb
language sql immutable parallel safe
return case jsonb_typeof(p_value) when 'object' then p_value else '{}' end;

commit;
