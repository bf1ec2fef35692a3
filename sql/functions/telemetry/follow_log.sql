-- Deploy qwf:functions/telemetry/follow_log
-- Purpose: Returns what a running job has printed, and asks its worker to continue sending it.
-- Guarantees: Meant to be called about once a second: the worker sends for 10 seconds after the
--   last call. Writes nothing for a job that is not running. The log of an attempt that has ended
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
begin
  select j.* into v_job from qwf.jobs j where j.id = follow_log.job_id;
  if not found then
    perform _qwf.raise_no_such_job(follow_log.job_id);
  end if;
  select l.* into v_log from qwf.live_logs l where l.job_id = follow_log.job_id;
  if v_job.status = 'running' then
    perform _qwf.ask_for_log(v_job, v_log, v_now);
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
