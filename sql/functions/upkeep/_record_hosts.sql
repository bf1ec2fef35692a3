-- Deploy qwf:functions/upkeep/_record_hosts
-- Purpose: Writes the average and the highest load of each host for each minute that has ended and
--   is not written yet.
-- Guarantees: Reads only samples after the last minute that is written. A minute without a sample
--   gets no row; a minute that is written stays as it is.
-- Called by: _record_minutes.

begin;

create function _qwf.record_hosts(p_minute timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_last timestamptz := (
    select max(h.minute) from qwf.host_minutes h where h.minute < p_minute);
  v_from timestamptz := (
    select greatest(v_last + interval '1 min', p_minute - s.minutes_keep) from qwf.settings s);
  v_count int;
begin
  with sampled as materialized (
    select m.host, date_bin('1 minute', m.sampled_at, 'epoch') as minute, count(*) as samples,
      avg(m.cpu_percent) as cpu, max(m.cpu_percent) as cpu_max, avg(m.cpu_ours_percent) as cpu_ours,
      avg(m.ram_percent) as ram, max(m.ram_percent) as ram_max, avg(m.ram_used_mb) as ram_mb,
      max(m.ram_total_mb) as ram_total_mb, avg(m.ram_ours_used_mb) as ram_ours_mb,
      avg(m.swap_used_mb) as swap_mb, max(m.swap_used_mb) as swap_mb_max
    from qwf.host_metrics m
    where m.sampled_at >= v_from and m.sampled_at < p_minute
    group by 1, 2
  )
  insert into qwf.host_minutes (
    host, minute, samples, cpu_percent, cpu_percent_max, cpu_ours_percent, ram_percent,
    ram_percent_max, ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, swap_used_mb_max,
    gpu_percent, gpu_percent_max, vram_used_mb, vram_total_mb, gpus)
  select
    s.host, s.minute, s.samples, s.cpu, s.cpu_max, s.cpu_ours, s.ram, s.ram_max, s.ram_mb,
    s.ram_total_mb, s.ram_ours_mb, s.swap_mb, s.swap_mb_max, c.*, g.gpus
  from sampled s
  cross join lateral (select _qwf.gpu_minute(s.host, s.minute) as gpus offset 0) g
  cross join lateral (
    select avg(e.use_pct), max(e.use_pct_max), sum(e.vram_used_mb), sum(e.vram_total_mb)
    from jsonb_to_recordset(g.gpus) e (
      use_pct real, use_pct_max real, vram_used_mb int, vram_total_mb int)
  ) c
  on conflict (host, minute) do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
