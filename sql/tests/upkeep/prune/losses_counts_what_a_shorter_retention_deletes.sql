-- 7 tests
create function pg_temp.lost(p_setting text, p_value interval, p_queue text) returns text
language sql as $$
  select format('%s jobs, %s runs, %s minutes', l.jobs, l.runs, l.minutes)
  from qwf.losses(p_setting, p_value, p_queue) l
$$;
select qwf_test.set_now('2030-01-01 12:00');
select qwf.create_queue('own', retention => '10 days');
insert into qwf.host_minutes (host, minute, samples) values ('h', qwf.now() - interval '5 days', 1);
select qwf.enqueue('t', queue => q.name) from qwf.queues q where q.name in ('default', 'own');
select qwf.cancel_job(j.id) from qwf.jobs j;
select qwf_test.travel('5 days');
select is(pg_temp.lost(null, null, null), '0 jobs, 0 runs, 0 minutes', 'nothing is too old');
select is(pg_temp.lost('retention', '1 day', null), '1 jobs, 0 runs, 0 minutes',
  'a queue with a retention of its own keeps it');
select is(pg_temp.lost(null, '1 day', 'own'), '1 jobs, 0 runs, 0 minutes', 'unless it changes');
select is(pg_temp.lost(null, null, 'own'), '0 jobs, 0 runs, 0 minutes',
  'that of the settings is longer');
select is(pg_temp.lost('minutes_keep', '1 day', null), '0 jobs, 0 runs, 1 minutes', 'minutes');
select qwf_test.travel('1 year');
select is(pg_temp.lost(null, null, null), '2 jobs, 0 runs, 1 minutes', 'all is too old');
select is((select l.events from qwf.losses('events_keep', '1 day') l),
  (select count(*) from _qwf.event_log), 'events');
