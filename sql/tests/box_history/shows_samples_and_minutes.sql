begin;
select plan(4);

select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.host_metrics (host, sampled_at, cpu_percent, ram_ours_used_mb, ram_total_mb, gpus)
values
  ('box', qwf.now() - interval '11 min', 1, 1, 1, '[]'),
  ('box', qwf.now() - interval '10 s', 20, 25, 100, '[{"use_pct": 10, "vram_used_mb": 1,
    "vram_total_mb": 4}, {"use_pct": 30, "vram_used_mb": 2, "vram_total_mb": 4}, 7]'),
  ('box', qwf.now() - interval '5 s', 30, null, 0, '{"use_pct": 9}'), ('other', qwf.now(), 9, 9, 9,
    '[]');
select results_eq($$ select at, cpu_percent, cpu_percent_max, ram_ours_percent, gpu_percent,
    gpu_percent_max, vram_used_mb, vram_total_mb from qwf.box_history('box') $$, $$ values
  ('2026-01-01 11:59:50Z'::timestamptz, 20::float8, null::float8, 25::float8, 20::float8,
    30::float8, 3::float8, 8::float8),
  ('2026-01-01 11:59:55Z', 30, null, null, null, null, null, null) $$, 'samples, oldest first');
insert into qwf.host_minutes (host, minute, samples, cpu_percent, cpu_percent_max, gpu_percent,
  swap_used_mb) values
  ('box', '2026-01-01 11:00Z', 12, 10, 50, 5, 100), ('box', '2026-01-01 11:01Z', 12, 20, 40, null,
    300), ('box', '2026-01-01 11:05Z', 12, 9, 9, null, null), ('other', '2026-01-01 11:00Z', 1, 1,
    1, 1, 1);
select results_eq($$ select at, cpu_percent, cpu_percent_max, gpu_percent, swap_used_mb
  from qwf.box_history('box', '2 h', '5 min') $$, $$ values
  ('2026-01-01 11:00Z'::timestamptz, 15::float8, 50::float8, 5::float8, 200::float8),
  ('2026-01-01 11:05Z', 9, 9, null, null) $$, 'a point for each step');
select throws_ok($$ select qwf.box_history('box', '2 h', step => '0') $$, 'QW005',
  'invalid time or step', 'no time');
select throws_ok($$ select qwf.box_history('box', '2 h', step => '1 month') $$, 'QW005',
  'invalid time or step', 'months have no length');

select * from finish();
rollback;
