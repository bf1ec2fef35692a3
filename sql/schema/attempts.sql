-- Everything that attempts leave: outcomes, answers, files, checkpoints, numbers and logs.

-- Attempts that have ended. Rows are added, deleted with their job, and overwritten by erase().
create table qwf.job_attempts (
  job_id bigint not null,
  attempt int not null,
  token uuid,
  worker text,
  queued_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz not null,
  outcome text not null,
  error text,
  log_tail text,
  detail jsonb not null default '{}',
  primary key (job_id, attempt)
);
comment on table qwf.job_attempts is 'One finished attempt at a job.';
comment on column qwf.job_attempts.job_id is 'The job.';
comment on column qwf.job_attempts.attempt is 'Which claim of the job it was, from 1.';
comment on column qwf.job_attempts.token is
  'Token of that claim, so that a repeated report is answered ok.';
comment on column qwf.job_attempts.worker is 'Worker that held it.';
comment on column qwf.job_attempts.queued_at is 'When the job had become claimable.';
comment on column qwf.job_attempts.started_at is 'When it was claimed.';
comment on column qwf.job_attempts.finished_at is 'When its end was recorded.';
comment on column qwf.job_attempts.outcome is
  'completed, error, fatal, tempfail, lost, released or cancelled.';
comment on column qwf.job_attempts.error is 'Error text; of a long one, the start and the end.';
comment on column qwf.job_attempts.log_tail is
  'Output of the body; of a long log its beginning, how many bytes are left out, and its end. '
  'Null: the worker sent no log.';
comment on column qwf.job_attempts.detail is
  'The rest of the report, as it came: reason, exit_code, signal, max_rss_bytes, cpu_seconds, '
  'gpu_peak_bytes, usage, batch and so on. The view attempt_overview has them as columns.';

create table qwf.input_answers (
  id bigint generated always as identity primary key,
  job_id bigint not null,
  run_id bigint,
  node_id text,
  value jsonb,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  by_default boolean not null default false,
  answered_at timestamptz not null default clock_timestamp()
);

create index input_answers_job on qwf.input_answers (job_id);
comment on table qwf.input_answers is 'An answer a person gave to an input node.';
comment on column qwf.input_answers.id is 'Grows in order of writing.';
comment on column qwf.input_answers.job_id is 'The input''s job.';
comment on column qwf.input_answers.run_id is 'Its run.';
comment on column qwf.input_answers.node_id is 'Its node.';
comment on column qwf.input_answers.value is 'The value given.';
comment on column qwf.input_answers.login is
  'Login of the session that answered: nobody can set it.';
comment on column qwf.input_answers.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.input_answers.by_default is
  'True: nobody answered in time, and value is the default of the question.';
comment on column qwf.input_answers.answered_at is 'When.';

create table qwf.run_files (
  job_id bigint not null,
  file_no int not null,
  rel_path text not null,
  run_id bigint,
  node_id text,
  host text,
  kind text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  attempt int not null default 1,
  completed boolean not null default true,
  primary key (job_id, file_no)
);

create index run_files_run on qwf.run_files (run_id, node_id) where run_id is not null;
comment on table qwf.run_files is 'A file that an attempt left in the folder of its job.';
comment on column qwf.run_files.job_id is 'The job.';
comment on column qwf.run_files.file_no is 'Its position in the list, from 1.';
comment on column qwf.run_files.rel_path is
  'Path below the run''s folder (the job''s, for a standalone job).';
comment on column qwf.run_files.run_id is 'Its run; null: standalone.';
comment on column qwf.run_files.node_id is 'Its node.';
comment on column qwf.run_files.host is 'Box that has the file.';
comment on column qwf.run_files.kind is 'image, json, text, csv, mesh, pointcloud or file.';
comment on column qwf.run_files.size_bytes is 'Size, bytes.';
comment on column qwf.run_files.attempt is
  'The attempt after which the file was there; an earlier one on the same box may have written it.';
