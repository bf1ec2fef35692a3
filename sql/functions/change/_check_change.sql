-- Deploy qwf:functions/change/_check_change
-- Purpose: Refuses a queue or a limit that does not exist, a time that no client can read, and a
--   time for a job that runs next.
-- Locks: the limit, against being dropped.
-- Raises: QW001 unknown limit, QW005 a limit that counts by key without a key, invalid time or a
--   time with run_next, QW006 unknown queue.
-- Called by: change_job, change_jobs.

begin;

create function _qwf.check_change(
  p_queue text, p_run_at timestamptz, p_run_next boolean, p_limit_by text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if not _qwf.is_readable_time(p_run_at) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('run_at: %s', p_run_at),
      hint = 'give a time within the years 1 to 9999, or infinity';
  elsif p_queue is not null and (starts_with(p_queue, 'qwf.')
    or not exists (select from qwf.queues q where q.name = p_queue))
  then
    perform _qwf.raise_unknown_queue(p_queue);
  elsif p_run_next and p_run_at is not null then
    raise exception using errcode = 'QW005', message = 'run_next excludes run_at',
      detail = format('run_at: %s', p_run_at),
      hint = 'a job that runs next is due now: leave out one of them';
  end if;
  if p_limit_by <> '' then
    perform _qwf.lock_limits(p_limit_by);
    perform _qwf.check_limit('', p_limit_by);  -- a new statement: it sees what was waited for
  end if;
end $$;

commit;
