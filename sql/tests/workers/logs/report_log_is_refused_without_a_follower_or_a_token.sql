-- 5 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select ok(not qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 1, 'x'), 'nobody follows');
select qwf.follow_log(qwf_test.job('a'));
select ok(not qwf.report_log(qwf_test.job('a'), gen_random_uuid(), 1, 'x'), 'a stale token');
select is_empty('select * from qwf.live_logs where tail is not null', 'nothing is stored');
select qwf_test.travel('11 s');
select ok(not qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 1, 'x'),
  'nobody follows any more');
select throws_ok($$ select qwf.report_log(1, gen_random_uuid(), -1, 'x') $$, 'QW005', null,
  'invalid offset');
