-- A picked sleeper is locked (7177, its id) until the waker commits: that shows who gets a NOTIFY.
begin;
select plan(2);

create function pg_temp.woken() returns text language sql as $$
  select string_agg(s.worker, ', ' order by s.worker)
  from pg_locks l join qwf.sleepers s on s.id::oid = l.objid
  where l.locktype = 'advisory' and l.classid = 7177 and l.pid = pg_backend_pid() $$;
select qwf.sleep('a', 'default'), qwf.sleep('b', 'default'), qwf.sleep('c', 'default'),
  qwf.sleep('d', 'cpu');
select qwf.enqueue('later', run_at => qwf.now() + '1 h');
select is(pg_temp.woken(), null, 'nothing to do yet');
select count(*) from qwf.enqueue_many('[{"task": "x"}, {"task": "y"}]');
select is(pg_temp.woken(), 'a, b', 'two jobs, two workers, of that queue');

select * from finish();
rollback;
