-- 5 tests
select qwf_test.workflow('w', '[{"id": "charge"}, {"id": "refund", "compensates": ["charge"]},
  {"id": "ship", "depends_on": ["charge"]}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/charge');
select qwf_test.attempt('s/ship', 'fatal');
select qwf_test.claim();
select qwf.cancel_job(qwf_test.job('s/refund'), 'by hand');
select qwf_test.report('s/refund', 'cancelled');
select is(qwf_test.run_state(), 'failed', 'a refund that is stopped');
select throws_ok('select qwf.retry_run(qwf_test.run())', 'QW002', 'a compensation node failed',
  'counts as failed');
select is(qwf.retry_run(qwf_test.run(), 's/charge', completed => 'keep'), 2,
  'the charge runs again if it is named');
select is(qwf_test.nodes(), 's/charge queued, s/ship blocked, s/refund skipped',
  'and its refund is there for it');
select is_empty('select * from qwf.check_invariants()', 'the run is healthy');
