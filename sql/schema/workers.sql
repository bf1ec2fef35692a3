-- Workers, orders for boxes, sleepers, and requests to load models.

create table qwf.workers (
  id text primary key,
  host text not null,
  queue text not null,
  pid int,
  version text,
  slots int not null default 1 check (slots >= 1),
  tasks text[],
  models text[],
  current_model text,
  vram_mb int,
  labels jsonb not null default '{}',
  rank int not null default 0,
  project text,
  out_root text,
  servers jsonb not null default '[]',
  cards text[] not null default '{}',
  task_options jsonb not null default '{}',
  follows_orders boolean not null default false,
  writes_begun boolean not null default false,
  held_tasks text[],
  stats jsonb not null default '{}',
  started_at timestamptz not null default clock_timestamp(),
  last_seen timestamptz not null default clock_timestamp(),
  stopped_at timestamptz
) with (fillfactor = 70);

create index workers_queue on qwf.workers (queue) where stopped_at is null;
comment on table qwf.workers is
  'One registration of an agent process on one queue; a new row at every start.';
comment on column qwf.workers.id is 'Worker id: what claim() and heartbeat() take.';
comment on column qwf.workers.host is 'Box it runs on.';
comment on column qwf.workers.queue is 'Queue it serves.';
comment on column qwf.workers.pid is 'Process id of the agent.';
comment on column qwf.workers.version is 'Version of the agent.';
comment on column qwf.workers.slots is 'Bodies it can run at once, in all.';
comment on column qwf.workers.tasks is
  'Tasks it can run; null: not announced, so not filtered by task.';
comment on column qwf.workers.models is
  'Models it can load; null: not announced, so not filtered by model.';
comment on column qwf.workers.current_model is 'Model it has loaded.';
comment on column qwf.workers.vram_mb is 'GPU memory it has, MiB; null: unknown, so not filtered.';
comment on column qwf.workers.labels is
  'Labels that a job can require; host is always one of them.';
comment on column qwf.workers.rank is 'Negative: an overflow worker.';
comment on column qwf.workers.project is
  'Project it works for, empty: jobs without one; null: all.';
comment on column qwf.workers.out_root is
  'Folder on its box below which bodies write their files, unless the run names one; null: not '
  'announced.';
comment on column qwf.workers.servers is
  'Model servers that it runs, as announced: name, kind, external, parallel, idle_s, card, models '
  'with their GPU memory in MiB. The view server_overview shows what they do.';
comment on column qwf.workers.cards is
  'Ids of the cards that its bodies and model servers use, as the driver gives them, such as '
  'GPU-9f7c…: no other card has them. Doctor names a card that two agents use.';
comment on column qwf.workers.task_options is
  'Options that its tasks declare in its code, as texts: {"task": {"max_attempts": "5"}}. The '
  'engine does not apply them; find_missing_options() compares them with what was enqueued.';
comment on column qwf.workers.follows_orders is
  'True if it reads worker_orders() and releases its jobs by itself when it is off hard; else '
  'heartbeat() does.';
comment on column qwf.workers.writes_begun is
  'True if it calls progress(begun => true) before the body of a job that runs at most once; else '
  'such a job has begun when it is claimed.';
comment on column qwf.workers.held_tasks is
  'Tasks that are held back on its queue, kept by spread_holds() so that claim() reads no table '
  'more; null: none.';
comment on column qwf.workers.stats is
  'Figures of its last heartbeat: slots, busy, models per GPU, loads, swaps avoided, servers, '
  'out_free_bytes (of its folder for files), code_problem (why it keeps running old code).';
comment on column qwf.workers.started_at is 'When it registered.';
comment on column qwf.workers.last_seen is 'Last heartbeat.';
comment on column qwf.workers.stopped_at is 'When it deregistered; null: it has not.';

