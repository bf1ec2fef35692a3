-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed', null, null, null), 'ok',
  'nothing to add');
select results_eq('select outcome, error, log_tail from qwf.job_attempts', $$
  values ('completed', null::text, null::text) $$, 'the attempt is written anyway');
