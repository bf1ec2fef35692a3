-- The settings of the engine, with their defaults, and the identity of the database.

-- The defaults of the engine, in one row. A queue may override them, then a node or job, then a
-- call.
create table qwf.settings (
  singleton boolean primary key default true check (singleton),
  lease interval not null default '30 s' check (lease between '1 s' and '1 day'),
  heartbeat interval not null default '10 s' check (heartbeat > '0 s'),
  poll interval not null default '1 s' check (poll > '0 s'),
  tick interval not null default '1 s' check (tick > '0 s'),
  timeout interval not null default '1 h' check (timeout > '0 s' and timeout <= '366 days'),
  cancel_grace interval not null default '10 s' check (cancel_grace >= '0 s'),
  stop_grace interval not null default '60 s' check (stop_grace >= '0 s'),
  worker_stale interval not null default '30 s' check (worker_stale > '0 s'),
  affinity_max_wait interval not null default '60 s' check (affinity_max_wait >= '0 s'),
  pack_patience interval not null default '250 ms' check (pack_patience >= '0 s'),
  avoid_host interval not null default '5 min' check (avoid_host >= '0 s'),
  crash_hold interval not null default '5 min' check (crash_hold >= '0 s'),
  stall_timeout interval not null default '120 s' check (stall_timeout > '0 s'),
  stall_samples int not null default 3 check (stall_samples >= 1),
  idle_gpu_percent real not null default 5 check (idle_gpu_percent between 0 and 100),
  idle_cpu_percent real not null default 5 check (idle_cpu_percent >= 0),
  idle_ram_bytes bigint not null default 5368709120 check (idle_ram_bytes >= 0),
  gpu_health_window interval not null default '300 s' check (gpu_health_window > '0 s'),
  model_load_grace interval not null default '1200 s' check (model_load_grace >= '0 s'),
  model_idle interval not null default '60 s' check (model_idle >= '0 s'),
  metrics interval not null default '5 s' check (metrics > '0 s'),
  metrics_keep interval not null default '10 min' check (metrics_keep > '0 s'),
  minutes_keep interval not null default '14 days' check (minutes_keep > '0 s'),
  recycle_jobs int not null default 10000 check (recycle_jobs >= 1),
  max_losses int not null default 3 check (max_losses >= 1),
  error_attempts int not null default 1 check (error_attempts >= 1),
  transient_attempts int not null default 4 check (transient_attempts >= 1),
  error_backoff jsonb not null default '[1, 5, 30]',
  transient_backoff jsonb not null default '[60, 300, 900]',
  event_tries int not null default 5 check (event_tries >= 1),
  max_value_bytes int not null default 1048576 check (max_value_bytes between 1 and 67108864),
  max_elements int not null default 10000 check (max_elements > 0),
  max_error_bytes int not null default 262144
    check (max_error_bytes between 1 and 16777216),
  max_log_bytes int not null default 65536 check (max_log_bytes between 1 and 16777216),
  secret_keys text[] not null
    default '{password,passwd,token,secret,authorization,api_key,apikey}',
  retention interval not null default '30 days' check (retention > '0 s'),
  events_keep interval not null default '90 days' check (events_keep > '0 s'),
  -- within these bounds, now() plus or minus a setting is still a valid time
  constraint waits_are_short check (
    greatest(heartbeat, poll, tick, metrics, pack_patience) <= '1 day'),
  constraint times_are_in_reach check (
    greatest(cancel_grace, stop_grace, worker_stale, affinity_max_wait, avoid_host, crash_hold,
      stall_timeout, gpu_health_window, model_load_grace, model_idle, metrics_keep,
      minutes_keep) <= '366 days'
    and greatest(retention, events_keep) <= '1000 years'),
  constraint secret_keys_are_words check (
    cardinality(secret_keys) <= 100 and array_position(secret_keys, null) is null
    and '' <> all (secret_keys) and length(array_to_string(secret_keys, ',')) <= 5000)
);
insert into qwf.settings default values;
comment on table qwf.settings is
  'Engine-wide defaults, exactly one row; change them with change_settings().';
comment on column qwf.settings.singleton is 'Always true: there is one row.';
comment on column qwf.settings.lease is 'How long a claim lasts without a heartbeat.';
comment on column qwf.settings.heartbeat is 'How often an agent renews its leases.';
comment on column qwf.settings.poll is
  'How often a sleeping worker looks for work although nobody woke it.';
comment on column qwf.settings.tick is 'How often an agent calls tick().';
comment on column qwf.settings.timeout is
  'Wall-clock limit of one attempt, where neither the job nor its queue has one; queue gpu has.';
