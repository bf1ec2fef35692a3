-- 4 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select throws_ok($$ select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'done') $$,
  'QW005', 'malformed report', 'a mistyped outcome');
select throws_ok($$ select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), null) $$,
  'QW005', 'malformed report', 'none');
select qwf_test.explains($$ select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'done') $$,
  '%done%',
  'the error shows the report');
select is(qwf_test.state('a'), 'running', 'the worker still has the job');
