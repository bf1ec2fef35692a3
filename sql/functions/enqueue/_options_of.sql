-- Deploy qwf:functions/enqueue/_options_of
-- Purpose: Returns the tries and times of its own that a standalone job has; null: none.
-- Guarantees: PostgreSQL inlines it.
-- Called by: _change_merged, _insert_job, _insert_keyless.

begin;

create function _qwf.options_of(p_job _qwf.new_job, p_start_by timestamptz)
returns qwf.job_options
language sql immutable
as $$
  select case
    when num_nonnulls(p_job.max_attempts, p_job.max_losses, p_job.backoff, p_job.timeout,
      p_start_by) > 0
    then (p_job.max_attempts, p_job.max_losses, p_job.backoff, p_job.timeout, null,
      p_start_by)::qwf.job_options end
$$;

commit;
