-- 2 tests
select qwf_test.workflow('w', '[{"id": "m", "map": [1, 2], "inputs": {"x": {"$from": "item"}}}]');
select qwf.enqueue_run('w');
select results_eq('select * from qwf.run_usage', $$
  values (qwf_test.run(), 0::bigint, 0::float8, 0::float8, 0::float8, null::bigint, null::bigint)
$$, 'nothing yet');
insert into qwf.job_attempts (job_id, attempt, started_at, finished_at, outcome, detail)
select j.id, a.attempt, a.started_at, a.finished_at, a.outcome, to_jsonb(a)
from qwf.jobs j
cross join (values
  (1, timestamptz '2030-01-01', timestamptz '2030-01-01 00:00:03', 'fatal', 1.5::real, 70, 10),
  (2, '2030-01-01 01:00', '2030-01-01 01:00:07', 'completed', 2, null, 20))
  a (attempt, started_at, finished_at, outcome, cpu_seconds, gpu_peak_bytes, max_rss_bytes)
where j.run_id = qwf_test.run();
select results_eq('select * from qwf.run_usage', $$
  select qwf_test.run(), 2 * count(*), 3.5::float8 * count(*), 3::float8 * count(*),
    3::float8 * count(*), 20::bigint, 70::bigint
  from qwf.jobs
$$, 'processor, GPU, lost time; and the most that one of them had');
