-- 13 tests
select qwf_test.workflow('w', '[{"id": "m", "map": {"$value": [1, 2, 3, 4, 5]}, "min_success": 2,
    "stop_when_reached": true, "max_parallel": 4},
  {"id": "next", "depends_on": ["m"], "inputs": {"all": {"$from": "m"}}}]');
select qwf.enqueue_run('w');
select qwf_test.claim(p_max_jobs => 3);
select qwf_test.report('s/m[1]', 'completed', '{"y": 1}');
select is(qwf_test.state('s/m'), 'blocked', 'one is not enough');
select qwf_test.report('s/m[2]', 'fatal');
select is(qwf_test.state('s/m'), 'blocked', 'a failure counts for nothing');
select qwf_test.claim();
select qwf_test.report('s/m[3]', 'completed', '{"y": 3}');
select is(qwf_test.nodes(), 's/m completed, s/next blocked, s/m[0] running, s/m[1] completed, '
  's/m[2] failed, s/m[3] completed, s/m[4] cancelled', 'two are: what has not begun is cancelled');
select is((select output from qwf.jobs where node_id = 's/m'),
  '[null, {"y": 1}, null, {"y": 3}, null]', 'null for what failed and what stops');
select is((select verdict from qwf.heartbeat('w', array[qwf_test.token('s/m[0]')])), 'cancel',
  'what runs is told to stop');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select is((select string_agg(w, '|') from qwf.why_not(qwf_test.job('s/next')) w),
  'it depends on s/m, which is completed (elements yet to stop: 1)', 'why its dependant waits');
select qwf_test.report('s/m[0]', 'completed', '{"y": 0}');
select is((select output from qwf.jobs where node_id = 's/m'),
  '[null, {"y": 1}, null, {"y": 3}, null]', 'what completes too late changes nothing');
select qwf_test.attempt('s/next');
select is(qwf_test.run_state(), 'completed', 'the run goes on when all have stopped');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- a share of the list; elements end in one report
select qwf_test.workflow('v', '[{"id": "m", "map": {"$value": [1, 2, 3]}, "min_success": "30%",
  "stop_when_reached": true}]');
select qwf.enqueue_run('v');
select qwf_test.work('cpu', 2);
select is(qwf_test.nodes(), 's/m completed, s/m[0] completed, s/m[1] completed, s/m[2] cancelled',
  'two that end together are both in the list');
select is(qwf_test.run_state(), 'completed', 'the run completes');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
