-- 3 tests
select qwf_test.set_now('2030-01-01');
insert into qwf.host_metrics (host, sampled_at, cpu_percent, ram_total_mb, swap_used_mb, gpus)
values
  ('box', '2030-01-01', 12.5, 1000, 10, '[
    {"id": "0", "use_pct": 40, "vram_used_mb": 100, "vram_total_mb": 1000},
    {"id": "1", "use_pct": 80, "vram_used_mb": 50, "vram_total_mb": 1000}]'),
  ('mad', '2030-01-01', null, null, null,
    '[7, {"use_pct": "hot", "vram_used_mb": -1}, {"use_pct": 10, "vram_total_mb": 1e300}]'),
  ('odd', '2030-01-01', 1, null, null, '{"use_pct": 5}');
insert into qwf.host_minutes (host, minute, samples, cpu_percent, cpu_percent_max, gpu_percent)
values ('box', '2029-12-31', 12, 20, 90, 30);
select results_eq($$
  select at, is_sample, cpu_percent, cpu_percent_max, gpu_percent, gpu_percent_max, vram_used_mb,
    vram_total_mb
  from qwf.box_history where host = 'box' order by at
$$, $$
  values
    ('2029-12-31'::timestamptz, false, 20::real, 90::real, 30::real, null::real, null::float8,
      null::float8),
    ('2030-01-01', true, 12.5, null, 60, 80, 150, 2000)
$$, 'minutes, and samples with their cards added up');
select results_eq($$
  select host, gpu_percent, gpu_percent_max, vram_used_mb, vram_total_mb from qwf.box_history
  where host <> 'box' order by host
$$, $$
  values ('mad', 10::real, 10::real, null::float8, null::float8), ('odd', null, null, null, null)
$$, 'a value that is not a number is left out');
select isnt_empty('select from qwf.box_history where is_sample and at > qwf.now() - time ''1:00''',
  'samples can be asked for alone');
