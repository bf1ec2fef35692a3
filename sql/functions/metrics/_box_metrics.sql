-- Deploy qwf:functions/metrics/_box_metrics
-- Purpose: Returns the load of boxes and of their cards in the last minute.
-- Guarantees: A card whose worker sends what is no plain number does not hide the others. What a
--   card sends is rounded to millionths, so that a float8 can hold it.
-- Called by: metrics_of, not on a standby: the samples are in an unlogged table.

begin;

create function _qwf.box_metrics() returns setof _qwf.metric
language sql stable
as $$
  with newest as materialized (
    select distinct on (h.host) h.host, h.cpu_percent, h.ram_used_mb, h.ram_total_mb,
      h.swap_used_mb, h.gpus
    from qwf.host_metrics h
    where h.sampled_at > qwf.now() - interval '1 min'
    order by h.host, h.sampled_at desc
  )
  select m.name, array['host', n.host], m.value, 'gauge', m.help
  from (select) one
  left join newest n on true
  cross join lateral (values
    ('qwf_host_cpu_ratio', n.cpu_percent / 100, 'CPU use of the box, 0 to 1.'),
    ('qwf_host_memory_used_bytes', n.ram_used_mb::bigint << 20, 'Memory in use.'),
    ('qwf_host_memory_bytes', n.ram_total_mb::bigint << 20, 'Memory of the box.'),
    ('qwf_host_swap_used_bytes', n.swap_used_mb::bigint << 20, 'Swap in use.')
  ) m (name, value, help)
  union all
  select m.name, array['host', c.host, 'gpu', c.gpu],
    round(jsonb_path_query_first(c.card, m.reading)::numeric, 6) * m.unit, 'gauge', m.help
  from (select) one
  left join (
    select n.host, g.card, left(coalesce(g.card ->> 'id', (g.n - 1)::text), 100) as gpu
    from newest n cross join lateral jsonb_array_elements(n.gpus) with ordinality g (card, n)
  ) c on true
  cross join lateral (values
    ('qwf_gpu_ratio', '$.use_pct ? (@ >= 0 && @ < 1e15)'::jsonpath, 0.01,
      'Use of the card, 0 to 1.'),
    ('qwf_gpu_memory_used_bytes', '$.vram_used_mb ? (@ >= 0 && @ < 1e15)', 1048576,
      'Memory of the card in use.'),
    ('qwf_gpu_memory_bytes', '$.vram_total_mb ? (@ >= 0 && @ < 1e15)', 1048576,
      'Memory of the card.')
  ) m (name, reading, unit, help)
$$;

commit;
