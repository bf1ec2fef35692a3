-- Deploy qwf:functions/events/_error_line
-- Purpose: Returns the most telling line of an error: the last of a bare Python traceback, else the
--   first.
-- Guarantees: Reads the start of an error, 1000 letters, and returns at most 200 of them, so that
--   no error takes long. Only of a traceback alone does it read the end; the letters of all of it
--   are counted only if its last line is blank, because that takes long.
-- Called by: _announce_trouble, _doctor_alerts, _end_failed_runs, _go_on, _job_matches,
--   _newest_failures, find_jobs, why_not.

begin;

create function _qwf.error_line(p_error text) returns text
language sql immutable parallel safe
as $$
  select left(case when left(p_error, 9) = 'Traceback'
    then coalesce(
      nullif(rtrim(left(split_part(p_error, E'\n', -1), 1000), E' \t\r\n'), ''),
      split_part(rtrim(right(p_error, 1000), E' \t\r\n'), E'\n', -1))
    else split_part(ltrim(left(p_error, 1000), E' \t\r\n'), E'\n', 1) end, 200)
$$;

commit;
