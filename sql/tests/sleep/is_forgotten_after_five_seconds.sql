-- A worker says it again while it sleeps; one that does not is gone.
begin;
select plan(1);

create function pg_temp.woken() returns text language sql as $$
  select string_agg(s.worker, ', ' order by s.worker)
  from pg_locks l join qwf.sleepers s on s.id::oid = l.objid
  where l.locktype = 'advisory' and l.classid = 7177 and l.pid = pg_backend_pid() $$;
select qwf_test.set_now(qwf.now());
select qwf.sleep('gone', 'default');
select qwf_test.travel('4 s');
select qwf.sleep('there', 'default');
select qwf_test.travel('2 s');
select count(*) from qwf.enqueue_many('[{"task": "a"}, {"task": "b"}]');
select is(pg_temp.woken(), 'there', 'only who still sleeps is woken');

select * from finish();
rollback;
