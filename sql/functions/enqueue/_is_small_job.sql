-- Deploy qwf:functions/enqueue/_is_small_job
-- Purpose: True when the JSON values of a standalone job are so small that no limit matters.
-- Guarantees: Builds no text of a value over 10,000 bytes: numbers such as 1e131071 can make it ten
--   thousand times as long. PostgreSQL inlines it: three calls would take as long as the rest.
-- Called by: _check_job, enqueue_many.

begin;

create function _qwf.is_small_job(p_job _qwf.new_job, p_max_bytes int) returns boolean
language sql stable
return case when pg_column_size(p_job.args) + pg_column_size(p_job.requires)
    + pg_column_size(p_job.labels) <= 10000
  then greatest(octet_length(p_job.args::text), octet_length(p_job.requires::text),
    octet_length(p_job.labels::text)) <= least(1000, p_max_bytes)
  else false end;

commit;
