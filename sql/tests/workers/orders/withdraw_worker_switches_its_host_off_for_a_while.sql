-- 3 tests
create temp table who as select qwf.register_worker('box', 'gpu') as one;
select ok(qwf.withdraw_worker(one, 'five crashes in a row', '1 min'), 'it was on') from who;
select results_eq($$ select c.state, c.policy, c.reason from who, qwf.worker_orders(one) c $$,
  $$ values ('off', 'drain', 'five crashes in a row') $$, 'with the reason');
update qwf.worker_controls set until = qwf.now() - interval '1 s';
select is((select c.state from who, qwf.worker_orders(one) c), 'on', 'back by itself');
