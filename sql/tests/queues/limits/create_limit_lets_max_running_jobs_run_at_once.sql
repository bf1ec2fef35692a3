-- 5 tests
-- Two at a time, whichever worker claims.
select qwf.create_limit('api', 2);
select qwf.enqueue('a', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('b', queue => 'cpu', limit_by => 'api'),
  qwf.enqueue('c', queue => 'cpu', limit_by => 'api');
select is(qwf_test.claim('cpu', 9), 'claimed a, b', 'two');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'no third while both run');
select qwf_test.report('a');
select is(qwf_test.claim('cpu', 9), 'claimed c', 'one ended: one more');
select results_eq($$ select slot, job_id from qwf.limit_slots order by slot $$,
  $$ values (1, qwf_test.job('c')), (2, qwf_test.job('b')) $$, 'each job holds a slot');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
