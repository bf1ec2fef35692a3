-- 2 tests
select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, pid, started_at, last_seen, stopped_at) values
  ('a', 'box', 'cpu', 7, qwf.now() - interval '1 h', qwf.now(), null),
  ('b', 'box', 'gpu', 7, qwf.now() - interval '1 h', qwf.now(), null),
  ('c', 'box', 'cpu', 7, qwf.now(), qwf.now(), null),
  ('d', 'box', 'cpu', null, qwf.now(), qwf.now(), null),
  ('e', 'box', 'gpu', 7, qwf.now() - interval '2 h', qwf.now() - interval '1 h', null),
  ('f', 'other', 'cpu', 7, qwf.now(), qwf.now(), null);
create temp table found as
select agent, string_agg(worker, ',' order by worker) as workers
from qwf.worker_overview group by agent;
select is((select string_agg(workers, ' ' order by workers) from found where agent is not null),
  'a,b c d f', 'two queues of a process; containers may have the same process id');
select is((select workers from found where agent is null), 'e', 'a dead one has none');
