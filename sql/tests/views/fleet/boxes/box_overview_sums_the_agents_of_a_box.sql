-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, pid, slots, version, last_seen, stopped_at) values
  ('a', 'box', 'cpu', 7, 4, '1.0', qwf.now(), null),
  ('b', 'box', 'gpu', 7, 2, '1.0', qwf.now(), null),
  ('c', 'box', 'cpu', 8, 3, '1.1', qwf.now(), null),
  ('d', 'box', 'llm', 9, 5, '0.9', qwf.now() - interval '1 h', null),
  ('e', 'gone', 'cpu', 7, 4, '0.9', qwf.now(), qwf.now()),
  ('f', 'past', 'cpu', 7, 4, '0.9', qwf.now() - interval '2 days', qwf.now() - interval '2 days');
select qwf.enqueue('a', queue => 'cpu'), qwf.enqueue('b', queue => 'cpu');
select count(*) from qwf.claim('cpu', 'c', 2);
insert into qwf.host_metrics (host, sampled_at) values
  ('seen', qwf.now() - interval '50 s'), ('silent', qwf.now() - interval '70 s');
select results_eq($$ select host, live, workers, dead, slots, running, queues, versions
  from qwf.box_overview $$, $$ values
  ('box', true, 3, 1, 7, 2, '{cpu,gpu}'::text[], '{1.0,1.1}'::text[]),
  ('gone', false, 0, 0, 0, 0, '{}', '{}'), ('past', false, 0, 0, 0, 0, '{}', '{}'),
  ('seen', true, 0, 0, 0, 0, '{}', '{}') $$, 'the workers of an agent share its slots');
select results_eq($$ select last_seen from qwf.box_overview where host in ('box', 'past') $$,
  $$ values (interval '0'), (null) $$, 'since when it is silent');
select results_eq($$ select host from qwf.box_overview where host = 'seen' $$,
  $$ values ('seen') $$, 'one box');