comment on column qwf.run_files.completed is
  'True: that attempt completed, so references to the node see the file.';

-- Values that bodies have saved, so that the next attempt of their job goes on from there. Only
-- a job whose body saves has a row.
create table qwf.checkpoints (
  job_id bigint primary key,
  attempt int not null,
  value jsonb not null,
  at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table qwf.checkpoints is
  'The last checkpoint of each job whose body has saved one; claim hands it to the next attempt.';
comment on column qwf.checkpoints.job_id is 'The job.';
comment on column qwf.checkpoints.attempt is 'The attempt that saved it.';
comment on column qwf.checkpoints.value is 'The JSON object that the body saved.';
comment on column qwf.checkpoints.at is 'When it was saved.';

-- Numbers that bodies track while they run, such as a loss. Only a job whose body tracks
-- something has a row.
create table qwf.attempt_series (
  job_id bigint not null,
  attempt int not null,
  run_id bigint,
  at timestamptz not null,
  series jsonb not null,
  left_out int not null,
  primary key (job_id, attempt)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index attempt_series_run on qwf.attempt_series (run_id) where run_id is not null;
comment on table qwf.attempt_series is
  'The numbers that an attempt has tracked; the view series_overview shows them.';
comment on column qwf.attempt_series.job_id is 'The job.';
comment on column qwf.attempt_series.attempt is 'The attempt that tracked them.';
comment on column qwf.attempt_series.run_id is 'Its run; null: standalone.';
comment on column qwf.attempt_series.at is 'When they were reported last.';
comment on column qwf.attempt_series.series is
  'By name: points, a list of [step, value], and reported, how many points the body tracked.';
comment on column qwf.attempt_series.left_out is
  'How many other names the body tracked, which are not kept.';

-- Output of running bodies, for people who follow a log right now. Nothing is written while
-- nobody follows.
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

-- Marks of groups of failures, which people set: seen, hidden for a while, a note.
create table qwf.failure_marks (
  task text not null,
  signature text not null,
  seen_at timestamptz,
  snoozed_until timestamptz,
  release_after timestamptz,
  note text,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  changed_at timestamptz not null,
  primary key (task, signature)
);
comment on table qwf.failure_marks is
  'Marks of groups of failures: mark_failures() writes them, failure_groups() reads them. A mark '
  'that nobody has changed for 90 days is deleted.';
comment on column qwf.failure_marks.task is 'Task of the group.';
comment on column qwf.failure_marks.signature is
  'The signature of its errors; empty: its jobs have no error text.';
comment on column qwf.failure_marks.seen_at is 'When somebody has seen it; null: nobody says so.';
comment on column qwf.failure_marks.snoozed_until is 'Until when it is hidden; null: it is not.';
comment on column qwf.failure_marks.release_after is
  'It is hidden only until a version of a workflow or pipeline is registered after this; null: no.';
comment on column qwf.failure_marks.note is 'A note for the others; null: none.';
comment on column qwf.failure_marks.login is
  'Login of the session that marked it last: nobody can set it.';
comment on column qwf.failure_marks.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.failure_marks.changed_at is 'When it was last marked.';

-- How far jobs are. Only a job whose body reports has a row, and a map that was spread; so a
-- report rewrites no row of jobs, which are wide. A row is about the attempt that it names: what
-- an earlier one said does not count any more once the job is claimed again, and claim has
-- nothing to clear.
create table qwf.job_progress (
  job_id bigint primary key,
  attempt int not null,
  fraction real,
  message text,
  at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table qwf.job_progress is
  'The last reports of bodies of jobs, and how much of each map has ended.';
comment on column qwf.job_progress.job_id is 'The job.';
comment on column qwf.job_progress.attempt is 'The attempt that reported it.';
comment on column qwf.job_progress.fraction is 'Fraction done, 0 to 1; null: it has not said.';
comment on column qwf.job_progress.message is 'Message of the last report that had one.';
comment on column qwf.job_progress.at is 'When it last reported.';
