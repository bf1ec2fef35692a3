-- 5 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5, 'half'), 'ok', 'first report');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.6), 'ok', 'without a message');
select results_eq('select fraction, message from qwf.job_progress', $$
  values (0.6::real, 'half') $$, 'it stays');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), null, 'still'), 'ok',
  'without a fraction');
select results_eq('select fraction, message from qwf.job_progress', $$
  values (0.6::real, 'still') $$, 'it stays');
