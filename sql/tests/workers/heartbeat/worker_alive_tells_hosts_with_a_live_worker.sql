-- 7 tests
select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('a', 'box-a', 'cpu', qwf.now(), null),
  ('b', 'box-a', 'gpu', qwf.now() - interval '31 s', null),
  ('c', 'box-c', 'cpu', qwf.now(), qwf.now());
select ok(qwf.worker_alive('box-a'), 'any queue');
select ok(qwf.worker_alive('box-a', 'cpu'), 'the queue that it serves');
select ok(not qwf.worker_alive('box-a', 'gpu'), 'one that is silent is dead');
select ok(not qwf.worker_alive('box-c'), 'one that has stopped');
select ok(not qwf.worker_alive('box-x'), 'a host that nobody knows');
select ok(not qwf.worker_alive(null), 'no host');
select qwf.worker_control('box-a', 'cpu', 'off');
select ok(qwf.worker_alive('box-a', 'cpu'), 'one that is switched off is alive');
