select qwf_test.set_now('2026-01-01 12:00');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('w', 'a', 'default', qwf.now(), null), ('i', 'b', 'default', qwf.now(), null),
  ('d', 'c', 'default', qwf.now() - interval '1 h', null),
  ('s', 'd', 'default', qwf.now(), qwf.now());
select qwf.enqueue('a');
select qwf_test.claim('default');
select is((select string_agg(worker || ' ' || state, ', ' order by host) from qwf.worker_overview),
  'w busy, i idle, d dead, s stopped', 'each in a word');
