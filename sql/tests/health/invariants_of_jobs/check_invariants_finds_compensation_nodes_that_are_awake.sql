-- 2 tests
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "undo", "compensates": ["a"]}]');
select qwf.enqueue_run('w');
select is_empty('select * from qwf.check_invariants()', 'a run that goes on is healthy');
update qwf.jobs set status = 'cancelled' where node_id = 's/undo';
select results_eq('select invariant from qwf.check_invariants()',
  $$ values ('a compensation node is skipped unless its run ends or ended badly') $$,
  'its compensation nodes are skipped');
