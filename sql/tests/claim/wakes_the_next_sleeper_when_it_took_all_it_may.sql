begin;
select plan(2);

create function pg_temp.woken() returns text language sql as $$
  select string_agg(s.worker, ', ' order by s.worker)
  from pg_locks l join qwf.sleepers s on s.id::oid = l.objid
  where l.locktype = 'advisory' and l.classid = 7177 and l.pid = pg_backend_pid() $$;
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf.sleep('x', 'default'), qwf.sleep('y', 'default');
select qwf_test.claim('default', 9);
select is(pg_temp.woken(), null, 'it took all there was');
select qwf_test.report('a', 'released'), qwf.wake('x'), qwf.wake('y');
select qwf.sleep('v', 'default'), qwf.sleep('w', 'default');
select qwf_test.claim('default', 1);
select is(pg_temp.woken(), 'v', 'there may be more than it took');

select * from finish();
rollback;
