-- Deploy qwf:functions/telemetry/follow_log
-- Purpose: Returns what a running job has printed, and asks its worker to continue sending it.
-- Guarantees: Meant to be called about once a second: the worker sends for 10 seconds after the
--   last call. Writes nothing for a job that is not running, or while the worker sends for at least
--   5 more seconds. A new attempt begins with an empty row. The log of an attempt that has ended
--   is in job_attempts; the end of a stream that was followed is here for a minute.
-- Locks: the row of the job in live_logs; expired rows that nobody has locked.
-- Notifies: the worker, with log, if it is not sending yet.
-- Called by: people, qwf logs -f, jobs.stream.

begin;

create function qwf.follow_log(job_id bigint, stream_after bigint default null)
returns qwf.live_log
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_job qwf.jobs;
  v_log qwf.live_logs;
  v_digest uuid;
begin
  select j.* into v_job from qwf.jobs j where j.id = follow_log.job_id;
  if not found then
    perform _qwf.raise_no_such_job(follow_log.job_id);
  end if;
  select l.* into v_log from qwf.live_logs l where l.job_id = follow_log.job_id;
  if v_job.status = 'running' then
    v_digest := md5(v_job.token::text)::uuid;
    if not coalesce(v_log.worker = v_job.claimed_by and v_log.attempt_digest = v_digest
      and v_log.followed_until > v_now, false)
    then
      insert into qwf.live_logs as l (job_id, worker, followed_until, attempt_digest)
      values (v_job.id, v_job.claimed_by, v_now + interval '10 s', v_digest)
      on conflict (job_id) do update set
        worker = excluded.worker, followed_until = excluded.followed_until,
        attempt_digest = excluded.attempt_digest,
        attempt = case when l.attempt_digest = v_digest then l.attempt end,
        streamed = case when l.attempt_digest = v_digest then l.streamed end,
        stream = case when l.attempt_digest = v_digest then l.stream end,
        stream_ended = l.stream_ended and l.attempt_digest = v_digest;
      perform _qwf.forget_logs(v_now);
      perform pg_notify(qwf.wake_channel(v_job.claimed_by), 'log');
    elsif v_log.followed_until < v_now + interval '5 s' then
      update qwf.live_logs l set followed_until = v_now + interval '10 s'
      where l.job_id = v_job.id;
    end if;
  end if;
  if v_log.attempt is distinct from v_job.attempt then
    return row(v_job.status, v_job.attempt, null, null, null, null, null)::qwf.live_log;
  elsif follow_log.stream_after is not null then
    return row(v_job.status, v_log.attempt, null, null, v_log.streamed,
      right(v_log.stream, greatest(v_log.streamed - follow_log.stream_after, 0)::int),
      v_log.stream_ended)::qwf.live_log;
  elsif v_job.status <> 'running' then
    return row(v_job.status, v_job.attempt, null, null, null, null, null)::qwf.live_log;
  end if;
  return row(v_job.status, v_log.attempt, v_log.end_offset, v_log.tail, null, null, null
    )::qwf.live_log;
end $$;
comment on function qwf.follow_log is
  'Returns the status of a job and the end of what its running attempt has printed; asks the '
  'worker to send it for another 10 seconds. end_offset and tail are null until something has '
  'arrived. With stream_after, what its body has streamed after so many bytes takes their place: '
  'streamed bytes so far, and stream ends with the new ones; stream_ended: nothing comes any more. '
  'QW001 no such job.';
call _qwf.allow('qwf.follow_log', 'qwf_producer', 'qwf_viewer');

commit;
