-- Deploy qwf:schema/types
-- Enumerations and the row types functions return.

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
  'State of a run; awaiting_input means only people are waited for. completed, failed and '
  'cancelled are terminal.';

create type qwf.claimed_job as (
  job_id bigint, token uuid, run_id bigint, node_id text, task text, queue text, inputs jsonb,
  attempt int, timeout interval, stall_timeout interval, required_model text, out_dir text,
  lease_expires_at timestamptz, project text, labels jsonb,
  light boolean);
comment on type qwf.claimed_job is
  'What a worker is handed: the work, and the token that every report about it must carry.';

create type qwf.lease_verdict as (token uuid, verdict text);
comment on type qwf.lease_verdict is
  'Answer to a heartbeat for one token: ok (renewed), cancel (stop the body), lost (not yours any '
  'more).';

create type qwf.awaited as (
  registered boolean, ordered boolean, sleepers int, tick_in_s numeric);
comment on type qwf.awaited is
  'Answer to a worker that stays asleep: whether it is registered; whether worker_orders or '
  'take_model_requests have something for it; how many workers sleep; in how many seconds a tick '
  'is wanted (0: now, null: not for anything known).';

create type qwf.report_verdict as (job_id bigint, verdict text, pending boolean);
comment on type qwf.report_verdict is
  'Answer to one report: ok or lost; pending says that consequences were left in the outbox: call '
  'drain_outbox() soon.';

create type qwf.problem as (path text, problem text, hint text);
comment on type qwf.problem is
  'One thing wrong with a definition or a value: where (a JSON path), what, and what to do.';

create type qwf.resolution as (value jsonb, error text);
comment on type qwf.resolution is
  'A resolved value, or the reason why a reference in it could not be resolved. One is null.';

create type qwf.picked as (
  "row" tid, id bigint, run_id bigint, inputs jsonb, error text);
comment on type qwf.picked is
  'A job about to be handed out, locked, and where its row is; its resolved inputs (null: as they '
  'are), or why they cannot be resolved.';

create type qwf.floor as (
  priority int, "position" bigint, until timestamptz,
  base_priority int, base_position bigint, base_until timestamptz, mark bigint);
comment on type qwf.floor is
  'Where the queued jobs of a queue that fit a worker began a moment ago, and until when that may '
  'be trusted; where the walk for the next one may begin, and until when; '
  'the last position given out when this one was found.';

create type qwf.report as (
  job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb);
comment on type qwf.report is 'One report of a worker about the end of an attempt.';

create type qwf.transition as (
  status qwf.job_status, failures int, losses int, wait double precision, front boolean,
  error text);
comment on type qwf.transition is
  'Where a job goes when an attempt ends, and what the attempt cost of its budgets.';

create type qwf.new_job as (
  ord int, task text, args jsonb, queue text, priority int, run_at timestamptz, key text,
  max_attempts int, backoff jsonb, timeout interval, model text, vram_mb int, requires jsonb,
  limit_by text, on_failure text, expires interval, project text, labels jsonb, once boolean);
comment on type qwf.new_job is 'One item of enqueue_many, read, checked and with its defaults.';

create type qwf.held as (
  "row" tid, id bigint, run_id bigint, node_id text, queue text, task text, attempt int,
  claimed_by text, queued_at timestamptz, claimed_at timestamptz, limit_by text, run_if text,
  parent_id bigint, on_failure text, failures int, losses int, max_attempts int, max_losses int,
  backoff jsonb, token uuid, outcome text, output jsonb, error text, detail jsonb);
comment on type qwf.held is
  'A running job that is locked, where its row is, and what is reported about its attempt.';

create type qwf.ended as (
  id bigint, run_id bigint, node_id text, queue text, status qwf.job_status, attempt int,
  token uuid, worker text, queued_at timestamptz, claimed_at timestamptz, outcome text,
  error text, detail jsonb, limit_by text, task text);
comment on type qwf.ended is 'A job whose attempt just ended, with what was reported about it.';

create type qwf.event as (run_id bigint, job_id bigint, kind text);
comment on type qwf.event is
  'Something to apply to a run; the kinds are those of the outbox, and what a person decides: '
  'answered, retried, passed, expired.';

create type qwf.opened as (id bigint, run_id bigint, status qwf.job_status);
comment on type qwf.opened is
  'A node whose dependencies are all satisfied, and what became of it; blocked: still to be looked '
  'at.';

create type qwf.node_count as (
  run_id bigint, closed int, active int, waiting int, failed int, started boolean);
comment on type qwf.node_count is
  'Change of a run''s counters: nodes that became terminal, active, waiting, or failed '
  'without failing the run; started: a node of it has run.';

commit;
