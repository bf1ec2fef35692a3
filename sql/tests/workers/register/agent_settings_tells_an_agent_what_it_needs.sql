-- 3 tests
select is(qwf.agent_settings('cpu') - 'instance' - 'generation', '{
  "lease": 30, "heartbeat": 10, "poll": 1, "pack_patience": null, "tick": 1,
    "timeout": 3600, "cancel_grace": 10,
    "stop_grace": 60,
  "stall_timeout": 120, "stall_samples": 3, "idle_gpu_percent": 5,
  "idle_cpu_percent": 5, "idle_ram_bytes": 5368709120,
  "gpu_health_window": 300, "affinity_max_wait": 60,
  "model_load_grace": 1200, "model_idle": 60, "recycle_jobs": 10000,
  "metrics": 5,
  "max_log_bytes": 65536, "max_value_bytes": 1048576,
    "max_error_bytes": 262144}', 'seconds and bytes');
select is((qwf.agent_settings('llm') ->> 'pack_patience')::numeric, 0.25, 'the queue is packed');

select results_eq(
  $$ select a ->> 'instance', a ->> 'generation' from qwf.agent_settings('cpu') a $$,
  $$ select id::text, '1' from qwf.instance $$, 'which database it is');
