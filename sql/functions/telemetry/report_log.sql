-- Deploy qwf:functions/telemetry/report_log
-- Purpose: Takes the end of what a running body has printed, for people who follow it.
-- Guarantees: Never waits; changes nothing for a stale token, or if nobody follows any more. The
--   end of a stream is taken also when the attempt has ended, because it may come after its report.
-- Locks: the row of the job in live_logs, if nobody has locked it.
-- Raises: QW005 for an invalid offset.

begin;

create function qwf.report_log(
  job_id bigint, token uuid, end_offset bigint, tail text, streamed bigint default null,
  stream text default null, stream_ended boolean default false)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_attempt int;
  v_runs boolean;
begin
  if coalesce(report_log.end_offset < 0, true) or report_log.streamed < 0 then
    raise exception using errcode = 'QW005', message = 'invalid offset',
      detail = format('end_offset: %s, streamed: %s', report_log.end_offset, report_log.streamed),
      hint = 'pass the number of bytes that the attempt has printed';
  end if;
  select j.attempt into v_attempt
  from qwf.jobs j
  where j.id = report_log.job_id and j.token = report_log.token;
  v_runs := found;
  update qwf.live_logs l set
    attempt = coalesce(v_attempt, l.attempt),
    end_offset = case when v_runs then report_log.end_offset else l.end_offset end,
    tail = case when v_runs then _qwf.tail(coalesce(report_log.tail, ''), s.max_log_bytes)
      else l.tail end,
    streamed = coalesce(report_log.streamed, l.streamed),
    stream = coalesce(_qwf.tail(report_log.stream, 65536), l.stream),
    stream_ended = coalesce(report_log.stream_ended, false)
  from qwf.settings s, (
    select f.job_id from qwf.live_logs f
    where f.job_id = report_log.job_id and f.followed_until > v_now
      and (v_runs or (report_log.stream_ended and f.attempt is not null
        and f.attempt_digest = md5(report_log.token::text)::uuid))
    for no key update skip locked
  ) free
  where l.job_id = free.job_id;
  if report_log.stream_ended or not v_runs then
    return found;
  end if;
  return exists (
    select from qwf.live_logs l
    where l.job_id = report_log.job_id and l.followed_until > v_now);
end $$;
comment on function qwf.report_log is
  'Stores the end of what a running body has printed, end_offset bytes so far, and of what it has '
  'streamed; false if nobody follows any more, or if the token is stale. stream_ended, when its '
  'body has ended: nothing comes any more; false if that is not stored.';
call _qwf.allow('qwf.report_log', 'qwf_worker');

commit;
