-- Deploy qwf:functions/json_schema/_is_right_scalar
-- Purpose: True when a value is neither an object nor a list and fits a schema that says nothing of
--   the text of a string. False says nothing: _violations looks.
-- Guarantees: Takes a small part of the time of _violations, so that a list of 300,000 right
--   numbers does not keep a claim for seconds. One expression, so that it is inlined.
-- Called by: _violations.

begin;

create function _qwf.is_right_scalar(p_value jsonb, p_schema jsonb) returns boolean
language sql immutable parallel safe
return jsonb_typeof(p_value) not in ('object', 'array')
  and case jsonb_typeof(p_value)
    when 'number' then coalesce(p_value >= p_schema -> 'minimum', true)
      and coalesce(p_value <= p_schema -> 'maximum', true)
    when 'string' then not p_schema ?| '{minLength,maxLength,pattern}'
    else true end
  and case when p_schema ? 'type' then _qwf.is_type(p_value, p_schema -> 'type') else true end
  and case when p_schema ? 'enum' then p_schema -> 'enum' @> p_value else true end;

commit;
