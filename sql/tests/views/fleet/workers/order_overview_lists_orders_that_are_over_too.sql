-- 2 tests
select qwf_test.set_now('2026-01-01 12:00');
select qwf.worker_control('a', 'cpu', 'off', 'drain', 'ada', 'new card', '2026-01-01 13:00');
select qwf.worker_control('a', 'gpu', 'on', acting_for => 'bob');
select qwf_test.set_now('2026-01-01 14:00');
select results_eq($$
  select o.queue, o.state, o.policy, o.login, o.acting_for, o.reason, o.until
  from qwf.order_overview o where o.host = 'a' order by o.queue
$$, $$
  values ('cpu', 'off', 'drain', qwf_test.login(), 'ada', 'new card',
      '2026-01-01 13:00'::timestamptz),
    ('gpu', 'on', 'hard', qwf_test.login(), 'bob', null, null)
$$, 'as they were given');
select is_empty('select * from qwf.switched_off', 'though none is in force');
