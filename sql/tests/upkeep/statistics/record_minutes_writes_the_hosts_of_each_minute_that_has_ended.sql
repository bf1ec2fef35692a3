-- 6 tests
select qwf_test.set_now('2040-01-01 10:00:50');
select qwf.report_metrics('a', '{"cpu_percent": 10, "cpu_ours_percent": 4, "ram_percent": 50,
  "ram_used_mb": 500, "ram_total_mb": 1000, "ram_ours_used_mb": 100, "swap_used_mb": 1,
  "gpus": [{"id": 0, "use_pct": 80, "vram_used_mb": 100, "vram_total_mb": 1000},
    {"id": 1, "use_pct": 0, "vram_used_mb": 10, "vram_total_mb": 1000}]}');
select qwf_test.travel('5 s');
select qwf.report_metrics('a', '{"cpu_percent": 30, "cpu_ours_percent": 8, "ram_percent": 70,
  "ram_used_mb": 701, "ram_total_mb": 1000, "ram_ours_used_mb": 300, "swap_used_mb": 4,
  "gpus": [{"id": 0, "use_pct": 100, "vram_used_mb": 300, "vram_total_mb": 1000},
    {"id": 1, "use_pct": 20, "vram_used_mb": 10, "vram_total_mb": 1000}]}');
select _qwf.record_minutes();
select is_empty('select * from qwf.host_minutes', 'not before its end');
select qwf_test.travel('5 s');
select qwf.report_metrics('a', '{"cpu_percent": 99}'), qwf.report_metrics('b', '{}');
select _qwf.record_minutes();
select results_eq($$ select to_jsonb(h) - 'gpus' from qwf.host_minutes h $$, $$
  values ('{"host": "a", "samples": 2, "cpu_percent": 20, "cpu_percent_max": 30,
    "cpu_ours_percent": 6, "ram_percent": 60, "ram_percent_max": 70, "ram_used_mb": 601,
    "ram_total_mb": 1000, "ram_ours_used_mb": 200, "swap_used_mb": 3, "swap_used_mb_max": 4,
    "gpu_percent": 50, "gpu_percent_max": 100, "vram_used_mb": 210, "vram_total_mb": 2000}'::jsonb
    || jsonb_build_object('minute', '2040-01-01 10:00'::timestamptz)) $$,
  'average and maximum of its samples, and of nothing newer');
select results_eq('select gpus from qwf.host_minutes', $$
  values ('[{"id": 0, "use_pct": 90.0, "use_pct_max": 100.0, "vram_used_mb": 200,
      "vram_used_mb_max": 300, "vram_total_mb": 1000},
    {"id": 1, "use_pct": 10.0, "use_pct_max": 20.0, "vram_used_mb": 10, "vram_used_mb_max": 10,
      "vram_total_mb": 1000}]'::jsonb) $$, 'and of each card');
select qwf_test.travel('5 min');
select is(_qwf.record_minutes(), (select count(*) from qwf.queue_overview)::int + 2,
  'a tick that comes late writes what there is');
select results_eq($$
  select h.host, h.minute, h.samples, h.cpu_percent, h.gpus from qwf.host_minutes h
  where h.minute > '2040-01-01 10:00' order by 1 $$, $$
  values ('a', '2040-01-01 10:01'::timestamptz, 1, 99::real, '[]'::jsonb),
    ('b', '2040-01-01 10:01', 1, null, '[]') $$, 'for the minutes that have samples, and no other');
select qwf_test.travel('1 min');
select is(_qwf.record_minutes(), (select count(*) from qwf.queue_overview)::int,
  'and nothing twice');
