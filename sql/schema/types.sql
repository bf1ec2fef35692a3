-- Deploy qwf:schema/types
-- The states of jobs and runs, and the row types that public functions return.

begin;

create type qwf.job_status as enum (
  'blocked', 'scheduled', 'queued', 'running', 'awaiting_input',
  'completed', 'failed', 'cancelled', 'skipped');
comment on type qwf.job_status is
  'State of a job; completed, failed, cancelled and skipped are terminal. The transitions are '
  'drawn in docs/concepts.md.';

create type qwf.run_status as enum (
  'queued', 'running', 'awaiting_input', 'completed', 'failed', 'cancelled');
comment on type qwf.run_status is
  'State of a run; awaiting_input: it waits only for people. completed, failed and cancelled are '
  'terminal.';

create type qwf.job_options as (
  max_attempts int, max_losses int, backoff jsonb, timeout interval, stall_timeout interval,
  start_by timestamptz);
comment on type qwf.job_options is
  'What few jobs say about their attempts. max_attempts: how many the body has; null: the settings '
  '(1 for errors, 4 for transient failures). max_losses: losses after which it fails; null: the '
  'setting. backoff: seconds between attempts, a list or {"base", "factor", "max"}; null: the '
  'settings. timeout: wall-clock limit of one attempt; null: the queue''s or the setting. '
  'stall_timeout: longest time between progress reports; null: the setting. start_by: the latest '
  'start that every call merged into it allows, so a call with debounce moves run_at no further; '
  'null: no call moves run_at to later.';

create type qwf.claimed_job as (
  job_id bigint, token uuid, run_id bigint, node_id text, task text, queue text, inputs jsonb,
  attempt int, timeout interval, stall_timeout interval, required_model text, out_dir text,
  lease_expires_at timestamptz, project text, labels jsonb,
  light boolean, created_at timestamptz, rated boolean, checkpoint jsonb,
  alone boolean, queued_s double precision, at_most_once boolean);
comment on type qwf.claimed_job is
  'A job as a worker gets it from claim: the work, and the token that every report about it must '
  'carry. created_at is that of the run, or of a standalone job: with it a folder tells two jobs '
  'with one id apart. rated: its limit has a rate, and the start was counted just now, so begin it '
  'before all others. checkpoint: the value that an earlier attempt has saved with progress(). '
  'alone: three times its process ended while it ran other jobs, too, so run it in one without '
  'others. queued_s: for how many seconds it was queued before this claim. '
  'at_most_once: before its body begins, call progress(begun => true), and begin only after ok.';

create type qwf.enqueued as (job_id bigint, merged boolean, kept text, run_at timestamptz);
comment on type qwf.enqueued is
  'The result of an item of enqueue_many. merged: a job with its key was there. kept: new (a new '
  'job), old args (the job that was there keeps its arguments), new args (it has those of the '
  'item). run_at: it starts no sooner; null: it starts as soon as it can.';

create type qwf.lease_verdict as (token uuid, verdict text);
comment on type qwf.lease_verdict is
  'Answer to a heartbeat for one token: ok (renewed), cancel (stop the body), lost (the job is '
  'not yours any more).';

create type qwf.awaited as (
  registered boolean, ordered boolean, sleepers int, tick_in_s numeric);
comment on type qwf.awaited is
  'Answer to a worker that stays asleep: whether it is registered; whether worker_orders or '
  'take_model_requests have something for it; how many workers sleep; in how many seconds a tick '
  'is wanted (0: now, null: nothing is due).';

create type qwf.report_verdict as (job_id bigint, verdict text, pending boolean);
comment on type qwf.report_verdict is
  'Answer to one report: ok or lost. pending: consequences were left in the outbox, so call '
  'drain_outbox() soon.';

create type qwf.verdict_or_job as (
  job_id bigint, verdict text, pending boolean, token uuid, run_id bigint, node_id text, task text,
  queue text, inputs jsonb, attempt int, timeout interval, stall_timeout interval,
  required_model text, out_dir text, lease_expires_at timestamptz, project text, labels jsonb,
  light boolean, created_at timestamptz, rated boolean, checkpoint jsonb,
  alone boolean, queued_s double precision, at_most_once boolean);
comment on type qwf.verdict_or_job is
  'A row of finish_and_claim. With a verdict it answers a report, and the columns after pending '
  'are null; without one it is a claimed job (see claimed_job).';

create type qwf.job_count as (
  queue text, queued int, estimated boolean, scheduled int, more_scheduled boolean, running int,
  head bigint, head_since timestamptz, oldest_since timestamptz);
