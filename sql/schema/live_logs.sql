-- Deploy qwf:schema/live_logs
-- Output of running bodies, for people who follow a log right now. Nothing is written while nobody
-- follows.

begin;

create unlogged table qwf.live_logs (
  job_id bigint primary key,
  worker text not null,
  followed_until timestamptz not null,
  attempt int,
  end_offset bigint check (end_offset >= 0),
  tail text,
  attempt_digest uuid,
  streamed bigint check (streamed >= 0),
  stream text,
  stream_ended boolean not null default false
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
comment on table qwf.live_logs is
  'A running job whose log somebody follows, with the end of what its body has printed.';
comment on column qwf.live_logs.job_id is 'The job.';
comment on column qwf.live_logs.worker is 'Worker that was asked for the log.';
comment on column qwf.live_logs.followed_until is
  'Until when the worker sends the log; followers extend it.';
comment on column qwf.live_logs.attempt is
  'Attempt that printed it; null: nothing has arrived yet.';
comment on column qwf.live_logs.end_offset is
  'Number of bytes that the attempt has printed up to the end of tail.';
comment on column qwf.live_logs.tail is 'The end of what the attempt has printed.';
comment on column qwf.live_logs.attempt_digest is
  'Digest of the token of the attempt: its worker may send the end of the stream when the attempt '
  'has ended.';
comment on column qwf.live_logs.streamed is
  'Number of bytes that the body has streamed up to the end of stream.';
comment on column qwf.live_logs.stream is 'The end of what the body has streamed, at most 64 KiB.';
comment on column qwf.live_logs.stream_ended is 'True: nothing comes any more.';

create type qwf.live_log as (
  status qwf.job_status, attempt int, end_offset bigint, tail text,
  streamed bigint, stream text, stream_ended boolean);
comment on type qwf.live_log is
  'Status of a job, and the end of what its running attempt has printed: end_offset bytes so far; '
  'the same of what its body streams.';

commit;
