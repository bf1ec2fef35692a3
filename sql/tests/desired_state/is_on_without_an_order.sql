begin;
select plan(2);

select is(qwf.desired_state('box', 'gpu'), 'on', 'no row');
select qwf.worker_control('box', 'cpu', 'off'), qwf.worker_control('other', 'gpu', 'off');
select is(qwf.desired_state('box', 'gpu'), 'on', 'another queue and another host are others');

select * from finish();
rollback;
