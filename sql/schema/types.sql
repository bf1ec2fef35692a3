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

create type qwf.claimed_job as (
  job_id bigint, token uuid, run_id bigint, node_id text, task text, queue text, inputs jsonb,
  attempt int, timeout interval, stall_timeout interval, required_model text, out_dir text,
  lease_expires_at timestamptz, project text, labels jsonb,
  light boolean);
comment on type qwf.claimed_job is
  'What a worker gets from claim: the work, and the token that every report about it must carry.';

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

commit;
