select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.enqueue_run('w');
select qwf_test.work();
select throws_ok(format('select qwf.retry_run(%s)', qwf_test.run()), 'QW002', 'nothing to retry',
  'a completed run is retried from a node only');
