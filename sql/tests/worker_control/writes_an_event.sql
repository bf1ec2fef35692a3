begin;
select plan(2);

select qwf.worker_control('box', 'gpu', 'off', 'pause', 'ann', 'hot');
select qwf.worker_control('box', 'gpu', 'off', 'pause', 'bob', 'hot');
select qwf.worker_control('box', 'gpu', 'on', by => 'ann');
select results_eq($$
  select kind, actor, detail - 'until' from _qwf.event_log order by id
$$, $$ values
  ('worker_off', session_user::text collate "default",
    jsonb '{"host":"box","queue":"gpu","policy":"pause","reason":"hot","by":"ann"}'),
  ('worker_on', session_user::text collate "default",
    jsonb '{"host":"box","queue":"gpu","policy":"hard","by":"ann"}')
$$, 'each order that changed something');
delete from qwf.worker_controls;
select is((select count(*) from _qwf.event_log where kind = 'worker_on'), 2::bigint,
  'a deleted row is an order to go on');

select * from finish();
rollback;
