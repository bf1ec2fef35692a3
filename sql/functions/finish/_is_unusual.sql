-- Deploy qwf:functions/finish/_is_unusual
-- Purpose: True when the detail of a report has something for _record_unusual: files, or keys
--   that nobody knows.
-- Called by: _drop_completed, _write_completed.

begin;

create function _qwf.is_unusual(p_detail jsonb) returns boolean
language sql immutable
as $$
  select p_detail - '{reason,exit_code,signal,max_rss_bytes,cpu_seconds,gpu_peak_bytes,log_tail,
    host,retry_after_s,usage}'::text[] not in ('{}', '{"files": []}', '{"files": null}')
$$;

commit;
