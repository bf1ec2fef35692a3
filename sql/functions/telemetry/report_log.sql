-- Deploy qwf:functions/telemetry/report_log
-- Purpose: Takes the end of what a running body has printed, for people who follow it.
-- Guarantees: Never waits; changes nothing for a stale token, or if nobody follows any more.
-- Locks: the row of the job in live_logs, if nobody has locked it.
-- Raises: QW005 for an invalid offset.

begin;

create function qwf.report_log(job_id bigint, token uuid, end_offset bigint, tail text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_attempt int;
begin
  if coalesce(report_log.end_offset < 0, true) then
    raise exception using errcode = 'QW005', message = 'invalid offset',
      detail = format('end_offset: %s', report_log.end_offset),
      hint = 'pass the number of bytes that the attempt has printed';
  end if;
  select j.attempt into v_attempt
  from qwf.jobs j
  where j.id = report_log.job_id and j.token = report_log.token;
  if not found then
    return false;
  end if;
  update qwf.live_logs l set
    attempt = v_attempt, end_offset = report_log.end_offset,
    tail = _qwf.tail(coalesce(report_log.tail, ''), s.max_log_bytes)
  from qwf.settings s, (
    select f.job_id from qwf.live_logs f
    where f.job_id = report_log.job_id and f.followed_until > v_now
    for no key update skip locked
  ) free
  where l.job_id = free.job_id;
  return exists (
    select from qwf.live_logs l
    where l.job_id = report_log.job_id and l.followed_until > v_now);
end $$;
comment on function qwf.report_log is
  'Stores the end of what a running body has printed, end_offset bytes so far; false if nobody '
  'follows any more, or if the token is stale.';
call _qwf.allow('qwf.report_log', 'qwf_worker');

commit;
