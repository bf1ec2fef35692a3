-- Deploy qwf:functions/enqueue/_debounce_problem
-- Purpose: Returns what is wrong with the debounce of a standalone job, or null.
-- Guarantees: Is not inlined, because of its search_path: jobs without debounce, which are checked
--   by the same expression, do not pay for it.
-- Called by: _job_problem.

begin;

create function _qwf.debounce_problem(p_job _qwf.new_job) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_job.debounce is null then 'debounce_max: needs debounce'
    when p_job.key is null or p_job.once or p_job.key_mode = 'refuse'
      then 'debounce: needs a key, and key_mode keep or replace'
    when p_job.run_at is not null then 'debounce: not with run_at, which it sets'
    when not _qwf.is_duration(p_job.debounce, '366 days') then 'debounce: positive, at most a year'
    when not _qwf.is_duration(p_job.debounce_max, '3660 days', p_job.debounce)
      then 'debounce_max: at least debounce, at most ten years'
  end
$$;

commit;
