-- 3 tests
select qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('a'), qwf_test.attempt('b', 'fatal');
select throws_ok($$ select qwf.cancel_job(qwf_test.job('a')) $$, 'QW002', 'the job is over',
  'completed');
select throws_ok($$ select qwf.cancel_job(qwf_test.job('b')) $$, 'QW002', 'the job is over',
  'failed');
select qwf_test.explains($$ select qwf.cancel_job(qwf_test.job('b')) $$, '%failed',
  'the error says how it ended');
