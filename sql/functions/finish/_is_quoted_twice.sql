-- Deploy qwf:functions/finish/_is_quoted_twice
-- Purpose: True if the output of a completed body is a JSON string that holds an object or null: a
--   driver has turned text that was JSON into JSON again. The body has done its work, so the report
--   is refused and can be sent again; an output of another type fails the job.
-- Called by: _read_reports, _raise_malformed_report.

begin;

create function _qwf.is_quoted_twice(p_outcome text, p_output jsonb) returns boolean
language sql immutable
as $$
  select coalesce(p_outcome = 'completed' and jsonb_typeof(p_output) = 'string'
    and p_output #>> '{}' ~ '^[[:space:]]*([{].*[}]|null)[[:space:]]*$', false)
$$;

commit;
