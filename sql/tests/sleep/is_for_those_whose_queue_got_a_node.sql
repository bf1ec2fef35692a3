begin;
select plan(1);

create function pg_temp.woken() returns text language sql as $$
  select string_agg(s.worker, ', ' order by s.worker)
  from pg_locks l join qwf.sleepers s on s.id::oid = l.objid
  where l.locktype = 'advisory' and l.classid = 7177 and l.pid = pg_backend_pid() $$;
select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "gpu": true}]');
select qwf.enqueue_run('pair');
select qwf_test.claim();
select qwf.sleep('cpu worker', 'cpu'), qwf.sleep('gpu worker', 'gpu');
select qwf_test.report('s/a');
select is(pg_temp.woken(), 'gpu worker', 'the one that can run what opened');

select * from finish();
rollback;
