begin;
select plan(3);

select qwf.enqueue('a');
select is(qwf.follow_log(qwf_test.job('a')), row('queued', 0, null, null)::qwf.live_log,
  'it waits');
select qwf_test.claim('default');
select qwf_test.report('a', 'completed');
select is((qwf.follow_log(qwf_test.job('a'))).status, 'completed', 'it is over');
select is_empty('select * from qwf.live_logs', 'nobody was asked for anything');

select * from finish();
rollback;
