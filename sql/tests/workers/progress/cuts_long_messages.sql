-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), null, repeat('x', 5000)), 'ok',
  'taken');
select is((select length(message) from qwf.job_progress), 1000, 'a message is a line, not a log');