comment on type qwf.job_count is
  'Jobs of a queue, counted up to a bound. queued: if estimated, the bound or more are queued, and '
  'this is an estimate, never below the bound. scheduled: at least that many if more_scheduled. '
  'head: the first queued job in claim order, which waits since head_since. oldest_since: since '
  'when the one waits that waits longest among the first of each priority and limit.';

create type qwf.found_job as (
  id bigint, run_id bigint, node_id text, task text, queue text, project text,
  status qwf.job_status, priority int, run_next boolean, attempt int, released int, worker text,
  host text, progress real, progress_message text, seconds double precision, key text,
  run_at timestamptz, created_at timestamptz, queued_at timestamptz, started_at timestamptz,
  finished_at timestamptz, error text, args jsonb, searched_to bigint);
comment on type qwf.found_job is
  'A job as lists show it. released: attempts that were handed back. started_at: of the last '
  'attempt, which took, or has taken so far, these seconds. error: the most telling line of the '
  'last error, cut. searched_to: give it as before_id to search on; null: all have been '
  'searched. A row '
  'without id says only that.';

create type qwf.found_run as (
  id bigint, workflow text, version int, status qwf.run_status, project text, done int, total int,
  failed int, running int, asked int, seconds double precision, key text, created_at timestamptz,
  started_at timestamptz, finished_at timestamptz, deadline_in interval, error text,
  searched_to bigint);
comment on type qwf.found_run is
  'A run as lists show it. done: nodes completed or skipped, of total. failed: failed nodes. '
  'running: running bodies, those of map elements included. asked: nodes that wait for a person. '
  'seconds: from start to end, or to now. deadline_in: time left until it fails. error: first '
  'line, cut. searched_to: give it as before_id to search on; null: all have been searched. A row '
  'without id says only that.';

create type qwf.failure_group as (
  task text, signature text, count int, first_at timestamptz, last_at timestamptz, hosts text[],
  job_ids bigint[], by_hour int[], example text, searched int, searched_to timestamptz,
  run_ids bigint[], state text, seen_at timestamptz, snoozed_until timestamptz, note text,
  marked_by text);
comment on type qwf.failure_group is
  'Failed jobs of one task whose errors differ only in numbers, ids and paths. first_at, last_at: '
  'when the first and the last of them failed. hosts: at most 20. job_ids: the newest three. '
  'by_hour: how many failed in each of the last 24 hours, the last hour last. example: the newest '
  'error, its most telling line. searched: failures read for all groups, back to searched_to; '
  'null: all. run_ids: runs whose nodes they are, the newest 20. state: new, seen, again (failed '
  'again since it was seen) or snoozed; seen_at, snoozed_until, note, marked_by: see '
  'mark_failures().';

create type qwf.job_verdict as (
  job_id bigint, verdict text, code text, message text, detail text, hint text);
comment on type qwf.job_verdict is
  'Answer about one job of a list: retried, cancelled, requested (its worker was told to stop it), '
  'changed or refused; code (SQLSTATE), message, detail and hint say why it was refused.';

create type qwf.run_verdict as (
  run_id bigint, verdict text, code text, message text, detail text, hint text);
comment on type qwf.run_verdict is
  'Answer about one run of a list: retried, cancelled, unchanged (it is cancelled or ending '
  'already) or refused; code (SQLSTATE), message, detail and hint say why it was refused.';

create type qwf.finding as ("check" text, level text, subject text, says text, hint text);
comment on type qwf.finding is
  'A finding of a check of doctor(). level: problem, unchecked (the check failed), note, or fine '
  '(it found nothing); subject: what it is about, as in job 7; hint: what to do.';

create type qwf.missing_option as (
  kind text, name text, task text, option text, declared text, says text, hint text);
comment on type qwf.missing_option is
  'An option that the code of a task declares, and that something enqueued without Python lacks. '
  'kind: job, schedule or node. name: the id of the job, the name of the schedule, or workflow and '
  'node, as in sign_up mail/send. says: the same as a sentence; hint: where to give the option.';

create type qwf.erased_job as (job_id bigint, run_id bigint, host text, path text);
comment on type qwf.erased_job is
  'An erased job, with a file that it has left: a row for each file. host: the box that has it. A '
  'job without files has one row, without host and path.';

create type qwf.started as (job_id bigint, run_id bigint);
comment on type qwf.started is 'The enqueued work: a standalone job or a run; the other is null.';

commit;
