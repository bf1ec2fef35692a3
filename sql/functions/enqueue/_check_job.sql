-- Deploy qwf:functions/enqueue/_check_job
-- Purpose: Refuses a standalone job that could not run.
-- Guarantees: Finds every invalid argument of enqueue before a row is written.
-- Raises: QW005 for a bad value, QW001 for an unknown limit.
-- Called by: enqueue, _read_jobs.

begin;

create function _qwf.check_job(p_job _qwf.new_job, p_where text, p_max_bytes int) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when p_job.task is null or length(p_job.task) not between 1 and 200 or p_job.task ~ '\s'
      then 'task: 1 to 200 characters without blanks'
    when p_job.args is null or jsonb_typeof(p_job.args) <> 'object' then 'args: a JSON object'
    when jsonb_typeof(p_job.requires) <> 'object' then 'requires: a JSON object of labels'
    when jsonb_typeof(p_job.labels) <> 'object' then 'labels: a JSON object'
    when octet_length(p_job.key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
    when octet_length(p_job.project) > 500 then 'project: at most 500 bytes'
    when p_job.max_attempts < 1 then 'max_attempts: at least 1'
    when p_job.timeout <= '0 s' or p_job.timeout > '366 days'
      then 'timeout: positive, at most a year'
    when p_job.vram_mb < 0 then 'vram_mb: not negative'
    when p_job.on_failure not in ('fail', 'ask')
      then 'on_failure: fail or ask; continue is for nodes, a standalone job has no dependants'
    when p_job.run_at >= '10000-01-01' and isfinite(p_job.run_at)
      then 'run_at: before the year 10000, or infinity'
    when p_job.expires <= '0 s' or p_job.expires > '1000 years'
      then 'expires: positive, at most 1000 years'
    when p_job.backoff is not null and _qwf.backoff_seconds(p_job.backoff, 1) is null
      then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, "max": 600}'
  end;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid job', detail = p_where || v_problem,
      hint = 'correct the value and enqueue again; nothing was written';
  end if;
  if p_job.limit_by is not null then
    perform _qwf.check_limit(p_where, p_job.limit_by);
  end if;
  if octet_length(p_job.args::text) > p_max_bytes then
    raise exception using errcode = 'QW005', message = 'args too large',
      detail = format('%s%s bytes, at most %s', p_where, octet_length(p_job.args::text),
        p_max_bytes),
      hint = 'put large data in a file or table and pass its path or id';
  end if;
end $$;

commit;
