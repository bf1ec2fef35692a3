begin;
select plan(1);

select qwf_test.set_now('2026-01-01 12:00');
insert into qwf.workers (id, host, queue, last_seen, stopped_at) values
  ('w', 'a', 'default', qwf.now(), null), ('i', 'b', 'default', qwf.now(), null),
  ('s', 'd', 'default', qwf.now(), qwf.now());
select qwf.enqueue('a');
select qwf_test.claim('default');
update qwf.workers set last_seen = last_seen - interval '1 min' where id <> 'i';
select is((select string_agg(worker || ' ' || running, ', ') from qwf.dead_workers), 'w 1',
  'with what they hold');

select * from finish();
rollback;