comment on column qwf.settings.cancel_grace is
  'How long a body may take to stop after it was told to, before it is killed.';
comment on column qwf.settings.stop_grace is
  'How long an agent lets its bodies finish after SIGTERM.';
comment on column qwf.settings.worker_stale is
  'A worker not seen for this long is not counted as alive.';
comment on column qwf.settings.affinity_max_wait is
  'A worker with a loaded model prefers jobs of that model until the first job it could take has '
  'waited this long.';
comment on column qwf.settings.pack_patience is
  'How long a new job of a queue with placement pack is left to a better worker that has room.';
comment on column qwf.settings.avoid_host is
  'How long a job is kept from a host that lost it, whose accelerator or disk failed it, or that '
  'has older code than its producer, while a worker elsewhere could take it.';
comment on column qwf.settings.crash_hold is
  'How long a task is held back that has killed its process on two boxes; twice as long each time '
  'that its next job does so again, up to an hour; 0 s: never.';
comment on column qwf.settings.stall_timeout is
  'How long a body that has reported progress may be silent before it counts as stalled.';
comment on column qwf.settings.stall_samples is
  'Samples in which GPU, CPU and RAM are idle that confirm a stall.';
comment on column qwf.settings.idle_gpu_percent is 'A GPU that is used less than this is idle.';
comment on column qwf.settings.idle_cpu_percent is
  'A body whose processes together use less than this of one CPU core is idle.';
comment on column qwf.settings.idle_ram_bytes is
  'RAM whose use changes less than this between samples is idle.';
comment on column qwf.settings.gpu_health_window is
  'How long GPU and RAM of a running GPU body may be idle.';
comment on column qwf.settings.model_load_grace is
  'How long that is not checked after a model has begun to load.';
comment on column qwf.settings.model_idle is 'A model not used for this long is unloaded.';
comment on column qwf.settings.metrics is 'How often a host reports how busy it is.';
comment on column qwf.settings.metrics_keep is 'How long such samples are kept.';
comment on column qwf.settings.minutes_keep is
  'How long the history of hosts and queues is kept: host_minutes and queue_minutes.';
comment on column qwf.settings.recycle_jobs is 'Bodies a warm child runs before it is replaced.';
comment on column qwf.settings.max_losses is
  'How often work may be lost outside the body (crash, lapse, timeout) before the job fails.';
comment on column qwf.settings.error_attempts is
  'Attempts for a body that raises an error, if the job sets none.';
comment on column qwf.settings.transient_attempts is
  'Attempts for a body that reports a transient failure, if the job sets none.';
comment on column qwf.settings.error_backoff is
  'Seconds to wait before each retry of an error; the last repeats.';
comment on column qwf.settings.transient_backoff is
  'Seconds to wait before each retry of a transient failure; the last repeats.';
comment on column qwf.settings.event_tries is
  'How often an outbox event is tried before it is poisoned and its run fails.';
comment on column qwf.settings.max_value_bytes is
  'Largest context, args, output or answer, in bytes of its text.';
comment on column qwf.settings.max_elements is 'Longest list that a map can run over.';
comment on column qwf.settings.max_error_bytes is 'Longest error text kept, in bytes.';
comment on column qwf.settings.max_log_bytes is
  'Longest log kept with an attempt, in bytes: its first quarter and its end.';
comment on column qwf.settings.secret_keys is
  'Parts of names, in any case: texts below a key with one of them are hidden from readers.';
comment on column qwf.settings.retention is 'How long terminal runs and jobs are kept.';
comment on column qwf.settings.events_keep is
  'How long events are kept, whatever they are about: see view events.';

-- Which database this is, and which of its lives: one row. It is data, so a dump keeps it.
create table qwf.instance (
  single boolean primary key default true check (single),
  id uuid not null default gen_random_uuid(),
  generation int not null default 1 check (generation >= 1),
  began_at timestamptz not null default clock_timestamp()
);
insert into qwf.instance default values;
comment on table qwf.instance is
  'Which database this is, exactly one row. Agents mark their folders with it, so that no job gets '
  'the files of another database, or of jobs that a restored backup does not know.';
comment on column qwf.instance.single is 'Always true: there is one row.';
comment on column qwf.instance.id is
  'Drawn when the schema is deployed. A dump keeps it; begin_generation() gives a copy another.';
comment on column qwf.instance.generation is
  '1, and one more each time the database was restored from a backup; see begin_generation().';
comment on column qwf.instance.began_at is 'When the generation began.';
