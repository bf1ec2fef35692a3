-- 2 tests
select qwf_test.set_now('2030-01-01');
insert into qwf.workers (id, host, queue, started_at, last_seen, stopped_at) values
  ('dead', 'a', 'cpu', qwf.now() - interval '90 d', qwf.now() - interval '31 d', null),
  ('stopped', 'a', 'cpu', qwf.now() - interval '90 d', qwf.now() - interval '31 d',
    qwf.now() - interval '31 d'),
  ('silent', 'a', 'cpu', qwf.now() - interval '90 d', qwf.now() - interval '29 d', null),
  ('old', 'a', 'cpu', qwf.now() - interval '90 d', qwf.now(), null);
select is((qwf.prune() ->> 'workers')::int, 2, 'workers without a heartbeat for a month');
select set_eq('select id from qwf.workers', array['silent', 'old'], 'age alone is no reason');
