-- Everything ends in a state that says why.
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'), 'too slow');
select qwf_test.report('a', 'cancelled');
select matches((select last_error from qwf.jobs), 'too slow',
  'the reason is kept when the body was stopped');
