-- Output of bodies, kept or followed live. Locks: rows of live_logs, most of them only if nobody
-- else has locked them.

create type qwf.live_log as (
  status qwf.job_status, attempt int, end_offset bigint, tail text,
  streamed bigint, stream text, stream_ended boolean);
comment on type qwf.live_log is
  'Status of a job, and the end of what its running attempt has printed: end_offset bytes so far; '
  'the same of what its body streams.';

-- Takes the end of what a running body has printed, for people who follow it. Never waits;
-- changes nothing for a stale token, or if nobody follows any more. The end of a stream is taken
-- also when the attempt has ended, because it may come after its report.
-- Locks: the row of the job in live_logs, if nobody has locked it.
-- Raises: QW005 for an invalid offset.
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

-- Returns what a running job has printed, and asks its worker to continue sending it. Meant to
-- be called about once a second: the worker sends for 10 seconds after the last call. Writes
-- nothing for a job that is not running, or while the worker sends for at least 5 more seconds.
-- A new attempt begins with an empty row. The log of an attempt that has ended is in
-- job_attempts; the end of a stream that was followed is here for a minute.
-- Locks: the row of the job in live_logs; expired rows that nobody has locked.
-- Notifies: the worker, with log, if it is not sending yet.
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

-- Deletes the live logs that nobody has followed for a minute. Waits for nobody.
-- Locks: the rows of live_logs that nobody else has locked.
create function _qwf.forget_logs(p_now timestamptz) returns void
language sql
as $$
  delete from qwf.live_logs l
  using (
    select f.job_id from qwf.live_logs f
    where f.followed_until < p_now - interval '1 min'
    for update skip locked
  ) expired
  where l.job_id = expired.job_id
$$;

-- Returns a worker's running jobs whose logs somebody follows.
create function qwf.followed_logs(worker text) returns setof bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select l.job_id
  from qwf.live_logs l join qwf.jobs j on j.id = l.job_id
  where l.worker = followed_logs.worker and l.followed_until > v_now
    and j.status = 'running' and j.claimed_by = followed_logs.worker
  order by l.job_id;
end $$;
comment on function qwf.followed_logs is
  'Returns the running jobs of a worker whose logs it should send with report_log.';
call _qwf.allow('qwf.followed_logs', 'qwf_worker');

-- Returns the end of what an attempt at a job has printed. Empty if it printed nothing. Null
-- until the attempt has ended, without an attempt until one has; also null if the worker sent no
-- log. follow_log() has what a running attempt prints.
create function qwf.read_log(job_id bigint, attempt int default null) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_attempts int;
begin
  select j.attempt into v_attempts from qwf.jobs j where j.id = read_log.job_id;
  if not found then
    perform _qwf.raise_no_such_job(read_log.job_id);
  end if;
  if read_log.attempt not between 1 and v_attempts then
    raise exception using errcode = 'QW001', message = 'no such attempt',
      detail = format('attempt %s of job %s; attempts so far: %s',
        read_log.attempt, read_log.job_id, v_attempts),
      hint = 'leave attempt out to read the newest log';
  end if;
  return (
    select a.log_tail
    from qwf.job_attempts a
    where a.job_id = read_log.job_id
      and (read_log.attempt is null or a.attempt = read_log.attempt)
    order by a.attempt desc
    limit 1);
end $$;
comment on function qwf.read_log is
  'End of what an attempt at a job printed, the newest ended one if none is named; empty: it '
  'printed nothing, null: it has not ended, or its worker sent no log. QW001: no such job or '
  'attempt.';
call _qwf.allow('qwf.read_log', 'qwf_producer', 'qwf_viewer');
