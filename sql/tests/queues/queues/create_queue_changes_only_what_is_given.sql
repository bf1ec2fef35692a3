-- 5 tests
select qwf.create_queue('night', '1 min', '2 h', '3 days');
update qwf.queues set paused = true where name = 'night';
create function pg_temp.night() returns text language sql as $$
  select format('%s %s %s %s', lease, timeout, retention, paused) from qwf.queues
  where name = 'night' $$;
select qwf.create_queue('night', timeout => '5 h');
select is(pg_temp.night(), '00:01:00 05:00:00 3 days t', 'the timeout');
select qwf.create_queue('night', lease => '4 min');
select is(pg_temp.night(), '00:04:00 05:00:00 3 days t', 'the lease');
select qwf.create_queue('night', retention => '6 days');
select is(pg_temp.night(), '00:04:00 05:00:00 6 days t', 'the retention');

select qwf.create_queue('night', keep_completed => false, on_failure => 'ask');
select qwf.create_queue('night', lease => '1 min');
select is((select keep_completed from qwf.queues where name = 'night'), false,
  'whether completed jobs are kept');
select is((select on_failure from qwf.queues where name = 'night'), 'ask', 'what a failure does');
