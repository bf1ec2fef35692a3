-- Deploy qwf:schema/metrics
-- The load of the hosts in the last minutes.

begin;

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

commit;
