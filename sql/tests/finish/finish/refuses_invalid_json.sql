-- 3 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select throws_ok($$ select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed',
  '{"x": NaN}') $$,
  '22P02', null, 'NaN is not JSON');
select throws_ok($$ select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed',
  '{"x": "\u0000"}') $$,
  '22P05', null, 'nor has text a NUL');
select is(qwf_test.state('a'), 'running',
  'the worker still has the job, and can report it as failed');
