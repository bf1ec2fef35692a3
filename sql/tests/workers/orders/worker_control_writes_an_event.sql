-- 2 tests
select qwf.worker_control('box', 'gpu', 'off', 'pause', 'ann', 'hot');
select qwf.worker_control('box', 'gpu', 'off', 'pause', 'bob', 'hot');
select qwf.worker_control('box', 'gpu', 'on', acting_for => 'ann');
select results_eq($$
  select kind, login, acting_for, detail from _qwf.event_log order by id
$$, $$ values
  ('worker_off', qwf_test.login(), 'ann', jsonb '{"host":"box","queue":"gpu","policy":"pause",
    "reason":"hot","new":{"desired_state":"off","stop_policy":"pause","reason":"hot"}}'),
  ('worker_on', qwf_test.login(), 'ann', '{"host":"box","queue":"gpu","policy":"hard",
    "old":{"desired_state":"off","stop_policy":"pause","reason":"hot"},
    "new":{"desired_state":"on","stop_policy":"hard"}}')
$$, 'each order that changed something');
delete from qwf.worker_controls;
select is((select count(*) from _qwf.event_log where kind = 'worker_on'), 2::bigint,
  'a deleted row is an order to go on');
