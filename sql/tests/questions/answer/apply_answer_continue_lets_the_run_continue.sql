-- 5 tests
select qwf_test.workflow('w', '[{"id": "a", "on_failure": "continue"},
  {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.x"}, "y": 1}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'fatal');
select is(qwf_test.nodes(), 's/a failed, s/b queued', 'the dependent node is queued');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select is((select inputs from qwf.claim('cpu', 'w')), '{"x": null, "y": 1}', 'it reads null');
select qwf_test.report('s/b');
select results_eq('select status::text, failed_nodes from qwf.runs', $$ values ('completed', 1) $$,
  'the run completes, and says how many failed');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
