select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue) values ('a', 'box', 'cpu');
insert into qwf.sleepers (worker, queue, since) values
  ('a', 'cpu', qwf.now() - interval '14 s'), ('b', 'cpu', qwf.now() - interval '15 s'),
  ('c', 'gpu', qwf.now());
select results_eq($$ select worker, host, queue, asleep from qwf.sleeping_workers
  order by worker $$, $$ values ('a', 'box', 'cpu', interval '14 s'), ('c', null, 'gpu', '0') $$,
  'as claim sees it');
