-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('a');
select qwf_test.claim('default');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5, 'half'), 'ok', 'taken');
select results_eq('select fraction, message, at from qwf.job_progress', $$
  values (0.5::real, 'half', '2030-01-01'::timestamptz) $$, 'fraction, message and time');
