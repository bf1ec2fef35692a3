-- Deploy qwf:schema/history
-- History: attempts, answers, files. Append-only.

begin;

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

commit;
