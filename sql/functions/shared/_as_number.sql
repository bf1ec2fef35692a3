-- Deploy qwf:functions/shared/_as_number
-- Purpose: A number a worker reported, or null where it is none.
-- Guarantees: Never raises, whatever was sent; rounded to millionths, so that a real takes it too.
-- Called by: _write_completed, _write_uncompleted, _record_attempts, _record_unusual,
--   report_metrics.

begin;

create function _qwf.as_number(p_value jsonb, p_limit numeric default 9e15) returns numeric
language sql immutable
as $$
  select case when jsonb_typeof(p_value) = 'number' then
    case when abs(p_value::numeric) <= p_limit then round(p_value::numeric, 6) end
  end
$$;

commit;
