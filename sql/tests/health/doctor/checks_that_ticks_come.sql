-- 6 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
select setval('qwf.last_tick', 0);  -- a sequence keeps what other tests have set
select is(pg_temp.finds('tick'),
  'fine: tick() is called, due work is done, and events have numbers.', 'none is due');
select qwf_test.set_now('2030-01-01 12:00');
select setval('qwf.last_tick', (extract(epoch from qwf.now() - interval '10 min') * 1000)::bigint);
select is(pg_temp.finds('tick'),
  'problem: the last tick was 10 min 00 s ago: no due work is done -> '
  'start an agent; or on a box without one: qwf tick --loop', 'nobody ticks');
select setval('qwf.last_tick', 0);
select qwf.enqueue('t', queue => 'cpu'), qwf_test.claim('cpu');
update qwf.jobs set lease_expires_at = qwf.now() - interval '2 min';
select matches(pg_temp.finds('tick'), 'leases that expired but were not taken back: 1 job -> ',
  'a job is not taken back');
delete from qwf.jobs;
select qwf.enqueue('t', run_at => qwf.now() + interval '1 h') from generate_series(1, 2);
update qwf.jobs set run_at = qwf.now() - interval '2 min';
select matches(pg_temp.finds('tick'), 'due but not queued: 2 jobs -> ', 'jobs are not queued');
delete from qwf.jobs;
select qwf.create_schedule('s', 't', every => '1 h');
update qwf.schedules set next_at = qwf.now() - interval '2 min';
select matches(pg_temp.finds('tick'), 'schedule s was due at 11:58:00 -> ', 'a schedule is late');
delete from qwf.schedules;
delete from _qwf.event_log;
insert into _qwf.event_log (at, kind) values (qwf.now() - interval '2 min', 'lost');
select matches(pg_temp.finds('tick'),
  'the oldest event without a number happened 2 min 00 s ago -> ', 'an event has no number');
