-- 18 tests
select qwf_test.set_now('2026-11-26 12:00Z');
select qwf_test.workflow('w', '[{"id": "base"}, {"id": "look", "depends_on": ["base"],
    "repeat": {"until": {"$from": "item.ready"}, "max": 5, "every": "30 s"},
    "inputs": {"last": {"$from": "item"}, "turn": {"$from": "index"}, "of": {"$from": "base.x"}}},
  {"id": "use", "depends_on": ["look"], "inputs": {"got": {"$from": "look"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/base', 'completed', '{"x": 7}');
select is((select c.inputs from qwf.claim('cpu', 'w') c), '{"last": null, "turn": 0, "of": 7}',
  'the first turn has no item');
select qwf_test.report('s/look[0]', 'completed', '{"ready": false, "n": 1}');
select is(qwf_test.nodes(), 's/base completed, s/look blocked, s/use blocked, '
  's/look[0] completed, s/look[1] scheduled', 'the next one waits');
select is((select run_at - qwf.now() from qwf.jobs where node_id = 's/look[1]'),
  interval '30 s', 'for as long as every says');
select results_eq($$ select status::text, open_nodes, active_nodes from qwf.runs $$,
  $$ values ('running', 3, 1) $$, 'and is counted');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select is(qwf.why_not(qwf_test.job('s/look')), 'it repeats: turn 1 of 5, next in 30 s',
  'why says which turn is next, and when');
select qwf_test.travel('31 s');
select _qwf.promote_due();
select is((select c.inputs from qwf.claim('cpu', 'w') c),
  '{"last": {"ready": false, "n": 1}, "turn": 1, "of": 7}', 'item is the output of the last turn');
select is(qwf.why_not(qwf_test.job('s/look')), 'it repeats: turn 2 of 5',
  'why says which turn runs');
select qwf_test.report('s/look[1]', 'completed', '{"ready": true, "n": 2}');
select is((select c.inputs from qwf.claim('cpu', 'w') c), '{"got": {"ready": true, "n": 2}}',
  'its output is that of the last turn');
select qwf_test.report('s/use');
select is(qwf_test.run_state(), 'completed', 'the run completes');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- without every the next turn is queued; after max it fails; a retry starts with the first turn
select qwf_test.workflow('v', '[{"id": "m", "inputs": {"i": {"$from": "index"}},
  "repeat": {"until": {"$from": "item.i", "$eq": 9}, "max": 3}}]');
select qwf.enqueue_run('v');
select is((select sum(qwf_test.work()) from generate_series(1, 9)), 3::bigint, 'three turns run');
select is((select last_error from qwf.jobs where node_id = 's/m' and run_id = qwf_test.run()),
  'not done after 3 turns', 'and no more');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes(), 's/m blocked, s/m[0] queued', 'a retry begins with the first turn');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- a turn that fails goes by retry, then fails the repeat
select qwf_test.attempt('s/m[0]', 'completed', '{"i": 0}');
select qwf_test.attempt('s/m[1]', 'fatal', error => 'no network');
select is((select last_error from qwf.jobs where node_id = 's/m' and run_id = qwf_test.run()),
  'turn 2 of 3 failed: no network', 'it says which turn, and why');
select qwf.retry_run(qwf_test.run());
select is(qwf_test.nodes(), 's/m blocked, s/m[0] completed, s/m[1] queued',
  'a retry goes on with the turn that failed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
