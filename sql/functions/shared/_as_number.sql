-- Deploy qwf:functions/shared/_as_number
-- Purpose: Returns a number that a worker reported, or null for any other value.
-- Guarantees: Never raises. Null above p_limit; rounded to millionths, so that a real can hold it.
-- Called by: what takes a report of a worker, and the views that show reports.

begin;

create function _qwf.as_number(p_value jsonb, p_limit numeric default 9e15) returns numeric
language sql immutable
as $$
  select case when jsonb_typeof(p_value) = 'number' then
    case when abs(p_value::numeric) <= p_limit then round(p_value::numeric, 6) end
  end
$$;
call _qwf.allow('_qwf.as_number', 'qwf_viewer');

commit;
