-- 4 tests
create function pg_temp.limit_of(p_queue text, p_timeout interval default null) returns interval
language sql as $$
  select qwf.enqueue('a', queue => p_queue, timeout => p_timeout);
  select c.timeout from qwf.claim(p_queue, 'w') c
$$;
select is(pg_temp.limit_of('gpu'), '366 days', 'the longest that there is: a watchdog watches');
select is(pg_temp.limit_of('gpu', '2 h'), '2 h', 'unless the job has one');
select qwf.change_settings('{"timeout": "20 min"}');
select is(array[pg_temp.limit_of('cpu'), pg_temp.limit_of('gpu')], '{20 min, 366 days}',
  'the setting is for the other queues');
select qwf.create_queue('gpu', timeout => '3 h');
select is(pg_temp.limit_of('gpu'), '3 h', 'or the queue');
