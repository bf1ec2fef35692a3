-- Deploy qwf:views/fleet/box_history
-- Purpose: The load of each box over time, for charts.
-- Guarantees: A filter by host and time is answered by an index of samples or of minutes, whichever
--   is_sample asks for. Reads an unlogged table, so a standby cannot answer.

begin;

create view qwf.box_history as
select
  m.host, m.sampled_at as at, true as is_sample,
  m.cpu_percent, null::real as cpu_percent_max, m.cpu_ours_percent,
  m.ram_percent, null::real as ram_percent_max, m.ram_total_mb, m.ram_ours_used_mb, m.swap_used_mb,
  c.gpu_percent, c.gpu_percent_max, c.vram_used_mb, c.vram_total_mb
from qwf.host_metrics m
cross join lateral (
  select
    avg(f.use_pct)::real as gpu_percent, max(f.use_pct)::real as gpu_percent_max,
    sum(f.vram_used_mb)::float8 as vram_used_mb, sum(f.vram_total_mb)::float8 as vram_total_mb
  from jsonb_path_query(m.gpus, 'strict $[*] ? (@.type() == "object")', '{}', true) g (card)
  cross join lateral (
    select
      jsonb_path_query_first(g.card, '$.use_pct ? (@ >= 0 && @ < 1e15)')::float8 as use_pct,
      jsonb_path_query_first(g.card, '$.vram_used_mb ? (@ >= 0 && @ < 1e15)')::float8
        as vram_used_mb,
      jsonb_path_query_first(g.card, '$.vram_total_mb ? (@ >= 0 && @ < 1e15)')::float8
        as vram_total_mb
  ) f
) c
union all
select
  m.host, m.minute, false, m.cpu_percent, m.cpu_percent_max, m.cpu_ours_percent, m.ram_percent,
  m.ram_percent_max, m.ram_total_mb, m.ram_ours_used_mb, m.swap_used_mb, m.gpu_percent,
  m.gpu_percent_max, m.vram_used_mb, m.vram_total_mb
from qwf.host_minutes m;
comment on view qwf.box_history is
  'The load of boxes over time: select * from qwf.box_history where host = ''gpu-1'' and not '
  'is_sample.';
comment on column qwf.box_history.host is 'The box.';
comment on column qwf.box_history.at is 'When the sample came; of a minute, its start (UTC).';
comment on column qwf.box_history.is_sample is
  'True: one sample, of the last minutes; false: the average of a minute.';
comment on column qwf.box_history.cpu_percent is 'Use of all its processors together, 0 to 100.';
comment on column qwf.box_history.cpu_percent_max is
  'Highest sample of the minute; null: a sample.';
comment on column qwf.box_history.cpu_ours_percent is
  'Share of the control groups of its agents in that; null: unknown.';
comment on column qwf.box_history.ram_percent is 'Use of its memory, 0 to 100.';
comment on column qwf.box_history.ram_percent_max is
  'Highest sample of the minute; null: a sample.';
comment on column qwf.box_history.ram_total_mb is 'Its memory, MiB.';
comment on column qwf.box_history.ram_ours_used_mb is
  'Memory in use by the control groups of its agents, MiB; null: unknown.';
comment on column qwf.box_history.swap_used_mb is 'Swap in use, MiB.';
comment on column qwf.box_history.gpu_percent is
  'Use of its cards, 0 to 100, average of all; null: no card, or unknown.';
comment on column qwf.box_history.gpu_percent_max is 'Highest use of a card, 0 to 100.';
comment on column qwf.box_history.vram_used_mb is 'Memory in use on all cards together, MiB.';
comment on column qwf.box_history.vram_total_mb is 'Memory of all cards together, MiB.';

commit;
