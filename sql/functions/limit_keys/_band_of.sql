-- Deploy qwf:functions/limit_keys/_band_of
-- Purpose: Returns the band of a line in which a job waits: its priority, and far below that with
--   run_next; null: it does not wait.
-- Guarantees: The second column of the index jobs_keyed, as _line_of is the first.
-- Called by: every function that walks along jobs_keyed.

begin;

create function _qwf.band_of(p_job qwf.jobs) returns bigint
language sql immutable
as $$
  select case when p_job.status = 'queued'
    then p_job.priority - case when p_job.run_next then 4294967296 else 0 end end
$$;

commit;
