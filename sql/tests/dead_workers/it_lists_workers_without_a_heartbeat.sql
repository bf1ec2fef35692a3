begin;
select plan(2);

select qwf_test.set_now('2026-01-01 12:00');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('w', 'a', 'default', qwf.now(), null), ('i', 'b', 'default', qwf.now(), null),
  ('s', 'd', 'default', qwf.now(), qwf.now());
select qwf.enqueue('a');
select qwf_test.claim('default');
update qwf.workers set last_seen = last_seen - interval '90.5 s' where id <> 'i';
select results_eq('select worker, running, silent, lapses_at from qwf.dead_workers', $$
  values ('w', 1::bigint, interval '90 s', '2026-01-01 12:00:30'::timestamptz)
$$, 'with what they hold, and until when');
update qwf.workers set last_seen = qwf.now();
select is_empty('select * from qwf.dead_workers', 'one that is heard of again lives');

select * from finish();
rollback;
