-- Jobs, one row for each unit of work. A claim writes to such a row, and so does a report; their
-- indexes are the order of claims.

create type qwf.job_status as enum (
  'blocked', 'scheduled', 'queued', 'running', 'awaiting_input',
  'completed', 'failed', 'cancelled', 'skipped');
comment on type qwf.job_status is
  'State of a job; completed, failed, cancelled and skipped are terminal. The transitions are '
  'drawn in docs/concepts.md.';

create sequence qwf.job_position;
comment on sequence qwf.job_position is 'Order of becoming queued: FIFO within a priority.';

-- One unit of work: a node of a run, or standalone. It has no foreign keys: each insert would
-- take a key-share lock on a run or queue row, so that producers write shared rows
-- (docs/adr/0003). check_invariants() checks the references instead. It has no CHECKs either:
-- every claim and every finish would read and compile them (docs/adr/0013). The lease is in no
-- index, so that renewing it is a heap-only update. An update compares the old and the new value
-- of each indexed column. Postgres finds a column fastest if only columns of fixed size that are
-- never null lie before it, so these come first, then what a claimed job has, then what few jobs
-- have. In the order of the comments below, which is the reader's, an update takes 1.03 to 1.09
-- times as long. A column added later stands last all the same, as alter table puts it.
create table qwf.jobs (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default clock_timestamp(),
  priority int not null default 100,
  remaining_deps int not null default 0,
  attempt int not null default 0,
  failures int not null default 0,
  losses int not null default 0,
  retries int not null default 0,
  failed_elements int not null default 0,
  status qwf.job_status not null,
  run_next boolean not null default false,
  guarded boolean not null default false,
  light boolean not null default false,
  once boolean not null default false,
  key_state "char" not null default 'u',
  position bigint,
  limit_place bigint,
  queued_at timestamptz,
  claimed_at timestamptz,
  started_at timestamptz,
  lease_expires_at timestamptz,
  token uuid,
  queue text,
  task text not null,
  project text not null default '',
  claimed_by text,
  on_failure text,
  login text default session_user,
  inputs jsonb not null default '{}',
  requires jsonb not null default '{}',
  labels jsonb not null default '{}',
  run_id bigint,
  graph_id bigint,
  node_idx int,
  node_id text,
  run_at timestamptz,
  resolved_inputs jsonb,
  output jsonb,
  input_spec jsonb,
  options qwf.job_options,
  required_model text,
  vram_mb int,
  limit_by text,
  run_if text,
  expires_at timestamptz,
  avoid_host text,
  avoid_until timestamptz,
  begun boolean,
  parent_id bigint,
  element int,
  elements int,
  next_element int,
  last_error text,
  key text,
  finished_at timestamptz,
  acting_for text default
    case when current_setting('qwf.acting_for', true) <> '' then _qwf.acting_for() end,
  schedule text,
  checked boolean not null default false,
  erased_parts text[]
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.05);

-- The order of this index is the claim order; it holds only queued jobs.
create index jobs_claim on qwf.jobs (queue, run_next desc, priority, position)
  where status = 'queued' and limit_by is null;

-- Shorter walks in the same order: of one limit, or of one model without a limit.
create index jobs_claim_lane on qwf.jobs (
    queue, limit_by, coalesce(limit_by, required_model), run_next desc, priority, position)
  where status = 'queued' and (limit_by is not null and limit_place is null
    or limit_by is null and required_model is not null);

-- Of limits that count by key, two things in one index. The queued jobs are the line: of a queue,
-- in bands (run_next, priority), key by key, of a key in claim order. The running jobs are the
-- count: of a key, in the order in which they were claimed.
create index jobs_keyed on qwf.jobs (
    (case when status = 'queued' then queue end),
    (case when status = 'queued'
      then priority - case when run_next then 4294967296 else 0 end end),
    limit_place, position)
  where limit_place is not null and status in ('queued', 'running');

create index jobs_running on qwf.jobs (claimed_by) where status = 'running';

-- A scheduled job has no finished_at: its part is in the order of run_at.
create index jobs_due_or_failed on qwf.jobs (status, finished_at, run_at)
  where status in ('scheduled', 'failed');

create unique index jobs_elements on qwf.jobs (parent_id, element) where parent_id is not null;

create unique index jobs_node on qwf.jobs (run_id, node_idx) where run_id is not null;

-- At most one job of a key waits, and at most one has started.
create unique index jobs_key on qwf.jobs (project, task, key, (key_state = 's'))
  where key is not null and (once or status in ('scheduled', 'queued', 'running'));
comment on table qwf.jobs is
  'One unit of work: a node of a run (run_id, node_id) or standalone (run_id null).';

-- The work itself.
comment on column qwf.jobs.id is 'Job id; grows with time.';
comment on column qwf.jobs.task is 'Name of the task or program that a worker runs.';
comment on column qwf.jobs.inputs is
  'Inputs as defined, references unresolved; args of a standalone job.';
comment on column qwf.jobs.labels is 'Tags of the caller. Searches filter by them; no claim does.';
comment on column qwf.jobs.project is 'Tenant tag; empty is a project like any other.';
comment on column qwf.jobs.created_at is 'When it was enqueued.';

-- Who gets it, and when.
comment on column qwf.jobs.queue is 'Queue that serves it; null for an input.';
comment on column qwf.jobs.priority is 'Lower is sooner.';
comment on column qwf.jobs.position is
  'FIFO position, given when it becomes queued; a job that was lost or released gets the front.';
