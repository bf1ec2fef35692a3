-- Deploy qwf:functions/_check_job
-- requires: schema/settings
-- requires: functions/_raise_unknown_queue
-- requires: functions/_backoff_seconds
-- requires: functions/_check_limit
-- Purpose: Refuses a standalone job that could not run.
-- Guarantees: Everything that can be wrong with the arguments of enqueue is found before a row is
--   written.
-- Raises: QW005 for a bad value, QW006 for an unknown queue, QW001 for an unknown limit.
-- Called by: enqueue, _read_jobs.

begin;

create function qwf._check_job(
  p_where text, p_task text, p_args jsonb, p_queue text, p_backoff jsonb, p_requires jsonb,
  p_labels jsonb, p_max_attempts int, p_timeout interval, p_vram_mb int, p_limit_by text,
  p_on_failure text, p_expires interval)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when p_task is null or p_task !~ '^\S{1,200}$' then 'task: 1 to 200 characters without blanks'
    when p_args is null or jsonb_typeof(p_args) <> 'object' then 'args: a JSON object'
    when jsonb_typeof(coalesce(p_requires, '{}')) <> 'object'
      then 'requires: a JSON object of labels'
    when jsonb_typeof(coalesce(p_labels, '{}')) <> 'object' then 'labels: a JSON object'
    when p_max_attempts < 1 then 'max_attempts: at least 1'
    when p_timeout <= '0 s' or p_timeout > '366 days' then 'timeout: positive, at most a year'
    when p_vram_mb < 0 then 'vram_mb: not negative'
    when p_on_failure not in ('fail', 'ask')
      then 'on_failure: fail or ask; nothing hangs on a standalone job that could continue'
    when p_expires <= '0 s' then 'expires: positive'
    when p_backoff is not null and qwf._backoff_seconds(p_backoff, 1) is null
      then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, "max": 600}'
  end;
  v_max int;
  v_known boolean;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid job', detail = p_where || v_problem,
      hint = 'correct the value and enqueue again; nothing was written';
  end if;
  select s.max_value_bytes, exists (select from qwf.queues q where q.name = p_queue)
    into v_max, v_known
  from qwf.settings s;
  if not v_known then
    perform qwf._raise_unknown_queue(p_queue, p_where);
  end if;
  if p_limit_by is not null then
    perform qwf._check_limit(p_where, p_limit_by);
  end if;
  if octet_length(p_args::text) > v_max then
    raise exception using errcode = 'QW005', message = 'args too large',
      detail = format('%s%s bytes, at most %s', p_where, octet_length(p_args::text), v_max),
      hint = 'put large data in a file or table and pass where it is';
  end if;
end $$;
comment on function qwf._check_job(
  text, text, jsonb, text, jsonb, jsonb, jsonb, int, interval, int, text, text, interval) is
  'Raises QW001, QW005 or QW006 for a standalone job that could not run; p_where stands in front '
  'of the detail.';
revoke all on function qwf._check_job(
  text, text, jsonb, text, jsonb, jsonb, jsonb, int, interval, int, text, text, interval)
  from public;

commit;
