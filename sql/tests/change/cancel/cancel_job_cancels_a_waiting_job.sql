-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('queued'), qwf.enqueue('scheduled', run_at => '2031-01-01'),
  qwf.enqueue('retried', max_attempts => 2,
  queue => 'cpu');
select qwf_test.attempt('retried', 'error', error => 'boom');
select results_eq('select qwf.cancel_job(id, $r$not needed$r$) from qwf.jobs order by id',
  array['cancelled', 'cancelled', 'cancelled'],
  'at once');
select results_eq('select status::text, last_error, finished_at from qwf.jobs', $$
  select 'cancelled', 'not needed', '2030-01-01'::timestamptz from generate_series(1, 3) $$,
    'the job says why');
select is(qwf_test.claim('default', 9), 'claimed nothing', 'nobody gets it');
select qwf_test.travel('2 years'), qwf.tick();
select is(qwf_test.claim('default', 9), 'claimed nothing', 'ever');
