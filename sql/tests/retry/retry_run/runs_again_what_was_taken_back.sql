-- 17 tests
select qwf_test.workflow('w', '[{"id": "find"}, {"id": "charge", "depends_on": ["find"]},
  {"id": "refund", "compensates": ["charge"]},
  {"id": "pack", "depends_on": ["find"]}, {"id": "ship", "depends_on": ["charge", "pack"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/find');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/pack');
select qwf_test.attempt('s/ship', 'fatal');
select qwf_test.attempt('s/refund');
select results_eq('select node_id, verdict, because from qwf.retry_plan(qwf_test.run())',
  $$ values ('s/find', 'reused', null),
    ('s/charge', 'runs again', 'it was taken back by s/refund'),
    ('s/pack', 'reused', null),
    ('s/ship', 'runs again', 'it failed'),
    ('s/refund', 'skipped', 'it runs only if the run fails or is cancelled') $$,
  'the plan says what was taken back');
select is(qwf.retry_run(qwf_test.run()), 2, 'two nodes run');
select is(qwf_test.nodes(), 's/find completed, s/charge queued, s/pack completed, s/ship blocked, '
  's/refund skipped', 'the charge again, and what follows');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/ship', 'fatal');
select qwf_test.attempt('s/refund', 'fatal', error => 'bank is closed');
select is(qwf_test.run_state(), 'failed', 'the second refund fails');

select throws_ok('select qwf.retry_run(qwf_test.run())', 'QW002', 'a compensation node failed',
  'then nobody knows what was taken back');
select throws_ok('select * from qwf.retry_plan(qwf_test.run())', 'QW002', null,
  'the plan says so, too');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/ship') $$, 'QW002',
  'a compensation node failed', 'another node does not help');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/refund', latest => true,
    context => '{"a": 1}') $$, 'QW002', 'a compensation node runs as it is',
  'it runs as the run has it');
select results_eq($$ select node_id, verdict from qwf.retry_plan(qwf_test.run(), 's/refund') $$,
  $$ values ('s/find', 'unchanged'), ('s/charge', 'unchanged'), ('s/pack', 'unchanged'),
    ('s/ship', 'unchanged'), ('s/refund', 'runs again') $$,
  'if it is named, it alone runs again');
select is(qwf.retry_run(qwf_test.run(), 's/refund'), 1, 'it does');
select is((select (status, ending, error)::text from qwf.runs),
  '(queued,failed,"s/ship failed: fatal")', 'the run is about to end as it did');
select is_empty('select * from qwf.check_invariants()', 'and is healthy');
select qwf_test.attempt('s/refund');
select is((select (status, error)::text from qwf.runs), '(failed,"s/ship failed: fatal")',
  'then it has failed again, with all taken back');
select throws_ok($$ select qwf.retry_run(qwf_test.run(), 's/refund') $$, 'QW002',
  'the compensation node did not fail', 'nothing is taken back twice');
select is(qwf.retry_run(qwf_test.run()), 2, 'and the run goes on');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/ship');
select is(qwf_test.run_state(), 'completed', 'until it completes');
