-- 3 tests
select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a');
select throws_ok($$ select qwf.cancel_run(qwf_test.run()) $$, 'QW002', 'the run is over',
  'completed');
select qwf_test.explains($$ select qwf.cancel_run(qwf_test.run()) $$, '%completed',
  'the error says how it ended');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', 'fatal');
select throws_ok($$ select qwf.cancel_run(qwf_test.run()) $$, 'QW002', 'the run is over', 'failed');
