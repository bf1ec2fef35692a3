-- 3 tests
select qwf_test.set_now('2030-01-01');
select is(qwf.sleep('w', 'cpu'), qwf.wake_channel('w'), 'it is told where to LISTEN');
select is(qwf.sleep('w', 'gpu'), qwf.wake_channel('w'), 'one channel for all its queues');
select results_eq('select worker, queue, since from qwf.sleepers order by queue', $$
  values ('w', 'cpu', '2030-01-01'::timestamptz), ('w', 'gpu', '2030-01-01') $$,
    'a row for each queue');
