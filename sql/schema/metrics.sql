-- Deploy qwf:schema/metrics
-- How busy the machines are: the last minutes of each host.

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
create index host_metrics_unsent on qwf.host_metrics (sampled_at) where not sent;
comment on table qwf.host_metrics is
  'The last samples of each host, every five seconds, kept for some minutes. The same samples go '
  'out on channel hw_metrics.';
comment on column qwf.host_metrics.host is 'The box.';
comment on column qwf.host_metrics.sampled_at is 'When, by the database''s clock.';
comment on column qwf.host_metrics.cpu_percent is 'Use of all its processors together, 0 to 100.';
comment on column qwf.host_metrics.cpu_ours_percent is
  'Part of that by the agent''s control group; null where that cannot be told.';
comment on column qwf.host_metrics.ram_percent is 'Memory in use, 0 to 100.';
comment on column qwf.host_metrics.ram_used_mb is 'Memory in use, MiB.';
comment on column qwf.host_metrics.ram_total_mb is 'Memory it has, MiB.';
comment on column qwf.host_metrics.ram_ours_used_mb is
  'Part of that of the agent''s control group, MiB; null where that cannot be told.';
comment on column qwf.host_metrics.swap_used_mb is 'Swap in use, MiB.';
comment on column qwf.host_metrics.gpus is
  'Its cards: a list of {id, use_pct, vram_used_mb, vram_total_mb}.';
comment on column qwf.host_metrics.sent is 'Whether it has gone out on channel hw_metrics.';

commit;
