begin;
select plan(7);

select qwf.enqueue('first', priority => 1);
select qwf.enqueue('late', priority => 500);
select qwf.enqueue('later', run_at => qwf.now() + interval '1 h');
select qwf.run_next(qwf_test.job('late'));
select is(qwf_test.claim('default'), 'claimed late', 'whatever its priority');
select is((select row(run_next, priority)::text from qwf.jobs where task = 'late'), '(f,500)',
  'the flag goes with the claim, the priority stays');
select throws_ok(
  format('select qwf.run_next(%s)', qwf_test.job('late')),
  'QW002', null, 'a running job does not wait');
select qwf.run_next(qwf_test.job('later'));
select is(qwf_test.claim('default'), 'claimed later', 'a scheduled job is due at once');
select qwf_test.report('later', 'tempfail'), qwf_test.travel('40 s');
select qwf.run_next(qwf_test.job('later'));
select is((select queued_at from qwf.jobs where task = 'later'), qwf.now(),
  'and has waited from then on');
select throws_ok('select qwf.run_next(4711)', 'QW001', null, 'no such job');
select is_empty('select * from qwf.check_invariants()', 'healthy');

select * from finish();
rollback;
