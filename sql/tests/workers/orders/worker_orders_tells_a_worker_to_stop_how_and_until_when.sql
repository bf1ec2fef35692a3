-- 5 tests
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table worker as select qwf.register_worker('box', 'gpu') as id;
select results_eq($$ select o.state, o.policy, o.acting_for, o.reason, o.until
  from worker, qwf.worker_orders(worker.id) o $$,
  $$ values ('on', null::text, null::text, null::text, null::timestamptz) $$, 'on');
select qwf.worker_control('box', 'gpu', 'off', 'drain', 'ann', 'hot', '2026-01-01 13:00Z');
select results_eq($$ select o.state, o.policy, o.acting_for, o.reason, o.until
  from worker, qwf.worker_orders(worker.id) o $$,
  $$ values ('off', 'drain', 'ann', 'hot', '2026-01-01 13:00Z'::timestamptz) $$, 'off');
select qwf_test.set_now('2026-01-01 13:00Z');
select is((select o.state from worker, qwf.worker_orders(worker.id) o), 'on', 'by itself');
select is((select o.state from qwf.worker_orders('stranger') o), 'on', 'an unknown worker');
select lives_ok($$ select qwf_test.as_role('qwf_worker', 'select qwf.worker_orders(''w'')') $$,
  'a worker may ask');
