-- 9 tests
select qwf.enqueue('first', priority => 1);
select qwf.enqueue('late', priority => 500);
select qwf.enqueue('later', run_at => qwf.now() + interval '1 h');
select qwf.change_job(qwf_test.job('late'), run_next => true);
select is(qwf_test.claim('default'), 'claimed late', 'whatever its priority');
select is((select row(run_next, priority)::text from qwf.jobs where task = 'late'), '(f,500)',
  'the flag goes with the claim, the priority stays');
select throws_ok(
  format('select qwf.change_job(%s, run_next => true)', qwf_test.job('late')),
  'QW002', null, 'a running job does not wait');
select qwf.change_job(qwf_test.job('later'), run_next => true);
select is(qwf_test.claim('default'), 'claimed later', 'a scheduled job is due at once');
select qwf_test.report('later', 'tempfail'), qwf_test.travel('40 s');
select qwf.change_job(qwf_test.job('later'), run_next => true);
select is((select queued_at from qwf.jobs where task = 'later'), qwf.now(),
  'and has waited from then on');
select throws_ok('select qwf.change_job(4711, run_next => true)', 'QW001', null, 'no such job');
select throws_ok($$ select qwf.change_job(1, run_at => qwf.now(), run_next => true) $$, 'QW005',
  'run_next excludes run_at', 'now and later');
select lives_ok(format('select qwf.change_job(%s, run_next => null)', qwf_test.job('later')),
  'null changes nothing');
select is_empty('select * from qwf.check_invariants()', 'healthy');
