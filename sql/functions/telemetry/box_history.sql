-- Deploy qwf:functions/telemetry/box_history
-- Purpose: Returns the load of a box over time: its samples of the last ten minutes, or points made
--   of the minutes of a longer time.
-- Guarantees: Never fails because of what an agent has sent: a figure that is no number, or out of
--   range, is null. More than ten minutes are read from a logged table, so a standby can answer.
-- Raises: QW005 for a time or a step that is not from 1 s to 366 days, or for a step of months.
-- Called by: people, the page of a box.

begin;

create function qwf.box_history(
  host text, length interval default '10 min', step interval default '5 min')
returns table (
  at timestamptz, cpu_percent float8, cpu_percent_max float8, cpu_ours_percent float8,
  ram_percent float8, ram_percent_max float8, ram_ours_percent float8, swap_used_mb float8,
  gpu_percent float8, gpu_percent_max float8, vram_used_mb float8, vram_total_mb float8)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if coalesce(box_history.length not between '1 s' and '366 days'
      or box_history.step not between '1 s' and '366 days'
      or extract(month from box_history.step) + extract(year from box_history.step) <> 0, true)
  then
    raise exception using errcode = 'QW005', message = 'invalid time or step',
      detail = format('length %s, step %s', box_history.length, box_history.step),
      hint = 'give two times from 1 s to 366 days, such as 24 h and 5 min, and no step of months';
  elsif box_history.length <= '10 min' then
    return query
    select
      m.sampled_at, m.cpu_percent::float8, null::float8, m.cpu_ours_percent::float8,
      m.ram_percent::float8, null::float8,
      100.0::float8 * m.ram_ours_used_mb / nullif(m.ram_total_mb, 0), m.swap_used_mb::float8,
      c.gpu, c.gpu_max, c.vram, c.vram_total
    from qwf.host_metrics m
    cross join lateral (
      select
        avg(f.use) as gpu, max(f.use) as gpu_max, sum(f.used) as vram, sum(f.total) as vram_total
      from jsonb_path_query(m.gpus, 'strict $[*] ? (@.type() == "object")', '{}', true) g (card)
      cross join lateral (select
        (jsonb_path_query_first(g.card, '$.use_pct ? (@ >= 0 && @ < 1e15)'))::float8 as use,
        (jsonb_path_query_first(g.card, '$.vram_used_mb ? (@ >= 0 && @ < 1e15)'))::float8 as used,
        (jsonb_path_query_first(g.card, '$.vram_total_mb ? (@ >= 0 && @ < 1e15)'))::float8 as total
      ) f
    ) c
    where m.host = box_history.host and m.sampled_at > (select qwf.now() - box_history.length)
    order by m.sampled_at limit 2000;
  else
    return query
    select
      date_bin(box_history.step, m.minute, timestamptz 'epoch'), avg(m.cpu_percent),
      max(m.cpu_percent_max)::float8, avg(m.cpu_ours_percent), avg(m.ram_percent),
      max(m.ram_percent_max)::float8,
      avg(100.0::float8 * m.ram_ours_used_mb / nullif(m.ram_total_mb, 0)),
      avg(m.swap_used_mb)::float8, avg(m.gpu_percent), max(m.gpu_percent_max)::float8,
      avg(m.vram_used_mb)::float8, max(m.vram_total_mb)::float8
    from qwf.host_minutes m
    where m.host = box_history.host and m.minute > (select qwf.now() - box_history.length)
    group by 1 order by 1;
  end if;
end $$;
comment on function qwf.box_history is
  'The load of a box, oldest first: its samples if length is ten minutes or less, else a point for '
  'each step, with averages and the highest of a minute (_max). Percentages are of all, memory is '
  'in MiB; null: unknown. QW005 for an invalid time or step.';
call _qwf.allow('qwf.box_history', 'qwf_viewer');

commit;
