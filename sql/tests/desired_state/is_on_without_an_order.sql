begin;
select plan(2);

select is(qwf.desired_state('box', 'gpu'), 'on', 'no row');
select qwf.worker_control('box', 'cpu', 'off'), qwf.worker_control('other', 'gpu', 'off');
select is(qwf.desired_state('box', 'gpu'), 'on',
  'an order for another queue or host does not count');

select * from finish();
rollback;
