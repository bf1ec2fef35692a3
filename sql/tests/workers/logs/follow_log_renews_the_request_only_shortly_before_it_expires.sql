-- 4 tests
select qwf_test.set_now('2030-01-01 12:00:00+00');
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.follow_log(qwf_test.job('a'));
select is(followed_until, '2030-01-01 12:00:10+00'::timestamptz, 'for 10 seconds')
from qwf.live_logs;
select qwf_test.travel('2 s');
select qwf.follow_log(qwf_test.job('a'));
select is(followed_until, '2030-01-01 12:00:10+00'::timestamptz, '8 s left: not written again')
from qwf.live_logs;
select qwf_test.travel('4 s');
select qwf.follow_log(qwf_test.job('a'));
select is(followed_until, '2030-01-01 12:00:16+00'::timestamptz, 'renewed') from qwf.live_logs;
select qwf_test.travel('2 min');
select qwf.enqueue('b');
select qwf_test.claim('default');
select qwf.follow_log(qwf_test.job('b'));
select results_eq('select job_id from qwf.live_logs', $$ values (qwf_test.job('b')) $$,
  'expired rows are deleted');
