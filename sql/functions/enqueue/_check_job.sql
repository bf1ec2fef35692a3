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
    when p_job.task is null or length(p_job.task) not between 1 and 200
        or p_job.task ~ '[[:space:]]'
      then 'task: 1 to 200 characters without blanks'
    when p_job.args is null or jsonb_typeof(p_job.args) <> 'object' then 'args: a JSON object'
    when jsonb_typeof(p_job.requires) <> 'object' then 'requires: a JSON object of labels'
    when p_job.requires <> '{}' and _qwf.requires_problem(p_job.requires) is not null
      then 'requires: ' || _qwf.requires_problem(p_job.requires)
    when jsonb_typeof(p_job.labels) <> 'object' then 'labels: a JSON object'
    when p_job.key = '' then 'key: not empty; leave it out, or give null, for a job without a key'
    when octet_length(p_job.key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
    when octet_length(p_job.project) > 500 then 'project: at most 500 bytes'
    when p_job.max_attempts < 1 then 'max_attempts: at least 1'
    when length(p_job.model) not between 1 and 200 then 'model: 1 to 200 characters'
    when not _qwf.is_duration(p_job.timeout, '366 days') then 'timeout: positive, at most a year'
    when p_job.vram_mb < 0 then 'vram_mb: not negative'
    when p_job.on_failure not in ('fail', 'ask')
      then 'on_failure: fail or ask; continue is for nodes, a standalone job has no dependants'
    when not _qwf.is_readable_time(p_job.run_at)
      then 'run_at: within the years 1 to 9999, or infinity'
    when not _qwf.is_duration(p_job.expires, '1000 years')
      then 'expires: positive, at most 1000 years'
    when p_job.expires is not null
        and not _qwf.is_readable_time(greatest(p_job.run_at, qwf.now()) + p_job.expires)
      then 'expires: at a time before the year 10000'
    when p_job.backoff is not null and _qwf.backoff_seconds(p_job.backoff, 1) is null
      then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, '
        '"max": 600}, of at most 4 KiB; not ' || _qwf.excerpt(p_job.backoff, 100)
  end;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid job', detail = p_where || v_problem,
      hint = 'correct the value and enqueue again; nothing was written';
  end if;
  if p_job.limit_by is not null then
    perform _qwf.check_limit(p_where, p_job.limit_by);
  end if;
  -- smaller values need no look, and are the usual case: three calls would take as long as the rest
  if (case when pg_column_size(p_job.args) + pg_column_size(p_job.requires)
      + pg_column_size(p_job.labels) > 10000 then true
    else greatest(octet_length(p_job.args::text), octet_length(p_job.requires::text),
      octet_length(p_job.labels::text)) > least(1000, p_max_bytes) end) then
    perform _qwf.check_json(p_where || 'args', p_job.args, p_max_bytes),
      _qwf.check_json(p_where || 'requires', p_job.requires),
      _qwf.check_json(p_where || 'labels', p_job.labels);
  end if;
end $$;

commit;
