-- Deploy qwf:functions/telemetry/_ask_for_log
-- Purpose: Asks the worker of a running job to send its log and its stream for 10 seconds.
-- Guarantees: Writes nothing while the worker sends for at least 5 more seconds. A new attempt
--   begins with an empty row.
-- Locks: the row of the job in live_logs; expired rows that nobody has locked.
-- Notifies: the worker, with log, if it is not sending yet.
-- Called by: follow_log.

begin;

create function _qwf.ask_for_log(p_job qwf.jobs, p_log qwf.live_logs, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_digest uuid := md5(p_job.token::text)::uuid;
  v_sending boolean := coalesce(
    p_log.worker = p_job.claimed_by and p_log.attempt_digest = v_digest
      and p_log.followed_until > p_now, false);
begin
  if not v_sending then
    insert into qwf.live_logs as l (job_id, worker, followed_until, attempt_digest)
    values (p_job.id, p_job.claimed_by, p_now + interval '10 s', v_digest)
    on conflict (job_id) do update set
      worker = excluded.worker, followed_until = excluded.followed_until,
      attempt_digest = excluded.attempt_digest,
      attempt = case when l.attempt_digest = v_digest then l.attempt end,
      streamed = case when l.attempt_digest = v_digest then l.streamed end,
      stream = case when l.attempt_digest = v_digest then l.stream end,
      stream_ended = l.stream_ended and l.attempt_digest = v_digest;
    perform _qwf.forget_logs(p_now);
    perform pg_notify(qwf.wake_channel(p_job.claimed_by), 'log');
  elsif p_log.followed_until < p_now + interval '5 s' then
    update qwf.live_logs l set followed_until = p_now + interval '10 s'
    where l.job_id = p_job.id;
  end if;
end $$;

commit;
