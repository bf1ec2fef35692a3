-- 6 tests
select qwf_test.set_now('2026-01-01 12:00Z');
update qwf.settings set model_idle = '5 min';
insert into qwf.workers (id, host, queue, pid, last_seen, stats) values
  ('a', 'box', 'cpu', 7, qwf.now() - interval '2 s', '{"model_loads": 3, "model_load_s": 1.5,
    "swaps_avoided": 2, "models": [
    {"model": "flux", "card": 0, "busy": false, "warm_s": 60, "idle_s": 30},
    {"model": "qwen", "busy": true, "warm_s": "long", "idle_s": 0}, 7, {"model": 7}]}'),
  ('b', 'box', 'gpu', 7, qwf.now() - interval '2 s', '{"model_loads": 3, "models": "nonsense"}'),
  ('c', 'wild', 'cpu', 7, qwf.now(), '{"model_loads": -1e99, "model_load_s": "x", "models": 5}');
select qwf.worker_control('box', 'gpu', 'off');
insert into qwf.host_metrics (host, sampled_at, cpu_percent, ram_used_mb, gpus) values
  ('box', qwf.now() - interval '9 s', 10, 100, '[]'),
  ('box', qwf.now() - interval '4 s', 50, 200, '[{"id": "b", "use_pct": 9, "vram_used_mb": 1,
    "vram_total_mb": 4}, 7, {"use_pct": "hot", "vram_total_mb": 1e99}]'),
  ('wild', qwf.now(), null, null, '{"id": 5}');
select results_eq($$ select cpu_percent, ram_used_mb, sampled_at from qwf.box_overview
  where host = 'box' $$, $$ values (50::real, 200, '2026-01-01 11:59:56Z'::timestamptz) $$,
  'its last sample');
select is((select cards from qwf.box_overview where host = 'box'), '[
  {"id": "b", "use_pct": 9, "vram_used_mb": 1, "vram_total_mb": 4},
  {"id": "1", "use_pct": null, "vram_used_mb": null, "vram_total_mb": null}]', 'its cards');
select is((select models from qwf.box_overview where host = 'box'), '[
  {"model": "flux", "queues": ["cpu", "gpu"], "card": "0", "busy": false, "warm_s": 62,
   "left_s": 268},
  {"model": "qwen", "queues": ["cpu", "gpu"], "card": null, "busy": true, "warm_s": null,
   "left_s": null}]', 'the models of an agent once, first the queue that takes orders');
select results_eq($$ select model_loads, model_load_s, swaps_avoided from qwf.box_overview
  where host = 'box' $$, $$ values (3::bigint, 1.5::float8, 2::bigint) $$, 'and their loads once');
select results_eq($$ select cards, models, model_loads, model_load_s from qwf.box_overview
  where host = 'wild' $$, $$ values ('[]'::jsonb, '[]'::jsonb, 0::bigint, 0::float8) $$,
  'nonsense breaks nothing');
select qwf_test.set_now('2026-01-01 12:02Z');
update qwf.workers set last_seen = qwf.now();
select results_eq($$ select sampled_at is null, cards, live from qwf.box_overview
  where host = 'box' $$, $$ values (true, '[]'::jsonb, true) $$, 'an old sample is none');
