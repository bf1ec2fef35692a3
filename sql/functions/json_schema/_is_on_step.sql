-- Deploy qwf:functions/json_schema/_is_on_step
-- Purpose: True when a number is the start, or 0, plus a multiple of the step.
-- Guarantees: Exact: the numbers are decimal. Never raises: a number of more than 1000 digits
--   before the point is on no step, as its distance from the start could be too large for a number.
-- Called by: _answer_problems.

begin;

create function _qwf.is_on_step(p_value jsonb, p_step jsonb, p_start jsonb) returns boolean
language sql immutable parallel safe
return case
  when p_step is null then true
  when abs(p_value::numeric) >= 1e1000 then false
  else (p_value::numeric - coalesce(p_start::numeric, 0)) % p_step::numeric = 0 end;

commit;
