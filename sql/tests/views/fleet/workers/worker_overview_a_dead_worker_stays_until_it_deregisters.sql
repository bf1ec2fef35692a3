-- 3 tests
select qwf_test.set_now('2026-01-01 12:00Z');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('w', 'a', 'default', qwf.now(), null), ('i', 'b', 'default', qwf.now(), null),
  ('s', 'd', 'default', qwf.now(), qwf.now());
select qwf.enqueue('a');
select qwf_test.claim('default');
update qwf.workers set last_seen = last_seen - interval '90 s' where id <> 'i';
select results_eq($$ select worker, running, last_seen, lapses_at from qwf.worker_overview
  where state = 'dead' $$, $$
  values ('w', 1::bigint, interval '90 s', '2026-01-01 12:00:30Z'::timestamptz)
$$, 'with what it holds, and until when');
select qwf_test.set_now('2026-01-02 11:59:50Z');
select results_eq($$ select worker, state, live, stopped_at is null from qwf.worker_overview $$,
  $$ values ('w', 'stopped', false, true), ('i', 'dead', false, true) $$,
  'no alarm after a day, and who has deregistered is left out');
select qwf.deregister_worker('w');
select results_eq($$ select worker from qwf.worker_overview $$, $$ values ('i') $$, 'forgotten');
