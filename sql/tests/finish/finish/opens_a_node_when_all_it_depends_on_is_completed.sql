-- 5 tests
select qwf_test.workflow('diamond', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]}, {"id": "c", "depends_on": ["a"]}, {"id": "d",
    "depends_on": ["b", "c"]}]');
select qwf.enqueue_run('diamond');
select qwf_test.attempt('s/a');
select is(qwf_test.nodes(), 's/a completed, s/b queued, s/c queued, s/d blocked',
  'both arms at once');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/c');
select is(qwf_test.state('s/d'), 'blocked', 'one arm is not enough');
select qwf_test.report('s/b');
select is(qwf_test.state('s/d'), 'queued', 'both are');
select qwf_test.attempt('s/d');
select results_eq('select status::text, open_nodes, active_nodes from qwf.runs', $$
  values ('completed', 0, 0) $$, 'the run is completed');
select is_empty('select * from qwf.check_invariants()', 'and the database is healthy');
