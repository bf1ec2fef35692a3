-- Deploy qwf:functions/shared/_as_number
-- Purpose: Returns a number that a worker reported, or null for any other value.
-- Guarantees: Never raises. Null above p_limit; rounded to millionths, so that a real can hold it.
-- Called by: finish_many, _write_ended, _record_unusual, attempt_overview, run_usage,
--   report_metrics, _gpu_minute, _check_servers, _why_not_started.

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