create table qwf.worker_controls (
  host_label text not null check (host_label <> ''),
  queue text not null,
  desired_state text not null default 'on' check (desired_state in ('on', 'off')),
  stop_policy text not null default 'hard' check (stop_policy in ('hard', 'drain', 'pause')),
  requested_by text,
  login text not null default session_user,
  reason text,
  until timestamptz,
  server text,
  parallel int check (parallel between 1 and 10000),
  server_idle interval check (server_idle between '0 s' and '366 days'),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (host_label, queue)
);
comment on table qwf.worker_controls is
  'One row for each host and queue that somebody has set: the wanted state, and model server; no '
  'row means on. Rows stay when workers stop; a plain INSERT or UPDATE works.';
comment on column qwf.worker_controls.host_label is 'The box.';
comment on column qwf.worker_controls.queue is 'The queue.';
comment on column qwf.worker_controls.desired_state is 'on or off.';
comment on column qwf.worker_controls.stop_policy is
  'How it stops: hard (kill the bodies and release their jobs), drain (finish them first), pause '
  '(claim nothing, keep the model).';
comment on column qwf.worker_controls.requested_by is
  'For whom the session that gave the order said it acts: acting_for of views and functions. '
  'Nobody checks it. Null: it said nothing.';
comment on column qwf.worker_controls.login is
  'Login of the session that gave the order: a trigger sets it, so nobody else can.';
comment on column qwf.worker_controls.reason is 'Why.';
comment on column qwf.worker_controls.until is 'When off turns into on by itself; null: never.';
comment on column qwf.worker_controls.server is
  'The only model server of the host that serves the queue; null: all that the agent has.';
comment on column qwf.worker_controls.parallel is
  'How many requests such a server takes at once; null: as the agent is configured.';
comment on column qwf.worker_controls.server_idle is
  'How long a server may be idle before it is stopped, 0: never; null: as the agent is configured.';
comment on column qwf.worker_controls.created_at is 'When the row was first written.';
comment on column qwf.worker_controls.updated_at is 'When the row was last changed.';

create unlogged table qwf.sleepers (
  worker text not null,
  queue text not null,
  since timestamptz not null default clock_timestamp(),
  unanswered smallint not null default 0,
  primary key (queue, worker)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
comment on table qwf.sleepers is
  'A worker asleep on a queue. Only sleepers get a NOTIFY; a lost row costs one poll.';
comment on column qwf.sleepers.worker is 'Worker id.';
comment on column qwf.sleepers.queue is 'Queue it found empty.';
comment on column qwf.sleepers.since is 'When it fell asleep; an old row is ignored.';
comment on column qwf.sleepers.unanswered is
  'Jobs of a queue with placement pack that were left to it in vain since it last claimed.';

-- Requests of people to load or unload models on a box.
create table qwf.model_requests (
  id bigint generated always as identity primary key,
  host text not null,
  queue text not null,
  model text,
  action text not null check (action in ('load', 'unload')),
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  requested_at timestamptz not null,
  taken_by text,
  progress text,
  answered_at timestamptz,
  error text,
  check (action = 'unload' or model is not null)
);

create index model_requests_open on qwf.model_requests (host, queue) where taken_by is null;
comment on table qwf.model_requests is
  'A request to load or unload a model on a box; kept for a day.';
comment on column qwf.model_requests.id is 'Id that request_model() returned.';
comment on column qwf.model_requests.host is 'The box.';
comment on column qwf.model_requests.queue is 'The queue whose worker should do it.';
comment on column qwf.model_requests.model is 'The model; null: unload all.';
comment on column qwf.model_requests.action is 'load or unload.';
comment on column qwf.model_requests.login is
  'Login of the session that asked: nobody can set it.';
comment on column qwf.model_requests.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.model_requests.requested_at is
  'When it was asked for; no worker takes it after five minutes.';
comment on column qwf.model_requests.taken_by is 'Worker that took it; null: none yet.';
comment on column qwf.model_requests.progress is
  'How far it is, in words, such as how much of a model is pulled; null: nothing was reported.';
comment on column qwf.model_requests.answered_at is 'When it was done or had failed.';
comment on column qwf.model_requests.error is 'Why it failed; null: it has not.';
