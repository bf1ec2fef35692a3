-- 4 tests
create function pg_temp.states() returns text language sql as $$
  select string_agg(f.worker || ' ' || f.state, ', ' order by f.worker)
  from qwf.worker_overview f $$;
select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, started_at, last_seen) values
  ('a', 'box', 'cpu', qwf.now() - interval '2 h', qwf.now() - interval '1 h'),
  ('b', 'box', 'cpu', qwf.now() - interval '2 h', qwf.now()),
  ('c', 'other', 'cpu', qwf.now(), qwf.now()), ('d', 'box', 'gpu', qwf.now(), qwf.now());
select is(pg_temp.states(), 'a dead, b idle, c idle, d idle',
  'a twin that was there before, another host and another queue replace nobody');
insert into qwf.workers (id, host, queue, started_at, last_seen) values
  ('e', 'box', 'cpu', qwf.now() - interval '59 min', qwf.now());
select is(pg_temp.states(), 'a stopped, b idle, c idle, d idle, e idle', 'a restart does');
update qwf.workers set last_seen = qwf.now() - interval '50 min' where id = 'e';
select is(pg_temp.states(), 'a stopped, b idle, c idle, d idle, e dead',
  'of those that died one after another the last is dead');
select qwf.deregister_worker('e');
select is(pg_temp.states(), 'a stopped, b idle, c idle, d idle, e stopped',
  'it stays replaced when its successor has stopped');
