-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "m", "map": [1, 2, 3], "min_success": 1,
  "inputs": {"x": {"$from": "item"}}}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 3);
select results_eq(
  'select elements, typical, bins[1] from qwf.map_times where map_id = qwf_test.job(''s/m'')',
  'values (0::bigint, null::float8, 0)', 'nothing has ended');
insert into qwf.job_attempts (job_id, attempt, started_at, finished_at, outcome, detail)
select qwf_test.job(a.node), a.attempt, '2030-01-01', timestamptz '2030-01-01' + a.took,
  a.outcome, a.detail
from (values
  ('s/m[0]', 11, interval '2 s', 'completed', '{}'::jsonb),
  ('s/m[1]', 11, '4 s', 'error', '{}'), ('s/m[1]', 12, '1 h', 'lost', '{}'),
  ('s/m[1]', 13, '9 s', 'completed', '{"body_s": 8}'), ('s/m[2]', 11, '1 h', 'cancelled', '{}'))
  a (node, attempt, took, outcome, detail);
select results_eq($$
  select t.elements, t.low, t.typical, t.high, t.seconds, t.slowest, t.slowest_seconds
  from qwf.map_times t where t.run_id = qwf_test.run()
$$, $$
  values (2::bigint, 2::float8, 7::float8, 12::float8, 14::float8,
    array[qwf_test.job('s/m[1]'), qwf_test.job('s/m[0]')], array[12, 2]::float8[])
$$, 'the body of each element, over its tries, without what was lost or cancelled');
select is((select bins from qwf.map_times), array[1] || array_fill(0, array[18]) || array[1],
  'in 20 equal parts of the time from the fastest to the slowest');