comment on column qwf.jobs.run_next is
  'An operator asked that it runs before all others; cleared on claim.';
comment on column qwf.jobs.requires is 'Labels the worker must have.';
comment on column qwf.jobs.required_model is 'Model the worker must be able to load; null: none.';
comment on column qwf.jobs.vram_mb is 'GPU memory it needs, MiB; null: unknown.';
comment on column qwf.jobs.light is 'May run beside a model job on the same card.';
comment on column qwf.jobs.limit_by is
  'Named limit it counts against while it runs, LIMIT:KEY if the limit counts by key; null: none.';
comment on column qwf.jobs.limit_place is
  'Place of its key in the line, and the lock of the key: a hash of limit_by, if its limit counts '
  'by key; else null.';
comment on column qwf.jobs.avoid_host is
  'Host that lost it, whose accelerator failed or disk was full, or that has older code than its '
  'producer; left to other hosts while one could take it.';
comment on column qwf.jobs.avoid_until is 'Until when that host is avoided.';
comment on column qwf.jobs.options is
  'Tries and times of its own; null as a rule: those of its queue and of the settings.';

-- Its state.
comment on column qwf.jobs.status is 'State; see docs/concepts.md.';
comment on column qwf.jobs.token is
  'Token of the current claim, which only its worker knows; null unless running. Starts with the '
  'job id in hexadecimal.';
comment on column qwf.jobs.claimed_by is 'Worker of the last claim.';
comment on column qwf.jobs.lease_expires_at is
  'When the claim lapses unless renewed, by the database''s clock.';
comment on column qwf.jobs.run_at is 'Not started before this time; set while scheduled.';
comment on column qwf.jobs.queued_at is 'When it last became claimable.';
comment on column qwf.jobs.claimed_at is 'Time of the last claim.';
comment on column qwf.jobs.started_at is 'When it was first claimed.';
comment on column qwf.jobs.finished_at is 'When it became terminal.';
comment on column qwf.jobs.attempt is 'Claims so far.';
comment on column qwf.jobs.failures is 'Failures of the body itself, transient ones included.';
comment on column qwf.jobs.losses is
  'Attempts lost for a reason outside the body: lapsed lease, killed child, watchdog.';
comment on column qwf.jobs.retries is 'How often somebody retried it after it had ended.';
comment on column qwf.jobs.begun is
  'Of a job that runs at most once: whether its body may have begun. Null: an ordinary job.';
comment on column qwf.jobs.output is 'Value that the body returned; the answer, for an input.';
comment on column qwf.jobs.last_error is 'Error of the last attempt that had one.';

-- Its key.
comment on column qwf.jobs.key is
  'Says which jobs of a project and task are the same work: one of them waits, and one runs.';
comment on column qwf.jobs.key_state is
  'w: waits, and others of its key merge into it; s: has started; u: no key, or once.';
comment on column qwf.jobs.once is 'True: the key stays taken until the row is deleted.';
comment on column qwf.jobs.expires_at is
  'Cancelled if it has not been claimed by then; an input takes its default or fails.';

-- Its place in a run.
comment on column qwf.jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.jobs.graph_id is 'Graph of that run.';
comment on column qwf.jobs.node_idx is 'Its node in that graph; null for an element of a map.';
comment on column qwf.jobs.node_id is
  'step/node; step/node[3] for an element of a map; the step, for an input.';
comment on column qwf.jobs.parent_id is 'Map it is an element of; null: none.';
comment on column qwf.jobs.element is 'Position in the list of that map, from 0.';
comment on column qwf.jobs.elements is 'Number of elements of an expanded map; null: none.';
comment on column qwf.jobs.next_element is
  'No element of the map before this one is blocked; null: it has not been expanded.';
comment on column qwf.jobs.failed_elements is 'Elements of the map that failed.';
comment on column qwf.jobs.remaining_deps is
  'Dependencies not yet satisfied; of an expanded map: elements that have not ended.';
comment on column qwf.jobs.guarded is
  'Opened one by one rather than in bulk: it has a skip_if, is a map, or is an input.';
comment on column qwf.jobs.on_failure is
  'When it fails for good: fail (its run fails), continue (dependants go on), ask (a person '
  'decides); null: as its queue says then.';
comment on column qwf.jobs.run_if is
  'all_done: runs once its dependencies have ended, however they ended; compensates: takes back '
  'other nodes if the run ends badly; null: runs once its dependencies are satisfied.';
comment on column qwf.jobs.input_spec is
  'The question to a person: widget, prompt, target, options; references resolved when it is '
  'asked.';
comment on column qwf.jobs.resolved_inputs is
  'Inputs as last handed to a worker; null if inputs hold no reference.';

-- Where it came from, and what was erased of it.
comment on column qwf.jobs.login is
  'Login of the session that enqueued it, or replaced it (key_mode replace): nobody can set it. '
  'For a schedule, of who called tick(). Null for a node: its run has it.';
comment on column qwf.jobs.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.jobs.schedule is 'The schedule that enqueued it; null: none did.';
comment on column qwf.jobs.checked is
  'The typed Python client has compared the arguments with the function of the task: a worker that '
  'cannot take them has older code.';
comment on column qwf.jobs.erased_parts is
  'Parts that erase() has overwritten, by name; null: none. An erased job is not retried.';
