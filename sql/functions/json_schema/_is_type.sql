-- Deploy qwf:functions/json_schema/_is_type
-- Purpose: True when a value has the type, or one of the types, that a schema names.
-- Guarantees: An integer is a number without a fraction, however it is written; number includes
--   integers.
-- Called by: _is_right_scalar, _misfits, _misfits_at, _violations.

begin;

create function _qwf.is_type(p_value jsonb, p_types jsonb) returns boolean
language sql immutable parallel safe
return p_types ? jsonb_typeof(p_value)
  or p_types ? 'integer'
    and case when jsonb_typeof(p_value) = 'number' then p_value::numeric % 1 = 0 else false end;

commit;
