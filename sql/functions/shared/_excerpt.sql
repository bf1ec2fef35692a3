-- Deploy qwf:functions/shared/_excerpt
-- Purpose: Returns the beginning of a JSON value as text, for the detail of an error.
-- Guarantees: Does not build the text of a value over 10,000 bytes: numbers such as 1e131071 can
--   make it ten thousand times as long.
-- Called by: _check_filter, _check_run, _check_task_options, _job_problem, _raise_malformed_report,
--   _read_jobs, _read_settings, context_notes, heartbeat, register_worker,
--   report_event, report_metrics, update_worker.

begin;

create function _qwf.excerpt(p_value jsonb, p_length int default 200) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when pg_column_size(p_value #> '{}') > 10000 then 'a value of more than 10,000 bytes'
    else left(p_value::text, p_length) end
$$;

commit;
