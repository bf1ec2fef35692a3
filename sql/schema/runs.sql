-- Runs, and the outbox of events still to be applied to them.

create type qwf.run_status as enum (
  'queued', 'running', 'awaiting_input', 'completed', 'failed', 'cancelled');
comment on type qwf.run_status is
  'State of a run; awaiting_input: it waits only for people. completed, failed and cancelled are '
  'terminal.';

-- One execution of a workflow. Only the functions that apply events write its counters, and only
-- under its row lock.
create table qwf.runs (
  id bigint generated always as identity primary key,
  graph_id bigint not null,
  workflow text not null,
  workflow_version int not null,
  status qwf.run_status not null,
  project text not null default '',
  key text,
  once boolean not null default false,
  priority int not null default 100,
  context jsonb not null default '{}',
  labels jsonb not null default '{}',
  out_dir text,
  login text not null default session_user,
  acting_for text default
    case when current_setting('qwf.acting_for', true) <> '' then _qwf.acting_for() end,
  schedule text,
  node_count int not null,
  open_nodes int not null,
  active_nodes int not null,
  waiting_nodes int not null default 0,
  failed_nodes int not null default 0,
  ending qwf.run_status,
  error text,
  then_retry jsonb,
  run_at timestamptz,
  deadline_at timestamptz,
  late_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  finished_at timestamptz,
  parent_id bigint,
  parent_attempt int,
  depth int not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create unique index runs_key on qwf.runs (project, workflow, key)
  where key is not null and (once or status in ('queued', 'running', 'awaiting_input'));

create index runs_deadline on qwf.runs (deadline_at)
  where deadline_at is not null and ending is null
    and status in ('queued', 'running', 'awaiting_input');

create index runs_finished on qwf.runs (finished_at) where finished_at is not null;

create index runs_parent on qwf.runs (parent_id, id) where parent_id is not null;

create index runs_open on qwf.runs (id) where status in ('queued', 'running', 'awaiting_input');
comment on table qwf.runs is 'One execution of a workflow.';
comment on column qwf.runs.id is 'Run id; grows with time.';
comment on column qwf.runs.graph_id is
  'The compiled workflow it executes: of when the run was enqueued, or was retried with latest.';
comment on column qwf.runs.workflow is 'Name of the workflow.';
comment on column qwf.runs.workflow_version is 'Version of the workflow.';
comment on column qwf.runs.status is 'State; see docs/concepts.md.';
comment on column qwf.runs.project is
  'Tenant tag, by which every list can be filtered; empty is a project like any other.';
comment on column qwf.runs.key is
  'Idempotency key, unique per project and workflow while the run is not terminal.';
comment on column qwf.runs.once is 'True: the key stays taken until the row is deleted.';
comment on column qwf.runs.priority is 'Priority of its jobs; lower is sooner.';
comment on column qwf.runs.context is
  'Initial values that references read; only a retry changes them.';
comment on column qwf.runs.labels is 'Tags of the caller. Searches filter by them; no claim does.';
comment on column qwf.runs.out_dir is 'Folder under which bodies write; null: the agent''s own.';
comment on column qwf.runs.login is
  'Login of the session that enqueued it: nobody can set it. For a schedule, of who called tick().';
comment on column qwf.runs.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.runs.schedule is 'The schedule that enqueued it; null: none did.';
comment on column qwf.runs.node_count is 'Number of nodes.';
comment on column qwf.runs.open_nodes is
  'Nodes that are not terminal, as far as events have been applied; 0 once the run is over.';
comment on column qwf.runs.active_nodes is
  'Nodes scheduled, queued or running, as far as events have been applied; 0 once the run is over.';
comment on column qwf.runs.waiting_nodes is 'Nodes waiting for a person; 0 once the run is over.';
comment on column qwf.runs.failed_nodes is 'Nodes that failed while the run goes on.';
comment on column qwf.runs.ending is
  'How it will end once its clean-up and compensation nodes and, in line, its bodies have; null: '
  'open, or there are none.';
comment on column qwf.runs.error is 'Why it failed or was cancelled.';
comment on column qwf.runs.then_retry is
  'Arguments of a retry (graph_id, from_node, context) that takes back first, until that is done; '
  'null: nothing is taken back before a retry.';
comment on column qwf.runs.run_at is 'Not started before this time; null: at once.';
comment on column qwf.runs.deadline_at is
  'It fails if it has not ended by then; null: no deadline.';
comment on column qwf.runs.late_at is
  'When this try of it was found late; null: it was not.';
comment on column qwf.runs.created_at is 'When it was enqueued.';
comment on column qwf.runs.started_at is
  'When the first node of its last try was claimed or applied; null: it waits.';
comment on column qwf.runs.finished_at is 'When it became terminal.';
comment on column qwf.runs.parent_id is
  'Job on the queue qwf.runs for which it runs: a step of the run above it, or how it waits in '
  'line; null: neither.';
comment on column qwf.runs.parent_attempt is
  'Attempt of that job that it serves; null: it waits in line for the first one.';
comment on column qwf.runs.depth is 'How many runs are above it; 0: none.';

-- Consequences still to be applied to a run, each written in the transaction of the change that
-- caused it.
create table qwf.outbox (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  job_id bigint,
  kind text not null check (kind in (
    'completed', 'failed', 'cancelled', 'requeued', 'asked', 'ready', 'stop')),
  tries int not null default 0,
  next_try_at timestamptz,
  error text,
  poisoned_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create index outbox_run on qwf.outbox (run_id, id);

create index outbox_due on qwf.outbox (id) where poisoned_at is null;
comment on table qwf.outbox is
  'Events that drain_outbox() still has to apply to runs; deleted when applied.';
comment on column qwf.outbox.id is 'Grows in order of writing.';
comment on column qwf.outbox.run_id is 'Run to apply it to.';
comment on column qwf.outbox.job_id is 'Node it is about; null for stop.';
comment on column qwf.outbox.kind is
  'completed, failed, cancelled: how the node ended. requeued: it is queued again. asked: it waits '
  'for a person. ready: open it. stop: cancel the remaining nodes.';
comment on column qwf.outbox.tries is 'How often applying it failed.';
comment on column qwf.outbox.next_try_at is 'Not tried before this time; null: at once.';
comment on column qwf.outbox.error is 'Why the last try failed.';
comment on column qwf.outbox.poisoned_at is 'When it was given up; its run failed with the reason.';
comment on column qwf.outbox.created_at is 'When it was written.';
