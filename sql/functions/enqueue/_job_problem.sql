-- Deploy qwf:functions/enqueue/_job_problem
-- Purpose: Returns what is wrong with a standalone job as such, or null.
-- Guarantees: Looks at no table, and not at the size of JSON values. PostgreSQL inlines it, so a
--   statement that checks a list of jobs makes no call for each.
-- Called by: _check_job, enqueue_many.

begin;

create function _qwf.job_problem(p_job _qwf.new_job) returns text
language sql volatile
return case
  when p_job.task is null or length(p_job.task) not between 1 and 200
    or p_job.task ~ '[[:space:]]'
    then 'task: 1 to 200 characters without blanks'
  when starts_with(p_job.task, 'qwf.') then 'task: names that begin with qwf. belong to the engine'
  when p_job.args is null or jsonb_typeof(p_job.args) <> 'object' then 'args: a JSON object'
  when jsonb_typeof(p_job.requires) <> 'object' then 'requires: a JSON object of labels'
  when p_job.requires <> '{}' and _qwf.requires_problem(p_job.requires) is not null
    then 'requires: ' || _qwf.requires_problem(p_job.requires)
  when jsonb_typeof(p_job.labels) <> 'object' then 'labels: a JSON object'
  when p_job.labels - '{traceparent,tracestate}'::text[] not in ('{}', '{"qwf.checked": true}')
    and _qwf.engine_label(p_job.labels) is not null
    then 'labels: names that begin with qwf. are the engine''s own: '
      || _qwf.engine_label(p_job.labels)
  when p_job.key = '' then 'key: not empty; leave it out, or give null, for a job without a key'
  when p_job.once and p_job.key is null
    then 'once: needs a key, because it keeps the key taken after the job has ended'
  when p_job.key_mode not in ('keep', 'replace', 'refuse')
    then 'key_mode: keep, replace or refuse'
  when p_job.key_mode is not null and p_job.key is null then 'key_mode: needs a key'
  when p_job.key_mode is not null and p_job.once
    then 'key_mode: not with once, which takes the key for good'
  when octet_length(p_job.key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
  when octet_length(p_job.project) > 500 then 'project: at most 500 bytes'
  when p_job.max_attempts < 1 then 'max_attempts: at least 1'
  when p_job.max_losses < 1 then 'max_losses: at least 1; 1 stands for no second try'
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
  when num_nonnulls(p_job.debounce, p_job.debounce_max) > 0 then _qwf.debounce_problem(p_job)
end;

commit;
