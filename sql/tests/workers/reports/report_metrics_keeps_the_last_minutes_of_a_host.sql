-- 2 tests
insert into qwf.host_metrics (host, sampled_at) values ('gone', qwf.now() - interval '11 min');
select qwf.report_metrics('box', '{"cpu_percent": 12.5, "ram_used_mb": 1024, "swap_used_mb": null,
  "gpus": [{"id": 0, "use_pct": 90, "vram_used_mb": 10, "vram_total_mb": 20}]}');

select results_eq($$
  select host, cpu_percent, ram_used_mb, swap_used_mb, gpus -> 0 ->> 'use_pct'
  from qwf.host_metrics
$$, $$ values ('box', 12.5::real, 1024, null::int, '90') $$, 'the old sample is gone');
select is((select sampled_at <= qwf.now() from qwf.host_metrics), true,
  'by the clock of the database');
