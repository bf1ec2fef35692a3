-- The load of hosts and queues: the last minutes, then one row per minute. The rows per minute are
-- for charts of the last days: tick() writes them, and deletes them after settings.minutes_keep. A
-- minute that nobody looked at has none.

-- The load of the hosts in the last minutes.
create unlogged table qwf.host_metrics (
  host text not null,
  sampled_at timestamptz not null,
  cpu_percent real,
  cpu_ours_percent real,
  ram_percent real,
  ram_used_mb int,
  ram_total_mb int,
  ram_ours_used_mb int,
  swap_used_mb int,
  gpus jsonb not null default '[]',
  sent boolean not null default false,
  primary key (host, sampled_at)
);

create index host_metrics_time on qwf.host_metrics (sampled_at);

create index host_metrics_unsent on qwf.host_metrics (sampled_at) where not sent;
comment on table qwf.host_metrics is
  'The last samples of each host, one every 5 seconds, kept for some minutes. Channel hw_metrics '
  'sends the same samples.';
comment on column qwf.host_metrics.host is 'Host of the sample.';
comment on column qwf.host_metrics.sampled_at is
  'When the database received it, by the clock of the database.';
comment on column qwf.host_metrics.cpu_percent is 'Use of all its processors together, 0 to 100.';
comment on column qwf.host_metrics.cpu_ours_percent is
  'Share of the control groups of its agents in that; null: unknown.';
comment on column qwf.host_metrics.ram_percent is 'Memory in use, 0 to 100.';
comment on column qwf.host_metrics.ram_used_mb is 'Memory in use, MiB.';
comment on column qwf.host_metrics.ram_total_mb is 'Total memory, MiB.';
comment on column qwf.host_metrics.ram_ours_used_mb is
  'Memory in use by the control groups of its agents, MiB; null: unknown.';
comment on column qwf.host_metrics.swap_used_mb is 'Swap in use, MiB.';
comment on column qwf.host_metrics.gpus is
  'Its cards: a list of {id, use_pct, vram_used_mb, vram_total_mb}.';
comment on column qwf.host_metrics.sent is 'True: already sent on channel hw_metrics.';

create table qwf.host_minutes (
  host text not null,
  minute timestamptz not null,
  samples int not null,
  cpu_percent real,
  cpu_percent_max real,
  cpu_ours_percent real,
  ram_percent real,
  ram_percent_max real,
  ram_used_mb int,
  ram_total_mb int,
  ram_ours_used_mb int,
  swap_used_mb int,
  swap_used_mb_max int,
  gpu_percent real,
  gpu_percent_max real,
  vram_used_mb int,
  vram_total_mb int,
  gpus jsonb not null default '[]',
  primary key (host, minute)
);

create index host_minutes_minute on qwf.host_minutes (minute);
comment on table qwf.host_minutes is
  'The load of each host, minute by minute, from the samples in host_metrics. Kept for '
  'settings.minutes_keep.';
comment on column qwf.host_minutes.host is 'Host of the samples.';
comment on column qwf.host_minutes.minute is 'Full minute (UTC) in which they were taken.';
comment on column qwf.host_minutes.samples is
  'How many samples the row is made of; about 12 if none is missing.';
comment on column qwf.host_minutes.cpu_percent is
  'Use of all its processors together, 0 to 100: the average of the samples.';
comment on column qwf.host_minutes.cpu_percent_max is 'The highest of the samples.';
comment on column qwf.host_minutes.cpu_ours_percent is
  'Share of the control groups of its agents in that, average; null: unknown.';
comment on column qwf.host_minutes.ram_percent is 'Memory in use, 0 to 100, average.';
comment on column qwf.host_minutes.ram_percent_max is 'The highest of the samples.';
comment on column qwf.host_minutes.ram_used_mb is 'Memory in use, MiB, average.';
comment on column qwf.host_minutes.ram_total_mb is 'Total memory, MiB.';
comment on column qwf.host_minutes.ram_ours_used_mb is
  'Memory in use by the control groups of its agents, MiB, average; null: unknown.';
comment on column qwf.host_minutes.swap_used_mb is 'Swap in use, MiB, average.';
comment on column qwf.host_minutes.swap_used_mb_max is 'The highest of the samples.';
comment on column qwf.host_minutes.gpu_percent is
  'Use of its cards, 0 to 100, average of all cards and samples; null: no card, or unknown.';
comment on column qwf.host_minutes.gpu_percent_max is 'The highest of all cards and samples.';
comment on column qwf.host_minutes.vram_used_mb is
  'Memory in use on all cards together, MiB, average.';
comment on column qwf.host_minutes.vram_total_mb is 'Memory of all cards together, MiB.';
comment on column qwf.host_minutes.gpus is
  'Its cards: a list of {id, use_pct, use_pct_max, vram_used_mb, vram_used_mb_max, vram_total_mb}, '
  'averages but for the two that end in max.';

create table qwf.queue_minutes (
  queue text not null,
  minute timestamptz not null,
  queued int,
  running int,
  head_wait_seconds real,
  completed int not null default 0,
  error int not null default 0,
  fatal int not null default 0,
  tempfail int not null default 0,
  lost int not null default 0,
  released int not null default 0,
  cancelled int not null default 0,
  primary key (queue, minute)
) with (fillfactor = 70);

create index queue_minutes_minute on qwf.queue_minutes (minute);
comment on table qwf.queue_minutes is
  'The load of each queue, minute by minute: its jobs at the first tick of the minute, and the '
  'attempts that ended in the minute. Kept for settings.minutes_keep.';
comment on column qwf.queue_minutes.queue is 'Name of the queue.';
comment on column qwf.queue_minutes.minute is 'Full minute (UTC).';
comment on column qwf.queue_minutes.queued is
  'Jobs that waited for a worker, an estimate above 10,000; null: nobody looked in this minute.';
comment on column qwf.queue_minutes.running is 'Jobs that ran; null: nobody looked.';
comment on column qwf.queue_minutes.head_wait_seconds is
  'How long the first job in claim order had waited, seconds; null: none waited, or nobody looked.';
comment on column qwf.queue_minutes.completed is 'Attempts that ended completed.';
comment on column qwf.queue_minutes.error is 'Attempts that ended with an error of the body.';
comment on column qwf.queue_minutes.fatal is
  'Attempts that ended with an error that no retry cures.';
comment on column qwf.queue_minutes.tempfail is 'Attempts that ended with a transient failure.';
comment on column qwf.queue_minutes.lost is
  'Attempts lost for a reason outside the body: lapsed lease, killed child, watchdog.';
comment on column qwf.queue_minutes.released is 'Attempts that were released.';
comment on column qwf.queue_minutes.cancelled is 'Attempts that were cancelled.';
