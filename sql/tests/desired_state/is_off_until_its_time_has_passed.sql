begin;
select plan(3);

select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.worker_control('box', 'gpu', 'off', until => '2026-01-01 13:00Z');
select is(qwf.desired_state('box', 'gpu'), 'off', 'before');
select qwf_test.set_now('2026-01-01 13:00Z');
select is(qwf.desired_state('box', 'gpu'), 'on', 'then it is on by itself');
select qwf.worker_control('box', 'gpu', 'off');
select is(qwf.desired_state('box', 'gpu'), 'off', 'without an end it stays off');

select * from finish();
rollback;
