-- 5 tests
select qwf.enqueue('soon', expires => '1 h'), qwf.enqueue('later', expires => '1 h',
  run_at => qwf.now() + '1 h');
select qwf_test.travel('61 min');
select is(qwf_test.claim('default'), 'claimed nothing', 'it is not handed out any more');
select qwf.tick();
select is(qwf_test.state('soon'), 'cancelled', 'it is cancelled');
select ok((select last_error ~ '^expired: not started by' from qwf.jobs where task = 'soon'),
  'and says why');
select is(qwf_test.claim('default'), 'claimed later', 'time counts from run_at');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
